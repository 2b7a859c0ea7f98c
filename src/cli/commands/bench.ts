// `spillway bench`: how fast reservoirs of some sizes step on this machine. A quick look;
// comparisons with other packages are elsewhere.
import "../../index.js";
import { join } from "node:path";
import { tally } from "@spillway/core/text.js";
import { ensureFolder, writeInto } from "@spillway/io";
import { describeMachine, versions } from "../../experiment/runs/machine.js";
import { median } from "../../experiment/tasks/scores.js";
import { reportHtml } from "../../plot/index.js";
import { type EngineSelection, selectionOf } from "../../reservoir/computer-options.js";
import { Matrix, ReservoirComputer } from "../../reservoir/index.js";
import type { Progress } from "../progress.js";
import { formatTable } from "../table.js";
import { type BenchResult, benchSection, type Measurement } from "./bench-report.js";

export interface BenchOptions extends EngineSelection {
  readonly json?: boolean | undefined;
  /** Neurons of the reservoirs; default 100, 300 and 1000. */
  readonly sizes?: readonly number[] | undefined;
  /** The folder that receives bench.json and bench.html; left out, nothing is written. */
  readonly out?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const usualSizes: readonly number[] = [100, 300, 1000];
export const repetitions = 7;
/** Milliseconds that one repetition aims at. */
const patience = 30;

/** Measures and gives the text (or JSON). States of every step are kept, as in training. */
export async function bench(options: BenchOptions, progress: Progress): Promise<string> {
  if (options.out !== undefined) await ensureFolder(options.out);
  const { sizes = usualSizes } = options;
  const measurements: Measurement[] = [];
  const engines = new Map<string, string>();
  const cases = (["float32", "float64"] as const).flatMap((precision) =>
    (["sparse", "dense"] as const).flatMap((kind) => sizes.map((size) => ({ size, kind, precision }))),
  );
  progress.begin("bench", cases.length);
  for (const [k, { size, kind, precision }] of cases.entries()) {
    const connectionProbability = kind === "sparse" ? 0.1 : 1;
    const config = { size, inputSize: 1, connectionProbability, precision, seed: "bench", storage: kind };
    await using computer = await ReservoirComputer.create({ ...config, spectralRadius: null }, selectionOf(options));
    const { name, reason } = computer.engine;
    if (!engines.has(name)) engines.set(name, `${name} (${reason})`);
    measurements.push({ size, kind, precision, ...(await measure(computer, options.signal)) });
    progress.update(k + 1);
  }
  progress.end();
  const threads = options.threads ?? 1;
  const result: BenchResult = { versions: versions(), machine: describeMachine(), engines: [...engines.values()], threads, measurements };
  const json = JSON.stringify(result, undefined, 2);
  if (options.out !== undefined) {
    await writeInto(options.out, "bench.json", `${json}\n`);
    await writeInto(options.out, "bench.html", await reportHtml({ title: "Spillway bench", sections: [benchSection(result)] }));
  }
  if (options.json) return json;
  return [tableOf(result), ...(options.out === undefined ? [] : ["", `report: ${join(options.out, "bench.html")}`])].join("\n");
}

function tableOf({ machine, engines, threads, measurements }: BenchResult): string {
  const lines = measurements.map(({ size, kind, precision, stepsPerSecond, microsecondsPerStep, fastest, slowest }) => [
    `N = ${size}`,
    kind === "sparse" ? "sparse, p = 0.1" : "dense",
    precision,
    Math.round(stepsPerSecond).toLocaleString("en-US"),
    microsecondsPerStep.toFixed(2),
    `${fastest.toFixed(2)} to ${slowest.toFixed(2)}`,
  ]);
  return [
    `${machine.processor}, engine ${engines.join(", ")}, ${tally(threads, "thread")}`,
    "",
    formatTable(["reservoir", "weights", "precision", "steps/s", "µs/step", "range of µs/step"], lines, [3, 4, 5]),
    "",
    `Medians of ${repetitions} repetitions; one input, every state kept. Other work on the machine makes them slower.`,
  ].join("\n");
}

/** Steps of a computer with one input: the median over the repetitions, and both ends. */
export async function measure(
  computer: ReservoirComputer,
  signal: AbortSignal | undefined,
): Promise<Omit<Measurement, "size" | "kind" | "precision">> {
  const { precision, size } = computer.model;
  const probe = Matrix.zeros(50, 1, precision);
  await computer.run(probe);
  const begun = performance.now();
  await computer.run(probe);
  const perStep = Math.max(1e-5, (performance.now() - begun) / probe.rows);
  const steps = Math.max(100, Math.min(50_000, Math.round(patience / perStep)));
  const inputs = Matrix.zeros(steps, 1, precision);
  for (let t = 0; t < steps; t++) inputs.data[t] = ((t * 37) % 100) / 100 - 0.5;
  const into = Matrix.zeros(steps, size, precision);
  const times = await timed(steps, () => computer.run(inputs, { into, signal }));
  return { stepsPerSecond: 1e6 / times.microsecondsPerStep, ...times, repetitions };
}

/** Microseconds a step of work that is repeated, after one time that does not count. */
export async function timed(steps: number, work: () => Promise<unknown>) {
  const times: number[] = [];
  for (let r = 0; r <= repetitions; r++) {
    const start = performance.now();
    await work();
    if (r > 0) times.push(((performance.now() - start) * 1000) / steps);
  }
  return { microsecondsPerStep: median(times), fastest: Math.min(...times), slowest: Math.max(...times) };
}
