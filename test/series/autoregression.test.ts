// Ridge autoregression: against hand calculation, a solution by its definition, and a known series.
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { fitAutoregression } from "../../src/series/index.js";
import { validationStarts } from "../../src/series/validation-starts.js";
import { passengers } from "./passengers.js";

describe("ridge autoregression", () => {
  it.each([
    [0, [7, 8]],
    [1, [6.72727, 7.38843]],
  ])("of 1 to 6 with lambda %d goes on as by hand", (lambda, expected) => {
    const model = fitAutoregression([1, 2, 3, 4, 5, 6], { order: 1, lambda, standardise: false });
    const said = model.forecast([6], 2).data;
    for (const [h, value] of expected.entries()) expect(said[h]).toBeCloseTo(value, 5);
  });

  it("forecasts a year of airline passengers as an independent program does", () => {
    const known = passengers.slice(0, 132);
    const said = fitAutoregression(known, { order: 12, lambda: 1 }).forecast(known, 12).data;
    for (const [h, value] of [396.3403, 388.6946, 423.5741].entries()) expect(said[h]).toBeCloseTo(value, 4);
    const squares = said.reduce((sum, value, h) => sum + (value - passengers[132 + h]!) ** 2, 0);
    expect(Math.sqrt(squares / 12)).toBeCloseTo(17.5668, 4);
  });

  it("solves the normal equations of its definition, although it sums products along diagonals", () => {
    const values = Float64Array.from({ length: 60 }, (_, t) => ((t * 37) % 23) + 1000 + t / 7);
    const [order, lambda] = [4, 0.3];
    const rows = values.length - order;
    const lag = (j: number) => values.subarray(order - j, order - j + rows);
    const mean = (list: Float64Array) => list.reduce((sum, value) => sum + value, 0) / rows;
    const about = Array.from({ length: order + 1 }, (_, j) => lag(j).map((value) => value - mean(lag(j))));
    const dot = (a: Float64Array, b: Float64Array) => a.reduce((sum, value, t) => sum + value * b[t]!, 0);
    const history = values.subarray(-order);
    const said = fitAutoregression(values, { order, lambda, standardise: false }).forecast(history, 1).data[0]!;
    // The weights are what the forecast changes by if one value of the history does.
    const weights = Array.from({ length: order }, (_, j) => {
      const moved = Float64Array.from(history, (value, k) => value + (k === order - 1 - j ? 1 : 0));
      return fitAutoregression(values, { order, lambda, standardise: false }).forecast(moved, 1).data[0]! - said;
    });
    for (let i = 1; i <= order; i++) {
      const left = weights.reduce((sum, weight, j) => sum + weight * dot(about[i]!, about[j + 1]!), 0) + lambda * weights[i - 1]!;
      expect(left).toBeCloseTo(dot(about[i]!, about[0]!), 4);
    }
  });

  it("takes the lambda whose closed loops do best inside the rows, a larger one where none does better", () => {
    const wave = Float64Array.from({ length: 400 }, (_, t) => ((t * t) % 17) / 17);
    const model = fitAutoregression(wave, { order: 20, lambda: [1e-6, 1e4], horizon: 5 });
    expect(model.lambdas).toEqual([1e-6]);
    const flat = fitAutoregression(new Float64Array(100).fill(3), { order: 4, horizon: 5 });
    expect(flat.lambdas).toEqual([1000]);
    expect([...flat.forecast([3, 3, 3, 3], 2).data]).toEqual([3, 3]);
  });

  it("fits each column by itself", () => {
    const both = new Matrix(
      60,
      2,
      Float64Array.from({ length: 120 }, (_, i) => (i % 2 === 0 ? (i % 14) + 0.5 : i)),
    );
    const [first, second] = [0, 1].map((c) => both.column(c));
    const model = fitAutoregression(both, { order: 7, lambda: 0.01 });
    const alone = [first!, second!].map((column) => fitAutoregression(column, { order: 7, lambda: 0.01 }).forecast(column, 3).data);
    expect([...model.forecast(both, 3).data]).toEqual([0, 1, 2].flatMap((h) => [alone[0]![h]!, alone[1]![h]!]));
  });

  it.each([
    [
      "a series that is shorter than its order",
      () => fitAutoregression([1, 2, 3], { order: 2 }),
      "order 2 takes at least 4 rows; this series has 3",
    ],
    ["several lambdas and no horizon", () => fitAutoregression(passengers, { order: 2 }), "horizon is missing"],
    [
      "a horizon that the rows cannot validate",
      () => fitAutoregression(passengers, { order: 2, horizon: 40 }),
      "a horizon of 40 steps takes more training rows than 144",
    ],
    ["a value that is not finite", () => fitAutoregression([1, 2, Number.NaN, 4, 5], { order: 1, lambda: 1 }), "NaN"],
    [
      "a history of another width",
      () => fitAutoregression(passengers, { order: 2, lambda: 1 }).forecast(Matrix.zeros(3, 2), 1),
      "history has 2 columns",
    ],
    ["a history that is too short", () => fitAutoregression(passengers, { order: 2, lambda: 1 }).forecast([1], 1), "history has 1 rows"],
  ])("refuses %s", (_, call, words) => {
    expect(call).toThrow(words);
  });
});

describe("validation starts", () => {
  it("lie in the last quarter, the last of them a horizon before the end", () => {
    expect(validationStarts(100, 5, 10)).toEqual({ fitted: 75, starts: [...Array(21).keys()].map((k) => 75 + k) });
    const { starts } = validationStarts(1000, 24, 10);
    expect([starts.length, starts[0], starts.at(-1)]).toEqual([25, 750, 976]);
  });

  it("takes what is known beforehand of every row beside its lags", () => {
    // y(t) = 2 + 0.5 y(t - 1) - 3 u(t) without noise: least squares finds it, and goes on by it.
    const rows = 80;
    const u = Array.from({ length: rows + 5 }, (_, t) => ((t * 7) % 11) - 5);
    const y = [1];
    for (let t = 1; t < rows + 5; t++) y.push(2 + 0.5 * y[t - 1]! - 3 * u[t]!);
    const known = u.slice(0, rows).map((value) => [value]);
    const model = fitAutoregression(y.slice(0, rows), { order: 1, lambda: 0, known });
    const ahead = u.slice(rows).map((value) => [value]);
    const said = model.forecast(y.slice(0, rows), 5, ahead).data;
    for (let h = 0; h < 5; h++) expect(said[h]).toBeCloseTo(y[rows + h]!, 8);
    // Of several lambdas the closed loops, which know the column too, choose one that is next to none.
    const chosen = fitAutoregression(y.slice(0, rows), { order: 1, horizon: 4, known });
    expect(Math.abs(chosen.forecast(y.slice(0, rows), 1, ahead.slice(0, 1)).data[0]! - y[rows]!)).toBeLessThan(0.01);
    expect(() => model.forecast(y, 2)).toThrow("ahead is 2 x 0; this autoregression takes 1 known values for each of 2 steps");
    expect(() => fitAutoregression(y, { order: 1, lambda: 1, known: [[1]] })).toThrow("known has 1 rows and series 85");
  });
});
