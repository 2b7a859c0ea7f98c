// Bounds of forecasts and of their bands: found from the training rows, or given.
import { describe, expect, it } from "vitest";
import { FieldForecaster, Forecaster, Matrix, NvarForecaster } from "../../src/index.js";
import { bounded, boundsOf } from "../../src/model/forecaster/bounds.js";

/** Counts near 0, and a column that goes below it. */
const constructors = { forecaster: Forecaster, nvar: NvarForecaster, field: FieldForecaster };
const rows = Matrix.from(
  Array.from({ length: 240 }, (_, t) => [Math.max(0, Math.round(3 * Math.sin(t / 4) + 2 * Math.sin(t * t))), Math.sin(t / 5)]),
);
const reservoir = { size: 20, seed: 2, precision: "float64" } as const;
const chosen = { horizon: 6, choose: { lambdas: [1], starts: 20 } } as const;
const models = [
  ["Forecaster", (more: object) => Forecaster.fit(rows, { reservoir, washout: 20, members: 1, ...chosen, ...more })],
  [
    "Forecaster after a difference",
    (more: object) => Forecaster.fit(rows, { reservoir, washout: 20, members: 1, transforms: [{ difference: 1 }], ...chosen, ...more }),
  ],
  ["NvarForecaster", (more: object) => NvarForecaster.fit(rows, { delays: 2, degrees: [2], ...chosen, ...more })],
  [
    "FieldForecaster",
    (more: object) => FieldForecaster.fit(rows, { reservoir, washout: 20, groups: 2, shared: false, ...chosen, ...more }),
  ],
] as const;

describe.each(models)("bounds of a %s", (_, train) => {
  it("are 0 for a column without a value below it, of forecasts and of bands, and are kept in its file", async () => {
    await using model = await train({});
    expect(model.bounds).toEqual([
      [0, null],
      [null, null],
    ]);
    await using open = await train({ bounds: [null, null] });
    const levels = { intervals: [0.8] };
    const [made, free] = [await model.forecast(6, levels), await open.forecast(6, levels)];
    const lower = made.bands![0]!.lower;
    expect(Math.min(...free.bands![0]!.lower.column(0))).toBeLessThan(0);
    expect(Math.min(...lower.column(0))).toBe(0);
    expect(Math.min(...made.column(0))).toBeGreaterThanOrEqual(0);
    expect(Math.min(...lower.column(1))).toBeLessThan(0);
    await using again = await constructors[model.kind].fromBytes(await model.toBytes());
    expect(again.bounds).toEqual(model.bounds);
    expect((await again.forecast(6, levels)).bands).toEqual(made.bands);
  });

  it("are moved to the ends that are given, one pair a column", async () => {
    await using model = await train({
      bounds: [
        [null, 5],
        [-1, 1],
      ],
    });
    const { bands } = await model.forecast(6, { intervals: [0.9] });
    const { lower, upper } = bands![0]!;
    expect(Math.max(...upper.column(0))).toBeLessThanOrEqual(5);
    expect(Math.max(...upper.column(1))).toBeLessThanOrEqual(1);
    expect(Math.min(...lower.column(1))).toBeGreaterThanOrEqual(-1);
    expect(Math.min(...lower.column(0))).toBeLessThan(0);
  });

  it.each([
    [[1, 1], "bounds is [1, 1]; it takes a low end below the high one"],
    [[[0, null]], "it takes one pair, or 2, one for each column of the series"],
    [[null, 2], "it takes ends that hold the training rows: column 0 has"],
    ["low", "bounds"],
  ])("are refused if they are %j", async (bounds, sentence) => {
    await expect(train({ bounds })).rejects.toThrow(sentence);
  });
});

it("values are moved to the nearer end of their column's bounds", () => {
  const values = Matrix.from([
    [-2, 7, -2],
    [3, 5, 9],
  ]);
  expect(
    bounded(values, [
      [0, null],
      [null, 6],
      [null, null],
    ]).toArrays(),
  ).toEqual([
    [0, 6, -2],
    [3, 5, 9],
  ]);
});

it("bounds of no column are found where a value is below 0, and of several series only if none has one", () => {
  const [above, below] = [
    Matrix.from([
      [0, 1],
      [2, 3],
    ]),
    Matrix.from([
      [1, 2],
      [-1e-9, 3],
    ]),
  ];
  expect(boundsOf(undefined, [above, below])).toEqual([
    [null, null],
    [0, null],
  ]);
  expect(boundsOf(undefined, [above])).toEqual([
    [0, null],
    [0, null],
  ]);
});
