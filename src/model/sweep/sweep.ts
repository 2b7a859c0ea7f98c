// A search over settings: many reservoirs over one series, each with a ridge readout and a score on
// rows that it did not train on. If an engine can, all of it happens on the device.
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { Matrix } from "@spillway/numerics";
import type { TrainedReadout } from "../../readout/index.js";
import type { ErrorsAsk } from "../../reservoir/engine.js";
import type { EvaluatedMember } from "../../reservoir/evaluate/evaluate.js";
import type { Base } from "../../reservoir/evaluate/members.js";
import { anySeries, series } from "../../reservoir/inputs.js";
import type { Profile } from "../../reservoir/profile.js";
import { buildModel } from "../../reservoir/weights.js";
import { SweepMembers, type SweptReservoir } from "./members.js";
import { retrain } from "./one-by-one.js";
import type { SweepOptions } from "./options.js";

export type { SweptReservoir } from "./members.js";
export type { SweepOptions, SweepSetting } from "./options.js";

/** What a sweep found: the score of every seed and setting, and the best of them, trained. */
export interface SweepResult {
  /**
   * Seeds x settings: the mean over the outputs of the squared error on the validation rows divided
   * by the target's variance there (the square of NRMSE by the standard deviation). NaN if a
   * state is not finite or lambda is too small for the factorisation.
   */
  readonly scores: Matrix<Float64Array>;
  /** The member with the smallest score, and its readout. */
  readonly best: SweptReservoir & { readonly readout: TrainedReadout };
  /** The engine, and why it was chosen. */
  readonly engine: { readonly name: string; readonly reason: string };
  /**
   * What drawing and the members cost, with `profile: true`; the training of the best once more is
   * not in it.
   */
  readonly profile?: Profile | undefined;
  /** The member of a seed and a setting, by their indices. */
  member(seed: number, setting: number): SweptReservoir;
}

/**
 * Trains and scores one reservoir for each seed and setting. Weights are drawn and their radius is
 * measured once a seed, ahead of the work that takes them and if that is worth it by further
 * threads of this machine, which end with the sweep. Scores have the same bits on every engine.
 *
 * @example
 * const { best } = await sweepReadouts({
 *   reservoir: { size: 200 }, seeds: [1, 2, 3], settings: [0.7, 0.9, 1.1].map((spectralRadius) => ({ spectralRadius })),
 *   inputs, targets, washout: 100, validation: 500,
 * });
 * @throws ArgumentError naming what is wrong; SpillwayError of code "numeric" if every score is NaN
 */
export async function sweepReadouts(given: SweepOptions): Promise<SweepResult> {
  const { sweepTable } = await import("./options.js");
  const options = resolve(sweepTable, given);
  const { washout, intercept: constant, signal } = options;
  const all = await SweepMembers.of({ ...options, settings: given.settings });
  const { template, features, settings, trainers } = all;
  if (template.cell) throw new ArgumentError("reservoir.cell", template.cell.type, "nothing in a sweep, whose reservoirs leak");
  if (template.arithmetic === "integer") throw new ArgumentError("reservoir.arithmetic", "integer", '"portable" or "fast" in a sweep');
  const inputs = series(options.inputs, "inputs", template.inputSize, "inputSize", template.precision);
  const targets = anySeries(options.targets, "targets", "float64") as Matrix<Float64Array>;
  const trainRows = checkRows(inputs.rows, targets.rows, washout, options.validation);
  all.checkDetermined(trainRows - washout);
  const scores = Matrix.zeros(all.seeds.length, settings.length);
  const deviations = squaredDeviations(targets.subarray(trainRows));
  let best: { readonly score: number; readonly index: number; readonly base: Base } | undefined;
  const ask: ErrorsAsk<EvaluatedMember> = {
    ...{ kind: "errors", inputs, targets, washout, trainRows, features, constant },
    take({ candidate: index, base }, squares) {
      const score = squares ? relative(squares, deviations) : Number.NaN;
      scores.data[index] = score;
      if (best ? score < best.score || (score === best.score && index < best.index) : !Number.isNaN(score)) best = { score, index, base };
    },
  };
  const made = await all.evaluate(ask);
  if (!best)
    throw new SpillwayError(
      "numeric",
      "no member has a score: a state of each is not finite, or its lambda is too small for the factorisation",
    );
  const { index, base } = best;
  const [s, i] = [Math.floor(index / settings.length), index % settings.length];
  const readout = await retrain(made.engine, buildModel(all.configOf(s, i), {}, base.drawn), ask, trainers.get(all.lambdas[i]!)!, signal);
  const member = (seed: number, setting: number): SweptReservoir => all.member(seed, setting, scores);
  return {
    ...{ scores, member, best: { ...member(s, i), readout }, engine: { name: made.engine.name, reason: made.reason } },
    ...(made.profile ? { profile: made.profile } : {}),
  };
}

function checkRows(rows: number, targetRows: number, washout: number, validation: number): number {
  if (targetRows !== rows)
    throw ArgumentError.shape(`targets has ${targetRows} rows and inputs has ${rows}; they take the same number`, { field: "targets" });
  const trainRows = rows - validation;
  if (washout >= trainRows)
    throw ArgumentError.shape(
      `washout is ${washout} and validation ${validation} of ${rows} rows; they leave ${trainRows - washout} to train on`,
      { field: "washout", value: washout },
    );
  return trainRows;
}

/** Of each output, the sum of its squared deviations from its mean. */
function squaredDeviations({ rows, cols, data }: Matrix): number[] {
  return Array.from({ length: cols }, (_, o) => {
    let mean = 0;
    for (let t = 0; t < rows; t++) mean += data[t * cols + o]! / rows;
    let sum = 0;
    for (let t = 0; t < rows; t++) sum += (data[t * cols + o]! - mean) ** 2;
    return sum;
  });
}

/** Squared errors over the targets' squared deviations, averaged over the outputs. */
function relative(squares: Float64Array, deviations: readonly number[]): number {
  return squares.reduce((sum, square, o) => sum + square / deviations[o]! / deviations.length, 0);
}
