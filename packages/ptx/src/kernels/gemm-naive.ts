// C = A B, one thread an element: the plainest product, for small sizes and as a measure of the
// others.
import { ceilDiv, type GeneratedKernel, generate, type KernelGeneratorOptions, readShape, tileGrid } from "./generated-kernel.js";
import type { Shapes } from "./shapes.js";

/** C (m x n) = A (m x k) B (k x n). */
export type GemmShape = Shapes["gemmNaive"];

export const gemmNaiveName = "gemm_naive";

/**
 * C = A B in binary32: A is m x k, B k x n, C m x n, all by rows; products are fused and added in
 * rising k. Arguments: a, b, c.
 * @throws ArgumentError, PtxBuildError
 */
export function gemmNaive(sizes: GemmShape, options: KernelGeneratorOptions = {}): GeneratedKernel {
  const { m, n, k: depth } = readShape("gemmNaive", gemmNaiveName, sizes);
  const tiles = tileGrid(gemmNaiveName, ceilDiv(m, 16), ceilDiv(n, 16));
  const shape = { name: gemmNaiveName, grid: tiles.grid, block: [16, 16] } as const;
  return generate(shape, options, (k) => {
    const [a, b, c] = [k.pointer("f32", "a"), k.pointer("f32", "b"), k.pointer("f32", "c")];
    const column = k.mad(k.special("ctaid", tiles.column), 16, k.special("tid", "x"));
    const row = k.mad(k.special("ctaid", tiles.row), 16, k.special("tid", "y"));
    k.exit(k.or(k.compare("ge", row, m), k.compare("ge", column, n)));
    const [aRow, bColumn] = [k.at(a, row, depth), k.at(b, column)];
    const sum = k.variable("f32", 0);
    k.for("u32", { from: 0, to: depth, unroll: 4 }, (j) => {
      const [left, right] = [k.load(k.at(aRow, j), { readOnly: true }), k.load(k.at(bColumn, j, n), { readOnly: true })];
      k.assign(sum, k.fma(left, right, sum));
    });
    k.store(k.at(k.at(c, row, n), column), sum);
  });
}
