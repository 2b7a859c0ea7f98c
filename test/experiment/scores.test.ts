import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import type { Experiment } from "../../src/experiment/description/description.js";
import { verdictOf } from "../../src/experiment/report/report-section.js";
import type { ExperimentResult } from "../../src/experiment/runs/result.js";
import { type SeedResult, summarise } from "../../src/experiment/runs/result.js";
import { stratifiedSplit } from "../../src/experiment/tasks/classify.js";
import { meanAndDeviation, median, quantile, type ScoreContext, scoreSeries, seriesScorer } from "../../src/experiment/tasks/scores.js";

const column = (...values: number[]) => new Matrix(values.length, 1, Float64Array.from(values));
const scoring = { norm: "std", threshold: 0.4, statistic: "median" } as const;
/** Standard deviation 2. */
const context: ScoreContext = { scoring, reference: column(1, 5) };

describe("scores of forecasts", () => {
  const outcomes = [
    { prediction: column(1, 3), target: column(1, 1) },
    { prediction: column(2, 2), target: column(1, 2) },
  ];

  it("nrmse takes all steps of all starts, and the spread of the training part", () => {
    // Errors 0, 2, 1, 0: sqrt(5 / 4) / 2.
    expect(scoreSeries(outcomes, ["nrmse", "rmse", "mae"], context)).toEqual({
      nrmse: Math.sqrt(5 / 4) / 2,
      rmse: Math.sqrt(5 / 4),
      mae: 3 / 4,
    });
  });

  it("what is made once of the targets serves one prediction after the other", () => {
    const score = seriesScorer([column(1, 1), column(1, 2)], ["nrmse", "nrmseAtHorizon"], { scoring });
    // About their mean the targets vary by 3/16 a step, those of the last steps by 1/4.
    expect(score([column(1, 3), column(2, 2)])).toEqual({
      nrmse: Math.sqrt(5 / 4) / Math.sqrt(3 / 16),
      nrmseAtHorizon: Math.sqrt(2) / Math.sqrt(1 / 4),
    });
    expect(score([column(1, 1), column(1, 2)])).toEqual({ nrmse: 0, nrmseAtHorizon: 0 });
    expect(score([column(1, 1), column(1, Number.NaN)])).toEqual({ nrmse: Infinity, nrmseAtHorizon: Infinity });
  });

  it("the scores at the horizon take the last step of each start alone", () => {
    // Errors 2, 0: sqrt(2), over 2.
    expect(scoreSeries(outcomes, ["nrmseAtHorizon", "rmseAtHorizon"], context)).toEqual({
      nrmseAtHorizon: Math.sqrt(2) / 2,
      rmseAtHorizon: Math.sqrt(2),
    });
  });

  it("the valid prediction time is the median over the starts, in Lyapunov times where dt and exponent are known", () => {
    // Thresholds are passed at steps 1 and 0 (0.4 x 2 = 0.8): the median is 0.5 steps.
    expect(scoreSeries(outcomes, ["validPredictionTime"], context)).toEqual({ validPredictionTime: 0.5 });
    const inLyapunovTimes = { ...context, dt: 0.1, lyapunovExponent: 2 };
    expect(scoreSeries(outcomes, ["validPredictionTime"], inLyapunovTimes)["validPredictionTime"]).toBeCloseTo(0.1, 12);
  });

  it("a forecast that leaves for infinity scores as worst, and does not stop the run", () => {
    const diverged = [{ prediction: column(1, Number.NaN), target: column(1, 1) }];
    expect(scoreSeries(diverged, ["nrmse", "nrmseAtHorizon", "validPredictionTime"], context)).toEqual({
      nrmse: Number.POSITIVE_INFINITY,
      nrmseAtHorizon: Number.POSITIVE_INFINITY,
      validPredictionTime: 1,
    });
  });

  it("another norm divides by that norm of the training part", () => {
    const range = { ...context, scoring: { ...scoring, norm: "range" as const } };
    expect(scoreSeries(outcomes, ["nrmse"], range)["nrmse"]).toBeCloseTo(Math.sqrt(5 / 4) / 4, 12);
  });
});

describe("scores of one-step predictions", () => {
  it("nrmse takes the spread of the target itself", () => {
    const outcome = { target: column(0, 2), prediction: column(1, 2) };
    expect(scoreSeries([outcome], ["nrmse", "mse", "r2"], { scoring: context.scoring })).toEqual({
      nrmse: Math.sqrt(0.5),
      mse: 0.5,
      r2: 0.5,
    });
  });

  it("a prediction that is not finite scores as worst", () => {
    const outcome = { target: column(0, 2), prediction: column(Number.POSITIVE_INFINITY, 2) };
    expect(scoreSeries([outcome], ["rmse", "r2"], { scoring: context.scoring })).toEqual({
      rmse: Number.POSITIVE_INFINITY,
      r2: Number.NEGATIVE_INFINITY,
    });
  });
});

describe("figures over seeds", () => {
  it("median, mean and standard deviation", () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(median([1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY])).toBe(Number.POSITIVE_INFINITY);
    // Places 0.75 and 2.25 of the values in rising order.
    expect([quantile([4, 1, 2, 8], 0.25), quantile([4, 1, 2, 8], 0.75)]).toEqual([1.75, 5]);
    // 1, 2, 3, 4: squares 5, over 3.
    expect(meanAndDeviation([1, 2, 3, 4])).toEqual({ mean: 2.5, sd: Math.sqrt(5 / 3) });
    expect(meanAndDeviation([7])).toEqual({ mean: 7, sd: 0 });
  });

  it("a summary has all of them, and takes the one that the experiment asks for", () => {
    const seed = (rmse: number, naive: number) =>
      ({ seed: rmse, scores: { rmse }, baselines: { naive: { rmse: naive } } }) as unknown as SeedResult;
    const experiment = {
      metrics: ["rmse"],
      baselines: [],
      scoring: { ...scoring, statistic: "mean" },
      published: [{ score: "rmse", value: 2, source: "a paper" }],
    };
    const summary = summarise(experiment as unknown as Experiment, [seed(1, 5), seed(2, 6), seed(6, 10)], () => "ppm", "naive");
    expect(summary).toEqual([
      {
        metric: "rmse",
        value: 3,
        statistic: "mean",
        median: 2,
        quartiles: [1.5, 4],
        mean: 3,
        sd: Math.sqrt(7),
        seeds: 3,
        better: "lower",
        unit: "ppm",
        baselines: [{ name: "naive", value: 7 }],
        published: { value: 2, source: "a paper" },
      },
    ]);
  });
});

describe("the sentence about baselines", () => {
  const verdict = (metric: string, better: "lower" | "higher", value: number, baseline: number) =>
    verdictOf({
      scores: [{ metric, better, value, baselines: [{ name: "persistence", value: baseline }] }],
    } as unknown as ExperimentResult);

  it("gives a multiple if it means something", () => {
    expect(verdict("rmse", "lower", 1, 2)).toBe("Better than every baseline: rmse 0.5 times persistence.");
    expect(verdict("rmse", "lower", 3, 2)).toBe("Not better than a baseline: rmse 1.5 times persistence.");
  });

  it("says above, below or equal to where it does not", () => {
    expect(verdict("r2", "higher", -9.85, 0.392)).toBe("Not better than a baseline: r2 below persistence.");
    expect(verdict("r2", "higher", 0.8, 0.4)).toBe("Better than every baseline: r2 above persistence.");
    expect(verdict("validPredictionTime", "higher", 3, 0)).toBe("Better than every baseline: validPredictionTime above persistence.");
    expect(verdict("validPredictionTime", "higher", 0, 0)).toBe("Not better than a baseline: validPredictionTime equal to persistence.");
    expect(verdict("validPredictionTime", "higher", 24, 24)).toBe("Not better than a baseline: validPredictionTime equal to persistence.");
  });
});

it("a split of cases keeps to the share that tests, too", () => {
  const labels = Array.from({ length: 40 }, (_, b) => (b < 20 ? "a" : "b"));
  const cases = { sequences: labels.map((_, b) => column(b)), labels };
  const { train, test } = stratifiedSplit({ split: { train: 0.5, test: 0.1 } }, cases, 1);
  expect([train.labels, test.labels].map((each) => each.join(""))).toEqual(["a".repeat(10) + "b".repeat(10), "aabb"]);
  const all = stratifiedSplit({ split: { train: 0.5 } }, cases, 1);
  expect([...all.train.sequences, ...all.test.sequences].length).toBe(40);
});
