// Calls on one model that are made before earlier ones are over, as a server makes them.
import { describe, expect, it } from "vitest";
import "../../src/index.js";
import type { Matrix } from "../../packages/numerics/src/index.js";
import { Classifier, Forecaster } from "../../src/model/index.js";
import { Pipeline } from "../../src/pipeline/index.js";
import { DisposedError } from "../../src/reservoir/index.js";
import { mackeyGlass } from "../../src/tasks/index.js";

const swing = (rate: number, phase: number) => Array.from({ length: 40 }, (_, t) => [Math.sin(rate * t + phase)]);
const phases = Array.from({ length: 6 }, (_, k) => k / 2);
const sequences = phases.flatMap((phase) => [swing(0.3, phase), swing(0.5, phase)]);
const labels = phases.flatMap(() => ["slow", "quick"]);
const others = Array.from({ length: 8 }, (_, k) => [swing(0.3 + (k % 2) / 5, k), swing(0.4, k)]);
const options = { reservoir: { size: 30, seed: 1 }, representation: "output", readout: { lambda: 1 } } as const;
const numbers = (matrices: readonly Matrix<Float64Array>[]) => matrices.map(({ data }) => [...data]);

const makers = [
  ["a classifier", () => Classifier.fit(sequences, labels, options)],
  ["a pipeline", () => new Pipeline({ reservoir: { size: 30, seed: 1 } }).fit(sequences, labels)],
] as const;

describe.each(makers)("%s", (_, make) => {
  it("gives calls that are made at once what it gives one after the other", async () => {
    await using model = await make();
    const alone: Matrix<Float64Array>[] = [];
    for (const cases of others) alone.push(await model.predictProba(cases));
    expect(numbers(await Promise.all(others.map((cases) => model.predictProba(cases))))).toEqual(numbers(alone));
    const one = await Promise.all([model.predict(others[0]!), model.score(sequences, labels), model.toBytes()]);
    expect(one[0]).toHaveLength(2);
    expect(one[1]).toBe(await model.score(sequences, labels));
  });

  it("goes on after a call that failed", async () => {
    await using model = await make();
    const [bad, good] = await Promise.allSettled([model.predict([[[1, 2]]]), model.predict(others[0]!)]);
    expect([bad.status, good.status]).toEqual(["rejected", "fulfilled"]);
  });

  it("predicts with the training that was asked for before", async () => {
    await using model = await make();
    const training = model.fit(sequences.slice(0, 4), [1, 2, 1, 2]);
    expect(await model.predict([sequences[0]!, sequences[1]!])).toEqual([1, 2]);
    await training;
  });

  it("refuses the calls that wait when it is disposed", async () => {
    const model = await make();
    const calls = Promise.allSettled(others.map((cases) => model.predict(cases)));
    await model.dispose();
    expect((await calls).slice(1).map((call) => call.status === "rejected" && call.reason)).toEqual(
      others.slice(1).map(() => expect.any(DisposedError)),
    );
  });
});

describe("a forecaster", () => {
  const series = mackeyGlass(900);
  const make = () => Forecaster.fit(series.subarray(0, 500), { reservoir: { size: 40, seed: 1 }, washout: 50 });

  it("moves on call by call, in the order of the calls", async () => {
    await using alone = await make();
    await using together = await make();
    const parts = [series.subarray(500, 600), series.subarray(600, 700), series.subarray(700, 800)];
    const expected: Matrix<Float64Array>[] = [];
    for (const part of parts) expected.push(await alone.predict(part), await alone.forecast(10));
    const given = await Promise.all(parts.flatMap((part) => [together.predict(part), together.forecast(10)]));
    expect(numbers(given)).toEqual(numbers(expected));
  });

  it.each([["theta"], ["direct"]] as const)("of the member %s answers no call once it is disposed, but is saved", async (name) => {
    const model = await Forecaster.fit(series.subarray(0, 300), { horizon: 5, members: [name] });
    await model.dispose();
    for (const call of [() => model.forecast(5), () => model.fit(series), () => model.warmUp(series), () => model.score(series)])
      await expect(call()).rejects.toThrow(DisposedError);
    await expect(model.toBytes()).resolves.toBeInstanceOf(Uint8Array);
  });

  it("is saved as it stands between calls", async () => {
    await using model = await make();
    const before = await model.toBytes();
    const [, during] = await Promise.all([model.forecast(2000), model.toBytes(), model.score(series)]);
    expect(during).toEqual(before);
  });
});
