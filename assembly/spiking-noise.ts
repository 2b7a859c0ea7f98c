// What is drawn for spiking neurons in a step: Philox blocks, four at a time, for a current and for
// background spikes.
import { Fields } from "./spiking-neurons";

let words0: v128 = i64x2.splat(0);
let words1: v128 = i64x2.splat(0);
let words2: v128 = i64x2.splat(0);
let words3: v128 = i64x2.splat(0);

/** The high halves of the products of unsigned 32-bit lanes. */
// @ts-ignore: decorator
@inline
function multiplyHigh(a: v128, b: v128): v128 {
  const low = i64x2.extmul_low_i32x4_u(a, b);
  const high = i64x2.extmul_high_i32x4_u(a, b);
  return v128.shuffle<i32>(low, high, 1, 3, 5, 7);
}

/**
 * Blocks with counters (step, block + lane, sequence, kind); wordsN holds the words of neurons 4
 * (block + N) to 4 (block + N) + 3.
 */
function philoxBlocks(key0: u32, key1: u32, step: u32, block: u32, sequence: u32, kind: u32): void {
  const multiplier0 = i32x4.splat(<i32>0xd2511f53);
  const multiplier1 = i32x4.splat(<i32>0xcd9e8d57);
  let c0 = i32x4.splat(step);
  let c1 = i32x4.add(i32x4.splat(block), i32x4(0, 1, 2, 3));
  let c2 = i32x4.splat(sequence);
  let c3 = i32x4.splat(kind);
  for (let round = 0; round < 10; round++) {
    const high0 = multiplyHigh(multiplier0, c0);
    const low0 = i32x4.mul(multiplier0, c0);
    const high1 = multiplyHigh(multiplier1, c2);
    const low1 = i32x4.mul(multiplier1, c2);
    c0 = v128.xor(v128.xor(high1, c1), i32x4.splat(key0));
    c1 = low1;
    c2 = v128.xor(v128.xor(high0, c3), i32x4.splat(key1));
    c3 = low0;
    key0 += 0x9e3779b9;
    key1 += 0xbb67ae85;
  }
  const a = v128.shuffle<i32>(c0, c1, 0, 4, 1, 5);
  const b = v128.shuffle<i32>(c2, c3, 0, 4, 1, 5);
  const c = v128.shuffle<i32>(c0, c1, 2, 6, 3, 7);
  const d = v128.shuffle<i32>(c2, c3, 2, 6, 3, 7);
  words0 = v128.shuffle<i32>(a, b, 0, 1, 4, 5);
  words1 = v128.shuffle<i32>(a, b, 2, 3, 6, 7);
  words2 = v128.shuffle<i32>(c, d, 0, 1, 4, 5);
  words3 = v128.shuffle<i32>(c, d, 2, 3, 6, 7);
}

/** The sum of the four bytes of each lane, less 510. */
// @ts-ignore: decorator
@inline
function byteSums(words: v128): v128 {
  return i32x4.sub(i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(words)), i32x4.splat(510));
}

// @ts-ignore: decorator
@inline
function addNoiseOf<T extends number>(fields: Fields, drive: usize, words: v128): void {
  const sums = byteSums(words);
  if (sizeof<T>() == 4) {
    const noise = f32x4.mul(f32x4.splat(fields.noiseScale32), f32x4.convert_i32x4_s(sums));
    v128.store(drive, f32x4.add(v128.load(drive), noise));
  } else {
    const scale = f64x2.splat(fields.noiseScale64);
    v128.store(drive, f64x2.add(v128.load(drive), f64x2.mul(scale, f64x2.convert_low_i32x4_s(sums))));
    const upper = v128.shuffle<i32>(sums, sums, 2, 3, 0, 1);
    v128.store(drive, f64x2.add(v128.load(drive, 16), f64x2.mul(scale, f64x2.convert_low_i32x4_s(upper))), 16);
  }
}

/** drive += noiseScale (sum of four bytes - 510), by the words of kind 0. */
// @ts-ignore: decorator
@inline
export function addNoise<T extends number>(fields: Fields, step: u32, sequence: u32): void {
  const group = <usize>sizeof<T>() << 2;
  let drive = fields.drive;
  for (let block = 0; block < fields.paddedSize >> 2; block += 4) {
    philoxBlocks(fields.noiseKey0, fields.noiseKey1, step, block, sequence, 0);
    addNoiseOf<T>(fields, drive, words0);
    addNoiseOf<T>(fields, drive + group, words1);
    addNoiseOf<T>(fields, drive + 2 * group, words2);
    addNoiseOf<T>(fields, drive + 3 * group, words3);
    drive += 4 * group;
  }
}

// @ts-ignore: decorator
@inline
function addWeight(cells: usize, words: v128, chance: v128, weight: v128): void {
  v128.store(cells, i32x4.add(v128.load(cells), v128.and(weight, i32x4.lt_u(words, chance))));
}

/**
 * Adds a weight to the excitatory input that arrives now, if the word of kind 1 is below the
 * chance.
 */
export function backgroundSpikes(fields: Fields, arriving: usize, step: u32, sequence: u32, units: i32): void {
  const chance = i32x4.splat(<i32>fields.backgroundChance);
  const weight = i32x4.splat(units);
  let cells = arriving;
  for (let block = 0; block < fields.paddedSize >> 2; block += 4) {
    philoxBlocks(fields.noiseKey0, fields.noiseKey1, step, block, sequence, 1);
    addWeight(cells, words0, chance, weight);
    addWeight(cells + 16, words1, chance, weight);
    addWeight(cells + 32, words2, chance, weight);
    addWeight(cells + 48, words3, chance, weight);
    cells += 64;
  }
}
