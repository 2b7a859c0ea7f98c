// Copies between device memory and arrays on the host through page-locked blocks: any parts, in
// either direction, arrive where they should and touch nothing else.
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { HostMemory } from "../../packages/gpu/src/host-memory.js";
import { ArgumentError, type Context, type HostPart, openDevice } from "../../packages/gpu/src/index.js";
import { rowsOf } from "../../packages/gpu/src/parts.js";
import { FaultyDriver } from "../../packages/sim/src/index.js";
import { casesOf } from "../exhaustive.js";
import { FakeDriver } from "./fake-driver.js";

/** A driver that copies on the host late, and counts how many copies are under way. */
class ThreadedDriver extends FakeDriver {
  most = 0;
  #underWay = 0;

  async copyHost(destination: Uint8Array, source: Uint8Array): Promise<void> {
    this.most = Math.max(this.most, ++this.#underWay);
    await new Promise((resolve) => setTimeout(resolve, source[0]! % 4));
    destination.set(source);
    this.#underWay--;
  }
}

const contexts: Context[] = [];
afterEach(() => {
  for (const context of contexts.splice(0)) context.dispose();
});

function opened<D extends FakeDriver>(driver: D, faults: ConstructorParameters<typeof FaultyDriver>[1] = []) {
  const faulty = new FaultyDriver(driver, faults);
  const context = openDevice({ driver: faulty });
  contexts.push(context);
  return { driver, faulty, context, stream: context.stream() };
}

/** Numbers that differ everywhere. */
const numbers = (length: number) => Uint32Array.from({ length }, (_, i) => Math.imul(i + 1, 2654435761));

/** Gaps and lengths in elements; whether each array is page-locked or has elements around it. */
const layout = fc.array(
  fc.record({
    gap: fc.oneof(fc.constant(0), fc.nat(40_000)),
    length: fc.oneof(fc.nat(50), fc.nat(300_000)),
    locked: fc.boolean(),
    before: fc.nat(3),
  }),
  { maxLength: 6 },
);

/** Arrays in which parts lie, filled with 7, and the parts. */
function partsOf(context: Context, pieces: readonly { gap: number; length: number; locked: boolean; before: number }[]) {
  const parts: HostPart[] = [];
  const arrays: { array: Uint32Array; before: number; length: number; start: number }[] = [];
  const block = context.pinned(
    "u32",
    Math.max(
      1,
      pieces.reduce((sum, { length, before }) => sum + length + before + 1, 0),
    ),
  );
  block.array.fill(7);
  let [end, at] = [0, 0];
  for (const { gap, length, locked, before } of pieces) {
    const start = end + gap;
    const array = locked ? block.array.subarray(at, at + before + length + 1) : new Uint32Array(before + length + 1).fill(7);
    if (locked) at += before + length + 1;
    arrays.push({ array, before, length, start });
    parts.push({ start, array: array.subarray(before, before + length) });
    end = start + length;
  }
  return { parts, arrays, end };
}

describe("transfers", () => {
  it("bring any parts to the host, and write nothing beside them", async () => {
    await fc.assert(
      fc.asyncProperty(layout, fc.nat(20), async (pieces, pending) => {
        const { driver, context, stream } = opened(new ThreadedDriver());
        const { parts, arrays, end } = partsOf(context, pieces);
        const values = numbers(end + 3);
        const memory = context.upload(values);
        driver.pending = pending;
        await stream.toHost(memory, parts);
        for (const { array, before, length, start } of arrays) {
          const expected = new Uint32Array(array.length).fill(7);
          expected.set(values.subarray(start, start + length), before);
          expect(Buffer.compare(Buffer.from(array.buffer, array.byteOffset, array.byteLength), Buffer.from(expected.buffer))).toBe(0);
        }
        expect(driver.violations).toEqual([]);
        for (const each of contexts.splice(0)) each.dispose();
      }),
      { numRuns: 8 },
    );
  });

  it("take any parts to the device, and leave what lies between", async () => {
    await fc.assert(
      fc.asyncProperty(layout, fc.nat(20), async (pieces, pending) => {
        const { driver, context, stream } = opened(new ThreadedDriver());
        const { parts, arrays, end } = partsOf(context, pieces);
        const expected = new Uint32Array(end + 3).fill(9);
        const values = numbers(end + 3);
        for (const { array, before, length, start } of arrays) {
          array.set(values.subarray(start, start + length), before);
          expected.set(values.subarray(start, start + length), start);
        }
        const memory = context.upload(new Uint32Array(end + 3).fill(9));
        driver.pending = pending;
        await stream.fromHost(memory, parts);
        expect(Buffer.compare(Buffer.from(context.read(memory).buffer), Buffer.from(expected.buffer))).toBe(0);
        expect(driver.violations).toEqual([]);
        for (const each of contexts.splice(0)) each.dispose();
      }),
      { numRuns: 8 },
    );
  });

  it("give notice of memory from part to part, if it is much and not page-locked", async () => {
    const { context, stream, driver } = opened(new ThreadedDriver());
    const noticed: [number, number][] = [];
    Object.assign(driver, { willWrite: ({ byteOffset, byteLength }: Uint8Array) => void noticed.push([byteOffset, byteLength]) });
    const memory = context.upload(numbers(6 << 18));
    const rows = (array: Uint32Array) =>
      Array.from({ length: 6 }, (_, k) => ({ start: k << 18, array: array.subarray(100 + (k << 19), 100 + (k << 19) + (1 << 18)) }));
    const all = new Uint32Array(7 << 19);
    await stream.toHost(memory, rows(all));
    await stream.toHost(
      memory,
      rows(all)
        .reverse()
        .map(({ array }, k) => ({ start: k << 18, array })),
    );
    await stream.toHost(memory, rows(context.pinned("u32", 7 << 19).array));
    expect(noticed).toEqual([[400, 11 << 20]]);
    expect(all.subarray(100 + (5 << 19), 103 + (5 << 19))).toEqual(numbers(3));
  });

  it("copy several blocks at a time", async () => {
    const { driver, context, stream } = opened(new ThreadedDriver());
    const memory = context.upload(numbers(5 << 20));
    const array = new Uint32Array(5 << 20);
    await stream.toHost(memory, [{ start: 0, array }]);
    expect(Buffer.compare(Buffer.from(array.buffer), Buffer.from(numbers(5 << 20).buffer))).toBe(0);
    expect(driver.most).toBeGreaterThan(1);
    expect(driver.outstanding()["registered"]).toBe(5);
  });

  it("copy many rows at equal distances into page-locked memory in one call", async () => {
    const { driver, context, stream } = opened(new FakeDriver());
    const values = numbers(1000);
    const memory = context.upload(values);
    const pinned = context.pinned("u32", 2000);
    driver.calls.length = 0;
    await stream.toHost(
      memory,
      Array.from({ length: 10 }, (_, r) => ({ start: 100 * r, array: pinned.array.subarray(200 * r + 5, 200 * r + 95) })),
    );
    expect(driver.calls.filter((call) => call.startsWith("cuMemcpy"))).toEqual(["cuMemcpy2DAsync"]);
    for (let r = 0; r < 10; r++)
      for (let c = 0; c < 200; c++) expect(pinned.array[200 * r + c]).toBe(c >= 5 && c < 95 ? values[100 * r + c - 5] : 0);
  });

  it("copy rows one by one that lie further apart than a copy of several takes", () => {
    const memory = new ArrayBuffer(64);
    const rows = (distance: number) => rowsOf([0, 1, 2].map((k) => ({ start: k * distance, array: new Uint32Array(memory, 8 * k, 1) })));
    expect(rows(2 ** 29 - 1).map((each) => each.rows)).toEqual([3]);
    expect(rows(2 ** 29).map((each) => [each.start, each.rows])).toEqual([0, 1, 2].map((k) => [k * 2 ** 31, 1]));
  });

  it("go without page-locked memory if the driver gives none", async () => {
    const { context, stream, driver } = opened(new FakeDriver(), [{ call: "cuMemHostRegister", use: 1, code: 2, lasting: true }]);
    const values = numbers(3_000_000);
    const memory = context.zeros("u32", values.length);
    await stream.fromHost(memory, [{ start: 0, array: values }]);
    const array = new Uint32Array(values.length);
    await stream.toHost(memory, [{ start: 0, array }]);
    expect(Buffer.compare(Buffer.from(array.buffer), Buffer.from(values.buffer))).toBe(0);
    expect(Buffer.compare(Buffer.from((await stream.download(memory)).buffer), Buffer.from(values.buffer))).toBe(0);
    expect(driver.outstanding()["registered"]).toBeUndefined();
  });

  it.each(casesOf(["cuMemcpyDtoHAsync", "cuEventRecord", "cuMemcpyHtoDAsync"] as const, (call) => call === "cuEventRecord"))(
    "give their blocks back if %s fails",
    async (call) => {
      for (const use of [1, 3]) {
        const driver = new ThreadedDriver();
        // Opening a context records events too.
        const opening = opened(driver).faulty.uses.get(call) ?? 0;
        const { context, stream } = opened(driver, [{ call, use: opening + use, code: 1 }]);
        const memory = context.zeros("u32", 3 << 20);
        const parts = [{ start: 0, array: new Uint32Array(3 << 20) }];
        const work = call === "cuMemcpyHtoDAsync" ? stream.fromHost(memory, parts) : stream.toHost(memory, parts);
        await expect(work).rejects.toMatchObject({ statusCode: 1 });
        expect(driver.outstanding()["registered"]).toBe(3);
        for (const each of contexts.splice(0)) each.dispose();
        expect(driver.outstanding()).toEqual({});
        expect(driver.violations).toEqual([]);
      }
    },
  );

  it("refuse parts of another type, and parts that overlap or lie outside", async () => {
    const { context, stream } = opened(new FakeDriver());
    const memory = context.zeros("u32", 10);
    const part = (start: number, length: number) => ({ start, array: new Uint32Array(length) });
    await expect(stream.toHost(memory, [{ start: 0, array: new Float32Array(2) }])).rejects.toThrow(/parts\[0\] is Float32Array/);
    for (const parts of [[part(0, 3), part(2, 2)], [part(8, 3)], [part(-1, 2)], [part(0.5, 1)], [part(5, 1), part(1, 1)]]) {
      await expect(stream.toHost(memory, parts)).rejects.toThrow(ArgumentError);
      await expect(stream.fromHost(memory, parts)).rejects.toThrow(ArgumentError);
    }
  });
});

describe("page-locked memory", () => {
  it("is waited for by the streams of another context that copy into it", async () => {
    const { driver, context } = opened(new FakeDriver());
    const other = openDevice({ driver });
    contexts.unshift(other);
    const pinned = context.pinned("f32", 16);
    const stream = other.stream();
    const memory = other.zeros("f32", 16);
    stream.upload(memory, pinned.array);
    driver.calls.length = 0;
    pinned.dispose();
    expect(driver.calls).toContain("cuStreamSynchronize");
    expect(driver.violations).toEqual([]);
  });
});

describe("the C library", () => {
  it("copies on another thread, and gets notice of memory that will be written", async () => {
    const host = new HostMemory();
    const [from, to] = [Uint8Array.from({ length: 3_000_001 }, (_, i) => i * 7), new Uint8Array(3_000_003)];
    host.willWrite(to);
    host.willWrite(to.subarray(5, 100));
    const copied = host.copy(to.subarray(1), from);
    expect(copied).toBeDefined();
    // More than koffi takes at a time: the others wait.
    const many = Array.from({ length: 300 }, (_, i) => ({ i, to: new Uint8Array(9) }));
    await Promise.all(many.map(({ i, to }) => host.copy(to, from.subarray(i, i + 9))!));
    for (const { i, to } of many) expect(to).toEqual(from.subarray(i, i + 9));
    await copied;
    expect(Buffer.compare(Buffer.from(to.buffer, 1, from.length), Buffer.from(from.buffer))).toBe(0);
    expect([to[0], to[3_000_002]]).toEqual([0, 0]);
    expect(host.copy(to.subarray(0, 5), from)).toBeUndefined();
    const resizable = new Uint8Array(new (ArrayBuffer as new (bytes: number, options: object) => ArrayBuffer)(99, { maxByteLength: 200 }));
    expect(host.copy(resizable, from.subarray(0, 9))).toBeUndefined();
  });

  it("does not write to an array that was transferred while its copy waited", async () => {
    const host = new HostMemory();
    const from = new Uint8Array(9).fill(3);
    const arrays = Array.from({ length: 40 }, () => new Uint8Array(9));
    const copies = arrays.map((to) => host.copy(to, from)!);
    const last = arrays.at(-1)!;
    structuredClone(last.buffer, { transfer: [last.buffer] });
    const ends = await Promise.allSettled(copies);
    expect(ends.at(-1)).toMatchObject({
      status: "rejected",
      reason: { message: "an array was transferred while a copy of it, or to it, was waited for" },
    });
    expect(ends.slice(0, -1).every(({ status }) => status === "fulfilled")).toBe(true);
  });
});
