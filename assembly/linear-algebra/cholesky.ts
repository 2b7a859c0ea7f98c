// Cholesky factorisation and triangular solves in the order of docs/numerics.md, rule 11. Matrices
// are row-major with n padded to a multiple of 6 (ones on the padded diagonal), right-hand sides
// are panels of 6 columns. Blocks change where numbers lie, not their order.
import { subtractProducts } from "./tile";

/**
 * Columns eliminated at a time: a multiple of 6 whose packed rows stay in the second-level cache.
 */
const blockColumns: i32 = 60;

/**
 * Overwrites the lower triangle of A by L with A = L L^T. `work` takes n * 60 values. Returns 0, or
 * i + 1 if pivot i is not above 0; that pivot then stands in A[i][i].
 */
export function choleskyFactor(matrix: usize, n: i32, work: usize): i32 {
  const ld = (<usize>n) << 3;
  for (let k0 = 0; k0 < n; k0 += blockColumns) {
    const columns = min(blockColumns, n - k0);
    const k1 = k0 + columns;
    const failed = factorDiagonalBlock(matrix, ld, k0, k1);
    if (failed != 0) return failed;
    const panelBytes = <usize>columns * 48;
    for (let i = k1; i < n; i += 6) {
      const panel = work + <usize>((i - k1) / 6) * panelBytes;
      solveRows(matrix, ld, k0, columns, i, panel);
    }
    for (let j = k1; j < n; j += 6) {
      const b = work + <usize>((j - k1) / 6) * panelBytes;
      for (let i = j; i < n; i += 6) {
        const a = work + <usize>((i - k1) / 6) * panelBytes;
        const out = matrix + <usize>i * ld + ((<usize>j) << 3);
        subtractProducts(a, 48, b, columns, out, ld);
        subtractProducts(a + 16, 48, b, columns, out + 2 * ld, ld);
        subtractProducts(a + 32, 48, b, columns, out + 4 * ld, ld);
      }
    }
  }
  return 0;
}

function factorDiagonalBlock(matrix: usize, ld: usize, k0: i32, k1: i32): i32 {
  for (let i = k0; i < k1; i++) {
    const rowI = matrix + <usize>i * ld;
    for (let j = k0; j <= i; j++) {
      const rowJ = matrix + <usize>j * ld;
      let sum = load<f64>(rowI + ((<usize>j) << 3));
      for (let k = (<usize>k0) << 3; k < (<usize>j) << 3; k += 8) sum -= load<f64>(rowI + k) * load<f64>(rowJ + k);
      if (i != j) {
        store<f64>(rowI + ((<usize>j) << 3), sum / load<f64>(rowJ + ((<usize>j) << 3)));
      } else if (sum > 0) {
        store<f64>(rowI + ((<usize>i) << 3), Math.sqrt(sum));
      } else {
        store<f64>(rowI + ((<usize>i) << 3), sum);
        return i + 1;
      }
    }
  }
  return 0;
}

/**
 * Columns [k0, k0 + columns) of rows i .. i + 5 of L, written to the matrix and, transposed, to the
 * panel.
 */
function solveRows(matrix: usize, ld: usize, k0: i32, columns: i32, i: i32, panel: usize): void {
  const rows = matrix + <usize>i * ld + ((<usize>k0) << 3);
  for (let j = 0; j < columns; j++) {
    const from = rows + ((<usize>j) << 3);
    let c0 = f64x2(load<f64>(from), load<f64>(from + ld));
    let c1 = f64x2(load<f64>(from + 2 * ld), load<f64>(from + 3 * ld));
    let c2 = f64x2(load<f64>(from + 4 * ld), load<f64>(from + 5 * ld));
    const pivots = matrix + <usize>(k0 + j) * ld + ((<usize>k0) << 3);
    let solved = panel;
    for (let k: usize = 0; k < (<usize>j) << 3; k += 8) {
      const l = v128.load64_splat(pivots + k);
      c0 = f64x2.sub(c0, f64x2.mul(v128.load(solved), l));
      c1 = f64x2.sub(c1, f64x2.mul(v128.load(solved, 16), l));
      c2 = f64x2.sub(c2, f64x2.mul(v128.load(solved, 32), l));
      solved += 48;
    }
    const pivot = v128.load64_splat(pivots + ((<usize>j) << 3));
    c0 = f64x2.div(c0, pivot);
    c1 = f64x2.div(c1, pivot);
    c2 = f64x2.div(c2, pivot);
    v128.store(solved, c0);
    v128.store(solved, c1, 16);
    v128.store(solved, c2, 32);
    store<f64>(from, f64x2.extract_lane(c0, 0));
    store<f64>(from + ld, f64x2.extract_lane(c0, 1));
    store<f64>(from + 2 * ld, f64x2.extract_lane(c1, 0));
    store<f64>(from + 3 * ld, f64x2.extract_lane(c1, 1));
    store<f64>(from + 4 * ld, f64x2.extract_lane(c2, 0));
    store<f64>(from + 5 * ld, f64x2.extract_lane(c2, 1));
  }
}

/** Solves L Z = B in place for one panel of 6 right-hand sides. */
export function solveLower(matrix: usize, n: i32, panel: usize): void {
  const ld = (<usize>n) << 3;
  for (let i = 0; i < n; i++) {
    const row = matrix + <usize>i * ld;
    const at = panel + <usize>i * 48;
    let c0 = v128.load(at);
    let c1 = v128.load(at, 16);
    let c2 = v128.load(at, 32);
    let l = row;
    for (let z = panel; z < at; z += 48) {
      const factor = v128.load64_splat(l);
      c0 = f64x2.sub(c0, f64x2.mul(v128.load(z), factor));
      c1 = f64x2.sub(c1, f64x2.mul(v128.load(z, 16), factor));
      c2 = f64x2.sub(c2, f64x2.mul(v128.load(z, 32), factor));
      l += 8;
    }
    const pivot = v128.load64_splat(l);
    v128.store(at, f64x2.div(c0, pivot));
    v128.store(at, f64x2.div(c1, pivot), 16);
    v128.store(at, f64x2.div(c2, pivot), 32);
  }
}

/** Solves L^T W = Z in place for one panel, from the last unknown to the first. */
export function solveLowerTransposed(matrix: usize, n: i32, panel: usize): void {
  const ld = (<usize>n) << 3;
  for (let k = n - 1; k >= 0; k--) {
    const row = matrix + <usize>k * ld;
    const at = panel + <usize>k * 48;
    const pivot = v128.load64_splat(row + ((<usize>k) << 3));
    const w0 = f64x2.div(v128.load(at), pivot);
    const w1 = f64x2.div(v128.load(at, 16), pivot);
    const w2 = f64x2.div(v128.load(at, 32), pivot);
    v128.store(at, w0);
    v128.store(at, w1, 16);
    v128.store(at, w2, 32);
    let l = row;
    for (let z = panel; z < at; z += 48) {
      const factor = v128.load64_splat(l);
      v128.store(z, f64x2.sub(v128.load(z), f64x2.mul(w0, factor)));
      v128.store(z, f64x2.sub(v128.load(z, 16), f64x2.mul(w1, factor)), 16);
      v128.store(z, f64x2.sub(v128.load(z, 32), f64x2.mul(w2, factor)), 32);
      l += 8;
    }
  }
}

/**
 * Solves R W = Z in place for one panel, R upper triangular with rows `ld` bytes apart, from the
 * last unknown to the first.
 */
export function solveUpper(matrix: usize, ld: usize, n: i32, panel: usize): void {
  for (let i = n - 1; i >= 0; i--) {
    const row = matrix + <usize>i * ld;
    const at = panel + <usize>i * 48;
    let c0 = v128.load(at);
    let c1 = v128.load(at, 16);
    let c2 = v128.load(at, 32);
    for (let k = n - 1; k > i; k--) {
      const factor = v128.load64_splat(row + ((<usize>k) << 3));
      const w = panel + <usize>k * 48;
      c0 = f64x2.sub(c0, f64x2.mul(v128.load(w), factor));
      c1 = f64x2.sub(c1, f64x2.mul(v128.load(w, 16), factor));
      c2 = f64x2.sub(c2, f64x2.mul(v128.load(w, 32), factor));
    }
    const pivot = v128.load64_splat(row + ((<usize>i) << 3));
    v128.store(at, f64x2.div(c0, pivot));
    v128.store(at, f64x2.div(c1, pivot), 16);
    v128.store(at, f64x2.div(c2, pivot), 32);
  }
}
