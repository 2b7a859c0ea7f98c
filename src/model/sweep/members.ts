// What the sweeps share: every setting of a description with every seed, in parts whose weights are
// drawn while the members of the part before are evaluated.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Seed } from "@spillway/numerics";
import { type FeatureOptions, type RidgeTrainer, ridge } from "../../readout/index.js";
import type { ReservoirConfig, ReservoirOptions } from "../../reservoir/config.js";
import type { Engine, EnginePlan, SweepMember, WorkOptions } from "../../reservoir/engine.js";
import { type FeatureSpec, featureCount } from "../../reservoir/features.js";
import { addMeasurements, type EngineProfile, type Profile } from "../../reservoir/profile.js";
import { type Base, engineFor, leakRatesOf, memberOf } from "../../reservoir/swept.js";
import { expectedNonzeros } from "../../reservoir/topologies/index.js";
import { WorkInterruptedError } from "../../reservoir/work.js";
import { BaseDrawing, type SeedRange } from "./bases.js";

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

/** Which reservoirs a sweep has, and where they run. */
export interface SweepMembersOptions extends WorkOptions, FeatureOptions {
  /** The reservoir that all are variants of; it has no feedback. */
  readonly reservoir: ReservoirOptions;
  /** Seeds of the weights; default only the description's. */
  readonly seeds?: readonly Seed[] | undefined;
  /** The settings that are tried with every seed. */
  readonly settings: readonly SweepSetting[];
  /** Rows at the start that train nothing; default 0. */
  readonly washout?: number | undefined;
  /**
   * Default "auto": for many reservoir-steps a GPU if there is one, else what suits a single
   * reservoir.
   */
  readonly engine?: string | undefined;
  /**
   * Measure what the work costs, phase by phase: the result's `profile`. Default false, and then
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

/**
 * Members of one part of a sweep: enough to fill a device, and few enough to draw the next ones
 * meanwhile.
 */
const membersOfPart = 8192;

/** Bytes of W of the seeds of one part, near enough. */
const weightBytesOfPart = 2 ** 28;

/** The seeds of each part, in order; parts of one size, but for the last. */
export function partsOf(seeds: number, settings: number, config: ReservoirConfig): SeedRange[] {
  const fit = Math.floor(weightBytesOfPart / (16 * expectedNonzeros(config) + 1));
  const most = Math.max(1, Math.min(Math.ceil(membersOfPart / settings), fit));
  const size = Math.ceil(seeds / Math.ceil(seeds / most));
  return Array.from({ length: Math.ceil(seeds / size) }, (_, p) => ({ from: p * size, to: Math.min(seeds, (p + 1) * size) }));
}

/** The plan of all parts. */
function planOf(results: readonly { readonly plan: EnginePlan }[], reservoirs: number): EnginePlan {
  const { plan } = results[0]!;
  if (results.length === 1) return plan;
  const details = { ...plan.details, reservoirs, parts: results.length };
  return { ...plan, summary: `${reservoirs} reservoirs in ${results.length} parts, the first: ${plan.summary}`, details };
}

/** Some seeds of a sweep, drawn, with the members of each. */
export interface SweepPart extends SeedRange {
  readonly bases: readonly Base[];
  /** Seed by seed, each with every setting. */
  readonly members: readonly SweepMember[];
  /** The description of member m of the part. */
  readonly configOf: (m: number) => ReservoirConfig;
  readonly onProgress: (done: number) => void;
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
  member(seed: number, setting: number, score: (seed: number, setting: number) => number): SweptReservoir {
    const { seeds, settings, lambdas } = this;
    if (!(seed in seeds && setting in settings))
      throw ArgumentError.because(
        `there is no member ${seed}, ${setting}; there are ${seeds.length} seeds and ${settings.length} settings`,
      );
    return {
      ...{ seed: seeds[seed]!, setting: settings[setting]!, config: this.configOf(seed, setting) },
      ...{ lambda: lambdas[setting]!, score: score(seed, setting) },
    };
  }

  /**
   * Evaluates all members part by part. The weights of a part are drawn while the members of the
   * part before run.
   * @param rows the steps of a member
   * @param evaluate starts the work of a part
   * @param take takes what the part gave
   * @throws WorkInterruptedError
   */
  async run<Result extends { readonly plan: EnginePlan; readonly profile?: EngineProfile | undefined }>(
    rows: number,
    evaluate: (part: SweepPart, engine: Engine) => Promise<Result>,
    take: (part: SweepPart, result: Result) => void = () => undefined,
  ): Promise<{ readonly engine: Engine; readonly reason: string; readonly profile?: Profile }> {
    const { onProgress, profile } = this.#options;
    const { seeds, settings, template } = this;
    const total = seeds.length * settings.length * rows;
    const { engine, reason } = await engineFor(this.#options.engine, template, total);
    const begun = performance.now();
    const results: Result[] = [];
    let done = 0;
    const drawing = BaseDrawing.of(seeds, this.#variants, engine, this.#options, () => done, total);
    try {
      const parts = partsOf(seeds.length, settings.length, template);
      let ahead = drawing.draw(parts[0]!);
      for (const [p, range] of parts.entries()) {
        const before = done;
        const part = this.#part(range, await ahead, (made) => {
          done = before + made;
          onProgress?.(done, total);
        });
        const running = evaluate(part, engine);
        // The engine has its work; what the next part takes is drawn meanwhile.
        const next = parts[p + 1];
        if (next) {
          ahead = drawing.draw(next);
          ahead.catch(() => undefined);
        }
        const result = await running;
        results.push(result);
        take(part, result);
      }
    } catch (error) {
      if (!(error instanceof WorkInterruptedError)) throw error;
      throw new WorkInterruptedError(done, total, error.cause);
    } finally {
      await drawing.dispose();
    }
    if (!profile) return { engine, reason };
    const milliseconds = performance.now() - begun;
    const measured = results.flatMap((result) => result.profile ?? []);
    const plan = planOf(results, seeds.length * settings.length);
    const phases = addMeasurements([drawing.profile(), ...measured]);
    return { engine, reason, profile: { engine: engine.name, plan, calls: 1, milliseconds, ...phases } };
  }

  #part(range: SeedRange, bases: readonly Base[], onProgress: (done: number) => void): SweepPart {
    const members = bases.flatMap((base, b) => {
      const leakRates = leakRatesOf(this.seeds[range.from + b]!);
      return this.#variants.map((variant, i) => memberOf(base, b, variant, leakRates(variant.leakRate, variant.size), this.lambdas[i]!));
    });
    const configOf = (m: number) => this.configOf(range.from + members[m]!.base, m % this.settings.length);
    return { ...range, bases, members, configOf, onProgress };
  }
}

/** The index of the smallest score, or -1 if none is a number. */
export function smallest(scores: Float64Array): number {
  let best = -1;
  for (const [i, score] of scores.entries()) if (!Number.isNaN(score) && (best < 0 || score < scores[best]!)) best = i;
  return best;
}
