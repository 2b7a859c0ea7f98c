// Conceptors: a reservoir's states of one pattern as a soft projection, and the logic of these. How
// patterns are loaded into a reservoir is in memory.ts.
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, number, option, resolve } from "@spillway/core/options.js";
import { Matrix, type MatrixLike, mirrorLowerTriangle, PortableGram, symmetricEigen, transposed } from "@spillway/numerics";
import { checkedSeries } from "../forecaster/data.js";
import { product, symmetrised } from "./products.js";

export const conceptorTable = {
  /** alpha, above 0: how much of the states it lets through. Default 10. */
  aperture: option(number({ above: 0 }), 10, "How much of the states it lets through."),
};

/** How a conceptor is made. */
export interface ConceptorOptions extends InputOf<typeof conceptorTable> {}

/** Singular values that are this near to 0 or 1 are 0 or 1: what rounding leaves. */
const rounding = 1e-13;

/**
 * A conceptor C, N x N, symmetric with eigenvalues from 0 to 1: the soft projection that keeps what
 * a pattern's states x(t) have in common,
 *
 *     C = R (R + alpha^-2 I)^-1,  R = mean of x(t) x(t)^T,
 *
 * which minimises the mean of |x - C x|^2 + alpha^-2 |C|^2 (Jaeger 2014, "Controlling recurrent
 * neural networks by conceptors", arXiv 1403.3369, section 3.4). Conceptors have a logic (section
 * 3.9): `and`, `or`, `not` obey the laws of Boolean algebra but for absorption and C and C = C,
 * which hold only for projections.
 *
 * Its arithmetic is binary64 in one order: the same bits everywhere. A conceptor does not change.
 *
 * @example
 * const both = a.or(b); // what either pattern takes
 * const rest = both.not(); // what is free
 */
export class Conceptor {
  /** C, N x N. */
  readonly matrix: Matrix<Float64Array>;
  #parts: { readonly values: Float64Array; readonly vectors: Matrix<Float64Array> } | undefined;

  private constructor(matrix: Matrix<Float64Array>) {
    this.matrix = matrix;
  }

  /**
   * The conceptor of states, T x N, one row a step, a washout left out before.
   * @throws ArgumentError for states that are no matrix of finite numbers
   */
  static fromStates(states: MatrixLike, options: ConceptorOptions = {}): Conceptor {
    const rows = checkedSeries(states, "states");
    const gram = new PortableGram(rows.cols);
    try {
      gram.add([{ matrix: rows, square: "none" }], rows.rows);
      const correlation = mirrorLowerTriangle(gram.lowerTriangle());
      correlation.data.forEach((sum, i) => {
        correlation.data[i] = sum / rows.rows;
      });
      return Conceptor.fromCorrelation(correlation, options);
    } finally {
      gram.dispose();
    }
  }

  /**
   * The conceptor of a correlation matrix R, N x N, symmetric without negative eigenvalues.
   * @throws ArgumentError for another matrix
   */
  static fromCorrelation(correlation: MatrixLike, options: ConceptorOptions = {}): Conceptor {
    const { aperture } = resolve(conceptorTable, options);
    const matrix = symmetricOf(correlation, "correlation");
    const shift = 1 / (aperture * aperture);
    const { values, vectors } = symmetricEigen(matrix);
    // What rounding leaves of a direction that no state has.
    const least = rounding * matrix.rows * values[0]!;
    const last = values.at(-1)!;
    if (last < -least || values[0]! < 0)
      throw ArgumentError.because(`correlation has the eigenvalue ${last}; it takes none below 0`, { field: "correlation" });
    const softened = values.map((value) => (value <= least ? 0 : value / (value + shift)));
    return Conceptor.#of(softened, vectors);
  }

  /**
   * A conceptor that is given, such as one that was kept: N x N and symmetric. Eigenvalues beyond 0
   * to 1, as of a morph (1 - m) C + m B with m beyond 0 to 1 (section 3.4), may filter states; logic
   * and apertures refuse them. @throws ArgumentError for another matrix
   */
  static from(matrix: MatrixLike): Conceptor {
    return new Conceptor(symmetricOf(matrix, "matrix"));
  }

  /** N. */
  get size(): number {
    return this.matrix.rows;
  }

  /** N singular values, which are its eigenvalues, falling, from 0 to 1 but for a morph's. */
  get singularValues(): Float64Array {
    return this.#eigen().values.slice();
  }

  /** The mean of the singular values, from 0 to 1: the share of the reservoir that it takes. */
  get quota(): number {
    let trace = 0;
    for (let i = 0; i < this.size; i++) trace += this.matrix.data[i * this.size + i]!;
    return trace / this.size;
  }

  /** not C = I - C. */
  not(): Conceptor {
    const made = new Conceptor(this.matrix.map((value, i) => (i % (this.size + 1) === 0 ? 1 : 0) - value));
    const { values, vectors } = this.#eigen();
    made.#parts = { values: values.map((value) => 1 - value).reverse(), vectors: upsideDown(vectors) };
    return made;
  }

  /**
   * C and B = (C^-1 + B^-1 - I)^-1 if both can be inverted, and its limit if not (definition 4):
   * what both let through. @throws ArgumentError for a conceptor of another size
   */
  and(other: Conceptor): Conceptor {
    this.#checkSize(other);
    this.#checkRange();
    other.#checkRange();
    // C - C S (S C S + B)^-1 S C with S = (I - B)^1/2 is the same, and needs no inverse of C or B.
    const { values, vectors } = other.#eigen();
    const c = this.matrix;
    const roots = values.map((value) => Math.sqrt(1 - value));
    const s = composed(roots, vectors);
    const sc = product(s, c);
    const middle = product(sc, s);
    middle.data.forEach((value, i) => {
      middle.data[i] = value + other.matrix.data[i]!;
    });
    const inner = symmetricEigen(symmetrised(middle));
    const turned = product(inner.vectors, sc);
    for (let k = 0; k < this.size; k++) {
      const value = inner.values[k]!;
      // What neither lets through has no part in S C.
      const factor = value > rounding * this.size ? 1 / Math.sqrt(value) : 0;
      const row = turned.row(k);
      for (let j = 0; j < row.length; j++) row[j] = row[j]! * factor;
    }
    const taken = product(transposed(turned), turned);
    return Conceptor.#clamped(symmetrised(c.map((value, i) => value - taken.data[i]!)));
  }

  /** C or B = not (not C and not B): what either lets through. @throws ArgumentError */
  or(other: Conceptor): Conceptor {
    this.#checkSize(other);
    return this.not().and(other.not()).not();
  }

  /**
   * The conceptor at another aperture, gamma times its own: C (C + gamma^-2 (I - C))^-1 (definition
   * 3). 0 leaves the directions of singular value 1, Infinity makes those above 0 full.
   * @throws ArgumentError for a negative factor
   */
  withAperture(factor: number): Conceptor {
    if (!(typeof factor === "number" && factor >= 0)) throw new ArgumentError("factor", factor, "a number of at least 0");
    this.#checkRange();
    const { values, vectors } = this.#eigen();
    const square = factor * factor;
    return Conceptor.#of(
      values.map((value) => {
        if (value === 0 || value === 1) return value;
        return square === Number.POSITIVE_INFINITY ? 1 : (value * square) / (value * square + (1 - value));
      }),
      vectors,
    );
  }

  /**
   * How alike two conceptors are, from 0 (nothing in common) to 1 (the same but for a factor): the
   * trace of C B over |C| |B|, Frobenius norms (section 3.7). Undefined between empty ones: NaN.
   * @throws ArgumentError for a conceptor of another size
   */
  similarity(other: Conceptor): number {
    this.#checkSize(other);
    const dot = (a: Float64Array, b: Float64Array): number => {
      let sum = 0;
      for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
      return sum;
    };
    const a = this.matrix.data;
    const b = other.matrix.data;
    return dot(a, b) / (Math.sqrt(dot(a, a)) * Math.sqrt(dot(b, b)));
  }

  /** C x of one state. @throws ArgumentError for a state of another length */
  apply(state: ArrayLike<number>): Float64Array {
    const { size, matrix } = this;
    if (state?.length !== size) throw ArgumentError.shape(`state holds ${state?.length} values; this conceptor takes ${size}`);
    const out = new Float64Array(size);
    for (let i = 0; i < size; i++) {
      let sum = 0;
      for (let j = 0; j < size; j++) sum += matrix.data[i * size + j]! * state[j]!;
      out[i] = sum;
    }
    return out;
  }

  static #of(values: Float64Array, vectors: Matrix<Float64Array>): Conceptor {
    const made = new Conceptor(composed(values, vectors));
    made.#parts = { values, vectors };
    return made;
  }

  /** A matrix whose eigenvalues rounding may have put outside 0 to 1. */
  static #clamped(matrix: Matrix<Float64Array>): Conceptor {
    const made = new Conceptor(matrix);
    const { values, vectors } = symmetricEigen(matrix);
    return values.every((value) => value >= 0 && value <= 1) ? made : Conceptor.#of(values.map(inUnit), vectors);
  }

  #eigen() {
    if (!this.#parts) {
      const { values, vectors } = symmetricEigen(this.matrix);
      this.#parts = { values: values.map((value) => (isBeyond(value) ? value : inUnit(value))), vectors };
    }
    return this.#parts;
  }

  /** @throws ArgumentError if its eigenvalues are not from 0 to 1 */
  #checkRange(): void {
    const bad = this.#eigen().values.find(isBeyond);
    if (bad !== undefined)
      throw ArgumentError.because(`the conceptor has the eigenvalue ${bad}; logic and apertures take eigenvalues from 0 to 1`, {
        field: "matrix",
      });
  }

  #checkSize(other: Conceptor): void {
    if (!(other instanceof Conceptor)) throw new ArgumentError("other", other, "a Conceptor");
    if (other.size !== this.size)
      throw ArgumentError.shape(`other is a conceptor of ${other.size} neurons; it takes one of ${this.size}`, { field: "other" });
  }
}

/** An eigenvalue in [0, 1]; what is nothing but rounding away from an end is there. */
function inUnit(value: number): number {
  if (value < rounding) return 0;
  return value > 1 - rounding ? 1 : value;
}

function symmetricOf(given: MatrixLike, name: string): Matrix<Float64Array> {
  const matrix = checkedSeries(given, name);
  const { rows: n, cols, data } = matrix;
  if (n !== cols) throw ArgumentError.shape(`${name} is ${n} x ${cols}; it takes a square matrix`, { field: name });
  let largest = 0;
  for (const value of data) largest = Math.max(largest, Math.abs(value));
  for (let i = 0; i < n; i++)
    for (let j = 0; j < i; j++)
      if (!(Math.abs(data[i * n + j]! - data[j * n + i]!) <= 1e-9 * largest))
        throw ArgumentError.because(
          `${name}[${i}, ${j}] is ${data[i * n + j]} and ${name}[${j}, ${i}] is ${data[j * n + i]}; it takes a symmetric matrix`,
          { field: name },
        );
  return symmetrised(Matrix.from(matrix, "float64"));
}

/** V^T diag(values) V, symmetric to the bit. */
function composed(values: Float64Array, vectors: Matrix<Float64Array>): Matrix<Float64Array> {
  const scaled = new Matrix(vectors.rows, vectors.cols, vectors.data.slice());
  for (let k = 0; k < scaled.rows; k++) {
    const row = scaled.row(k);
    for (let j = 0; j < row.length; j++) row[j] = row[j]! * values[k]!;
  }
  return symmetrised(product(transposed(vectors), scaled));
}

/** The rows in reverse. */
function upsideDown(matrix: Matrix<Float64Array>): Matrix<Float64Array> {
  const out = Matrix.zeros(matrix.rows, matrix.cols);
  for (let i = 0; i < matrix.rows; i++) out.data.set(matrix.row(matrix.rows - 1 - i), i * matrix.cols);
  return out;
}

/** Whether an eigenvalue is further from 0 to 1 than rounding puts it. */
function isBeyond(value: number): boolean {
  return value < -1e-9 || value > 1 + 1e-9;
}
