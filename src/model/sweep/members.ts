// What the sweeps share: which members there are, and the parts that they are made in.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Seed } from "@spillway/numerics";
import type { FeatureOptions } from "../../readout/index.js";
import type { ReservoirConfig } from "../../reservoir/config.js";
import type { EnginePlan, SweepMember } from "../../reservoir/engine.js";
import { type Base, leakRatesOf, memberOf } from "../../reservoir/swept.js";
import { expectedNonzeros } from "../../reservoir/topologies/index.js";
import type { SeedRange } from "./bases.js";

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
    const leakRates = leakRatesOf(seeds[b]!);
    return variants.map((variant, i) => memberOf(base, b, variant, leakRates(variant.leakRate, variant.size), lambdas[i]!));
  });
}

/** The place of the smallest score, or -1 if none is a number. */
export function smallest(scores: Float64Array): number {
  let best = -1;
  for (const [i, score] of scores.entries()) if (!Number.isNaN(score) && (best < 0 || score < scores[best]!)) best = i;
  return best;
}
