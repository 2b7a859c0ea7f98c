// Products of a dense matrix in panels of rows with one vector or with two, in the order of
// docs/numerics.md, rule 1. packages/numerics/src/wasm/layout.ts packs the panels.

/**
 * Scratch for the partial sums that wait in the summation tree: 6 levels of one panel, a block for
 * each thread.
 */
export const treeAddress: usize = 1024;
export const treeBytes: usize = 6 * 96;

// @ts-ignore: decorator
@inline
export function reversedBits5(i: i32): i32 {
  return ((i & 1) << 4) | ((i & 2) << 2) | (i & 4) | ((i & 8) >> 2) | ((i & 16) >> 4);
}

// @ts-ignore: decorator
@inline
export function reversedBits3(i: i32): i32 {
  return ((i & 1) << 2) | (i & 2) | ((i & 4) >> 2);
}

/**
 * The products of `count` panels with x, which lies in 32 parts of `perPartial` numbers. A panel is
 * six vectors of rows (24 in binary32, 12 in binary64), stored partial sum by partial sum in
 * bit-reversed order. The butterfly is then a stack of additions: a partial joins the one that
 * waits below it. Six accumulators, since V8 spills from the eighth on. `split` and `pair` are
 * constants. `split`: three vectors of a panel come from each of two streams, w and `second`, since
 * a core fetches two streams from memory faster than one. `pair`: a panel is three vectors of rows,
 * x has pairs of numbers, and the products with the second ones go to `second`.
 */
// @ts-ignore: decorator
@inline
export function panelProducts<T extends number>(
  w: usize,
  second: usize,
  x: usize,
  z: usize,
  tree: usize,
  columns: i32,
  perPartial: i32,
  count: i32,
  split: bool,
  pair: bool,
): void {
  const step: usize = pair ? 2 * sizeof<T>() : sizeof<T>();
  const part = <usize>perPartial * step;
  for (; count > 0; count--) {
    let top = tree;
    for (let i = 0; i < 32; i++) {
      let k = x + <usize>i * part;
      const end = k + (<usize>(columns + 31 - reversedBits5(i)) >> 5) * step;
      let a0 = i64x2.splat(0);
      let a1 = a0;
      let a2 = a0;
      let a3 = a0;
      let a4 = a0;
      let a5 = a0;
      for (; k < end; k += step) {
        const xk = v128.load_splat<T>(k);
        const yk = pair ? v128.load_splat<T>(k, sizeof<T>()) : xk;
        a0 = v128.add<T>(a0, v128.mul<T>(v128.load(w), xk));
        a1 = v128.add<T>(a1, v128.mul<T>(v128.load(w, 16), xk));
        a2 = v128.add<T>(a2, v128.mul<T>(v128.load(w, 32), xk));
        a3 = v128.add<T>(a3, v128.mul<T>(pair ? v128.load(w) : split ? v128.load(second) : v128.load(w, 48), yk));
        a4 = v128.add<T>(a4, v128.mul<T>(pair ? v128.load(w, 16) : split ? v128.load(second, 16) : v128.load(w, 64), yk));
        a5 = v128.add<T>(a5, v128.mul<T>(pair ? v128.load(w, 32) : split ? v128.load(second, 32) : v128.load(w, 80), yk));
        w += split || pair ? 48 : 96;
        if (split) second += 48;
      }
      for (let m = i; m & 1; m >>= 1) {
        top -= 96;
        a0 = v128.add<T>(v128.load(top), a0);
        a1 = v128.add<T>(v128.load(top, 16), a1);
        a2 = v128.add<T>(v128.load(top, 32), a2);
        a3 = v128.add<T>(v128.load(top, 48), a3);
        a4 = v128.add<T>(v128.load(top, 64), a4);
        a5 = v128.add<T>(v128.load(top, 80), a5);
      }
      v128.store(top, a0);
      v128.store(top, a1, 16);
      v128.store(top, a2, 32);
      v128.store(top, a3, 48);
      v128.store(top, a4, 64);
      v128.store(top, a5, 80);
      top += 96;
    }
    for (let vector: usize = 0; vector < 48; vector += 16) {
      v128.store(z + vector, v128.load(tree + vector));
      v128.store((pair ? second : z + 48) + vector, v128.load(tree + vector, 48));
    }
    z += pair ? 48 : 96;
    if (pair) second += 48;
  }
}

/**
 * Copies numbers first (a multiple of 32) to last of a vector to where `panelProducts` reads them:
 * partial sum by partial sum, each `apart` numbers from the one before.
 */
// @ts-ignore: decorator
@inline
export function permute<T extends number>(source: usize, target: usize, perPartial: i32, first: i32, last: i32, apart: usize): void {
  for (let lane = 0; lane < 32; lane++) {
    let to = target + (<usize>reversedBits5(lane) * <usize>perPartial + <usize>(first >> 5)) * apart * sizeof<T>();
    for (let k = first + lane; k < last; k += 32) {
      store<T>(to, load<T>(source + <usize>k * sizeof<T>()));
      to += apart * sizeof<T>();
    }
  }
}

/** The value in every lane of a vector of T. */
// @ts-ignore: decorator
@inline
export function splat<T extends number>(value: f64): v128 {
  return sizeof<T>() == 4 ? f32x4.splat(<f32>value) : f64x2.splat(value);
}
