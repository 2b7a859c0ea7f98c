// Which kernel multiplies two matrices, and how it is launched. Every kernel gives the same bits;
// they differ in speed.
import { choice, type InputOf, optional } from "@spillway/core/options.js";

/**
 * How `blas` chooses what multiplies: this package's kernels; cuBLAS, or an error; or cuBLAS if
 * it loads and this package's kernels elsewhere.
 */
export type BlasChoice = "none" | "cublas" | "auto";

export const executorTable = {
  /**
   * What multiplies matrices: default "none", this package's kernels, whose bits are the same on
   * every device. A call's default is what its executor was made with.
   */
  blas: optional(choice("none", "auto", "cublas"), "What multiplies matrices; left out, this package's kernels."),
};

/** What multiplies. */
export interface ExecutorOptions extends InputOf<typeof executorTable> {}

/** What a product was computed by. */
export type ProductSource =
  | { readonly library: "spillway"; readonly kernel: MatmulKernel }
  | { readonly library: "cublas"; readonly version: string; readonly path: string };

/** A kernel with its tile of the product. */
export interface Tile {
  readonly kernel: MatmulKernel;
  readonly rows: number;
  readonly columns: number;
  readonly threads: number;
}

/** The names of the kernels. */
export type MatmulKernel = "matmul" | "matmul_small" | "matmul_large";

/** As in kernels/executor.cu. */
const large: Tile = { kernel: "matmul_large", rows: 128, columns: 256, threads: 256 };
const middle: Tile = { kernel: "matmul", rows: 64, columns: 64, threads: 128 };
const small: Tile = { kernel: "matmul_small", rows: 32, columns: 64, threads: 128 };

/** Every kernel with its tile. */
export const matmulTiles: readonly Tile[] = [large, middle, small];

/** The tiles of a product, one a block. */
export function tileCount(tile: Tile, m: number, n: number): number {
  return Math.ceil(m / tile.rows) * Math.ceil(n / tile.columns);
}

/**
 * Large tiles if they leave less than a fifth of the multiprocessors idle in their last round (a
 * multiprocessor does one at a time); else middle ones if there are enough for one and a half a
 * multiprocessor; else small ones. The three were chosen by measurement (bench/gpu).
 */
export function chooseTile(m: number, n: number, multiprocessors: number): Tile {
  const count = tileCount(large, m, n);
  if (count >= 0.8 * multiprocessors * Math.ceil(count / multiprocessors)) return large;
  return tileCount(middle, m, n) >= 1.5 * multiprocessors ? middle : small;
}
