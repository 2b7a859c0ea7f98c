// The features of NVAR: delays of a series and their monomials. It trains nothing.
import { ArgumentError } from "@spillway/core/errors.js";
import { ddMultiply, type Matrix } from "@spillway/numerics";
import { type DoubleDoubles, ddAt, ddSet, doubleDoubles } from "@spillway/numerics/double-double-rows.js";

/** Features beyond which a model is refused: nobody means so many. */
const mostFeatures = 100_000;

/** How features are put together. */
export interface NvarShape {
  /** k, how many values of each column. */
  readonly delays: number;
  /** s, rows between two of them. */
  readonly stride: number;
  /** Degrees of the monomials, beside the values themselves. */
  readonly degrees: readonly number[];
  /** Columns on each side that a column of a ring sees; null if every column sees all. */
  readonly neighbours: number | null;
}

/** Of which row and group features are, and what is known of the row after it. */
export interface FeatureRow {
  readonly t: number;
  readonly group: number;
  readonly ahead?: Numbers | undefined;
}

/** Numbers in binary64, or in double-double if there are low parts. */
export interface Numbers {
  readonly high: Float64Array;
  readonly low?: Float64Array | undefined;
}

/** Rows `from` to `to` (exclusive) of `cols` columns. */
export function rowsBetween({ high, low }: Numbers, cols: number, from: number, to: number): Numbers {
  return { high: high.subarray(from * cols, to * cols), ...(low && { low: low.subarray(from * cols, to * cols) }) };
}

/** n zeros of either kind. */
export function numbers(length: number, doubleDouble: boolean): Numbers {
  return doubleDouble ? doubleDoubles(length) : { high: new Float64Array(length) };
}

/** C(n + d - 1, d), the monomials of degree d in n variables. */
function monomials(n: number, degree: number): number {
  let count = 1;
  for (let i = 1; i <= degree; i++) count = (count * (n + i - 1)) / i;
  return Math.round(count);
}

/**
 * The k D values, oldest first, and what is known of the row that is predicted; then all monomials
 * of each degree in rising order, each as the product of variables in rising order (Gauthier,
 * Bollt, Griffith and Barbosa 2021, "Next generation reservoir computing", Nature Communications
 * 12, equations 4 to 6).
 */
export class NvarFeatures {
  /** D, columns of the series. */
  readonly columns: number;
  /** K, columns of what is known of the row that is predicted. */
  readonly known: number;
  /** Rows of history that a feature reaches over: (k - 1) s + 1. */
  readonly history: number;
  /** F, without the constant. */
  readonly count: number;
  /** Models side by side with the same weights: 1, or one a column of a ring. */
  readonly groups: number;
  /** Outputs of one of them. */
  readonly outputs: number;
  readonly #shape: NvarShape;
  /** Columns of the series that a group sees. */
  readonly #width: number;
  readonly #variables: number;
  /** Monomial i is monomial `parent[i]` times variable `variable[i]`; the variables come first. */
  readonly #parent: Int32Array;
  readonly #variable: Int32Array;
  /** Which of them are features: all, or those of the degrees asked for. */
  readonly #taken: Int32Array;

  /** @throws ArgumentError for too many features, or more neighbours than the ring has */
  constructor(shape: NvarShape, columns: number, known = 0) {
    const { delays, stride, neighbours } = shape;
    const degrees = [...new Set(shape.degrees)].sort((a, b) => a - b);
    const width = neighbours === null ? columns : 2 * neighbours + 1;
    if (width > columns)
      throw ArgumentError.because(
        `neighbours is ${neighbours}, so that a column sees ${width}, and the series has ${columns}; it takes at most ${Math.floor((columns - 1) / 2)}`,
        { field: "neighbours", value: neighbours },
      );
    this.#shape = shape;
    this.columns = columns;
    this.known = known;
    this.history = (delays - 1) * stride + 1;
    this.groups = neighbours === null ? 1 : columns;
    this.outputs = neighbours === null ? columns : 1;
    this.#width = width;
    this.#variables = delays * width + known;
    const wanted = degrees.reduce((sum, degree) => sum + monomials(this.#variables, degree), this.#variables);
    const largest = degrees.at(-1) ?? 1;
    if (!(monomials(this.#variables + 1, largest) <= mostFeatures))
      throw ArgumentError.because(
        `${this.#variables} values${known > 0 ? `, ${known} of them known beforehand,` : ""} and degree ${largest} make ${wanted} features; at most ${mostFeatures} are taken: fewer delays, ` +
          "smaller degrees, or neighbours for a field",
        { field: "degrees", value: shape.degrees },
      );
    const parent: number[] = Array.from({ length: this.#variables }, () => -1);
    const variable: number[] = parent.map((_, i) => i);
    const taken: number[] = variable.slice();
    let from = 0;
    for (let degree = 2; degree <= largest; degree++) {
      const to = parent.length;
      for (let p = from; p < to; p++) {
        for (let v = variable[p]!; v < this.#variables; v++) {
          if (degrees.includes(degree)) taken.push(parent.length);
          parent.push(p);
          variable.push(v);
        }
      }
      from = to;
    }
    this.#parent = Int32Array.from(parent);
    this.#variable = Int32Array.from(variable);
    this.#taken = Int32Array.from(taken);
    this.count = taken.length;
  }

  /** Memory for the monomials of one row. */
  scratch(doubleDouble: boolean): Numbers {
    return numbers(this.#parent.length, doubleDouble);
  }

  /**
   * The F features of a group at row t of a series (rows x D), written to `out`; rows t - (k - 1) s
   * to t are read. `ahead` is what is known of the row that is predicted.
   */
  write(series: Numbers, { t, group, ahead }: FeatureRow, scratch: Numbers, out: Numbers): void {
    let v = 0;
    this.#visit(t, group, (at) => {
      scratch.high[v] = series.high[at]!;
      if (scratch.low) scratch.low[v] = series.low![at]!;
      v++;
    });
    for (let k = 0; k < this.known; k++, v++) {
      scratch.high[v] = ahead!.high[k]!;
      if (scratch.low) scratch.low[v] = ahead!.low![k]!;
    }
    this.#multiply(scratch);
    for (let f = 0; f < this.count; f++) {
      out.high[f] = scratch.high[this.#taken[f]!]!;
      if (out.low) out.low[f] = scratch.low![this.#taken[f]!]!;
    }
  }

  /** Whether a group at row t sees a value that is marked with 1, or predicts one. */
  touches(marks: Matrix, t: number, group: number): boolean {
    let isMarked = false;
    this.#visit(t, group, (at) => {
      isMarked ||= marks.data[at] === 1;
    });
    const next = (t + 1) * this.columns + group;
    return isMarked || marks.data.subarray(next, next + this.outputs).includes(1);
  }

  /** The positions of the values that a group sees at row t, in the order of its features. */
  #visit(t: number, group: number, see: (at: number) => void): void {
    const { delays, stride, neighbours } = this.#shape;
    const first = neighbours === null ? 0 : group - neighbours + this.columns;
    for (let delay = delays - 1; delay >= 0; delay--) {
      const row = (t - delay * stride) * this.columns;
      for (let c = 0; c < this.#width; c++) see(row + ((first + c) % this.columns));
    }
  }

  #multiply(scratch: Numbers): void {
    const length = this.#parent.length;
    if (scratch.low) {
      const both = scratch as DoubleDoubles;
      for (let i = this.#variables; i < length; i++)
        ddSet(both, i, ddMultiply(ddAt(both, this.#parent[i]!), ddAt(both, this.#variable[i]!)));
      return;
    }
    const { high } = scratch;
    for (let i = this.#variables; i < length; i++) high[i] = high[this.#parent[i]!]! * high[this.#variable[i]!]!;
  }
}
