// Values of another kind than a field takes, and what parts of the user's own return: an
// ArgumentError that names the field, not a TypeError from deeper within, and not silence.
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { Study } from "../../packages/search/src/index.js";
import { Classifier, FieldForecaster, ridge } from "../../src/index.js";
import { registerActivation } from "../../src/reservoir/activations.js";
import { ReservoirComputer, registerReservoirKind, registerTopology, sparseFromRows } from "../../src/reservoir/index.js";
import { timesAfter, transformSeries } from "../../src/series/index.js";
import { errorOf } from "../error-of.js";

const rows = Array.from({ length: 60 }, (_, t) => [Math.sin(t), Math.cos(t)]);
const series = rows.map(([value]) => value!);
const cases = [0, 1, 2, 3].map((b) => series.slice(b, b + 20));
const space = { a: { float: [0, 1] } } as const;
const wrong = ["text", 5, null, new Map([["seed", 1]]), new Set(["seed"]), Promise.resolve({ seed: 1 }), new Date(0), /seed/];

it.each<[field: string, call: (value: never) => unknown]>([
  ["sampler", (sampler) => Study.open({ space, sampler })],
  ["storage", (storage) => Study.open({ space, storage })],
  ["attributes", (attributes) => Study.open({ space, attributes })],
  ["space", (value) => Study.open({ space: value })],
  ["reservoir", (reservoir) => FieldForecaster.fit(rows, { groups: 2, reservoir })],
  ["readout", (readout) => Classifier.fit(cases, ["a", "b", "a", "b"], { reservoir: { size: 5 }, readout })],
  ["options", (options) => ridge(options)],
  ["matrices", (matrices) => ReservoirComputer.create({ size: 5 }, { matrices })],
  ["grid", (grid) => timesAfter(grid, 3)],
  ["fitted", (fitted) => transformSeries(Matrix.zeros(3, 1), fitted)],
])("%s of another kind is refused by its name", async (field, call) => {
  for (const value of wrong)
    expect(await errorOf(() => call(value as never)), String(value)).toMatchObject({
      name: "ArgumentError",
      message: expect.stringContaining(field),
    });
});

it("a reservoir that is left out is missing", async () => {
  const error = await errorOf(() => FieldForecaster.fit(rows, { groups: 2 } as never));
  expect(error).toMatchObject({ name: "ArgumentError", field: "reservoir" });
});

describe("what a part of the user's own gives", () => {
  const star = (size: number, value: number) => ({
    matrix: sparseFromRows(
      size,
      size,
      () => [0],
      () => value,
    ),
  });
  registerTopology({
    name: "not-a-number",
    description: "A test.",
    options: {},
    expectedNonzeros: () => 9,
    build: (_, { size }) => star(size, Number.NaN),
  });
  registerActivation({ name: "texts", description: "A test.", options: {}, bounded: false, f: (() => "1") as never });
  const kind = (name: string, sizes: unknown) =>
    registerReservoirKind({
      ...{ name, description: "A test.", options: {}, sizes: (() => sizes) as never },
      draw: () => ({ initial: [], matrices: {} }),
      stepper: () => () => undefined,
    });
  kind("sizeless", undefined);
  kind("negative", { states: -1, matrices: {} });
  kind("hidden", { states: 1, hidden: 0.5, matrices: {} });

  it.each([
    [
      { size: 5, topology: { type: "not-a-number" } },
      "value 0 of the matrix of the topology not-a-number is NaN; it takes a finite number",
    ],
    [{ size: 5, activation: "texts" }, 'f(0) of the activation "texts" is "1"; it takes a number'],
    [{ kind: "sizeless", size: 5 }, 'sizes of the kind "sizeless" is missing; it takes an object with states and matrices'],
    [{ kind: "negative", size: 5 }, 'sizes of the kind "negative", states is -1; it takes a whole number of at least 1'],
    [{ kind: "hidden", size: 5 }, 'sizes of the kind "hidden", hidden is 0.5; it takes a whole number of at least 0'],
  ])("%o", async (description, message) => {
    expect(await errorOf(() => ReservoirComputer.create(description as never, { engine: "cpu" }))).toMatchObject({
      name: "ArgumentError",
      message,
    });
  });
});
