// Attention made by the builder, run in the interpreter against double precision.
import { describe, expect, it } from "vitest";
import type { Target } from "../../../packages/ptx/src/builder/index.js";
import { type AttentionShape, attention } from "../../../packages/ptx/src/kernels/attention.js";
import { casesOf } from "../../exhaustive.js";
import { input, output } from "../device.js";
import { attentionOf } from "./attention-reference.js";
import { fromHalves, toHalves } from "./halves.js";
import { runKernel, uniform, worst } from "./run.js";

type HalfShape = AttentionShape & { readonly type?: "f16" | "bf16" };

function run(shape: HalfShape, target: "sm_75" | "sm_80", q: Uint16Array, k: Uint16Array, v: Uint16Array): Float64Array {
  const o = new Uint16Array((shape.heads ?? 1) * shape.seqLen * shape.headDim);
  runKernel(attention(shape, { target }), [input(q), input(k), input(v), output(o)]);
  return fromHalves(o, shape.type ?? "f16");
}

function error(shape: HalfShape, target: "sm_75" | "sm_80"): number {
  const { heads = 1, seqLen, headDim, keyLength = seqLen, type = "f16" } = shape;
  const [q, k, v] = [seqLen, keyLength, keyLength].map((rows, s) => toHalves(uniform(heads * rows * headDim, 20 + s, 2), type));
  const of = (bits: Uint16Array) => fromHalves(bits, type);
  // Values are up to 2, so 2 is the size of the results.
  return worst(run(shape, target, q!, k!, v!), attentionOf(shape, of(q!), of(k!), of(v!)), 2);
}

function singleError(shape: Omit<AttentionShape, "type">, target: Target): number {
  const { heads = 1, seqLen, headDim, keyLength = seqLen } = shape;
  const [q, k, v] = [seqLen, keyLength, keyLength].map((rows, s) => uniform(heads * rows * headDim, 20 + s, 2));
  const o = new Float32Array(heads * seqLen * headDim);
  const kernel = attention({ ...shape, type: "f32" }, { target });
  expect(kernel.name).toBe(`flash_attention${shape.causal ? "_causal" : ""}_f32`);
  runKernel(kernel, [input(q!), input(k!), input(v!), output(o)]);
  const [exactQ, exactK, exactV] = [q, k, v].map((each) => Float64Array.from(each!));
  return worst(o, attentionOf(shape, exactQ!, exactK!, exactV!), 2);
}

/** Results and probabilities are rounded to 11 and to 8 significant bits. */
const tolerance = { f16: 1e-3, bf16: 8e-3 };

describe("attention", () => {
  const inHalves = [
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
  ];

  it.each(casesOf(inHalves, ({ seqLen, headDim }) => seqLen * headDim < 600))(
    "of %j, causal or not, in f16 for sm_75 and sm_80",
    (shape) => {
      if (shape.headDim < 50 || shape.headDim === 200) expect(error(shape, "sm_75")).toBeLessThan(tolerance.f16);
      expect(error(shape, "sm_80")).toBeLessThan(tolerance.f16);
      if ((shape.keyLength ?? shape.seqLen) >= shape.seqLen) expect(error({ ...shape, causal: true }, "sm_80")).toBeLessThan(tolerance.f16);
    },
  );

  it("of bf16, and with another scale", () => {
    expect(error({ heads: 1, seqLen: 90, headDim: 64, causal: true, type: "bf16" }, "sm_80")).toBeLessThan(tolerance.bf16);
    expect(error({ heads: 1, seqLen: 50, headDim: 32, scale: -0.3 }, "sm_80")).toBeLessThan(tolerance.f16);
  });

  const inSingles = [
    { heads: 1, seqLen: 1, headDim: 1 },
    { heads: 2, seqLen: 20, headDim: 3, keyLength: 37 },
    { heads: 1, seqLen: 70, headDim: 16 },
    { heads: 1, seqLen: 35, headDim: 30, keyLength: 90 },
    { heads: 1, seqLen: 101, headDim: 64 },
    { heads: 2, seqLen: 40, headDim: 77, keyLength: 50 },
    { heads: 1, seqLen: 34, headDim: 128 },
    { heads: 1, seqLen: 17, headDim: 201, keyLength: 35 },
    { heads: 1, seqLen: 9, headDim: 256, scale: -0.02 },
  ];

  it.each(casesOf(inSingles, ({ seqLen, headDim }) => seqLen * headDim < 2500))("in f32 of %j, causal or not, keeps to 1e-6", (shape) => {
    expect(singleError(shape, "sm_75")).toBeLessThan(1e-6);
    expect(singleError({ ...shape, causal: true }, "sm_90")).toBeLessThan(1e-6);
  });

  const wide = [
    [64, "sm_90", 20],
    [64, "sm_75", 20],
    [128, "sm_90", 20],
    [256, "sm_90", 20],
    [256, "sm_75", 20],
  ] as const;

  it.each(casesOf(wide, ([headDim, target]) => (headDim === 64) === (target === "sm_75") && headDim !== 128))(
    "in f32 of %i numbers for %s, where many heads make the tiles large",
    (headDim, target, seqLen) => {
      // Heads enough for the largest tile; one of them is looked at.
      const kernel = attention({ heads: 128, seqLen, headDim, keyLength: 70, causal: true, type: "f32" }, { target });
      const [q, k, v] = [seqLen, 70, 70].map((rows, s) => uniform(rows * headDim, 30 + s, 2));
      const o = new Float32Array(seqLen * headDim);
      runKernel({ ...kernel, grid: [kernel.grid[0], 1, 1] }, [input(q!), input(k!), input(v!), output(o)]);
      const [exactQ, exactK, exactV] = [q, k, v].map((each) => Float64Array.from(each!));
      const shape = { heads: 1, seqLen, headDim, keyLength: 70, causal: true };
      expect(worst(o, attentionOf(shape, exactQ!, exactK!, exactV!), 2)).toBeLessThan(1e-6);
    },
  );

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
    // Sixteenths: adding 2 is exact in halves.
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
      "keyLength is 3; it takes at least seqLen, 4",
    );
    expect(() => attention({ heads: 1, seqLen: 4, headDim: 8, type: "tf32" as "f32" })).toThrow(
      'type is "tf32"; it takes "f16", "bf16" or "f32"',
    );
    expect(() => attention({ heads: 1, seqLen: 4, headDim: 8, type: "bf16" })).toThrow("takes sm_80 or later; the target is sm_75");
  });
});
