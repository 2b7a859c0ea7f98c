// The small half of a Krylov-Schur iteration: W on the span of its basis, the Schur form of that,
// and what is kept of it. It sees no long vector.
import type { WasmInstance } from "../wasm/index.js";
import { nthRoot } from "./geometric-mean.js";
import type { KrylovAttempt, KrylovResult } from "./krylov-attempts.js";
import { timesPowerOfTwo } from "./power-of-two.js";
import { blockModulus, isPair, orderByModulus, type SchurForm } from "./schur-order.js";

/** The residual, relative to the radius, at which the leading Ritz value or pair is taken. */
export const leadingTolerance = 1e-10;

/**
 * The Ritz values or pairs behind the leading one that are watched: none may be so uncertain that
 * it could still pass the leader, nor worse than the tolerance. A ring with a chord, say, has
 * eigenvalues so crowded that a lesser one can converge first.
 */
const watched = 7;
const watchedTolerance = 1e-3;

/** Bytes of two square matrices and five rows of even length for a basis of `full` vectors. */
export const projectedBytes = (full: number): number => 8 * (full + 1) * (2 * full + 5);

/** What a projection says of the largest eigenvalues. */
interface Ritz {
  readonly leading: number;
  readonly residual: number;
  readonly converged: boolean;
}

/**
 * Stewart 2001, "A Krylov-Schur algorithm for large eigenproblems": W V = V S + v b^T is expanded
 * to a full basis by Arnoldi steps, S is brought to real Schur form with the Ritz values in falling
 * order of modulus, and the leading part is kept.
 */
export class ProjectedProblem {
  /** Vectors of a full basis. */
  readonly full: number;
  /** Numbers between the beginnings of rows of Q. */
  readonly ld: number;
  /** Q, the change of basis of `keep`, and its address. */
  readonly q: Float64Array;
  readonly qAt: number;
  /** Workspace for one number a vector and for four, and its address. */
  readonly work: Float64Array;
  readonly workAt: number;
  readonly #rows: number;
  readonly #attempt: KrylovAttempt;
  readonly #instance: WasmInstance;
  readonly #tAt: number;
  readonly #t: Float64Array;
  readonly #s: Float64Array;
  #size = 0;
  #coupling = 1;
  #residuals: Float64Array = new Float64Array(0);

  /**
   * For a block of `rows` rows, in `projectedBytes` bytes of a WebAssembly memory from the address
   * `at` on.
   */
  constructor(instance: WasmInstance, at: number, rows: number, attempt: KrylovAttempt) {
    const full = Math.min(attempt.full, rows);
    const ld = full + (full & 1);
    this.full = full;
    this.ld = ld;
    this.#rows = rows;
    this.#attempt = attempt;
    this.#instance = instance;
    this.#tAt = at;
    this.qAt = at + 8 * ld * full;
    this.workAt = this.qAt + 8 * ld * full;
    const { buffer } = instance.memory;
    this.#t = new Float64Array(buffer, this.#tAt, ld * full);
    this.q = new Float64Array(buffer, this.qAt, ld * full);
    this.work = new Float64Array(buffer, this.workAt, full);
    this.#s = new Float64Array(ld * full);
  }

  /** Vectors that W is projected on. */
  get size(): number {
    return this.#size;
  }

  /** Whether the basis is full, or spans a space that W does not leave. */
  get complete(): boolean {
    return this.#size >= this.full || this.#coupling === 0;
  }

  /**
   * Adds a pass of the next Arnoldi step's projections on the vectors so far: `h` has `size + 1` of
   * them.
   */
  project(h: ArrayLike<number>): void {
    const j = this.#size;
    for (let i = 0; i <= j; i++) this.#s[i * this.ld + j] = this.#s[i * this.ld + j]! + h[i]!;
  }

  /**
   * Whether a pass that took a squared norm from `before` to `after` needs another one after it.
   */
  static again(before: number, after: number): boolean {
    return !(after > 0.5 * before);
  }

  /**
   * Ends an Arnoldi step: what is left of the product has the squared norm `after`, of `before` at
   * first. Gives the next vector's coupling, its norm, which is 0 if the space is invariant.
   */
  couple(before: number, after: number): number {
    const j = this.#size++;
    this.#coupling = j + 1 === this.#rows || after <= 1e-26 * before ? 0 : Math.sqrt(after);
    if (this.#size < this.full) this.#s[this.#size * this.ld + j] = this.#coupling;
    return this.#coupling;
  }

  /** What the iteration came to, or undefined if it goes on after `keep`. */
  result(restarts: number, exponent: number): KrylovResult | undefined {
    const ritz = this.#solve();
    if (!ritz) return { radius: 0, residual: Number.POSITIVE_INFINITY, restarts, converged: false };
    const { leading, residual, converged } = ritz;
    if (!converged && restarts !== this.#attempt.restarts) return undefined;
    const radius = leading === 0 ? 0 : timesPowerOfTwo(nthRoot(leading, this.#attempt.power), exponent);
    return { radius, residual: this.#coupling === 0 ? 0 : residual / leading, restarts, converged };
  }

  /**
   * Keeps the leading part: the new number of vectors, which are the first columns of V Q; the
   * vector after them is the one after the full basis.
   */
  keep(): number {
    const { ld } = this;
    const { kept } = this.#attempt;
    const size = kept + (isPair(this.#form(), kept - 1) ? 1 : 0);
    this.#s.fill(0);
    for (let i = 0; i < size; i++) this.#s.set(this.#t.subarray(i * ld, i * ld + size), i * ld);
    this.#s.set(this.#residuals.subarray(0, size), size * ld);
    this.#size = size;
    this.#coupling = 1;
    return size;
  }

  #form(): SchurForm {
    return { size: this.#size, ld: this.ld, t: this.#t, q: this.q };
  }

  /**
   * The Schur form in falling order; undefined if the QR algorithm does not find all eigenvalues.
   */
  #solve(): Ritz | undefined {
    const { ld, q } = this;
    const { exports } = this.#instance;
    const size = this.#size;
    const form = this.#form();
    this.#t.set(this.#s);
    q.fill(0);
    for (let i = 0; i < size; i++) q[i * ld + i] = 1;
    exports.reduceToHessenberg(size, this.#tAt, ld, this.qAt, this.workAt);
    const missing = exports.francisQr(size, this.#tAt, ld, this.qAt, this.workAt, this.workAt + 8 * ld);
    if (missing !== 0) return undefined;
    orderByModulus(form, this.#attempt.kept);
    const coupling = this.#coupling;
    const residuals = Float64Array.from({ length: size }, (_, j) => coupling * q[(size - 1) * ld + j]!);
    this.#residuals = residuals;
    const leading = blockModulus(form, 0);
    const residual = blockResidual(form, residuals, 0);
    const converged = coupling === 0 || (residual <= leadingTolerance * leading && leaderIsSafe(form, residuals));
    return { leading, residual, converged };
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
  for (let k = isPair(form, 0) ? 2 : 1, blocks = 0; k < form.size && blocks < watched; blocks++) {
    const residual = blockResidual(form, residuals, k);
    const uncertain = residual > watchedTolerance * leading || blockModulus(form, k) + residual >= leading;
    if (uncertain && residual > leadingTolerance * leading) return false;
    k += isPair(form, k) ? 2 : 1;
  }
  return true;
}
