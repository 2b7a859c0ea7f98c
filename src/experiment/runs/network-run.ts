// Runs a network of populations over its seeds, and writes its folder: measures by population,
// report with raster and rates, spikes.
import { checkHas } from "@spillway/core/checks.js";
import { join } from "node:path";
import { stringify } from "yaml";
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { type NpySource, writeFileAtomic, writeNpz } from "@spillway/io";
import type { Seed } from "@spillway/numerics";
import { formatNumber } from "../../plot/format.js";
import {
  type Figure,
  plotPopulationRaster,
  plotPopulationRates,
  plotWeights,
  type ReportSection,
  type ReportTable,
  reportHtml,
} from "../../plot/index.js";
import {
  mergePatterns,
  type NetworkPlan,
  type PopulationStatistics,
  populationStatistics,
  type SpikePattern,
  SpikingNetwork,
  writeSpikePattern,
} from "../../spikes/index.js";
import { describeMachine, type Machine, versions } from "./machine.js";
import { type NetworkExperiment, type NetworkReference, networkOf, referencesOf } from "../description/network-file.js";
import { OutputFolder } from "./output-folder.js";
import { type ExperimentRunOptions, experimentRunTable } from "./run-options.js";
import { Stopwatch } from "../tasks/trial.js";

/** What a seed gave. */
export interface NetworkSeedResult {
  readonly seed: Seed;
  readonly populations: Readonly<Record<string, PopulationStatistics>>;
  /** Wall time of the recorded part over its model time. */
  readonly realTimeFactor: number;
  /** Seconds: drawing and loading, the discarded part, the recorded part. */
  readonly timing: { readonly draw: number; readonly discard: number; readonly record: number };
}

/** What a run of a network found, as result.json has it. */
export interface NetworkResult {
  readonly format: "spillway-network-result";
  readonly formatVersion: 1;
  readonly name: string;
  readonly description: string | undefined;
  readonly interrupted: boolean;
  readonly finished: string;
  readonly engine: string | undefined;
  readonly neurons: number | undefined;
  readonly synapses: number | undefined;
  readonly seeds: readonly NetworkSeedResult[];
  readonly references: readonly NetworkReference[];
  readonly config: NetworkExperiment;
  readonly versions: Readonly<Record<string, string>>;
  readonly machine: Machine;
  readonly files: readonly string[];
}

/** A run of a network that is over. */
export interface FinishedNetworkRun {
  readonly result: NetworkResult;
  readonly folder: string | undefined;
  readonly replaced: boolean;
}

/**
 * Runs every seed of an experiment with a network. Stopped by its signal, it keeps the seeds that
 * are finished. @throws ArgumentError, EngineUnavailableError, EngineCapacityError
 */
export async function runNetworkExperiment(experiment: NetworkExperiment, options: ExperimentRunOptions = {}): Promise<FinishedNetworkRun> {
  checkHas("experiment", experiment, "an experiment that readNetworkExperiment gave", "seeds", "name");
  const { engine, plan = "auto", context, threads, out, signal, onProgress, announce } = resolve(experimentRunTable, options);
  if (plan !== "auto") throw new ArgumentError("plan", plan, '"auto": a network of spiking neurons has one way to run');
  if (out !== undefined) announce?.(out);
  const folder = out === undefined ? undefined : await OutputFolder.create(join(out, experiment.name));
  const seeds: NetworkSeedResult[] = [];
  let first: ShownSeed | undefined;
  try {
    for (const [k, seed] of experiment.seeds.entries()) {
      if (signal?.aborted) break;
      const report = (share: number) =>
        onProgress?.(Math.round((k + share) * 1000), experiment.seeds.length * 1000, `${experiment.name}, seed ${seed}`);
      const ran = await runSeed(experiment, seed, { engine, context, threads, signal, report, learned: folder !== undefined && !first });
      seeds.push(ran.result);
      first ??= ran.shown;
    }
  } catch (error) {
    if (!(signal?.aborted && error instanceof Error && error.name === "AbortError")) {
      await folder?.discard();
      throw error;
    }
  }
  const interrupted = seeds.length < experiment.seeds.length;
  const { outputs } = experiment;
  const files = first && folder ? (["spikes", "weights", "report"] as const).filter((name) => outputs[name]) : [];
  const result: NetworkResult = {
    ...({ format: "spillway-network-result", formatVersion: 1, name: experiment.name, description: experiment.description } as const),
    ...{ interrupted, finished: new Date().toISOString(), engine: first?.engine, neurons: first?.plan.size },
    synapses: first && Math.round(first.plan.expectedSynapses),
    ...{ seeds, references: referencesOf(experiment), config: experiment, versions: versions(), machine: describeMachine() },
    files: folder ? ["result.json", ...files.map((name) => (name === "report" ? "report.html" : `${name}.npz`))] : [],
  };
  if (!folder) return { result, folder: undefined, replaced: false };
  try {
    if (first) await writeShown(folder, result, first, files);
    await writeFileAtomic(folder.path("result.json"), `${JSON.stringify(result, undefined, 2)}\n`);
    const path = interrupted ? await folder.keepInterrupted() : folder.target;
    return { result, folder: path, replaced: !interrupted && (await folder.commit()) };
  } catch (error) {
    await folder.discard();
    throw folder.named(error);
  }
}

/** What files and figures show of the first seed. */
interface ShownSeed {
  readonly plan: NetworkPlan;
  readonly engine: string;
  readonly spikes: Readonly<Record<string, SpikePattern>>;
  readonly weights: Readonly<Record<string, NpySource>>;
  readonly learned: readonly LearnedWeights[];
}

interface SeedOptions extends Pick<ExperimentRunOptions, "engine" | "context" | "threads" | "signal"> {
  /** Whether weights are sampled before and after, for the figures. */
  readonly learned: boolean;
  /** Reports the share of the seed that is done. */
  readonly report: (share: number) => void;
}

async function runSeed(
  experiment: NetworkExperiment,
  seed: Seed,
  { engine, context, threads, signal, report, learned }: SeedOptions,
): Promise<{ readonly result: NetworkSeedResult; readonly shown: ShownSeed }> {
  report(0);
  const watch = new Stopwatch();
  const create = () => SpikingNetwork.create(networkOf(experiment, seed), { engine, context, threads });
  await using network = await watch.time("draw", create);
  // No part of the times.
  const drawn = learned && experiment.outputs.report ? await sampledWeights(network) : [];
  const { discardMs, durationMs, currents } = experiment;
  const steps = (discardMs + durationMs) / network.config.timeStep;
  const before = discardMs / network.config.timeStep;
  await watch.time("discard", async () => {
    if (discardMs > 0) await network.run(discardMs, { signal, onProgress: (done) => report(done / steps) });
  });
  const onProgress = (done: number) => report((before + done) / steps);
  const { spikes } = await watch.time("record", () => network.run(durationMs, { spikes: true, currents, signal, onProgress }));
  const timing = watch.seconds as NetworkSeedResult["timing"];
  const populations = Object.fromEntries(Object.entries(spikes).map(([name, pattern]) => [name, populationStatistics(pattern)]));
  return {
    result: { seed, populations, realTimeFactor: (1000 * timing.record) / durationMs, timing },
    shown: {
      ...{ plan: network.plan, engine: network.engine, spikes },
      weights: learned && experiment.outputs.weights ? await finalWeights(network) : {},
      learned: drawn.length > 0 ? (await sampledWeights(network)).map((after, k) => ({ ...after, before: drawn[k]!.weights })) : [],
    },
  };
}

async function writeShown(folder: OutputFolder, result: NetworkResult, shown: ShownSeed, files: readonly string[]): Promise<void> {
  const { plan, spikes, weights, learned } = shown;
  if (files.includes("spikes")) await writeSpikePattern(folder.path("spikes.npz"), allSpikes(plan, spikes));
  if (files.includes("weights")) await writeNpz(folder.path("weights.npz"), weights);
  if (!files.includes("report")) return;
  const section = networkSection(result, [...figuresOf(result, spikes), ...learned.map(weightFigure)]);
  await writeFileAtomic(folder.path("report.html"), await reportHtml({ title: result.name, sections: [section] }));
}

/** Sources, targets, delays and weights of every projection whose weights change, by its number. */
async function finalWeights(network: SpikingNetwork): Promise<Record<string, NpySource>> {
  const arrays: Record<string, NpySource> = {};
  for (const [k, { plasticity }] of network.config.projections.entries()) {
    if (plasticity?.kind !== "stdp") continue;
    for (const [name, values] of Object.entries(await network.weights(k))) arrays[`${name}_${k}`] = values;
  }
  return arrays;
}

/** Weights of a projection in the figures, at most. */
const drawnWeights = 200_000;

/** Weights of a projection with spike-timing-dependent plasticity, some of many. */
interface SampledWeights {
  readonly projection: number;
  readonly config: NetworkPlan["config"];
  readonly weights: Float64Array;
}

interface LearnedWeights extends SampledWeights {
  readonly before: Float64Array;
}

async function sampledWeights(network: SpikingNetwork): Promise<SampledWeights[]> {
  const { config } = network;
  const all: SampledWeights[] = [];
  for (const [projection, { plasticity }] of config.projections.entries()) {
    if (plasticity?.kind !== "stdp") continue;
    const { weights } = await network.weights(projection, { sample: drawnWeights });
    if (weights.length > 0) all.push({ projection, config, weights });
  }
  return all;
}

function weightFigure({ projection, config, before, weights }: LearnedWeights): Figure {
  const { from, to, receptor } = config.projections[projection]!;
  const { capacitance, receptors } = config.populations[to.replace(/\[.*/, "")]!;
  const current = capacitance === null ? "mV" : "pA";
  const conductance = capacitance === null ? "of the leak" : "nS";
  return plotWeights(before, weights, {
    title: `Weights from ${from} to ${to}, projections[${projection}]`,
    unit: receptors[receptor]!.reversalPotential === null ? current : conductance,
  });
}

/** The spikes of all populations, by the numbers of the network's neurons. */
function allSpikes({ size, populations }: NetworkPlan, spikes: Readonly<Record<string, SpikePattern>>): SpikePattern {
  const shifted = populations.flatMap(({ name, first }) => {
    const pattern = spikes[name];
    if (!pattern) return [];
    const { times, neurons, durationMs } = pattern;
    return [
      new (pattern.constructor as typeof SpikePattern)(
        { times, neurons: neurons.map((each) => each + first) },
        { durationMs, neuronCount: size },
      ),
    ];
  });
  return mergePatterns(shifted);
}

/** The mean over the seeds, and its standard deviation between them (divisor n - 1). */
function overSeeds(
  seeds: readonly NetworkSeedResult[],
  name: string,
  measure: keyof PopulationStatistics,
): readonly [number, number] | undefined {
  const values = seeds.flatMap(({ populations }) => populations[name]?.[measure] ?? []);
  if (values.length === 0) return undefined;
  const mean = values.reduce((sum, each) => sum + each, 0) / values.length;
  const squares = values.reduce((sum, each) => sum + (each - mean) * (each - mean), 0);
  return [mean, values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : 0];
}

const measures = [
  ["rate, Hz", "rate", "rates"],
  ["CV of intervals", "intervalVariation", "intervalVariation"],
  ["correlation", "correlation", "correlation"],
  ["silent", "silentShare", undefined],
] as const;

/** Measures by population, with the references beside them. */
export function networkTable({ seeds, references }: NetworkResult): ReportTable {
  const names = Object.keys(seeds[0]?.populations ?? {});
  const columns = measures.flatMap(([head, measure, field]) => [
    { head, cell: (name: string) => shown(overSeeds(seeds, name, measure), seeds.length) },
    ...references.flatMap((reference) => {
      const values = field && reference[field];
      return values ? [{ head: `${head} of ${reference.name}`, cell: (name: string) => formatNumber(values[name] ?? Number.NaN) }] : [];
    }),
  ]);
  return {
    heads: ["population", ...columns.map(({ head }) => head)],
    lines: names.map((name) => [name, ...columns.map(({ cell }) => cell(name))]),
  };
}

function shown(value: readonly [number, number] | undefined, seeds: number): string {
  if (!value) return "-";
  return seeds > 1 ? `${formatNumber(value[0])} (${formatNumber(value[1])})` : formatNumber(value[0]);
}

/** What ran, in a line. */
export function networkHeadline({ name, neurons, synapses, engine, seeds, config }: NetworkResult): string {
  const factors = seeds.map(({ realTimeFactor }) => formatNumber(realTimeFactor)).join(", ");
  return `${name}: ${neurons} neurons, ${synapses} synapses; ${config.durationMs} ms after ${config.discardMs} ms; ${engine}; real-time factor ${factors}`;
}

function figuresOf({ seeds, references }: NetworkResult, spikes: Readonly<Record<string, SpikePattern>>): Figure[] {
  const [first] = seeds;
  const of = (measure: "rate" | "rateDeviation") =>
    Object.fromEntries(Object.entries(first!.populations).map(([name, statistics]) => [name, statistics[measure]]));
  const durationMs = Math.max(...Object.values(spikes).map((pattern) => pattern.durationMs));
  return [
    plotPopulationRaster(spikes, { fromMs: Math.max(0, durationMs - 400) }),
    plotPopulationRates(of("rate"), references, { deviations: of("rateDeviation") }),
  ];
}

function networkSection(result: NetworkResult, figures: readonly Figure[]): ReportSection {
  const { name, description, engine, neurons, synapses, seeds, config } = result;
  return {
    title: name,
    lead: description,
    ...(result.interrupted && { warnings: [`The run was interrupted after ${seeds.length} of ${config.seeds.length} seeds.`] }),
    facts: [
      ["engine", engine ?? ""],
      ["network", `${neurons} neurons, ${synapses} synapses`],
      ["time", `${config.durationMs} ms of model time, after ${config.discardMs} ms`],
      ["real-time factor", seeds.map(({ realTimeFactor }) => formatNumber(realTimeFactor)).join(", ")],
      ["drawing", seeds.map(({ timing }) => `${formatNumber(timing.draw)} s`).join(", ")],
    ],
    scores: [],
    table: { caption: "Measures by population; in brackets the standard deviation between seeds", ...networkTable(result) },
    figures,
    config: stringify(config, { lineWidth: 100 }),
  };
}
