// Random matrices in bulk (docs/numerics.md, rule 7): the draws of whole rows, and the columns that
// geometric skipping selects. Single draws are packages/numerics/src/random.ts.
import { cosF64x2, portableLogF64x2 } from "./vector-math";

/** So many pairs of blocks become normal numbers at a time: they stay in a cache. */
const pairsAtOnce: i32 = 128;
const scratch: usize = 32768;

let key0: u32 = 0;
let key1: u32 = 0;
let stream: u32 = 0;
let purpose: u32 = 0;

/** The stream that the functions below draw from. */
export function drawFrom(first: u32, second: u32, ofStream: u32, ofPurpose: u32): void {
  key0 = first;
  key1 = second;
  stream = ofStream;
  purpose = ofPurpose;
}

/**
 * Two uniform numbers of each of blocks `first`, `first` + 1, ... of a row, a multiple of four
 * pairs: U, or 2U - 1 if `signed`. A pair takes two vectors: words 0 and 2 of its blocks, and
 * words 1 and 3. Four pairs at a time, since a round waits for the one before it. Only c0 differs
 * between the blocks of a row, so half of the first two rounds is computed once.
 */
function uniformBlocks(row: i32, first: i32, pairs: i32, signed: bool, out: usize): void {
  const multipliers = i32x4(0xd2511f53, 0xcd9e8d57, 0xd2511f53, 0xcd9e8d57);
  const steps = i32x4(0x9e3779b9, 0xbb67ae85, 0x9e3779b9, 0xbb67ae85);
  const ofStream = <u64>0xcd9e8d57 * <u64>stream;
  const ofRow = <u64>0xd2511f53 * <u64>((<u32>(ofStream >> 32)) ^ row ^ key0);
  const inFirst = i32x4.splat(purpose ^ key1);
  const inSecond = i64x2.splat(<i64>(<u64>((<u32>ofStream) ^ (key0 + 0x9e3779b9)) | (<u64>((<u32>(ofRow >> 32)) ^ (key1 + 0xbb67ae85)) << 32)));
  const words3 = i64x2.splat(<i64>(ofRow << 32));
  const third = i64x2.splat(<i64>(<u64>(key0 + 0x3c6ef372) | (<u64>(key1 + 0x76cf5d0a) << 32)));
  const secondMultiplier = i32x4.splat(0xcd9e8d57);
  const lowWord = i64x2.splat(0xffffffff);
  const two = i64x2.splat(2 * 0xd2511f53);
  let products = i64x2.splat(<i64>(<u64>(<u32>first) * 0xd2511f53));
  products = i64x2.add(products, i64x2(0, 0xd2511f53));
  const end = out + (<usize>pairs << 5);
  for (; out < end; out += 128) {
    const products1 = i64x2.add(products, two);
    const products2 = i64x2.add(products1, two);
    const products3 = i64x2.add(products2, two);
    const highs01 = v128.xor(v128.shuffle<i32>(products, products1, 1, 3, 5, 7), inFirst);
    const highs23 = v128.xor(v128.shuffle<i32>(products2, products3, 1, 3, 5, 7), inFirst);
    const second0 = i64x2.extmul_low_i32x4_u(highs01, secondMultiplier);
    const second1 = i64x2.extmul_high_i32x4_u(highs01, secondMultiplier);
    const second2 = i64x2.extmul_low_i32x4_u(highs23, secondMultiplier);
    const second3 = i64x2.extmul_high_i32x4_u(highs23, secondMultiplier);
    let v0 = v128.xor(v128.or(i64x2.shr_u(second0, 32), i64x2.shl(products, 32)), inSecond);
    let w0 = v128.or(v128.and(second0, lowWord), words3);
    let v1 = v128.xor(v128.or(i64x2.shr_u(second1, 32), i64x2.shl(products1, 32)), inSecond);
    let w1 = v128.or(v128.and(second1, lowWord), words3);
    let v2 = v128.xor(v128.or(i64x2.shr_u(second2, 32), i64x2.shl(products2, 32)), inSecond);
    let w2 = v128.or(v128.and(second2, lowWord), words3);
    let v3 = v128.xor(v128.or(i64x2.shr_u(second3, 32), i64x2.shl(products3, 32)), inSecond);
    let w3 = v128.or(v128.and(second3, lowWord), words3);
    let k = third;
    for (let round = 2; round < 10; round++) {
      const low0 = i64x2.extmul_low_i32x4_u(v0, multipliers);
      const high0 = i64x2.extmul_high_i32x4_u(v0, multipliers);
      v0 = v128.xor(v128.shuffle<i32>(low0, high0, 3, 1, 7, 5), v128.xor(w0, k));
      w0 = v128.shuffle<i32>(low0, high0, 2, 0, 6, 4);
      const low1 = i64x2.extmul_low_i32x4_u(v1, multipliers);
      const high1 = i64x2.extmul_high_i32x4_u(v1, multipliers);
      v1 = v128.xor(v128.shuffle<i32>(low1, high1, 3, 1, 7, 5), v128.xor(w1, k));
      w1 = v128.shuffle<i32>(low1, high1, 2, 0, 6, 4);
      const low2 = i64x2.extmul_low_i32x4_u(v2, multipliers);
      const high2 = i64x2.extmul_high_i32x4_u(v2, multipliers);
      v2 = v128.xor(v128.shuffle<i32>(low2, high2, 3, 1, 7, 5), v128.xor(w2, k));
      w2 = v128.shuffle<i32>(low2, high2, 2, 0, 6, 4);
      const low3 = i64x2.extmul_low_i32x4_u(v3, multipliers);
      const high3 = i64x2.extmul_high_i32x4_u(v3, multipliers);
      v3 = v128.xor(v128.shuffle<i32>(low3, high3, 3, 1, 7, 5), v128.xor(w3, k));
      w3 = v128.shuffle<i32>(low3, high3, 2, 0, 6, 4);
      k = i32x4.add(k, steps);
    }
    storeUniform(v0, w0, signed, out);
    storeUniform(v1, w1, signed, out + 32);
    storeUniform(v2, w2, signed, out + 64);
    storeUniform(v3, w3, signed, out + 96);
    products = i64x2.add(products3, two);
  }
}

/** The four numbers of a pair of blocks. */
// @ts-ignore: decorator
@inline
function storeUniform(v: v128, w: v128, signed: bool, out: usize): void {
  v128.store(out, uniformOf(v128.shuffle<i32>(w, v, 0, 4, 1, 5), signed));
  v128.store(out, uniformOf(v128.shuffle<i32>(w, v, 2, 6, 3, 7), signed), 16);
}

/**
 * U = ((w0 >>> 5) 2^26 + (w1 >>> 6)) 2^-53, or 2U - 1, of lanes w0 2^32 + w1: both parts become
 * mantissas, above 1 and .5 or above 2 and 1, so that the sum is exact.
 */
// @ts-ignore: decorator
@inline
function uniformOf(bits: v128, signed: bool): v128 {
  const high = v128.or(v128.and(i64x2.shr_u(bits, 12), i64x2.splat(0xffffffe000000)), i64x2.splat(signed ? 0x4000000000000000 : 0x3ff0000000000000));
  const low = v128.or(v128.and(i64x2.shr_u(bits, 6), i64x2.splat(0x3ffffff)), i64x2.splat(signed ? 0x3ff0000000000000 : 0x3fe0000000000000));
  return f64x2.add(f64x2.sub(high, f64x2.splat(signed ? 4 : 1.5)), low);
}

/**
 * Normal numbers of blocks whose two uniform numbers each are at `scratch`. Two loops: the
 * operations of a number wait for one another, and more numbers are under way if each takes fewer.
 */
function normalValues(pairs: i32, out: usize): void {
  const end = scratch + (<usize>pairs << 5);
  let to = out;
  for (let at = scratch; at < end; at += 32, to += 16) {
    const log = portableLogF64x2(f64x2.sub(f64x2.splat(1), v128.load64_lane(at + 16, v128.load64_zero(at), 1)));
    v128.store(to, f64x2.sqrt(f64x2.mul(f64x2.splat(-2), log)));
  }
  for (let at = scratch; at < end; at += 32, out += 16) {
    const turns = v128.load64_lane(at + 24, v128.load64_zero(at + 8), 1);
    v128.store(out, f64x2.mul(v128.load(out), cosF64x2(f64x2.mul(f64x2.splat(6.283185307179586), turns), 0)));
  }
}

/** -1 and 1 of numbers below 0 and others. */
function signsOf(count: i32, values: usize): void {
  const end = values + (<usize>count << 3);
  for (; values < end; values += 16) {
    v128.store(values, v128.or(v128.and(v128.load(values), i64x2.splat(0x8000000000000000)), f64x2.splat(1)));
  }
}

/**
 * Draws `count` values of a row to `out`: kind 0 uniform, 1 2U - 1, 2 bernoulli, 3 normal. Up to 15
 * more are written behind them.
 */
export function drawRow(kind: i32, row: i32, count: i32, out: usize): void {
  if (kind < 3) {
    const pairs = ((count + 15) >>> 4) << 2;
    if (kind == 0) uniformBlocks(row, 0, pairs, false, out);
    else uniformBlocks(row, 0, pairs, true, out);
    if (kind == 2) signsOf(count, out);
    return;
  }
  for (let done = 0; done < count; done += 2 * pairsAtOnce, out += pairsAtOnce << 4) {
    const pairs = min(pairsAtOnce, ((count - done + 7) >>> 3) << 2);
    uniformBlocks(row, done, pairs, false, scratch);
    normalValues(pairs, out);
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
    uniformBlocks(row, block, 4, false, scratch);
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
export function scaleRows(source: usize, firstRow: i32, rows: i32, cols: i32, skipped: bool, factor: f64, bytes: i32, out: usize): void {
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
      v128.store(addressOf(k, count << 2, starts, out), v128.shuffle<i64>(low0, low1, 0, 2));
      v128.store(addressOf(k + 1, count << 2, starts, out), v128.shuffle<i64>(low0, low1, 1, 3));
      v128.store(addressOf(k + 2, count << 2, starts, out), v128.shuffle<i64>(high0, high1, 0, 2));
      v128.store(addressOf(k + 3, count << 2, starts, out), v128.shuffle<i64>(high0, high1, 1, 3));
    }
    for (; k < cols; k++) {
      const address = addressOf(k, count << 2, starts, out);
      for (let i: usize = 0; i < 4; i++) store<u32>(address + (i << 2), load<u32>(source + i * bytes + (<usize>k << 2)));
    }
  }
}

/** The same of 8 bytes; `count` is even. */
export function packRows64(source: usize, cols: i32, count: i32, starts: usize, out: usize): void {
  const bytes = <usize>cols << 3;
  for (let r = 0; r < count; r += 2, source += bytes << 1, out += 16) {
    for (let k = 0; k < cols; k++) {
      const at = source + (<usize>k << 3);
      v128.store(addressOf(k, count << 3, starts, out), v128.load64_lane(at + bytes, v128.load64_zero(at), 1));
    }
  }
}

// @ts-ignore: decorator
@inline
function addressOf(k: i32, groupBytes: i32, starts: usize, out: usize): usize {
  return out + <usize>((load<i32>(starts + (<usize>(k & 31) << 2)) + (k >> 5)) * groupBytes);
}
