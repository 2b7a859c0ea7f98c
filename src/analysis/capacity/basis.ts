// What the columns of a matrix span, from the triangular factor of its rows: singular values and
// right singular vectors, by Jacobi rotations.
import { Matrix } from "@spillway/numerics";

/**
 * The directions that count: row k of `vectors` has length 1 and the singular value `values[k]`.
 */
export interface Basis {
  readonly values: Float64Array;
  readonly vectors: Matrix<Float64Array>;
}

/** Passes over all pairs of rows; ten are more than enough. */
const mostPasses = 60;

/**
 * Singular values and right singular vectors of X, falling, those above `tolerance` times the
 * largest. X = Q R is given by R (n x n), whose rows are rotated until they are orthogonal: their
 * lengths are the singular values, their directions the vectors (one-sided Jacobi, Hestenes 1958).
 * R is overwritten.
 */
export function basisOf(r: Matrix<Float64Array>, tolerance: number): Basis {
  const { rows: n } = r;
  let squares = Float64Array.from({ length: n }, (_, i) => dot(r.row(i), r.row(i)));
  for (let pass = 0, rotated = true; rotated && pass < mostPasses; pass++) {
    rotated = false;
    for (let i = 0; i < n; i++) {
      bringLargest(r, squares, i);
      for (let j = i + 1; j < n; j++) {
        const p = r.row(i);
        const q = r.row(j);
        const product = dot(p, q);
        if (!(Math.abs(product) > 2 ** -51 * Math.sqrt(squares[i]! * squares[j]!))) continue;
        rotated = true;
        rotate(p, q, squares[i]!, squares[j]!, product);
        squares[i] = dot(p, p);
        squares[j] = dot(q, q);
      }
    }
  }
  squares = Float64Array.from({ length: n }, (_, i) => dot(r.row(i), r.row(i)));
  const order = Array.from({ length: n }, (_, i) => i).sort((i, j) => squares[j]! - squares[i]!);
  const least = tolerance * Math.sqrt(squares[order[0] ?? 0] ?? 0);
  const kept = order.filter((i) => Math.sqrt(squares[i]!) > least);
  const vectors = Matrix.zeros(kept.length, n);
  const values = Float64Array.from(kept, (i) => Math.sqrt(squares[i]!));
  kept.forEach((i, k) => {
    vectors.row(k).set(r.row(i).map((value) => value / values[k]!));
  });
  return { values, vectors };
}

/**
 * Exchanges row i with the longest of the rows from i on: it makes the rotations converge sooner.
 */
function bringLargest(r: Matrix<Float64Array>, squares: Float64Array, i: number): void {
  let longest = i;
  for (let j = i + 1; j < squares.length; j++) if (squares[j]! > squares[longest]!) longest = j;
  if (longest === i) return;
  const row = r.row(i).slice();
  r.row(i).set(r.row(longest));
  r.row(longest).set(row);
  [squares[i], squares[longest]] = [squares[longest]!, squares[i]!];
}

/** Turns p and q in their plane until they are orthogonal. */
function rotate(p: Float64Array, q: Float64Array, pp: number, qq: number, pq: number): void {
  const ratio = (qq - pp) / (2 * pq);
  const tangent = (ratio < 0 ? -1 : 1) / (Math.abs(ratio) + Math.sqrt(1 + ratio * ratio));
  const cos = 1 / Math.sqrt(1 + tangent * tangent);
  const sin = cos * tangent;
  for (let c = 0; c < p.length; c++) {
    const x = p[c]!;
    const y = q[c]!;
    p[c] = cos * x - sin * y;
    q[c] = sin * x + cos * y;
  }
}

function dot(p: Float64Array, q: Float64Array): number {
  let sum = 0;
  for (let c = 0; c < p.length; c++) sum += p[c]! * q[c]!;
  return sum;
}
