// What the sweeps share: every setting of a description with every seed.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Matrix, Seed } from "@spillway/numerics";
import { type RidgeTrainer, ridge } from "../../readout/index.js";
import type { ReservoirConfig, ReservoirOptions } from "../../reservoir/config.js";
import { type ReadoutAsk, stepsOf } from "../../reservoir/engine/evaluation.js";
import type { Engine } from "../../reservoir/engine.js";
import { type EvaluatedMember, type EvaluateOptions, evaluate } from "../../reservoir/evaluate/evaluate.js";
import { engineFor } from "../../reservoir/evaluate/members.js";
import { type FeatureSpec, featureCount } from "../../reservoir/features.js";
import type { Profile } from "../../reservoir/profile.js";
import { oneByOne } from "./one-by-one.js";
import type { SweepMembersOptions, SweepSetting } from "./options.js";

/** One reservoir of a sweep, and how well its readout does. */
export interface SweptReservoir {
  readonly seed: Seed;
  readonly setting: SweepSetting;
  /** The description that this member is made from. */
  readonly config: ReservoirConfig;
  readonly lambda: number;
  readonly score: number;
}

/** Every setting of a reservoir with every seed. */
export class SweepMembers {
  readonly seeds: readonly Seed[];
  readonly settings: readonly SweepSetting[];
  readonly template: ReservoirConfig;
  readonly lambdas: readonly number[];
  readonly features: FeatureSpec;
  /** The trainer of each lambda. */
  readonly trainers: ReadonlyMap<number, RidgeTrainer>;
  readonly #options: SweepMembersOptions;
  readonly #variants: readonly ReservoirConfig[];

  private constructor(options: SweepMembersOptions, describe: (options: ReservoirOptions) => ReservoirConfig) {
    const { reservoir, settings, transform, input, intercept } = options;
    this.#options = options;
    this.settings = settings;
    this.seeds = options.seeds ?? [reservoir.seed ?? "spillway"];
    this.template = describe(reservoir);
    if (this.template.feedback)
      throw ArgumentError.because("reservoir has feedback; a sweep takes reservoirs without", { field: "reservoir" });
    for (const seed of this.seeds) describe({ ...reservoir, seed });
    this.#variants = settings.map(({ lambda: _, ...setting }) => describe({ ...reservoir, ...setting }));
    this.lambdas = settings.map(({ lambda = 1e-6 }) => lambda);
    this.trainers = new Map(this.lambdas.map((lambda) => [lambda, ridge({ transform, input, intercept, lambda })]));
    this.features = this.trainers.get(this.lambdas[0]!)!.features;
  }

  /** @throws ArgumentError naming what is wrong with the description or a setting */
  static async of(options: SweepMembersOptions): Promise<SweepMembers> {
    const { resolveConfig } = await import("../../reservoir/config-schema.js");
    return new SweepMembers(options, resolveConfig);
  }

  configOf(seed: number, setting: number): ReservoirConfig {
    return { ...this.#variants[setting]!, seed: this.seeds[seed]! };
  }

  /** @throws ArgumentError if so many rows do not determine the readout of a member with lambda 0 */
  checkDetermined(rows: number): void {
    const { size, inputSize } = this.template;
    const count = featureCount(this.features, size, inputSize) + (this.#options.intercept ? 1 : 0);
    if (Math.min(...this.lambdas) === 0 && rows < count)
      throw ArgumentError.shape(
        `${rows} rows do not determine ${count} weights an output with lambda 0; it takes as many rows, or lambda above 0`,
      );
  }

  /** The member of a seed and a setting, by their indices, with its score. @throws ArgumentError */
  member(seed: number, setting: number, scores: Matrix): SweptReservoir {
    const { seeds, settings, lambdas } = this;
    if (!(seed in seeds && setting in settings))
      throw ArgumentError.because(
        `there is no member ${seed}, ${setting}; there are ${seeds.length} seeds and ${settings.length} settings`,
      );
    return {
      ...{ seed: seeds[seed]!, setting: settings[setting]!, config: this.configOf(seed, setting) },
      ...{ lambda: lambdas[setting]!, score: scores.at(seed, setting) },
    };
  }

  /**
   * Evaluates every setting with every seed; candidates are in this order.
   * @throws WorkInterruptedError
   */
  async evaluate(
    ask: ReadoutAsk<EvaluatedMember>,
  ): Promise<{ readonly engine: Engine; readonly reason: string; readonly profile?: Profile | undefined }> {
    const { seeds, lambdas, template, trainers } = this;
    const steps = seeds.length * lambdas.length * stepsOf(ask);
    const { engine, reason } = await engineFor(this.#options.engine, template, steps);
    const variants = this.#variants.map((config, i) => ({ config, lambdas: [lambdas[i]!] }));
    const candidates = seeds.flatMap((seed) => variants.map(({ config, lambdas }) => ({ config, seed, lambdas })));
    const { signal, onProgress, profile } = this.#options;
    const one: EvaluateOptions["oneByOne"] = (on, work) => oneByOne(on, work, trainers);
    const made = await evaluate(candidates, () => ask, { engine, signal, onProgress, profile, oneByOne: one });
    return { engine, reason, ...(made.profile ? { profile: made.profile } : {}) };
  }
}
