// Model files of every kind, opened and run for a step. Mutants of tensors and notes carry a right
// checksum.

import { SpillwayError } from "../../../packages/core/src/errors.js";
import { FileError, type NumberArray, type SafetensorsTensor } from "../../../packages/io/src/index.js";
import type { Matrix } from "../../../packages/numerics/src/index.js";
import {
  AnomalyDetector,
  type AnyReservoirOptions,
  Classifier,
  FieldForecaster,
  Forecaster,
  NonFiniteStateError,
  NvarForecaster,
  ReservoirComputer,
} from "../../../src/index.js";
import { memberNames } from "../../../src/model/forecaster/options.js";
import { Conceptor, encodeReservoir } from "../../../src/model/index.js";
import { decodeModelFile, encodeModelFile } from "../../../src/model/model-file.js";
import { decodeReservoir } from "../../../src/model/reservoir-file.js";
import { Pipeline } from "../../../src/pipeline/index.js";
import { ridge } from "../../../src/readout/index.js";
import { LiquidStateMachine, SpikePattern } from "../../../src/spikes/index.js";
import type { FuzzFormat } from "../format.js";
import { mutate, mutateJson } from "../mutate.js";
import type { Random } from "../random.js";

const series = Array.from({ length: 60 }, (_, t) => Math.sin(t / 3));
const cases = Array.from({ length: 8 }, (_, k) => series.slice(k, k + 6 + (k % 3)).map((x) => (k % 2 === 0 ? x : -x)));
const labels = cases.map((_, k) => (k % 2 === 0 ? "a" : "b"));
const cpu = { engine: "reference" } as const;
const dense = { connectionProbability: 0.8 } as const;
const days = series.map((_, t) => new Date(Date.UTC(2024, 0, 1 + t)).toISOString().slice(0, 10));
const known = series.map((_, t) => [t % 5]);
const ring = series.map((x, t) => [x, Math.cos(t / 3), -x, -Math.cos(t / 3)]);

/** Reservoirs of every kind. */
const reservoirs: readonly AnyReservoirOptions[] = [
  { size: 12, connectionProbability: 0.2, storage: "sparse", inputSize: 2, seed: 3 },
  { size: 5, ...dense, feedback: { scaling: 0.1 }, noiseLevel: 0.01, precision: "float32" },
  { size: 5, ...dense, cell: { type: "es2n", proximity: 0.25 } },
  { layers: [{ size: 4, leakRate: 0.9 }, { size: 3 }], ...dense, noiseLevel: 0.1 },
  { groups: [{ size: 3 }, { size: 4 }], ...dense },
  { size: 6, connectionProbability: 0.6, arithmetic: "integer", bias: 0.3 },
  { size: 6, ...dense, arithmetic: "integer", weightPrecision: "int8", feedback: { size: 1 } },
  { kind: "oscillator", size: 6, noise: 0.01, order: true },
  { kind: "oscillator", size: 6, connectionProbability: 0.4, input: "field", precision: "float64" },
  { kind: "stateAffine", size: 4, functions: ["u", "u^2"] },
  { kind: "stateAffine", quantum: { qubits: 2, virtualNodes: 2 } },
];

export async function corpus(): Promise<Uint8Array[]> {
  const files: Uint8Array[] = [];
  for (const options of reservoirs) {
    await using computer = await ReservoirComputer.create(options, cpu);
    files.push(await encodeReservoir(computer));
  }
  const computer = await ReservoirComputer.create({ size: 5, ...dense }, cpu);
  const states = await computer.run(series);
  files.push(await encodeReservoir(computer, ridge().fit(states, states)));
  const liquid = await LiquidStateMachine.create({ size: 8, inputSize: 2, seed: 1 }, cpu);
  const driven = await LiquidStateMachine.create({ size: 8, inputSize: 1, input: { mode: "current" }, seed: 1 }, cpu);
  files.push(await encodeReservoir(liquid.computer), await encodeReservoir(driven.computer));
  const one = { reservoir: { size: 6, ...dense }, washout: 5, ...cpu } as const;
  const timed = { series, known, times: days };
  const forecasters = [
    await Forecaster.fit(series, { ...one, standardise: true }),
    await Forecaster.fit(timed, {
      ...one,
      members: 2,
      horizon: 3,
      calendar: ["weekday"],
      transforms: [{ difference: 1 }],
      missing: "mask",
    }),
    await Forecaster.fit(series, { ...one, members: 2, horizon: 3, lags: 2, choose: { keep: 2, lambdas: [1e-6, 1e-2] } }),
    await Forecaster.fit(series, { reservoir: one.reservoir, ...cpu, horizon: 2, season: 4, members: memberNames }),
    await NvarForecaster.fit(timed, { delays: 2, horizon: 3, calendar: ["weekday"] }),
    await NvarForecaster.fit(series, { delays: 2, degrees: [2, 3], arithmetic: "doubleDouble" }),
    await FieldForecaster.fit(
      { series: ring, known },
      { reservoir: { size: 6, ...dense }, groups: 2, halo: 1, washout: 5, members: 2, ...cpu },
    ),
    await FieldForecaster.fit(ring, {
      reservoir: { size: 6, ...dense },
      groups: 2,
      halo: 1,
      washout: 5,
      shared: true,
      transforms: [{ difference: 1 }],
      ...cpu,
    }),
  ];
  for (const forecaster of forecasters) files.push(await forecaster.toBytes());
  const classifier = await Classifier.fit(cases, labels, { reservoir: { size: 5, ...dense }, members: 2, ...cpu });
  const softmax = await Classifier.fit(cases, labels, { reservoir: { size: 4, ...dense }, readout: { type: "softmax" }, ...cpu });
  const pipelines = [
    await new Pipeline({ reservoir: { size: 4, ...dense } }, cpu).fit(cases, labels),
    await new Pipeline(
      { reservoir: { kind: "spiking", size: 8 }, encoder: { type: "spikes", encoder: "rate", frameMs: 5, binMs: 5, seed: 1 } },
      cpu,
    ).fit(cases, labels),
  ];
  files.push(await classifier.toBytes(), await softmax.toBytes());
  for (const options of [{ columns: 2 }, { columns: 1, size: 5, missing: "alarm" }] as const) {
    const detector = await AnomalyDetector.create({ ...options, patterns: 20 });
    for (const x of series) detector.update([x, -x].slice(0, options.columns));
    files.push(await detector.toBytes());
  }
  for (const pipeline of pipelines) files.push(await pipeline.toBytes());
  return files;
}

/** Uses a model that was opened. What its calls need and a file cannot say may be refused. */
async function use(call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof SpillwayError)) throw error;
  }
}

/** Opens a model as loadModel does, and runs it a little. */
async function read(input: Uint8Array): Promise<void> {
  const { kind } = await decodeModelFile(input, "a.model");
  const options = { ...cpu, source: "a.model" };
  const none = (columns: number) => Array.from({ length: 2 }, () => Array.from({ length: columns }, () => 0));
  if (kind === "detector") {
    const detector = await AnomalyDetector.fromBytes(input, { source: "a.model" });
    await use(async () => detector.update(new Array<number>(detector.settings.columns.length).fill(0)));
  } else if (kind === "forecaster" || kind === "field" || kind === "nvar") {
    const kinds = { forecaster: Forecaster, field: FieldForecaster, nvar: NvarForecaster };
    await using model = await kinds[kind].fromBytes(input, options);
    await use(() => model.forecast(2, { known: model.known > 0 && model.known < 100 ? none(model.known) : undefined }));
  } else if (kind === "classifier" || kind === "pipeline") {
    const kinds = { classifier: Classifier, pipeline: Pipeline };
    await using model = await kinds[kind].fromBytes(input, options);
    await use(() => model.predict(cases.slice(0, 2)));
  } else {
    const { computer, readout } = await decodeReservoir(input, options);
    await use(async () => {
      const { inputSize, kind: of } = computer.model;
      const states =
        of === "spiking"
          ? await computer.run(new SpikePattern({ times: [1], neurons: [0] }, { durationMs: 3, neuronCount: inputSize }) as never)
          : await computer.run(none(inputSize));
      readout?.predict(states as Matrix, none(inputSize));
      if (states.cols < 100) Conceptor.fromStates(states as Matrix);
    });
    await computer.dispose();
  }
}

interface Content {
  readonly tensors: Record<string, SafetensorsTensor>;
  readonly metadata: Record<string, string>;
}

/** A file with the right checksum whose notes and tensors were changed. */
export async function changed(input: Uint8Array, random: Random, corpus: readonly Uint8Array[]): Promise<Uint8Array> {
  const { kind, tensors, metadata } = await decodeModelFile(input, "input");
  const content: Content = { tensors: { ...tensors }, metadata: { ...metadata } };
  await changeContent(content, random, () => decodeModelFile(random.pick(corpus), "other"));
  return encodeModelFile(
    random.chance(0.05) ? random.pick(["reservoir", "forecaster", "nvar", "field", "classifier", "pipeline", "detector"]) : kind,
    content,
  );
}

/** One to a few changes of tensors and notes; `another` gives those of another file. */
export async function changeContent(content: Content, random: Random, another: () => Content | Promise<Content>): Promise<void> {
  for (let count = random.size(3); count > 0; count--) {
    const change = random.pick([changeNote, changeNote, changeValues, changeValues, changeLength, remove, takeFrom]);
    if (change === takeFrom) takeFrom(content, random, await another());
    else (change as (content: Content, random: Random) => void)(content, random);
  }
}

function changeNote({ metadata }: Content, random: Random): void {
  const names = Object.keys(metadata).filter((name) => /^[[{]/.test(metadata[name]!));
  if (names.length === 0) return;
  const name = random.pick(names);
  metadata[name] = JSON.stringify(mutateJson(JSON.parse(metadata[name]!), random)) ?? "";
}

function changeValues({ tensors }: Content, random: Random): void {
  const tensor = tensors[random.pick(Object.keys(tensors))];
  if (!tensor || tensor.data.byteLength === 0) return;
  const bytes = new Uint8Array(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength);
  bytes.set(mutate(bytes, random, [bytes]).subarray(0, bytes.length));
}

function changeLength({ tensors }: Content, random: Random): void {
  const name = random.pick(Object.keys(tensors));
  const tensor = tensors[name];
  if (!tensor) return;
  const { data, shape } = tensor;
  const rows = Math.max(0, (shape[0] ?? 1) + random.pick([-1, 1, 5, -(shape[0] ?? 1)]));
  const length = shape.slice(1).reduce((product, size) => product * size, rows);
  const bytes = new Uint8Array(length * data.BYTES_PER_ELEMENT);
  bytes.set(new Uint8Array(data.buffer, data.byteOffset, Math.min(data.byteLength, bytes.length)));
  const Type = data.constructor as new (buffer: ArrayBuffer) => NumberArray;
  tensors[name] = { ...tensor, shape: [rows, ...shape.slice(1)], data: new Type(bytes.buffer) };
}

function remove({ tensors, metadata }: Content, random: Random): void {
  const from = random.pick([tensors, metadata]);
  delete from[random.pick(Object.keys(from))];
}

function takeFrom({ tensors, metadata }: Content, random: Random, other: Content): void {
  if (random.chance(0.5)) Object.assign(tensors, other.tensors);
  if (random.chance(0.5)) Object.assign(metadata, other.metadata);
}

export default { corpus, read, errors: [FileError, NonFiniteStateError], mutate: changed } satisfies FuzzFormat;
