// Random matrices in bulk (docs/numerics.md, rule 7): the draws of whole rows, and the columns that
// geometric skipping selects. Single draws are packages/numerics/src/random.ts.
import { portableLogF64x2, storeSinCosF64x2 } from "./vector-math";

/** So many pairs of blocks become numbers at a time: they stay in a cache. */
const pairsAtOnce: i32 = 128;
const words: usize = 32768;
const scratch: usize = words + 4096;

let key: v128 = i32x4.splat(0);
let stream: i32 = 0;
let purpose: i32 = 0;

/** The stream that the functions below draw from. */
export function drawFrom(key0: i32, key1: i32, ofStream: i32, ofPurpose: i32): void {
  key = i32x4.replace_lane(i32x4.replace_lane(i32x4.splat(key0), 2, key1), 3, key1);
  stream = ofStream;
  purpose = ofPurpose;
}

/**
 * Philox4x32-10 of blocks `first`, `first` + 1, ... of a row, a multiple of four pairs. A pair takes
 * 32 bytes: words 0 of its two blocks and words 2, then words 1 and words 3. Four pairs at a time,
 * since a round waits for the one before it.
 */
function philoxPairs(row: i32, first: i32, pairs: i32): void {
  const multipliers = i32x4(0xd2511f53, 0xd2511f53, 0xcd9e8d57, 0xcd9e8d57);
  const steps = i32x4(0x9e3779b9, 0x9e3779b9, 0xbb67ae85, 0xbb67ae85);
  const odd = i32x4.replace_lane(i32x4.replace_lane(i32x4.splat(row), 2, purpose), 3, purpose);
  let even = i32x4.replace_lane(i32x4.replace_lane(i32x4.add(i32x4.splat(first), i32x4(0, 1, 0, 0)), 2, stream), 3, stream);
  const end = words + (<usize>pairs << 5);
  for (let at = words; at < end; at += 128) {
    let k = key;
    let v0 = even;
    let w0 = odd;
    let v1 = i32x4.add(even, i32x4(2, 2, 0, 0));
    let w1 = odd;
    let v2 = i32x4.add(even, i32x4(4, 4, 0, 0));
    let w2 = odd;
    let v3 = i32x4.add(even, i32x4(6, 6, 0, 0));
    let w3 = odd;
    for (let round = 0; round < 10; round++) {
      const low0 = i64x2.extmul_low_i32x4_u(v0, multipliers);
      const high0 = i64x2.extmul_high_i32x4_u(v0, multipliers);
      v0 = v128.xor(v128.xor(v128.shuffle<i32>(high0, low0, 1, 3, 5, 7), w0), k);
      w0 = v128.shuffle<i32>(high0, low0, 0, 2, 4, 6);
      const low1 = i64x2.extmul_low_i32x4_u(v1, multipliers);
      const high1 = i64x2.extmul_high_i32x4_u(v1, multipliers);
      v1 = v128.xor(v128.xor(v128.shuffle<i32>(high1, low1, 1, 3, 5, 7), w1), k);
      w1 = v128.shuffle<i32>(high1, low1, 0, 2, 4, 6);
      const low2 = i64x2.extmul_low_i32x4_u(v2, multipliers);
      const high2 = i64x2.extmul_high_i32x4_u(v2, multipliers);
      v2 = v128.xor(v128.xor(v128.shuffle<i32>(high2, low2, 1, 3, 5, 7), w2), k);
      w2 = v128.shuffle<i32>(high2, low2, 0, 2, 4, 6);
      const low3 = i64x2.extmul_low_i32x4_u(v3, multipliers);
      const high3 = i64x2.extmul_high_i32x4_u(v3, multipliers);
      v3 = v128.xor(v128.xor(v128.shuffle<i32>(high3, low3, 1, 3, 5, 7), w3), k);
      w3 = v128.shuffle<i32>(high3, low3, 0, 2, 4, 6);
      k = i32x4.add(k, steps);
    }
    v128.store(at, v0, 0);
    v128.store(at, w0, 16);
    v128.store(at, v1, 32);
    v128.store(at, w1, 48);
    v128.store(at, v2, 64);
    v128.store(at, w2, 80);
    v128.store(at, v3, 96);
    v128.store(at, w3, 112);
    even = i32x4.add(even, i32x4(8, 8, 0, 0));
  }
}

/** U of the lower two lanes of the words at `at`, or of the upper two. */
// @ts-ignore: decorator
@inline
function uniformAt(at: usize, upper: bool): v128 {
  const v = i32x4.shr_u(v128.load(at), 5);
  const w = i32x4.shr_u(v128.load(at, 16), 6);
  const high = f64x2.convert_low_i32x4_s(upper ? v128.shuffle<i32>(v, v, 2, 3, 2, 3) : v);
  const low = f64x2.convert_low_i32x4_s(upper ? v128.shuffle<i32>(w, w, 2, 3, 2, 3) : w);
  return f64x2.mul(f64x2.add(f64x2.mul(high, f64x2.splat(67108864)), low), f64x2.splat(1.1102230246251565e-16));
}

/** A value by its distribution: 0 U, 1 2U - 1, 2 bernoulli. */
// @ts-ignore: decorator
@inline
function valueOf(u: v128, kind: i32): v128 {
  if (kind == 0) return u;
  if (kind == 1) return f64x2.sub(f64x2.add(u, u), f64x2.splat(1));
  return v128.bitselect(f64x2.splat(-1), f64x2.splat(1), f64x2.lt(u, f64x2.splat(0.5)));
}

// @ts-ignore: decorator
@inline
function uniformValues(kind: i32, pairs: i32, out: usize): usize {
  const end = words + (<usize>pairs << 5);
  for (let at = words; at < end; at += 32, out += 32) {
    const first = valueOf(uniformAt(at, false), kind);
    const second = valueOf(uniformAt(at, true), kind);
    v128.store(out, v128.shuffle<i64>(first, second, 0, 2));
    v128.store(out, v128.shuffle<i64>(first, second, 1, 3), 16);
  }
  return out;
}

function normalValues(pairs: i32, out: usize): void {
  const end = words + (<usize>pairs << 5);
  for (let at = words; at < end; at += 32, out += 16) {
    const log = portableLogF64x2(f64x2.sub(f64x2.splat(1), uniformAt(at, false)));
    storeSinCosF64x2(f64x2.mul(f64x2.splat(6.283185307179586), uniformAt(at, true)), scratch);
    v128.store(out, f64x2.mul(f64x2.sqrt(f64x2.mul(f64x2.splat(-2), log)), v128.load(scratch, 16)));
  }
}

/**
 * Draws `count` values of a row to `out`: kind 0 uniform, 1 2U - 1, 2 bernoulli, 3 normal. Up to 15
 * more are written behind them.
 */
export function drawRow(kind: i32, row: i32, count: i32, out: usize): void {
  const inPair = kind == 3 ? 2 : 4;
  for (let done = 0; done < count; done += pairsAtOnce * inPair, out += <usize>(pairsAtOnce * inPair) << 3) {
    const pairs = min(pairsAtOnce, ((count - done + inPair * 4 - 1) / (inPair * 4)) << 2);
    philoxPairs(row, kind == 3 ? done : done >>> 1, pairs);
    if (kind == 3) normalValues(pairs, out);
    else if (kind == 0) uniformValues(0, pairs, out);
    else if (kind == 1) uniformValues(1, pairs, out);
    else uniformValues(2, pairs, out);
  }
}

/** The values of rows whose entries end at `offsets`, one row behind the other. */
export function drawRows(kind: i32, firstRow: i32, rows: i32, offsets: usize, out: usize): void {
  for (let r = 0; r < rows; r++) {
    const count = load<i32>(offsets + (<usize>r << 2), 4) - load<i32>(offsets + (<usize>r << 2));
    drawRow(kind, firstRow + r, count, out);
    out += <usize>count << 3;
  }
}

/** Rows of `count` values each, one behind the other. */
export function drawFullRows(kind: i32, firstRow: i32, rows: i32, count: i32, out: usize): void {
  for (let r = firstRow; r < firstRow + rows; r++, out += <usize>count << 3) drawRow(kind, r, count, out);
}

/**
 * The positions below `candidates` that rows select, one row behind the other from `out` to `end`;
 * where each row ends to `offsets`, whose first value is given. With `skipped` positions from the
 * row's number less `base` on are shifted by one; `base` is added to all. Whether they fit.
 */
export function drawPositions(
  firstRow: i32,
  rows: i32,
  logMiss: f64,
  candidates: i32,
  base: i32,
  skipped: bool,
  offsets: usize,
  out: usize,
  end: usize,
): bool {
  const first = out - (<usize>load<i32>(offsets) << 2);
  for (let r = firstRow; r < firstRow + rows; r++) {
    out = positionsOfRow(r, logMiss, candidates, base, skipped ? r - base : candidates, out, end);
    if (out == 0) return false;
    offsets += 4;
    store<i32>(offsets, <i32>((out - first) >> 2));
  }
  return true;
}

/** 0 if they do not fit. */
function positionsOfRow(row: i32, logMiss: f64, candidates: i32, base: i32, skip: i32, out: usize, end: usize): usize {
  const miss = f64x2.splat(logMiss);
  const last = <f64>candidates;
  let position: f64 = -1;
  for (let block = 0; position < last; block += 8) {
    if (out + 64 > end) return 0;
    philoxPairs(row, block, 4);
    uniformValues(0, 4, scratch);
    for (let i: usize = 0; i < 128; i += 16) {
      const log = portableLogF64x2(f64x2.sub(f64x2.splat(1), v128.load(scratch + i)));
      v128.store(scratch + i, f64x2.add(f64x2.floor(f64x2.div(log, miss)), f64x2.splat(1)));
    }
    for (let i: usize = 0; i < 128; i += 8) {
      position += load<f64>(scratch + i);
      if (position >= last) break;
      const column = <i32>position;
      store<i32>(out, column + base + <i32>(column >= skip));
      out += 4;
    }
  }
  return out;
}

/**
 * The sum of each of `rows` rows of `cols` values, and of their squares, columns rising from +0, to
 * `sums` and `squares`. Four rows at a time: a sum waits for the one before it.
 */
export function sumRows(source: usize, rows: i32, cols: i32, sums: usize, squares: usize): void {
  const bytes = <usize>cols << 3;
  for (let r = 0; r < rows; r += 4) {
    const second = r + 1 < rows ? source + bytes : source;
    const third = r + 2 < rows ? second + bytes : source;
    const fourth = r + 3 < rows ? third + bytes : source;
    let sums01 = f64x2.splat(0);
    let sums23 = f64x2.splat(0);
    let squares01 = f64x2.splat(0);
    let squares23 = f64x2.splat(0);
    for (let at: usize = 0; at < bytes; at += 8) {
      const values01 = v128.load64_lane(second + at, v128.load64_zero(source + at), 1);
      const values23 = v128.load64_lane(fourth + at, v128.load64_zero(third + at), 1);
      sums01 = f64x2.add(sums01, values01);
      sums23 = f64x2.add(sums23, values23);
      squares01 = f64x2.add(squares01, f64x2.mul(values01, values01));
      squares23 = f64x2.add(squares23, f64x2.mul(values23, values23));
    }
    v128.store(sums, sums01);
    v128.store(sums, sums23, 16);
    v128.store(squares, squares01);
    v128.store(squares, squares23, 16);
    sums += 32;
    squares += 32;
    source += 4 * bytes;
  }
}

/** Values times a factor, rounded to binary32. */
function scaleTo32(source: usize, count: i32, factor: f64, out: usize): void {
  const by = f64x2.splat(factor);
  const end = source + (<usize>count << 3);
  for (const whole = source + (<usize>(count & ~3) << 3); source < whole; source += 32, out += 16) {
    const low = f32x4.demote_f64x2_zero(f64x2.mul(v128.load(source), by));
    const high = f32x4.demote_f64x2_zero(f64x2.mul(v128.load(source, 16), by));
    v128.store(out, v128.shuffle<i64>(low, high, 0, 2));
  }
  for (; source < end; source += 8, out += 4) store<f32>(out, <f32>(load<f64>(source) * factor));
}

function scaleTo64(source: usize, count: i32, factor: f64, out: usize): void {
  const by = f64x2.splat(factor);
  for (const whole = source + (<usize>(count & ~1) << 3); source < whole; source += 16, out += 16)
    v128.store(out, f64x2.mul(v128.load(source), by));
  if (count & 1) store<f64>(out, load<f64>(source) * factor);
}

/**
 * Rows of draws times a factor, rounded to 4 or 8 bytes, to rows of `cols` values. If `skipped`,
 * they have one draw less, and a 0 on the diagonal.
 */
export function placeRows(source: usize, firstRow: i32, rows: i32, cols: i32, skipped: bool, factor: f64, bytes: i32, out: usize): void {
  for (let r = firstRow; r < firstRow + rows; r++) {
    const before = skipped ? r : cols;
    const after = skipped ? cols - 1 - r : 0;
    const behind = out + <usize>((before + 1) * bytes);
    const rest = source + (<usize>before << 3);
    if (bytes == 4) {
      scaleTo32(source, before, factor, out);
      if (skipped) store<f32>(behind - 4, 0);
      scaleTo32(rest, after, factor, behind);
    } else {
      scaleTo64(source, before, factor, out);
      if (skipped) store<f64>(behind - 8, 0);
      scaleTo64(rest, after, factor, behind);
    }
    source = rest + (<usize>after << 3);
    out += <usize>(cols * bytes);
  }
}

/**
 * Rows side by side, as panels have them (packages/numerics/src/wasm/layout.ts): `count` rows of
 * `cols` values of 4 bytes become `cols` groups of `count` values, the one of column k at
 * starts[k mod 32] + floor(k / 32). `count` is a multiple of 4.
 */
export function packRows32(source: usize, cols: i32, count: i32, starts: usize, out: usize): void {
  const bytes = <usize>cols << 2;
  for (let r = 0; r < count; r += 4, source += bytes << 2, out += 16) {
    let k = 0;
    for (let at = source; k + 4 <= cols; k += 4, at += 16) {
      const a = v128.load(at);
      const b = v128.load(at + bytes);
      const c = v128.load(at + 2 * bytes);
      const d = v128.load(at + 3 * bytes);
      const low0 = v128.shuffle<i32>(a, b, 0, 4, 1, 5);
      const high0 = v128.shuffle<i32>(a, b, 2, 6, 3, 7);
      const low1 = v128.shuffle<i32>(c, d, 0, 4, 1, 5);
      const high1 = v128.shuffle<i32>(c, d, 2, 6, 3, 7);
      v128.store(placeOf(k, count << 2, starts, out), v128.shuffle<i64>(low0, low1, 0, 2));
      v128.store(placeOf(k + 1, count << 2, starts, out), v128.shuffle<i64>(low0, low1, 1, 3));
      v128.store(placeOf(k + 2, count << 2, starts, out), v128.shuffle<i64>(high0, high1, 0, 2));
      v128.store(placeOf(k + 3, count << 2, starts, out), v128.shuffle<i64>(high0, high1, 1, 3));
    }
    for (; k < cols; k++) {
      const place = placeOf(k, count << 2, starts, out);
      for (let i: usize = 0; i < 4; i++) store<u32>(place + (i << 2), load<u32>(source + i * bytes + (<usize>k << 2)));
    }
  }
}

/** The same of 8 bytes; `count` is even. */
export function packRows64(source: usize, cols: i32, count: i32, starts: usize, out: usize): void {
  const bytes = <usize>cols << 3;
  for (let r = 0; r < count; r += 2, source += bytes << 1, out += 16) {
    for (let k = 0; k < cols; k++) {
      const at = source + (<usize>k << 3);
      v128.store(placeOf(k, count << 3, starts, out), v128.load64_lane(at + bytes, v128.load64_zero(at), 1));
    }
  }
}

// @ts-ignore: decorator
@inline
function placeOf(k: i32, groupBytes: i32, starts: usize, out: usize): usize {
  return out + <usize>((load<i32>(starts + (<usize>(k & 31) << 2)) + (k >> 5)) * groupBytes);
}
