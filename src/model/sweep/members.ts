// What the sweeps share: which members there are, the parts that they are made in, and the engine
// that takes them.
import { ArgumentError } from "../../core/errors.js";
import type { Seed } from "../../numerics/index.js";
import type { FeatureOptions } from "../../readout/index.js";
import { checkActivation, isOwnActivation } from "../../reservoir/activations.js";
import type { ReservoirConfig } from "../../reservoir/config.js";
import type { EnginePlan, SweepMember } from "../../reservoir/engine.js";
import { EngineUnavailableError } from "../../reservoir/engine.js";
import { chooseEngine, type EngineChoice } from "../../reservoir/engines.js";
import { expectedShape } from "../../reservoir/shape.js";
import { expectedNonzeros } from "../../reservoir/topologies/index.js";
import { leakRateOf, weightFactor } from "../../reservoir/weights.js";
import type { Base, SeedRange } from "./bases.js";

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
export function planOf(results: readonly { readonly plan: EnginePlan }[], reservoirs: number): EnginePlan {
  const { plan } = results[0]!;
  if (results.length === 1) return plan;
  const details = { ...plan.details, reservoirs, parts: results.length };
  return { ...plan, summary: `${reservoirs} reservoirs in ${results.length} parts, the first: ${plan.summary}`, details };
}

export function featuresOf({ transform, input, intercept }: FeatureOptions): FeatureOptions {
  return { transform, input, intercept };
}

/**
 * A device that makes all members at once is worth opening from about this many reservoir-steps
 * times neurons on, a second of one core.
 */
const worthADevice = 2e8;

/** "auto" chooses for one reservoir; many of them suit a device better. */
export async function engineFor(name: string | undefined, template: ReservoirConfig, steps: number): Promise<EngineChoice> {
  const { size, activation } = template;
  const chosen = await chooseEngine(name, expectedShape(template));
  checkActivation(chosen.engine, activation);
  if ((name !== undefined && name !== "auto") || chosen.engine.sweep || isOwnActivation(activation) || steps * size < worthADevice)
    return chosen;
  try {
    const { engine } = await chooseEngine("cuda");
    return { engine, reason: `auto: ${(await engine.probe()).reason}; ${steps.toLocaleString("en")} reservoir-steps run together there` };
  } catch (error) {
    if (error instanceof EngineUnavailableError) return chosen;
    throw error;
  }
}

export function checkDetermined(rows: number, count: number, lambda: number): void {
  if (lambda === 0 && rows < count)
    throw ArgumentError.shape(
      `${rows} rows do not determine ${count} weights an output with lambda 0; it takes as many rows, or lambda above 0`,
    );
}

/** The members of some seeds, seed by seed, each with every variant of the description. */
export function membersOf(
  bases: readonly Base[],
  seeds: readonly Seed[],
  variants: readonly ReservoirConfig[],
  lambdas: readonly number[],
): SweepMember[] {
  return bases.flatMap((base, b) => {
    const seed = seeds[b]!;
    const leakRates = leakRatesOf(seed);
    return variants.map((variant, i) => memberOf(base, b, { ...variant, seed }, leakRates(variant.leakRate, variant.size), lambdas[i]!));
  });
}

/** Leak rates of a seed: of one description one list, which an engine then has once. */
export function leakRatesOf(
  seed: ReservoirConfig["seed"],
): (leakRate: ReservoirConfig["leakRate"], size: number) => SweepMember["leakRate"] {
  const lists = new Map<ReservoirConfig["leakRate"], readonly number[]>();
  return (leakRate, size) => {
    if (typeof leakRate === "number" || !("from" in leakRate)) return leakRate;
    const list = lists.get(leakRate) ?? Array.from({ length: size }, leakRateOf({ leakRate, seed }));
    lists.set(leakRate, list);
    return list;
  };
}

/** One member of a base. */
export function memberOf(
  { drawn, model: { precision } }: Base,
  base: number,
  config: ReservoirConfig,
  leakRate: SweepMember["leakRate"],
  lambda: number,
): SweepMember {
  const { inputScaling, bias, noiseLevel } = config;
  const factor = weightFactor(config, drawn);
  return { base, factor, inputScaling, bias, leakRate, noiseLevel: precision === "float32" ? Math.fround(noiseLevel) : noiseLevel, lambda };
}

/** The place of the smallest score, or -1 if none is a number. */
export function smallest(scores: Float64Array): number {
  let best = -1;
  for (const [i, score] of scores.entries()) if (!Number.isNaN(score) && (best < 0 || score < scores[best]!)) best = i;
  return best;
}
