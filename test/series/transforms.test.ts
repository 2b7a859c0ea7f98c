import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import * as series from "../../src/series/index.js";
import { passengers } from "./passengers.js";

const column = (...values: number[]) => new Matrix(values.length, 1, Float64Array.from(values));

const { fitTransforms, longestLookAhead, restoredForecast, transformed } = series;
const transformSeries = (data: Matrix<Float64Array>, list: readonly series.Transform[]) =>
  series.transformSeries(data, fitTransforms([data], list));

describe("transforms of a series", () => {
  it("squash is y -> tanh(y - 1)", () => {
    // Jaeger 2001, section 6; tanh(0.2) = 0.197375320224904.
    const { series } = transformSeries(column(1, 1.2), ["squash"]);
    expect(series.data[0]).toBe(0);
    expect(series.data[1]).toBeCloseTo(0.197375320224904, 15);
  });

  it("difference takes the value `lag` rows before away, and loses as many rows", () => {
    const { series, original, lost } = transformSeries(column(1, 2, 4, 8, 16), [{ difference: 2 }]);
    expect([...series.data]).toEqual([3, 6, 12]);
    expect([...original.data]).toEqual([4, 8, 16]);
    expect(lost).toBe(2);
  });

  it("undone on the true values, they give the series again, in one step and in closed loop", () => {
    const transforms = fc.array(fc.constantFrom<series.Transform[]>("squash", { difference: 1 }, { difference: 3 }, { log: 30 }), {
      maxLength: 3,
    });
    const values = fc.array(fc.double({ min: -1, max: 2, noNaN: true }), { minLength: 20, maxLength: 40 });
    fc.assert(
      fc.property(values, transforms, fc.nat(5), fc.boolean(), (data, list, start, closedLoop) => {
        const { series, original, undo } = transformSeries(column(...data), list);
        const restored = undo(series.subarray(start), start, closedLoop);
        restored.data.forEach((value, t) => {
          expect(value).toBeCloseTo(original.data[start + t]!, 9);
        });
      }),
    );
  });

  it("in closed loop, differences are added to what was predicted before", () => {
    const { undo } = transformSeries(column(10, 11, 12, 13), [{ difference: 2 }]);
    // Row 0 of the differences is time 2: 10 + 1, 11 + 1, then 11 + 1 and 12 + 1 of the predictions
    // themselves.
    expect([...undo(column(1, 1, 1, 1), 0, true).data]).toEqual([11, 12, 12, 13]);
  });

  it("in one step, every earlier value is the true one", () => {
    const { undo } = transformSeries(column(10, 20, 30, 40, 50), [{ difference: 1 }]);
    expect([...undo(column(1, 1, 1, 1), 0, false).data]).toEqual([11, 21, 31, 41]);
  });

  it("undoing squash holds predictions inside (-1, 1), so that none is infinite", () => {
    const { undo } = transformSeries(column(1, 1), ["squash"]);
    expect(undo(column(1.5, -2), 0, true).data.every(Number.isFinite)).toBe(true);
  });

  it("a difference longer than the series is refused", () => {
    expect(() => transformSeries(column(1, 2), [{ difference: 2 }])).toThrow(
      "a difference of 2 rows takes a longer series; this one has 2 rows",
    );
  });

  it("a one-step prediction may look as far ahead as the shortest difference", () => {
    expect(longestLookAhead([{ difference: 12 }, "log", { difference: 3 }])).toBe(3);
    expect(longestLookAhead(["squash"])).toBe(Number.POSITIVE_INFINITY);
  });

  it("are fitted on training rows: Box-Cox takes the likeliest power of each column", () => {
    // SciPy's boxcox of the 144 months.
    const both = Matrix.from(passengers.map((value) => [value, value ** 2]));
    const [{ boxCox }] = fitTransforms([both], ["boxCox"]).steps as unknown as [{ boxCox: readonly number[] }];
    expect(boxCox[0]).toBeCloseTo(0.14802, 5);
    expect(boxCox[1]).toBeCloseTo(0.14802 / 2, 5);
  });

  it("pool the rows of several series, whose joints are no rows", () => {
    const parts = [passengers.slice(0, 70), passengers.slice(70)].map((part) => column(...part));
    expect(fitTransforms(parts, ["boxCox"])).toEqual(fitTransforms([column(...passengers)], ["boxCox"]));
  });

  it("give the literature's forecast of airline passengers back in passengers", () => {
    // By an independent program: ridge autoregression of order 12 after a logarithm, a seasonal
    // difference and z-scores.
    const known = column(...passengers.slice(0, 132));
    const fitted = fitTransforms([known], ["log", { difference: 12 }]);
    const there = transformed(known, fitted);
    const model = series.fitAutoregression(there, { order: 12, lambda: 1 });
    const said = restoredForecast(model.forecast(there, 12), known, fitted).data;
    for (const [h, value] of [432.1635, 407.4369, 472.6978].entries()) expect(said[h]).toBeCloseTo(value, 4);
    const squares = said.reduce((sum, value, h) => sum + (value - passengers[132 + h]!) ** 2, 0);
    expect(Math.sqrt(squares / 12)).toBeCloseTo(28.5542, 4);
  });

  it("are plain data, from which another process undoes a forecast by the last rows alone", () => {
    const list: series.Transform[] = ["boxCox", { difference: 3 }, { difference: 1 }];
    const fitted = fitTransforms([column(...passengers)], list);
    const kept = JSON.parse(JSON.stringify(fitted)) as series.FittedTransforms;
    const ahead = transformed(column(...passengers), kept).subarray(60, 70);
    const known = column(...passengers.slice(0, 64));
    expect(restoredForecast(ahead, known, kept)).toEqual(restoredForecast(ahead, known.subarray(60), fitted));
    restoredForecast(ahead, known, kept).data.forEach((value, h) => {
      expect(value).toBeCloseTo(passengers[64 + h]!, 8);
    });
    expect(() => restoredForecast(ahead, known.subarray(61), fitted)).toThrow(
      "history has 3 rows; differences of 4 rows in all take at least that many before a forecast",
    );
  });

  it("of one's own are named in files and found again", () => {
    const cube = { name: "cubeRoot", description: "The cube root.", options: {}, forward: Math.cbrt, back: (z: number) => z ** 3 };
    series.registerTransform(cube);
    const { series: there, undo } = transformSeries(column(8, 27, -1), [{ transform: "cubeRoot" }]);
    expect([...there.data]).toEqual([2, 3, -1]);
    expect([...undo(there, 0, true).data]).toEqual([8, 27, -1]);
    expect(() => transformSeries(column(1), [{ transform: "cubeRoots" }])).toThrow("did you mean cubeRoot?");
  });

  it.each<[string, series.Transform, string]>([
    ["a logarithm of a value that is not above 0", "log", "log with 0 added takes values above 0; row 1, column 0 gives 0"],
    ["a Box-Cox transform of one", "boxCox", "boxCox takes values above 0; row 1, column 0 gives 0"],
    ["it also with a power of 0", { boxCox: 0 }, "boxCox takes values above 0; row 1, column 0 gives 0"],
    ["a function that gives no number", { forward: (y) => 1 / y, back: (z) => 1 / z }, "forward gives Infinity for 0, at row 1, column 0"],
    ["a function that is none", { forward: 3, back: (z: number) => z } as never, "transforms[0].forward is 3; it takes a function"],
    ["two transforms in one", { log: 1, difference: 1 } as never, 'unknown field "transforms[0].log"'],
  ])("refuse %s, with its place", (_, transform, words) => {
    expect(() => transformSeries(column(3, 0, 5), [transform])).toThrow(words);
  });

  it("hold a forecast at 0 that a Box-Cox transform cannot turn back", () => {
    const fitted = fitTransforms([column(1, 4, 9)], [{ boxCox: 0.5 }]);
    expect([...restoredForecast(column(2, -3), column(1), fitted).data]).toEqual([4, 0]);
  });

  it("take 0 with a power above 0, as a square root does", () => {
    expect([...transformSeries(column(0, 4, 9), [{ boxCox: 0.5 }]).series.data]).toEqual([-2, 2, 4]);
  });

  it("hold a forecast at ten times the largest value, if a power below 0 would make it infinite", () => {
    // With L = -1 no value has z of 1 or above.
    const fitted = fitTransforms([column(1, 2, 4)], [{ boxCox: -1 }]);
    expect(restoredForecast(column(0.5, 3), column(1), fitted).data[1]).toBeCloseTo(40, 12);
  });

  it("standardise by mean and deviation of the training rows, for each column", () => {
    const fitted = fitTransforms([column(1, 3), column(5, 7, 9)], ["standardise"]);
    expect(fitted.steps).toEqual([{ standardise: { mean: [5], deviation: [Math.sqrt(8)] } }]);
    expect([...restoredForecast(transformed(column(5, -3), fitted), column(1), fitted).data]).toEqual([5, -3]);
  });

  it("take a pair of functions, and true for what has a default", () => {
    const { series: there, undo } = transformSeries(column(8, 27), [{ forward: Math.cbrt, back: (z) => z ** 3 }]);
    expect([...undo(there, 0, true).data]).toEqual([8, 27]);
    const known = column(...passengers);
    expect(fitTransforms([known], [{ log: true }, { boxCox: true }])).toEqual(fitTransforms([known], ["log", "boxCox"]));
  });

  it("a yearly difference of 0, and of the mean yearly change, are the naive forecasts", () => {
    const known = column(...passengers.slice(0, 132));
    const fitted = fitTransforms([known], [{ difference: 12 }]);
    const changes = transformed(known, fitted).data;
    const mean = changes.reduce((sum, value) => sum + value, 0) / changes.length;
    const error = (change: number) => {
      const made = restoredForecast(column(...Array<number>(12).fill(change)), known, fitted).data;
      return Math.sqrt(made.reduce((sum, value, h) => sum + (value - passengers[132 + h]!) ** 2, 0) / 12);
    };
    expect(error(0)).toBeCloseTo(50.7083, 4);
    expect(error(mean)).toBeCloseTo(24.4012, 4);
    // The denominator of MASE for a season of 12.
    expect(changes.reduce((sum, value) => sum + Math.abs(value), 0) / changes.length).toBeCloseTo(30.45, 2);
  });

  it("leave what is missing missing", () => {
    const { series: there } = transformSeries(column(1, Number.NaN, 4), ["log"]);
    expect([...there.data].map(Number.isNaN)).toEqual([false, true, false]);
  });
});
