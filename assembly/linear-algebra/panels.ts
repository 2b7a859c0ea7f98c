// Panels: the storage of blocks of rows that the tile kernels read. Six columns lie together, so
// element (row t, column c) is at P + ((c / 6) * stride + t) * 48 + (c % 6) * 8, where `stride` is
// the number of rows that fit into a panel.

/** Where row t, column c lies. */
// @ts-ignore: decorator
@inline
export function panelAddress(panels: usize, stride: i32, t: i32, c: i32): usize {
  return panels + <usize>((c / 6) * stride + t) * 48 + <usize>(c % 6) * 8;
}

/**
 * Copies columns [0, columns) of a row-major source into panel columns from `column0` on, binary32
 * promoted exactly.
 * `square`: 0 none, 1 every second column (1, 3, 5, ...), 2 all; squares are products in binary64.
 */
// @ts-ignore: decorator
@inline
function packColumns<T extends number>(source: usize, columns: i32, rows: i32, square: i32, panels: usize, stride: i32, row0: i32, column0: i32): void {
  const ld = <usize>columns * sizeof<T>();
  let c = 0;
  if (column0 % 6 == 0) {
    for (; c + 6 <= columns; c += 6) {
      let to = panelAddress(panels, stride, row0, column0 + c);
      let from = source + <usize>c * sizeof<T>();
      for (let t = 0; t < rows; t++) {
        v128.store(to, squared(loadPair<T>(from), square));
        v128.store(to, squared(loadPair<T>(from + 2 * sizeof<T>()), square), 16);
        v128.store(to, squared(loadPair<T>(from + 4 * sizeof<T>()), square), 32);
        to += 48;
        from += ld;
      }
    }
  }
  for (; c < columns; c++) {
    let to = panelAddress(panels, stride, row0, column0 + c);
    let from = source + <usize>c * sizeof<T>();
    const squares = square == 2 || (square == 1 && (c & 1) == 1);
    for (let t = 0; t < rows; t++) {
      const value = <f64>load<T>(from);
      store<f64>(to, squares ? value * value : value);
      to += 48;
      from += ld;
    }
  }
}

export function packColumns32(source: usize, columns: i32, rows: i32, square: i32, panels: usize, stride: i32, row0: i32, column0: i32): void {
  packColumns<f32>(source, columns, rows, square, panels, stride, row0, column0);
}
export function packColumns64(source: usize, columns: i32, rows: i32, square: i32, panels: usize, stride: i32, row0: i32, column0: i32): void {
  packColumns<f64>(source, columns, rows, square, panels, stride, row0, column0);
}

// @ts-ignore: decorator
@inline
function loadPair<T extends number>(from: usize): v128 {
  return sizeof<T>() == 4 ? f64x2.promote_low_f32x4(v128.load64_zero(from)) : v128.load(from);
}

/** Sets rows [row0, row0 + rows) of one column to a value. */
export function fillColumn(value: f64, rows: i32, panels: usize, stride: i32, row0: i32, column: i32): void {
  let to = panelAddress(panels, stride, row0, column);
  for (let t = 0; t < rows; t++) {
    store<f64>(to, value);
    to += 48;
  }
}

// @ts-ignore: decorator
@inline
function squared(pair: v128, square: i32): v128 {
  if (square == 0) return pair;
  const product = f64x2.mul(pair, pair);
  return square == 2 ? product : v128.shuffle<f64>(pair, product, 0, 3);
}
