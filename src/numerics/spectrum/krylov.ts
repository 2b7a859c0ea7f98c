// The spectral radius of one large irreducible block by a Krylov-Schur iteration in real arithmetic from a fixed start vector.
// It finds a few outer eigenvalues; it is not for whole spectra.
import type { Component } from "./components.js";
import { nthRoot } from "./geometric-mean.js";
import { type KrylovOperator, loadOperator } from "./krylov-operator.js";
import { exponentOf, timesPowerOfTwo } from "./power-of-two.js";
import { blockModulus, isPair, orderByModulus, type SchurForm } from "./schur-order.js";
import { type BlockSummary, fixedVector } from "./structure.js";

/** What the iteration came to. */
export interface KrylovResult {
  /** The largest modulus of a Ritz value, converged or not. */
  readonly radius: number;
  /** |P V - V T| / |T| for the leading Ritz value or pair, where P is W or the power of it that was iterated with. */
  readonly residual: number;
  readonly restarts: number;
  readonly converged: boolean;
}

/** The residual, relative to the radius, at which the leading Ritz value or pair is taken. */
const leadingTolerance = 1e-10;

/**
 * The Ritz values or pairs behind the leading one that are watched: none may be so uncertain that it could still pass the leader, nor worse than
 * the tolerance. A ring with a chord, say, has eigenvalues so crowded that a lesser one can converge first.
 */
const watched = 7;
const watchedTolerance = 1e-3;

/** How one attempt iterates: vectors of a full basis, vectors kept at a restart, restarts, and the power of W that is iterated with. */
interface Attempt {
  readonly full: number;
  readonly kept: number;
  readonly restarts: number;
  readonly power: number;
}

/**
 * A basis of 60 vectors is the cheaper one up to 2000 rows; one of 120 needs half the products with W and converges where the outer
 * eigenvalues crowd. Where W is so sparse that orthogonalization costs more than a product, the latter iterates with a power of W that
 * balances the two: it has the gaps of as many steps for the price of one. Up to 3000 rows patience ends where the dense method is
 * cheaper or, for a matrix as sparse as that, surer: random ones are done by then, and what is not is close to a ring.
 */
function attempts(n: number, nonzeros: number): Attempt[] {
  const power = Math.max(1, Math.min(32, Math.floor((50 * n) / nonzeros)));
  const patience = n <= 1000 ? 5 : n > 3000 ? 100 : power > 1 ? 10 : 40;
  const quick = { full: 60, kept: 24, restarts: n <= 2000 ? 30 : 0, power: 1 };
  const patient = { full: 120, kept: 48, restarts: patience, power };
  return n > 2000 && power === 1 ? [patient] : [quick, patient];
}

/** The spectral radius of a block of at least 2 rows; where no attempt converges, the result of the last. */
export function krylovRadius(component: Component, summary: BlockSummary): KrylovResult {
  let { exponent } = summary;
  let restarts = 0;
  let result: KrylovResult = { radius: 0, residual: Infinity, restarts, converged: false };
  for (const attempt of attempts(component.size, summary.count)) {
    result = iterate(loadOperator(component, summary.count, exponent, attempt.full), attempt);
    restarts += result.restarts;
    if (result.converged) break;
    // The next attempt takes powers of W: by the radius found so far they neither overflow nor underflow.
    if (result.radius > 0) exponent = exponentOf(result.radius);
  }
  return { ...result, restarts };
}

/**
 * Stewart 2001, "A Krylov-Schur algorithm for large eigenproblems": W V = V S + v b^T is expanded to a full basis by Arnoldi steps,
 * S is brought to real Schur form with the Ritz values in falling order of modulus, and the leading part is kept.
 */
function iterate(operator: KrylovOperator, attempt: Attempt): KrylovResult {
  const { instance, n, ld, free, exponent, multiply } = operator;
  const { kept, power } = attempt;
  const full = Math.min(attempt.full, n);
  const sld = full + (full & 1);
  const { exports, memory } = instance;
  const vector = (j: number): number => free + 8 * ld * j;
  const scratch = vector(full + 1);
  const tAt = vector(full + 2);
  const qAt = tAt + 8 * sld * full;
  const work = qAt + 8 * sld * full;
  const t = new Float64Array(memory.buffer, tAt, sld * full);
  const q = new Float64Array(memory.buffer, qAt, sld * full);
  const projection = new Float64Array(memory.buffer, work, full);
  const s = new Float64Array(sld * full);

  new Float64Array(memory.buffer, vector(0), n).set(fixedVector(n, 0));
  exports.krylovScale(ld, vector(0), vector(0), 1 / Math.sqrt(exports.krylovSquaredNorm(ld, vector(0))));

  /** One Arnoldi step: column j of S, vector j + 1 and its coupling, which is 0 where the space is invariant. */
  const expand = (j: number): number => {
    const w = vector(j + 1);
    let from = vector(j);
    for (let left = power; left > 0; left--) {
      const to = left % 2 === 1 ? w : scratch;
      multiply(from, to);
      from = to;
    }
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
    let coupling = 1;
    while (size < full && coupling !== 0) {
      coupling = expand(size++);
      if (size < full) s[size * sld + size - 1] = coupling;
    }
    const form: SchurForm = { size, ld: sld, t, q };
    t.set(s);
    q.fill(0);
    for (let i = 0; i < size; i++) q[i * sld + i] = 1;
    exports.reduceToHessenberg(size, tAt, sld, qAt, work);
    const missing = exports.francisQr(size, tAt, sld, qAt, work, work + 8 * sld);
    if (missing !== 0) return { radius: 0, residual: Infinity, restarts, converged: false };
    orderByModulus(form, kept);

    const residuals = Float64Array.from({ length: size }, (_, j) => coupling * q[(size - 1) * sld + j]!);
    const leading = blockModulus(form, 0);
    const residual = blockResidual(form, residuals, 0);
    const converged = coupling === 0 || (residual <= leadingTolerance * leading && leaderIsSafe(form, residuals));
    if (converged || restarts === attempt.restarts) {
      const radius = leading === 0 ? 0 : timesPowerOfTwo(nthRoot(leading, power), exponent);
      return { radius, residual: coupling === 0 ? 0 : residual / leading, restarts, converged };
    }

    size = kept + (isPair(form, kept - 1) ? 1 : 0);
    exports.krylovChangeBasis(full, size, ld, vector(0), qAt, sld, work);
    exports.krylovScale(ld, vector(full), vector(size), 1);
    s.fill(0);
    for (let i = 0; i < size; i++) s.set(t.subarray(i * sld, i * sld + size), i * sld);
    s.set(residuals.subarray(0, size), size * sld);
  }
}

/** The residual norm of the block at row k of the Schur form. */
function blockResidual(form: SchurForm, residuals: Float64Array, k: number): number {
  const first = residuals[k]!;
  const second = isPair(form, k) ? residuals[k + 1]! : 0;
  return Math.sqrt(first * first + second * second);
}

function leaderIsSafe(form: SchurForm, residuals: Float64Array): boolean {
  const leading = blockModulus(form, 0);
  for (let k = isPair(form, 0) ? 2 : 1, seen = 0; k < form.size && seen < watched; seen++) {
    const residual = blockResidual(form, residuals, k);
    const uncertain = residual > watchedTolerance * leading || blockModulus(form, k) + residual >= leading;
    if (uncertain && residual > leadingTolerance * leading) return false;
    k += isPair(form, k) ? 2 : 1;
  }
  return true;
}
