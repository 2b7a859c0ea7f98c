// Ensembles: many independent reservoirs, each with weights and settings of its own, in one call.
import { asMatrix, type Matrix, type MatrixLike } from "../numerics/index.js";
import type { SequenceInput, TrainingSink, WorkOptions } from "./engine.js";
import { chooseEngine } from "./engines.js";
import { count, DataError, series } from "./inputs.js";
import { checkWashout } from "./computer.js";
import { type AnyReservoirOptions, modelOf, shapeFor } from "./kinds.js";
import { anyShapeOf } from "./shape.js";
import type { EngineModel } from "./spiking-model.js";

/** Options of `runEnsemble`. */
export interface EnsembleRunOptions extends WorkOptions {
  /** "auto" (default), "cpu", "cuda", "cuda:1", "sim" or "reference". */
  readonly engine?: string | undefined;
  /** What to keep of each member: all states (default), the last one, or nothing. */
  readonly keep?: "states" | "last" | "none" | undefined;
  /** Train as the states are made: T x O targets, and one sink (a Gram accumulator) a member. */
  readonly training?: { readonly targets: MatrixLike; readonly washout?: number; readonly sinks: readonly TrainingSink[] } | undefined;
}

/**
 * Runs R reservoirs, each from its initial state, over one shared T x I series, or over one series each (`{ each: [...] }`). Returns R matrices: T x N states, or 1 x N with
 * `keep: "last"`, or none. Members may differ in every field but the number of inputs.
 */
export async function runEnsemble(
  configs: readonly (AnyReservoirOptions | EngineModel)[],
  inputs: MatrixLike | { readonly each: readonly MatrixLike[] },
  options: EnsembleRunOptions = {},
): Promise<Matrix[]> {
  if (configs.length === 0) throw new DataError("configs is empty; an ensemble takes at least one reservoir");
  const first = configs[0]!;
  const shape = "noiseKey" in first ? anyShapeOf(first) : await shapeFor(options.engine, first);
  const { engine } = await chooseEngine(options.engine, shape);
  const models: EngineModel[] = [];
  for (const config of configs) models.push("noiseKey" in config ? config : await modelOf(config, engine));
  const each = typeof inputs === "object" && "each" in inputs ? inputs.each : undefined;
  if (each && each.length !== models.length)
    throw new DataError(`inputs.each holds ${each.length} series; ${count(models.length, "reservoir")} take as many`);
  // Members that share a series get one and the same matrix.
  const shared = new Map<string, SequenceInput>();
  const sequences = models.map((model, r): SequenceInput => {
    const { inputSize, precision } = model;
    if (each) return { inputs: series(each[r]!, `inputs.each[${r}]`, inputSize, "inputSize", precision) };
    const key = `${inputSize} ${precision}`;
    const sequence = shared.get(key) ?? { inputs: series(inputs as MatrixLike, "inputs", inputSize, "inputSize", precision) };
    shared.set(key, sequence);
    return sequence;
  });
  const training = options.training && checkTraining(options.training, sequences);
  return engine.ensemble(models, sequences, { ...options, keep: options.keep ?? "states", training });
}

function checkTraining(training: NonNullable<EnsembleRunOptions["training"]>, sequences: readonly SequenceInput[]) {
  const { sinks } = training;
  if (sinks.length !== sequences.length)
    throw new DataError(`training.sinks holds ${sinks.length}; ${count(sequences.length, "reservoir")} take as many`);
  const targets = series(training.targets, "training.targets", asMatrix(training.targets, "training.targets").cols, "targets", "float64");
  for (const { inputs } of sequences) {
    if (targets.rows !== inputs.rows)
      throw new DataError(`training.targets has ${count(targets.rows, "row")} and inputs has ${inputs.rows}; they take the same number`);
  }
  const { rows } = targets;
  return { targets, sinks, washout: checkWashout(training.washout ?? 0, rows) };
}
