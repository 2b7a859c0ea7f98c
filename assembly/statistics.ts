// What each neuron did over a sequence, four neurons at a time: the sums of docs/numerics.md, rule
// 10, a lane a neuron, so that no sum crosses lanes.

/** Neurons whose states lie beside one another, as binary64, in `packed`. */
const block: usize = 4;

/**
 * Statistics of rows of `size` states, one row a step, from `states` on; see writeStatistics in
 * src/model/classifier/statistics.ts. `levels` is count x size and `out` (6 + 2 count) x size in
 * binary64; `packed` takes 48 bytes a row.
 */
export function statistics32(states: usize, rows: i32, size: i32, levels: usize, count: i32, out: usize, packed: usize): void {
  for (let r = 0; r < size; r += <i32>block) {
    const lanes = min<i32>(<i32>block, size - r);
    const from = states + (<usize>r << 2);
    const stride = <usize>size << 2;
    const narrow = packed + (<usize>rows << 5);
    for (let t = 0, p = from, to = packed, beside = narrow; t < rows; t++, p += stride, to += 32, beside += 16) {
      let four: v128;
      if (lanes == block) four = v128.load(p);
      else {
        four = f32x4.splat(load<f32>(p));
        if (lanes > 1) four = f32x4.replace_lane(four, 1, load<f32>(p, 4));
        if (lanes > 2) four = f32x4.replace_lane(four, 2, load<f32>(p, 8));
      }
      v128.store(beside, four);
      v128.store(to, f64x2.promote_low_f32x4(four));
      v128.store(to, f64x2.promote_low_f32x4(i8x16.shuffle(four, four, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)), 16);
    }
    for (let half = 0; half < lanes; half += 2) sums(packed + (<usize>half << 3), rows, size, out, r + half, lanes - half);
    for (let q = 0; q < count; q++) shares32(narrow, rows, size, levels, count, q, out, r, lanes);
  }
}

/** The same of states in binary64. */
export function statistics64(states: usize, rows: i32, size: i32, levels: usize, count: i32, out: usize, packed: usize): void {
  for (let r = 0; r < size; r += <i32>block) {
    const lanes = min<i32>(<i32>block, size - r);
    const from = states + (<usize>r << 3);
    const stride = <usize>size << 3;
    if (lanes == block) {
      for (let t = 0, p = from, to = packed; t < rows; t++, p += stride, to += 32) {
        v128.store(to, v128.load(p));
        v128.store(to, v128.load(p, 16), 16);
      }
    } else {
      for (let t = 0, p = from, to = packed; t < rows; t++, p += stride, to += 32)
        for (let k = 0; k < <i32>block; k++) store<f64>(to + (<usize>k << 3), k < lanes ? load<f64>(p + (<usize>k << 3)) : 0);
    }
    for (let half = 0; half < lanes; half += 2) {
      const at = packed + (<usize>half << 3);
      sums(at, rows, size, out, r + half, lanes - half);
      for (let q = 0; q < count; q++) shares64(at, rows, size, levels, count, q, out, r + half, lanes - half);
    }
  }
}

/** Mean, deviation, largest, smallest, last and change of two neurons. */
function sums(packed: usize, rows: i32, size: i32, out: usize, r: i32, lanes: i32): void {
  let sum = f64x2.splat(0);
  let squares = f64x2.splat(0);
  let change = f64x2.splat(0);
  let before = v128.load(packed);
  let largest = before;
  let smallest = before;
  for (let t = 0, p = packed; t < rows; t++, p += 32) {
    const x = v128.load(p);
    sum = f64x2.add(sum, x);
    squares = f64x2.add(squares, f64x2.mul(x, x));
    change = f64x2.add(change, f64x2.abs(f64x2.sub(x, before)));
    largest = f64x2.max(largest, x);
    smallest = f64x2.min(smallest, x);
    before = x;
  }
  const n = f64x2.splat(<f64>rows);
  const mean = f64x2.div(sum, n);
  const variance = f64x2.max(f64x2.splat(0), f64x2.sub(f64x2.div(squares, n), f64x2.mul(mean, mean)));
  put(out, size, 0, r, lanes, mean);
  put(out, size, 1, r, lanes, f64x2.sqrt(variance));
  put(out, size, 2, r, lanes, largest);
  put(out, size, 3, r, lanes, smallest);
  put(out, size, 4, r, lanes, before);
  put(out, size, 5, r, lanes, f64x2.div(change, n));
}

/** Above and crossings of level q of four neurons. */
function shares32(packed: usize, rows: i32, size: i32, levels: usize, count: i32, q: i32, out: usize, r: i32, lanes: i32): void {
  const at = levels + ((<usize>q * <usize>size + <usize>r) << 3);
  let level = f32x4.splat(below(load<f64>(at)));
  if (lanes > 1) level = f32x4.replace_lane(level, 1, below(load<f64>(at, 8)));
  if (lanes > 2) level = f32x4.replace_lane(level, 2, below(load<f64>(at, 16)));
  if (lanes > 3) level = f32x4.replace_lane(level, 3, below(load<f64>(at, 24)));
  let above = i32x4.splat(0);
  let crossings = i32x4.splat(0);
  let was = f32x4.gt(v128.load(packed), level);
  for (let t = 0, p = packed; t < rows; t++, p += 16) {
    // All ones is -1.
    const is = f32x4.gt(v128.load(p), level);
    above = i32x4.sub(above, is);
    crossings = i32x4.sub(crossings, v128.xor(is, was));
    was = is;
  }
  const n = f64x2.splat(<f64>rows);
  for (let half = 0; half < lanes; half += 2) {
    put(out, size, 6 + q, r + half, lanes - half, f64x2.div(f64x2.convert_low_i32x4_s(above), n));
    put(out, size, 6 + count + q, r + half, lanes - half, f64x2.div(f64x2.convert_low_i32x4_s(crossings), n));
    above = i8x16.shuffle(above, above, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    crossings = i8x16.shuffle(crossings, crossings, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  }
}

/** The largest binary32 up to a level: a binary32 is above both or neither. */
function below(level: f64): f32 {
  const near = <f32>level;
  if (!(<f64>near > level)) return near;
  const bits = reinterpret<i32>(near);
  if (near > 0) return reinterpret<f32>(bits - 1);
  return near < 0 ? reinterpret<f32>(bits + 1) : reinterpret<f32>(0x80000001);
}

/** The same of two neurons in binary64. */
function shares64(packed: usize, rows: i32, size: i32, levels: usize, count: i32, q: i32, out: usize, r: i32, lanes: i32): void {
  const at = levels + ((<usize>q * <usize>size + <usize>r) << 3);
  const first = load<f64>(at);
  const level = f64x2.replace_lane(f64x2.splat(first), 1, lanes > 1 ? load<f64>(at, 8) : first);
  let above = i64x2.splat(0);
  let crossings = i64x2.splat(0);
  let was = f64x2.gt(v128.load(packed), level);
  for (let t = 0, p = packed; t < rows; t++, p += 32) {
    // All ones is -1.
    const is = f64x2.gt(v128.load(p), level);
    above = i64x2.sub(above, is);
    crossings = i64x2.sub(crossings, v128.xor(is, was));
    was = is;
  }
  const n = f64x2.splat(<f64>rows);
  put(out, size, 6 + q, r, lanes, f64x2.div(counted(above), n));
  put(out, size, 6 + count + q, r, lanes, f64x2.div(counted(crossings), n));
}

// @ts-ignore: decorator
@inline
function counted(counts: v128): v128 {
  return f64x2.replace_lane(f64x2.splat(<f64>i64x2.extract_lane(counts, 0)), 1, <f64>i64x2.extract_lane(counts, 1));
}

// @ts-ignore: decorator
@inline
function put(out: usize, size: i32, row: i32, r: i32, lanes: i32, values: v128): void {
  const at = out + ((<usize>row * <usize>size + <usize>r) << 3);
  store<f64>(at, f64x2.extract_lane(values, 0));
  if (lanes > 1) store<f64>(at, f64x2.extract_lane(values, 1), 8);
}
