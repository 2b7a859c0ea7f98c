// The weights while they learn: binary64, found by target and by source, each with a sign that it
// keeps. No rule is in here.
import { ArgumentError } from "@spillway/core/errors.js";
import {
  allocate,
  checkSparse,
  firstNonFinite,
  isSparse,
  Matrix,
  type Precision,
  precisionOf,
  type SparseMatrix,
  toSparse,
} from "@spillway/numerics";
import { grouped } from "../grouped.js";

/**
 * What learns: rows are targets, columns are sources. A weight of 0 in a dense matrix is no
 * synapse.
 */
export type LearnableWeights = Matrix | SparseMatrix;

/** The synapses of a weight matrix, in CSR order. */
export class Synapses {
  readonly targets: number;
  readonly sources: number;
  /** The synapses of target r are at rowOffsets[r] to rowOffsets[r + 1]. */
  readonly rowOffsets: Uint32Array;
  /** The source of each synapse. */
  readonly columns: Uint32Array;
  /** |w|, in binary64. */
  readonly sizes: Float64Array;
  /** 1 for excitation, -1 for inhibition; a stored 0 counts as excitation. */
  readonly signs: Int8Array;
  /**
   * The synapses that leave source c: `outgoing[columnOffsets[c]]` to
   * `outgoing[columnOffsets[c + 1]]`, targets rising.
   */
  readonly columnOffsets: Uint32Array;
  readonly outgoing: Uint32Array;
  /** The target of each synapse. */
  readonly rows: Uint32Array;
  readonly #dense: boolean;
  readonly #precision: Precision;

  /**
   * @throws ArgumentError on a weight that is not finite, or for a CSR matrix whose
   * structure is wrong.
   */
  constructor(weights: LearnableWeights) {
    const sparse = isSparse(weights) ? weights : toSparse(weights);
    checkSparse(sparse, "weights");
    const bad = firstNonFinite(sparse.values);
    if (bad >= 0) throw new ArgumentError(`weight ${bad}`, sparse.values[bad], "finite numbers");
    this.targets = sparse.rows;
    this.sources = sparse.cols;
    this.rowOffsets = sparse.rowOffsets;
    this.columns = sparse.columns;
    this.sizes = Float64Array.from(sparse.values, Math.abs);
    this.signs = Int8Array.from(sparse.values, (weight) => (weight < 0 ? -1 : 1));
    this.#dense = !isSparse(weights);
    this.#precision = precisionOf(sparse.values);
    this.rows = new Uint32Array(this.columns.length);
    for (let r = 0; r < this.targets; r++) this.rows.fill(r, this.rowOffsets[r], this.rowOffsets[r + 1]);
    const { offsets, order } = grouped(this.columns, this.sources);
    this.columnOffsets = offsets;
    this.outgoing = order;
  }

  /** The weights with their signs, stored as they came: dense or CSR, in the same precision. */
  toWeights(): LearnableWeights {
    const values = allocate(this.#precision, this.sizes.length);
    for (let p = 0; p < values.length; p++) values[p] = this.signs[p]! * this.sizes[p]!;
    if (!this.#dense) {
      return { rows: this.targets, cols: this.sources, rowOffsets: this.rowOffsets.slice(), columns: this.columns.slice(), values };
    }
    const out = Matrix.zeros(this.targets, this.sources, this.#precision);
    for (let p = 0; p < values.length; p++) out.data[this.rows[p]! * this.sources + this.columns[p]!] = values[p]!;
    return out;
  }

  /** The sum of |w| over one target's synapses of one sign, in rising order of sources. */
  total(target: number, sign: number): number {
    let sum = 0;
    for (let p = this.rowOffsets[target]!; p < this.rowOffsets[target + 1]!; p++) if (this.signs[p] === sign) sum += this.sizes[p]!;
    return sum;
  }

  /** The same of each target. */
  totals(sign: number): Float64Array {
    return Float64Array.from({ length: this.targets }, (_, r) => this.total(r, sign));
  }

  /**
   * Scales one target's synapses of one sign to the sum `total`, every |w| within [minimum,
   * maximum]: those that meet a bound stay there and the others share what is left. If the bounds
   * allow no such sum, all are at the nearer bound.
   */
  normalise(target: number, sign: number, total: number, minimum: number, maximum: number): void {
    const members: number[] = [];
    for (let p = this.rowOffsets[target]!; p < this.rowOffsets[target + 1]!; p++) if (this.signs[p] === sign) members.push(p);
    let low = 0;
    let high = 1;
    const sumAt = (factor: number) => members.reduce((sum, p) => sum + bounded(this.sizes[p]! * factor, minimum, maximum), 0);
    if (sumAt(1) === total || members.every((p) => this.sizes[p] === 0)) return;
    while (sumAt(high) < total && high < 1e12) high *= 2;
    // The sum rises with the factor, so halving finds it to the last bit.
    for (let i = 0; i < 120; i++) {
      const middle = (low + high) / 2;
      if (middle === low || middle === high) break;
      if (sumAt(middle) < total) low = middle;
      else high = middle;
    }
    for (const p of members) this.sizes[p] = bounded(this.sizes[p]! * high, minimum, maximum);
  }
}

/** `value` put into [minimum, maximum]. */
export function bounded(value: number, minimum: number, maximum: number): number {
  return value < minimum ? minimum : value > maximum ? maximum : value;
}
