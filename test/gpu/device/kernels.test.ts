// Launches on the device: arguments, shapes, errors, graphs and waiting.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Context, Module, Stream } from "../../../packages/gpu/src/index.js";
import { fixture, openTestDevice, size } from "./device.js";

let context: Context;
let module: Module;
let stream: Stream;

beforeAll(() => {
  context = openTestDevice();
  module = context.load(fixture("kernels.ptx"), { label: "kernels" });
  stream = context.stream();
});

afterAll(() => context?.dispose());

describe("a launch", () => {
  it("adds 1024 ones and twos in 4 blocks of 256 to threes, from PTX of .version 6.3 and .target sm_70", () => {
    const add = module.kernel("vector_add", ["const f32*", "const f32*", "f32*", "i32"], { lengths: [[3], [3], [3]] });
    using a = context.upload(new Float32Array(1024).fill(1));
    using b = context.upload(new Float32Array(1024).fill(2));
    using c = context.zeros("f32", 1024);
    stream.launch(add, { grid: 4, block: 256 }, a, b, c, 1024);
    expect(context.read(c)).toEqual(new Float32Array(1024).fill(3));
  });

  it("carries a pointer, i32, u32, i64, u64, f32 and f64 bit for bit", async () => {
    const echo = module.kernel("echo", ["const f32*", "i32", "u32", "i64", "u64", "f32", "f64", "u64*"]);
    using p = context.alloc("f32", 8);
    using out = context.zeros("u64", 7);
    for (const [a, b, c, d, e, f] of [
      [-7, 4_000_000_000, -(2n ** 40n), 2n ** 63n + 1n, 0.1, 1 / 3],
      [2 ** 31 - 1, 0, -(2n ** 63n), 2n ** 64n - 1n, Number.NEGATIVE_INFINITY, 5e-324],
      [-(2 ** 31), 1, 2n ** 63n - 1n, 0n, 1.401298464324817e-45, -0],
    ] as const) {
      stream.launch(echo, { grid: 1, block: 1 }, p.slice(3), a, b, c, d, e, f, out);
      const bits = new DataView(new ArrayBuffer(16));
      bits.setFloat32(0, e);
      bits.setFloat64(8, f);
      const expected = [p.address + 12n, BigInt.asUintN(64, BigInt(a)), BigInt(b), BigInt.asUintN(64, c), d];
      expect([...(await stream.download(out))]).toEqual([...expected, BigInt(bits.getUint32(0)), bits.getBigUint64(8)]);
    }
  });

  it("refuses a grid of zero or too many blocks by name", () => {
    const empty = module.kernel("empty", []);
    expect(() => stream.launch(empty, { grid: 0, block: 32 })).toThrow(
      "kernel empty: grid.x is 0; it takes a whole number from 1 to 2147483647",
    );
    expect(() => stream.launch(empty, { grid: [1, 65536], block: 32 })).toThrow("kernel empty: grid.y is 65536");
    expect(() => stream.launch(empty, { grid: 1, block: 1025 })).toThrow("kernel empty: block.x is 1025");
  });

  it("has dynamic shared memory beyond 48 KiB without being asked twice", () => {
    const kernel = module.kernel("shared_last", ["f32*", "i32"]);
    using out = context.zeros("f32", 2);
    const floats = 40_000;
    stream.launch(kernel, { grid: 2, block: 256, shared: floats * 4 }, out, floats);
    expect([...context.read(out)]).toEqual([floats - 1, floats - 1]);
  });

  it("runs all blocks of a cooperative launch at once, and says how many fit where they do not", () => {
    const kernel = module.kernel("all_together", ["u32*", "u32*"]);
    const blocks = context.info.attributes.multiprocessors;
    using arrived = context.zeros("u32", 1);
    using counts = context.zeros("u32", blocks);
    stream.launch(kernel, { grid: blocks, block: 256, cooperative: true }, arrived, counts);
    expect([...context.read(counts)]).toEqual(Array(blocks).fill(blocks));
    const most = kernel.maxCooperativeBlocks(256);
    expect(most).toBeGreaterThanOrEqual(blocks);
    expect(() => stream.launch(kernel, { grid: most + 1, block: 256, cooperative: true }, arrived, counts)).toThrow(
      `at most ${most} blocks of 256 threads run at once here`,
    );
  });

  it("has clusters of 8 and of 16 blocks", (test) => {
    if (context.info.attributes.clusterLaunch === 0) return test.skip("this device has no clusters");
    using clusters = context.load(fixture("cluster.ptx"));
    const kernel = clusters.kernel("cluster_rank", ["u32*"]);
    using out = context.zeros("u32", 32);
    for (const cluster of [8, 16]) {
      stream.launch(kernel, { grid: 32, block: 32, cluster }, out);
      expect([...context.read(out)]).toEqual(Array.from({ length: 32 }, (_, block) => cluster * 100 + (block % cluster)));
    }
  });

  it("reads and writes globals and constants", () => {
    stream.upload(module.global("factors", "f32"), Float32Array.of(3, 5, 0, 0));
    const kernel = module.kernel("scale_by_constant", ["f32*", "i32"]);
    using x = context.upload(Float32Array.of(1, 2, 3));
    stream.launch(kernel, { grid: 1, block: 32 }, x, 3);
    expect([...context.read(x)]).toEqual([3, 6, 9]);
    expect([...context.read(module.global("table", "f32"))]).toEqual(Array(16).fill(5));
  });

  it("knows its kernels' resources and occupancy", () => {
    const kernel = module.kernel("vector_add", ["const f32*", "const f32*", "f32*", "i32"]);
    expect(kernel.checkedBy).toBe("ptx");
    const { registers, maxThreadsPerBlock, binaryVersion } = kernel.resources();
    const [major, minor] = context.info.computeCapability;
    expect(registers).toBeGreaterThan(0);
    expect(maxThreadsPerBlock).toBe(1024);
    expect(binaryVersion).toBe(10 * major + minor);
    const { threadsPerMultiprocessor, sharedBytesPerBlockOptIn } = context.info.attributes;
    expect(kernel.occupancy(256)).toBe(threadsPerMultiprocessor / 256);
    expect([kernel.occupancy(256, sharedBytesPerBlockOptIn), kernel.occupancy(256, sharedBytesPerBlockOptIn + 1)]).toEqual([1, 0]);
  });
});

describe("a graph", () => {
  it("runs 1000 captured launches, is updated, and refuses memory that is gone", async () => {
    const addOne = module.kernel("add_one", ["u32*"]);
    const counter = context.zeros("u32", 1);
    using graph = stream.capture((s) => {
      for (let i = 0; i < 1000; i++) s.launch(addOne, { grid: 1, block: 1 }, counter);
    });
    expect(graph.size).toBe(1000);
    graph.upload(stream);
    graph.launch(stream);
    graph.launch(stream);
    expect([...(await stream.download(counter))]).toEqual([2000]);
    graph.update(stream, (s) => {
      for (let i = 0; i < 1000; i++) s.launch(addOne, { grid: 2, block: 1 }, counter);
    });
    graph.launch(stream);
    expect([...(await stream.download(counter))]).toEqual([4000]);
    expect(() => graph.update(stream, (s) => s.launch(addOne, { grid: 1, block: 1 }, counter))).toThrow(/\(910\) from cuGraphExecUpdate/);
    counter.dispose();
    expect(() => graph.launch(stream)).toThrow(/buffer "u32\[1\]" of 4 bytes made at .* was disposed/);
  });
});

describe("launches that overlap", () => {
  // x = 3 x + 1 by one thread, after all that was launched before; the next may start at once.
  const ptx = `.version 7.8
.target sm_90
.address_size 64
.visible .entry advance(.param .u64 x) {
  .reg .b64 %address; .reg .b32 %value;
  griddepcontrol.launch_dependents;
  ld.param.u64 %address, [x];
  griddepcontrol.wait;
  ld.global.u32 %value, [%address];
  mad.lo.u32 %value, %value, 3, 1;
  st.global.u32 [%address], %value;
  ret;
}`;

  it("come in their order where each waits for the one before, in a stream and in a graph", (test) => {
    if (context.info.computeCapability[0] < 9) return test.skip("this device has no launches that overlap");
    using advancing = context.load(ptx);
    const advance = advancing.kernel("advance", ["u32*"]);
    using x = context.zeros("u32", 1);
    const launches = (s: Stream) => {
      for (let i = 0; i < 1000; i++) s.launch(advance, { grid: 1, block: 1, overlap: true }, x);
    };
    launches(stream);
    using graph = stream.capture(launches);
    graph.launch(stream);
    graph.launch(stream);
    stream.sync();
    let expected = 0;
    for (let i = 0; i < 3000; i++) expected = (Math.imul(3, expected) + 1) >>> 0;
    expect([...context.read(x)]).toEqual([expected]);
  });
});

describe("waiting", () => {
  it("resolves for six streams at once, with files still read meanwhile", async () => {
    const wait = module.kernel("wait", ["u64"]);
    const streams = Array.from({ length: 6 }, () => context.stream());
    for (const each of streams) each.launch(wait, { grid: 1, block: 1 }, size(200_000_000, 2000));
    const { readFile } = await import("node:fs/promises");
    const all = Promise.all(streams.map((each) => each.done()));
    expect(streams[5]!.ready).toBe(false);
    expect((await readFile("package.json")).length).toBeGreaterThan(0);
    await all;
    for (const each of streams) each.dispose();
  });

  it("times by events what a stream did", async () => {
    const wait = module.kernel("wait", ["u64"]);
    using start = context.event();
    using end = context.event();
    start.record(stream);
    stream.launch(wait, { grid: 1, block: 1 }, size(20_000_000, 20_000));
    end.record(stream);
    await end.done();
    expect(end.elapsedSince(start)).toBeGreaterThan(size(19.9, 0.0199));
    expect(end.elapsedSince(start)).toBeLessThan(size(100, 0.1, 10_000));
  });

  it("orders streams by events", async () => {
    const wait = module.kernel("wait", ["u64"]);
    const add = module.kernel("add_one", ["u32*"]);
    using second = context.stream();
    using counter = context.zeros("u32", 1);
    using event = context.event({ timing: false });
    stream.launch(wait, { grid: 1, block: 1 }, size(50_000_000, 50_000));
    stream.launch(add, { grid: 5, block: 1 }, counter);
    event.record(stream);
    second.wait(event);
    expect([...(await second.download(counter))]).toEqual([5]);
  });
});
