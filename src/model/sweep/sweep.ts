// A search over settings: many reservoirs over one series, each with a ridge readout and a score on
// rows that it did not train on. If an engine can, all of it happens on the device.
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { Matrix, type MatrixLike, type Seed } from "@spillway/numerics";
import { type FeatureOptions, ridge, type TrainedReadout } from "../../readout/index.js";
import type { ReservoirConfig, ReservoirOptions } from "../../reservoir/config.js";
import type { SweepErrors, SweepWork, WorkOptions } from "../../reservoir/engine.js";
import { featureCount } from "../../reservoir/features.js";
import { anySeries, series } from "../../reservoir/inputs.js";
import { addMeasurements, type Profile } from "../../reservoir/profile.js";
import { type Base, engineFor } from "../../reservoir/swept.js";
import { buildModel } from "../../reservoir/weights.js";
import { WorkInterruptedError } from "../../reservoir/work.js";
import { BaseDrawing } from "./bases.js";
import { checkDetermined, featuresOf, membersOf, partsOf, planOf, smallest } from "./members.js";
import { oneByOne, retrain } from "./one-by-one.js";

/**
 * What a member of a sweep may have for itself. What is left out is the description's; lambda's
 * default is 1e-6.
 */
export interface SweepSetting {
  /** null leaves W as it was drawn. */
  readonly spectralRadius?: number | null | undefined;
  readonly leakRate?: ReservoirOptions["leakRate"];
  /** A factor on every input weight, or one per input. */
  readonly inputScaling?: number | readonly number[] | undefined;
  readonly bias?: number | undefined;
  readonly noiseLevel?: number | undefined;
  /** The penalty of ridge regression. */
  readonly lambda?: number | undefined;
}

/** Options of `sweepReadouts`. */
export interface SweepOptions extends WorkOptions, FeatureOptions {
  /** The reservoir that all are variants of; it has no feedback. */
  readonly reservoir: ReservoirOptions;
  /** Seeds of the weights; default only the description's. */
  readonly seeds?: readonly Seed[] | undefined;
  /** The settings that are tried with every seed. */
  readonly settings: readonly SweepSetting[];
  /** T x I. */
  readonly inputs: MatrixLike;
  /** T x O. */
  readonly targets: MatrixLike;
  /** Rows at the start that train nothing; default 0. */
  readonly washout?: number | undefined;
  /** Rows at the end that score and do not train, at least 1. */
  readonly validation: number;
  /**
   * Default "auto": for many reservoir-steps a GPU if there is one, else what suits a single
   * reservoir.
   */
  readonly engine?: string | undefined;
  /**
   * Measure what the work costs, phase by phase: `SweepResult.profile`. Default false, and then
   * nothing is recorded.
   */
  readonly profile?: boolean | undefined;
}

/** One reservoir of a sweep, and how well its readout does. */
export interface SweptReservoir {
  readonly seed: Seed;
  readonly setting: SweepSetting;
  /** The description that this member is made from. */
  readonly config: ReservoirConfig;
  readonly lambda: number;
  readonly score: number;
}

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
  const [{ resolveConfig }, { sweepTable }] = await Promise.all([import("../../reservoir/config-schema.js"), import("./options.js")]);
  const options = resolve(sweepTable, given);
  const { settings, seeds = [options.reservoir.seed ?? "spillway"] } = options;
  const template = resolveConfig(options.reservoir);
  if (template.cell) throw new ArgumentError("reservoir.cell", template.cell.type, "nothing in a sweep, whose reservoirs leak");
  if (template.arithmetic === "integer") throw new ArgumentError("reservoir.arithmetic", "integer", '"portable" or "fast" in a sweep');
  if (template.feedback) throw ArgumentError.because("reservoir has feedback; a sweep takes reservoirs without", { field: "reservoir" });
  for (const seed of seeds) resolveConfig({ ...options.reservoir, seed });
  const variants = settings.map(({ lambda: _, ...setting }) => resolveConfig({ ...options.reservoir, ...setting }));
  const configOf = (s: number, i: number): ReservoirConfig => ({ ...variants[i]!, seed: seeds[s]! });
  const inputs = series(options.inputs, "inputs", template.inputSize, "inputSize", template.precision);
  const targets = anySeries(options.targets, "targets", "float64") as Matrix<Float64Array>;
  const { washout } = options;
  const trainRows = checkRows(inputs.rows, targets.rows, washout, options.validation);
  const lambdas = settings.map(({ lambda = 1e-6 }) => lambda);
  const trainers = new Map(lambdas.map((lambda) => [lambda, ridge({ ...featuresOf(options), lambda })]));
  const { features } = trainers.get(lambdas[0]!)!;
  const constant = options.intercept;
  checkDetermined(
    trainRows - washout,
    featureCount(features, template.size, template.inputSize) + (constant ? 1 : 0),
    Math.min(...lambdas),
  );
  const total = seeds.length * settings.length * inputs.rows;
  const { engine, reason } = await engineFor(options.engine, template, total);
  const { signal, onProgress, profile } = options;
  const rows = { inputs, targets, washout, trainRows, features, constant, signal, profile };
  const scores = Matrix.zeros(seeds.length, settings.length);
  const member = (s: number, i: number): SweptReservoir => {
    if (!(s in seeds && i in settings))
      throw ArgumentError.because(`there is no member ${s}, ${i}; there are ${seeds.length} seeds and ${settings.length} settings`);
    return { seed: seeds[s]!, setting: given.settings[i]!, config: configOf(s, i), lambda: lambdas[i]!, score: scores.at(s, i) };
  };
  const deviations = squaredDeviations(targets.subarray(trainRows));
  const begun = performance.now();
  let done = 0;
  let best: { readonly s: number; readonly i: number; readonly base: Base } | undefined;
  const results: SweepErrors[] = [];
  const drawing = BaseDrawing.of(seeds, variants, engine, options, () => done, total);
  try {
    const parts = partsOf(seeds.length, settings.length, template);
    let ahead = drawing.draw(parts[0]!);
    for (const [p, part] of parts.entries()) {
      const bases = await ahead;
      const before = done;
      const report = (made: number) => {
        done = before + made;
        onProgress?.(done, total);
      };
      const members = membersOf(bases, seeds.slice(part.from, part.to), variants, lambdas);
      const work: SweepWork = { ...rows, members, bases, onProgress: report };
      const swept =
        engine.device?.sweep(work) ??
        oneByOne(engine, work, (m) => configOf(part.from + members[m]!.base, m % settings.length), bases, trainers);
      // The device has its work; what the next part takes is drawn meanwhile.
      const next = parts[p + 1];
      if (next) {
        ahead = drawing.draw(next);
        ahead.catch(() => undefined);
      }
      const result = await swept;
      results.push(result);
      scores.data.set(relative(result.squares, deviations), part.from * settings.length);
      const place = smallest(scores.subarray(part.from, part.to).data);
      if (place >= 0) {
        const [b, i] = [Math.floor(place / settings.length), place % settings.length];
        const found = { s: part.from + b, i, base: bases[b]! };
        if (!best || scores.at(found.s, i) < scores.at(best.s, best.i)) best = found;
      }
    }
  } catch (error) {
    if (!(error instanceof WorkInterruptedError)) throw error;
    throw new WorkInterruptedError(done, total, error.cause);
  } finally {
    await drawing.dispose();
  }
  const milliseconds = performance.now() - begun;
  if (!best)
    throw new SpillwayError(
      "numeric",
      "no member has a score: a state of each is not finite, or its lambda is too small for the factorisation",
    );
  const { s, i, base } = best;
  const readout = await retrain(
    engine,
    buildModel(configOf(s, i), {}, base.drawn),
    { ...rows, members: [], bases: [] },
    trainers.get(lambdas[i]!)!,
  );
  const measured = results.flatMap((result) => result.profile ?? []);
  return {
    ...{ scores, member, best: { ...member(s, i), readout }, engine: { name: engine.name, reason } },
    ...(profile
      ? {
          profile: {
            ...{ engine: engine.name, plan: planOf(results, seeds.length * settings.length), calls: 1, milliseconds },
            ...addMeasurements([drawing.profile(), ...measured]),
          },
        }
      : {}),
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
function relative(squares: Matrix<Float64Array>, deviations: readonly number[]): Float64Array {
  return Float64Array.from({ length: squares.rows }, (_, m) =>
    squares.row(m).reduce((sum, square, o) => sum + square / deviations[o]! / deviations.length, 0),
  );
}
