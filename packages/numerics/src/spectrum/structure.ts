// What a block's pattern and row norms say about its spectrum before any iteration: a cycle, a
// multiple of an orthogonal matrix, a tree. These are the blocks on which iterations are slow or
// wrong.
import { philox4x32 } from "../random.js";
import type { Component } from "./components.js";
import { exponentOf, powerOfTwoFactors } from "./power-of-two.js";

/** What one pass over a block counts. */
export interface BlockSummary {
  /** Nonzeros. */
  readonly count: number;
  /** Nonzeros off the diagonal. */
  readonly offDiagonal: number;
  /** 2^exponent <= the largest |w| < 2^(exponent + 1); 0 if there is no nonzero. */
  readonly exponent: number;
}

/** Counts the nonzeros of a block. */
export function summarize(component: Component): BlockSummary {
  let count = 0;
  let offDiagonal = 0;
  let largest = 0;
  component.forEach((row, column, value) => {
    count++;
    if (row !== column) offDiagonal++;
    const size = Math.abs(value);
    if (size > largest) largest = size;
  });
  return { count, offDiagonal, exponent: largest === 0 ? 0 : exponentOf(largest) };
}

/**
 * The weights of a block that is one cycle, else undefined. In an irreducible block one nonzero a
 * row leaves nothing else.
 */
export function cycleWeights(component: Component, summary: BlockSummary): Float64Array | undefined {
  if (component.size < 2 || summary.count !== component.size) return undefined;
  const weights = new Float64Array(component.size);
  component.forEach((row, _column, value) => {
    weights[row] = value;
  });
  return weights;
}

/**
 * c if W^T W = c^2 I, else undefined: the modulus of all eigenvalues of a multiple of an
 * orthogonal matrix. Tried are the row norms, and then W^T W v = c^2 v for two fixed vectors v that
 * no matrix is made for, all to 1e-11.
 */
export function orthogonalScale(component: Component, { exponent }: BlockSummary): number | undefined {
  const n = component.size;
  const [scale0, scale1] = powerOfTwoFactors(-exponent);
  const rowSquares = new Float64Array(n);
  component.forEach((row, _column, value) => {
    const w = value * scale0 * scale1;
    rowSquares[row] = rowSquares[row]! + w * w;
  });
  let square = 0;
  for (let i = 0; i < n; i++) square += rowSquares[i]!;
  square /= n;
  const tolerance = 1e-11 * square;
  for (let i = 0; i < n; i++) if (Math.abs(rowSquares[i]! - square) > tolerance) return undefined;
  for (const which of [1, 2]) {
    const v = fixedVector(n, which);
    const y = new Float64Array(n);
    const z = new Float64Array(n);
    component.forEach((row, column, value) => {
      y[row] = y[row]! + value * scale0 * scale1 * v[column]!;
    });
    component.forEach((row, column, value) => {
      z[column] = z[column]! + value * scale0 * scale1 * y[row]!;
    });
    for (let i = 0; i < n; i++) if (Math.abs(z[i]! - square * v[i]!) > tolerance) return undefined;
  }
  const [back0, back1] = powerOfTwoFactors(exponent);
  return Math.sqrt(square) * back0 * back1;
}

/**
 * A block whose graph, apart from self-connections, is a tree of two-way edges, made as symmetric
 * as it can be: w_ij and w_ji both get the modulus sqrt(|w_ij w_ji|) and keep their signs. This is
 * D^-1 W D for a diagonal D, so the spectrum stays. Else the block itself. A delay line with weak
 * feedback needs it: by its norm alone its eigenvalues are beyond any method in binary64.
 */
export function symmetrizeTree(component: Component, { offDiagonal }: BlockSummary): Component {
  const n = component.size;
  if (n < 2 || offDiagonal !== 2 * (n - 1)) return component;
  const found = new Map<number, number>();
  component.forEach((row, column, value) => {
    found.set(row * n + column, value);
  });
  for (const key of found.keys()) {
    const row = Math.floor(key / n);
    if (!found.has((key - row * n) * n + row)) return component;
  }
  return {
    size: n,
    forEach(visit) {
      for (const [key, value] of found) {
        const row = Math.floor(key / n);
        const column = key - row * n;
        const back = found.get(column * n + row)!;
        const equal = Math.abs(value) === Math.abs(back);
        const size = equal ? Math.abs(value) : Math.sqrt(Math.abs(value)) * Math.sqrt(Math.abs(back));
        visit(row, column, value < 0 ? -size : size);
      }
    },
  };
}

/** n numbers in [-1, 1) that depend only on `which`, multiples of 2^-31. */
export function fixedVector(n: number, which: number): Float64Array {
  const vector = new Float64Array(n);
  const block = new Uint32Array(4);
  for (let i = 0; i < n; i++) {
    if ((i & 3) === 0) philox4x32([0, 0], i >>> 2, which, 0, 0, block);
    vector[i] = block[i & 3]! / 2147483648 - 1;
  }
  return vector;
}
