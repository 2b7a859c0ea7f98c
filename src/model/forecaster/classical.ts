// A member of a Forecaster that needs no reservoir: a classical method (src/series/classical.ts) of
// each column by itself, fitted on the rows that it starts from.
import { Matrix } from "@spillway/numerics";
import { mostClassicalRows } from "../../series/baselines.js";
import { type ClassicalMethod, fitClassical } from "../../series/classical.js";
import { continueSmoothing, followSmoothing, type Smoothing } from "../../series/exponential-smoothing.js";
import { fitTransforms } from "../../series/transforms.js";
import type { Bound } from "./bounds.js";
import type { CheckedData, CheckedSeries } from "./data.js";
import { checkShowsSeason, noRow } from "./known.js";
import type { ForecastMember, PredictedRows } from "./model.js";

/** The methods that are members. */
export type ClassicalMemberMethod = Extract<ClassicalMethod, "theta" | "damped" | "ets" | "seasonalNaive">;

/** A column at the position. */
export interface ClassicalColumn {
  readonly smoothing: Smoothing;
  /** The value of the last row. */
  readonly last: number;
  /** The least and the largest value so far; undefined in files of earlier versions. */
  readonly ends?: readonly number[] | undefined;
}

/** No forecast is further from the last value than so many ranges of the rows. */
const mostRanges = 3;

/** The position of a classical member; no columns after a reset. */
export interface ClassicalState {
  readonly smoothed: readonly ClassicalColumn[];
}

/** What a classical member is made of. */
export interface ClassicalParts {
  readonly method: ClassicalMemberMethod;
  readonly season: number;
  readonly columns: number;
  readonly known: number;
  readonly bounds: readonly Bound[] | undefined;
}

/** A classical method of each column. What is known beforehand is nothing to it. */
export class ClassicalMember implements ForecastMember<ClassicalState> {
  readonly computers = [];
  readonly readouts = [];
  readonly fedBack = 0;
  readonly parts: ClassicalParts;
  readonly preprocessing: ForecastMember["preprocessing"];
  state: ClassicalState = { smoothed: [] };

  constructor(parts: ClassicalParts) {
    const { known, bounds } = parts;
    this.parts = parts;
    this.preprocessing = { transforms: fitTransforms([], []), known, bounds };
  }

  get columns(): number {
    return this.parts.columns;
  }

  get inputs(): number {
    return this.columns;
  }

  get leastRows(): number {
    const { method, season } = this.parts;
    if (this.state.smoothed.every(({ smoothing }) => smoothing.season === "none")) return 1;
    return { theta: 2 * season, damped: 2 * season, ets: 2 * season + 5, seasonalNaive: season }[method];
  }

  isState(value: unknown): value is ClassicalState {
    return Array.isArray((value as Partial<ClassicalState> | undefined)?.smoothed);
  }

  reset(): void {
    this.state = { smoothed: [] };
  }

  /**
   * Fits the method on rows.
   * @param filled 1 where a value was filled and not measured
   * @param areSeasonal columns that have a season, as more rows have shown
   */
  fit(series: Matrix, filled?: Matrix, areSeasonal: readonly boolean[] = []): void {
    const from = Math.max(0, series.rows - mostClassicalRows);
    const columns = Array.from({ length: this.columns }, (_, c) => {
      const values = series.column(c).slice(from);
      const measured = values.map((value, t) => (filled?.at(from + t, c) === 1 ? Number.NaN : value));
      const isMeasured = measured.some((value) => !Number.isNaN(value));
      const { method, season } = this.parts;
      const smoothing = fitClassical(method, isMeasured ? measured : values, season, areSeasonal[c]);
      return { smoothing, last: values.at(-1)!, ends: endsOf(values) };
    });
    this.state = { smoothed: columns };
  }

  /**
   * A column that has had a season keeps it. @throws ArgumentError if the rows are too few to show it
   */
  start({ series }: CheckedData): void {
    const { leastRows } = this;
    const areSeasonal = this.state.smoothed.map(({ smoothing }) => smoothing.season !== "none");
    this.reset();
    if (!series || series.rows === 0) return;
    const { method, season } = this.parts;
    checkShowsSeason(series.rows, leastRows, method, season);
    this.fit(series, undefined, areSeasonal);
  }

  follow({ series }: CheckedSeries): void {
    if (this.state.smoothed.length === 0) this.start({ series });
    else this.#advance(series);
  }

  recall(history: Matrix): void {
    this.start({ series: history });
  }

  async predict({ series, known }: PredictedRows): Promise<readonly Matrix<Float64Array>[]> {
    const out = Matrix.zeros(series.rows, this.columns);
    for (let t = 0; t < series.rows; t++) {
      // With known inputs a row is predicted from those before it, else from those up to it.
      if (!known) this.follow({ series: series.subarray(t, t + 1) });
      out.row(t).set(this.#ahead(1).row(0));
      if (known) this.follow({ series: series.subarray(t, t + 1) });
    }
    return [out];
  }

  async forecast(steps: number): Promise<Matrix<Float64Array>> {
    return this.#ahead(steps);
  }

  /** The last value in place of a forecast that is not finite. */
  #ahead(steps: number): Matrix<Float64Array> {
    if (this.state.smoothed.length === 0) throw noRow();
    const out = Matrix.zeros(steps, this.columns);
    for (const [c, { smoothing, last, ends }] of this.state.smoothed.entries()) {
      const reach = ends ? mostRanges * (ends[1]! - ends[0]!) : Number.POSITIVE_INFINITY;
      const made = continueSmoothing(smoothing, steps);
      const areFinite = made.every(Number.isFinite);
      for (let k = 0; k < steps; k++)
        out.data[k * out.cols + c] = areFinite ? Math.min(last + reach, Math.max(last - reach, made[k]!)) : last;
    }
    return out;
  }

  #advance(series: Matrix): void {
    const smoothed = this.state.smoothed.map(({ smoothing, ends }, c) => {
      const values = Float64Array.from(series.column(c));
      return { smoothing: followSmoothing(smoothing, values), last: values.at(-1)!, ends: ends && endsOf([...ends, ...values]) };
    });
    this.state = { smoothed };
  }
}

function endsOf(values: ArrayLike<number>): readonly [number, number] {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < values.length; i++) {
    least = Math.min(least, values[i]!);
    most = Math.max(most, values[i]!);
  }
  return [least, most];
}
