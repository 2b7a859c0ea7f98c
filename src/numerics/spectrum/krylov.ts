// The spectral radius of one large irreducible block by a Krylov-Schur iteration in real arithmetic from a fixed start vector.
// It finds a few outer eigenvalues; it is not for whole spectra.
import type { Component } from "./components.js";
import { loadOperator } from "./krylov-operator.js";
import { timesPowerOfTwo } from "./power-of-two.js";
import { blockModulus, isPair, orderByModulus, type SchurForm } from "./schur-order.js";
import { type BlockSummary, fixedVector } from "./structure.js";

/** What the iteration came to. */
export interface KrylovResult {
  /** The largest modulus of a Ritz value, converged or not. */
  readonly radius: number;
  /** The norm of W V - V T over the radius, for the basis V of the leading Ritz value's (or pair's) subspace. */
  readonly residual: number;
  readonly restarts: number;
  readonly converged: boolean;
}

/** The residual, relative to the radius, at which the leading Ritz value or pair is taken. */
const leadingTolerance = 1e-10;

/** The three Ritz values or pairs behind the leading one must stand this firmly: else one of them might still grow past it. */
const followingTolerance = 1e-3;

/** Full basis and vectors kept: the smaller one is cheaper to restart, the larger one needs half the products with W. */
const smallBasis = { full: 60, kept: 24 };
const largeBasis = { full: 120, kept: 48 };

/** The small basis is for blocks up to this size, and for this many restarts. */
const smallBasisLimit = 2000;
const smallBasisRestarts = 30;

/** Restarts before the iteration is given up. A random matrix of 20000 rows takes about 20. */
const restartLimit = 150;

/**
 * Stewart 2001, "A Krylov-Schur algorithm for large eigenproblems": W V = V S + v b^T is expanded to a full basis by Arnoldi steps,
 * S is brought to real Schur form with the Ritz values in falling order of modulus, and the leading part is kept.
 */
export function krylovRadius(component: Component, summary: BlockSummary): KrylovResult {
  const n = component.size;
  const small = Math.min(smallBasis.full, n);
  const large = Math.min(largeBasis.full, n);
  const sld = largeBasis.full;
  const { instance, ld, free, multiply } = loadOperator(component, summary, large + 1, 8 * sld * (2 * large + 5));
  const { exports, memory } = instance;
  const vector = (j: number): number => free + 8 * ld * j;
  const tAt = vector(large + 1);
  const qAt = tAt + 8 * sld * large;
  const work = qAt + 8 * sld * large;
  const t = new Float64Array(memory.buffer, tAt, sld * large);
  const q = new Float64Array(memory.buffer, qAt, sld * large);
  const projection = new Float64Array(memory.buffer, work, large);
  const s = new Float64Array(sld * large);

  new Float64Array(memory.buffer, vector(0), n).set(fixedVector(n, 0));
  exports.krylovScale(ld, vector(0), vector(0), 1 / Math.sqrt(exports.krylovSquaredNorm(ld, vector(0))));

  /** One Arnoldi step: column j of S, vector j + 1 and its coupling, which is 0 where the space is invariant. */
  const expand = (j: number): number => {
    const w = vector(j + 1);
    multiply(vector(j), w);
    const before = exports.krylovSquaredNorm(ld, w);
    let after = before;
    for (let pass = 0; pass < 2; pass++) {
      const last = after;
      exports.krylovProject(j + 1, ld, vector(0), w, work);
      for (let i = 0; i <= j; i++) s[i * sld + j] = s[i * sld + j]! + projection[i]!;
      after = exports.krylovSquaredNorm(ld, w);
      if (after > 0.5 * last) break;
    }
    if (j + 1 === n || after <= 1e-26 * before) return 0;
    const coupling = Math.sqrt(after);
    exports.krylovScale(ld, w, w, 1 / coupling);
    return coupling;
  };

  let size = 0;
  for (let restarts = 0; ; restarts++) {
    const useSmall = n <= smallBasisLimit && restarts < smallBasisRestarts;
    const basisSize = useSmall ? small : large;
    const { kept } = useSmall ? smallBasis : largeBasis;
    let coupling = 1;
    while (size < basisSize && coupling !== 0) {
      coupling = expand(size++);
      if (size < basisSize) s[size * sld + size - 1] = coupling;
    }
    const form: SchurForm = { size, ld: sld, t, q };
    t.set(s);
    q.fill(0);
    for (let i = 0; i < size; i++) q[i * sld + i] = 1;
    exports.reduceToHessenberg(size, tAt, sld, qAt, work);
    if (exports.francisQr(size, tAt, sld, qAt, work, work + 8 * sld) !== 0)
      return { radius: 0, residual: Infinity, restarts, converged: false };
    orderByModulus(form, kept);

    const residuals = Float64Array.from({ length: size }, (_, j) => coupling * q[(size - 1) * sld + j]!);
    const leading = blockModulus(form, 0);
    const firm = leadingResiduals(form, residuals, 4);
    const converged = coupling === 0 || firm.every((r, i) => r <= leading * (i === 0 ? leadingTolerance : followingTolerance));
    if (converged || restarts === restartLimit) {
      const residual = coupling === 0 ? 0 : firm[0]! / leading;
      return { radius: timesPowerOfTwo(leading, summary.exponent), residual, restarts, converged };
    }

    size = kept + (isPair(form, kept - 1) ? 1 : 0);
    exports.krylovChangeBasis(basisSize, size, ld, vector(0), qAt, sld, work);
    exports.krylovScale(ld, vector(basisSize), vector(size), 1);
    s.fill(0);
    for (let i = 0; i < size; i++) s.set(t.subarray(i * sld, i * sld + size), i * sld);
    s.set(residuals.subarray(0, size), size * sld);
  }
}

/** The residual norms of the first `count` blocks of the Schur form. */
function leadingResiduals(form: SchurForm, residuals: Float64Array, count: number): number[] {
  const norms: number[] = [];
  for (let k = 0; k < form.size && norms.length < count; ) {
    const first = residuals[k]!;
    const second = isPair(form, k) ? residuals[k + 1]! : 0;
    norms.push(Math.sqrt(first * first + second * second));
    k += isPair(form, k) ? 2 : 1;
  }
  return norms;
}
