// The real FFI path against a libcuda written in C and compiled against NVIDIA's cuda.h.
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import type koffi from "koffi";
import { beforeAll, describe, expect, it } from "vitest";
import { type Context, driverCalls, loadDriver, type ModuleLoadError, openDevice } from "../../packages/gpu/src/index.js";
import { buildMock } from "../gpu/mock/build.js";

interface MockReport {
  sizes: number[];
  stream: string;
  function: string;
  attributes: number;
  ids: number[];
  cluster: number[];
  arguments: string[];
  retained: number;
  live: number;
  pools: number;
  streams: number;
  events: number;
  modules: number;
  graphs: number;
  registered: number;
  launches: number;
}

let library: string;
let report: () => MockReport;
let symbols: string[];

beforeAll(() => {
  library = buildMock();
  const native = (createRequire(import.meta.url)("koffi") as typeof koffi).load(library);
  const read = native.func("const char *mock_report(void)");
  report = () => JSON.parse(read() as string) as MockReport;
  symbols = (native.func("const char *mock_symbols(void)")() as string).split(" ");
});

function withContext(work: (context: Context) => void): void {
  using context = openDevice({ library });
  work(context);
}

const echoParameters = ["f32*", "i32", "u32", "i64", "u64", "f32", "f64"] as const;
const echoPtx = `.version 6.3
.target sm_70
.address_size 64
.visible .entry echo(.param .u64 a, .param .u32 b, .param .u32 c, .param .u64 d, .param .u64 e, .param .f32 f, .param .f64 g) { ret; }
.visible .entry sleep() { ret; }
.visible .entry x(.param .u64 a) { ret; }`;

describe("the function table", () => {
  it("has a C function for each of its calls, in the version that cuda.h maps the name to", () => {
    const driver = loadDriver(library);
    for (const name of Object.keys(driverCalls) as (keyof typeof driverCalls)[]) expect(driver.has(name), name).toBe(true);
    const bound: string[] = Object.values(driverCalls).map((call) => call.symbols[0]!);
    for (const symbol of symbols) expect(bound).toContain(symbol);
  });
});

describe("a context through koffi", () => {
  it("reads the device's name, identity, memory and attributes", () =>
    withContext((context) => {
      expect(context.info.name).toBe("Mock 0");
      expect(context.info.uuid).toBe("GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
      expect(context.info.pciBusId).toBe("0000:00:00.0");
      expect(context.info.totalMemory).toBe(141 * 2 ** 30);
      expect(context.info.computeCapability).toEqual([9, 0]);
      expect(context.memoryInfo()).toEqual({ free: 100 * 2 ** 30, total: 141 * 2 ** 30 });
      expect(context.priorities).toEqual({ least: 0, greatest: -5 });
      expect(context.poolStatistics()).toMatchObject({ reserved: 5000, reservedHigh: 6000, used: 7000, usedHigh: 8000 });
      context.trimPool(12345);
    }));

  it("carries bytes to the device and back through arrays, views with an offset, and pinned memory", async () => {
    using context = openDevice({ library });
    using stream = context.stream({ priority: -3 });
    const values = Float32Array.from({ length: 1000 }, (_, i) => i / 3);
    using buffer = context.upload(values.subarray(100, 900));
    expect(context.read(buffer)).toEqual(values.slice(100, 900));
    using pinned = context.pinned("f32", 800);
    pinned.array.fill(7);
    stream.upload(buffer, pinned);
    stream.upload(buffer.slice(1, 3), values.subarray(1, 3));
    const back = await stream.download(buffer);
    expect([...back.subarray(0, 4)]).toEqual([7, values[1], values[2], 7]);
    // Page-locked now: `pinned`, and the block of 1 MiB that the download came through.
    expect(report().registered).toBe(2);
    // 8.8 MB come through three blocks of 4 MiB, which are kept; 40 MB come straight into the result.
    for (const length of [1_100_000, 5_000_000]) {
      const large = context.upload(new Float64Array(length).fill(2.5));
      expect((await stream.download(large)).every((value) => value === 2.5)).toBe(true);
      large.dispose();
      expect(report().registered).toBe(5);
    }
  });

  it("fills by elements of one, two and four bytes", () =>
    withContext((context) => {
      using stream = context.stream();
      using bytes = context.zeros("u8", 5);
      using halves = context.zeros("f16", 5);
      using words = context.zeros("u32", 5);
      stream.fill(bytes, 200);
      stream.fill(halves, 0x3c00);
      stream.fill(words.slice(1, 3), 4_000_000_000);
      expect([...context.read(bytes)]).toEqual([200, 200, 200, 200, 200]);
      expect([...context.read(halves)]).toEqual(Array(5).fill(0x3c00));
      expect([...context.read(words)]).toEqual([0, 4_000_000_000, 4_000_000_000, 0, 0]);
    }));

  it("copies rectangles between pitches on host and device", () =>
    withContext((context) => {
      using stream = context.stream();
      using matrix = context.zeros("i32", 12);
      stream.copy2D(matrix, Int32Array.of(1, 2, 9, 3, 4, 9), { columns: 2, rows: 2, sourcePitch: 3, destinationPitch: 4 });
      expect([...context.read(matrix)]).toEqual([1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0]);
      const back = new Int32Array(6);
      stream.copy2D(back, matrix.slice(1, 6), { columns: 1, rows: 2, sourcePitch: 4, destinationPitch: 5 });
      expect([...back]).toEqual([2, 0, 0, 0, 0, 4]);
    }));

  it("launches with every argument in its width, bit for bit, and the launch's shape where the driver reads it", () =>
    withContext((context) => {
      using module = context.load(echoPtx);
      expect(module.log).toMatch(/^info: loaded \d+ characters$/);
      using stream = context.stream();
      using buffer = context.alloc("f32", 64);
      const echo = module.kernel("echo", echoParameters);
      const config = { grid: [5, 6, 7], block: [8, 4, 2], shared: 60_000, cooperative: true, cluster: [5, 3, 1] } as const;
      stream.launch(echo, config, buffer.slice(4), -7, 4_000_000_000, -(2n ** 63n) + 5n, 2 ** 53 - 1, 0.1, 0.1);
      const launch = report();
      expect(launch.sizes).toEqual([5, 6, 7, 8, 4, 2, 60_000]);
      expect(launch.attributes).toBe(2);
      expect(launch.ids).toEqual([2, 4]);
      expect(launch.cluster).toEqual([5, 3, 1]);
      // 0.1 is 0x3dcccccd in 32 and 0x3fb999999999999a in 64 bits (IEEE 754).
      expect(launch.arguments).toEqual([
        (buffer.address + 16n).toString(16),
        "fffffff9",
        "ee6b2800",
        "8000000000000005",
        "1fffffffffffff",
        "3dcccccd",
        "3fb999999999999a",
      ]);
      expect(echo.occupancy(256, 1000)).toBe(8);
      expect(echo.maxActiveClusters({ grid: 8, block: 32, cluster: 8 })).toBe(80);
      expect(echo.resources()).toMatchObject({ maxThreadsPerBlock: 512, sharedBytes: 256, registers: 32, binaryVersion: 90 });
    }));

  it("checks a cubin's parameters by the sizes that the driver tells", () =>
    withContext((context) => {
      using module = context.load(Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 0));
      expect(module.kernel("echo", echoParameters).checkedBy).toBe("driver");
      expect(() => module.kernel("echo", ["f32*", "i64", "u32", "i64", "u64", "f32", "f64"])).toThrow(
        'kernel echo: parameter 1 takes 4 bytes; "i64" has 8',
      );
      expect(() => module.kernel("echo", ["f32*"])).toThrow("kernel echo: 1 parameters were declared; the kernel has 7");
    }));

  it("reads a module's global and says which it has not", () =>
    withContext((context) => {
      using module = context.load(echoPtx, { label: "shipped" });
      expect(module.global("table", "f64").length).toBe(8);
      expect(() => module.global("nothing", "f64")).toThrow('there is no global "nothing" in module "shipped"');
      expect(() => module.kernel("missing", [])).toThrow('there is no kernel "missing" in module "shipped", which has echo, sleep, x');
    }));

  it("gives the driver's log with a module that does not load", () =>
    withContext((context) => {
      const load = () => context.load("bad", { label: "spoilt" });
      expect(load).toThrow(/^CUDA_ERROR_INVALID_PTX \(218\) from cuModuleLoadDataEx: mock sentence; module "spoilt" was not loaded/);
      expect.assertions(3);
      try {
        load();
      } catch (error) {
        expect((error as ModuleLoadError).log).toBe("ptxas: line 1: bad");
        expect((error as ModuleLoadError).call).toBe("cuModuleLoadDataEx");
      }
    }));

  it("captures, counts, launches and updates graphs", () =>
    withContext((context) => {
      using module = context.load(echoPtx);
      const sleep = module.kernel("x", ["f32*"]);
      using stream = context.stream();
      using graph = stream.capture((s) => s.launch(sleep, { grid: 1, block: 32 }, null));
      expect(graph.size).toBe(7);
      graph.upload(stream);
      graph.launch(stream);
      const update = () => graph.update(stream, () => undefined);
      expect(update).toThrow(/\(910\) from cuGraphExecUpdate: mock sentence; the number or the order of its parts changed/);
    }));

  it("waits on a pool thread while the event loop turns", async () => {
    using context = openDevice({ library });
    using module = context.load(echoPtx);
    using stream = context.stream();
    let turns = 0;
    const timer = setInterval(() => turns++, 5);
    stream.launch(module.kernel("sleep", []), { grid: 1, block: 1 });
    await stream.done();
    clearInterval(timer);
    // The mock's wait takes 50 ms.
    expect(turns).toBeGreaterThan(2);
  });

  it("copies between contexts of two devices", () => {
    using one = openDevice({ library });
    using two = openDevice({ library, device: 1 });
    expect(one.canAccess(two)).toBe(true);
    one.enableAccess(two);
    using stream = one.stream();
    using there = two.upload(Int16Array.of(1, 2, 3));
    using here = one.alloc("i16", 3);
    stream.copy(here, there);
    expect([...one.read(here)]).toEqual([1, 2, 3]);
    one.disableAccess(two);
  });

  it("says how much memory was asked for, free and held when there is too little", () =>
    withContext((context) => {
      using weights = context.alloc("f32", 1 << 20, { label: "weights" });
      expect(weights.byteLength).toBe(4 << 20);
      expect(() => context.alloc("u8", 2 ** 37)).toThrow(
        "CUDA_ERROR_OUT_OF_MEMORY (2) from cuMemAllocFromPoolAsync: mock sentence; 131072.0 MiB asked for, 102400.0 MiB of 144384.0 MiB free, 4.0 MiB held by this context (weights 4.0 MiB)",
      );
    }));

  it("works in four threads at once, each with its own current context", async () => {
    const script = `
      const { parentPort, workerData } = require("node:worker_threads");
      import(workerData.entry).then(({ openDevice }) => {
        const context = openDevice({ library: workerData.library });
        const stream = context.stream();
        let sum = 0;
        for (let i = 0; i < 200; i++) {
          const buffer = context.upload(Float32Array.of(i, 1));
          sum += context.read(buffer)[0];
          buffer.dispose();
        }
        return stream.done().then(() => { context.dispose(); parentPort.postMessage(sum); });
      });`;
    const entry = new URL("../../dist/api/gpu.js", import.meta.url).href;
    const sums = await Promise.all(
      Array.from({ length: 4 }, () => {
        const worker = new Worker(script, { eval: true, workerData: { entry, library } });
        return new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
      }),
    );
    // 0 + 1 + ... + 199
    expect(sums).toEqual([19900, 19900, 19900, 19900]);
  });

  it("gives everything back", () => {
    const { retained, live, pools, streams, events, modules, graphs, registered } = report();
    expect({ retained, live, pools, streams, events, modules, graphs, registered }).toEqual({
      retained: 0,
      live: 0,
      pools: 0,
      streams: 0,
      events: 0,
      modules: 0,
      graphs: 0,
      registered: 0,
    });
  });
});
