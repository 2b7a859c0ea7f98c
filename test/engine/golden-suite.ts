// Runs the golden cases on an engine: what the tests of the host's engines and of the device's
// share.
import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { FloatArray, Matrix } from "../../packages/numerics/src/index.js";
import { ridge, type TrainedReadout } from "../../src/readout/index.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import type { Engine, EngineOptions, EngineSession, SequenceInput } from "../../src/reservoir/engine.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { buildModel } from "../../src/reservoir/weights.js";
import { type GoldenCase, type GoldenTraining, goldenCases, goldenSeries, goldenTargets } from "../golden/golden.js";

export const cases = goldenCases();
export const models = new Map(cases.map(({ name, config }) => [name, buildModel(resolveConfig(config))]));

export function sha256(...arrays: readonly FloatArray[]): string {
  const hash = createHash("sha256");
  for (const { buffer, byteOffset, byteLength } of arrays) hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  return hash.digest("hex");
}

function sequencesOf({ sequences, steps }: GoldenCase, { inputSize, outputSize, precision }: ReservoirModel): SequenceInput<Matrix>[] {
  return Array.from({ length: sequences }, (_, k) => {
    const inputs = goldenSeries(k + 1, steps, inputSize, precision);
    return outputSize > 0 ? { inputs, teacher: goldenTargets(inputs, outputSize, precision) } : { inputs };
  });
}

function train(training: GoldenTraining, sequences: readonly SequenceInput<Matrix>[], states: readonly Matrix[]): TrainedReadout {
  const { outputs, washout, solver, lambda, transform, input } = training;
  const targets = sequences.map(({ inputs }) => goldenTargets(inputs, outputs, "float64"));
  return ridge({ solver, lambda, transform, input }).fit(states, targets, { washout, inputs: sequences.map(({ inputs }) => inputs) });
}

/** Runs a sequence into a session and lets it go on by itself. */
async function closeLoop(session: EngineSession, sequence: SequenceInput, readout: TrainedReadout, steps: number): Promise<Matrix> {
  const { inputSize, outputSize, precision } = session.model;
  await session.run(sequence, {});
  const outside = outputSize > 0 ? inputSize : inputSize - readout.outputSize;
  return session.generate({ readout, steps, ...(outside > 0 ? { inputs: goldenSeries(100, steps, outside, precision) } : {}) });
}

/** Holds the states, the readout trained on them and the closed loop to the C program's hashes. */
export async function runGolden(golden: GoldenCase, engine: Engine, options?: EngineOptions): Promise<void> {
  const model = models.get(golden.name)!;
  const { hashes, training } = golden;
  const session = await engine.open(model, options);
  const sequences = sequencesOf(golden, model);
  const states = await session.batch(sequences, {});
  expect(sha256(...states.map(({ data }) => data))).toBe(hashes.states);
  if (training) {
    const readout = train(training, sequences, states);
    expect(sha256(readout.weights.data, readout.intercept)).toBe(hashes.readout);
    const prediction = await closeLoop(session, sequences[0]!, readout, training.generate);
    expect(sha256(prediction.data)).toBe(hashes.prediction);
  }
  await session.dispose();
}
