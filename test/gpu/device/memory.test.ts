// Memory on the device: round trips, pinned copies, and that nothing leaks.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Context, type CudaError, OutOfMemoryError, type Stream } from "../../../packages/gpu/src/index.js";
import { fixture, onHardware, openTestDevice, size } from "./device.js";

let context: Context;
let stream: Stream;

beforeAll(() => {
  context = openTestDevice();
  stream = context.stream();
});

afterAll(() => context?.dispose());

/**
 * Words that no shift or repetition maps to themselves: a linear congruential generator (Numerical
 * Recipes, section 7.1).
 */
function pattern(length: number): Uint32Array {
  const words = new Uint32Array(length);
  let state = 1;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    words[i] = state;
  }
  return words;
}

describe("copies", () => {
  it(`bring ${size(256, 4)} MiB to the device and back unchanged, by every way there is`, async () => {
    const words = pattern(size(64, 1) << 20);
    const equal = (copy: Uint32Array) =>
      Buffer.compare(new Uint8Array(copy.buffer, copy.byteOffset, copy.byteLength), new Uint8Array(words.buffer)) === 0;
    using buffer = context.upload(words);
    expect(equal(context.read(buffer))).toBe(true);
    expect(equal(await stream.download(buffer))).toBe(true);
    using twin = context.alloc("u32", words.length);
    stream.copy(twin, buffer);
    using pinned = context.pinned("u32", words.length);
    stream.read(twin, pinned);
    await stream.done();
    expect(equal(pinned.array)).toBe(true);
    stream.fill(buffer);
    stream.upload(buffer, pinned);
    expect(equal(context.read(buffer))).toBe(true);
  });

  it("fill with bytes, halves and words, in slices", () => {
    using words = context.zeros("u32", 8);
    stream.fill(words.slice(2, 6), 0xdeadbeef);
    stream.fill(words.slice(3, 4).as("u16"), 0x1234);
    expect([...context.read(words)]).toEqual([0, 0, 0xdeadbeef, 0x12341234, 0xdeadbeef, 0xdeadbeef, 0, 0]);
  });

  it("move rectangles between pitches", () => {
    const source = Float64Array.from({ length: 12 }, (_, i) => i);
    using matrix = context.zeros("f64", 20);
    stream.copy2D(matrix, source, { columns: 3, rows: 4, sourcePitch: 3, destinationPitch: 5 });
    const expected = Array.from({ length: 20 }, (_, i) => (i % 5 < 3 ? Math.floor(i / 5) * 3 + (i % 5) : 0));
    expect([...context.read(matrix)]).toEqual(expected);
    const back = new Float64Array(4);
    stream.copy2D(back, matrix.slice(1), { columns: 1, rows: 4, sourcePitch: 5 });
    expect([...back]).toEqual([1, 4, 7, 10]);
  });

  it("from pinned memory return before they are done", async () => {
    const words = pattern(size(64, 1) << 20);
    using buffer = context.alloc("u32", words.length);
    using pinned = context.pinned("u32", words.length);
    using end = context.event();
    pinned.array.set(words);
    stream.upload(buffer, pinned);
    end.record(stream);
    expect(end.ready).toBe(false);
    await end.done();
    expect(Buffer.compare(new Uint8Array(context.read(buffer).buffer), new Uint8Array(words.buffer))).toBe(0);
  });
});

describe("memory", () => {
  it(`of ${size(10_000, 200)} buffers comes back, on the device and here`, () => {
    const cycle = () => {
      for (let i = 0; i < size(10_000, 200); i++) {
        const buffer = context.alloc("f32", 1 << 18);
        if (i % 10 === 0) stream.fill(buffer);
        buffer.dispose();
      }
    };
    // The first cycles size the heap of JavaScript, which keeps its size.
    cycle();
    cycle();
    context.trimPool();
    globalThis.gc?.();
    const before = context.memoryInfo().free;
    const resident = process.memoryUsage().rss;
    cycle();
    context.trimPool();
    globalThis.gc?.();
    expect(context.memoryInfo().free).toBe(before);
    if (onHardware) expect(process.memoryUsage().rss - resident).toBeLessThan(8 << 20);
    expect(context.poolStatistics().used).toBe(0);
  });

  it(`of ${size(1000, 20)} modules comes back`, () => {
    const ptx = fixture("kernels.ptx");
    const cycle = () => {
      using module = context.load(ptx);
      module.kernel("empty", []);
    };
    for (let i = 0; i < size(300, 5); i++) cycle();
    globalThis.gc?.();
    const before = context.memoryInfo().free;
    const resident = process.memoryUsage().rss;
    for (let i = 0; i < size(1000, 20); i++) cycle();
    globalThis.gc?.();
    expect(context.memoryInfo().free).toBe(before);
    if (onHardware) expect(process.memoryUsage().rss - resident).toBeLessThan(8 << 20);
  });

  it("of a disposed buffer cannot be used", () => {
    const buffer = context.alloc("f32", 4, { label: "gone" });
    buffer.dispose();
    buffer.dispose();
    expect(() => context.read(buffer)).toThrow(/buffer "gone" of 16 bytes made at .*memory\.test\.ts:\d+:\d+ was disposed/);
  });

  it("that there is too little of is told with what is asked, free and held", () => {
    using held = context.alloc("u8", size(64, 1) << 20, { label: "held" });
    let thrown: unknown;
    try {
      context.alloc("f64", context.info.totalMemory / 8);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(OutOfMemoryError);
    const error = thrown as OutOfMemoryError & CudaError;
    expect(error.requested).toBe(context.info.totalMemory);
    expect(error.free).toBeGreaterThan(0);
    expect(error.holders).toContainEqual({ label: "held", count: 1, bytes: held.byteLength });
  });
});
