// What counts when a forecaster chooses: candidates that cannot take the rows are left out, and
// rows that were filled are no evidence.
import { describe, expect, it } from "vitest";
import { Forecaster } from "../../src/index.js";

const rows = 300;
const swing = Float64Array.from({ length: rows }, (_, t) => Math.sin(t / 3) + 0.3 * Math.sin(1.7 * t * t));
const small = { horizon: 5, members: 1, reservoir: { size: 20, seed: 1 } } as const;
const choose = { starts: 6, lambdas: [1e-4, 1] } as const;

describe("a candidate whose transform cannot take the rows", () => {
  it("is left out, and its scores say why", async () => {
    const candidates = [{ transforms: ["log"] }, {}] as const;
    await using forecaster = await Forecaster.fit(swing, { ...small, choose: { ...choose, candidates } });
    const { scores, kept } = forecaster.choice!;
    expect(scores.filter(({ candidate }) => candidate === 0)).toEqual(
      choose.lambdas.map((lambda) => ({ candidate: 0, lambda, failure: expect.stringContaining("log with 0 added takes values above 0") })),
    );
    expect(kept[0]!.candidate).toBe(1);
  });

  it("is left out too if only rows that validate are out of its range", async () => {
    const falling = Float64Array.from({ length: rows }, (_, t) => 10 - t / 25 + 0.1 * Math.sin(1.7 * t * t));
    const candidates = [{ transforms: ["log"] }, {}] as const;
    await using forecaster = await Forecaster.fit(falling, { ...small, choose: { ...choose, candidates } });
    expect(forecaster.choice!.scores[0]!.failure).toContain("takes values above 0");
  });

  it("is an error if there is no other", async () => {
    await expect(Forecaster.fit(swing, { ...small, transforms: ["log"] })).rejects.toThrow("log with 0 added takes values above 0");
  });
});

describe("rows that were filled", () => {
  it.each(["hold", "interpolate", "mask"] as const)("count for nothing in the choice: %s", async (missing) => {
    const gaps = swing.slice();
    gaps.fill(Number.NaN, 228, 244);
    gaps[260] = Number.NaN;
    await using forecaster = await Forecaster.fit(gaps, { ...small, missing, choose: { lambdas: [0.01], starts: 20 } });
    const { starts, errorStarts, errors, kept } = forecaster.choice!;
    // More than fit beside each other, so that errors are of these and of no others.
    expect(errorStarts).toBeUndefined();
    const measured = starts.map(({ row }, k) =>
      [0, 1, 2, 3, 4].filter((h) => !Number.isNaN(gaps[row + h])).map((h) => errors.data[k * 5 + h]!),
    );
    expect(measured.some((each) => each.length === 0)).toBe(true);
    const some = measured.filter((each) => each.length > 0);
    const squares = some.map((each) => each.reduce((sum, error) => sum + error ** 2, 0) / each.length);
    const train = gaps.subarray(0, 225);
    const mean = train.reduce((sum, value) => sum + value, 0) / 225;
    const variance = train.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 225;
    expect(kept[0]!.score).toBeCloseTo(Math.sqrt(squares.reduce((sum, value) => sum + value, 0) / some.length / variance), 10);
  });
});
