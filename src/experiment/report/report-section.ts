// A result for people: the section of a report page, and the words it shares with a terminal.
import { formatNumber, formatShare } from "../../plot/format.js";
import type { Figure, ReportScore, ReportSection } from "../../plot/index.js";
import { isComposite, partsOf } from "../../reservoir/composite/config.js";
import { type AnyReservoirOptions, isSpiking, type ReservoirOptions, type SpikingReservoirOptions } from "../../reservoir/index.js";
import { isRegistered } from "../../reservoir/registered/model.js";
import { describeModel } from "../description/model-options.js";
import { countedTypes, type TypesFound } from "../description/pattern-types.js";
import { profileFacts } from "../runs/profile.js";
import type { ExperimentResult, ScoreSummary, SeedResult } from "../runs/result.js";
import { classTable } from "../tasks/classes.js";
import type { SaidVerdict } from "../tasks/verdict.js";
import { timingFigure } from "./timing-figure.js";

/**
 * How a summary was made of its seeds, in words, with their spread; undefined for a single seed.
 */
export function statisticOf({ seeds, statistic, sd, quartiles }: ScoreSummary): string | undefined {
  const spread = statistic === "mean" ? `sd ${formatNumber(sd)}` : `quartiles ${quartiles.map(formatNumber).join(" and ")}`;
  return seeds > 1 ? `${statistic} of ${seeds} seeds, ${spread}` : undefined;
}

/**
 * How a result stands against its baselines, in words. Forecasts against the best of all on the
 * same starts; of other tasks how far each score is from its best baseline: "Better than every
 * baseline: rmse 0.83 times persistence."
 */
export function verdictOf({ scores, verdict }: ExperimentResult): string | undefined {
  if (verdict) return verdict.sentence;
  const better: string[] = [];
  const worse: string[] = [];
  for (const { metric, value, better: side, baselines } of scores) {
    const sign = side === "lower" ? 1 : -1;
    const [best] = baselines.toSorted((a, b) => sign * (a.value - b.value));
    if (!best) continue;
    const ratio = value / best.value;
    // Of scores that may be negative, such as r2, a multiple says nothing.
    const distance =
      value === best.value
        ? "equal to"
        : ratio > 0 && value > 0 && Number.isFinite(ratio) && metric !== "r2"
          ? `${formatNumber(ratio)} times`
          : value < best.value
            ? "below"
            : "above";
    (sign * (value - best.value) < 0 ? better : worse).push(`${metric} ${distance} ${best.name}`);
  }
  const parts = [
    ...(worse.length > 0 ? [`Not better than a baseline: ${worse.join(", ")}.`] : []),
    ...(better.length > 0 ? [`Better than every baseline: ${better.join(", ")}.`] : []),
  ];
  return parts.length > 0 ? parts.join(" ") : undefined;
}

/** A result as a section of a page. */
export function reportSection(result: ExperimentResult, figures: readonly Figure[], config: string): ReportSection {
  const { engine, seeds, scores } = result;
  const { model } = result.config;
  const first = seeds[0];
  const time = timingFigure(result.timing);
  const verdict = verdictOf(result);
  return {
    title: result.name,
    lead: result.description,
    warnings: warningsOf(result),
    facts: [
      ...(model ? [["model", describeModel(model)] as const] : []),
      ...(result.config.reservoir ? [["reservoir", describeReservoir(result)] as const] : []),
      ...(first?.readout["method"] === undefined ? [] : [["readout", describeReadout(first.readout)] as const]),
      ...(result.choice ? [["chosen", result.choice.sentence] as const] : []),
      ["data", String(result.data["summary"] ?? "")],
      ...(result.data["times"] ? [["time", String(result.data["times"])] as const] : []),
      ["task", String(result.data["task"] ?? "")],
      ...typeFacts(first?.readout),
      ["seeds", seeds.length === 0 ? "none finished" : listSeeds(seeds.map(({ seed }) => String(seed)))],
      ...(engine ? [["engine", `${engine.name} (${engine.reason})`] as const, ["plan", engine.plan.summary] as const] : []),
      ["time", describeTiming(result.timing)],
      ...(verdict ? [["against baselines", verdict] as const] : []),
      ...(result.bands ? [["bands", result.bands.sentence] as const] : []),
      ...(result.profile ? profileFacts(result.profile) : []),
    ],
    scores: scores.map(
      (score): ReportScore => ({
        metric: score.metric,
        value: score.value,
        statistic: statisticOf(score),
        unit: score.unit,
        baselines: score.baselines,
        published: score.published,
        better: score.better,
      }),
    ),
    perSeed: {
      heads: ["seed", ...scores.map(({ metric }) => metric)],
      lines: seeds.map((seed) => [String(seed.seed), ...scores.map(({ metric }) => seed.scores[metric]!)]),
    },
    ...(result.columns ? { table: { caption: "Scores by column", ...columnTable(result, Infinity) } } : {}),
    ...(result.classes ? { table: { caption: classCaption(result), ...classTable(result.classes, Infinity) } } : {}),
    figures: time ? [...figures, time] : figures,
    config,
  };
}

/** What types of pattern the spikes of a liquid have, by class, if they were looked for. */
function typeFacts(readout: SeedResult["readout"] | undefined): (readonly [string, string])[] {
  const { types } = (readout?.["details"] ?? {}) as { readonly types?: TypesFound };
  if (!types) return [];
  return Object.entries(types.classes).map(([label, counts]) => [`types of pattern, ${label}`, countedTypes(counts)]);
}

/** Columns that a terminal shows. */
const mostLines = 40;

/**
 * Heads and lines: each column with its scores, its best baseline and how it stands against it.
 * Without lines if there are more columns than are shown.
 */
export function columnTable({ columns = [], scores }: ExperimentResult, most = mostLines) {
  const isForecast = columns.some(({ verdict }) => verdict);
  const hasBands = columns.some(({ covered }) => covered !== undefined);
  const heads = [
    "column",
    ...scores.map(({ metric }) => metric),
    "best baseline",
    ...(isForecast ? ["the model is", "skill"] : []),
    ...(hasBands ? ["bands hold"] : []),
  ];
  const lines = columns
    .slice(0, columns.length <= most ? most : 0)
    .map(({ column, scores: own, verdict, covered }) => [
      column,
      ...own.map(({ value }) => value),
      bestOf(own[0], verdict),
      ...(isForecast ? [againstBaseline(verdict), verdict?.skill ?? Number.NaN] : []),
      ...(hasBands ? [covered === undefined ? "" : formatShare(covered)] : []),
    ]);
  return { heads, lines };
}

function bestOf(first: ScoreSummary | undefined, verdict: SaidVerdict | undefined): string {
  if (verdict) return `${verdict.against}: rmse ${formatNumber(verdict.baselineRmse)}`;
  const sign = first?.better === "higher" ? -1 : 1;
  const [best] = first?.baselines.toSorted((a, b) => sign * (a.value - b.value)) ?? [];
  return best ? `${best.name}: ${first!.metric} ${formatNumber(best.value)}` : "";
}

function againstBaseline(verdict: SaidVerdict | undefined): string {
  if (!verdict) return "";
  return !verdict.differs ? "no different" : verdict.interval[1] < 0 ? "better" : "worse";
}

/** "Scores by class, 3 seeds together; expected calibration error 0.02" */
export function classCaption({ classes, seeds }: ExperimentResult): string {
  const { reliability } = classes ?? {};
  return [
    `Scores by class${seeds.length > 1 ? `, ${seeds.length} seeds together` : ""}`,
    ...(reliability ? [`expected calibration error ${formatNumber(reliability.expectedCalibrationError)}`] : []),
  ].join("; ");
}

function warningsOf({ interrupted, seeds, config, scores }: ExperimentResult): string[] {
  const warnings: string[] = [];
  if (interrupted) warnings.push(`This run was stopped after ${seeds.length} of ${config.seeds.length} seeds.`);
  const bad = scores.filter(({ metric }) => seeds.some((seed) => !Number.isFinite(seed.scores[metric])));
  if (bad.length > 0) {
    const count = seeds.filter((seed) => bad.some(({ metric }) => !Number.isFinite(seed.scores[metric]))).length;
    warnings.push(
      `Of ${count} of ${seeds.length} seeds a prediction left for infinity: a larger lambda, or a smaller spectral radius, may hold it.`,
    );
  }
  return warnings;
}

function describeReservoir({ config, seeds }: ExperimentResult): string {
  const reservoir = config.reservoir as AnyReservoirOptions;
  if (isSpiking(reservoir)) return describeSpikingReservoir(reservoir);
  if (isRegistered(reservoir)) return `${reservoir.kind}, size ${reservoir.size}, ${reservoir.precision ?? "float32"}`;
  if (!isComposite(reservoir)) return describeRateReservoir(reservoir, seeds[0]?.measuredRadius);
  const { layers, groups, read, ...beside } = reservoir;
  const parts = partsOf(reservoir).map((part) => describeRateReservoir({ ...beside, ...part } as ReservoirOptions, undefined));
  const what = layers ? `${parts.length} layers${read === "last" ? ", the last read" : ""}` : `${parts.length} groups`;
  return `${what}: ${parts.join("; ")}`;
}

function describeRateReservoir(reservoir: ReservoirOptions, measured = Number.NaN): string {
  const { size, spectralRadius, leakRate, precision, topology } = reservoir;
  const radius = spectralRadius === null ? `as drawn (${formatNumber(measured)})` : String(spectralRadius ?? 0.95);
  const leak =
    typeof leakRate !== "object" ? String(leakRate ?? 0.3) : "from" in leakRate ? `${leakRate.from} to ${leakRate.to}` : "one per neuron";
  const pattern = typeof topology === "object" ? topology.type : (topology ?? "erdosRenyi");
  return `N = ${size}, ${pattern}, spectral radius ${radius}, leak rate ${leak}, ${precision ?? "float32"}`;
}

function describeSpikingReservoir({ size, neuron, connectivity, timeStep, precision }: SpikingReservoirOptions): string {
  const typeOf = (value: string | { readonly type: string } | undefined, usual: string) =>
    typeof value === "object" ? value.type : (value ?? usual);
  const neurons = typeOf(neuron, "leakyIntegrateAndFire");
  return `N = ${size}, ${neurons}, connected by ${typeOf(connectivity, "distance")}, steps of ${timeStep ?? 1} ms, ${precision ?? "float32"}`;
}

function describeReadout({ method, rows, details }: Readonly<Record<string, unknown>>): string {
  const shown = Object.entries((details ?? {}) as Record<string, unknown>).filter(([, value]) =>
    ["string", "number", "boolean"].includes(typeof value),
  );
  return [
    String(method),
    ...shown.map(([name, value]) => `${name} ${typeof value === "number" ? formatNumber(value) : String(value)}`),
    ...(rows === undefined ? [] : [`${rows} rows`]),
  ].join(", ");
}

function describeTiming(timing: Readonly<Record<string, number>>): string {
  const { total = 0, ...phases } = timing;
  const parts = Object.entries(phases).filter(([, value]) => value >= 0.005);
  return `${formatSeconds(total)}${parts.length > 0 ? ` (${parts.map(([phase, value]) => `${phase} ${formatSeconds(value)}`).join(", ")})` : ""}`;
}

function listSeeds(seeds: readonly string[]): string {
  return seeds.length <= 8 ? seeds.join(", ") : `${seeds.slice(0, 3).join(", ")}, ... ${seeds.at(-1)} (${seeds.length})`;
}

/** Seconds with their unit, in two digits below ten. */
export function formatSeconds(value: number): string {
  return value < 10 ? `${value.toFixed(2)} s` : `${value.toFixed(1)} s`;
}
