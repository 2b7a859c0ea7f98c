// A member of a Forecaster that forecasts all steps at once: a readout of the last rows, which are
// scaled by themselves, and of a reservoir that runs over them from its initial state. It follows a
// level that wanders, which a closed loop in the z-scores of the whole series cannot.
import { orError } from "@spillway/core/errors.js";
import { Matrix, portableExp, portableLog } from "@spillway/numerics";
import { type GramAccumulator, IllConditionedError, ridge, type TrainedReadout } from "../../readout/index.js";
import { ridgePath } from "../../readout/ridge-path.js";
import { type AnyReservoirComputer, type ReservoirOptions, type WorkOptions, WorkPacer } from "../../reservoir/index.js";
import { fitTransforms } from "../../series/transforms.js";
import type { Bound } from "./bounds.js";
import { type CheckedData, type CheckedSeries, checkColumns, lastRows } from "./data.js";
import { checkShowsSeason, noRow } from "./known.js";
import type { ForecastMember, PredictedRows } from "./model.js";
import { roundedInputs } from "./training.js";

/** The reservoir of windows: slow and fast neurons of ten inputs each. */
export const directReservoir: ReservoirOptions = {
  size: 50,
  inputSize: 1,
  spectralRadius: 0.9,
  inputScaling: 0.5,
  bias: 0.5,
  leakRate: { from: 0.03, to: 1 },
  topology: { type: "fixedInDegree", degree: 10 },
};

/** Penalties, each times the number of windows. */
export const directShares: readonly number[] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1];

/** Fewer windows than this train nothing. */
const fewestWindows = 10;
/** At most about so many windows train; of a longer series every second, third and so on. */
const mostWindows = 2000;
/** A window with a target this many scales from its base trains nothing. */
const mostScales = 6;
/** Windows that run at a time. */
const chunk = 512;

/** What a window is, and what is forecast from it. */
export interface DirectShape {
  /** Rows of a window. */
  readonly window: number;
  /** Rows of a season; 1 for none. */
  readonly season: number;
  /** Steps that the readout forecasts at once. */
  readonly horizon: number;
}

/** How a column is turned before it is cut into windows. */
export interface DirectScale {
  /** The least training value if all are above 0, so that logarithms are taken; else 0. */
  readonly least: number;
}

/** The rows of a window, and what is forecast from it: two seasons, or four horizons. */
export function directShape(rows: number, horizon: number, season: number): DirectShape {
  const window = season > 1 ? Math.max(2 * season, horizon) : Math.min(4 * horizon, Math.floor(rows / 3));
  return { window: Math.max(1, window), season, horizon };
}

/** The position of a direct member: the last rows of its series, oldest first. */
export interface DirectState {
  readonly recent: Matrix;
}

/** What a direct member is made of. */
export interface DirectParts {
  readonly shape: DirectShape;
  /** One a column. */
  readonly scales: readonly DirectScale[];
  /** One a column: `horizon` outputs of the state, the window and the squares of the state. */
  readonly readouts: readonly TrainedReadout[];
  /** Columns that are known beforehand, which it does not take. */
  readonly known: number;
  readonly bounds: readonly Bound[] | undefined;
}

/** Windows of one column, scaled one by one. */
interface Windows {
  /** Windows x `window`. */
  readonly scaled: Matrix<Float64Array>;
  readonly mean: Float64Array;
  readonly scale: Float64Array;
}

/** One readout a column of windows that are scaled one by one. */
export class DirectMember implements ForecastMember<DirectState> {
  readonly computers: readonly [AnyReservoirComputer];
  readonly parts: DirectParts;
  readonly preprocessing: ForecastMember["preprocessing"];
  readonly fedBack = 0;
  state: DirectState;

  constructor(computer: AnyReservoirComputer, parts: DirectParts, recent: Matrix) {
    this.computers = [computer];
    this.parts = parts;
    this.preprocessing = { transforms: fitTransforms([], []), known: parts.known, bounds: parts.bounds };
    this.state = { recent };
  }

  get readouts(): readonly TrainedReadout[] {
    return this.parts.readouts;
  }

  get columns(): number {
    return this.parts.readouts.length;
  }

  get inputs(): number {
    return this.columns;
  }

  get leastRows(): number {
    const { season } = this.parts.shape;
    return season > 1 && this.state.recent.rows >= 2 * season ? 2 * season : 1;
  }

  isState(value: unknown): value is DirectState {
    return (value as Partial<DirectState> | undefined)?.recent instanceof Matrix;
  }

  reset(): void {
    this.state = { recent: Matrix.zeros(0, this.columns) };
  }

  /** @throws ArgumentError if it follows a season, and the rows are too few to show it */
  start({ series }: CheckedData): void {
    const { leastRows } = this;
    this.reset();
    if (!series) return;
    if (series.rows > 0) checkColumns(series, "warmup", this.columns);
    if (series.rows > 0) checkShowsSeason(series.rows, leastRows, "direct", this.parts.shape.season);
    this.#remember(series);
  }

  follow({ series }: CheckedSeries): void {
    this.#remember(series);
  }

  recall(history: Matrix): void {
    this.start({ series: history });
  }

  async predict({ series, known }: PredictedRows, { signal }: WorkOptions): Promise<readonly Matrix<Float64Array>[]> {
    const { recent } = this.state;
    const all = lastRows(recent.rows + series.rows, recent, series);
    // With known inputs a row is predicted from those before it, else from those up to it.
    const ends = Array.from({ length: series.rows }, (_, t) => recent.rows + t + (known ? 0 : 1));
    const out = Matrix.zeros(series.rows, this.columns);
    for (let from = 0; from < ends.length; from += chunk) {
      const made = await this.#ahead(all, ends.slice(from, from + chunk), 1, signal);
      out.data.set(made.data, from * this.columns);
    }
    this.#remember(series);
    return [out];
  }

  async forecast(steps: number, _outside: Matrix | undefined, work: WorkOptions): Promise<Matrix<Float64Array>> {
    const { horizon } = this.parts.shape;
    const { signal } = work;
    const out = Matrix.zeros(steps, this.columns);
    const pacer = new WorkPacer(work, steps);
    for (let from = 0; from < steps; from += horizon) {
      if (pacer.due()) await pacer.pause(from);
      const { recent } = this.state;
      const made = await this.#ahead(recent, [recent.rows], Math.min(horizon, steps - from), signal);
      out.data.set(made.data, from * this.columns);
      this.#remember(made);
    }
    return out;
  }

  /** The `steps` rows after each of the rows `ends`, under each other. */
  async #ahead(rows: Matrix, ends: readonly number[], steps: number, signal: AbortSignal | undefined): Promise<Matrix<Float64Array>> {
    if (ends[0] === 0) throw noRow();
    const { shape, scales, readouts } = this.parts;
    const out = Matrix.zeros(ends.length * steps, this.columns);
    for (const [c, scale] of scales.entries()) {
      const [made] = await aheadOf(this.computers[0], [readouts[c]!], turned(rows, c, scale), ends, shape, signal, steps);
      for (let w = 0; w < ends.length; w++) {
        const ahead = scale.least > 0 ? made!.row(w).map(portableExp) : made!.row(w);
        const areFinite = ahead.every(Number.isFinite);
        for (let k = 0; k < steps; k++) out.data[(w * steps + k) * out.cols + c] = areFinite ? ahead[k]! : rows.at(ends[w]! - 1, c);
      }
    }
    return out;
  }

  #remember(series: Matrix): void {
    this.state = { recent: lastRows(this.parts.shape.window, this.state.recent, series) };
  }
}

/** Sums up windows of a series, first those before validation and then the rest. */
export class DirectTraining {
  readonly #computer: AnyReservoirComputer;
  readonly #series: Matrix;
  /** 1 where a value was filled and not measured: it is no target. */
  readonly #filled: Matrix | undefined;
  readonly #shape: DirectShape;
  #scales: readonly DirectScale[] = [];
  #sums: readonly GramAccumulator[] = [];
  /** The first target of the next window. */
  #next = 0;

  constructor(computer: AnyReservoirComputer, series: Matrix, filled: Matrix | undefined, shape: DirectShape) {
    this.#computer = computer;
    this.#series = series;
    this.#filled = filled;
    this.#shape = shape;
  }

  /** Takes in the windows whose targets end before row `end`; no later row is read. */
  async add(end: number, signal?: AbortSignal): Promise<void> {
    const { window, horizon } = this.#shape;
    const scales = Array.from({ length: this.#series.cols }, (_, c) => scaleOf(this.#series, c, end));
    if (scales.some(({ least }, c) => least > 0 !== (this.#scales[c] && this.#scales[c].least > 0))) {
      this.dispose();
      const { size: stateSize } = this.#computer.model;
      this.#sums = scales.map(() => trainer(1).accumulator({ stateSize, inputSize: window, outputSize: horizon }) as GramAccumulator);
      this.#next = window;
    }
    this.#scales = scales;
    const stride = Math.ceil(this.#series.rows / mostWindows);
    const starts: number[] = [];
    for (; this.#next + horizon <= end; this.#next += stride) starts.push(this.#next);
    for (const [c, scale] of scales.entries()) {
      const values = turned(this.#series.subarray(0, end), c, scale);
      const isFilled = (row: number) => this.#filled?.at(row, c) === 1;
      const cut = { computer: this.#computer, shape: this.#shape, values, isFilled, signal };
      for (let from = 0; from < starts.length; from += chunk) await addWindows(this.#sums[c]!, cut, starts.slice(from, from + chunk));
    }
  }

  /** Whether there are windows enough to train on. */
  get isEnough(): boolean {
    return this.#sums.length > 0 && this.#sums.every(({ rows }) => rows >= fewestWindows);
  }

  /** For each share a member that was given no row yet, or the error of its fit. */
  members(
    shares: readonly number[],
    { known, bounds }: Pick<DirectParts, "known" | "bounds">,
  ): readonly (DirectMember | IllConditionedError)[] {
    const lambdasOf = ({ rows }: GramAccumulator) => shares.map((share) => share * rows);
    const columns = this.#sums.map((sums) =>
      shares.length > 1
        ? ridgePath(sums, lambdasOf(sums))
        : [orError(() => trainer(shares[0]! * sums.rows).solve(sums), IllConditionedError)],
    );
    return shares.map((_, s) => {
      const readouts = columns.map((made) => made[s]!);
      const failed = readouts.find((made) => made instanceof IllConditionedError);
      if (failed) return failed as IllConditionedError;
      const parts = { shape: this.#shape, scales: this.#scales, readouts: readouts as TrainedReadout[], known, bounds };
      return new DirectMember(this.#computer, parts, Matrix.zeros(0, this.#series.cols));
    });
  }

  /** Gives the memory of the sums back. Idempotent. */
  dispose(): void {
    for (const sums of this.#sums) sums.dispose();
    this.#sums = [];
  }
}

/** A column that windows are cut from. */
interface CutColumn {
  readonly computer: AnyReservoirComputer;
  readonly shape: DirectShape;
  readonly values: Float64Array;
  /** Whether a value was filled and not measured: it is no target. */
  readonly isFilled: (row: number) => boolean;
  readonly signal: AbortSignal | undefined;
}

/** Adds the windows before the rows `starts`, with the targets from there on. */
export async function addWindows(
  sums: GramAccumulator,
  { computer, shape: { window, horizon, season }, values, isFilled, signal }: CutColumn,
  starts: readonly number[],
): Promise<void> {
  const { scaled, mean, scale } = windowsOf(values, starts, window);
  const kept: number[] = [];
  const targets: number[] = [];
  for (const [w, start] of starts.entries()) {
    const steps = Array.from({ length: horizon }, (_, k) => {
      if (isFilled(start + k)) return Number.NaN;
      return (values[start + k]! - mean[w]!) / scale[w]! - baseOf(scaled.row(w), k, season);
    });
    if (!steps.every((value) => Math.abs(value) <= mostScales)) continue;
    kept.push(w);
    targets.push(...steps);
  }
  if (kept.length === 0) return;
  const rows = Matrix.zeros(kept.length, window);
  for (const [k, w] of kept.entries()) rows.row(k).set(scaled.row(w));
  const [states, inputs] = await statesOf(computer, rows, signal);
  sums.add(states, inputs, new Matrix(kept.length, horizon, Float64Array.from(targets)));
}

export const trainer = (lambda: number) => ridge({ transform: "squares", input: true, lambda });

/** Logarithms if all values before row `end` are above 0. */
function scaleOf(series: Matrix, c: number, end: number): DirectScale {
  let least = Number.POSITIVE_INFINITY;
  for (let t = 0; t < end; t++) least = Math.min(least, series.at(t, c));
  return { least: least > 0 ? least : 0 };
}

/** A column that windows are cut from; a value at or below 0 has the least one's logarithm. */
function turned(series: Matrix, c: number, { least }: DirectScale): Float64Array {
  return Float64Array.from({ length: series.rows }, (_, t) => {
    const value = series.at(t, c);
    return least > 0 ? portableLog(value > 0 ? value : least) : value;
  });
}

/**
 * The window before each row: less its mean, over its deviation, or half the mean step if that is
 * larger. Before the first row its value is repeated.
 */
function windowsOf(values: Float64Array, ends: readonly number[], window: number): Windows {
  const scaled = Matrix.zeros(ends.length, window);
  const mean = new Float64Array(ends.length);
  const scale = new Float64Array(ends.length);
  for (const [w, end] of ends.entries()) {
    const row = scaled.row(w);
    for (let i = 0; i < window; i++) row[i] = values[Math.max(0, end - window + i)]!;
    let sum = 0;
    for (let i = 0; i < window; i++) sum += row[i]!;
    const centre = sum / window;
    let squares = 0;
    let steps = 0;
    for (let i = 0; i < window; i++) {
      squares += (row[i]! - centre) * (row[i]! - centre);
      if (i > 0) steps += Math.abs(row[i]! - row[i - 1]!);
    }
    const spread = Math.max(Math.sqrt(squares / window), (0.5 * steps) / window, 1e-9 * Math.abs(centre), 1e-12);
    for (let i = 0; i < window; i++) row[i] = (row[i]! - centre) / spread;
    mean[w] = centre;
    scale[w] = spread;
  }
  return { scaled, mean, scale };
}

/** The forecast of step k that needs no training: the last value, or that of a season before. */
function baseOf(window: ArrayLike<number>, k: number, season: number): number {
  return season > 1 ? window[window.length - season + (k % season)]! : window[window.length - 1]!;
}

/** The state after each window, and the windows as the reservoir got them. */
async function statesOf(computer: AnyReservoirComputer, windows: Matrix, signal: AbortSignal | undefined): Promise<[Matrix, Matrix]> {
  const { size, precision } = computer.model;
  const sequences = Array.from({ length: windows.rows }, (_, w) => new Matrix(windows.cols, 1, windows.row(w) as Float64Array));
  const last = await computer.batch(sequences, { keep: "last", signal });
  const states = Matrix.zeros(windows.rows, size, precision);
  for (const [w, state] of last.entries()) states.row(w).set(state.row(0));
  return [states, roundedInputs(computer, windows)];
}

/**
 * The values of the first `steps` rows after each of the rows `ends`, turned as the windows are: a
 * row for each, by readout.
 */
export async function aheadOf(
  computer: AnyReservoirComputer,
  readouts: readonly TrainedReadout[],
  values: Float64Array,
  ends: readonly number[],
  { window, season, horizon }: DirectShape,
  signal: AbortSignal | undefined,
  steps = horizon,
): Promise<Matrix<Float64Array>[]> {
  const { scaled, mean, scale } = windowsOf(values, ends, window);
  const [states, inputs] = await statesOf(computer, scaled, signal);
  return readouts.map((readout) => {
    const made = readout.predict(states, inputs);
    const out = Matrix.zeros(ends.length, steps);
    for (let w = 0; w < ends.length; w++)
      for (let k = 0; k < steps; k++) out.row(w)[k] = mean[w]! + scale[w]! * (made.at(w, k) + baseOf(scaled.row(w), k, season));
    return out;
  });
}
