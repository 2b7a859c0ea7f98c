// Forecaster and Classifier learn with any trainer: this package's by name or as objects, and the
// user's own.

import { describe, expect, it } from "vitest";
import {
  Classifier,
  Forecaster,
  leastMeanSquares,
  Matrix,
  ReservoirComputer,
  recursiveLeastSquares,
  ridge,
  softmaxRegression,
} from "../../src/index.js";
import { type SeriesLike, SoftmaxReadout, type Trainer } from "../../src/readout/index.js";
import { describedBy } from "../../src/reservoir/kinds.js";
import { registerCounted } from "../engine/counted.js";

const series = Matrix.from(Array.from({ length: 400 }, (_, t) => [Math.sin(t / 5), Math.cos(t / 7)]));
const reservoir = { size: 20, seed: 1 };

/** Answers with the mean of the targets, for every state. */
const meanTrainer: Trainer = {
  features: { state: "plain", input: false, squares: false },
  fit(states, targets, { washout = 0 } = {}) {
    const one = (list: SeriesLike) => (list instanceof Matrix ? list : (list as readonly Matrix[])[0]!);
    const [x, y] = [one(states), one(targets)];
    const rows = y.subarray(washout as number);
    const intercept = new Float64Array(y.cols);
    rows.data.forEach((value, i) => {
      intercept[i % y.cols]! += value / rows.rows;
    });
    return { features: this.features, stateSize: x.cols, inputSize: 0, weights: Matrix.zeros(y.cols, x.cols), intercept };
  },
};

describe("a forecaster's trainer", () => {
  it("learns row by row as the trainer does alone, to the bit", async () => {
    await using forecaster = await Forecaster.fit(series, {
      reservoir,
      readout: { type: "rls", alpha: 1e-3 },
      washout: 50,
      standardise: false,
    });
    await using computer = await ReservoirComputer.create(describedBy(forecaster.computer.model));
    const states = await computer.run(series.subarray(0, -1));
    const alone = recursiveLeastSquares({ alpha: 1e-3 }).fit(states, series.subarray(1), { washout: 50, inputs: series.subarray(0, -1) });
    expect(forecaster.readout.weights.data).toEqual(alone.weights.data);
    expect(forecaster.readout.training).toEqual(alone.training);
  });

  it.each([
    ["ridge", { lambda: 0.5 }, ridge({ lambda: 0.5 })],
    ["lms", { type: "lms", learningRate: 0.02 }, leastMeanSquares({ learningRate: 0.02 })],
  ] as const)("is the same by its description and as an object: %s", async (_, description, trainer) => {
    await using described = await Forecaster.fit(series, { reservoir, readout: description });
    await using given = await Forecaster.fit(series, { reservoir, readout: trainer });
    expect(await given.toBytes()).toEqual(await described.toBytes());
  });

  it("starts anew each time it is fitted", async () => {
    await using forecaster = await Forecaster.fit(series, { reservoir, readout: leastMeanSquares({ learningRate: 0.02 }) });
    const first = forecaster.readout.weights.data;
    await forecaster.fit(series);
    expect(forecaster.readout.weights.data).toEqual(first);
  });

  it("forecasts in closed loop with z-scores and a readout that learns row by row", async () => {
    const options = { reservoir: { ...reservoir, size: 100 }, readout: { type: "rls", alpha: 1e-3 } } as const;
    await using forecaster = await Forecaster.fit(series.subarray(0, 350), options);
    const next = await forecaster.forecast(10);
    for (let i = 0; i < next.data.length; i++) expect(next.data[i]).toBeCloseTo(series.subarray(350).data[i]!, 1);
  });

  it("may be an object of one's own, which a file does not hold", async () => {
    await using forecaster = await Forecaster.fit(series, { reservoir, readout: meanTrainer, standardise: false, washout: 0 });
    expect((await forecaster.forecast(1)).data[0]).toBeCloseTo(
      series
        .subarray(1)
        .column(0)
        .reduce((a, b) => a + b, 0) / 399,
      6,
    );
    expect(forecaster.settings.readout).toEqual({ type: "own" });
    await using loaded = await Forecaster.fromBytes(await forecaster.toBytes());
    expect((await loaded.forecast(3)).data).toEqual((await forecaster.forecast(3)).data);
    await expect(loaded.fit(series)).rejects.toThrow("the user's own trainer");
  });

  it("gives scores of classes with softmax, whose targets stay as they are", async () => {
    const targets = Matrix.from(Array.from({ length: 400 }, (_, t) => (series.row(t)[0]! > 0 ? [1, 0] : [0, 1])));
    await using forecaster = await Forecaster.fit({ inputs: series, targets }, { reservoir, readout: { type: "softmax" } });
    expect(forecaster.settings.standardise).toBe("inputs");
    expect(forecaster.readout).toBeInstanceOf(SoftmaxReadout);
    const scores = await forecaster.predict(series);
    const right = Array.from({ length: 400 }, (_, t) => scores.row(t)[0]! > scores.row(t)[1]! === series.row(t)[0]! > 0);
    expect(right.filter(Boolean).length).toBeGreaterThan(360);
    await using loaded = await Forecaster.fromBytes(await forecaster.toBytes());
    expect(loaded.readout).toBeInstanceOf(SoftmaxReadout);
    await expect(Forecaster.create({ reservoir, readout: { type: "softmax" }, standardise: true })).rejects.toThrow("standardise is true");
  });

  it.each([
    [{ type: "rlss" }, "readout.type", "did you mean rls"],
    [null, "readout", "an object of readout options, or a trainer"],
    [{ type: "rls", alpah: 1 }, "recursiveLeastSquares", "alpah"],
    [{ fit: () => undefined }, "features", "it takes an object"],
  ])("is refused before anything runs: %j", async (readout, name, takes) => {
    const error = Forecaster.create({ reservoir, readout: readout as never });
    await expect(error).rejects.toThrow(name);
    await expect(error).rejects.toThrow(takes);
  });

  it("gives the reservoir back if it diverges", async () => {
    const sessions = registerCounted();
    const readout = { type: "lms", learningRate: 1e6 } as const;
    await expect(Forecaster.fit(series, { reservoir, readout, engine: "counted" })).rejects.toThrow("leastMeanSquares diverged");
    expect(sessions.held).toBe(0);
  });
});

describe("a classifier's trainer", () => {
  const sequences = Array.from({ length: 24 }, (_, b) =>
    Matrix.from(Array.from({ length: 20 }, (_, t) => [Math.sin((t + b) / (b % 2 === 0 ? 2 : 4))])),
  );
  const labels = sequences.map((_, b) => (b % 2 === 0 ? "fast" : "slow"));

  it.each([
    ["rls by name", { type: "rls", alpha: 0.1 }],
    ["ridge as an object", ridge({ lambda: 0.1 })],
    ["softmax as an object", softmaxRegression({ l2: 0.1 })],
  ] as const)("may be %s", async (_, readout) => {
    await using classifier = await Classifier.fit(sequences, labels, { reservoir, readout });
    expect(await classifier.score(sequences, labels)).toBe(1);
    await using loaded = await Classifier.fromBytes(await classifier.toBytes());
    expect(await loaded.predictProba(sequences)).toEqual(await classifier.predictProba(sequences));
  });

  it("may be an object of one's own", async () => {
    await using classifier = await Classifier.fit(sequences, labels, { reservoir, readout: meanTrainer });
    const shares = await classifier.predictProba(sequences);
    expect(Array.from(shares.data)).toEqual(new Array(48).fill(0.5));
  });

  it("must see what can be scaled", async () => {
    const readout = ridge({ lambda: 1, transform: "squares" });
    await expect(Classifier.create({ reservoir, readout })).rejects.toThrow("set scaleFeatures to false");
    await using classifier = await Classifier.fit(sequences, labels, { reservoir, readout, scaleFeatures: false });
    expect(await classifier.score(sequences, labels)).toBe(1);
  });
});
