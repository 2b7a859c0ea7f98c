// The committed hashes of an independent C program (test/golden/reference.c), held against the
// engines: weights, states, readout, closed loop.
import { describe, expect, it } from "vitest";
import { type FloatArray, isSparse, seedKeys } from "../../packages/numerics/src/index.js";
import { cpuEngine } from "../../src/engine/cpu/index.js";
import { referenceEngine } from "../../src/engine/reference/index.js";
import type { Engine } from "../../src/reservoir/engine.js";
import type { ReservoirModel } from "../../src/reservoir/model.js";
import { bitsOf } from "../golden/golden.js";
import { cases, models, runGolden, sha256 } from "./golden-suite.js";

function weightsOf({ weights, inputWeights, bias, feedbackWeights, initialState }: ReservoirModel): FloatArray[] {
  const w = isSparse(weights) ? weights.values : weights.data;
  return [w, inputWeights.data, bias, ...(feedbackWeights ? [feedbackWeights.data] : []), initialState];
}

describe.each(cases.map((golden) => [golden.name, golden] as const))("golden case %s", (name, golden) => {
  const model = models.get(name)!;
  const { hashes } = golden;

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
    (_engine, engine) => runGolden(golden, engine),
  );
});
