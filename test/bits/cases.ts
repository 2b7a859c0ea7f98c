// The golden cases, run with what a program of this package imports: in Node, in a browser,
// anywhere. Every sum is one that a C program gave (test/golden).

import { isSparse } from "../../packages/numerics/src/index.js";
import { type Matrix, ReservoirComputer, ridge } from "../../src/index.js";
import type { ReservoirModel, SpikingModel, SynapseTable } from "../../src/reservoir/index.js";
import type { GoldenCase } from "../golden/golden.js";
import goldenFile from "../golden/golden.json" with { type: "json" };
import { goldenSeries, goldenTargets, spikingInputs, spikingRuns } from "../golden/series.js";
import spikingFile from "../golden/spiking.json" with { type: "json" };

/** A sum of what was computed here. */
export interface Sum {
  readonly name: string;
  readonly what: string;
  readonly here: string;
  /** The C program's. */
  readonly golden: string;
}

async function sha256(arrays: readonly ArrayBufferView[]): Promise<string> {
  const bytes = new Uint8Array(arrays.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const { buffer, byteOffset, byteLength } of arrays) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += byteLength;
  }
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const weightsOf = ({ weights, inputWeights, bias, feedbackWeights, initialState }: ReservoirModel) => [
  isSparse(weights) ? weights.values : weights.data,
  inputWeights.data,
  bias,
  ...(feedbackWeights ? [feedbackWeights.data] : []),
  initialState,
];

async function* ofRate(golden: GoldenCase, engine: string): AsyncGenerator<readonly [string, readonly ArrayBufferView[]]> {
  const { config, sequences, steps, training } = golden;
  const computer = (await ReservoirComputer.create(config, { engine, threads: 1 })) as ReservoirComputer<ReservoirModel>;
  const { inputSize, outputSize, precision } = computer.model;
  const inputs = Array.from({ length: sequences }, (_, k) => goldenSeries(k + 1, steps, inputSize, precision));
  const teachers = outputSize > 0 ? inputs.map((one) => goldenTargets(one, outputSize, precision)) : undefined;
  yield ["weights", weightsOf(computer.model)];
  const states: Matrix[] = await computer.batch(inputs, { teachers });
  yield ["states", states.map(({ data }) => data)];
  if (training) {
    const { outputs, washout, solver, lambda, transform, input, generate } = training;
    const targets = inputs.map((one) => goldenTargets(one, outputs, "float64"));
    const readout = ridge({ solver, lambda, transform, input }).fit(states, targets, { washout, inputs });
    yield ["readout", [readout.weights.data, readout.intercept]];
    await computer.run(inputs[0]!, { teacher: teachers?.[0] });
    const outside = outputSize > 0 ? inputSize : inputSize - readout.outputSize;
    const ahead = outside > 0 ? { inputs: goldenSeries(100, generate, outside, precision) } : {};
    yield ["prediction", [(await computer.generate(generate, readout, ahead)).data]];
  }
  await computer.dispose();
}

const columns = ({ offsets, targets, weights, delays }: SynapseTable) => [offsets, targets, weights, delays];

async function* ofSpikes(
  { config, steps }: (typeof spikingRuns)[number],
  engine: string,
): AsyncGenerator<readonly [string, readonly ArrayBufferView[]]> {
  const computer = (await ReservoirComputer.create(config, { engine, threads: 1 })) as ReservoirComputer<SpikingModel>;
  const { synapses, inputSynapses, inputWeights } = computer.model;
  yield ["synapses", [...columns(synapses), ...(inputSynapses ? columns(inputSynapses) : [inputWeights!.data])]];
  yield ["states", [(await computer.run(spikingInputs(computer.model, steps))).data]];
  yield ["potentials", [computer.state.network!.potential]];
  await computer.dispose();
}

/** Every sum on an engine, in a fixed order; of an engine that has integers alone, theirs. */
export async function* sums(engine = "cpu"): AsyncGenerator<Sum> {
  const integersAlone = engine === "webgpu";
  for (const golden of goldenFile.cases as unknown as readonly GoldenCase[]) {
    if (integersAlone && golden.config.arithmetic !== "integer") continue;
    for await (const [what, arrays] of ofRate(golden, engine))
      yield { name: golden.name, what, here: await sha256(arrays), golden: golden.hashes[what as keyof typeof golden.hashes]! };
  }
  if (integersAlone) return;
  for (const run of spikingRuns)
    for await (const [what, arrays] of ofSpikes(run, engine)) {
      const hashes: Readonly<Record<string, string>> = spikingFile[run.name as keyof typeof spikingFile];
      yield { name: run.name, what, here: await sha256(arrays), golden: hashes[what]! };
    }
}

/** What an environment prints: one sum over all, and the cases that differ from the C program's. */
export interface Environment {
  readonly sum: string;
  readonly sums: number;
  readonly different: readonly string[];
}

/** Runs everything. */
export async function bitsHere(engine?: string): Promise<Environment> {
  const all: Sum[] = [];
  for await (const each of sums(engine)) all.push(each);
  const text = new TextEncoder().encode(all.map(({ name, what, here }) => `${name} ${what} ${here}\n`).join(""));
  const different = all.filter(({ here, golden }) => here !== golden).map(({ name, what }) => `${name} (${what})`);
  return { sum: await sha256([text]), sums: all.length, different };
}
