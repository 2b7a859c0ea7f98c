// The same reservoir on several engines, step for step: are the states the same bits, and how fast is each?
import {
  type AnyReservoirComputer,
  type AnyReservoirOptions,
  DataError,
  type EngineModel,
  type EnginePlan,
  ReservoirComputer,
} from "../../reservoir/index.js";
import { anySeries } from "../../reservoir/inputs.js";
import type { MatrixLike } from "../../numerics/index.js";
import { WorkPacer } from "../../reservoir/work.js";
import { DifferenceMeter, type TrajectoryDifference } from "./difference.js";

export type { FirstDifference, TrajectoryDifference, UlpBin } from "./difference.js";

/** The chunks a comparison is run in, and how it is followed and stopped. */
export interface CompareOptions {
  /** Rows that are run on every engine before they are compared: memory is bounded by one chunk an engine. Default 1024, less for large reservoirs. */
  readonly chunk?: number | undefined;
  /** Stops the comparison, which then throws WorkInterruptedError. */
  readonly signal?: AbortSignal | undefined;
  /** Steps done and in all, over all engines. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** One engine's run. */
export interface ComparedRun {
  readonly engine: string;
  readonly reason: string;
  readonly plan: EnginePlan;
  /** Seconds for all steps, states brought to the host. */
  readonly seconds: number;
  /** Steps a second by the median chunk. */
  readonly stepsPerSecond: number;
}

/** What a comparison found. */
export interface Comparison {
  readonly size: number;
  readonly steps: number;
  readonly precision: string;
  /** The first engine, which the others are held against. */
  readonly reference: ComparedRun;
  readonly others: readonly (ComparedRun & { readonly difference: TrajectoryDifference })[];
  /** Whether every engine gave the reference's bits. */
  readonly equal: boolean;
}

/** Bytes of states that one chunk takes at most on one engine. */
const chunkBytes = 64 * 2 ** 20;

/**
 * Runs T x I inputs through one reservoir on several engines and compares all states with those of the first. Each engine keeps its own state from
 * start to end, so a difference in one step is carried on as it would be in a run: `divergence` shows what becomes of it.
 *
 * @example
 * const { equal, others } = await compare({ size: 1000, seed: 1 }, inputs, ["cpu", "cuda"]);
 * @throws DataError for fewer than two engines or a wrong shape; EngineUnavailableError for an engine that cannot run here
 */
export async function compare(
  source: AnyReservoirOptions | EngineModel,
  inputs: MatrixLike,
  engines: readonly string[],
  options: CompareOptions = {},
): Promise<Comparison> {
  if (engines.length < 2) throw new DataError(`engines holds ${JSON.stringify(engines)}; a comparison takes at least two`);
  const computers: AnyReservoirComputer[] = [];
  try {
    const model = await modelOf(source, engines[0]!);
    for (const engine of engines) computers.push(await ReservoirComputer.fromModel(model, { engine }));
    return await compared(model, computers, inputs, options);
  } finally {
    for (const computer of computers) await computer.dispose();
  }
}

async function compared(
  model: EngineModel,
  computers: readonly AnyReservoirComputer[],
  inputs: MatrixLike,
  options: CompareOptions,
): Promise<Comparison> {
  const series = anySeries(inputs, "inputs", model.precision);
  const steps = series.rows;
  const bytesPerStep = model.size * (model.precision === "float32" ? 4 : 8);
  const chunk = options.chunk ?? Math.max(1, Math.min(1024, Math.floor(chunkBytes / bytesPerStep)));
  if (!Number.isSafeInteger(chunk) || chunk < 1) throw new DataError(`chunk is ${chunk}; it takes a whole number of at least 1`);
  const pacer = new WorkPacer(options, steps * computers.length);
  const meters = computers.slice(1).map(() => new DifferenceMeter(model.precision, steps));
  const seconds: number[][] = computers.map(() => []);
  const rows: number[] = [];
  for (let from = 0; from < steps; from += chunk) {
    const part = series.subarray(from, Math.min(steps, from + chunk));
    rows.push(part.rows);
    const states = [];
    for (const [k, computer] of computers.entries()) {
      const begin = performance.now();
      states.push(await computer.run(part, { signal: options.signal }));
      seconds[k]!.push((performance.now() - begin) / 1000);
    }
    for (const [k, meter] of meters.entries()) meter.add(states[0]!, states[k + 1]!, from);
    if (pacer.due()) await pacer.pause((from + part.rows) * computers.length);
  }
  pacer.finish();
  const runs = computers.map(({ engine }, k): ComparedRun => {
    const rates = seconds[k]!.map((time, c) => rows[c]! / time).sort((a, b) => a - b);
    return {
      engine: engine.name,
      reason: engine.reason,
      plan: engine.plan,
      seconds: seconds[k]!.reduce((sum, value) => sum + value, 0),
      stepsPerSecond: rates[rates.length >> 1]!,
    };
  });
  const others = runs.slice(1).map((run, k) => ({ ...run, difference: meters[k]!.result() }));
  return {
    size: model.size,
    steps,
    precision: model.precision,
    reference: runs[0]!,
    others,
    equal: others.every(({ difference }) => difference.equal),
  };
}

/** The weights are drawn once: every engine gets the same model. */
async function modelOf(source: AnyReservoirOptions | EngineModel, engine: string): Promise<EngineModel> {
  if ("noiseKey" in source) return source;
  await using computer = await ReservoirComputer.create(source, { engine });
  return computer.model;
}
