// `spillway compare`: one reservoir of an experiment on several engines, all states compared with
// those of the first.
import "../../index.js";
import { join } from "node:path";
import { ensureFolder, writeInto } from "@spillway/io";
import { type ComparedRun, type Comparison, compare } from "../../analysis/index.js";
import { loadDriven } from "../../experiment/data/inputs.js";
import type { OpenExperiment } from "../../experiment/description/description.js";
import { describeMachine, versions } from "../../experiment/runs/machine.js";
import { clockOf } from "../../experiment/runs/profile.js";
import { growthWords } from "../../plot/comparison.js";
import { formatNumber } from "../../plot/format.js";
import { plotComparison, type ReportSection, reportHtml } from "../../plot/index.js";
import { probeEngines } from "../../reservoir/index.js";
import { UsageError } from "../exit.js";
import type { Progress } from "../progress.js";
import { formatTable } from "../table.js";

export interface CompareCommandOptions {
  /**
   * Names of engines, the reference first; ":fast" or ":portable" behind one sets its arithmetic.
   */
  readonly engines: readonly string[];
  /** Names of plans: each device runs once by each. */
  readonly plans?: readonly string[] | undefined;
  /** Cut the steps into this many sequences that run as a batch. */
  readonly sequences?: number | undefined;
  /** At most this many steps. */
  readonly steps?: number | undefined;
  readonly set?: readonly string[] | undefined;
  readonly json?: boolean | undefined;
  /** The folder that receives compare.json and compare.html; left out, nothing is written. */
  readonly out?: string | undefined;
  readonly signal: AbortSignal;
}

/** Compares and gives the text (or JSON), and whether every engine gave the same bits. */
export async function compareEngines(
  path: string,
  options: CompareCommandOptions,
  progress: Progress,
): Promise<{ readonly text: string; readonly equal: boolean }> {
  if (options.engines.length < 2 && (options.plans?.length ?? 0) < 2) {
    throw new UsageError(`--engines is ${JSON.stringify(options.engines.join(","))}; it takes at least two names, such as cpu,cuda`);
  }
  const { experiment, inputs, reservoir } = await loadDriven(path, options.set);
  const plans = options.plans ?? (experiment.plan === undefined ? undefined : [experiment.plan]);
  const steps = Math.min(inputs.rows, options.steps ?? inputs.rows);
  if (options.out !== undefined) await ensureFolder(options.out);
  progress.begin(`compare ${options.engines.join(", ")}`, steps * options.engines.length);
  let comparison: Comparison;
  try {
    comparison = await compare(reservoir, inputs.subarray(0, steps), options.engines, {
      signal: options.signal,
      sequences: options.sequences,
      plans,
      onProgress: (done) => progress.update(done),
    });
  } finally {
    progress.end();
  }
  const engines = await probeEngines();
  const machine = describeMachine();
  const devices = Object.fromEntries(engines.map(({ name, status }) => [name, status.device ?? status.reason]));
  const json = JSON.stringify(
    { experiment: experiment.name, versions: versions(), machine, devices, comparison },
    (_, value: unknown) => (value instanceof Float64Array ? Array.from(value) : value),
    2,
  );
  if (options.out !== undefined) {
    await writeInto(options.out, "compare.json", json);
    const page = await reportHtml({
      title: `${experiment.name}: ${options.engines.join(" against ")}`,
      sections: [sectionOf(experiment, comparison)],
    });
    await writeInto(options.out, "compare.html", page);
  }
  const written = options.out === undefined ? [] : ["", `report: ${join(options.out, "compare.html")}`];
  const text = options.json
    ? json
    : [headline(experiment, comparison), "", tableOf(comparison), ...verdicts(comparison), ...written].join("\n");
  return { text, equal: comparison.equal };
}

function headline(experiment: OpenExperiment, comparison: Comparison): string {
  return `${experiment.name}: ${comparison.size} neurons, ${comparison.precision}, ${stepsOf(comparison)}`;
}

function stepsOf({ steps, sequences }: Comparison): string {
  return sequences > 1 ? `${sequences} sequences of ${steps} steps` : `${steps} steps`;
}

/** Microseconds of a step of just the loop, and the clock that measured them. */
function loopOf({ loop }: ComparedRun): string {
  if (!loop) return "";
  return `${formatNumber(1e6 / loop.stepsPerSecond)} by ${clockOf(loop)}`;
}

/** How it ran: the plan, or of a batch on a device, whose plan is another, the kernels that ran. */
function wayOf({ plan, profile }: ComparedRun, { sequences }: Comparison): string {
  return sequences > 1 && profile?.device ? `kernels ${Object.keys(profile.device.kernels).join(", ")}` : plan.summary;
}

function tableOf(comparison: Comparison): string {
  const { reference, others } = comparison;
  const lines = [reference, ...others].map((run) => {
    const difference = "difference" in run ? (run as Comparison["others"][number]).difference : undefined;
    return [
      run.engine,
      difference ? (difference.equal ? "equal" : `${difference.differing} of ${difference.compared} states differ`) : "reference",
      difference?.first ? `step ${difference.first.step}, neuron ${difference.first.neuron}` : "",
      difference ? String(difference.maxUlps) : "",
      formatNumber(run.stepsPerSecond),
      formatNumber(1e6 / run.stepsPerSecond),
      loopOf(run),
      wayOf(run, comparison),
    ];
  });
  return formatTable(["engine", "bits", "first difference", "most ulp", "steps/s", "us/step", "loop us/step", "plan"], lines);
}

function verdicts({ others, reference, sequences }: Comparison): string[] {
  const unused = others
    .filter(({ arithmetic, difference }) => arithmetic === "fast" && difference.equal)
    .flatMap(({ engine }) => [
      "",
      `${engine} was allowed fast arithmetic and gave the bits of ${reference.engine}${sequences > 1 ? "" : "; what is faster are plans of a GPU, and batches: --sequences"}`,
    ]);
  const differences = others
    .filter(({ difference }) => !difference.equal)
    .flatMap(({ engine, difference }) => [
      "",
      `${engine} against ${reference.engine}, distance in units in the last place:`,
      formatTable(
        ["ulp", "states"],
        difference.histogram.map(({ label, count }) => [label, String(count)]),
      ),
      `furthest apart at step ${furthest(difference)}: ${formatNumber(Math.max(...difference.divergence))}, root of the mean square over neurons; no state by more than ${formatNumber(difference.maxAbsolute)}`,
      ...(difference.rate === undefined ? [] : [`the difference is ${growthWords(difference.rate)}`]),
    ]);
  return [...unused, ...differences];
}

/** Where the curve is highest; of a long run, the first of the steps that its value stands for. */
function furthest({ divergence, every }: Comparison["others"][number]["difference"]): string {
  const at = divergence.indexOf(Math.max(...divergence)) * every;
  return every === 1 ? String(at) : `${at} to ${at + every - 1}`;
}

function sectionOf(experiment: OpenExperiment, comparison: Comparison): ReportSection {
  const { reference, others, size, precision, equal } = comparison;
  return {
    title: experiment.name,
    lead: equal ? "Every engine gives the same bits." : "The engines differ.",
    facts: [
      ["reservoir", `${size} neurons, ${precision}`],
      ["steps", stepsOf(comparison)],
      ...[reference, ...others].map((run) => {
        const loop = run.loop && `${formatNumber(1e6 / run.loop.stepsPerSecond)} µs a step by ${clockOf(run.loop)}`;
        const speed = `${formatNumber(run.stepsPerSecond)} steps/s${loop ? `, in the loop alone ${loop}` : ""}`;
        return [run.engine, `${wayOf(run, comparison)}; ${speed}`] as const;
      }),
    ],
    scores: [],
    figures: [plotComparison(comparison)],
  };
}
