// How weights of W are rounded once more if a description asks for it (docs/numerics.md, rule 7). A
// second rounding changes nothing: a device can find the steps again in the values. How they are
// packed is up to the engines.
import type { FloatArray } from "@spillway/numerics";

/**
 * What W's weights are rounded to: not at all, 8 significant bits, or steps of 8 or 4 bits a
 * weight.
 */
export type WeightPrecision = "full" | "bfloat16" | "int8" | "q4_k";

/** Whether weights are whole numbers of steps, which portable arithmetic has no kernels for. */
export const isQuantized = (precision: WeightPrecision): precision is "int8" | "q4_k" => precision === "int8" || precision === "q4_k";

/** What a refused precision of steps takes instead, and what it itself would take. */
export const quantizedTakes = (needs: string): string => `"full" or "bfloat16" here, or ${needs}`;

/** Bytes of a weight if W is kept so; undefined for "full", if the model's precision says it. */
export const roundedBytes: Readonly<Record<WeightPrecision, number | undefined>> = {
  full: undefined,
  bfloat16: 2,
  int8: 1,
  q4_k: 144 / 256,
};

/**
 * Below this a row of steps counts as zero: what is left of its smallest steps would be subnormal.
 */
const leastMagnitude = 2 ** -100;

/** Weights of a superblock, and of a group in it. */
const superblock = 256;
const group = 32;

const nearest = (x: number): number => x + 6755399441055744 - 6755399441055744;

/** x to its first `bits` bits, to nearest (T. J. Dekker 1971). */
function shortened(x: number, bits: number): number {
  const c = x * (2 ** (53 - bits) + 1);
  return c - (c - x);
}

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);

function exponentOf(x: number): number {
  double[0] = x;
  return ((words[1]! >>> 20) & 0x7ff) - 1023;
}

/** The nearest number of binary16 to x, at least 0 and below 65504. */
const half = (x: number): number => (x >= 2 ** -14 ? shortened(x, 11) : nearest(x * 2 ** 24) * 2 ** -24);

function largestOf(values: FloatArray): number {
  let largest = 0;
  for (let i = 0; i < values.length; i++) largest = Math.max(largest, Math.abs(values[i]!));
  return largest;
}

/**
 * Each w to the nearest multiple of `step`, at most `most` of them; weights as large as `largest`
 * get `most`.
 */
function toSteps(values: FloatArray, step: number, largest: number, most: number): void {
  for (let i = 0; i < values.length; i++) {
    const w = values[i]!;
    const k = Math.abs(w) === largest ? (w < 0 ? -most : most) : nearest(w / step);
    values[i] = step * Math.min(most, Math.max(-most, k));
  }
}

/** A row to steps of its largest weight over 127, in 16 significant bits. */
function toEightBits(row: FloatArray): void {
  const largest = largestOf(row);
  if (largest < leastMagnitude) row.fill(0);
  else toSteps(row, shortened(largest / 127, 16), largest, 127);
}

/**
 * A row to superblocks of 256: steps 2^-e d s, with d in binary16 for each superblock and s from 0
 * to 63 for each 32 weights.
 */
function toFourBits(row: FloatArray): void {
  const largest = largestOf(row);
  if (largest < leastMagnitude) {
    row.fill(0);
    return;
  }
  const up = 2 ** (10 - exponentOf(shortened(largest / 441, 11)));
  for (let from = 0; from < row.length; from += superblock) {
    const block = row.subarray(from, from + superblock);
    const most = largestOf(block);
    const d = half((most * up) / 441);
    for (let g = 0; g < block.length; g += group) {
      const values = block.subarray(g, g + group);
      const own = largestOf(values);
      const s = d === 0 ? 0 : own === most ? 63 : Math.min(63, nearest((own * up) / (7 * d)));
      if (s === 0) values.fill(0);
      else toSteps(values, (d * s) / up, own, 7);
    }
  }
}

/** To 8 significant bits, to nearest even, by way of binary32. */
function toBfloat16(values: FloatArray): void {
  const float = new Float32Array(1);
  const bits = new Uint32Array(float.buffer);
  for (let i = 0; i < values.length; i++) {
    float[0] = values[i]!;
    const word = bits[0]!;
    bits[0] = (word + 0x7fff + ((word >>> 16) & 1)) & 0xffff0000;
    values[i] = float[0];
  }
}

/** Rounds weights where they are. `columns` is the length of a row, which steps are found by. */
export function roundWeights(values: FloatArray, columns: number, precision: WeightPrecision): void {
  if (precision === "bfloat16") toBfloat16(values);
  if (!isQuantized(precision)) return;
  const round = precision === "int8" ? toEightBits : toFourBits;
  for (let from = 0; from < values.length; from += columns) round(values.subarray(from, from + columns));
}
