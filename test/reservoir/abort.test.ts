// Work that is stopped: how soon, and with the reason that its signal was given.
import { describe, expect, it } from "vitest";
import {
  Classifier,
  FieldForecaster,
  Forecaster,
  Matrix,
  NvarForecaster,
  ReservoirComputer,
  WorkInterruptedError,
} from "../../src/index.js";
import { ConceptorMemory } from "../../src/model/index.js";

const series = Float64Array.from({ length: 3000 }, (_, t) => Math.sin(t / 5));
const field = Matrix.from(Array.from({ length: 1500 }, (_, t) => [0, 1, 2, 3].map((c) => Math.sin(t / 5 + c))));
const reservoir = { size: 60, seed: 1 } as const;
const cases = Array.from({ length: 40 }, (_, b) => series.subarray(b, b + 200));

type Work = (signal: AbortSignal) => Promise<unknown>;
const works: readonly (readonly [string, Work])[] = [
  ["Forecaster.fit", (signal) => Forecaster.fit(series, { reservoir, signal })],
  ["Forecaster.fit with a horizon", (signal) => Forecaster.fit(series, { reservoir, horizon: 10, signal })],
  ["NvarForecaster.fit", (signal) => NvarForecaster.fit(series, { delays: 4, degrees: [2, 3], signal })],
  ["FieldForecaster.fit", (signal) => FieldForecaster.fit(field, { reservoir, groups: 4, halo: 1, signal })],
  [
    "Classifier.fit",
    (signal) =>
      Classifier.fit(
        cases,
        cases.map((_, b) => b % 2),
        { reservoir, signal },
      ),
  ],
  ["ConceptorMemory.store", (signal) => ConceptorMemory.store([series, series], { reservoir, signal })],
];
const reasons = [
  ["a text", "the window was closed", "the window was closed"],
  ["an error", new Error("no time left"), "no time left"],
  ["nothing", undefined, ""],
] as const;

describe.each(works)("%s that is stopped", (_, work) => {
  it.each(reasons)("says why, if the reason is %s", async (_kind, reason, words) => {
    const stop = new AbortController();
    const done = work(stop.signal).then(
      () => undefined,
      (error: unknown) => error,
    );
    stop.abort(reason);
    const error = (await done) as WorkInterruptedError;
    expect(error).toBeInstanceOf(WorkInterruptedError);
    expect(error.cause).toBe(stop.signal.reason);
    expect(error.message).toMatch(
      words === "" ? /stopped after \d+ of \d+ steps$/ : new RegExp(`stopped after \\d+ of \\d+ steps: ${words}$`),
    );
  });
});

it("the reference engine looks at the signal between steps that take long", async () => {
  // A step of 1500 neurons takes longer than a chunk may: it is stopped after a few, not 16.
  await using computer = await ReservoirComputer.create(
    { size: 1500, inputSize: 1, seed: 1, storage: "dense", spectralRadius: null },
    { engine: "reference" },
  );
  const stop = new AbortController();
  const steps: number[] = [];
  const run = computer.run(Matrix.zeros(64, 1), { signal: stop.signal, onProgress: (done) => void steps.push(done) });
  setImmediate(() => stop.abort("enough"));
  await expect(run).rejects.toThrow("enough");
  expect(steps[0]).toBeLessThan(16);
});

it.each(["float32", "float64"] as const)(
  "what does not fit is told to take float32 only if it is not that already: %s",
  async (precision) => {
    const error = await ReservoirComputer.create({ size: 3_000_000, inputSize: 1, storage: "dense", precision }).catch(
      (reason: unknown) => reason,
    );
    expect(String(error)).toMatch(/take fewer neurons/);
    expect(String(error).includes("or precision float32")).toBe(precision === "float64");
  },
);
