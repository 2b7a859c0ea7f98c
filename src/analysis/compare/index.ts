// The same reservoir on several engines, step for step: are the states the same bits, and how fast
// is each?
import { disposeAllAsync } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { describe, type Matrix, type MatrixLike } from "@spillway/numerics";
import { isModel } from "../../reservoir/composite/model.js";
import { type AnyModel, type AnyReservoirOptions, formatBytes, ReservoirComputer } from "../../reservoir/index.js";
import { anySeries } from "../../reservoir/inputs.js";
import { WorkPacer } from "../../reservoir/work.js";
import { patternInputs } from "../../spikes/liquid/inputs.js";
import { SpikePattern } from "../../spikes/pattern/pattern.js";
import { checkSource } from "../source.js";
import { type DifferenceMeter, differenceMeter, type TrajectoryDifference } from "./difference.js";
import { type CompareOptions, compareTable } from "./options.js";
import {
  arithmeticOf,
  byPlan,
  type ComparedEngine,
  type ComparedRun,
  comparedEngine,
  type OpenDevice,
  openRun,
  type TimedRun,
} from "./run.js";

export type { FirstDifference, TrajectoryDifference, UlpBin } from "./difference.js";
export type { CompareOptions } from "./options.js";
export type { ComparedRun } from "./run.js";

/** What a comparison found. */
export interface Comparison {
  readonly size: number;
  /** Steps of each sequence. */
  readonly steps: number;
  readonly sequences: number;
  readonly precision: string;
  /** The first engine, to which the others are compared. */
  readonly reference: ComparedRun;
  readonly others: readonly (ComparedRun & { readonly difference: TrajectoryDifference })[];
  /** Whether every engine gave the reference's bits. */
  readonly equal: boolean;
}

/** Bytes of states that one chunk takes at most on one engine. */
const chunkBytes = 64 * 2 ** 20;

/** Bytes of states that a batch takes at most on one engine. */
const batchBytes = 2 ** 30;

/**
 * Runs T x I inputs, or a spike pattern, through one reservoir on several engines and compares all
 * states with those of the first. Each engine keeps its own state from start to end, so a
 * difference in one step is carried on as it would be in a run: `divergence` shows what becomes of
 * it.
 *
 * `engines` are names or open devices. `:fast` or `:portable` after an engine's name sets the
 * arithmetic for that engine, whatever the description says.
 *
 * @example
 * const { equal, others } = await compare({ size: 1000, seed: 1 }, inputs, ["cpu", "cuda"]);
 * const engines = ["cuda:portable", "cuda:fast"];
 * const { others: [fast] } = await compare({ size: 1000, seed: 1 }, inputs, engines);
 * @throws ArgumentError for fewer than two engines or a wrong shape; EngineUnavailableError for an
 * engine that cannot run here
 */
export async function compare(
  source: AnyReservoirOptions | AnyModel,
  inputs: MatrixLike | SpikePattern,
  engines: readonly (string | OpenDevice)[],
  options: CompareOptions = {},
): Promise<Comparison> {
  checkSource(source);
  const { plans } = resolve(compareTable, options);
  if (!Array.isArray(engines))
    throw ArgumentError.because(`engines is ${describe(engines)}; a comparison takes a list of names`, { field: "engines" });
  const asked: ComparedEngine[] = [];
  for (const name of engines) asked.push(...(await byPlan(comparedEngine(name), plans)));
  if (asked.length < 2)
    throw ArgumentError.shape(
      `engines holds ${JSON.stringify(asked.map(({ name }) => name))}; a comparison takes at least two, or one and plans of it`,
      {
        field: "engines",
      },
    );
  const runs: TimedRun[] = [];
  try {
    const model = await modelOf(source, asked[0]!);
    const { stepMs } = options;
    if (stepMs !== undefined && !(inputs instanceof SpikePattern))
      throw ArgumentError.because(`stepMs is ${stepMs}; it goes with a spike pattern, and the inputs are a series`, { field: "stepMs" });
    const given = inputs instanceof SpikePattern ? patternInputs({ model }, inputs, { stepMs }) : inputs;
    const series = anySeries(given, "inputs", model.precision);
    const sequences = sequencesOf(series.rows, model, asked, options);
    for (const each of asked) runs.push(await openRun(model, each));
    const steps = Math.floor(series.rows / sequences);
    const meters = runs.slice(1).map(() => differenceMeter(model.precision, steps));
    if (sequences > 1) await runBatch(model, runs, meters, series.subarray(0, steps * sequences), sequences, options);
    else await runThrough(model, runs, meters, series, options);
    const [reference, ...rest] = runs.map((run) => run.result());
    const others = rest.map((run, k) => ({ ...run, difference: meters[k]!.result() }));
    const equal = others.every(({ difference }) => difference.equal);
    return { size: model.size, steps, sequences, precision: model.precision, reference: reference!, others, equal };
  } finally {
    await disposeAllAsync(runs);
  }
}

/** One sequence, in chunks. */
async function runThrough(
  model: AnyModel,
  runs: readonly TimedRun[],
  meters: readonly DifferenceMeter[],
  series: Matrix,
  options: CompareOptions,
): Promise<void> {
  const { signal } = options;
  const { chunk = Math.max(1, Math.min(1024, Math.floor(chunkBytes / stepBytes(model)))) } = options;
  const pacer = new WorkPacer(options, series.rows * runs.length);
  for (let from = 0; from < series.rows; from += chunk) {
    const part = series.subarray(from, Math.min(series.rows, from + chunk));
    const states = [];
    for (const run of runs) states.push((await run.time(part.rows, async (computer) => [await computer.run(part, { signal })]))[0]!);
    for (const [k, meter] of meters.entries()) meter.add(states[0]!, states[k + 1]!, from);
    if (pacer.due()) await pacer.pause((from + part.rows) * runs.length);
  }
  pacer.finish();
}

/** Sequences of equal length as one batch. */
async function runBatch(
  model: AnyModel,
  runs: readonly TimedRun[],
  meters: readonly DifferenceMeter[],
  series: Matrix,
  sequences: number,
  options: CompareOptions,
): Promise<void> {
  const { signal } = options;
  const steps = series.rows / sequences;
  const bytes = series.rows * stepBytes(model);
  if (bytes > batchBytes)
    throw ArgumentError.because(
      `the states of ${sequences} sequences of ${steps} steps would take ${formatBytes(bytes)} an engine; a batch takes at most ${formatBytes(batchBytes)}: give fewer rows of inputs`,
    );
  const parts = Array.from({ length: sequences }, (_, b) => series.subarray(b * steps, (b + 1) * steps));
  const pacer = new WorkPacer(options, series.rows * runs.length);
  let reference: readonly Matrix[] = [];
  for (const [k, run] of runs.entries()) {
    const states = await run.time(series.rows, (computer) => computer.batch(parts, { signal }));
    if (k === 0) reference = states;
    else for (const [b, each] of states.entries()) meters[k - 1]!.add(reference[b]!, each, 0);
    await pacer.pause((k + 1) * series.rows);
  }
  pacer.finish();
}

/** @throws ArgumentError for a number of sequences that the rows do not make */
function sequencesOf(rows: number, model: AnyModel, asked: readonly ComparedEngine[], { sequences }: CompareOptions): number {
  const mayBeFast = asked.some((each) => arithmeticOf(model, each) === "fast");
  const wanted = sequences ?? (mayBeFast ? Math.max(1, Math.min(64, Math.floor(rows / 100))) : 1);
  if (wanted < 1 || wanted > rows)
    throw ArgumentError.shape(`sequences is ${wanted} and inputs has ${rows} rows; it takes a whole number from 1 to that`, {
      field: "sequences",
    });
  return wanted;
}

function stepBytes({ size, precision }: AnyModel): number {
  return size * (precision === "float32" ? 4 : 8);
}

/** The weights are drawn once: every engine gets the same model. */
async function modelOf(
  source: AnyReservoirOptions | AnyModel,
  { engine, context }: Pick<ComparedEngine, "engine" | "context">,
): Promise<AnyModel> {
  if (isModel(source)) return source;
  await using computer = await ReservoirComputer.create(source, { engine, context });
  return computer.model;
}
