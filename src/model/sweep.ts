// A search over settings: many reservoirs over one series, each with a ridge readout and a score on rows that it did not train on. Where an engine
// can, all of it happens on the device.
import { describe, Matrix, type MatrixLike, type Seed } from "../numerics/index.js";
import {
  type FeatureOptions,
  IllConditionedError,
  type RidgeAccumulator,
  ridge,
  SingularFitError,
  type TrainedReadout,
} from "../readout/index.js";
import type { ReservoirConfig, ReservoirOptions } from "../reservoir/config.js";
import type { Engine, EnginePlan, SweepErrors, SweepWork, WorkOptions } from "../reservoir/engine.js";
import { EngineUnavailableError, NonFiniteStateError } from "../reservoir/engine.js";
import { chooseEngine, type EngineChoice } from "../reservoir/engines.js";
import { applyReadout, featureCount } from "../reservoir/features.js";
import { anySeries, checkWhole, DataError, series } from "../reservoir/inputs.js";
import type { ReservoirModel } from "../reservoir/model.js";
import { addMeasurements, type EngineProfile, type PhaseName, type Profile } from "../reservoir/profile.js";
import { expectedShape, type ModelShape } from "../reservoir/shape.js";
import { checkFields } from "../reservoir/validate.js";
import { buildModel, type DrawnWeights, drawWeights, weightFactor } from "../reservoir/weights.js";
import { WorkPacer } from "../reservoir/work.js";

/** What a member of a sweep may have for itself. What is left out is the description's; lambda's default is 1e-6. */
export interface SweepSetting {
  readonly spectralRadius?: number | undefined;
  readonly leakRate?: number | undefined;
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
  /** Seeds of the weights; default the description's alone. */
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
  /** Default "auto": for many reservoir-steps a GPU where there is one, else what suits a single reservoir. */
  readonly engine?: string | undefined;
  /** Measure what the work costs, phase by phase: `SweepResult.profile`. Default false, and then nothing is recorded. */
  readonly profile?: boolean | undefined;
}

const settingFields: readonly (keyof SweepSetting)[] = ["spectralRadius", "leakRate", "inputScaling", "bias", "noiseLevel", "lambda"];
const optionFields: readonly (keyof SweepOptions)[] = [
  "signal",
  "onProgress",
  "transform",
  "input",
  "intercept",
  "reservoir",
  "seeds",
  "settings",
  "inputs",
  "targets",
  "washout",
  "validation",
  "engine",
  "profile",
];

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
   * Seeds x settings: the mean over the outputs of the squared error on the validation rows divided by the target's variance there (the square of
   * NRMSE by the standard deviation). NaN where a state is not finite or lambda is too small for the factorisation.
   */
  readonly scores: Matrix<Float64Array>;
  /** The member with the smallest score, and its readout. */
  readonly best: SweptReservoir & { readonly readout: TrainedReadout };
  /** The engine, and why it was chosen. */
  readonly engine: { readonly name: string; readonly reason: string };
  /** What the members cost, with `profile: true`; the drawing of weights and the training of the best once more are not in it. */
  readonly profile?: Profile | undefined;
  /** The member of a seed and a setting, by their indices. */
  member(seed: number, setting: number): SweptReservoir;
}

/** Everything that one seed draws. */
interface Base {
  readonly config: ReservoirConfig;
  readonly drawn: DrawnWeights;
  readonly model: ReservoirModel;
  /** W_in and b in binary64 before they are scaled. */
  readonly unit: ReservoirModel;
}

/**
 * Trains and scores one reservoir for each seed and setting. Weights are drawn and their radius is measured once a seed; scores have the same bits
 * on every engine.
 *
 * @example
 * const { best } = await sweepReadouts({
 *   reservoir: { size: 200 }, seeds: [1, 2, 3], settings: [0.7, 0.9, 1.1].map((spectralRadius) => ({ spectralRadius })),
 *   inputs, targets, washout: 100, validation: 500,
 * });
 * @throws DataError, ConfigError, TypeError or RangeError naming what is wrong; RangeError where every score is NaN
 */
export async function sweepReadouts(options: SweepOptions): Promise<SweepResult> {
  checkFields(options, optionFields);
  const { requireReservoir } = await import("./schemas.js");
  requireReservoir(options);
  const { settings, seeds = [options.reservoir.seed ?? "spillway"] } = options;
  if (!Array.isArray(settings) || settings.length === 0) {
    const got = Array.isArray(settings) ? "empty" : describe(settings);
    throw new RangeError(`settings is ${got}; a sweep takes a list of at least one, such as [{lambda: 1e-6}]`);
  }
  settings.forEach((setting, k) => {
    checkFields(setting, settingFields, `settings[${k}]`);
  });
  if (seeds.length === 0) throw new RangeError("seeds is empty; a sweep takes at least one");
  const { resolveConfig } = await import("../reservoir/config-schema.js");
  const template = resolveConfig(options.reservoir);
  if (template.feedback) throw new TypeError("reservoir has feedback; a sweep takes reservoirs without");
  for (const seed of seeds) resolveConfig({ ...options.reservoir, seed });
  const variants = settings.map(({ lambda: _, ...setting }) => resolveConfig({ ...options.reservoir, ...setting }));
  const configs = seeds.map((seed) => variants.map((variant): ReservoirConfig => ({ ...variant, seed })));
  const inputs = series(options.inputs, "inputs", template.inputSize, "inputSize", template.precision);
  const targets = anySeries(options.targets, "targets", "float64") as Matrix<Float64Array>;
  const { washout, trainRows } = checkRows(inputs.rows, targets.rows, options.washout ?? 0, options.validation);
  const lambdas = settings.map(({ lambda = 1e-6 }) => lambda);
  const trainers = new Map(lambdas.map((lambda) => [lambda, ridge({ ...featuresOf(options), lambda })]));
  const { features } = trainers.get(lambdas[0]!)!;
  const constant = options.intercept ?? true;
  checkDetermined(
    trainRows - washout,
    featureCount(features, template.size, template.inputSize) + (constant ? 1 : 0),
    Math.min(...lambdas),
  );
  const steps = seeds.length * settings.length * inputs.rows;
  const { engine, reason } = await engineFor(options.engine, expectedShape(template), steps);
  const bases = seeds.map((_, s): Base => {
    const config = configs[s]![0]!;
    const drawn = drawWeights(config);
    const unit = { ...config, precision: "float64", inputScaling: 1, bias: 1, spectralRadius: null } as const;
    return { config, drawn, model: buildModel(config, {}, drawn), unit: buildModel(unit, {}, drawn) };
  });
  const { signal, onProgress, profile } = options;
  const rows = { inputs, targets, washout, trainRows, features, constant, signal, onProgress, profile };
  const members = configs.flatMap((list, s) => list.map((config, i) => ({ ...memberOf(bases[s]!, config), base: s, lambda: lambdas[i]! })));
  const work: SweepWork = { ...rows, members, bases: bases.map(({ model, drawn }) => ({ model, draws: drawn.matrix })) };
  const begun = performance.now();
  const { squares, plan, profile: measured } = (await engine.sweep?.(work)) ?? (await oneByOne(engine, work, bases, configs, trainers));
  const milliseconds = performance.now() - begun;
  const scores = new Matrix(seeds.length, settings.length, relative(squares, targets.subarray(trainRows)));
  const member = (s: number, i: number): SweptReservoir => {
    const config = configs[s]?.[i];
    if (!config) throw new RangeError(`there is no member ${s}, ${i}; there are ${seeds.length} seeds and ${settings.length} settings`);
    return { seed: seeds[s]!, setting: settings[i]!, config, lambda: lambdas[i]!, score: scores.data[s * settings.length + i]! };
  };
  const place = smallest(scores.data);
  const [s, i] = [Math.floor(place / settings.length), place % settings.length];
  const readout = await retrain(engine, buildModel(configs[s]![i]!, {}, bases[s]!.drawn), work, trainers.get(lambdas[i]!)!);
  return {
    ...{ scores, member, best: { ...member(s, i), readout }, engine: { name: engine.name, reason } },
    ...(measured ? { profile: { engine: engine.name, plan, calls: 1, milliseconds, ...measured } } : {}),
  };
}

function featuresOf({ transform, input, intercept }: FeatureOptions): FeatureOptions {
  return { transform, input, intercept };
}

function checkRows(rows: number, targetRows: number, washout: number, validation: number): { washout: number; trainRows: number } {
  if (targetRows !== rows) throw new DataError(`targets has ${targetRows} rows and inputs has ${rows}; they take the same number`);
  if (!Number.isSafeInteger(validation) || validation < 1)
    throw new RangeError(`validation is ${validation}; it takes a whole number of at least 1`);
  const trainRows = rows - validation;
  checkWhole("washout", washout, 0);
  if (washout >= trainRows)
    throw new DataError(
      `washout is ${washout} and validation ${validation} of ${rows} rows; they leave ${trainRows - washout} to train on`,
    );
  return { washout, trainRows };
}

/** A device that makes all members at once is worth opening from about this many reservoir-steps times neurons on, a second of one core. */
const worthADevice = 2e8;

/** "auto" chooses for one reservoir; many of them suit a device better. */
async function engineFor(name: string | undefined, shape: ModelShape, steps: number): Promise<EngineChoice> {
  const chosen = await chooseEngine(name, shape);
  if ((name !== undefined && name !== "auto") || chosen.engine.sweep || steps * shape.size < worthADevice) return chosen;
  try {
    const { engine } = await chooseEngine("cuda");
    return { engine, reason: `auto: ${(await engine.probe()).reason}; ${steps.toLocaleString("en")} reservoir-steps run together there` };
  } catch (error) {
    if (error instanceof EngineUnavailableError) return chosen;
    throw error;
  }
}

function checkDetermined(rows: number, count: number, lambda: number): void {
  if (lambda === 0 && rows < count)
    throw new RangeError(
      `${rows} rows do not determine ${count} weights an output with lambda 0; it takes as many rows, or lambda above 0`,
    );
}

/** W's factor, and the other draws of a base scaled as `buildModel` scales them. */
function memberOf({ drawn, model, unit }: Base, config: ReservoirConfig) {
  const { inputScaling, bias, leakRate, noiseLevel } = config;
  const { inputWeights } = unit;
  const scaled = Matrix.zeros(inputWeights.rows, inputWeights.cols, model.precision) as Matrix;
  for (let i = 0; i < scaled.data.length; i++)
    scaled.data[i] = inputWeights.data[i]! * (typeof inputScaling === "number" ? inputScaling : inputScaling[i % scaled.cols]!);
  return {
    factor: weightFactor(config, drawn),
    inputWeights: scaled,
    bias: bias === 0 ? model.bias.map(() => 0) : model.bias.map((_, r) => unit.bias[r]! * bias),
    leakRate: model.leakRate.map((_, r) => (typeof leakRate === "number" ? leakRate : leakRate[r]!)),
    noiseLevel: model.precision === "float32" ? Math.fround(noiseLevel) : noiseLevel,
  };
}

/** What `Engine.sweep` gives, one member after the other. */
async function oneByOne(
  engine: Engine,
  work: SweepWork,
  bases: readonly Base[],
  configs: readonly (readonly ReservoirConfig[])[],
  trainers: ReadonlyMap<number, ReturnType<typeof ridge>>,
): Promise<SweepErrors> {
  const { members, inputs, targets, trainRows } = work;
  const pacer = new WorkPacer(work, members.length * inputs.rows);
  const squares = Matrix.zeros(members.length, targets.cols);
  const all = configs.flatMap((list, s) => list.map((config) => ({ config, drawn: bases[s]!.drawn })));
  const measured: EngineProfile[] = [];
  for (const [m, { config, drawn }] of all.entries()) {
    const model = buildModel(config, {}, drawn);
    const states = Matrix.zeros(inputs.rows - trainRows, model.size, model.precision) as Matrix;
    try {
      const readout = await retrain(engine, model, work, trainers.get(members[m]!.lambda)!, { states, measured });
      const rest = inputs.subarray(trainRows);
      const begun = performance.now();
      const predicted = applyReadout(readout, states, rest, model.precision);
      const wanted = targets.subarray(trainRows).data;
      for (let i = 0; i < wanted.length; i++) {
        const error = predicted[i]! - wanted[i]!;
        const at = m * targets.cols + (i % targets.cols);
        squares.data[at] = squares.data[at]! + error * error;
      }
      measured.push(onHost("score", begun));
    } catch (error) {
      if (!(error instanceof NonFiniteStateError || error instanceof IllConditionedError || error instanceof SingularFitError)) throw error;
      squares.row(m).fill(Number.NaN);
    }
    await pacer.pause((m + 1) * inputs.rows);
  }
  pacer.finish();
  const first = engine.plan(bases[0]!.model);
  const plan: EnginePlan = { ...first, summary: `${members.length} reservoirs one after the other, the first: ${first.summary}` };
  return { squares, plan, ...(work.profile ? { profile: addMeasurements(measured) } : {}) };
}

function onHost(phase: PhaseName, begun: number): EngineProfile {
  return { phases: [{ phase, clock: "host", milliseconds: performance.now() - begun, pieces: 1 }] };
}

/** The readout of one member. `states`, where they are given, take those of the rows after training, and `measured` what it cost. */
async function retrain(
  engine: Engine,
  model: ReservoirModel,
  { inputs, targets, washout, trainRows, signal, profile }: SweepWork,
  trainer: ReturnType<typeof ridge>,
  { states, measured = [] }: { readonly states?: Matrix; readonly measured?: EngineProfile[] } = {},
): Promise<TrainedReadout> {
  const session = await engine.open(model, { profile });
  const sink: RidgeAccumulator = trainer.accumulator({ stateSize: model.size, inputSize: model.inputSize, outputSize: targets.cols });
  try {
    const rows = { targets: targets.subarray(0, trainRows), washout, sink, signal };
    await session.accumulate({ inputs: inputs.subarray(0, trainRows) }, rows);
    if (states) await session.run({ inputs: inputs.subarray(trainRows) }, { states, signal });
    const begun = performance.now();
    const readout = trainer.solve(sink);
    measured.push(onHost("solve", begun), ...[session.profile?.()].filter((each) => each !== undefined));
    return readout;
  } finally {
    sink.dispose();
    await session.dispose();
  }
}

/** Squared errors over the targets' squared deviations from their mean, averaged over the outputs. */
function relative(squares: Matrix<Float64Array>, targets: Matrix): Float64Array {
  const { rows, cols, data } = targets;
  const deviations = Array.from({ length: cols }, (_, o) => {
    let mean = 0;
    for (let t = 0; t < rows; t++) mean += data[t * cols + o]! / rows;
    let sum = 0;
    for (let t = 0; t < rows; t++) sum += (data[t * cols + o]! - mean) ** 2;
    return sum;
  });
  return Float64Array.from({ length: squares.rows }, (_, m) =>
    squares.row(m).reduce((sum, square, o) => sum + square / deviations[o]! / cols, 0),
  );
}

/** @throws RangeError where no score is a number */
function smallest(scores: Float64Array): number {
  let best = -1;
  for (const [i, score] of scores.entries()) if (!Number.isNaN(score) && (best < 0 || score < scores[best]!)) best = i;
  if (best < 0)
    throw new RangeError("no member has a score: a state of each is not finite, or its lambda is too small for the factorisation");
  return best;
}
