// Power iteration: the modulus of the largest eigenvalue by products with W, if that eigenvalue is
// real and no other has its modulus. For other matrices use the Krylov iteration.
import { ResidentRows } from "../linear-algebra/index.js";
import { type FloatArray, Matrix, precisionOf, type SparseMatrix } from "../matrix.js";
import { rowDot } from "../row-dot.js";
import { type Component, wholeMatrix } from "./components.js";
import { writeBlock, writeSparseBlock } from "./dense.js";
import { timesPowerOfTwo } from "./power-of-two.js";
import { leadingTolerance } from "./projected-problem.js";
import { fixedVector, summarize } from "./structure.js";

/** Iterations between two looks at the residual, and the most that are made. */
const perLook = 16;
export const mostIterations = 4096;

/**
 * With a residual above this after this many iterations the rest would not bring it to 1e-10:
 * several eigenvalues lead together.
 */
const hopeless = { iterations: 512, residual: 0.25 };

/** W divided by 2^exponent, to iterate with. Dense if more than half of its elements are not 0. */
export interface PowerTask {
  readonly component: Component;
  readonly count: number;
  readonly dense: boolean;
  readonly exponent: number;
}

/** x(k-1) and x(k) of the iteration x(k) = W (x(k-1) / |x(k-1)|). */
export type PowerIterates = readonly [before: Float64Array, after: Float64Array];

/** Power iteration did not converge: what it came to. */
export interface PowerFailure {
  readonly iterations: number;
  /** |W v - s |W v| v| / |W v| for the last vector v and the sign s of v . W v. */
  readonly residual: number;
  /** |W v| in the last two iterations. */
  readonly estimates: readonly number[];
}

/** W as power iteration takes it, from any square matrix. */
export function powerTask(matrix: Matrix | SparseMatrix): PowerTask {
  const component = wholeMatrix(matrix);
  const { count, exponent } = summarize(component);
  return { component, count, dense: count > 0.5 * component.size * component.size, exponent };
}

/**
 * The iteration from x(0) = `powerStart` on. It yields how many products to make next and takes the
 * last two vectors. It returns the radius, or what it came to.
 */
export function* powerIterations(exponent: number): Generator<number, number | PowerFailure, PowerIterates> {
  for (let iterations = perLook; ; iterations += perLook) {
    const [before, after] = yield perLook;
    const [lengthBefore, length] = [vectorLength(before), vectorLength(after)];
    if (length === 0) return 0;
    const residual = changeOfDirection(before, lengthBefore, after, length);
    if (residual <= leadingTolerance) return timesPowerOfTwo(length, exponent);
    if (iterations === mostIterations || (iterations >= hopeless.iterations && residual > hopeless.residual))
      return { iterations, residual, estimates: [lengthBefore, length].map((each) => timesPowerOfTwo(each, exponent)) };
  }
}

/** x(0): numbers in [-1, 1) that depend only on n. */
export const powerStart = (n: number): Float64Array => fixedVector(n, 0);

/** | a / |a| - s b / |b| |, s the sign of a . b. */
function changeOfDirection(a: Float64Array, lengthA: number, b: Float64Array, lengthB: number): number {
  let product = 0;
  for (let i = 0; i < a.length; i++) product += a[i]! * b[i]!;
  const sign = product < 0 ? -1 : 1;
  let squares = 0;
  for (let i = 0; i < a.length; i++) {
    const change = b[i]! / lengthB - (sign * a[i]!) / lengthA;
    squares += change * change;
  }
  return Math.sqrt(squares);
}

/**
 * |x| in x's precision: 256 partial sums by index modulo 256, a butterfly over each 32 of them, and
 * the eight sums in rising order.
 */
export function vectorLength(x: FloatArray): number {
  const round = precisionOf(x) === "float32" ? Math.fround : (value: number) => value;
  const partial = new Float64Array(256);
  for (let k = 0; k < x.length; k++) partial[k & 255] = round(partial[k & 255]! + round(x[k]! * x[k]!));
  let sum = 0;
  for (let first = 0; first < 256; first += 32) {
    for (let half = 16; half >= 1; half /= 2)
      for (let l = first; l < first + half; l++) partial[l] = round(partial[l]! + partial[l + half]!);
    sum = round(sum + partial[first]!);
  }
  return round(Math.sqrt(sum));
}

/** y = dots / |x| in their precision, in place; zeros if x is zeros. Returns |x|. */
export function divideByLength(dots: FloatArray, x: FloatArray): number {
  const length = vectorLength(x);
  for (let r = 0; r < dots.length; r++) dots[r] = length > 0 ? dots[r]! / length : 0;
  return length;
}

/**
 * The iteration's products on the host: computes as many as asked, and returns the last two
 * vectors.
 */
export function hostPowerIterations({ component, count, dense, exponent }: PowerTask): (count: number) => PowerIterates {
  const n = component.size;
  const multiply = dense ? denseProduct(component, exponent) : sparseProduct(component, count, exponent);
  let [before, after]: [Float64Array, Float64Array] = [new Float64Array(n), powerStart(n)];
  return (iterations) => {
    for (let i = 0; i < iterations; i++) {
      [before, after] = [after, before];
      multiply(before, after);
      divideByLength(after, before);
    }
    return [before, after];
  };
}

/** y = W x by rule 1. */
function denseProduct(component: Component, exponent: number): (x: Float64Array, y: Float64Array) => void {
  const matrix = Matrix.zeros(component.size, component.size);
  writeBlock(component, component.size, matrix.data, exponent);
  const rows = new ResidentRows(matrix, 1);
  return (x, y) => y.set(rows.multiply(x));
}

/** y = W x by rule 2. */
function sparseProduct(component: Component, count: number, exponent: number): (x: Float64Array, y: Float64Array) => void {
  const n = component.size;
  const matrix = { rows: n, cols: n, rowOffsets: new Uint32Array(n + 1), columns: new Uint32Array(count), values: new Float64Array(count) };
  writeSparseBlock(component, exponent, matrix);
  // Rows that are empty end where the one before does.
  for (let r = 0; r < n; r++) matrix.rowOffsets[r + 1] = Math.max(matrix.rowOffsets[r]!, matrix.rowOffsets[r + 1]!);
  return (x, y) => {
    for (let r = 0; r < n; r++) y[r] = rowDot(matrix, r, x);
  };
}
