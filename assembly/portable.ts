// tanh over arrays, and the hashes by which docs/numerics.md (rule 4) pins its bits. The functions
// over vectors are in vector-math.
import { tanhF32x4, tanhF64x2 } from "./vector-math";

/** tanh of `count` binary32 values from `source` to `target`, which may be the same. */
export function tanhArray32(source: usize, target: usize, count: i32): void {
  const vectors = source + ((<usize>count & ~3) << 2);
  const end = source + (<usize>count << 2);
  for (; source < vectors; source += 16, target += 16) v128.store(target, tanhF32x4(v128.load(source)));
  for (; source < end; source += 4, target += 4) v128.store_lane<u32>(target, tanhF32x4(v128.load32_zero(source)), 0);
}

/** tanh of `count` binary64 values from `source` to `target`, which may be the same. */
export function tanhArray64(source: usize, target: usize, count: i32): void {
  const vectors = source + ((<usize>count & ~1) << 3);
  const end = source + (<usize>count << 3);
  for (; source < vectors; source += 16, target += 16) v128.store(target, tanhF64x2(v128.load(source)));
  if (source < end) v128.store_lane<u64>(target, tanhF64x2(v128.load64_zero(source)), 0);
}

// @ts-ignore: decorator
@inline
function hashed(hash: i32, word: i32): i32 {
  return (hash ^ word) * 0x01000193;
}

/**
 * The hash of rule 4 over the binary32 bit patterns `from` (included) to `to` (excluded), going on
 * from `hash`.
 */
export function tanhHash32(from: i32, to: i32, hash: i32): i32 {
  let i = from;
  for (; i <= to - 4; i += 4) {
    const value = tanhF32x4(i32x4.add(i32x4.splat(i), i32x4(0, 1, 2, 3)));
    hash = hashed(hash, i32x4.extract_lane(value, 0));
    hash = hashed(hash, i32x4.extract_lane(value, 1));
    hash = hashed(hash, i32x4.extract_lane(value, 2));
    hash = hashed(hash, i32x4.extract_lane(value, 3));
  }
  for (; i < to; i++) hash = hashed(hash, i32x4.extract_lane(tanhF32x4(i32x4.splat(i)), 0));
  return hash;
}

/**
 * The hash of rule 4 over the binary64 samples `from` (included) to `to` (excluded), going on from
 * `hash`; low words first.
 */
export function tanhHash64(from: i32, to: i32, hash: i32): i32 {
  for (let i = from; i < to; i++) {
    const value = tanhF64x2(i64x2.splat(0x3e40000000000000 + <i64>i * 0x1f4041357));
    hash = hashed(hash, i32x4.extract_lane(value, 0));
    hash = hashed(hash, i32x4.extract_lane(value, 1));
  }
  return hash;
}
