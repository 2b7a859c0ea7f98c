// The spectral radius that a matrix of independent elements has in the limit of many rows. An
// estimate, not a computation.
import { isSparse, type Matrix, type SparseMatrix } from "../matrix.js";
import type { Component } from "./components.js";
import { exponentOf, powerOfTwoFactors } from "./power-of-two.js";
import { summarize } from "./structure.js";

/**
 * sqrt(N var(w)) over all N^2 elements of a block, zeros included (Girko 1985: for independent
 * elements of mean 0 and density p this is sqrt(N p var)); or |N mean(w)|, the outlier that a mean
 * brings (Tao 2013, "Outliers in the spectrum of iid matrices with bounded rank perturbations"),
 * if that is larger.
 */
export function circularLaw(component: Component): number {
  const n = component.size;
  const { count, exponent } = summarize(component);
  if (count === 0) return 0;
  const [down0, down1] = powerOfTwoFactors(-exponent);
  const sums = new Float64Array(n);
  const squares = new Float64Array(n);
  component.forEach((row, _column, value) => {
    const w = value * down0 * down1;
    sums[row] = sums[row]! + w;
    squares[row] = squares[row]! + w * w;
  });
  const [up0, up1] = powerOfTwoFactors(exponent);
  return circularLawOfRows(sums, squares) * up0 * up1;
}

/** The same of a whole matrix. */
export function circularLawOfMatrix(matrix: Matrix | SparseMatrix): number {
  const n = matrix.rows;
  const values = isSparse(matrix) ? matrix.values : matrix.data;
  let largest = 0;
  for (let p = 0; p < values.length; p++) largest = Math.max(largest, Math.abs(values[p]!));
  if (largest === 0) return 0;
  const exponent = exponentOf(largest);
  const [down0, down1] = powerOfTwoFactors(-exponent);
  const sums = new Float64Array(n);
  const squares = new Float64Array(n);
  for (let r = 0, p = 0; r < n; r++) {
    const end = isSparse(matrix) ? matrix.rowOffsets[r + 1]! : (r + 1) * n;
    let [sum, square] = [0, 0];
    for (; p < end; p++) {
      const w = values[p]! * down0 * down1;
      sum += w;
      square += w * w;
    }
    sums[r] = sum;
    squares[r] = square;
  }
  const [up0, up1] = powerOfTwoFactors(exponent);
  return circularLawOfRows(sums, squares) * up0 * up1;
}

/** The same from the sums of each row and of its squares, whose sums are taken in rising order. */
export function circularLawOfRows(sums: Float64Array, squares: Float64Array): number {
  const n = sums.length;
  let sum = 0;
  let square = 0;
  for (let r = 0; r < n; r++) {
    sum += sums[r]!;
    square += squares[r]!;
  }
  const outlier = Math.abs(sum) / n;
  return Math.max(Math.sqrt(Math.max(0, square - outlier * outlier) / n), outlier);
}
