// What a run found, as result.json has it. It measures nothing.
import { metrics } from "../../metrics/index.js";
import type { Seed } from "@spillway/numerics";
import type { AnyModel, EnginePlan, Profile } from "../../reservoir/index.js";
import { baselineName } from "../../series/index.js";
import type { Bands } from "../tasks/bands.js";
import type { ClassResult } from "../tasks/classes.js";
import type { MetricName, OpenExperiment } from "../description/description.js";
import type { ChosenSettings, WeighedMembers } from "../tasks/forecast-choice.js";
import type { Machine } from "./machine.js";
import { isCombined } from "../description/model-fits.js";
import { modelTypeOf } from "../description/model-options.js";
import { type ColumnScores, meanAndDeviation, median, quantile, type Scores, takesQuantiles } from "../tasks/scores.js";
import type { SaidVerdict } from "../tasks/verdict.js";

export type { Scores } from "../tasks/scores.js";

/** What one seed gave. */
export interface SeedResult {
  readonly seed: Seed;
  readonly scores: Scores;
  /** Scores of each baseline on the same data, by its name: of forecasts of every one. */
  readonly baselines: Readonly<Record<string, Scores>>;
  /** Of several columns: each by itself. */
  readonly columns?: readonly ColumnScores[] | undefined;
  /** How the readout came about: method, lambda, rows. */
  readonly readout: Readonly<Record<string, unknown>>;
  /** Of forecasts whose settings were chosen: which, and among what. */
  readonly choice?: ChosenSettings | undefined;
  /** Of a combination: its members with their weights. */
  readonly weighed?: WeighedMembers | undefined;
  /** Spectral radius of W before scaling, and how it was found; of rate reservoirs. */
  readonly measuredRadius?: number | undefined;
  readonly radiusMethod?: string | undefined;
  /** Seconds by phase. */
  readonly timing: Readonly<Record<string, number>>;
  /** With --profile, of training and testing. */
  readonly profile?: Profile | undefined;
}

/**
 * One metric over all seeds. A score that is not finite (a forecast that left for infinity) is null
 * in JSON.
 */
export interface ScoreSummary {
  readonly metric: MetricName;
  /** The median or the mean, as the experiment asks. */
  readonly value: number;
  readonly statistic: "median" | "mean";
  readonly median: number;
  /** A quarter of the seeds lies below the first, a quarter above the second. */
  readonly quartiles: readonly [number, number];
  readonly mean: number;
  readonly sd: number;
  readonly seeds: number;
  readonly better: "lower" | "higher";
  readonly unit?: string | undefined;
  readonly baselines: readonly { readonly name: string; readonly value: number }[];
  readonly published?: { readonly value: number; readonly source: string } | undefined;
}

/** One of several columns by itself. */
export interface ColumnSummary {
  readonly column: string;
  readonly scores: readonly ScoreSummary[];
  /** Of forecasts. */
  readonly verdict?: SaidVerdict | undefined;
  /** The share of its test values that bands hold. */
  readonly covered?: number | undefined;
}

/**
 * An experiment whose reservoir has every default filled in, once a seed has been run. The seeds
 * stand beside it.
 */
export type ResolvedExperiment = Omit<OpenExperiment, "reservoir" | "readout"> & {
  /** Undefined of a model without one. */
  readonly reservoir?: Omit<AnyModel["config"], "seed"> | OpenExperiment["reservoir"] | undefined;
  readonly readout?: OpenExperiment["readout"] | undefined;
};

/** result.json. */
export interface ExperimentResult {
  readonly format: "spillway-result";
  readonly formatVersion: 1;
  readonly name: string;
  readonly description?: string | undefined;
  /** Whether it was stopped before all seeds were done. */
  readonly interrupted: boolean;
  readonly finished: string;
  readonly scores: readonly ScoreSummary[];
  readonly seeds: readonly SeedResult[];
  /** Of forecasts: what was chosen, in a sentence. */
  readonly choice?: { readonly sentence: string } | undefined;
  /** Of forecasts: how they stand against the best baseline, and that in a sentence. */
  readonly verdict?: SaidVerdict | undefined;
  /** Of 2 to 64 columns: each by itself. */
  readonly columns?: readonly ColumnSummary[] | undefined;
  /** Of forecasts: the bands of forecasts.csv, and how much they hold. */
  readonly bands?: (Bands & { readonly sentence: string }) | undefined;
  /** Of classifications: how well each class was found. */
  readonly classes?: ClassResult | undefined;
  readonly engine: { readonly name: string; readonly reason: string; readonly plan: EnginePlan } | undefined;
  readonly data: Readonly<Record<string, unknown>>;
  /**
   * The experiment with every default filled in: an experiment file that gives this result again.
   */
  readonly config: ResolvedExperiment;
  /** Seconds of all seeds by phase, and in all. */
  readonly timing: Readonly<Record<string, number>>;
  /** With --profile, of all seeds together. */
  readonly profile?: Profile | undefined;
  readonly versions: Readonly<Record<string, string>>;
  readonly machine: Machine;
  readonly files: readonly string[];
}

/**
 * One figure a metric out of the seeds that are finished, beside the baselines that the experiment
 * names and the strongest one.
 */
export function summarise(
  experiment: OpenExperiment,
  seeds: readonly Pick<SeedResult, "scores" | "baselines">[],
  unit: (metric: MetricName) => string | undefined,
  strongest?: string,
): ScoreSummary[] {
  if (seeds.length === 0) return [];
  const { statistic } = experiment.scoring;
  const middle = (values: readonly number[]) => (statistic === "median" ? median(values) : meanAndDeviation(values).mean);
  // Without a test part there are no scores.
  const metricsScored = experiment.metrics.filter((metric) => seeds.every(({ scores }) => metric in scores));
  return metricsScored.map((metric) => {
    const values = seeds.map(({ scores }) => scores[metric]!);
    const published = experiment.published.find(({ score }) => score === metric);
    const asked = askedBaselines(experiment);
    const baselines = Object.keys(seeds[0]!.baselines)
      // A baseline has no quantiles.
      .filter((name) => (asked.includes(name) || name === strongest) && !takesQuantiles(metric))
      .map((name) => ({ name, value: middle(seeds.map((seed) => seed.baselines[name]![metric]!)) }));
    return {
      metric,
      value: middle(values),
      statistic,
      median: median(values),
      quartiles: [quantile(values, 0.25), quantile(values, 0.75)],
      ...meanAndDeviation(values),
      seeds: values.length,
      better: metrics.get(metric).better,
      unit: unit(metric),
      baselines,
      published: published && { value: published.value, source: published.source },
    };
  });
}

/** The names of the baselines that an experiment asks for. */
export function askedBaselines({ baselines }: Pick<OpenExperiment, "baselines">): string[] {
  return baselines.map((each) => (each === "majority" ? each : baselineName(each)));
}

/**
 * The fields in the order in which people write them: of an object spread over others, the first
 * gives the order.
 */
const asWritten = Object.fromEntries(
  (
    [
      ...(["name", "description", "data", "transforms", "encode", "model", "reservoir", "readout", "task", "washout"] as const),
      ...(["split", "seeds", "metrics", "scoring", "baselines", "published", "outputs", "map", "engine", "plan"] as const),
    ] satisfies (keyof OpenExperiment)[]
  ).map((name) => [name, undefined]),
);

/** An experiment with the reservoir as it was run, in the order in which people write one. */
export function resolveExperiment(experiment: OpenExperiment, resolved: AnyModel["config"] | undefined): ResolvedExperiment {
  if (modelTypeOf(experiment) === "nvar" || experiment.task.type === "anomalies")
    return { ...asWritten, ...experiment, reservoir: undefined, readout: undefined };
  // A combination whose file does not describe the loop's, before a loop was trained.
  if (!resolved && isCombined(experiment.task) && experiment.reservoir.size === undefined)
    return { ...asWritten, ...experiment, reservoir: undefined };
  const { seed: _, ...reservoir } = { seed: undefined, ...(resolved ?? experiment.reservoir) };
  return { ...asWritten, ...experiment, reservoir };
}

/** The seconds of all seeds, by phase. */
export function totalTiming(seeds: readonly SeedResult[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const { timing } of seeds) for (const [phase, seconds] of Object.entries(timing)) total[phase] = (total[phase] ?? 0) + seconds;
  return total;
}

/** result.json as text. */
export function formatResult(result: ExperimentResult | readonly ExperimentResult[]): string {
  return JSON.stringify(result, (_, value: unknown) => (typeof value === "number" && !Number.isFinite(value) ? null : value), 2);
}
