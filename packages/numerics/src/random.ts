// Randomness as data: Philox4x32-10 counters keyed from a seed. Any draw can be made without the
// ones before it, so a device, a worker or a resumed run gets the same numbers. There is no global
// generator.
import seedrandom from "seedrandom";
import { portableCos, portableLog } from "./portable.js";

/** A seed as users write it. A number and its decimal string are the same seed. */
export type Seed = string | number;

/** Two 32-bit words: the key of a Philox generator. */
export type PhiloxKey = readonly [number, number];

/**
 * The keys of one seed: the first four 32-bit draws of seedrandom, keyed with the seed's text and
 * its length.
 */
export interface SeedKeys {
  /** Draws 0 and 1: weights, initial states, shuffles. */
  readonly weights: PhiloxKey;
  /** Draws 2 and 3: state noise. */
  readonly noise: PhiloxKey;
}

/**
 * Derives the keys of a seed. seedrandom repeats a short key to fill its table, so "1" and "11"
 * would be the same generator: the length in front keeps them apart.
 */
export function seedKeys(seed: Seed): SeedKeys {
  const text = String(seed);
  const draw = seedrandom(`${text.length}:${text}`);
  const words = [draw.int32() >>> 0, draw.int32() >>> 0, draw.int32() >>> 0, draw.int32() >>> 0] as const;
  return { weights: [words[0], words[1]], noise: [words[2], words[3]] };
}

const multiplier0 = 0xd2511f53;
const multiplier1 = 0xcd9e8d57;

/**
 * One block of Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3",
 * section 3.3): four 32-bit words that depend only on the counter and the key. Written into `out`.
 */
export function philox4x32(key: PhiloxKey, c0: number, c1: number, c2: number, c3: number, out: Uint32Array): void {
  let [k0, k1] = key;
  for (let round = 0; round < 10; round++) {
    const high0 = multiplyHigh(multiplier0, c0);
    const low0 = Math.imul(multiplier0, c0);
    const high1 = multiplyHigh(multiplier1, c2);
    const low1 = Math.imul(multiplier1, c2);
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 = (k0 + 0x9e3779b9) | 0;
    k1 = (k1 + 0xbb67ae85) | 0;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

/**
 * The high 32 bits of an unsigned 32 x 32 bit product, as a signed number. No sum of its parts
 * reaches 2^32.
 */
function multiplyHigh(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = (Math.imul(aHigh, bLow) + (Math.imul(aLow, bLow) >>> 16)) | 0;
  const carry = (Math.imul(aLow, bHigh) + (middle & 0xffff)) | 0;
  return (Math.imul(aHigh, bHigh) + (middle >>> 16) + (carry >>> 16)) | 0;
}

/** 53-bit uniform in [0, 1) from two words: ((w0 >>> 5) * 2^26 + (w1 >>> 6)) * 2^-53. */
export function uniformFromWords(w0: number, w1: number): number {
  return ((w0 >>> 5) * 67108864 + (w1 >>> 6)) * 1.1102230246251565e-16;
}

/**
 * A family of streams of binary64 numbers, addressed by (row, index): draw `index` of row `row` is
 * words 2(index & 1) and the next of the block with counter (index >> 1, row, stream, purpose).
 */
export class RandomStream {
  readonly key: PhiloxKey;
  /** The third word of every counter. */
  readonly stream: number;
  /** The fourth word of every counter. */
  readonly purpose: number;
  readonly #block = new Uint32Array(4);
  /** The counter that `#block` was made of: uniform draws come in pairs. */
  #index = Number.NaN;
  #row = Number.NaN;

  /**
   * `stream` and `purpose` are the last two words of every counter: two streams of one key share no
   * draw unless both agree.
   */
  constructor(key: PhiloxKey, stream: number, purpose = 0) {
    this.key = key;
    this.stream = stream;
    this.purpose = purpose;
  }

  /** Uniform in [0, 1), 53 bits. */
  uniform(row: number, index: number): number {
    this.#make(index >>> 1, row);
    const word = (index & 1) * 2;
    return uniformFromWords(this.#block[word]!, this.#block[word + 1]!);
  }

  /** Whole number in [0, limit), by scaling a 53-bit uniform: floor(U * limit). */
  integer(row: number, index: number, limit: number): number {
    return Math.floor(this.uniform(row, index) * limit);
  }

  /**
   * Standard normal (Box-Muller, cosine branch): sqrt(-2 ln(1 - U0)) cos(2 pi U1), both uniforms
   * from block `index`.
   */
  normal(row: number, index: number): number {
    this.#make(index, row);
    const [w0, w1, w2, w3] = this.#block as unknown as [number, number, number, number];
    return Math.sqrt(-2 * portableLog(1 - uniformFromWords(w0, w1))) * portableCos(6.283185307179586 * uniformFromWords(w2, w3));
  }

  #make(index: number, row: number): void {
    if (index === this.#index && row === this.#row) return;
    philox4x32(this.key, index, row, this.stream, this.purpose, this.#block);
    this.#index = index;
    this.#row = row;
  }
}
