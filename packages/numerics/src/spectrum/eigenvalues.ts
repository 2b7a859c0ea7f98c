// All eigenvalues of a square matrix, for plots and small matrices. For only the largest modulus,
// spectralRadius is faster.
import type { Matrix, SparseMatrix } from "../matrix.js";
import { portableCos, portableSin } from "../portable.js";
import { balanced } from "./balance.js";
import { checkSquare } from "./check-square.js";
import { stronglyConnectedComponents } from "./components.js";
import { denseEigenvalues, type Eigenvalues, modulus } from "./dense.js";
import { geometricMean } from "./geometric-mean.js";
import { cycleWeights, summarize, symmetrizeTree } from "./structure.js";

/**
 * The N eigenvalues re[i] + i im[i] of a square N x N matrix, by falling modulus, then by falling
 * real and imaginary part. Conjugate pairs are exact: equal re, opposite im. A row on no cycle
 * gives w_ii itself, a cycle of n rows the n-th roots of its product, and every other strongly
 * connected component goes through balancing, Hessenberg reduction and double-shift QR (Golub and
 * Van Loan, Matrix Computations, chapter 7): about a second at N = 1000, and cubic beyond.
 *
 * @throws ArgumentError on a matrix that is not square or holds a NaN or an infinity.
 */
export function eigenvalues(matrix: Matrix | SparseMatrix): Eigenvalues {
  checkSquare(matrix);
  const found: [re: number, im: number, modulus: number][] = [];
  for (const original of stronglyConnectedComponents(matrix)) {
    if (original.size === 1) {
      let value = 0;
      original.forEach((_row, _column, w) => {
        value = w;
      });
      found.push([value, 0, Math.abs(value)]);
      continue;
    }
    const summary = summarize(original);
    const cycle = cycleWeights(original, summary);
    const { re, im } = cycle ? rootsOfCycle(cycle) : denseEigenvalues(balanced(symmetrizeTree(original, summary)));
    for (let i = 0; i < re.length; i++) found.push([re[i]!, im[i]!, modulus(re[i]!, im[i]!)]);
  }
  found.sort((a, b) => b[2] - a[2] || b[0] - a[0] || b[1] - a[1]);
  return { re: Float64Array.from(found, (e) => e[0]), im: Float64Array.from(found, (e) => e[1]) };
}

/** The n-th roots of the product of n weights. */
function rootsOfCycle(weights: Float64Array): Eigenvalues {
  const n = weights.length;
  const radius = geometricMean(weights);
  const negative = weights.reduce((count, w) => count + (w < 0 ? 1 : 0), 0) % 2;
  const re = new Float64Array(n);
  const im = new Float64Array(n);
  // The angle of root k is (2k + negative) pi / n. Those beyond pi are written as conjugates: pairs
  // are exact.
  for (let k = 0; k < n; k++) {
    const turn = 2 * k + negative;
    const mirrored = turn > n;
    const angle = ((mirrored ? 2 * n - turn : turn) * Math.PI) / n;
    re[k] = radius * portableCos(angle);
    im[k] = turn === 0 || turn === n ? 0 : (mirrored ? -radius : radius) * portableSin(angle);
  }
  return { re, im };
}
