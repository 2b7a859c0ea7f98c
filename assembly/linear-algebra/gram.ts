// The Gram matrix of rows in panels (docs/numerics.md, rule 9). Sums are kept as 6 x 6 tiles of the
// upper triangle, tile row by tile row: a block's sums lie in the order in which they are visited.
import { addFusedProducts } from "./fused-tile";
import { addProducts } from "./tile";

/**
 * Panels of one strip: as many as stay in the second-level cache while every row panel passes over
 * them.
 */
const stripPanels: i32 = 20;

/**
 * Adds the products of rows [0, rows) to the block sums, each sum continued in rising order of
 * rows: of the pairs of columns whose later one lies in panels [from, to). Compiled with relaxed
 * SIMD it fuses, so every product must be exact there.
 */
export function gramAddRows(panels: usize, stride: i32, rows: i32, panelCount: i32, from: i32, to: i32, sums: usize): void {
  const panelBytes = <usize>stride * 48;
  for (let strip = from; strip < to; strip += stripPanels) {
    const end = min(strip + stripPanels, to);
    for (let i = 0; i < end; i++) {
      const a = panels + <usize>i * panelBytes;
      const first = max(strip, i);
      let tile = sums + <usize>tileIndex(i, first, panelCount) * 288;
      for (let j = first; j < end; j++) {
        addTileRows(a, panels + <usize>j * panelBytes, rows, tile);
        tile += 288;
      }
    }
  }
}

/**
 * Adds the products of every left column with every right one, rows [0, rows), to the block sums,
 * each sum continued in rising order of rows. The tiles of a right panel lie together, one a left
 * panel.
 */
export function productAddRows(left: usize, leftPanels: i32, right: usize, rightPanels: i32, stride: i32, rows: i32, sums: usize): void {
  const panelBytes = <usize>stride * 48;
  for (let j = 0; j < rightPanels; j++) {
    const b = right + <usize>j * panelBytes;
    for (let i = 0; i < leftPanels; i++) {
      addTileRows(left + <usize>i * panelBytes, b, rows, sums);
      sums += 288;
    }
  }
}

/** Adds `count` block sums to the totals and sets them to +0. */
export function gramFinishBlock(sums: usize, totals: usize, count: i32): void {
  for (let i = 0; i < count; i += 2) {
    v128.store(totals, f64x2.add(v128.load(totals), v128.load(sums)));
    v128.store(sums, f64x2.splat(0));
    totals += 16;
    sums += 16;
  }
}

/** Which tile in memory is tile row i, tile column j >= i. */
// @ts-ignore: decorator
@inline
function tileIndex(i: i32, j: i32, panelCount: i32): i32 {
  return i * panelCount - ((i * (i - 1)) >> 1) + (j - i);
}

// @ts-ignore: decorator
@inline
function addTileRows(a: usize, b: usize, rows: i32, tile: usize): void {
  if (ASC_FEATURE_RELAXED_SIMD) {
    addFusedProducts(a, b, rows, tile);
    addFusedProducts(a + 24, b, rows, tile + 144);
  } else {
    addProducts(a, 48, b, rows, tile, 48);
    addProducts(a + 16, 48, b, rows, tile + 96, 48);
    addProducts(a + 32, 48, b, rows, tile + 192, 48);
  }
}
