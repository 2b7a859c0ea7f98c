// Ensembles, batches, sweeps and kinds with a kernel of their own when the driver fails: the error
// is the driver's, and all that was taken is given back.
import { describe } from "vitest";
import { disposeAll } from "../../packages/core/src/disposal.js";
import type { Context } from "../../packages/gpu/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { DenseBatchRun } from "../../src/engine/cuda/batch/dense.js";
import { batchKernels, planBatch } from "../../src/engine/cuda/batch/shapes.js";
import { evaluateTogether } from "../../src/engine/cuda/ensemble/evaluation.js";
import { openTogether } from "../../src/engine/cuda/ensemble/index.js";
import { planMembers } from "../../src/engine/cuda/ensemble/member-plan.js";
import { runMembers } from "../../src/engine/cuda/ensemble/run.js";
import { DeviceSummary } from "../../src/engine/cuda/summary.js";
import { ridge } from "../../src/readout/index.js";
import { type Ask, plainFeatures, ReservoirComputer } from "../../src/reservoir/index.js";
import { model, randomMatrix } from "./contract.js";
import { givesBack } from "./gives-back.js";
import "../../src/index.js";

const of = model({ size: 9, storage: "dense", seed: 1, feedback: { size: 1 } });
const plain = model({ size: 9, storage: "sparse", seed: 1, connectionProbability: 0.3 });
const sequences = [3, 5].map((steps, b) => ({ inputs: randomMatrix(steps, 1, "float32", b) }));
const targets = randomMatrix(6, 1, "float64", 7) as Matrix<Float64Array>;
const inputs = randomMatrix(6, 1, "float32", 8);

const works: Record<string, (context: Context) => Promise<unknown>> = {
  "an ensemble": (context) => {
    const members = [0, 1].map((number) => ({ model: of, sequence: { inputs }, number }));
    const sinks = members.map(() => ridge().accumulator({ stateSize: 9, inputSize: 1, outputSize: 1 }));
    const plan = planMembers(context, members)!;
    return runMembers(context, members, plan, { keep: "all", training: { targets, washout: 1, sinks }, chunkBytes: 9 * 4 * 2 * 4 });
  },
  "an ensemble that stays open": async (context) => {
    const ensemble = (await openTogether(context, "sim", [of, of], { profile: true }))!;
    try {
      for (let run = 0; run < 2; run++) await ensemble.run({ inputs }, { keep: "last" });
    } finally {
      await ensemble.dispose();
    }
  },
  "a batch": async (context) => {
    const plan = planBatch(context.info, of, 2, { kernels: batchKernels.slice(0, 1) })!;
    const run = new DenseBatchRun(context, of, plan, sequences, {}, 9 * 4 * 4 * 2 * 3);
    try {
      return await run.run();
    } finally {
      run.dispose();
    }
  },
  "a batch that is summed up to shares of classes": async (context) => {
    const weights = randomMatrix(2, 18, "float64", 9) as Matrix<Float64Array>;
    const readout = { features: plainFeatures, stateSize: 18, inputSize: 0, weights, intercept: new Float64Array(2) };
    const classes = { readout, layerNorm: true, shares: "softmax" } as const;
    const given = Matrix.zeros(2, 0);
    const summary = new DeviceSummary(context, of, sequences, { last: true, mean: true, washout: 0, given, classes });
    const owned: { dispose(): void }[] = [summary];
    try {
      const plan = planBatch(context.info, of, 2, { kernels: batchKernels.slice(0, 1) })!;
      const run = new DenseBatchRun(context, of, plan, sequences, { taker: summary }, 9 * 4 * 4 * 2 * 3);
      owned.push(run);
      await run.run();
      const stream = context.stream();
      owned.push(stream);
      return await summary.finish(stream);
    } finally {
      disposeAll(owned);
    }
  },
  "phase oscillators by their own kernel": async (context) => {
    const { model } = await ReservoirComputer.create({ kind: "oscillator", size: 140, connectionProbability: 0.1, seed: 1 });
    await using there = await ReservoirComputer.fromModel(model, { context });
    await there.run(randomMatrix(3, 1, "float32", 5));
    there.step([0.1]);
  },
  "an evaluation": async (context) => {
    const { inputWeights, bias, weights } = plain;
    const draws = {
      ...(weights as typeof weights & { values: Float32Array }),
      values: Float64Array.from((weights as { values: Float32Array }).values),
    };
    const base = {
      model: plain,
      draws: draws as never,
      inputDraws: new Matrix(inputWeights.rows, inputWeights.cols, Float64Array.from(inputWeights.data)),
      biasDraws: Float64Array.from(bias),
    };
    const member = { base: 0, factor: 1, inputScaling: 1, bias: 1, leakRate: 0.3, noiseLevel: 0, lambda: 1e-3 };
    const trained = { washout: 1, features: plainFeatures, constant: true, take: () => undefined };
    const rows = { inputs, targets, trainRows: 4, ...trained };
    const measures = { exponent: { inputs, tangent: new Float64Array(9).fill(1 / 3), washout: 1 } };
    const ends = (value: number) => new Matrix(1, 1, Float64Array.of(value));
    const series = [{ rows: inputs, targets, starts: [4], lower: ends(-1), upper: ends(1) }];
    const asks: Ask[] = [
      { kind: "errors", ...rows },
      { kind: "predictions", ...rows },
      { kind: "forecasts", series, horizon: 2, refit: false, ...trained },
      { kind: "measures", measures, take: () => undefined },
    ];
    for (const ask of asks)
      await evaluateTogether(context, "sim", { ask, bases: [base], members: [member, member], profile: true }, 9 * 4 * 2 * 2);
  },
};

describe.each(Object.entries(works))("%s", (_name, work) => givesBack(work));
