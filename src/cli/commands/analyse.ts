// `spillway analyse`: the measures of an experiment's reservoir, and maps of them over two numbers
// of its description.
import "../../index.js";
import { join } from "node:path";
import { ArgumentError } from "@spillway/core/errors.js";
import { ensureFolder, writeInto } from "@spillway/io";
import {
  analyse,
  type MapAxis,
  type MapMeasure,
  type MeasureName,
  mapMeasures,
  type QualityMap,
  type QualityMapOptions,
  qualityMap,
  qualityMapToJson,
  type ReservoirAnalysis,
} from "../../analysis/index.js";
import { axisValues, usualAxes } from "../../analysis/map/options.js";
import { loadDriven } from "../../experiment/data/inputs.js";
import type { MapAxisDescription, OpenExperiment } from "../../experiment/description/description.js";
import { describeMachine, versions } from "../../experiment/runs/machine.js";
import { formatNumber } from "../../plot/format.js";
import { type Figure, plotCapacity, plotMemoryCapacity, plotQualityMap, plotSeries, reportHtml, toSvg } from "../../plot/index.js";
import { isComposite } from "../../reservoir/composite/config.js";
import { ReservoirComputer, type ReservoirOptions } from "../../reservoir/index.js";
import type { Progress } from "../progress.js";
import { formatTable } from "../table.js";
import type { CommandOutcome } from "./run.js";

export interface AnalyseCommandOptions {
  /** Measures to take; left out, all. */
  readonly measures?: readonly string[] | undefined;
  /** Whether the experiment's data drive the exponent, the echo state index and the dynamics. */
  readonly data?: boolean | undefined;
  readonly amplitude?: number | undefined;
  readonly engine?: string | undefined;
  readonly plan?: string | undefined;
  /** Also a map of so many values a side, in coordinate of the one that the experiment describes. */
  readonly map?: number | undefined;
  /** Measures of the map; left out, those of `measures` that a map has, or else the map's own. */
  readonly mapMeasures?: readonly string[] | undefined;
  readonly set?: readonly string[] | undefined;
  readonly json?: boolean | undefined;
  /**
   * The folder that receives analysis.json, analysis.html and of every map map-MEASURE.svg; left
   * out, nothing is written.
   */
  readonly out?: string | undefined;
  readonly signal: AbortSignal;
}

/** The text (or JSON) of the measures. A map that is stopped is written as far as it came. */
export async function analyseExperiment(path: string, options: AnalyseCommandOptions, progress: Progress): Promise<CommandOutcome> {
  const { experiment, seed, inputs, reservoir } = await loadDriven(path, options.set);
  const head = `${experiment.name}: ${isComposite(reservoir) ? "a reservoir" : `${reservoir.size} neurons`}, seed ${seed}`;
  const asked = gridOf(experiment, options);
  if (options.mapMeasures && !asked)
    throw new ArgumentError("--map-measures", options.mapMeasures.join(","), "--map, or a file with a map");
  // Before the measures, which take their time.
  for (const name of options.mapMeasures ?? [])
    if (!mapMeasures.some((measure) => measure === name))
      throw new ArgumentError("--map-measures", name, `some of ${mapMeasures.join(", ")}`);
  if (options.out !== undefined) await ensureFolder(options.out);
  const { engine = experiment.engine, plan = experiment.plan ?? "auto", amplitude, signal } = options;
  if (asked && plan !== "auto")
    throw new ArgumentError("plan", plan, '"auto" for a map, whose reservoirs are measured side by side or one by one');
  const measures = options.measures as readonly MeasureName[] | undefined;
  const common = { engine, amplitude, signal };
  let found: ReservoirAnalysis | undefined;
  let map: QualityMap | undefined;
  try {
    progress.begin("analyse", measures?.length ?? 7);
    const watched = { onProgress: (done: number, _: number, measure: string) => progress.update(done, measure || undefined) };
    await using computer = plan === "auto" ? undefined : await ReservoirComputer.create(reservoir, { engine, plan });
    found = await analyse(computer ?? reservoir, { ...common, measures, ...watched, ...(options.data && { inputs }) });
    progress.end();
    if (asked) map = await mapOf(reservoir as ReservoirOptions, asked, options, progress);
  } finally {
    progress.end();
  }
  const about = { experiment: experiment.name, versions: versions(), machine: describeMachine(), reservoir };
  const json = JSON.stringify(
    { ...about, ...found, ...(map && { map: qualityMapToJson(map) }) },
    (_, value: unknown) => (ArrayBuffer.isView(value) ? Array.from(value as Float64Array) : value),
    2,
  );
  if (options.out !== undefined) {
    await writeInto(options.out, "analysis.json", json);
    await writeInto(options.out, "analysis.html", await pageOf({ name: experiment.name, head }, found, map));
    for (const measure of Object.keys(map?.values ?? {}))
      await writeInto(options.out, `map-${measure}.svg`, toSvg(plotQualityMap(map!, measure)));
  }
  const interrupted = map?.interrupted === true;
  if (options.json) return { text: json, interrupted };
  const written = options.out === undefined ? [] : ["", `report: ${join(options.out, "analysis.html")}`];
  return { text: [...textOf(head, found, map), ...written].join("\n"), interrupted };
}

type Grid = Pick<QualityMapOptions, "x" | "y" | "measures" | "estimator">;

/** The map that the flag asks for, or else the experiment. */
function gridOf({ map }: OpenExperiment, options: AnalyseCommandOptions): Grid | undefined {
  const asked = (options.mapMeasures ?? mapMeasures.filter((measure) => options.measures?.includes(measure))) as readonly MapMeasure[];
  const measures = asked.length > 0 ? { measures: asked } : {};
  if (options.map !== undefined) return { ...usualAxes(options.map), ...measures };
  if (!map) return undefined;
  const own = map.measures ? { measures: map.measures as MapMeasure[] } : {};
  return { x: axisOf(map.x), y: axisOf(map.y), estimator: map.estimator, ...own, ...measures };
}

function axisOf(axis: MapAxisDescription | undefined): MapAxis | undefined {
  if (!axis) return undefined;
  const { parameter, values } = axis;
  return { parameter, values: "from" in values ? axisValues(values.from, values.to, values.count, values.scale) : values };
}

function mapOf(reservoir: ReservoirOptions, grid: Grid, options: AnalyseCommandOptions, progress: Progress): Promise<QualityMap> {
  const { engine, amplitude, signal } = options;
  const points = (grid.x?.values.length ?? 16) * (grid.y?.values.length ?? 16);
  progress.begin("map", points);
  return qualityMap(reservoir, { ...grid, engine, amplitude, signal, onProgress: (done) => progress.update(done) });
}

/** Name, value and what it means, a line a measure. */
function linesOf({ measures }: ReservoirAnalysis): [name: string, value: string, says: string][] {
  const out: [string, string, string][] = [];
  const {
    lyapunovExponent: exponent,
    echoStateIndex: echo,
    memoryCapacity: memory,
    informationCapacity: capacity,
    kernelRank: kernel,
    generalisationRank: generalisation,
    informationDynamics: dynamics,
  } = measures;
  if (exponent !== undefined)
    out.push(["Lyapunov exponent", formatNumber(exponent), exponent < 0 ? "differences of state die out" : "differences of state grow"]);
  if (echo)
    out.push([
      "echo state index",
      formatNumber(echo.index),
      echo.meets ? "runs from other states meet" : "runs from other states stay apart",
    ]);
  if (memory) out.push(["memory capacity", formatNumber(memory.total), `inputs that can be read back, states in ${memory.precision}`]);
  if (capacity) {
    out.push([
      "information capacity",
      formatNumber(capacity.total),
      `of a rank of ${capacity.rank}; ${formatNumber(capacity.belowThreshold)} below the threshold`,
    ]);
    for (const { degree, capacity: of, counted, targets } of capacity.byDegree)
      out.push([`  degree ${degree}`, formatNumber(of), `${counted} of ${targets} targets`]);
  }
  if (kernel) out.push(["kernel rank", String(kernel.rank), `input streams that are distinguished, of ${kernel.singularValues.length}`]);
  if (generalisation) out.push(["generalisation rank", String(generalisation.rank), "the same of streams that end alike; lower is better"]);
  if (dynamics) {
    out.push(["storage", formatNumber(dynamics.meanStorage), "nats a neuron, mean"]);
    out.push(["transfer", formatNumber(dynamics.meanTransfer), `nats a connection, mean of ${dynamics.transfer.length}`]);
  }
  return out;
}

function textOf(head: string, found: ReservoirAnalysis, map: QualityMap | undefined): string[] {
  return [
    head,
    "",
    formatTable(["measure", "value", ""], linesOf(found), [1]),
    ...leftOutOf(found),
    ...(map ? ["", `map on ${map.engine.name}${map.interrupted ? ", stopped before its end" : ""}`, ...peaksOf(map)] : []),
  ];
}

/** Where each measure of a map is largest. */
function peaksOf({ x, y, values }: QualityMap): string[] {
  return Object.entries(values).map(([measure, matrix]) => {
    const all = Array.from(matrix.data);
    const at = all.reduce(
      (best, value, i) => (value > (all[best] ?? Number.NEGATIVE_INFINITY) || !Number.isFinite(all[best]) ? i : best),
      0,
    );
    const coordinate = (axis: MapAxis, k: number) => `${axis.parameter} ${formatNumber(axis.values[k]!)}`;
    return `map of ${measure}: largest ${formatNumber(all[at]!)} at ${coordinate(x, at % matrix.cols)}, ${coordinate(y, Math.floor(at / matrix.cols))}`;
  });
}

async function pageOf(
  { name, head }: { readonly name: string; readonly head: string },
  found: ReservoirAnalysis,
  map: QualityMap | undefined,
): Promise<string> {
  const { informationCapacity, memoryCapacity, echoStateIndex } = found.measures;
  const figures: Figure[] = [];
  if (informationCapacity) figures.push(plotCapacity(informationCapacity));
  if (memoryCapacity) figures.push(plotMemoryCapacity(memoryCapacity));
  if (echoStateIndex) figures.push(plotSeries(echoStateIndex.curve, { title: "Mean distance of runs from other states, by step" }));
  for (const measure of Object.keys(map?.values ?? {})) figures.push(plotQualityMap(map!, measure));
  const section = {
    title: head,
    facts: linesOf(found).map(([name, value, says]) => [name.trim(), `${value}: ${says}`] as const),
    scores: [],
    warnings: leftOutOf(found),
    figures,
  };
  return reportHtml({ title: `${name}: measures of the reservoir`, sections: [section] });
}

function leftOutOf({ leftOut }: ReservoirAnalysis): string[] {
  return leftOut.map(({ measure, reason }) => `${measure} is left out: ${reason}`);
}
