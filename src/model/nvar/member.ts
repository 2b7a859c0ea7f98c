// Trained polynomials of delays, with a position in their series: what training.ts fits is a member
// of an NvarForecaster, and of a combination.
import { ArgumentError } from "@spillway/core/errors.js";
import { Matrix } from "@spillway/numerics";
import type { WorkOptions } from "../../reservoir/index.js";
import { WorkPacer } from "../../reservoir/work.js";
import { type CheckedSeries, checkColumns, lastRows } from "../forecaster/data.js";
import { checkKnown } from "../forecaster/known.js";
import type { FitRows, ForecastMember, PredictedRows } from "../forecaster/model.js";
import { fitPreprocessing, inScores } from "../forecaster/preprocessing.js";
import { columnsOf } from "../standardisation.js";
import { type Numbers, NvarFeatures, numbers, rowsBetween } from "./features.js";
import type { NvarSettings } from "./options.js";
import { copyRows, hold, nvarStep, restoredNumbers, scaledNumbers } from "./step.js";
import { type LeastSquares, type NvarFit, type NvarSeries, trainNvar } from "./training.js";

/** The last rows of an NVAR model's series, in z-scores; none after a reset. */
export interface NvarState {
  readonly high: Float64Array;
  /** What binary64 leaves of them, in double-double. */
  readonly low?: Float64Array | undefined;
}

/** Trained polynomials, with the last rows of their series. */
export class NvarMember implements ForecastMember<NvarState> {
  readonly computers = [];
  readonly fedBack = 0;
  readonly fit: NvarFit;
  readonly preprocessing: ForecastMember["preprocessing"];
  readonly settings: NvarSettings;
  #history: Numbers;

  constructor(settings: NvarSettings, fit: NvarFit) {
    this.fit = fit;
    this.preprocessing = { transforms: { steps: [], lost: 0 }, known: fit.features.known, bounds: fit.bounds };
    this.settings = settings;
    this.#history = fit.history;
  }

  get readouts() {
    return [this.fit.readout];
  }

  get columns(): number {
    return this.fit.features.columns;
  }

  get inputs(): number {
    return this.columns;
  }

  get leastRows(): number {
    return this.fit.features.history;
  }

  get state(): NvarState {
    return this.#history;
  }

  set state(history: NvarState) {
    this.#history = history;
  }

  isState(value: unknown): value is NvarState {
    const { high } = (value ?? {}) as Partial<NvarState>;
    return high?.length === 0 || high?.length === this.fit.history.high.length;
  }

  reset(): void {
    this.#history = numbers(0, this.#isExact);
  }

  start({ series, known, low }: CheckedSeries): void {
    const { features, scale } = this.fit;
    checkColumns(series, "warmup", features.columns);
    checkKnown(known, features.known, "warmup.known");
    if (series.rows < features.history)
      throw ArgumentError.shape(
        `warmup has ${series.rows} rows without a missing value that nothing before it can hold; the delays of this forecaster reach over ${features.history}`,
        { field: "warmup" },
      );
    this.#history = scaledNumbers(scale, copyRows(this.#numbers(series, low), features, series.rows));
  }

  follow(rows: CheckedSeries): void {
    this.#history = copyRows(this.#joined(rows), this.fit.features, this.fit.features.history + rows.series.rows);
  }

  recall(history: Matrix): void {
    const { features, scale } = this.fit;
    checkColumns(history, "history", features.columns);
    if (history.rows < features.history)
      throw ArgumentError.shape(`history has ${history.rows} rows; this forecaster takes at least ${features.history}`, {
        field: "history",
      });
    this.#history = scaledNumbers(scale, this.#numbers(lastRows(features.history, history)));
  }

  /** Row t is what follows row t of the series, or with known inputs row t itself. */
  async predict({ series, low, known, precision }: PredictedRows, work: WorkOptions): Promise<readonly [Matrix<Float64Array>]> {
    if (precision !== undefined)
      throw ArgumentError.because(`precision is "${precision}"; NVAR predicts in float64: leave it out`, { field: "precision" });
    const { features, scale, knownScale: scaleOfKnown } = this.fit;
    const { rows, cols } = series;
    const all = this.#joined({ series, low });
    const ahead = known && scaledNumbers(scaleOfKnown!, this.#numbers(known));
    const first = features.history - (ahead ? 1 : 0);
    const step = nvarStep(this.settings, this.fit);
    const predicted = Matrix.zeros(rows, cols);
    const next = numbers(cols, this.#isExact);
    const pacer = new WorkPacer(work, rows);
    for (let t = 0; t < rows; t++) {
      step(all, first + t, ahead && rowsBetween(ahead, features.known, t, t + 1), next);
      predicted.data.set(restoredNumbers(scale, next), t * cols);
      if (pacer.due()) await pacer.pause(t + 1);
    }
    pacer.finish();
    this.#history = copyRows(all, features, features.history + rows);
    return [predicted];
  }

  async forecast(steps: number, outside: Matrix | undefined, work: WorkOptions): Promise<Matrix<Float64Array>> {
    this.#checkHistory();
    const { features, scale, range, knownScale: scaleOfKnown } = this.fit;
    const known = outside && scaledNumbers(scaleOfKnown!, this.#numbers(outside));
    const step = nvarStep(this.settings, this.fit);
    const window = copyRows(this.#history, features, features.history);
    const cols = features.columns;
    const out = Matrix.zeros(steps, cols);
    const next = numbers(cols, this.#isExact);
    const pacer = new WorkPacer(work, steps);
    for (let t = 0; t < steps; t++) {
      step(window, features.history - 1, known && rowsBetween(known, features.known, t, t + 1), next);
      if (this.settings.hold) hold(range, next);
      for (const part of ["high", "low"] as const) {
        window[part]?.copyWithin(0, cols);
        window[part]?.set(next[part]!, (features.history - 1) * cols);
      }
      out.data.set(restoredNumbers(scale, next), t * cols);
      if (pacer.due()) await pacer.pause(t + 1);
    }
    pacer.finish();
    return out;
  }

  get #isExact(): boolean {
    return this.settings.arithmetic === "doubleDouble";
  }

  #numbers(rows: Matrix, low?: CheckedSeries["low"]): Numbers {
    return numbersOf(rows, low, this.#isExact);
  }

  /** The last rows, and rows that follow them, in z-scores. */
  #joined({ series, low }: Pick<CheckedSeries, "series" | "low">): Numbers {
    this.#checkHistory();
    const { features, scale } = this.fit;
    const scaled = scaledNumbers(scale, this.#numbers(series, low));
    const all = numbers((features.history + series.rows) * features.columns, this.#isExact);
    for (const part of ["high", "low"] as const) {
      all[part]?.set(this.#history[part]!);
      all[part]?.set(scaled[part]!, features.history * features.columns);
    }
    return all;
  }

  #checkHistory(): void {
    if (this.#history.high.length === 0)
      throw ArgumentError.because("there is no row to go on from after a reset; give warmup", { field: "warmup" });
  }
}

/** Rows in either arithmetic. */
function numbersOf({ data }: Matrix, low: CheckedSeries["low"], isExact: boolean): Numbers {
  const high = Float64Array.from(data);
  return isExact ? { high, low: low?.values ?? new Float64Array(high.length) } : { high };
}

/** Members of some lambdas, at the end of the last series. */
export async function fitNvarMembers(
  settings: NvarSettings,
  given: readonly CheckedSeries[],
  masks: FitRows["masks"],
  lambdas: readonly number[],
  solve: LeastSquares,
  work: WorkOptions,
): Promise<readonly NvarMember[]> {
  const isExact = settings.arithmetic === "doubleDouble";
  const series = given.map(
    ({ series: rows, low, known }, s): NvarSeries => ({
      rows: rows.rows,
      cols: rows.cols,
      values: numbersOf(rows, low, isExact),
      known: known && numbersOf(known, undefined, isExact),
      left: settings.missing === "mask" ? masks[s]?.subarray(0, rows.rows) : undefined,
    }),
  );
  const { standardise, neighbours, bounds: limits } = settings;
  const asked = { transforms: [], standardise, hold: true, bounds: limits, alike: neighbours === null ? undefined : 1 };
  const { targetScale: scale, inputScale, held, bounds, known: count } = fitPreprocessing(given, asked, false);
  const { cols } = series[0]!;
  const known = count > 0 ? columnsOf(inputScale, cols, cols + count) : undefined;
  const features = new NvarFeatures(settings, cols, count);
  const scaled = series.map((one) => ({
    ...one,
    values: scaledNumbers(scale, one.values),
    known: known && scaledNumbers(known, one.known!),
  }));
  const found = await trainNvar(settings, features, scaled, lambdas, solve, work);
  const last = scaled.at(-1)!;
  const range = inScores(held!, scale);
  const history = copyRows(last.values, features, last.rows);
  return found.map((weights) => new NvarMember(settings, { ...weights, features, scale, knownScale: known, range, bounds, history }));
}
