// The matrix P of recursive least squares: the inverse of the weighted covariance of the rows so far,
// updated row by row.
import { allocateRegions, float64View, type Regions } from "./memory.js";
import { paddedWidth } from "./row-products.js";

/** P, n x n, symmetric in every bit. */
export class InverseCovariance {
  readonly size: number;
  readonly #width: number;
  readonly #memory: Regions<"matrix" | "row" | "product">;

  /** P = scale I. @throws MemoryLimitError */
  constructor(size: number, scale: number) {
    this.size = size;
    this.#width = paddedWidth(size);
    this.#memory = allocateRegions(`recursive least squares over ${size} features`, {
      matrix: size * this.#width * 8,
      row: this.#width * 8,
      product: this.#width * 8,
    });
    const matrix = float64View(this.#memory, this.#memory.at.matrix, size * this.#width);
    for (let i = 0; i < size; i++) matrix[i * this.#width + i] = scale;
  }

  /**
   * Takes in a row x with forgetting factor f: g = P x, s = f + x . g, P becomes (P - g g^T / s) /
   * f. Returns the gain g / s in a view that holds until the next call, or the s that was not above
   * 0 (then P is no longer positive definite, and is left as it was).
   */
  update(row: Float64Array, forgetting: number): Float64Array | number {
    const { at, exports } = this.#memory;
    const x = float64View(this.#memory, at.row, this.size);
    x.set(row);
    const scale = forgetting + exports.multiplySymmetric(at.matrix, this.size, this.#width, at.row, at.product);
    if (!(scale > 0)) return scale;
    const root = Math.sqrt(scale);
    const product = float64View(this.#memory, at.product, this.size);
    for (let i = 0; i < this.size; i++) {
      x[i] = product[i]! / scale;
      product[i] = product[i]! / root;
    }
    exports.downdateSymmetric(at.matrix, this.size, this.#width, at.product, 1 / forgetting);
    return x;
  }
}
