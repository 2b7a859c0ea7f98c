// What a simulated device is like, and what else it tells: its options, its occupancy, what kernels
// print, and what launches did.
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { type Context, listDevices, openDevice, probe } from "../../packages/gpu/src/index.js";
import { launchAttribute } from "../../packages/gpu/src/launch-config.js";
import { type LaunchReport, type SimulatedDriverOptions, simulatedDriver } from "../../packages/sim/src/index.js";
import { ptx } from "./program.js";

const header = ".version 7.8\n.target sm_75\n.address_size 64\n";
const opened = (options: SimulatedDriverOptions = {}): Context =>
  openDevice({ driver: simulatedDriver({ memoryBytes: 1 << 20, launchBytes: 1 << 24, ...options }), onLeak: () => undefined });

describe("the simulated device", () => {
  it('is "sim", one for all who open it by that name', () => {
    using one = openDevice("sim");
    using two = openDevice({ device: "sim" });
    expect(one.info.name).toBe("Spillway simulated device");
    const x = one.upload(Float32Array.of(1, 2, 3));
    expect([...two.read(two.borrow("f32", x.address, 3))]).toEqual([1, 2, 3]);
  });

  it("is had by an import, which the error of a program without it says", () => {
    const program = `import { openDevice } from ${JSON.stringify(new URL("../../packages/gpu/src/index.ts", import.meta.url).href)};
      try { openDevice("sim"); } catch (error) { console.log(error.message); }`;
    const said = execFileSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], { encoding: "utf8" });
    expect(said.trim()).toBe('there is no device "sim"; a device is a number; import "spillway/gpu" to have the simulated one');
  });

  it("is found by a probe", () => {
    const driver = simulatedDriver({ devices: 2, memoryBytes: 1 << 20, launchBytes: 1 << 20 });
    const found = probe({ driver, ptxVersion: [7, 8] });
    expect(found).toMatchObject({ available: true, library: "simulated", driverVersion: "13.0" });
    expect(found.devices.map(({ name, freeMemory }) => [name, freeMemory])).toEqual([
      ["Spillway simulated device", 1 << 20],
      ["Spillway simulated device 1", 1 << 20],
    ]);
    expect(listDevices({ driver })[1]!.uuid).toBe("GPU-7370696c-6c77-6179-2d73-696d00000001");
    expect(driver.outstanding()).toEqual({});
  });

  // CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
  it.each([
    ["7.5", 1024, 65536, 65536, 0],
    ["8.6", 1536, 102400, 101376, 0],
    ["9.0", 2048, 233472, 232448, 1],
  ])(
    "of compute capability %s has %d threads and %d bytes of shared memory a multiprocessor",
    (capability, threads, shared, optIn, clusters) => {
      const { attributes, computeCapability } = opened({ capability }).info;
      expect(computeCapability.join(".")).toBe(capability);
      expect(attributes).toMatchObject({
        threadsPerMultiprocessor: threads,
        sharedBytesPerMultiprocessor: shared,
        sharedBytesPerBlockOptIn: optIn,
        clusterLaunch: clusters,
      });
    },
  );

  it.each([
    [{ capability: "6.1" }, 'the simulated device: capability is "6.1"; it takes "7.5", "8.0", "8.6", "8.9", "9.0", "10.0" or "12.0"'],
    [{ multiprocessors: 0 }, "the simulated device: multiprocessors is 0; it takes a whole number from 1 to 1024"],
    [{ memoryBytes: 2 ** 31 }, "the simulated device: memoryBytes is 2147483648; it takes a whole number of bytes from 4096 to 2013134848"],
    [{ limits: { idlePolls: -1 } }, "the simulated device: limits.idlePolls is -1; it takes a whole number of at least 1, or Infinity"],
  ] as const)("refuses %j", (options, sentence) => {
    expect(() => simulatedDriver(options)).toThrow(sentence);
  });

  it("has several devices, each reaching the memory of the others", () => {
    const driver = simulatedDriver({ devices: 2, memoryBytes: 1 << 16, launchBytes: 1 << 20 });
    using a = openDevice({ driver, device: 0 });
    using b = openDevice({ driver, device: 1 });
    expect(a.canAccess(b)).toBe(true);
    a.enableAccess(b);
    using stream = a.stream();
    using target = a.zeros("f32", 2);
    using source = b.upload(Float32Array.of(8, 9));
    stream.copy(target, source);
    expect([...a.read(target)]).toEqual([8, 9]);
    expect([a.memoryInfo().free, b.memoryInfo().free]).toEqual([65536 - 8, 65536 - 8]);
  });
});

describe("occupancy", () => {
  const kernel = (context: Context) => context.load(`${header}.visible .entry k() { .shared .b8 own[1024]; ret; }`).kernel("k", []);

  it("is limited by threads, by blocks and by shared memory with the KiB that CUDA keeps of each block", () => {
    const k = kernel(opened());
    // 2048 threads; 32 blocks; 228 KiB: 1 + 1 + 112 KiB a block, twice.
    expect([k.occupancy(256), k.occupancy(32), k.occupancy(256, 112 * 1024), k.occupancy(256, 113 * 1024)]).toEqual([8, 32, 2, 1]);
  });

  it("times multiprocessors is what a cooperative grid and clusters have", () => {
    const k = kernel(opened({ multiprocessors: 3 }));
    expect(k.maxCooperativeBlocks(1024)).toBe(6);
    expect(k.maxActiveClusters({ grid: 4, block: 1024, cluster: 4 })).toBe(1);
  });

  it("is what an ordinary grid has at once too, so that a grid of that size may wait within itself", () => {
    const context = opened({ multiprocessors: 2 });
    // Each block counts itself and waits for all of them; a grid of one block more would never end
    // on a GPU.
    const all = context
      .load(
        `${header}.visible .entry all(.param .u64 counter) { .reg .b64 %c; .reg .b32 %r, %n; .reg .pred %p; ld.param.u64 %c, [counter];
         mov.u32 %n, %nctaid.x; atom.global.add.u32 %r, [%c], 1; again: ld.volatile.global.u32 %r, [%c]; setp.lt.u32 %p, %r, %n; @%p bra again; ret; }`,
      )
      .kernel("all", ["u32*"]);
    const stream = context.stream();
    const run = (grid: number) => {
      const counter = context.zeros("u32", 1);
      stream.launch(all, { grid, block: 1 }, counter);
      return context.read(counter)[0];
    };
    expect(run(64)).toBe(64);
    expect(() => run(65)).toThrow("CUDA_ERROR_LAUNCH_TIMEOUT");
  });
});

describe("a launch", () => {
  it("is told of, with what it did", () => {
    const told: LaunchReport[] = [];
    const context = opened({ onLaunch: (report) => told.push(report) });
    const scale = context.load(ptx).kernel("scale", ["const f32*", "f32*", "i32", "f32"]);
    const stream = context.stream();
    stream.launch(scale, { grid: 1, block: 32 }, context.zeros("f32", 32), context.zeros("f32", 32), 32, 1);
    expect(told).toEqual([]);
    stream.sync();
    expect(told.map(({ kernel }) => kernel)).toEqual(["scale"]);
    // x and the table are read and y written, 4 bytes a thread each.
    expect(told[0]!.counters.bytes.global).toBe(3 * 4 * 32);
  });

  it("hands on what its kernel prints, also before a fault", () => {
    const printed: string[] = [];
    const context = opened({ print: (text) => printed.push(text) });
    const kernel = context
      .load(
        `${header}.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.visible .global .align 1 .b8 text[7] = {105, 32, 37, 100, 33, 10, 0};
.visible .entry k() { .local .align 8 .b8 room[8]; .reg .b64 %f, %a; .reg .b32 %i; mov.u32 %i, 42; st.local.u32 [room], %i;
  mov.u64 %f, text; cvta.global.u64 %f, %f; mov.u64 %a, room; cvta.local.u64 %a, %a;
  { .param .b64 f; st.param.b64 [f], %f; .param .b64 a; st.param.b64 [a], %a; .param .b32 r; call.uni (r), vprintf, (f, a); }
  trap; }`,
      )
      .kernel("k", []);
    const stream = context.stream();
    stream.launch(kernel, { grid: 1, block: 1 });
    expect(() => stream.sync()).toThrow("trap; in k");
    expect(printed).toEqual(["i 42!\n"]);
  });

  it("takes launch attributes that are hints, and refuses those that would do something", () => {
    const driver = simulatedDriver({ memoryBytes: 1 << 20, launchBytes: 1 << 20 });
    using context = openDevice({ driver });
    using module = context.load(`${header}.visible .entry k() { ret; }`);
    const kernel = module.kernel("k", []);
    using stream = context.stream();
    const launch = (attribute: number) => {
      const memory = new ArrayBuffer(64 + 72);
      const words = new Uint32Array(memory);
      words.set([1, 1, 1, 1, 1, 1, 0]);
      const longs = new BigUint64Array(memory);
      longs[4] = stream.handle;
      longs[5] = driver.addressOf(new Uint8Array(memory, 64));
      words[12] = 1;
      words[16] = attribute;
      words[18] = 1;
      return driver.resolve("cuLaunchKernelEx")(new Uint8Array(memory), kernel.handle, 0n, 0n);
    };
    // Programmatic serialisation (6) and priority (8); cooperative (2); a programmatic event (7).
    expect([6, 8, launchAttribute.cooperative, 7].map(launch)).toEqual([0, 0, 0, 801]);
    expect(driver.explain(801)?.message).toBe("launch attribute 7 is not simulated");
  });
});
