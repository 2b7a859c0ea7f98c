// Rows of other columns than a forecaster was trained on, and names that are no member.
import { expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { FieldForecaster, Forecaster, NvarForecaster } from "../../src/index.js";
import { errorOf } from "../error-of.js";

const series = Array.from({ length: 160 }, (_, t) => Math.sin(t / 5) + Math.cos(t / 17));
const two = series.map((value, t) => [value, t]);
const loop = { reservoir: { size: 20 }, readout: { lambda: 1e-3 } };

it.each([
  ["loop", () => Forecaster.fit(series, loop)],
  ["theta", () => Forecaster.fit(series, { horizon: 5, members: ["theta"] })],
  ["ets", () => Forecaster.fit(series, { horizon: 5, members: ["ets"] })],
  ["seasonalNaive", () => Forecaster.fit(series, { horizon: 5, season: 7, members: ["seasonalNaive"] })],
  ["direct", () => Forecaster.fit(series, { horizon: 5, members: ["direct"] })],
  [
    "several series",
    () =>
      Forecaster.fit(
        {
          sequences: new Map([
            ["a", series],
            ["b", series],
          ]),
        },
        { horizon: 5, members: ["theta", "pooled"] },
      ),
  ],
  ["NVAR", () => NvarForecaster.fit(series, { delays: 2 })],
  [
    "a field",
    () =>
      FieldForecaster.fit(
        two.map(([a]) => [a!, a!, a!, a!]),
        { groups: 2, reservoir: { size: 20 } },
      ),
  ],
] as const)("%s refuses to be warmed up on them", async (_, train) => {
  await using forecaster = await train();
  for (const warmup of [two, Matrix.zeros(60, 0)])
    expect(await errorOf(() => forecaster.forecast(2, { warmup }))).toMatchObject({
      name: "ArgumentError",
      code: "shape",
      message: expect.stringMatching(/^(warmup.* has [02] columns; this forecaster takes [14]|series has no columns.*)$/),
    });
});

it.each([
  ["a combination", () => Forecaster.fit(Matrix.zeros(50, 0), { horizon: 5 })],
  ["a loop", () => Forecaster.fit(Matrix.zeros(50, 0), loop)],
  ["NVAR", () => NvarForecaster.fit(Matrix.zeros(50, 0))],
] as const)("%s refuses a series without columns", async (_, train) => {
  expect(await errorOf(train)).toMatchObject({ code: "shape", message: "series has no columns; it takes at least one" });
});

it.each([["teta"], ["Theta"], ["loop", "teta"]])("a misspelt member is no seed: %s", async (...members) => {
  const error = await errorOf(() => Forecaster.fit(series, { horizon: 5, members }));
  expect(error).toMatchObject({ name: "ArgumentError", field: `members[${members.length - 1}]` });
});

it("members that are like no name are seeds", async () => {
  await using forecaster = await Forecaster.fit(series, { ...loop, members: ["a", 5] });
  expect(forecaster.members).toHaveLength(2);
});
