// The committed hashes of an independent C program (test/golden/reference.c), held against the engines: weights, states, readout, closed
// loop.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { cpuEngine } from "../../src/engine/cpu/index.js";
import { referenceEngine } from "../../src/engine/reference/index.js";
import { type FloatArray, isSparse, type Matrix, seedKeys } from "../../src/numerics/index.js";
import { ridge, type TrainedReadout } from "../../src/readout/index.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import type { Engine, EngineSession, SequenceInput } from "../../src/reservoir/engine.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { buildModel } from "../../src/reservoir/weights.js";
import { bitsOf, type GoldenCase, type GoldenTraining, goldenCases, goldenSeries, goldenTargets } from "../golden/golden.js";

const cases = goldenCases();
const models = new Map(cases.map(({ name, config }) => [name, buildModel(resolveConfig(config))]));

function sha256(...arrays: readonly FloatArray[]): string {
  const hash = createHash("sha256");
  for (const { buffer, byteOffset, byteLength } of arrays) hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  return hash.digest("hex");
}

function weightsOf({ weights, inputWeights, bias, feedbackWeights, initialState }: ReservoirModel): FloatArray[] {
  const w = isSparse(weights) ? weights.values : weights.data;
  return [w, inputWeights.data, bias, ...(feedbackWeights ? [feedbackWeights.data] : []), initialState];
}

function sequencesOf({ sequences, steps }: GoldenCase, { inputSize, outputSize, precision }: ReservoirModel): SequenceInput[] {
  return Array.from({ length: sequences }, (_, k) => {
    const inputs = goldenSeries(k + 1, steps, inputSize, precision);
    return outputSize > 0 ? { inputs, teacher: goldenTargets(inputs, outputSize, precision) } : { inputs };
  });
}

function train(training: GoldenTraining, sequences: readonly SequenceInput[], states: readonly Matrix[]): TrainedReadout {
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

describe.each(cases.map((golden) => [golden.name, golden] as const))("golden case %s", (name, golden) => {
  const model = models.get(name)!;
  const { hashes, training } = golden;

  it("has the seed words and the measured radius that the C program was given", () => {
    const { weights, noise } = seedKeys(model.config.seed);
    expect([...weights, ...noise].map((word) => word.toString(16).padStart(8, "0"))).toEqual(golden.seedWords);
    expect(bitsOf(model.measuredRadius)).toBe(golden.measuredRadius);
  });

  it("has the C program's weights", () => {
    expect(sha256(...weightsOf(model))).toBe(hashes.weights);
  });

  it.each<[string, Engine]>([...(model.size <= 130 ? [["reference", referenceEngine] as [string, Engine]] : []), ["cpu", cpuEngine]])(
    "has the C program's states, readout and closed loop on the %s engine",
    async (_engine, engine) => {
      const session = await engine.open(model);
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
    },
  );
});
