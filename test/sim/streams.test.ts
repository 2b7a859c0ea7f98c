// When work runs on the simulated device: as late as the program allows. A missing dependency then
// fails instead of working by accident.
import { describe, expect, it } from "vitest";
import { type Context, openDevice } from "../../packages/gpu/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { ptx } from "./program.js";

const opened = (): Context =>
  openDevice({ driver: simulatedDriver({ memoryBytes: 1 << 20, launchBytes: 1 << 22 }), onLeak: () => undefined });

describe("the streams that cuda.h names", () => {
  const [legacy, perThread] = [1n, 2n];

  it.each([
    ["CU_STREAM_LEGACY", legacy],
    ["CU_STREAM_PER_THREAD", perThread],
  ])("take work: %s", (_name, stream) => {
    const driver = simulatedDriver({ memoryBytes: 1 << 20, launchBytes: 1 << 22 });
    const context = openDevice({ driver, onLeak: () => undefined });
    const x = context.zeros("u32", 1);
    const out = new Uint32Array(1);
    expect(driver.resolve("cuMemsetD32Async")(x.address, 7, 1, stream)).toBe(0);
    expect(driver.resolve("cuMemcpyDtoHAsync")(out, x.address, 4, stream)).toBe(0);
    expect(driver.resolve("cuStreamSynchronize")(stream)).toBe(0);
    expect(out[0]).toBe(7);
    context.dispose();
  });

  it("are known by every call that takes a stream", () => {
    const driver = simulatedDriver({ memoryBytes: 1 << 20, launchBytes: 1 << 22 });
    const context = openDevice({ driver, onLeak: () => undefined });
    const event = new BigUint64Array(1);
    expect(driver.resolve("cuEventCreate")(event, 2)).toBe(0);
    for (const stream of [0n, legacy, perThread]) {
      expect(driver.resolve("cuEventRecord")(event[0]!, stream)).toBe(0);
      expect(driver.resolve("cuStreamWaitEvent")(stream, event[0]!, 0)).toBe(0);
      expect(driver.resolve("cuStreamSynchronize")(stream)).toBe(0);
      expect(driver.resolve("cuStreamQuery")(stream)).toBe(0);
    }
    context.dispose();
  });
});

describe("work of a stream", () => {
  it("runs, and takes no more and more memory, also if nobody waits for it", () => {
    const driver = simulatedDriver({ memoryBytes: 1 << 20, launchBytes: 1 << 22 });
    const context = openDevice({ driver, onLeak: () => undefined });
    let most = 0;
    for (let round = 0; round < 2000; round++) {
      const stream = context.stream();
      const x = context.zeros("f32", 64);
      stream.fill(x, 1);
      x.dispose();
      stream.dispose();
      most = Math.max(most, driver.outstanding()["Allocation"] ?? 0);
    }
    // One for each round that up to 256 waiting pieces of work belong to.
    expect(most).toBeLessThan(256);
    context.dispose();
  });

  it("has not run when its call returns, and runs by the time it is waited for", () => {
    const context = opened();
    const stream = context.stream();
    const pinned = context.pinned("f32", 2);
    const x = context.upload(Float32Array.of(1, 2));
    stream.read(x, pinned);
    expect([...pinned.array]).toEqual([0, 0]);
    expect(stream.ready).toBe(false);
    stream.sync();
    expect([...pinned.array]).toEqual([1, 2]);
    expect(stream.ready).toBe(true);
  });

  it("reads page-locked memory when it runs, and other memory when it is given", () => {
    const context = opened();
    const stream = context.stream();
    const pinned = context.pinned("f32", 1);
    const plain = Float32Array.of(1);
    const [x, y] = [context.zeros("f32", 1), context.zeros("f32", 1)];
    stream.upload(x, pinned);
    stream.upload(y, plain);
    pinned.array[0] = 2;
    plain[0] = 2;
    stream.sync();
    expect([context.read(x)[0], context.read(y)[0]]).toEqual([2, 1]);
  });

  it("comes after that of another stream only where an event says so", () => {
    const context = opened();
    const [first, second] = [context.stream(), context.stream()];
    const x = context.zeros("u32", 1);
    const copied = context.pinned("u32", 1);
    first.fill(x, 7);
    second.read(x, copied);
    second.sync();
    expect(copied.array[0]).toBe(0);
    const event = context.event();
    first.fill(x, 8);
    event.record(first);
    second.wait(event);
    second.read(x, copied);
    second.sync();
    expect(copied.array[0]).toBe(8);
  });

  it("that reads memory of which another stream has disposed is told as a use after free", () => {
    const context = opened();
    const module = context.load(ptx);
    const scale = module.kernel("scale", ["const f32*", "f32*", "i32", "f32"]);
    const stream = context.stream();
    const x = context.upload(new Float32Array(4), { label: "weights" });
    const y = context.zeros("f32", 4);
    const { address } = x;
    x.dispose();
    stream.launch(scale, { grid: 1, block: 4 }, context.borrow("f32", address, 4), y, 4, 1);
    context.core.driver.resolve("cuStreamSynchronize")(context.core.service);
    expect(() => stream.sync()).toThrow(/weights \(16 bytes\), which was freed; in scale, PTX line 13/);
  });

  it("goes on after the stream's disposal", () => {
    const context = opened();
    const x = context.zeros("u32", 1);
    const stream = context.stream();
    stream.fill(x, 5);
    stream.dispose();
    expect([...context.read(x)]).toEqual([5]);
  });
});

describe("an event", () => {
  it("tells simulated time: a nanosecond for each step of a kernel, and what copies take", () => {
    const context = opened();
    const stream = context.stream();
    const [start, end] = [context.event(), context.event()];
    const x = context.zeros("u8", 500_000);
    start.record(stream);
    stream.fill(x, 1);
    end.record(stream);
    expect(() => end.elapsedSince(start)).toThrow("CUDA_ERROR_NOT_READY (600)");
    end.sync();
    // 1 us, and 500,000 bytes at 50 bytes a nanosecond.
    expect(end.elapsedSince(start)).toBeCloseTo(0.011, 6);
  });
});

describe("memory", () => {
  it("that is being given back counts as free where another allocation needs it", () => {
    const context = opened();
    const held = context.alloc("u8", 700_000);
    const stream = context.stream();
    stream.fill(held);
    held.dispose();
    expect(context.alloc("u8", 700_000).length).toBe(700_000);
  });

  it("outside of an allocation is refused to copies, with where it lies", () => {
    const context = opened();
    const stream = context.stream();
    const x = context.alloc("u8", 100, { label: "states" });
    const beyond = context.borrow("u8", x.address + 90n, 20);
    expect(() => stream.fill(beyond)).toThrow("9 bytes past the end of states (100 bytes)");
  });
});

describe("a capture", () => {
  it("takes in a stream that waits for captured work, and its end asks that it was joined", () => {
    const context = opened();
    const [origin, side] = [context.stream(), context.stream()];
    const [fork, join] = [context.event(), context.event()];
    const x = context.zeros("u32", 1);
    const y = context.zeros("u32", 1);
    const work = (joined: boolean) => () => {
      origin.fill(x, 1);
      fork.record(origin);
      side.wait(fork);
      side.fill(y, 2);
      join.record(side);
      if (joined) origin.wait(join);
    };
    const graph = origin.capture(work(true));
    expect(graph.size).toBe(2);
    expect([...context.read(y)]).toEqual([0]);
    graph.launch(origin);
    expect([...context.read(y)]).toEqual([2]);
    expect(() => origin.capture(work(false))).toThrow("CUDA_ERROR_STREAM_CAPTURE_UNJOINED (904)");
  });

  it("is spoiled by a wait for work outside of it", () => {
    const context = opened();
    const [origin, side] = [context.stream(), context.stream()];
    const event = context.event();
    event.record(side);
    expect(() =>
      origin.capture(() => {
        expect(() => origin.wait(event)).toThrow("CUDA_ERROR_STREAM_CAPTURE_ISOLATION (905)");
      }),
    ).toThrow("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED (901)");
  });
});
