// An engine of one's own with nothing but the five members that each must have, registered as a user's
// package would: everything runs on it, and gives the bits of the other engines.
import { beforeAll, describe, expect, it } from "vitest";
import "../../src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { Classifier, Forecaster, sweepReadouts } from "../../src/model/index.js";
import { ridge } from "../../src/readout/index.js";
import {
  ReservoirComputer,
  ReservoirEnsemble,
  type ReservoirOptions,
  registerActivation,
  registerEngine,
} from "../../src/reservoir/index.js";
import { bits, engineContract } from "./contract.js";
import { minimalEngine } from "./minimal.js";

engineContract("an engine of five members", minimalEngine, {}, 5);

const series = Float64Array.from({ length: 300 }, (_, t) => Math.sin(t / 5) + 0.3 * Math.sin(t / 2.3));
const reservoir = { size: 30, seed: 3 };

/** What both engines give. */
async function both<T>(work: (engine: string) => Promise<T>): Promise<[T, T]> {
  return [await work("minimal"), await work("reference")];
}

describe("an engine without costs or a device", () => {
  beforeAll(() => {
    registerEngine("minimal", async () => minimalEngine, { automatic: false });
    const name = "cubeForEngines";
    registerActivation({
      name,
      description: "z^3 of a bounded z.",
      options: {},
      bounded: true,
      f: (z) => Math.min(1, Math.max(-1, z * z * z)),
    });
  });

  it("has five members", () => {
    expect(Object.keys(minimalEngine).toSorted()).toEqual(["name", "open", "plan", "probe", "supports"]);
  });

  it("trains with the washout left out, chunk by chunk, and reports steps", async () => {
    const inputs = Matrix.from(series);
    const targets = Matrix.from(series.map((y) => y / 2));
    const [mine, theirs] = await both(async (engine) => {
      await using computer = await ReservoirComputer.create({ size: 700, seed: 1, connectionProbability: 0.01 }, { engine });
      const trainer = ridge({ lambda: 1e-6 });
      const sink = trainer.accumulator({ stateSize: 700, inputSize: 1, outputSize: 1 });
      const reported: number[] = [];
      await computer.train(inputs, targets, sink, { washout: 50, onProgress: (done) => reported.push(done) });
      expect([reported.at(-1), reported.every((done, i) => done >= (reported[i - 1] ?? 0))]).toEqual([300, true]);
      return trainer.solve(sink).weights.data;
    });
    expect(bits(mine)).toEqual(bits(theirs));
  });

  it("runs an ensemble member by member", async () => {
    const [mine, theirs] = await both(async (engine) => {
      await using ensemble = await ReservoirEnsemble.create(
        [1, 2].map((seed) => ({ size: 20, seed })),
        { engine },
      );
      return await ensemble.run(series);
    });
    expect(mine.map(({ data }) => bits(data))).toEqual(theirs.map(({ data }) => bits(data)));
  });

  it("runs a sweep member by member", async () => {
    const data = Matrix.from(series);
    const rows = { inputs: data.subarray(0, 299), targets: data.subarray(1), washout: 20, validation: 50 };
    const settings = [{ leakRate: 0.3 }, { leakRate: 0.9, lambda: 1e-4 }];
    const [mine, theirs] = await both((engine) => sweepReadouts({ ...rows, reservoir, seeds: [1, 2], settings, engine }));
    expect(mine.engine.name).toBe("minimal");
    expect(bits(mine.scores.data)).toEqual(bits(theirs.scores.data));
    expect(mine.best.readout).toEqual(theirs.best.readout);
  });

  it("forecasts", async () => {
    const [mine, theirs] = await both(async (engine) => {
      await using forecaster = await Forecaster.fit(series, { reservoir, washout: 20, engine });
      return (await forecaster.forecast(40)).data;
    });
    expect(mine).toEqual(theirs);
  });

  it("classifies by states on the host", async () => {
    const sequences = [3, 4, 5, 6].map((period) => series.slice(0, 40).map((y, t) => y + Math.sin(t / period)));
    const [mine, theirs] = await both(async (engine) => {
      await using classifier = await Classifier.fit(sequences, ["a", "a", "b", "b"], { reservoir, engine });
      return await classifier.predict(sequences);
    });
    expect(mine).toEqual(theirs);
  });

  it.each([
    ["activation", { activation: "cubeForEngines" }, /activation is "cubeForEngines"; it takes one of .* on the engine "minimal"/],
    ["cell", { cell: { type: "euler", step: 0.1, damping: 0.1 } }, /cell is "euler"; it takes nothing on the engine "minimal"/],
    ["arithmetic", { arithmetic: "integer" }, /arithmetic is "integer"; it takes .* on the engine "minimal"/],
    ["kind", { kind: "oscillator" }, /kind is "oscillator"; the engine "minimal" runs no registered kinds/],
  ])("refuses what it does not support: %s", async (field, options, message) => {
    const described = { size: 8, ...options } as ReservoirOptions;
    const refused = ReservoirComputer.create(described, { engine: "minimal" });
    await expect(refused).rejects.toMatchObject({ name: "ArgumentError", field });
    await expect(refused).rejects.toThrow(message);
    await using computer = await ReservoirComputer.create(described, { engine: "reference" });
    expect(computer.engine.name).toBe("reference");
  });

  it("refuses plans, of which it has one", async () => {
    await expect(ReservoirComputer.create(reservoir, { engine: "minimal", plan: "streamed" })).rejects.toThrow(
      'plan is "streamed"; the engine "minimal" has only one way to run',
    );
  });
});
