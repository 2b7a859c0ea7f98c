// The views of "statistics": which series a member's reservoirs see, in which direction, and the
// features of all views. It trains nothing but the levels.
import { Matrix, RandomStream, seedKeys } from "@spillway/numerics";
import { type AnyReservoirComputer, DeviceMatrix, type WorkOptions } from "../reservoir/index.js";
import { onlyHost } from "../reservoir/inputs.js";
import type { ClassifierSettings } from "./classifier/options.js";
import { levelsOf, someRows, statisticsPerNeuron, writeStatistics } from "./classifier/statistics.js";
import { groupsOf, stateGroup } from "./groups.js";

/** The reservoirs of a member: of the series, and if they are looked at of their differences. */
export type MemberComputers = readonly [AnyReservoirComputer, AnyReservoirComputer?];

/**
 * The same cases on the host as each reservoir of a member sees them: z-scores, and theirs of
 * differences.
 */
export type HostSeries = readonly (readonly Matrix[])[];

/** The same cases as the reservoirs of a member see them, on the host or on the device. */
export interface Driving {
  readonly inputs: readonly Sequence[];
  /** z-scores of their differences, for the second reservoir. */
  readonly differences?: readonly Sequence[] | undefined;
  /** Both from last row to first, if they lie on the device and are run so. */
  readonly backward?: readonly (readonly DeviceMatrix[])[] | undefined;
}

/** T x C, on the host or on the device of the reservoir. */
export type Sequence = Matrix | DeviceMatrix;

/** The series that reservoirs see. */
export function seriesOf({ inputs, differences }: Driving): readonly (readonly Sequence[])[] {
  return differences ? [inputs, differences] : [inputs];
}

/** Cases of a view, and whether they are still to be run from their ends. */
export function casesOf(driving: Driving, { of, backward }: View): { readonly cases: readonly Sequence[]; readonly backward: boolean } {
  const turned = backward ? driving.backward?.[of] : undefined;
  return { cases: turned ?? seriesOf(driving)[of]!, backward: backward && !turned };
}

/** Levels that statistics count states above, by view, and inputs above, by series. */
export interface Levels {
  /** Q x N each. */
  readonly states: readonly Matrix<Float64Array>[];
  /** Q x C each; none without `input`. */
  readonly inputs: readonly Matrix<Float64Array>[];
}

/** Training cases that levels are taken from, at most. */
const drawnCases = 24;

/** The stream that draws them; those of weights are 0 to 11. */
const drawStream = 49;

type ViewSettings = Pick<ClassifierSettings, "differences" | "directions" | "thresholds" | "input">;

/** A series by its index in the list, and whether it is run from its end. */
export interface View {
  readonly of: 0 | 1;
  readonly backward: boolean;
}

/** The views in the order of their features. */
export function viewsOf({ differences, directions }: ViewSettings): readonly View[] {
  const turns = directions === "both" ? [false, true] : [false];
  const series = differences ? ([0, 1] as const) : ([0] as const);
  return series.flatMap((of) => turns.map((backward) => ({ of, backward })));
}

/** How many features a case of C channels has through reservoirs of N neurons. */
export function statisticsCount(settings: ViewSettings, size: number, channels: number): number {
  const views = viewsOf(settings);
  const ofInputs = settings.input ? views.filter(({ backward }) => !backward).length * channels : 0;
  return statisticsPerNeuron(settings.thresholds) * (views.length * size + ofInputs);
}

/** u(t) - u(t-1) of a series, its first row 0, in binary64. */
export function differencesOf({ rows, cols, data }: Matrix): Matrix<Float64Array> {
  const out = Matrix.zeros(rows, cols);
  for (let i = cols; i < out.data.length; i++) out.data[i] = data[i]! - data[i - cols]!;
  return out;
}

/** The rows of a series on the host from last to first. */
export function reversed(given: Sequence): Matrix {
  const series = onlyHost(given, "a sequence");
  const out = Matrix.zeros(series.rows, series.cols, series.data instanceof Float32Array ? "float32" : "float64");
  for (let t = 0; t < series.rows; t++) out.row(t).set(series.row(series.rows - 1 - t));
  return out;
}

/**
 * Levels from the states of at most 24 training cases, drawn by the seed of the member's first
 * reservoir, about a hundred rows of each. @throws WorkInterruptedError
 */
export async function fitLevels(
  computers: MemberComputers,
  driving: Driving,
  settings: ClassifierSettings,
  { signal }: WorkOptions,
): Promise<Levels> {
  const { thresholds, washout, input } = settings;
  const views = viewsOf(settings);
  const series = seriesOf(driving);
  if (thresholds === 0) {
    const none = (columns: number) => Matrix.zeros(0, columns);
    return {
      states: views.map(({ of }) => none(computers[of]!.model.size)),
      inputs: input ? series.map(([first]) => none(first!.cols)) : [],
    };
  }
  const draws = new RandomStream(seedKeys(computers[0].model.config.seed).weights, drawStream);
  const shuffled = series[0]!.map((_, b) => ({ b, at: draws.uniform(0, b) })).sort((x, y) => x.at - y.at);
  const drawn = shuffled.slice(0, drawnCases).map(({ b }) => b);
  const states: Matrix<Float64Array>[] = [];
  for (const view of views) {
    const samples: Matrix[] = [];
    const { cases, backward } = casesOf(driving, view);
    await eachState(
      computers[view.of]!,
      drawn.map((b) => cases[b]!),
      backward,
      { signal },
      (_, x) => {
        samples.push(someRows(x.subarray(washout)));
      },
    );
    states.push(levelsOf(samples, thresholds));
  }
  const inputs = input
    ? series.map((cases) =>
        levelsOf(
          drawn.map((b) => someRows(onHost(cases[b]!).subarray(washout))),
          thresholds,
        ),
      )
    : [];
  return { states, inputs };
}

/**
 * B x F: of each view the statistics of its states and, of a forward one with `input`, those of
 * the series itself. Rows of the washout are left out at the start of each run.
 * @throws WorkInterruptedError
 */
export async function statisticsOf(
  computers: MemberComputers,
  series: HostSeries,
  settings: ClassifierSettings,
  levels: Levels,
  { signal, onProgress }: WorkOptions,
): Promise<Matrix<Float64Array>> {
  const { washout, input, thresholds } = settings;
  const views = viewsOf(settings);
  const [cases] = series;
  const each = statisticsPerNeuron(thresholds);
  const out = Matrix.zeros(cases!.length, statisticsCount(settings, computers[0].model.size, cases![0]!.cols));
  const rows = cases!.reduce((sum, one) => sum + one.rows, 0);
  let from = 0;
  for (const [v, { of, backward }] of views.entries()) {
    const computer = computers[of]!;
    const width = each * computer.model.size;
    const ofView = onProgress && ((done: number) => onProgress(v * rows + done, views.length * rows));
    const start = from;
    await eachState(computer, series[of]!, backward, { signal, onProgress: ofView }, (b, x) => {
      writeStatistics(x.subarray(washout), levels.states[v]!, out.row(b).subarray(start, start + width));
    });
    from += width;
    if (!input || backward) continue;
    const inputWidth = each * cases![0]!.cols;
    for (const [b, one] of series[of]!.entries())
      writeStatistics(one.subarray(washout), levels.inputs[of]!, out.row(b).subarray(from, from + inputWidth));
    from += inputWidth;
  }
  return out;
}

const onHost = (one: Sequence): Matrix => (one instanceof DeviceMatrix ? one.toMatrix() : one);

/** Runs cases, group by group, and hands out the states of each. */
async function eachState(
  computer: AnyReservoirComputer,
  cases: readonly Sequence[],
  backward: boolean,
  { signal, onProgress }: WorkOptions,
  take: (b: number, states: Matrix) => void,
): Promise<void> {
  let b = 0;
  let done = 0;
  for (const { group, rows } of groupsOf(cases, computer.model.size, stateGroup)) {
    const before = done;
    const report = onProgress && ((some: number) => onProgress(before + some, rows));
    for (const x of await computer.batch(backward ? group.map(reversed) : group, { signal, onProgress: report })) take(b++, x);
    done += rows;
    onProgress?.(done, done);
  }
}
