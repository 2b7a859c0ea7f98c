// The features of "statistics", made on the device that has the states, which stay there. It has no
// arithmetic of its own.
import { Matrix } from "@spillway/numerics";
import { DeviceMatrix, type SummaryWork, type WorkOptions } from "../reservoir/index.js";
import type { ClassifierSettings } from "./classifier/options.js";
import { statisticsPerNeuron, writeStatistics } from "./classifier/statistics.js";
import { groupThere, rowsOfGroups, stateGroup } from "./groups.js";
import { type Levels, type MemberComputers, reversed, statisticsCount, viewsOf } from "./views.js";

/** Series on the host or on the device, as the reservoirs of a member see them. */
interface SeenThere {
  readonly inputs: readonly (Matrix | DeviceMatrix)[];
  readonly differences?: readonly (Matrix | DeviceMatrix)[] | undefined;
}

/**
 * As `statisticsOf`, or with `classes` the shares of the classes, B x K. Undefined if the engine
 * cannot; of classes also if sequences are shared among devices, whose features come to the host.
 * @throws WorkInterruptedError
 */
export async function statisticsThere(
  computers: MemberComputers,
  { inputs, differences }: SeenThere,
  settings: ClassifierSettings,
  levels: Levels,
  { signal, onProgress }: WorkOptions,
  classes?: SummaryWork["classes"],
): Promise<Matrix<Float64Array> | undefined> {
  const [{ model, engine, context, canSummarise }, second] = computers;
  if (!canSummarise || (second && second.context !== context)) return undefined;
  if (classes && (engine.plan.details["devices"] ?? 1) !== 1) return undefined;
  const columns = statisticsCount(settings, model.size, inputs[0]!.cols);
  const views = viewsOf(settings).length;
  const bounds = { ...groupThere, last: Math.floor((groupThere.last * model.size) / columns) };
  return rowsOfGroups(inputs, model.size, model.noiseLevel === 0 ? bounds : stateGroup, onProgress, async (group, from, report) => {
    const series = differences ? [group, differences.slice(from, from + group.length)] : [group];
    const rows = group.reduce((sum, one) => sum + one.rows, 0);
    const ofView = (v: number) => report && ((done: number) => report((v * rows + done) / views, rows));
    const work = (v: number) => ({ signal, onProgress: ofView(v) });
    if (!classes || !context) return viewFeatures(computers, series, settings, levels, work, Matrix.zeros(group.length, columns));
    using values = context.alloc("f64", group.length * columns, { label: "features of views" });
    const there = new DeviceMatrix(context, values, { rows: group.length, cols: columns });
    return await viewFeatures(computers, series, settings, levels, work, there, classes);
  });
}

/** Writes the features of all views; with `classes` they stay on the device, and it gives shares. */
async function viewFeatures(
  computers: MemberComputers,
  series: readonly (readonly (Matrix | DeviceMatrix)[])[],
  settings: ClassifierSettings,
  levels: Levels,
  work: (view: number) => WorkOptions,
  into: Matrix<Float64Array> | DeviceMatrix,
  classes?: SummaryWork["classes"],
): Promise<Matrix<Float64Array>> {
  const { washout, input, thresholds } = settings;
  const views = viewsOf(settings);
  const which = { last: false, mean: false, washout };
  let column = 0;
  let made = Matrix.zeros(0, 0);
  for (const [v, { of, backward }] of views.entries()) {
    const computer = computers[of]!;
    const cases = series[of]!;
    const given =
      input && !backward ? inputStatistics(cases as readonly Matrix[], washout, levels.inputs[of]!) : Matrix.zeros(cases.length, 0);
    const isLast = v === views.length - 1;
    const there = into instanceof DeviceMatrix ? { features: { rows: into, column }, classes: isLast ? classes : undefined } : {};
    made = await computer.summarise(backward ? cases.map((one) => reversed(one as Matrix)) : cases, {
      ...which,
      levels: levels.states[v]!,
      given,
      ...there,
      ...work(v),
    })!;
    if (into instanceof Matrix) for (let b = 0; b < made.rows; b++) into.row(b).set(made.row(b), column);
    column += statisticsPerNeuron(thresholds) * computer.model.size + given.cols;
  }
  return into instanceof Matrix ? into : made;
}

function inputStatistics(cases: readonly Matrix[], washout: number, levels: Matrix<Float64Array>): Matrix<Float64Array> {
  const out = Matrix.zeros(cases.length, statisticsPerNeuron(levels.rows) * levels.cols);
  for (const [b, one] of cases.entries()) writeStatistics(one.subarray(washout), levels, out.row(b));
  return out;
}
