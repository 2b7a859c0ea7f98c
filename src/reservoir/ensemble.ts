// Ensembles: many independent reservoirs, each with weights and settings of its own, in one call.

import { DisposedByAwaitUsing } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { namingOwner } from "@spillway/core/field-owner.js";
import { choice, given, type InputOf, list, object, option, optional, type Resolved, resolve, whole } from "@spillway/core/options.js";
import { tally } from "@spillway/core/text.js";
import { asMatrix, type Matrix, type MatrixLike } from "@spillway/numerics";
import { isComposite } from "./composite/config.js";
import type { EngineSelection } from "./computer-options.js";
import type { EnsembleSession } from "./engine/device.js";
import { openEnsemble } from "./engine/one-by-one.js";
import { checkSupported } from "./engine/supports.js";
import type { EnginePlan, SequenceInput } from "./engine.js";
import { type EngineChoice, selectEngine } from "./engines.js";
import { checkSequences, checkWashout, series } from "./inputs.js";
import { fieldOwners, modelOf, type PlainReservoirOptions, shapeFor } from "./kinds.js";
import type { ReservoirModel } from "./model.js";
import { OneCall } from "./one-call.js";
import { profileTable, selectionTable, seriesOf, sinkKind } from "./options.js";
import type { Profile } from "./profile.js";
import { isRegistered } from "./registered/model.js";
import type { RegisteredReservoirOptions } from "./registered/options.js";
import { type AnyShape, anyShapeOf } from "./shape.js";
import type { EngineModel, SpikingModel } from "./spiking-model.js";
import { type WorkOptions, workTable } from "./work.js";

export const ensembleTable = {
  ...selectionTable,
  /**
   * How members run on a device: "auto" (default) runs them side by side if that is faster; with a
   * plan's name each runs by that plan, one after the other.
   */
  plan: selectionTable.plan,
  /**
   * Measure what the work costs, phase by phase: `ReservoirEnsemble.profile`. Default false, and
   * then nothing is recorded.
   */
  profile: profileTable.profile,
};

/**
 * Where an ensemble runs, and how. Several devices ("cuda:0-3", "cuda:all") each have a share of
 * the members.
 */
export interface EnsembleCreateOptions extends EngineSelection, InputOf<typeof ensembleTable> {}

/** Fields in which members often differ and on which no size depends. */
const sizeless: ReadonlySet<string> = new Set(["seed", "leakRate", "spectralRadius", "inputScaling", "bias"]);

/**
 * The sizes of all members, where they decide anything: undefined if an engine is named. @throws
 * ArgumentError
 */
async function shapesFor(
  engine: string | undefined,
  configs: readonly (PlainReservoirOptions | ReservoirModel | SpikingModel)[],
): Promise<readonly AnyShape[] | undefined> {
  const shapes: AnyShape[] = [];
  // Ten thousand descriptions take seconds to check.
  const known = new Map<string, AnyShape>();
  for (const config of configs) {
    const key = "outputSize" in config ? "" : JSON.stringify(config, (name, value) => (sizeless.has(name) ? undefined : value));
    const shape = "outputSize" in config ? anyShapeOf(config) : (known.get(key) ?? (await shapeFor(engine, config)));
    if (!shape) return undefined;
    known.set(key, shape);
    shapes.push(shape);
  }
  return shapes;
}

const trainingTable = {
  targets: given(seriesOf("T x O"), "What the readouts learn."),
  washout: option(whole(), 0, "Rows left out at the start."),
  sinks: given(list(sinkKind, "a list of one sink a reservoir"), "What sums the training rows of each member."),
};

export const ensembleWorkTable = {
  ...workTable,
  /** What to keep of each member: all states (default), the last one, or nothing. */
  keep: option(choice("all", "last", "none"), "all", "What to keep of each member."),
  /** Train as the states are made: T x O targets, and one sink (a Gram accumulator) a member. */
  training: optional(object(trainingTable), "Train as the states are made."),
};

/** Options of `ReservoirEnsemble.run`. */
export interface EnsembleRunOptions extends WorkOptions, InputOf<typeof ensembleWorkTable> {}

/** Options of `runEnsemble`. */
export interface RunEnsembleOptions extends EnsembleRunOptions, EngineSelection {}

const ensembleRunTable = { ...selectionTable, ...ensembleWorkTable };

/** One series for all reservoirs, or one each. */
export type EnsembleInputs = MatrixLike | { readonly each: readonly MatrixLike[] };

/**
 * R reservoirs that run side by side, again and again. On a GPU their weights stay there between
 * runs if they take no more than half of its free memory (`engine.plan` says so), and go when the
 * ensemble is disposed.
 *
 * @example
 * await using ensemble = await ReservoirEnsemble.create([1, 2, 3].map((seed) => ({ size: 200, seed
 * })), { engine: "cuda" }); for (const series of recordings) console.log(await ensemble.run(series,
 * { keep: "last" })); // three times 1 x 200
 */
export class ReservoirEnsemble extends DisposedByAwaitUsing {
  /** The engine, why it was chosen, and how it runs these reservoirs. */
  readonly engine: { readonly name: string; readonly reason: string; readonly plan: EnginePlan };
  readonly models: readonly EngineModel[];
  readonly #session: EnsembleSession;
  readonly #call: OneCall<EnsembleSession>;

  private constructor(models: readonly EngineModel[], session: EnsembleSession, choice: EngineChoice) {
    super();
    this.models = models;
    this.#session = session;
    this.#call = new OneCall(session, choice, "this ensemble");
    this.engine = this.#call.engine;
  }

  /**
   * Checks descriptions, draws weights and opens an engine. Members may differ in every field but
   * the number of inputs; a model that is already made is taken as it is, and one that is there
   * several times is held once.
   * @throws ArgumentError, EngineUnavailableError, EngineCapacityError
   */
  static async create(
    configs: readonly (PlainReservoirOptions | ReservoirModel | SpikingModel)[],
    options: EnsembleCreateOptions = {},
  ): Promise<ReservoirEnsemble> {
    return namingOwner(
      () => fieldOwners(configs?.[0]),
      async () => {
        const open = resolve(ensembleTable, options);
        if (!Array.isArray(configs)) throw new ArgumentError("configs", configs, "a list of descriptions or models");
        for (const [r, config] of configs.entries()) checkMember(config, `configs[${r}]`);
        if (configs.length === 0)
          throw ArgumentError.shape("configs is empty; an ensemble takes at least one reservoir", { field: "configs" });
        const choice = await selectEngine(open, () => shapesFor(open.engine, configs));
        const { engine } = choice;
        const models: EngineModel[] = [];
        const together = engine.device && (await (await import("./evaluate/models.js")).modelsTogether(configs, engine));
        for (const [r, config] of configs.entries())
          models.push("outputSize" in config ? config : (together?.get(r) ?? (await modelOf(config, engine))));
        for (const model of models) checkSupported(engine, model);
        const { plan, threads, profile } = open;
        const session = await openEnsemble(engine, models, { plan, threads, profile });
        return new ReservoirEnsemble(models, session, choice);
      },
    );
  }

  /**
   * Runs all of them, each from its initial state. Returns R matrices: T x N states, or 1 x N with
   * `keep: "last"`, or none.
   * @throws ArgumentError for a wrong shape or a value that is not finite; NonFiniteStateError of
   * the first member that has such a state
   */
  async run(inputs: EnsembleInputs, options: EnsembleRunOptions = {}): Promise<Matrix[]> {
    const { training: wanted, ...work } = resolve(ensembleWorkTable, options);
    const sequences = this.#sequences(inputs);
    const training = wanted && checkTraining(wanted, sequences);
    return this.#call.alone((session) => session.run(sequences, { ...work, training }));
  }

  /**
   * What the work since `create` cost, weights on their way to a device included; undefined without
   * `profile: true`. Read it between calls.
   */
  get profile(): Profile | undefined {
    return this.#call.profile;
  }

  /** Gives memory back. Idempotent. */
  dispose(): Promise<void> {
    return this.#session.dispose();
  }

  #sequences(inputs: EnsembleInputs): SequenceInput[] {
    const { models } = this;
    const each = typeof inputs === "object" && inputs !== null && "each" in inputs ? inputs.each : undefined;
    if (each !== undefined) checkSequences(each, "inputs.each");
    if (each && each.length !== models.length)
      throw ArgumentError.shape(`inputs.each holds ${each.length} series; ${tally(models.length, "reservoir")} take as many`);
    // Members that share a series get one and the same matrix.
    const shared = new Map<string, SequenceInput>();
    return models.map((model, r): SequenceInput => {
      const { inputSize, precision } = model;
      if (each) return { inputs: series(each[r]!, `inputs.each[${r}]`, inputSize, "inputSize", precision) };
      const key = `${inputSize} ${precision}`;
      const sequence = shared.get(key) ?? { inputs: series(inputs as MatrixLike, "inputs", inputSize, "inputSize", precision) };
      shared.set(key, sequence);
      return sequence;
    });
  }
}

/**
 * Runs R reservoirs once, each from its initial state, over one shared T x I series, or over one
 * series each (`{ each: [...] }`). Returns R matrices: T x N states, or 1 x N with `keep: "last"`,
 * or none. `ReservoirEnsemble` is for more runs than one.
 */
export async function runEnsemble(
  configs: readonly (PlainReservoirOptions | ReservoirModel | SpikingModel)[],
  inputs: EnsembleInputs,
  options: RunEnsembleOptions = {},
): Promise<Matrix[]> {
  const { engine, context, plan, threads, ...work } = resolve(ensembleRunTable, options);
  const ensemble = await ReservoirEnsemble.create(configs, { engine, context, plan, threads });
  try {
    return await ensemble.run(inputs, work);
  } finally {
    await ensemble.dispose();
  }
}

function checkTraining({ sinks, washout, ...training }: Resolved<typeof trainingTable>, sequences: readonly SequenceInput[]) {
  if (sinks.length !== sequences.length)
    throw ArgumentError.shape(`training.sinks holds ${sinks.length}; ${tally(sequences.length, "reservoir")} take as many`);
  const targets = series(training.targets, "training.targets", asMatrix(training.targets, "training.targets").cols, "targets", "float64");
  for (const { inputs } of sequences) {
    if (targets.rows !== inputs.rows)
      throw ArgumentError.shape(
        `training.targets has ${tally(targets.rows, "row")} and inputs has ${inputs.rows}; they take the same number`,
      );
  }
  checkWashout(washout, targets.rows);
  return { targets, sinks, washout };
}

/** @throws ArgumentError for what is no single reservoir of rates or of spikes */
function checkMember(config: unknown, field: string): void {
  if (typeof config !== "object" || config === null) throw new ArgumentError(field, config, "a description of a reservoir or a model");
  if (isComposite(config) || "parts" in config)
    throw ArgumentError.because(`${field} is composed of layers or groups; an ensemble takes single reservoirs`, { field });
  if (!isRegistered(config)) return;
  const { kind } = "config" in config ? (config.config as RegisteredReservoirOptions) : config;
  throw ArgumentError.because(`${field} is of the kind "${kind}"; an ensemble takes reservoirs of rates or of spikes`, { field });
}
