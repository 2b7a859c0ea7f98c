// Splitting a series into inputs and targets.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { toForecasting } from "../../src/tasks/index.js";

describe("toForecasting", () => {
  it("pairs each row with the next by default, all of it for training", () => {
    const split = toForecasting([1, 2, 3, 4]);
    expect(Array.from(split.inputs.data)).toEqual([1, 2, 3]);
    expect(Array.from(split.targets.data)).toEqual([2, 3, 4]);
    expect([split.testInputs.rows, split.testTargets.rows]).toEqual([0, 0]);
  });

  it("names its fields in the order train inputs, train targets, test inputs, test targets", () => {
    const split = toForecasting([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], { forecast: 2, testSize: 3 });
    expect(Object.keys(split)).toEqual(["inputs", "targets", "testInputs", "testTargets"]);
    expect(Object.values(split).map((part: Matrix) => Array.from(part.data))).toEqual([
      [0, 1, 2, 3, 4],
      [2, 3, 4, 5, 6],
      [5, 6, 7],
      [7, 8, 9],
    ]);
  });

  it("takes the test size as a share of the series", () => {
    expect(toForecasting(new Float64Array(100), { testSize: 0.2 }).testInputs.rows).toBe(20);
  });

  it("keeps precision and columns, and copies nothing", () => {
    const series = new Matrix(6, 2, new Float32Array(12));
    const split = toForecasting(series, { testSize: 2 });
    expect(split.targets.cols).toBe(2);
    expect(split.targets.data).toBeInstanceOf(Float32Array);
    expect(split.testTargets.data.buffer).toBe(series.data.buffer);
  });

  it("gives every row back at its place, whatever the sizes", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 0, max: 20 }),
        fc.integer({ min: 1, max: 20 }),
        (forecast, testSize, train) => {
          const rows = train + testSize + forecast;
          const split = toForecasting(
            Array.from({ length: rows }, (_, t) => t),
            { forecast, testSize },
          );
          const inputs = [...split.inputs.data, ...split.testInputs.data];
          const targets = [...split.targets.data, ...split.testTargets.data];
          expect(inputs).toEqual(Array.from({ length: train + testSize }, (_, t) => t));
          expect(targets).toEqual(inputs.map((t) => t + forecast));
          expect(split.testInputs.rows).toBe(testSize);
        },
      ),
    );
  });

  it.each([
    [3, { forecast: 3 }, "toForecasting: series has 3 rows; a forecast of 3 with 0 test rows takes at least 4"],
    [0, {}, "series is empty; it takes at least one row"],
    [10, { testSize: 9 }, "toForecasting: series has 10 rows; a forecast of 1 with 9 test rows takes at least 11"],
    [10, { forecast: 0 }, "toForecasting: forecast is 0; it takes a whole number of at least 1"],
    [10, { testSize: 2.5 }, "toForecasting: testSize is 2.5; it takes a whole number of at least 0, or a share below 1"],
  ])("refuses %d rows with %j", (rows, options, sentence) => {
    expect(() => toForecasting(new Float64Array(rows), options)).toThrow(sentence);
  });

  it("refuses a value that is not finite, and says where it is", () => {
    expect(() =>
      toForecasting([
        [1, 2],
        [3, Number.NaN],
        [5, 6],
      ]),
    ).toThrow("series is NaN at row 1, column 1; it takes finite numbers");
  });

  it("refuses an option that there is not", () => {
    expect(() => toForecasting(new Float64Array(9), { horizon: 2 } as never)).toThrow('unknown field "horizon"');
  });
});
