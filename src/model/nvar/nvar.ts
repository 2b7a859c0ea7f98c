// NvarForecaster: a Forecaster whose model is polynomials of delays. training.ts fits the weights,
// features.ts makes the features, step.ts computes a step.
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { Matrix } from "@spillway/numerics";
import { chooseEngine, type WorkOptions } from "../../reservoir/index.js";
import { WorkPacer } from "../../reservoir/work.js";
import { type CheckedSeries, checkColumns, lastRows } from "../forecaster/data.js";
import { evaluate } from "../forecaster/evaluate.js";
import { type Forecaster, type ForecasterConstructors, forecastersOf } from "../forecaster/forecaster.js";
import { checkKnown } from "../forecaster/known.js";
import { checkChoose } from "../forecaster/lambda-choice.js";
import type { FitRows, ForecastMember, ForecastModel, PredictedRows, Trained } from "../forecaster/model.js";
import { chooseDefaults } from "../forecaster/plan.js";
import { fitPreprocessing, inScores } from "../forecaster/preprocessing.js";
import { half } from "../forecaster/reservoir-model.js";
import type { RowKind } from "../forecaster/rows.js";
import { checkHost, type LoadOptions, loadTable } from "../model-file.js";
import type { MutableContent } from "../mutable-content.js";
import { columnsOf } from "../standardisation.js";
import { type Numbers, NvarFeatures, numbers, rowsBetween } from "./features.js";
import { decodeNvar, encodeNvar } from "./file.js";
import { type NvarOptions, type NvarSettings, nvarOptionsTable } from "./options.js";
import { copyRows, hold, NvarStep, restoredNumbers, scaledNumbers } from "./step.js";
import { type LeastSquares, leastSquaresHere, type NvarFit, type NvarSeries, trainNvar } from "./training.js";

/** The last rows of an NVAR model's series, in z-scores; none after a reset. */
export interface NvarState {
  readonly high: Float64Array;
  /** What binary64 leaves of them, in double-double. */
  readonly low?: Float64Array | undefined;
}

/** Trained polynomials, with the last rows of their series. */
export class NvarMember implements ForecastMember<NvarState> {
  readonly computers = [] as const;
  readonly fedBack = 0;
  readonly fit: NvarFit;
  readonly preprocessing: ForecastMember["preprocessing"];
  readonly #settings: NvarSettings;
  #history: Numbers;

  constructor(settings: NvarSettings, fit: NvarFit) {
    this.fit = fit;
    this.preprocessing = { transforms: { steps: [], lost: 0 }, known: fit.features.known, bounds: fit.bounds };
    this.#settings = settings;
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
    const step = new NvarStep(this.#settings, this.fit);
    const predicted = Matrix.zeros(rows, cols);
    const next = numbers(cols, this.#isExact);
    const pacer = new WorkPacer(work, rows);
    for (let t = 0; t < rows; t++) {
      step.next(all, first + t, ahead && rowsBetween(ahead, features.known, t, t + 1), next);
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
    const step = new NvarStep(this.#settings, this.fit);
    const window = copyRows(this.#history, features, features.history);
    const cols = features.columns;
    const out = Matrix.zeros(steps, cols);
    const next = numbers(cols, this.#isExact);
    const pacer = new WorkPacer(work, steps);
    for (let t = 0; t < steps; t++) {
      step.next(window, features.history - 1, known && rowsBetween(known, features.known, t, t + 1), next);
      if (this.#settings.hold) hold(range, next);
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
    return this.#settings.arithmetic === "doubleDouble";
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

/** NVAR as it is described. */
export class NvarModel implements ForecastModel<NvarSettings, NvarMember> {
  readonly kind = "nvar";
  readonly settings: NvarSettings;
  readonly #engine: string | undefined;

  constructor(settings: NvarSettings, engine?: string) {
    this.settings = settings;
    this.#engine = engine;
  }

  get rows(): RowKind {
    return { feedback: false, pairs: false, maskInput: false, exact: this.settings.arithmetic === "doubleDouble" };
  }

  /** @throws ArgumentError, SingularFitError, WorkInterruptedError, EngineUnavailableError */
  async fit({ data, masks }: FitRows, _: readonly NvarMember[], work: WorkOptions): Promise<Trained<NvarMember>> {
    const { settings } = this;
    const { horizon, choose, lambda, targets, delays, stride } = settings;
    const solve = await solverOn(this.#engine, settings);
    const series = data as readonly CheckedSeries[];
    const { history } = new NvarFeatures(settings, series[0]!.series.cols, series[0]!.known?.cols);
    series.forEach(({ series: { rows } }, s) => {
      if (rows > history) return;
      throw ArgumentError.shape(
        `${series.length > 1 ? `sequences[${s}]` : "series"} has ${rows} rows; ${delays} delays with stride ${stride} ` +
          `reach over ${history} and take at least one more`,
      );
    });
    if (horizon === undefined)
      return { members: await fitMembers(settings, series, masks, [lambda], solve, work), groups: [0], choice: undefined };
    const lambdas = choose?.lambdas ?? chooseDefaults.lambdas;
    const tried = async (training: readonly CheckedSeries[], signal: AbortSignal | undefined) => {
      const tries = await fitMembers(settings, training, masks, lambdas, solve, { signal });
      return { tries, again: async (index: number) => tries[index]!, close: async () => {} };
    };
    const options = { horizon, lambdas, targets, masks, washout: history, warmup: history, keep: 1, calendarColumns: 0 };
    const choice = await evaluate(
      [{ lags: 0, calendar: false, transforms: [], members: [tried] }],
      series,
      { ...chooseDefaults, ...(choose as Partial<typeof chooseDefaults>), ...options },
      half(work, 0),
    );
    return { members: await fitMembers(settings, series, masks, [choice.kept[0]!.lambda], solve, half(work, 1)), groups: [0], choice };
  }

  encode(content: MutableContent, { members }: Trained<NvarMember>): void {
    encodeNvar(content, { ...members[0]!.fit, history: members[0]!.state });
  }
}

/** What solves for the weights on an engine. @throws EngineUnavailableError, ArgumentError */
async function solverOn(name: string | undefined, { arithmetic }: NvarSettings): Promise<LeastSquares> {
  if (name === undefined || name === "auto") return leastSquaresHere;
  const { engine } = await chooseEngine(name);
  const { device } = engine;
  if (!device) return leastSquaresHere;
  if (arithmetic !== "doubleDouble")
    throw new ArgumentError("engine", name, `"cpu" with arithmetic "${arithmetic}": devices solve in double-double alone`);
  return (x, y, options) => device.leastSquares(x, y, options);
}

/** Members of some lambdas, at the end of the last series. */
async function fitMembers(
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

/** A forecaster of polynomials of delays. */
export type NvarForecaster = Forecaster<NvarModel>;

/**
 * Makes forecasters by nonlinear vector autoregression (NG-RC): y(t + 1) = y(t) + W [1, y(t), y(t -
 * s), ..., y(t - (k - 1) s), k(t + 1), the monomials of all], with k what is known beforehand,
 * fitted by Householder reflections, without a reservoir (Gauthier, Bollt, Griffith and Barbosa
 * 2021, "Next generation reservoir computing", Nature Communications 12; Bollt 2021, Chaos 31).
 *
 * It predicts systems whose law is a polynomial, sampled often and without noise, better than any
 * reservoir, and other data worse: noise enters every monomial.
 *
 * Its state is the last rows of the series. It runs on the host, but for the weights, which `engine`
 * may solve for on a device, with the same bits everywhere. Memory does not grow with the rows in
 * binary64; in double-double all rows of features are kept.
 *
 * @example
 * const model = await NvarForecaster.fit(series.subarray(0, 2000), {
 *   delays: 1,
 *   degrees: [2, 3, 4],
 * });
 * const next = await model.forecast(500); // rows 2000 to 2499
 */
export const NvarForecaster: ForecasterConstructors<NvarModel, NvarOptions, LoadOptions> = forecastersOf({
  kind: "nvar",
  loadTable,
  async create(options: NvarOptions): Promise<NvarModel> {
    const { engine, ...settings } = resolve(nvarOptionsTable, options);
    const { horizon, choose, lambda } = settings;
    checkChoose(settings);
    // A lambda that is said is the only one that is tried.
    if (horizon === undefined || choose?.lambdas || options?.lambda === undefined) return new NvarModel(settings, engine);
    return new NvarModel({ ...settings, choose: { ...choose, lambdas: [lambda] } }, engine);
  },
  async open(file, { source, ...selection }: LoadOptions & { readonly source: string }) {
    checkHost(selection, "an NVAR");
    const { settings, fit, choice, time, last } = await decodeNvar(file, source);
    return { model: new NvarModel(settings), trained: { members: [new NvarMember(settings, fit)], groups: [0], choice }, time, last };
  },
});
