// What drives the neurons of a liquid in a step (docs/numerics.md, rule 12): a row of currents, and
// what is drawn by Philox blocks, four at a time: a current, and background spikes.
import { splat } from "./network";

/** The fields that the host writes, in this order: numbers of 32 bits, then of 64 bits. */
@unmanaged
export class Liquid {
  /** Rows of inputs of the precision: amplitudes of spikes, or currents. */
  inputs: usize;
  inputSize: i32;
  /** W_in, column by column, of whole groups of 16 neurons; 0 if inputs are spikes. */
  inputWeights: usize;
  /** What the drive of each neuron is times. */
  driveGains: usize;
  key0: u32;
  key1: u32;
  sequence: u32;
  backgroundChance: u32;
  backgroundUnits: i32;
  unused: i32;
  /** The constant current. */
  current: f64;
  noiseScale: f64;
}

/** drive = current + W_in u in rising order. */
// @ts-ignore: decorator
@inline
export function inputDrive<T extends number>(liquid: Liquid, size: i32, input: usize, drives: usize): void {
  const column = <usize>((size + 15) & ~15) * sizeof<T>();
  const inputs = input + (liquid.inputWeights == 0 ? 0 : <usize>liquid.inputSize * sizeof<T>());
  for (let r: usize = 0; r < <usize>size * sizeof<T>(); r += 16) {
    let drive = splat<T>(liquid.current);
    let w = liquid.inputWeights + r;
    for (let u = input; u < inputs; u += sizeof<T>()) {
      drive = v128.add<T>(drive, v128.mul<T>(v128.load(w), v128.load_splat<T>(u)));
      w += column;
    }
    v128.store(drives + r, drive);
  }
}

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
function addNoiseOf<T extends number>(scale: v128, drive: usize, words: v128): void {
  const sums = byteSums(words);
  if (sizeof<T>() == 4) {
    v128.store(drive, f32x4.add(v128.load(drive), f32x4.mul(scale, f32x4.convert_i32x4_s(sums))));
  } else {
    v128.store(drive, f64x2.add(v128.load(drive), f64x2.mul(scale, f64x2.convert_low_i32x4_s(sums))));
    const upper = v128.shuffle<i32>(sums, sums, 2, 3, 0, 1);
    v128.store(drive, f64x2.add(v128.load(drive, 16), f64x2.mul(scale, f64x2.convert_low_i32x4_s(upper))), 16);
  }
}

/** drive += noiseScale (sum of four bytes - 510), by the words of kind 0; of whole groups of 16. */
// @ts-ignore: decorator
@inline
export function addNoise<T extends number>(liquid: Liquid, size: i32, drives: usize, step: u32): void {
  const group = <usize>sizeof<T>() << 2;
  const scale = splat<T>(liquid.noiseScale);
  let drive = drives;
  for (let block = 0; block << 2 < size; block += 4) {
    philoxBlocks(liquid.key0, liquid.key1, step, block, liquid.sequence, 0);
    addNoiseOf<T>(scale, drive, words0);
    addNoiseOf<T>(scale, drive + group, words1);
    addNoiseOf<T>(scale, drive + 2 * group, words2);
    addNoiseOf<T>(scale, drive + 3 * group, words3);
    drive += 4 * group;
  }
}

// @ts-ignore: decorator
@inline
function addUnits(cells: usize, words: v128, chance: v128, units: v128, left: i32): void {
  const hit = v128.and(i32x4.lt_u(words, chance), i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(left)));
  v128.store(cells, i32x4.add(v128.load(cells), v128.and(units, hit)));
}

/**
 * Adds units to the excitatory input that arrives now, if the word of kind 1 is below the chance.
 */
export function backgroundSpikes(liquid: Liquid, size: i32, arriving: usize, step: u32): void {
  const chance = i32x4.splat(<i32>liquid.backgroundChance);
  const units = i32x4.splat(liquid.backgroundUnits);
  let cells = arriving;
  for (let first = 0; first < size; first += 16) {
    philoxBlocks(liquid.key0, liquid.key1, step, first >> 2, liquid.sequence, 1);
    addUnits(cells, words0, chance, units, size - first);
    addUnits(cells + 16, words1, chance, units, size - first - 4);
    addUnits(cells + 32, words2, chance, units, size - first - 8);
    addUnits(cells + 48, words3, chance, units, size - first - 12);
    cells += 64;
  }
}
