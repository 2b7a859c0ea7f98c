// How pairs of a candidate and a lambda are compared: each lambda with its neighbours.
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { choosePairs, type ForecasterChoice } from "../../src/model/forecaster/choice.js";
import type { ForecastLoss } from "../../src/model/forecaster/loss.js";
import { IllConditionedError } from "../../src/readout/index.js";

const horizon = 2;
const rows = 60;
const series = Matrix.from(Array.from({ length: rows }, (_, t) => [t % 2]));
/** Half of the rows are 0 and half 1: their deviation is 1/2. */
const deviation = 0.5;
const parts = { training: [{ series: series.subarray(0, 40) }], starts: [40, 44, 48, 52, 56, 58].map((row) => ({ sequence: 0, row })) };

/** By how many deviations a forecast is off, or from each start; null if it failed. */
type Off = number | readonly number[] | null;

/** A choice between candidates whose forecasts are off by so much. */
function choose(
  candidates: readonly (readonly Off[])[],
  lambdas: readonly number[],
  loss: ForecastLoss = "rmse",
): Promise<ForecasterChoice> {
  const tried = candidates.map((errors) => {
    const forecast = (error: Off, starts: readonly { readonly row: number }[]) =>
      error === null
        ? new IllConditionedError(0, 1, 0, 0, 0, 1)
        : Matrix.from(
            starts.flatMap(({ row }, k) =>
              [0, 1].map((h) => [series.at(row + h, 0) + (typeof error === "number" ? error : error[k]!) * deviation]),
            ),
          );
    return {
      lags: 0,
      calendar: false,
      forecasts: async () => errors.map((error) => forecast(error, parts.starts)),
      again: async (lambda: number, starts: readonly { readonly row: number }[]) => forecast(errors[lambdas.indexOf(lambda)]!, starts),
    };
  });
  return choosePairs([{ series }], parts, tried, { horizon, lambdas, loss, keep: 1, masks: [undefined] }, {});
}

const mean = (...errors: readonly number[]) => errors.reduce((product, error) => product * error) ** (1 / errors.length);

describe("a lambda is scored with its neighbours", () => {
  it("so that a lucky one does not win", async () => {
    // Errors that a real series gave: .777 between 3.9 and 3.7.
    const errors = [3.9, 0.777, 3.7, 1.4, 1.1, 1.2];
    const { kept, scores } = await choose([errors], [1e-8, 1e-6, 1e-4, 1e-2, 1, 100]);
    expect(kept[0]!.lambda).toBe(100);
    // Larger than their neighbours' mean are 3.9, 3.7 and 1.2 themselves.
    const byHand = [3.9, mean(3.9, 0.777, 3.7), 3.7, mean(3.7, 1.4, 1.1), mean(1.4, 1.1, 1.2), 1.2];
    for (const [l, score] of byHand.entries()) expect(scores[l]!.score).toBeCloseTo(score, 12);
    expect(scores.map(({ error }) => error)).toEqual(errors.map((error) => expect.closeTo(error, 12)));
  });

  it("of its own candidate, in the order of lambdas, whatever theirs", async () => {
    const { scores, kept } = await choose(
      [
        [2, 8, 4],
        [1, 9, 1],
      ],
      [1, 100, 10],
    );
    // Sorted by lambda: 2, 4, 8 and 1, 1, 9.
    const byHand = [mean(2, 4), 8, mean(2, 4, 8), 1, 9, mean(1, 1, 9)];
    for (const [l, score] of byHand.entries()) expect(scores[l]!.score).toBeCloseTo(score, 12);
    expect(kept[0]).toMatchObject({ candidate: 1, lambda: 1 });
  });

  it("without those that failed, and one alone by itself", async () => {
    const { scores } = await choose([[null, 2, 8]], [1e-8, 1, 10]);
    expect(scores[0]).toMatchObject({ failure: expect.any(String), score: undefined });
    expect(scores[1]!.score).toBeCloseTo(4, 12);
    expect((await choose([[3]], [1])).scores[0]!.score).toBeCloseTo(3, 12);
  });

  it("by the arithmetic mean of losses that are below 0", async () => {
    // 0.3 deviations are valid for both steps of a forecast, 0.5 for none.
    const { scores } = await choose([[0.3, 0.5, 0.3, 0.3]], [0.1, 1, 10, 100], "validTime");
    expect(scores.map(({ error, score }) => [error! + 0, score! + 0])).toEqual([
      [-2, -1],
      [0, 0],
      [-2, expect.closeTo(-4 / 3, 12)],
      [-2, -2],
    ]);
  });

  it.each([
    ["the largest lambda of scores within a thousandth", [[1, 1.0005, 1.0009]], [0.1, 1, 10], { candidate: 0, lambda: 10 }],
    ["the earliest candidate of equal lambdas", [[2], [1], [1.0005]], [1], { candidate: 1, lambda: 1 }],
  ] as const)("and of ties it takes %s", async (_, errors, lambdas, expected) => {
    expect((await choose(errors, lambdas)).kept[0]).toMatchObject(expected);
  });

  it("and an earlier candidate that is near the best, and that six starts cannot tell from it", async () => {
    // Scores 1.0144, 1.0466 and 1.0152; mean log ratios .0244, .0721 and .0301 of squares, standard
    // errors .0406, .0874 and .0003.
    const near = [1.06, 0.97, 1.08, 0.95, 1, 1.02];
    const far = [1.1, 0.95, 1.2, 0.9, 1, 1.1];
    const clear = [1.015, 1.015, 1.015, 1.015, 1.015, 1.016];
    const taken = async (...candidates: (number | readonly number[])[]) =>
      (
        await choose(
          candidates.map((one) => [one]),
          [1],
        )
      ).kept[0]!.candidate;
    expect(await taken(near, 1)).toBe(0);
    expect(await taken(far, 1)).toBe(1);
    expect(await taken(clear, 1)).toBe(1);
    expect(await taken(clear, near, far, 1)).toBe(1);
    expect(await taken(1, near)).toBe(0);
  });
});
