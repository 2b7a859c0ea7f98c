// Attention made by the builder, run in the interpreter against double precision.
import { describe, expect, it } from "vitest";
import { attention, type AttentionShape } from "../../../src/ptx/kernels/attention.js";
import { input, output } from "../device.js";
import { attentionOf } from "./attention-reference.js";
import { fromHalves, toHalves } from "./halves.js";
import { runKernel, uniform, worst } from "./run.js";

function run(shape: AttentionShape, target: "sm_75" | "sm_80", q: Uint16Array, k: Uint16Array, v: Uint16Array): Float64Array {
  const o = new Uint16Array(shape.heads * shape.seqLen * shape.headDim);
  runKernel(attention(shape, { target }), [input(q), input(k), input(v), output(o)]);
  return fromHalves(o, shape.type ?? "f16");
}

function error(shape: AttentionShape, target: "sm_75" | "sm_80"): number {
  const { heads, seqLen, headDim, keyLength = seqLen, type = "f16" } = shape;
  const [q, k, v] = [seqLen, keyLength, keyLength].map((rows, s) => toHalves(uniform(heads * rows * headDim, 20 + s, 2), type));
  const of = (bits: Uint16Array) => fromHalves(bits, type);
  // Values are up to 2, so 2 is the size of the results.
  return worst(run(shape, target, q!, k!, v!), attentionOf(shape, of(q!), of(k!), of(v!)), 2);
}

/** Results and probabilities are rounded to 11 and to 8 significant bits. */
const tolerance = { f16: 1e-3, bf16: 8e-3 };

describe("attention", () => {
  it.each([
    { heads: 1, seqLen: 1, headDim: 1 },
    { heads: 2, seqLen: 70, headDim: 16 },
    { heads: 1, seqLen: 101, headDim: 64 },
    { heads: 1, seqLen: 75, headDim: 40 },
    { heads: 2, seqLen: 20, headDim: 33 },
    { heads: 1, seqLen: 35, headDim: 128 },
    { heads: 1, seqLen: 34, headDim: 200 },
    { heads: 1, seqLen: 17, headDim: 256 },
    { heads: 1, seqLen: 9, headDim: 24, keyLength: 150 },
    { heads: 2, seqLen: 10, headDim: 8, keyLength: 3 },
  ])("of %j, causal or not, in f16 for sm_75 and sm_80", (shape) => {
    if (shape.headDim < 50 || shape.headDim === 200) expect(error(shape, "sm_75")).toBeLessThan(tolerance.f16);
    expect(error(shape, "sm_80")).toBeLessThan(tolerance.f16);
    if ((shape.keyLength ?? shape.seqLen) >= shape.seqLen) expect(error({ ...shape, causal: true }, "sm_80")).toBeLessThan(tolerance.f16);
  });

  it("of bf16, and with another scale", () => {
    expect(error({ heads: 1, seqLen: 90, headDim: 64, causal: true, type: "bf16" }, "sm_80")).toBeLessThan(tolerance.bf16);
    expect(error({ heads: 1, seqLen: 50, headDim: 32, scale: -0.3 }, "sm_80")).toBeLessThan(tolerance.f16);
  });

  it("with one key is that key's value, whatever the scores", () => {
    const [seqLen, headDim] = [19, 24];
    const shape = { heads: 2, seqLen, headDim, keyLength: 1 };
    const v = toHalves(uniform(2 * headDim, 5), "f16");
    const o = run(shape, "sm_80", toHalves(uniform(2 * seqLen * headDim, 6, 30), "f16"), toHalves(uniform(2 * headDim, 7, 30), "f16"), v);
    const values = fromHalves(v, "f16");
    expect(o).toEqual(
      Float64Array.from({ length: o.length }, (_, k) => values[Math.floor(k / (seqLen * headDim)) * headDim + (k % headDim)]!),
    );
  });

  it("does not depend on the order of keys, nor on a vector added to all of them", () => {
    const [seqLen, headDim, keyLength] = [20, 16, 100];
    const shape = { heads: 1, seqLen, headDim, keyLength };
    const [q, v] = [toHalves(uniform(seqLen * headDim, 8), "f16"), uniform(keyLength * headDim, 9)];
    // Sixteenths, so that adding 2 is exact in halves.
    const keys = uniform(keyLength * headDim, 10).map((x) => Math.round(16 * x) / 16);
    const turned = (x: Float32Array) => x.map((_, at) => x[(keyLength - 1 - Math.floor(at / headDim)) * headDim + (at % headDim)]!);
    const plain = run(shape, "sm_80", q, toHalves(keys, "f16"), toHalves(v, "f16"));
    expect(worst(run(shape, "sm_80", q, toHalves(turned(keys), "f16"), toHalves(turned(v), "f16")), plain, 1)).toBeLessThan(tolerance.f16);
    const shifted = toHalves(
      keys.map((x) => x + 2),
      "f16",
    );
    expect(worst(run(shape, "sm_80", q, shifted, toHalves(v, "f16")), plain, 1)).toBeLessThan(tolerance.f16);
  });

  it("refuses what it does not have", () => {
    expect(() => attention({ heads: 1, seqLen: 4, headDim: 257 })).toThrow("headDim is 257; it takes a whole number from 1 to 256");
    expect(() => attention({ heads: 1, seqLen: 4, headDim: 8, keyLength: 3, causal: true })).toThrow(
      "keyLength is 3; causal attention takes at least seqLen, 4",
    );
    expect(() => attention({ heads: 1, seqLen: 4, headDim: 8, type: "bf16" })).toThrow("takes sm_80 or later; the target is sm_75");
  });
});
