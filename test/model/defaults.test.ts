// What models do where nothing but a size and data is given, and that models saved under other
// defaults keep theirs.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Classifier, Forecaster, Matrix, nrmse, ReservoirComputer } from "../../src/index.js";
import { mackeyGlass } from "../../src/tasks/index.js";
import { casesOf } from "../exhaustive.js";

const seeds = casesOf([0, 1, 2, 3, 4], (seed) => seed < 2);

describe("a forecaster with nothing set but its size", () => {
  it.each([
    ["a series near 1", 0, 1],
    ["the same in other units", 4e4, 5e3],
  ])("stays near Mackey-Glass over 84 steps, for every seed and series: %s", async (_, offset, unit) => {
    for (const seed of seeds) {
      const values = mackeyGlass(2500, { seed: `fresh ${seed}`, discard: 500 }).data.map((value) => offset + unit * value);
      const series = new Matrix(values.length, 1, values);
      await using forecaster = await Forecaster.fit(series.subarray(0, 2000), { reservoir: { size: 200, seed } });
      expect(nrmse(series.subarray(2000, 2084), await forecaster.forecast(84)), `seed ${seed}`).toBeLessThan(0.1);
    }
  });

  it.each([
    ["inputs", null, { inputScaling: 0.2 }],
    ["feedback", {}, { feedback: { size: 1, scaling: 0.2, density: 1, distribution: "uniform" } }],
  ] as const)("has a bias, small weights for %s, radius 1, z-scores and a lambda of 1e-3", async (_, feedback, small) => {
    await using forecaster = await Forecaster.fit(mackeyGlass(300), { reservoir: { size: 10, feedback } });
    expect(forecaster.computer.config).toMatchObject({ bias: 0.5, spectralRadius: 1, leakRate: 0.3, ...small });
    expect(forecaster.settings).toMatchObject({ standardise: true, readout: { lambda: 1e-3 } });
  });

  it("takes what is given, and a description beside own matrices, as they are", async () => {
    const reservoir = { size: 10, bias: 0, inputScaling: 1, spectralRadius: null };
    await using forecaster = await Forecaster.fit(mackeyGlass(300), { reservoir });
    expect(forecaster.computer.config).toMatchObject(reservoir);
    const weights = Matrix.zeros(10, 10);
    await using own = await Forecaster.fit(mackeyGlass(300), { reservoir: { size: 10 }, matrices: { weights } });
    expect(own.computer.config).toMatchObject({ bias: 0, inputScaling: 1 });
  });

  it("leaves spike counts as they are, and refuses to standardise them", async () => {
    const reservoir = { kind: "spiking", size: 10 } as const;
    expect((await Forecaster.create({ reservoir })).settings.standardise).toBe(false);
    await expect(Forecaster.create({ reservoir, standardise: true })).rejects.toThrow("false if a reservoir takes spikes");
  });
});

describe("a classifier with nothing set but its size", () => {
  const swing = (rate: number, phase: number) => Array.from({ length: 60 }, (_, t) => [Math.sin(rate * t + phase)]);
  const drowned = (amplitude: number, k: number) =>
    Array.from({ length: 40 }, (_, t) => [Math.sin(0.7 * t + k), Math.cos(0.31 * t + k * k), amplitude * Math.sin(1.1 * t + k)]);
  const phases = Array.from({ length: 30 }, (_, k) => k);

  it.each([
    ["sines of two rates around zero", phases.flatMap((k) => [swing(0.3, 0.7 * k), swing(0.5, 0.7 * k)]), ["slow", "quick"]],
    ["amplitudes of one channel of three", phases.flatMap((k) => [drowned(0, k), drowned(0.05, k), drowned(0.1, k)]), ["a", "b", "c"]],
  ])("fits every case of a separable training set, for every seed: %s", async (_, sequences, names) => {
    const labels = sequences.map((__, b) => names[b % names.length]!);
    for (const seed of seeds) {
      await using classifier = await Classifier.fit(sequences, labels, { reservoir: { size: 100, seed } });
      expect(await classifier.score(sequences, labels), `seed ${seed}`).toBe(1);
    }
  });

  const two = [
    [1, 2],
    [2, 1],
  ];
  const recipe = { bias: 0.5, spectralRadius: 0.9, inputScaling: 1, leakRate: { from: 0.05, to: 1 } };

  it.each([
    [undefined, { size: 100, ...recipe, topology: { type: "fixedInDegree", degree: 10 } }],
    [{ size: 5 }, { size: 5, ...recipe, topology: { type: "fixedInDegree", degree: 4 } }],
    [
      { size: 5, connectionProbability: 0.5 },
      { ...recipe, topology: { type: "erdosRenyi" } },
    ],
    [
      { size: 5, bias: 0, spectralRadius: 0.5, leakRate: 0.3, topology: "ring" },
      { bias: 0, spectralRadius: 0.5, leakRate: 0.3, topology: { type: "ring" } },
    ],
  ] as const)("has two reservoirs with a spread of leak rates, and takes what is given as it is: %j", async (reservoir, config) => {
    await using classifier = await Classifier.fit(two, [0, 1], { reservoir });
    expect(classifier.computers).toHaveLength(2);
    for (const computer of classifier.computers) expect(computer.config).toMatchObject(config);
    expect(classifier.settings).toMatchObject({ representation: "statistics", scaleFeatures: true, thresholds: 3 });
  });

  it("has a bias and nothing else of its own for another representation", async () => {
    await using classifier = await Classifier.fit(two, [0, 1], { representation: "mean" });
    expect(classifier.computers[0]!.config).toMatchObject({ size: 100, bias: 0.5, spectralRadius: 0.95, leakRate: 0.3 });
  });

  it.each([
    ["a liquid", { reservoir: { kind: "spiking", size: 10 } }],
    ["a readout that learns row by row", { readout: { type: "rls" } }],
  ] as const)("takes last and mean states of %s", async (_, options) => {
    expect((await Classifier.create(options)).settings.representation).toBe("last+mean");
  });

  it("refuses differences of spike counts", async () => {
    const reservoir = { kind: "spiking", size: 10 } as const;
    const created = Classifier.create({ reservoir, representation: "statistics", differences: true });
    await expect(created).rejects.toThrow("differences is true; it takes false if a reservoir takes spikes");
    expect((await Classifier.create({ reservoir, representation: "statistics" })).settings.differences).toBe(false);
  });
});

it("a reservoir by itself keeps the plain defaults of a description", async () => {
  await using computer = await ReservoirComputer.create({ size: 5 });
  expect(computer.config).toMatchObject({ bias: 0, spectralRadius: 0.95, inputScaling: 1 });
});

describe("a model file keeps the settings that it was saved with", () => {
  const bytes = (name: string) => new Uint8Array(readFileSync(new URL(`fixtures/${name}.safetensors`, import.meta.url)));

  it("a forecaster without z-scores, bias and lambda", async () => {
    await using forecaster = await Forecaster.fromBytes(bytes("forecaster-plain"));
    expect(forecaster.settings).toEqual({ washout: 20, standardise: false, readout: {}, hold: false, lags: 0 });
    expect(forecaster.computer.config).toMatchObject({ bias: 0, inputScaling: 1, spectralRadius: 0.95 });
    expect(Array.from((await forecaster.forecast(4)).data)).toEqual([
      0.7217087745666504, 0.8436493873596191, 0.9706085324287415, 1.091705083847046,
    ]);
    await forecaster.fit(mackeyGlass(120));
    expect(forecaster.readout.training!.details["lambda"]).toBe(1e-6);
  });

  it("a classifier without scaled features and bias", async () => {
    const wave = (rate: number) => Array.from({ length: 12 }, (_, t) => [Math.sin(rate * t + 0.5)]);
    await using classifier = await Classifier.fromBytes(bytes("classifier-plain"));
    expect(classifier.settings.scaleFeatures).toBe(false);
    expect(classifier.computers[0]!.config).toMatchObject({ bias: 0 });
    expect((await classifier.predictProba([wave(0.3), wave(0.9)])).toArrays()).toEqual([
      [0.5000047336468938, 0.49999526635310615],
      [0.5000007394377594, 0.49999926056224064],
    ]);
  });
});
