// What tests say of arrays is what Vitest alone would say.
import { expect, it } from "vitest";
import { sameNumbers } from "../same-numbers.js";

it("the same numbers are told at once, also NaN and views of shared memory", () => {
  const shared = new Float32Array(new SharedArrayBuffer(12)).fill(Number.NaN);
  expect(sameNumbers(shared.subarray(1), new Float32Array(2).fill(Number.NaN))).toBe(true);
  expect(sameNumbers([1, Number.NaN], [1, Number.NaN])).toBe(true);
  expect({ a: [shared] }).toEqual({ a: [new Float32Array(3).fill(Number.NaN)] });
});

it.each([
  [Float32Array.of(0), Float32Array.of(-0)],
  [Float64Array.of(1, 2), Float64Array.of(1, 2 + 2 ** -51)],
  [Uint8Array.of(1), Int8Array.of(1)],
  [Uint8Array.of(1), Buffer.of(1)],
  [Uint8Array.of(1), Uint8Array.of(1, 2)],
  [Float64Array.of(1), [1]],
  [[0], [-0]],
  [[1], [1, 2]],
  [
    [1, 2],
    [1, 3],
  ],
  [[1], ["1"]],
])("%j and %j are left to Vitest, which tells them apart", (a, b) => {
  expect(sameNumbers(a, b)).toBeUndefined();
  expect(a).not.toEqual(b);
  expect({ a }).not.toEqual({ a: b });
});

it("texts, objects and holes are left to Vitest", () => {
  for (const [a, b] of [
    [["a"], ["a"]],
    [[{}], [{}]],
    [Array(1), [undefined]],
  ])
    expect(sameNumbers(a, b)).toBeUndefined();
});
