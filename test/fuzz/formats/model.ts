// Model files of every kind, opened and run for a step. Mutants of tensors and notes carry a right
// checksum.

import { Classifier, Forecaster, NonFiniteStateError, ReservoirComputer } from "../../../src/index.js";
import { FileError, type NumberArray, type SafetensorsTensor } from "../../../src/io/index.js";
import { encodeReservoir } from "../../../src/model/index.js";
import { decodeModelFile, encodeModelFile } from "../../../src/model/model-file.js";
import { decodeReservoir } from "../../../src/model/reservoir-file.js";
import { Pipeline } from "../../../src/pipeline/index.js";
import { LiquidStateMachine } from "../../../src/spikes/index.js";
import type { FuzzFormat } from "../format.js";
import { mutate, mutateJson } from "../mutate.js";
import type { Random } from "../random.js";

const series = Array.from({ length: 60 }, (_, t) => Math.sin(t / 3));
const cases = Array.from({ length: 8 }, (_, k) => series.slice(k, k + 6 + (k % 3)).map((x) => (k % 2 === 0 ? x : -x)));
const labels = cases.map((_, k) => (k % 2 === 0 ? "a" : "b"));
const cpu = { engine: "reference" } as const;

export async function corpus(): Promise<Uint8Array[]> {
  const sparse = await ReservoirComputer.create({ size: 12, connectionProbability: 0.2, storage: "sparse", inputSize: 2, seed: 3 }, cpu);
  const feedback = await ReservoirComputer.create(
    { size: 5, connectionProbability: 0.8, feedback: { scaling: 0.1 }, noiseLevel: 0.01, precision: "float32" },
    cpu,
  );
  const liquid = await LiquidStateMachine.create({ size: 8, inputSize: 2, seed: 1 }, cpu);
  const forecaster = await Forecaster.fit(series, {
    reservoir: { size: 6, connectionProbability: 0.8 },
    washout: 5,
    standardise: true,
    ...cpu,
  });
  const classifier = await Classifier.fit(cases, labels, { reservoir: { size: 5, connectionProbability: 0.8 }, members: 2, ...cpu });
  const softmax = await Classifier.fit(cases, labels, {
    reservoir: { size: 4, connectionProbability: 0.8 },
    readout: { type: "softmax" },
    ...cpu,
  });
  const pipeline = await new Pipeline({ reservoir: { size: 4, connectionProbability: 0.8 } }, cpu).fit(cases, labels);
  return [
    await encodeReservoir(sparse),
    await encodeReservoir(feedback),
    await encodeReservoir(liquid.computer),
    await forecaster.toBytes(),
    await classifier.toBytes(),
    await softmax.toBytes(),
    await pipeline.toBytes(),
  ];
}

/** Opens a model as loadModel does, and runs it a little. */
async function read(input: Uint8Array): Promise<void> {
  const { kind } = await decodeModelFile(input, "a.model");
  const options = { ...cpu, source: "a.model" };
  if (kind === "forecaster") {
    const model = await Forecaster.fromBytes(input, options);
    if (model.computer.model.size < 1000) await model.forecast(2);
    await model.dispose();
  } else if (kind === "classifier") {
    const model = await Classifier.fromBytes(input, options);
    await model.dispose();
  } else if (kind === "pipeline") {
    const model = await Pipeline.fromBytes(input, options);
    await model.dispose();
  } else {
    const { computer } = await decodeReservoir(input, options);
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
  return encodeModelFile(random.chance(0.05) ? random.pick(["reservoir", "forecaster", "classifier", "pipeline"]) : kind, content);
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
