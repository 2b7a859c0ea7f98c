// Which kernel multiplies two matrices, and how it is launched. Every kernel gives the same bits; they differ in speed.

/** How `blas` chooses what multiplies: this package's kernels; cuBLAS, or an error; or cuBLAS where it loads and this package's kernels elsewhere. */
export type BlasChoice = "none" | "cublas" | "auto";

/** What a product was computed by. */
export type ProductSource =
  | { readonly library: "spillway"; readonly kernel: MatmulKernel }
  | { readonly library: "cublas"; readonly version: string; readonly path: string };

/** A kernel with its tile of the product. */
interface Tile {
  readonly kernel: MatmulKernel;
  readonly rows: number;
  readonly columns: number;
  readonly threads: number;
}

/** The names of the kernels. */
export type MatmulKernel = "matmul" | "matmul_small" | "matmul_large";

/** As in kernels/executor.cu, largest first. */
const tiles: readonly Tile[] = [
  { kernel: "matmul_large", rows: 128, columns: 128, threads: 256 },
  { kernel: "matmul", rows: 64, columns: 64, threads: 128 },
  { kernel: "matmul_small", rows: 32, columns: 32, threads: 64 },
];

/** The most rounds of the device that a larger tile may leave half empty: below it the smaller tile is faster. */
const tilesPerMultiprocessor = 1;

/** The largest tile of which the product has at least one for each multiprocessor, or the smallest. */
export function matmulLaunch(m: number, n: number, multiprocessors: number): { readonly tile: Tile; readonly grid: number } {
  const count = (tile: Tile) => Math.ceil(m / tile.rows) * Math.ceil(n / tile.columns);
  const tile = tiles.find((each) => count(each) >= tilesPerMultiprocessor * multiprocessors) ?? tiles[tiles.length - 1]!;
  return { tile, grid: count(tile) };
}
