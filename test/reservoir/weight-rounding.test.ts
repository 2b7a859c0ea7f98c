// Weights rounded to steps: how near they stay, that zeros stay zeros, and that what is rounded
// stays as it is.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Matrix, seedKeys } from "../../packages/numerics/src/index.js";
import type { ReservoirOptions } from "../../src/reservoir/config.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import { drawnMatrix, unscaledDraws } from "../../src/reservoir/weight-draws.js";
import { roundWeights } from "../../src/reservoir/weight-rounding.js";
import { buildModel } from "../../src/reservoir/weights.js";
import { bits, model, randomMatrix } from "../engine/contract.js";
import { amount, casesOf } from "../exhaustive.js";

function rounded(values: Float32Array, columns: number, precision: "bfloat16" | "int8" | "q4_k"): Float32Array {
  const out = values.slice();
  roundWeights(out, columns, precision);
  return out;
}

/** Rows of very different magnitudes, down to nothing, with zeros and repeated numbers in them. */
const rows = fc
  .record({
    columns: fc.integer({ min: 1, max: 600 }),
    seed: fc.integer({ min: 0, max: 1e6 }),
    magnitudes: fc.array(fc.integer({ min: -140, max: 100 }), { minLength: 1, maxLength: 20 }),
    spread: fc.integer({ min: 0, max: 30 }),
  })
  .map(({ columns, seed, magnitudes, spread }) => {
    const values = randomMatrix(2, columns, "float32", seed).data as Float32Array;
    return {
      columns,
      values: values.map((value, i) => (i % 7 === 3 ? 0 : value * 2 ** (magnitudes[(i >> 5) % magnitudes.length]! - (i % (spread + 1))))),
    };
  });

describe.each(casesOf(["bfloat16", "int8", "q4_k"] as const, (precision) => precision === "int8"))("weights rounded to %s", (precision) => {
  it("stay as they are when they are rounded again", () => {
    fc.assert(
      fc.property(rows, ({ columns, values }) => {
        const once = rounded(values, columns, precision);
        expect(bits(rounded(once, columns, precision))).toEqual(bits(once));
      }),
      { numRuns: amount(300, 100) },
    );
  });

  it("leave zeros where they are", () => {
    const values = Float32Array.from({ length: 512 }, (_, i) => (i % 3 === 0 ? 0 : i - 250.5));
    const out = rounded(values, 256, precision);
    for (let i = 0; i < 512; i += 3) expect(out[i]! === 0).toBe(true);
  });
});

describe("steps of eight bits", () => {
  it("are a row's largest weight over 127, in 16 significant bits", () => {
    const out = rounded(Float32Array.of(1.27, -0.644, 0.004, 0, 254, -1, 1, 0.9), 4, "int8");
    const step = Math.round((Math.fround(1.27) / 127) * 2 ** 22) / 2 ** 22;
    expect([...out]).toEqual([...Float32Array.of(127 * step, -64 * step, 0, 0, 254, 0, 0, 0)]);
  });

  it("keep every weight within half a step", () => {
    const values = randomMatrix(5, 777, "float32", 3).data as Float32Array;
    const out = rounded(values, 777, "int8");
    for (let i = 0; i < values.length; i++) expect(Math.abs(out[i]! - values[i]!)).toBeLessThan((0.5001 * 1) / 127);
  });
});

describe("steps of four bits", () => {
  it("are a group's largest weight over 7", () => {
    const block = Float32Array.from({ length: 256 }, (_, i) => (i < 32 ? (i % 15) - 7 : i < 64 ? ((i % 15) - 7) / 3 : 0));
    // d = 7 / 441 = 1/63 to eleven bits; the second group's scale is 63 / 3 = 21.
    const d = Math.round((1 / 63) * 2 ** 16) / 2 ** 16;
    const expected = block.map((w, i) => Math.round(w * (i < 32 ? 1 : 3)) * d * (i < 32 ? 63 : 21));
    expect(rounded(block, 256, "q4_k")).toEqual(expected);
  });

  it("keep every weight of a group within half of its step, and a sixty-third of the superblock's", () => {
    const values = (randomMatrix(4, 600, "float32", 4).data as Float32Array).map((value, i) => value * 4 ** ((i >> 5) % 3));
    const out = rounded(values, 600, "q4_k");
    for (let row = 0; row < 4; row++)
      for (let from = 0; from < 600; from += 32) {
        const at = row * 600 + from;
        const group = values.subarray(at, at + Math.min(32, 600 - from));
        const largest = Math.max(...group.map(Math.abs));
        const of = Math.floor(from / 256) * 256;
        const superblock = Math.max(...values.subarray(row * 600 + of, row * 600 + Math.min(600, of + 256)).map(Math.abs));
        for (let i = 0; i < group.length; i++)
          expect(Math.abs(out[at + i]! - group[i]!)).toBeLessThan((0.5 * largest) / 7 + (0.55 * superblock) / 63);
      }
  });

  it("take a row of almost nothing for zeros", () => {
    expect(rounded(Float32Array.of(1e-31, -1e-32), 2, "q4_k")).toEqual(new Float32Array(2));
    expect(rounded(Float32Array.of(1e-31, -1e-32), 2, "int8")).toEqual(new Float32Array(2));
  });
});

describe("a description whose weights are steps", () => {
  const options: ReservoirOptions = { size: 40, connectionProbability: 1, arithmetic: "fast" };

  it.each(["int8", "q4_k"] as const)("has a W of %s: that of full precision, rounded by rows", (weightPrecision) => {
    const full = model(options).weights as Matrix<Float32Array>;
    const { weights, config } = model({ ...options, weightPrecision });
    expect(config.weightPrecision).toBe(weightPrecision);
    expect((weights as Matrix).data).toEqual(rounded(full.data, 40, weightPrecision));
    expect((weights as Matrix).data).not.toEqual(full.data);
  });

  it.each([
    [{ arithmetic: "portable" }, 'weightPrecision is "q4_k"; it takes "full" or "bfloat16" here, or arithmetic: "fast"'],
    [{ precision: "float64" }, 'weightPrecision is "q4_k"; it takes "full" or "bfloat16" here, or precision: "float32"'],
    [
      { storage: "sparse" },
      'weightPrecision is "q4_k"; it takes "full" or "bfloat16" here, or a W that is stored dense; set storage: "dense"',
    ],
    [{ connectionProbability: 0.1 }, 'or a W that is stored dense; set storage: "dense"'],
  ] as const)("is refused with %o", (more, message) => {
    expect(() => model({ ...options, weightPrecision: "q4_k", ...more })).toThrow(message);
  });

  it("is refused where a step is beyond binary32", () => {
    const weights = new Matrix(1, 1, Float32Array.of(3.4028234663852886e38));
    const config = resolveConfig({ ...options, size: 1, weightPrecision: "q4_k" });
    expect(() => buildModel(config, { weights })).toThrow("weights is Infinity; it takes values whose steps float32 can hold; scale W");
  });

  it("has no radius to be measured where only a device holds W", () => {
    const config = resolveConfig({ ...options, weightPrecision: "int8" });
    const draws = unscaledDraws(config, seedKeys(1));
    expect(() => drawnMatrix({ draws, config })).toThrow(
      'weightPrecision is "int8"; it takes "full" or "bfloat16" where the radius of a W',
    );
  });

  it("keeps connections that are not there away, and is stored dense when it is asked to be", () => {
    const { weights } = model({ ...options, connectionProbability: 0.1, storage: "dense", weightPrecision: "q4_k" });
    const full = model({ ...options, connectionProbability: 0.1, storage: "dense" }).weights as Matrix;
    for (const [i, w] of full.data.entries()) expect(w !== 0 || (weights as Matrix).data[i] === 0).toBe(true);
  });
});
