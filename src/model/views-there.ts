// The features of "statistics", made on the device that has the states, which stay there. It has no
// arithmetic of its own.
import { Matrix } from "@spillway/numerics";
import type { WhichStatistics } from "../reservoir/engine/summaries.js";
import { type AnyReservoirComputer, DeviceMatrix, type SummaryWork, type WorkOptions } from "../reservoir/index.js";
import type { ClassifierSettings } from "./classifier/options.js";
import { statisticsPerNeuron, writeStatistics } from "./classifier/statistics.js";
import { groupThere, rowsOfGroups, stateGroup } from "./groups.js";
import {
  casesOf,
  type Driving,
  type Levels,
  type MemberComputers,
  reversed,
  type Sequence,
  statisticsCount,
  type View,
  viewsOf,
} from "./views.js";

/**
 * As `statisticsOf`, or with `classes` the shares of the classes, B x K. Undefined if the engine
 * cannot; of classes also if sequences are shared among devices, whose features come to the host.
 * @throws WorkInterruptedError
 */
export async function statisticsThere(
  computers: MemberComputers,
  driving: Driving,
  settings: ClassifierSettings,
  levels: Levels,
  { signal, onProgress }: WorkOptions,
  classes?: SummaryWork["classes"],
): Promise<Matrix<Float64Array> | undefined> {
  const [{ model, engine, context, canSummarise }, second] = computers;
  if (!canSummarise || (second && second.context !== context)) return undefined;
  if (classes && (engine.plan.details["devices"] ?? 1) !== 1) return undefined;
  const { inputs } = driving;
  const columns = statisticsCount(settings, model.size, inputs[0]!.cols);
  const views = viewsOf(settings).length;
  const bounds = { ...groupThere, last: Math.floor((groupThere.last * model.size) / columns) };
  return rowsOfGroups(inputs, model.size, model.noiseLevel === 0 ? bounds : stateGroup, onProgress, async (group, from, report) => {
    const rows = group.reduce((sum, one) => sum + one.rows, 0);
    const work = (v: number): WorkOptions => ({
      signal,
      onProgress: report && ((done: number) => report((v * rows + done) / views, rows)),
    });
    const ofGroup = (view: View): readonly Sequence[] => {
      const { cases, backward } = casesOf(driving, view);
      const own = cases.slice(from, from + group.length);
      return backward ? own.map(reversed) : own;
    };
    const of: ViewWork = { computers, settings, levels, casesOf: ofGroup, work };
    if (!classes || !context) return viewFeatures(of, Matrix.zeros(group.length, columns));
    using values = context.alloc("f64", group.length * columns, { label: "features of views" });
    const there = new DeviceMatrix(context, values, { rows: group.length, cols: columns });
    return await viewFeatures(of, there, classes);
  });
}

/** Cases as they are run, view by view. */
interface ViewWork {
  readonly computers: MemberComputers;
  readonly settings: ClassifierSettings;
  readonly levels: Levels;
  readonly casesOf: (view: View) => readonly Sequence[];
  readonly work: (view: number) => WorkOptions;
}

/** Writes the features of all views; with `classes` they stay on the device, and it gives shares. */
async function viewFeatures(
  { computers, settings, levels, casesOf: casesOfView, work }: ViewWork,
  into: Matrix<Float64Array> | DeviceMatrix,
  classes?: SummaryWork["classes"],
): Promise<Matrix<Float64Array>> {
  const { washout, input, thresholds } = settings;
  const views = viewsOf(settings);
  const which = { last: false, mean: false, washout };
  let column = 0;
  let made = Matrix.zeros(0, 0);
  for (const [v, view] of views.entries()) {
    const computer = computers[view.of]!;
    const cases = casesOfView(view);
    const joins = input && !view.backward;
    const given = joins
      ? await inputStatistics(computer, cases, { ...which, levels: levels.inputs[view.of]! })
      : Matrix.zeros(cases.length, 0);
    const isLast = v === views.length - 1;
    const there = into instanceof DeviceMatrix ? { features: { rows: into, column }, classes: isLast ? classes : undefined } : {};
    made = await computer.summarise(cases, { ...which, levels: levels.states[v]!, given, ...there, ...work(v) })!;
    if (into instanceof Matrix) for (let b = 0; b < made.rows; b++) into.row(b).set(made.row(b), column);
    column += statisticsPerNeuron(thresholds) * computer.model.size + given.cols;
  }
  return into instanceof Matrix ? into : made;
}

/** Statistics of inputs where they lie. */
async function inputStatistics(
  computer: AnyReservoirComputer,
  cases: readonly Sequence[],
  which: WhichStatistics & { readonly levels: Matrix<Float64Array> },
): Promise<Matrix<Float64Array>> {
  const there = cases.filter((one) => one instanceof DeviceMatrix);
  if (there.length > 0) return computer.statistics(there, which);
  const { levels, washout } = which;
  const out = Matrix.zeros(cases.length, statisticsPerNeuron(levels.rows) * levels.cols);
  for (const [b, one] of (cases as readonly Matrix[]).entries()) writeStatistics(one.subarray(washout), levels, out.row(b));
  return out;
}
