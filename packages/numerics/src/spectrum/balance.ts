// Balancing of a block before its eigenvalues are asked for: a diagonal similarity by powers of
// two, which rounds nothing. Only of grossly unbalanced blocks: all others keep their bits.
import { minimiseByNewton, NotConvergedError, type SmoothObjective } from "../newton.js";
import { portableExp, portableLog } from "../portable.js";
import type { Component, EntryVisitor } from "./components.js";
import { powerOfTwoFactors, timesPowerOfTwo } from "./power-of-two.js";
import { type BlockSummary, summarize } from "./structure.js";

/** A block is grossly unbalanced if balancing takes the sum of its |w| down by this factor, */
const grossGain = 4;

/**
 * or if the middle half of its scales spreads over this many powers of two. A chain that is
 * stronger one way than the other looks balanced in every row but its ends, and still rises from
 * end to end.
 */
const grossSpread = 12;

/**
 * Blocks of more nonzeros are balanced only by their row and column sums: chains are not as dense
 * as that.
 */
const newtonLimit = 2 ** 22;

/** Nonzeros that the products of all Newton steps visit, at most. */
const newtonVisits = 2 ** 27;

/**
 * The block itself, or if it is grossly unbalanced D^-1 W D, which has the same eigenvalues: D of
 * the powers of two nearest to the one that makes sum |w_ij| d_j / d_i least (Osborne 1960, "On
 * pre-conditioning of matrices"), found for all rows at once. Scaling one row after the other, as
 * before a QR algorithm, stops where all but a few rows have columns of the same norm, far from the
 * minimum.
 */
export function balanced(component: Component, summary = summarize(component), rounds = 4): Component {
  const imbalance = new Imbalance(component, summary);
  const exponents = imbalance.minimum().map((x) => Math.round(x / Math.LN2));
  const sorted = exponents.slice().sort();
  const spread = sorted[Math.floor(0.75 * sorted.length)]! - sorted[Math.floor(0.25 * sorted.length)]!;
  if (imbalance.gain < grossGain && spread < grossSpread) return component;
  const scaled: Component = {
    size: component.size,
    forEach(visit) {
      component.forEach((row, column, value) => {
        visit(row, column, timesPowerOfTwo(value, exponents[row]! - exponents[column]!));
      });
    },
  };
  // Elements beside which others vanish in binary64, and long chains, take more rounds than one.
  return rounds > 1 ? balanced(scaled, summarize(scaled), rounds - 1) : scaled;
}

/**
 * f(x) = sum over i, j, i not j, of |w_ij| e^(x_i - x_j): convex, and its gradient is row sums less
 * column sums.
 */
class Imbalance implements SmoothObjective {
  readonly size: number;
  readonly #count: number;
  /**
   * Calls with each element off the diagonal, its modulus divided by a power of two that all share.
   */
  readonly #forEach: (visit: EntryVisitor) => void;
  /** The same as lists; undefined for a block that is too large for them. */
  readonly #entries: Entries | undefined;
  readonly #first: number;
  #least = Number.POSITIVE_INFINITY;
  #best: Float64Array;
  readonly #rowSums: Float64Array;
  readonly #columnSums: Float64Array;
  readonly #up: Float64Array;
  readonly #down: Float64Array;
  #visits = 0;

  constructor(component: Component, { count, exponent }: BlockSummary) {
    const { size } = component;
    const [factor0, factor1] = powerOfTwoFactors(-exponent);
    const visitModuli = (visit: EntryVisitor): void =>
      component.forEach((row, column, value) => {
        if (row !== column) visit(row, column, Math.abs(value * factor0 * factor1));
      });
    this.size = size;
    this.#count = count;
    this.#forEach = visitModuli;
    this.#entries = count > newtonLimit ? undefined : listed(visitModuli, size, count);
    this.#rowSums = new Float64Array(size);
    this.#columnSums = new Float64Array(size);
    this.#up = new Float64Array(size);
    this.#down = new Float64Array(size);
    this.#best = new Float64Array(size);
    this.#first = this.#value(this.#best);
  }

  /** f(0) over the least f so far. */
  get gain(): number {
    return this.#first / this.#least;
  }

  /** x where f is least, or as near as the limits on work allow. */
  minimum(): Float64Array {
    for (let before = Number.POSITIVE_INFINITY; this.#least < 0.95 * before; ) {
      before = this.#least;
      this.#value(this.#best.map((x, i) => x + this.#equalising(i)));
    }
    if (!this.#entries) return this.#best;
    try {
      minimiseByNewton(this, (1e-6 * this.#least) / this.size, 30, this.#best);
    } catch (error) {
      if (!(error instanceof NotConvergedError)) throw error;
    }
    return this.#best;
  }

  evaluate(x: Float64Array, gradient: Float64Array): number {
    const value = this.#value(x);
    for (let i = 0; i < x.length; i++) gradient[i] = this.#rowSums[i]! - this.#columnSums[i]!;
    return value;
  }

  /**
   * The Hessian is the Laplacian of the graph whose edges weigh what the elements both ways come
   * to.
   */
  curvature(direction: Float64Array, out: Float64Array): void {
    out.fill(0);
    const { offsets, columns, scaled } = this.#entries!;
    this.#visits += this.#count;
    if (this.#visits > newtonVisits) return;
    for (let row = 0, p = 0; row < out.length; row++) {
      let sum = out[row]!;
      for (const end = offsets[row + 1]!; p < end; p++) {
        const column = columns[p]!;
        const flow = scaled[p]! * (direction[row]! - direction[column]!);
        sum += flow;
        out[column] = out[column]! - flow;
      }
      out[row] = sum;
    }
  }

  preconditioner(out: Float64Array): void {
    for (let i = 0; i < out.length; i++) out[i] = 1 / (this.#rowSums[i]! + this.#columnSums[i]! || 1);
  }

  /** The change of x_i that makes its row sum and column sum equal, if nothing else changes. */
  #equalising(i: number): number {
    const row = this.#rowSums[i]!;
    const column = this.#columnSums[i]!;
    return row > 0 && column > 0 ? (portableLog(column) - portableLog(row)) / 2 : 0;
  }

  #value(x: Float64Array): number {
    const rowSums = this.#rowSums.fill(0);
    const columnSums = this.#columnSums.fill(0);
    for (let i = 0; i < x.length; i++) {
      this.#up[i] = portableExp(x[i]!);
      this.#down[i] = portableExp(-x[i]!);
    }
    const up = this.#up;
    const down = this.#down;
    if (this.#entries) {
      const { offsets, columns, sizes, scaled } = this.#entries;
      for (let row = 0, p = 0; row < x.length; row++) {
        let sum = 0;
        for (const end = offsets[row + 1]!; p < end; p++) {
          const column = columns[p]!;
          const value = sizes[p]! * up[row]! * down[column]!;
          scaled[p] = value;
          sum += value;
          columnSums[column] = columnSums[column]! + value;
        }
        rowSums[row] = sum;
      }
    } else {
      this.#forEach((row, column, size) => {
        const value = size * up[row]! * down[column]!;
        rowSums[row] = rowSums[row]! + value;
        columnSums[column] = columnSums[column]! + value;
      });
    }
    const sum = rowSums.reduce((total, rowSum) => total + rowSum, 0);
    if (sum < this.#least) {
      this.#least = sum;
      this.#best = x.slice();
    }
    return sum;
  }
}

/** Elements of a block, row by row. */
interface Entries {
  /** Where each row begins, and the number of elements. */
  readonly offsets: Uint32Array;
  readonly columns: Uint32Array;
  readonly sizes: Float64Array;
  /** size_ij e^(x_i - x_j) at the point evaluated last. */
  readonly scaled: Float64Array;
}

/** At most `most` visits as lists. */
function listed(visitAll: (visit: EntryVisitor) => void, rows: number, most: number): Entries {
  const [offsets, columns] = [new Uint32Array(rows + 1), new Uint32Array(most)];
  const sizes = new Float64Array(most);
  let count = 0;
  visitAll((row, column, size) => {
    columns[count] = column;
    sizes[count++] = size;
    offsets[row + 1] = count;
  });
  return { offsets, columns, sizes, scaled: new Float64Array(count) };
}
