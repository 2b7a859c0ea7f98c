// What a context owns and how it goes: disposal, lost contexts, streams, graphs and waiting.
import { describe, expect, it } from "vitest";
import { FaultyDriver } from "../../packages/gpu/src/fault-injection.js";
import { ContextLostError, CudaError, DisposedError, OutOfMemoryError, openDevice, registerDriver } from "../../packages/gpu/src/index.js";
import { FakeDriver } from "./fake-driver.js";

const ptx = ".version 6.3\n.target sm_70\n.visible .entry first() { ret; }\n.visible .entry second() { ret; }";

const opened = (driver = new FakeDriver()) => ({ driver, context: openDevice({ driver, onLeak: () => undefined }) });

describe("opening", () => {
  it("says which devices there are", () => {
    expect(() => openDevice({ driver: new FakeDriver({ devices: 2 }), device: 2 })).toThrow(
      "there is no device 2: CUDA shows 2 devices, numbered from 0",
    );
    expect(() => openDevice({ device: "none such" })).toThrow('there is no device "none such"');
  });

  it("uses a registered driver by its name", () => {
    const driver = new FakeDriver();
    registerDriver("fake", () => driver);
    const context = openDevice("fake");
    expect(context.info.name).toBe("Fake");
    context.dispose();
    expect(driver.outstanding()).toEqual({});
  });
});

describe("disposal", () => {
  it("of a context gives back all that was made in it", () => {
    const { driver, context } = opened();
    context.upload(new Float32Array(100));
    context.stream();
    context.event();
    context.load(ptx);
    context.pinned("f32", 10);
    context.stream().capture(() => undefined);
    expect(context.held().map(({ kind }) => kind)).toEqual(["buffer", "stream", "event", "module", "pinned buffer", "stream", "graph"]);
    context.dispose();
    context.dispose();
    expect(driver.outstanding()).toEqual({});
    expect(driver.violations).toEqual([]);
    expect(() => context.alloc("f32", 1)).toThrow(DisposedError);
  });

  it("of any object is idempotent, and the object is then refused by its name", () => {
    const { driver, context } = opened();
    const stream = context.stream({ label: "worker" });
    stream.dispose();
    stream.dispose();
    expect(() => stream.sync()).toThrow(/^the stream "worker" made at .*context\.test\.ts:\d+:\d+ was disposed/);
    expect(driver.violations).toEqual([]);
  });

  it("of a buffer comes after the work of every stream that used it", () => {
    const { driver, context } = opened();
    const one = context.stream();
    const two = context.stream();
    const buffer = context.alloc("f32", 8);
    one.fill(buffer);
    driver.calls.length = 0;
    buffer.dispose();
    expect(driver.calls).toEqual(["cuMemFreeAsync"]);
    const shared = context.alloc("f32", 8);
    one.fill(shared);
    two.fill(shared);
    driver.calls.length = 0;
    shared.dispose();
    // The service stream and the other stream are waited for, on the device.
    const join = ["cuEventRecord", "cuStreamWaitEvent"];
    expect(driver.calls).toEqual(["cuEventCreate", ...join, ...join, "cuEventDestroy", "cuMemFreeAsync"]);
  });

  it("of a stream leaves its work before what comes later, and every stream begins after that and after what was allocated", () => {
    const { driver, context } = opened();
    const order = ["cuEventCreate", "cuEventRecord", "cuStreamWaitEvent", "cuEventDestroy"];
    for (let round = 0; round < 2; round++) {
      const stream = context.stream();
      expect(driver.calls.slice(-5)).toEqual(["cuStreamCreateWithPriority", ...order]);
      stream.dispose();
      expect(driver.calls.slice(-5)).toEqual([...order, "cuStreamDestroy"]);
    }
  });

  it("locks host memory for downloads of up to 32 MiB once, and keeps 40 MiB of it", async () => {
    const inner = new FakeDriver();
    const driver = new FaultyDriver(inner);
    const context = openDevice({ driver });
    const locked = () => inner.outstanding()["registered"] ?? 0;
    const stream = context.stream();
    const [small, large] = [context.zeros("u8", 5 << 20), context.zeros("u8", 33 << 20)];
    for (let k = 0; k < 3; k++) expect((await stream.download(small)).length).toBe(5 << 20);
    expect(driver.uses.get("cuMemHostRegister")).toBe(5);
    await Promise.all(Array.from({ length: 9 }, () => stream.download(small)));
    expect(driver.uses.get("cuMemHostRegister")).toBe(45);
    expect(locked()).toBe(40);
    await stream.download(large);
    expect(driver.uses.get("cuMemHostRegister")).toBe(46);
    expect(locked()).toBe(40);
    context.dispose();
    expect(inner.outstanding()).toEqual({});
  });

  it("empties the array of pinned memory instead of leaving it dangling", () => {
    const { context } = opened();
    const pinned = context.pinned("f32", 100);
    const array = pinned.array;
    expect(array.length).toBe(100);
    pinned.dispose();
    expect(array.length).toBe(0);
  });
});

describe("an error", () => {
  it("names the call, the code, the driver's sentence and the last launches of its stream", () => {
    const driver = new FaultyDriver(new FakeDriver(), [{ call: "cuStreamSynchronize", use: 1, code: 719 }]);
    const context = openDevice({ driver, onLeak: () => undefined });
    const module = context.load(ptx);
    const stream = context.stream({ label: "stream A" });
    context.stream().launch(module.kernel("second", []), { grid: 9, block: 9 });
    stream.launch(module.kernel("first", []), { grid: 300, block: 128 });
    stream.launch(module.kernel("second", []), { grid: [2, 3], block: [4, 1, 2], shared: 64 });
    expect(() => stream.sync()).toThrow(
      "CUDA_ERROR_LAUNCH_FAILED (719) from cuStreamSynchronize: a sentence of the driver; last launches on stream A: first<<<300, 128>>>, second<<<(2, 3), (4, 1, 2), 64>>>",
    );
    expect(context.loss?.launches.map(({ kernel }) => kernel)).toEqual(["first", "second"]);
  });

  it("that loses the context is told by every later call at once, and disposal stays silent", () => {
    const inner = new FakeDriver();
    const driver = new FaultyDriver(inner, [{ call: "cuCtxSynchronize", use: 1, code: 700, lasting: true }]);
    const context = openDevice({ driver, onLeak: () => undefined });
    const stream = context.stream();
    const buffer = context.zeros("f32", 4);
    expect(() => context.sync()).toThrow(CudaError);
    inner.calls.length = 0;
    expect(() => stream.fill(buffer)).toThrow(ContextLostError);
    expect(() => context.alloc("f32", 1)).toThrow(
      /^CUDA_ERROR_ILLEGAL_ADDRESS \(700\) from cuCtxSynchronize: .*the context was lost to it and cuMemAllocFromPoolAsync was not called/,
    );
    expect(inner.calls).toEqual([]);
    buffer.dispose();
    stream.dispose();
    context.dispose();
    expect(inner.calls).toEqual(["cuDevicePrimaryCtxRelease"]);
    expect(inner.outstanding()).toEqual({});
  });

  it("is found at its launch, with the launch's line, in debug mode", () => {
    const driver = new FaultyDriver(new FakeDriver(), [{ call: "cuStreamSynchronize", use: 2, code: 700 }]);
    const context = openDevice({ driver, debug: true });
    const module = context.load(ptx);
    const stream = context.stream({ label: "s" });
    stream.launch(module.kernel("first", []), { grid: 1, block: 1 });
    expect(() => stream.launch(module.kernel("second", []), { grid: 1, block: 1 })).toThrow(
      /last launches on s: first<<<1, 1>>> at .*context\.test\.ts:\d+:\d+, second<<<1, 1>>> at .*context\.test\.ts:\d+:\d+$/,
    );
  });

  it("of too little memory says what was asked, is free and is held by what", () => {
    const { context } = opened(new FakeDriver({ memory: 1 << 20 }));
    context.alloc("f32", 1000, { label: "weights" });
    context.alloc("f32", 1000, { label: "weights" });
    context.alloc("f64", 1000, { label: "states" });
    let thrown: unknown;
    try {
      context.alloc("f64", 1 << 18);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(OutOfMemoryError);
    const error = thrown as OutOfMemoryError;
    expect(error.requested).toBe(2 << 20);
    expect(error.free).toBe((1 << 20) - 16000);
    expect(error.held).toBe(16000);
    expect(error.holders).toEqual([
      { label: "weights", count: 2, bytes: 8000 },
      { label: "states", count: 1, bytes: 8000 },
    ]);
    expect(error.message).toContain(
      "2.0 MiB asked for, 1032576 bytes of 1.0 MiB free, 16000 bytes held by this context (weights x 2 8000 bytes, states 8000 bytes)",
    );
  });
});

describe("a capture", () => {
  it("refuses what has no meaning in a graph, and leaves the stream as it was", () => {
    const { driver, context } = opened();
    const stream = context.stream({ label: "s" });
    const buffer = context.zeros("f32", 4);
    const capture = (work: () => void) => () => stream.capture(work);
    expect(capture(() => stream.sync())).toThrow("s is being captured into a graph, and a wait cannot be");
    expect(capture(() => stream.upload(buffer, new Float32Array(4)))).toThrow("a copy of memory that is not page-locked cannot be");
    expect(capture(() => context.alloc("f32", 1, { stream }))).toThrow("allocate before");
    expect(stream.capturing).toBe(false);
    stream.sync();
    expect(driver.outstanding()["graph"]).toBeUndefined();
  });

  it("keeps what it uses: a graph with disposed memory is not launched", () => {
    const { context } = opened();
    const stream = context.stream();
    const pinned = context.pinned("f32", 4);
    const buffer = context.zeros("f32", 4, { label: "states" });
    const graph = stream.capture((s) => s.upload(buffer, pinned));
    graph.launch(stream);
    buffer.dispose();
    expect(() => graph.launch(stream)).toThrow(/buffer "states" .* was disposed/);
  });
});

describe("waiting", () => {
  it("resolves while the event loop turns, on a thread when it takes long", async () => {
    const { driver, context } = opened();
    const stream = context.stream();
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    driver.pending = 2 ** 31;
    await stream.done();
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
    expect(driver.calls).toContain("cuEventSynchronize");
    context.dispose();
    expect(driver.outstanding()).toEqual({});
  });

  it("survives the context's disposal, which lets the context go after it", async () => {
    const { driver, context } = opened();
    const stream = context.stream();
    driver.pending = 2 ** 31;
    const done = stream.done();
    const rejected = expect(done).rejects.toThrow(DisposedError);
    context.dispose();
    expect(driver.outstanding()["retained"]).toBe(1);
    await rejected;
    expect(driver.outstanding()).toEqual({});
    expect(driver.violations).toEqual([]);
  });
});

describe("copies", () => {
  it("bring back what was uploaded, whole and in slices", async () => {
    const { context } = opened();
    const stream = context.stream();
    const buffer = context.upload(Float64Array.of(1, 2, 3, 4));
    stream.copy(buffer.slice(0, 2), buffer.slice(2, 4));
    expect([...context.read(buffer)]).toEqual([3, 4, 3, 4]);
    expect([...(await stream.download(buffer.slice(1, 3)))]).toEqual([4, 3]);
    stream.fill(buffer.slice(3).as("u16"), 0x3c00);
    expect([...context.read(buffer.slice(3).as("u16"))]).toEqual([0x3c00, 0x3c00, 0x3c00, 0x3c00]);
  });

  it("refuse unequal lengths and types, read-only memory, and slices beyond the end", () => {
    const { context } = opened();
    const stream = context.stream();
    const buffer = context.zeros("f32", 4);
    expect(() => stream.upload(buffer, new Float32Array(3))).toThrow("got 4 elements on the device and 3 on the host");
    expect(() => stream.upload(buffer, new Int32Array(4) as unknown as Float32Array)).toThrow("a copy of f32 needs an array of that type");
    expect(() => stream.copy(buffer, buffer.slice(1))).toThrow("got 3 of f32 onto 4 of f32");
    expect(() => stream.fill(buffer.readonly() as typeof buffer)).toThrow("read-only device memory was given to be written");
    expect(() => buffer.slice(2, 5)).toThrow("a slice of 4 elements runs from 0 <= from <= to <= 4; got from 2 to 5");
    expect(() => buffer.slice(1, 2).as("f64")).toThrow("are no aligned elements of f64");
    expect(() => stream.fill(buffer, 2 ** 32)).toThrow("from 0 to 4294967295; got 4294967296");
  });

  it("take memory without pools from plain allocation", () => {
    const { driver, context } = opened(new FakeDriver({ attributes: { 115: 0 } }));
    const buffer = context.upload(Int32Array.of(1, 2, 3));
    expect([...context.read(buffer)]).toEqual([1, 2, 3]);
    expect(context.poolStatistics()).toEqual({
      streamOrdered: false,
      reserved: 12,
      reservedHigh: 12,
      used: 12,
      usedHigh: 12,
      allocations: 1,
      frees: 0,
    });
    context.dispose();
    expect(driver.outstanding()).toEqual({});
  });
});
