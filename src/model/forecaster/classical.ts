// A member of a Forecaster that needs no reservoir: a classical method (src/series/classical.ts) of
// each column by itself, fitted on the rows that it starts from.
import type { Matrix } from "@spillway/numerics";
import { mostClassicalRows } from "../../series/baselines.js";
import { type ClassicalMethod, fitClassical } from "../../series/classical.js";
import { continueSmoothing, followSmoothing, type Smoothing } from "../../series/exponential-smoothing.js";
import { ColumnwiseMember, type ColumnwiseParts } from "./columnwise.js";

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

/** What a classical member is made of. */
export interface ClassicalParts extends ColumnwiseParts {
  readonly method: ClassicalMemberMethod;
}

/** A classical method of each column. */
export class ClassicalMember extends ColumnwiseMember<ClassicalColumn, ClassicalParts> {
  readonly computers = [];
  readonly readouts = [];

  protected get name(): string {
    return this.parts.method;
  }

  protected get seasonRows(): number {
    const { method, season } = this.parts;
    return { theta: 2 * season, damped: 2 * season, ets: 2 * season + 5, seasonalNaive: season }[method];
  }

  protected isSeasonal({ smoothing }: ClassicalColumn): boolean {
    return smoothing.season !== "none";
  }

  /** Fits the method on rows. @param filled 1 where a value was filled and not measured */
  fit(series: Matrix, filled: Matrix | undefined): void {
    const columns = Array.from({ length: this.columns }, (_, c) => {
      const values = Float64Array.from(series.column(c));
      return this.columnOf(values, undefined, (t) => filled?.at(t, c) === 1);
    });
    this.state = { followed: columns };
  }

  protected columnOf(all: Float64Array, isSeasonal: boolean | undefined, isFilled?: (row: number) => boolean): ClassicalColumn {
    const from = Math.max(0, all.length - mostClassicalRows);
    const values = all.slice(from);
    const measured = values.map((value, t) => (isFilled?.(from + t) ? Number.NaN : value));
    const { method, season } = this.parts;
    const smoothing = fitClassical(method, measured.every(Number.isNaN) ? values : measured, season, isSeasonal);
    return { smoothing, last: values.at(-1)!, ends: endsOf(values) };
  }

  protected moved({ smoothing, ends }: ClassicalColumn, values: Float64Array): ClassicalColumn {
    return { smoothing: followSmoothing(smoothing, values), last: values.at(-1)!, ends: ends && endsOf([...ends, ...values]) };
  }

  protected ahead({ smoothing, last, ends }: ClassicalColumn, steps: number): Float64Array {
    const made = Float64Array.from(continueSmoothing(smoothing, steps));
    const reach = ends ? mostRanges * (ends[1]! - ends[0]!) : Number.POSITIVE_INFINITY;
    return made.every(Number.isFinite) ? made.map((value) => Math.min(last + reach, Math.max(last - reach, value))) : made;
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
