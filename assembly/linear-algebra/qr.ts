// Householder triangularisation of [R; B], R upper triangular and B a block of rows in panels
// (docs/numerics.md, rule 11). Reflections of 36 columns are applied together; a long series is one
// block after another, so R is all that is kept.
import { addProducts, subtractProducts } from "./tile";

/** Columns whose reflections are applied together: a multiple of 6. */
const groupColumns: i32 = 36;

/**
 * Turns [R; B] into [R'; 0] by reflections of the columns [first, features), applied to all panels.
 * `first` is a multiple of 36 before which B is zero; `features` ends what is eliminated and the
 * panels after it hold targets. B is overwritten; in the columns after the eliminated ones it holds
 * what the reflections left there. `work` takes 36 values for each row (an even number of them), 36
 * x 36 for the products v_k . v_i, 36 x 6 for a panel of W, and 36 for tau.
 */
export function qrAddRows(panels: usize, stride: i32, rows: i32, first: i32, features: i32, panelCount: i32, r: usize, work: usize): void {
  const panelBytes = <usize>stride * 48;
  const ld = <usize>panelCount * 48;
  const pairs = work;
  const products = pairs + <usize>(((rows + 1) >> 1) << 1) * groupColumns * 8;
  const w = products + groupColumns * groupColumns * 8;
  const tau = w + groupColumns * 48;
  for (let j0 = first; j0 < features; j0 += groupColumns) {
    const columns = min(groupColumns, features - j0);
    const groupPanels = (columns + 5) / 6;
    const v = panels + <usize>(j0 / 6) * panelBytes;
    factorGroup(v, panelBytes, rows, j0, columns, groupPanels, r, ld, tau);
    multiplyReflectors(v, panelBytes, rows, groupPanels, products);
    copyPairs(v, panelBytes, rows, columns, pairs);
    for (let p = j0 / 6 + groupPanels; p < panelCount; p++) {
      const b = panels + <usize>p * panelBytes;
      const rRows = r + <usize>j0 * ld + <usize>p * 48;
      memory.fill(w, 0, groupColumns * 48);
      for (let i = 0; i < columns; i++) memory.copy(w + <usize>i * 48, rRows + <usize>i * ld, 48);
      for (let i = 0; i < columns; i += 2) {
        addProducts(v + <usize>(i / 6) * panelBytes + <usize>(i % 6) * 8, 48, b, rows, w + <usize>i * 48, 48);
      }
      solveReflections(w, columns, products, tau, rRows, ld);
      for (let t = 0; t < rows; t += 2) {
        subtractProducts(pairs + <usize>t * columns * 8, 16, w, columns, b + <usize>t * 48, 48);
      }
    }
  }
}

/**
 * Makes the reflection of each column of a group and applies it to the columns of the group after
 * it.
 */
function factorGroup(
  v: usize,
  panelBytes: usize,
  rows: i32,
  j0: i32,
  columns: i32,
  groupPanels: i32,
  r: usize,
  ld: usize,
  tau: usize,
): void {
  for (let j = 0; j < columns; j++) {
    const column = v + <usize>(j / 6) * panelBytes + <usize>(j % 6) * 8;
    const rRow = r + <usize>(j0 + j) * ld + (<usize>j0 << 3);
    const diagonal = rRow + (<usize>j << 3);
    const factor = reflector(column, rows, diagonal);
    store<f64>(tau + (<usize>j << 3), factor);
    if (factor == 0) continue;
    for (let p = j / 6; p < groupPanels; p++) {
      applyReflector(column, v + <usize>p * panelBytes, rows, factor, rRow + <usize>p * 48, p == j / 6 ? j % 6 : -1);
    }
  }
}

/**
 * v = x / (alpha - beta) in place of the column x, R[j][j] = beta; returns tau = (beta - alpha) /
 * beta, 0 for a column that is 0.
 */
function reflector(column: usize, rows: i32, diagonal: usize): f64 {
  const end = column + <usize>rows * 48;
  let squares: f64 = 0;
  for (let x = column; x < end; x += 48) squares += load<f64>(x) * load<f64>(x);
  if (squares == 0) {
    for (let x = column; x < end; x += 48) store<f64>(x, 0);
    return 0;
  }
  const alpha = load<f64>(diagonal);
  const norm = Math.sqrt(alpha * alpha + squares);
  const beta = alpha >= 0 ? -norm : norm;
  for (let x = column; x < end; x += 48) store<f64>(x, load<f64>(x) / (alpha - beta));
  store<f64>(diagonal, beta);
  return (beta - alpha) / beta;
}

/**
 * Applies one reflection to a panel of six columns and their six values of R's row; columns up to
 * `done` are left as they are.
 */
function applyReflector(column: usize, panel: usize, rows: i32, tau: f64, rRow: usize, done: i32): void {
  let c0 = v128.load(rRow);
  let c1 = v128.load(rRow, 16);
  let c2 = v128.load(rRow, 32);
  const end = column + <usize>rows * 48;
  let b = panel;
  for (let x = column; x < end; x += 48) {
    const value = v128.load64_splat(x);
    c0 = f64x2.add(c0, f64x2.mul(v128.load(b), value));
    c1 = f64x2.add(c1, f64x2.mul(v128.load(b, 16), value));
    c2 = f64x2.add(c2, f64x2.mul(v128.load(b, 32), value));
    b += 48;
  }
  const factor = f64x2.splat(tau);
  const d0 = keepAfter(f64x2.mul(c0, factor), 0, done);
  const d1 = keepAfter(f64x2.mul(c1, factor), 2, done);
  const d2 = keepAfter(f64x2.mul(c2, factor), 4, done);
  v128.store(rRow, f64x2.sub(v128.load(rRow), d0));
  v128.store(rRow, f64x2.sub(v128.load(rRow, 16), d1), 16);
  v128.store(rRow, f64x2.sub(v128.load(rRow, 32), d2), 32);
  b = panel;
  for (let x = column; x < end; x += 48) {
    const value = v128.load64_splat(x);
    v128.store(b, f64x2.sub(v128.load(b), f64x2.mul(d0, value)));
    v128.store(b, f64x2.sub(v128.load(b, 16), f64x2.mul(d1, value)), 16);
    v128.store(b, f64x2.sub(v128.load(b, 32), f64x2.mul(d2, value)), 32);
    b += 48;
  }
}

// @ts-ignore: decorator
@inline
function keepAfter(pair: v128, lane: i32, done: i32): v128 {
  if (lane > done) return pair;
  return lane + 1 > done ? f64x2.replace_lane(pair, 0, 0) : f64x2.splat(0);
}

/** products[k][i] = v_k . v_i over the rows of the block, for all k and i of the group. */
function multiplyReflectors(v: usize, panelBytes: usize, rows: i32, groupPanels: i32, products: usize): void {
  memory.fill(products, 0, groupColumns * groupColumns * 8);
  for (let k = 0; k < groupPanels * 6; k += 2) {
    const a = v + <usize>(k / 6) * panelBytes + <usize>(k % 6) * 8;
    for (let p = k / 6; p < groupPanels; p++) {
      addProducts(a, 48, v + <usize>p * panelBytes, rows, products + <usize>(k * groupColumns + p * 6) * 8, groupColumns * 8);
    }
  }
}

/**
 * Copies v with the values of two rows together: (row pair, column, row of the pair). A missing
 * last row is 0.
 */
function copyPairs(v: usize, panelBytes: usize, rows: i32, columns: i32, pairs: usize): void {
  let to = pairs;
  for (let t = 0; t < rows; t += 2) {
    for (let k = 0; k < columns; k++) {
      const from = v + <usize>(k / 6) * panelBytes + <usize>(k % 6) * 8 + <usize>t * 48;
      store<f64>(to, load<f64>(from));
      store<f64>(to, t + 1 < rows ? load<f64>(from, 48) : 0, 8);
      to += 16;
    }
  }
}

/**
 * D[i] = tau_i (W[i] - sum over k < i of (v_k . v_i) D[k]) in place of W, and R[i] -= D[i], for six
 * columns.
 */
function solveReflections(w: usize, columns: i32, products: usize, tau: usize, rRows: usize, ld: usize): void {
  for (let i = 0; i < columns; i++) {
    const at = w + <usize>i * 48;
    let c0 = v128.load(at);
    let c1 = v128.load(at, 16);
    let c2 = v128.load(at, 32);
    let product = products + (<usize>i << 3);
    for (let d = w; d < at; d += 48) {
      const factor = v128.load64_splat(product);
      c0 = f64x2.sub(c0, f64x2.mul(v128.load(d), factor));
      c1 = f64x2.sub(c1, f64x2.mul(v128.load(d, 16), factor));
      c2 = f64x2.sub(c2, f64x2.mul(v128.load(d, 32), factor));
      product += groupColumns * 8;
    }
    const factor = v128.load64_splat(tau + (<usize>i << 3));
    c0 = f64x2.mul(c0, factor);
    c1 = f64x2.mul(c1, factor);
    c2 = f64x2.mul(c2, factor);
    v128.store(at, c0);
    v128.store(at, c1, 16);
    v128.store(at, c2, 32);
    const row = rRows + <usize>i * ld;
    v128.store(row, f64x2.sub(v128.load(row), c0));
    v128.store(row, f64x2.sub(v128.load(row, 16), c1), 16);
    v128.store(row, f64x2.sub(v128.load(row, 32), c2), 32);
  }
}
