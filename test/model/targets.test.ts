// Some columns of a series are forecast; the others are covariates whose past alone is known.
import { describe, expect, it } from "vitest";
import { Forecaster, Matrix, NvarForecaster, nrmse } from "../../src/index.js";

/** Column 1 follows column 2 by two rows; column 0 is noise that nothing tells of. */
const constructors = { forecaster: Forecaster, nvar: NvarForecaster };
const rows = 400;
const driver = Array.from({ length: rows }, (_, t) => Math.sin(t / 6) + Math.sin(t / 17));
const noise = Array.from({ length: rows }, (_, t) => Math.sin(12.9898 * t * t) * 43.5);
const series = Matrix.from(driver.map((value, t) => [noise[t]!, driver[Math.max(0, t - 2)]!, value]));
const reservoir = { size: 40, seed: 1, precision: "float64" } as const;
const chosen = { horizon: 5, choose: { lambdas: [1e-6, 100], starts: 10 } } as const;
const models = [
  ["Forecaster", (more: object) => Forecaster.fit(series.subarray(0, 300), { reservoir, washout: 40, members: 1, ...more })],
  ["NvarForecaster", (more: object) => NvarForecaster.fit(series.subarray(0, 300), { delays: 3, degrees: [], ...more })],
] as const;
const column = (matrix: Matrix, c: number) => matrix.toArrays().map((row) => row[c]!);

describe.each(models)("targets of a %s", (_, train) => {
  it("are the columns of forecasts, bands, predictions and scores, with the bits of a model of all", async () => {
    const given = { ...chosen, choose: { ...chosen.choose, lambdas: [1e-2] } };
    await using all = await train(given);
    await using one = await train({ ...given, targets: [1] });
    const options = { intervals: [0.8] };
    const [a, b] = [await all.forecast(5, options), await one.forecast(5, options)];
    expect([b.rows, b.cols]).toEqual([5, 1]);
    expect(column(b, 0)).toEqual(column(a, 1));
    expect(column(b.bands![0]!.upper, 0)).toEqual(column(a.bands![0]!.upper, 1));
    const test = series.subarray(300, 340);
    // Row t is the prediction of row t + 1, of which the score is by hand.
    const said = await all.predict(test.subarray(0, 39), { warmup: series.subarray(0, 300) });
    const byHand = nrmse(Matrix.from(column(test, 1).slice(1)), Matrix.from(column(said, 1)));
    expect(await one.score(test, { warmup: series.subarray(0, 300) })).toBeCloseTo(byHand, 12);
    expect(column(await one.predict(test.subarray(0, 39), { warmup: series.subarray(0, 300) }), 0)).toEqual(column(said, 1));
    await using again = await constructors[one.kind].fromBytes(await one.toBytes());
    expect((await again.forecast(5, { ...options, warmup: series })).data).toEqual(
      (await one.forecast(5, { ...options, warmup: series })).data,
    );
  });

  it("alone count in the choice", async () => {
    await using one = await train({ ...chosen, targets: [1] });
    await using noisy = await train({ ...chosen, targets: [0] });
    // In deviations: a wave without noise is forecast, noise is not.
    expect(one.choice!.kept[0]!.error).toBeLessThan(0.5);
    expect(noisy.choice!.kept[0]!.error).toBeGreaterThan(0.8);
  });

  it.each([
    [[3], "targets is [3]; it takes different columns of the series, from 0 to 2"],
    [[1, 1], "targets is [1, 1]; it takes different columns"],
    [[], "targets"],
    ["y", "targets"],
  ])("are refused if they are %j", async (targets, sentence) => {
    await expect(train({ targets })).rejects.toThrow(sentence);
  });
});
