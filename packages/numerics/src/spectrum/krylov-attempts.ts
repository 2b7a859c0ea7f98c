// How often and with how many vectors a Krylov-Schur iteration is tried, and when it has failed.
// What iterates is not known here.
import { exponentOf } from "./power-of-two.js";

/** What an iteration came to. */
export interface KrylovResult {
  /** The largest modulus of a Ritz value, converged or not. */
  readonly radius: number;
  /**
   * |P V - V T| / |T| for the leading Ritz value or pair, where P is W or the power of it that was
   * iterated with.
   */
  readonly residual: number;
  readonly restarts: number;
  readonly converged: boolean;
}

/**
 * How one attempt iterates: vectors of a full basis, vectors kept at a restart, restarts, and the
 * power of W that is iterated with.
 */
export interface KrylovAttempt {
  readonly full: number;
  readonly kept: number;
  readonly restarts: number;
  readonly power: number;
}

/** An attempt on a block that is divided by 2^exponent first. */
export interface KrylovTask {
  readonly attempt: KrylovAttempt;
  readonly exponent: number;
}

/**
 * A basis of 60 vectors is the cheaper one up to 2000 rows; one of 120 needs half the products with
 * W and converges if the outer eigenvalues crowd. If W is so sparse that orthogonalization
 * costs more than a product, the latter iterates with a power of W that balances the two: it has
 * the gaps of as many steps for the price of one. Up to 3000 rows patience ends where the dense
 * method is cheaper or, for a matrix as sparse as that, surer: random ones are done by then, and
 * what is not is close to a ring. Above, a random matrix of 2e5 rows needs some 100 restarts.
 */
function attempts(n: number, nonzeros: number): KrylovAttempt[] {
  const power = Math.max(1, Math.min(32, Math.floor((50 * n) / nonzeros)));
  const patience = n <= 1000 ? 5 : n > 3000 ? 300 : power > 1 ? 10 : 40;
  const quick = { full: 60, kept: 24, restarts: n <= 2000 ? 30 : 0, power: 1 };
  const patient = { full: 120, kept: 48, restarts: patience, power };
  return n > 2000 && power === 1 ? [patient] : [quick, patient];
}

/** Vectors of the largest basis that a block of n rows is tried with. */
export const largestBasis = (n: number, nonzeros: number): number =>
  Math.min(n, Math.max(...attempts(n, nonzeros).map(({ full }) => full)));

/**
 * The attempts on a block of n rows, at least 2; each begins with the result of the last. If none
 * converges, the result of the last.
 */
export function* krylovAttempts(n: number, nonzeros: number, firstExponent: number): Generator<KrylovTask, KrylovResult, KrylovResult> {
  let exponent = firstExponent;
  let restarts = 0;
  let result: KrylovResult = { radius: 0, residual: Number.POSITIVE_INFINITY, restarts, converged: false };
  for (const attempt of attempts(n, nonzeros)) {
    result = yield { attempt, exponent };
    restarts += result.restarts;
    if (result.converged) break;
    // The next attempt takes powers of W: by the radius found so far they neither overflow nor
    // underflow.
    if (result.radius > 0) exponent = exponentOf(result.radius);
  }
  return { ...result, restarts };
}
