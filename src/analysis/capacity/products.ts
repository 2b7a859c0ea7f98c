// The sums that information processing capacity is made of, in one pass over the states: X^T z and
// z^T z for every target z, and the triangular factor of X.
import { BlockProduct, gramBlockRows, Matrix, TriangularFactor } from "@spillway/numerics";
import type { Targets } from "./targets.js";

/** Targets of one input: the reservoir's own, or one that never drove it. */
export interface TargetGroup {
  readonly targets: Targets;
  /** P_0, P_1, ... of the input, for the rows that are added next and the delays before them. */
  readonly values: readonly Float64Array[];
  /** Where the first row of states is in `values`. */
  readonly offset: number;
}

/** Sums of states that were centred by their means. */
export interface CentredSums {
  /** The triangular factor of the states, N x N. */
  readonly triangle: Matrix<Float64Array>;
  /** z^T z of every target. */
  readonly squares: Float64Array;
  /** X^T z of target j, N values, in `out`. */
  product(j: number, out: Float64Array): Float64Array;
}

/**
 * Centres sums of [1, states], whose triangular factor has N + 1 columns. `product` gives N + 1
 * values of a target.
 */
export function centred(of: CentredSums): CentredSums {
  const { triangle: whole, squares } = of;
  const size = whole.rows - 1;
  const triangle = Matrix.zeros(size, size);
  for (let i = 0; i < size; i++) triangle.row(i).set(whole.row(i + 1).subarray(1));
  const means = Float64Array.from({ length: size }, (_, i) => whole.data[i + 1]! / whole.data[0]!);
  const sums = new Float64Array(size + 1);
  const product = (j: number, out: Float64Array): Float64Array => {
    of.product(j, sums);
    for (let i = 0; i < size; i++) out[i] = sums[i + 1]! - means[i]! * sums[0]!;
    return out;
  };
  return { triangle, squares, product };
}

/** The upper word of 2^-479. What is smaller counts as 0: products of two such do not underflow. */
const smallest = 0x22000000;

/**
 * Keeps the first bits of numbers, those of `mask` in the lower word, every `step`-th from `at` to
 * `end`. With 32 bits of states and 21 of targets products are exact: fused operations then have
 * the bits of separate ones, and a device may take them (docs/numerics.md, rule 9).
 */
function cut(values: Float64Array, mask: number, at: number, end: number, step: number): void {
  const words = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length);
  for (let low = 2 * at; low < 2 * end; low += 2 * step) {
    words[low] = words[low]! & mask;
    if ((words[low + 1]! & 0x7fffffff) < smallest) words[low] = words[low + 1] = 0;
  }
}

/**
 * Sums over rows of states. The states are taken less those of the first row, and centred by their
 * means at the end: a column of ones comes before them.
 */
export class TargetSums {
  readonly #groups: readonly TargetGroup[];
  readonly #groupOf: Uint16Array;
  readonly #within: Uint32Array;
  readonly #product: BlockProduct;
  /** Of whole blocks, and of the block that is not full. */
  readonly #factor: TriangularFactor;
  #blockFactor: TriangularFactor | undefined;
  readonly #squares: Float64Array;
  readonly #blockSquares: Float64Array;
  #origin: Float64Array | undefined;
  #row = 0;

  constructor(size: number, groups: readonly TargetGroup[]) {
    this.#groups = groups;
    const count = groups.reduce((sum, { targets }) => sum + targets.count, 0);
    this.#groupOf = new Uint16Array(count);
    this.#within = new Uint32Array(count);
    let at = 0;
    groups.forEach(({ targets }, g) => {
      for (let j = 0; j < targets.count; j++, at++) {
        this.#groupOf[at] = g;
        this.#within[at] = j;
      }
    });
    this.#product = new BlockProduct(size + 1, count);
    this.#factor = new TriangularFactor(size + 1, 0);
    this.#squares = new Float64Array(count);
    this.#blockSquares = new Float64Array(count);
  }

  /**
   * Adds rows of states, at most what is left of a block of 1024; yields between pieces of work.
   */
  *add(states: Matrix): Generator<void, void> {
    const { rows, cols } = states;
    this.#origin ??= Float64Array.from(states.row(0));
    const shifted = Matrix.zeros(rows, cols);
    for (let t = 0, i = 0; t < rows; t++) for (let c = 0; c < cols; c++, i++) shifted.data[i] = states.data[i]! - this.#origin[c]!;
    this.#blockFactor ??= new TriangularFactor(cols + 1, 0);
    this.#blockFactor.add(["ones", { matrix: shifted, square: "none" }], [], rows);
    cut(shifted.data, 0xffe00000, 0, shifted.data.length, 1);
    yield* this.#product.add(["ones", { matrix: shifted, square: "none" }], rows, (j, first, count, out, at, step) => {
      this.#write(j, this.#row + first, count, out, at, step);
    });
    this.#row += rows;
    if (this.#row % gramBlockRows !== 0) return;
    for (let j = 0; j < this.#squares.length; j++) this.#squares[j] = this.#squares[j]! + this.#blockSquares[j]!;
    this.#blockSquares.fill(0);
    this.#finishFactor();
  }

  /** What the sums are of centred states. */
  finish(): CentredSums {
    const squares = this.#squares.map((square, j) => square + this.#blockSquares[j]!);
    this.#finishFactor();
    return centred({ triangle: this.#factor.triangle(), squares, product: (j, out) => this.#product.column(j, out) });
  }

  dispose(): void {
    this.#product.dispose();
    this.#factor.dispose();
    this.#blockFactor?.dispose();
  }

  /** Takes in the triangle of a block as rows. */
  #finishFactor(): void {
    if (!this.#blockFactor) return;
    this.#factor.merge(this.#blockFactor);
    this.#blockFactor.dispose();
    this.#blockFactor = undefined;
  }

  #write(column: number, first: number, rows: number, out: Float64Array, at: number, step: number): void {
    const group = this.#groups[this.#groupOf[column]!]!;
    const { first: starts, termDegrees, termDelays } = group.targets;
    const from = starts[this.#within[column]!]!;
    const to = starts[this.#within[column]! + 1]!;
    const end = at + rows * step;
    for (let term = from; term < to; term++) {
      const values = group.values[termDegrees[term]!]!;
      let t = group.offset + first - termDelays[term]!;
      if (term === from) for (let p = at; p < end; p += step) out[p] = values[t++]!;
      else for (let p = at; p < end; p += step) out[p] = out[p]! * values[t++]!;
    }
    cut(out, 0, at, end, step);
    let sum = this.#blockSquares[column]!;
    for (let p = at; p < end; p += step) sum += out[p]! * out[p]!;
    this.#blockSquares[column] = sum;
  }
}
