// Matrices that are not cleared: as any other, each with memory of its own.
import { describe, expect, it } from "vitest";
import { unwritten } from "../../src/engine/cuda/unwritten.js";

describe("matrices that are not cleared", () => {
  it.each([
    ["float32", 3, 5, 60],
    ["float64", 3, 5, 120],
    ["float32", 0, 5, 0],
    ["float32", 2 ** 12, 2 ** 11 + 1, 4 * 2 ** 12 * (2 ** 11 + 1)],
  ] as const)("have memory that can be given away: %s, %i x %i", (precision, rows, cols, bytes) => {
    const [first, second] = [unwritten(rows, cols, precision), unwritten(rows, cols, precision)];
    expect([first.rows, first.cols, first.data.byteOffset, first.data.buffer.byteLength]).toEqual([rows, cols, 0, bytes]);
    expect(first.data).toBeInstanceOf(precision === "float32" ? Float32Array : Float64Array);
    second.data.fill(7);
    structuredClone(first.data, { transfer: [first.data.buffer] });
    expect(first.data.length).toBe(0);
    expect(second.data.every((value) => value === 7)).toBe(true);
  });
});
