import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as onnx from "onnxruntime-web";
import { afterEach, describe, expect, it } from "vitest";
import "../../src/index.js";
import { readUea } from "../../packages/io/src/index.js";
import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { decodeClassifier } from "../../src/model/classifier/file.js";
import { decodeForecaster } from "../../src/model/forecaster/file.js";
import { Classifier, Forecaster, saveOnnx, toOnnx } from "../../src/model/index.js";
import { decodeModelFile } from "../../src/model/model-file.js";
import { classifierGraph } from "../../src/model/onnx/classifier.js";
import { forecasterGraph } from "../../src/model/onnx/forecaster.js";
import type { Graph } from "../../src/model/onnx/graph.js";
import { Pipeline } from "../../src/pipeline/index.js";
import { mackeyGlass } from "../../src/tasks/index.js";
import { itWithData } from "../data.js";

onnx.env.wasm.numThreads = 1;

const open: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.dispose();
});
const kept = <T extends { dispose(): Promise<void> }>(model: T): T => {
  open.push(model);
  return model;
};

const run = async (bytes: Uint8Array, feeds: Record<string, onnx.Tensor>) => {
  const session = await onnx.InferenceSession.create(bytes);
  const results = await session.run(feeds);
  await session.release();
  return results;
};
const matrixTensor = (matrix: Matrix) => new onnx.Tensor("float32", Float32Array.from(matrix.data), [matrix.rows, matrix.cols]);
const furthest = (a: ArrayLike<number>, b: ArrayLike<number>) => {
  expect(a.length).toBe(b.length);
  return Math.max(...Array.from(a, (value, i) => Math.abs(value - b[i]!)));
};

it("takes no model but a forecaster or a classifier, and says where a pipeline keeps its own", async () => {
  const pipeline = new Pipeline({ reservoir: { size: 5 } });
  await expect(toOnnx(pipeline as never)).rejects.toThrow(
    "ONNX takes a Forecaster or a Classifier, such as the `classifier` of a pipeline",
  );
});

/**
 * Cases of three classes: two channels that swing at a rate of the class, with noise; 12 to 19
 * rows.
 */
function cases(count: number, seed: number) {
  const draws = new RandomStream(seedKeys(seed).weights, 40);
  const labels = Array.from({ length: count }, (_, b) => ["slow", "middle", "quick"][b % 3]!);
  const sequences = labels.map((_, b) => {
    const out = Matrix.zeros(12 + (b % 8), 2);
    for (let t = 0; t < out.rows; t++) {
      for (let c = 0; c < 2; c++) out.data[2 * t + c] = 3 + 5 * Math.sin((0.3 + 0.25 * (b % 3)) * t + c) + draws.uniform(b, 2 * t + c);
    }
    return out;
  });
  return { sequences, labels };
}

describe("toOnnx of a classifier", () => {
  const train = cases(30, 1);
  const test = cases(12, 2);

  it.each([
    { representation: "last+mean", readout: { type: "ridge", lambda: 0.1 }, input: true },
    { representation: "mean", readout: { type: "softmax", l2: 0.1 }, washout: 3 },
    { representation: "last+mean", readout: { type: "softmax", l2: 0.1 }, layerNorm: true },
    { representation: "last", readout: { type: "ridge" }, members: 3, standardise: false, scaleFeatures: true },
    { representation: "last", readout: { type: "ridge", lambda: 1 }, members: 4, vote: "mean" },
  ] as const)("gives the same labels and shares: %j", async (settings) => {
    const reservoir = { size: 30, inputScaling: 0.3, bias: 0.2, seed: 3 };
    const classifier = kept(await Classifier.fit(train.sequences, train.labels, { reservoir, ...settings }));
    const bytes = await toOnnx(classifier);
    const labels = await classifier.predict(test.sequences);
    const shares = await classifier.predictProba(test.sequences);
    for (const [b, sequence] of test.sequences.entries()) {
      const { label, probabilities } = await run(bytes, { sequence: matrixTensor(sequence) });
      expect(label!.data[0]).toBe(labels[b]);
      expect(furthest(probabilities!.data as Float32Array, shares.row(b))).toBeLessThan(1e-5);
    }
  });

  it.each([
    {},
    { input: true, washout: 2, thresholds: 2 },
    { directions: "forward", layerNorm: true, scaleFeatures: false },
    { differences: false, thresholds: 0, readout: { type: "softmax", l2: 0.1 } },
    { members: 2, vote: "mean", readout: { lambda: 1 } },
  ] as const)("of statistics gives the same labels, and the same shares to a row that a level counts otherwise: %j", async (settings) => {
    const classifier = kept(await Classifier.fit(train.sequences, train.labels, { reservoir: { size: 30, seed: 3 }, ...settings }));
    const session = await onnx.InferenceSession.create(await toOnnx(classifier));
    const many = cases(60, 3).sequences;
    const labels = await classifier.predict(many);
    const shares = await classifier.predictProba(many);
    const apart: number[] = [];
    for (const [b, sequence] of many.entries()) {
      const { label, probabilities } = await session.run({ sequence: matrixTensor(sequence) });
      expect(label!.data[0]).toBe(labels[b]);
      apart.push(furthest(probabilities!.data as Float32Array, shares.row(b)));
    }
    await session.release();
    expect(apart.filter((each) => each > 1e-5).length).toBeLessThan(6);
    expect(Math.max(...apart)).toBeLessThan(0.02);
  });

  itWithData("gives the same label for every test case of Japanese Vowels", "JapaneseVowels", async (folder) => {
    const training = await readUea(`${folder}/uea/JapaneseVowels_TRAIN.ts`);
    const testing = await readUea(`${folder}/uea/JapaneseVowels_TEST.ts`);
    const reservoir = { size: 200, spectralRadius: 0.3, leakRate: 0.2, inputScaling: 0.1, bias: 0.8, seed: 0 };
    const settings = { reservoir, representation: "last+mean", input: true, readout: { lambda: 0.03 }, members: 3 } as const;
    const classifier = kept(await Classifier.fit(training.sequences, training.labels, settings));
    const session = await onnx.InferenceSession.create(await toOnnx(classifier));
    const labels: unknown[] = [];
    for (const sequence of testing.sequences) labels.push((await session.run({ sequence: matrixTensor(sequence) }))["label"]!.data[0]);
    await session.release();
    expect(labels).toHaveLength(370);
    expect(labels).toEqual(await classifier.predict(testing.sequences));
  });

  it("keeps numbers as labels", async () => {
    const numbers = train.labels.map((label) => ({ slow: 10, middle: 20, quick: 30 })[label]!);
    const classifier = kept(
      await Classifier.fit(train.sequences, numbers, { reservoir: { size: 20, inputScaling: 0.3 }, representation: "mean" }),
    );
    const { label } = await run(await toOnnx(classifier), { sequence: matrixTensor(test.sequences[0]!) });
    expect(Number(label!.data[0])).toBe((await classifier.predict(test.sequences.slice(0, 1)))[0]);
  });

  it("refuses what a graph cannot stand for", async () => {
    const output = kept(await Classifier.fit(train.sequences, train.labels, { reservoir: { size: 10 }, representation: "output" }));
    await expect(toOnnx(output)).rejects.toThrow('representation is "output", which trains a readout in every sequence');
    await expect(toOnnx(output)).rejects.toThrow('an ONNX graph takes a classifier of "statistics", "last", "mean" or "last+mean"');
    const reservoir = { size: 10, noiseLevel: 0.1 };
    const noisy = kept(await Classifier.fit(train.sequences, train.labels, { reservoir, representation: "mean" }));
    await expect(toOnnx(noisy)).rejects.toThrow("noiseLevel is 0.1; an ONNX graph has no noise");
  });
});

describe("toOnnx of a forecaster", () => {
  const series = mackeyGlass(1200, { tau: 17 });

  it.each([
    { leakRate: 0.3, activation: "tanh", readout: { lambda: 1e-4 } },
    { leakRate: 1, activation: "sigmoid", readout: { lambda: 1e-4, input: true, transform: "squares" } },
    { leakRate: 0.5, activation: "identity", readout: { lambda: 1e-4, transform: "squareHalf" }, spectralRadius: 0.5 },
  ] as const)("predicts the same for given inputs, and goes on where it ended: %j", async ({ readout, ...reservoir }) => {
    const forecaster = kept(
      await Forecaster.fit(series.subarray(0, 800), { reservoir: { size: 40, bias: 0.1, ...reservoir }, readout, washout: 50 }),
    );
    const inputs = series.subarray(800, 1000);
    const first = await run(await toOnnx(forecaster), { inputs: matrixTensor(inputs.subarray(0, 120)) });
    const second = await run(await toOnnx(forecaster, { stateful: true }), {
      inputs: matrixTensor(inputs.subarray(120)),
      state: first["endState"]!,
      lastInput: first["endLastInput"]!,
    });
    const expected = await forecaster.predict(inputs);
    expect(
      furthest([...(first["outputs"]!.data as Float32Array), ...(second["outputs"]!.data as Float32Array)], expected.data),
    ).toBeLessThan(2e-5);
  });

  it("runs the same closed loop", async () => {
    const forecaster = kept(
      await Forecaster.fit(series.subarray(0, 800), { reservoir: { size: 40, seed: 2 }, readout: { lambda: 1e-3 }, washout: 50 }),
    );
    const expected = await forecaster.forecast(20);
    const { outputs } = await run(await toOnnx(forecaster, { use: "forecast" }), {
      steps: new onnx.Tensor("int64", BigInt64Array.of(20n), []),
    });
    expect(outputs!.dims).toEqual([20, 1]);
    expect(furthest(outputs!.data as Float32Array, expected.data)).toBeLessThan(1e-4);
  });

  it("feeds its outputs back through the feedback weights", async () => {
    const inputs = Matrix.from(Array.from({ length: 400 }, (_, t) => [Math.sin(t / 9)]));
    const targets = Matrix.from(Array.from({ length: 400 }, (_, t) => [Math.sin(t / 9 + 0.4) ** 3]));
    const forecaster = kept(
      await Forecaster.fit(
        { inputs, targets },
        { reservoir: { size: 40, feedback: { scaling: 0.3 }, seed: 2 }, readout: { lambda: 1e-2 }, washout: 50 },
      ),
    );
    const bytes = await toOnnx(forecaster);
    const { outputs } = await run(bytes, { inputs: matrixTensor(inputs.subarray(0, 30)) });
    const expected = await forecaster.predict(inputs.subarray(0, 30));
    expect(furthest(outputs!.data as Float32Array, expected.data)).toBeLessThan(1e-4);
  });
});

it("holds no constant that no node takes", async () => {
  const { sequences, labels } = cases(12, 1);
  const taken = ({ nodes }: Graph): string[] =>
    nodes.flatMap(({ inputs, attributes }) => [
      ...inputs,
      ...Object.values(attributes).flatMap((attribute) => ("graph" in attribute ? taken(attribute.graph) : [])),
    ]);
  const graphs: Graph[] = [];
  for (const options of [{}, { representation: "last" }, { representation: "mean", layerNorm: true }] as const) {
    const classifier = kept(await Classifier.fit(sequences, labels, { reservoir: { size: 8 }, ...options }));
    const file = await decodeModelFile(await classifier.toBytes(), "classifier", "classifier");
    graphs.push(classifierGraph(await decodeClassifier(file, "classifier")));
  }
  for (const use of ["predict", "forecast"] as const) {
    const forecaster = kept(await Forecaster.fit(mackeyGlass(200), { reservoir: { size: 8 } }));
    const file = await decodeModelFile(await forecaster.toBytes(), "forecaster", "forecaster");
    for (const stateful of [false, true]) graphs.push(forecasterGraph(await decodeForecaster(file, "forecaster"), use, stateful));
  }
  for (const graph of graphs) {
    const names = new Set(taken(graph));
    expect(graph.constants.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([]);
  }
});

it("goes to a file by path and model, in the order in which a reservoir is saved", async () => {
  const folder = await mkdtemp(join(tmpdir(), "spillway-onnx-"));
  try {
    const forecaster = kept(await Forecaster.fit(mackeyGlass(200), { reservoir: { size: 10 }, washout: 20 }));
    await saveOnnx(join(folder, "model.onnx"), forecaster);
    expect(new Uint8Array(await readFile(join(folder, "model.onnx")))).toEqual(new Uint8Array(await toOnnx(forecaster)));
  } finally {
    await rm(folder, { recursive: true });
  }
});
