// Random numbers of a case: a function of the format, the seed and the number of the case.
import { philox4x32, seedKeys } from "../../packages/numerics/src/index.js";

export class Random {
  readonly #key: readonly [number, number];
  readonly #case: number;
  readonly #words = new Uint32Array(4);
  #drawn = 0;

  constructor(format: string, seed: string, index: number) {
    this.#key = seedKeys(`${format}:${seed}`).weights;
    this.#case = index;
  }

  /** 32 random bits. */
  word(): number {
    const lane = this.#drawn & 3;
    if (lane === 0) philox4x32(this.#key, this.#drawn >>> 2, this.#case, 0, 0, this.#words);
    this.#drawn++;
    return this.#words[lane]!;
  }

  /** A whole number from 0 to n - 1; 0 for n = 0. */
  below(n: number): number {
    return Math.floor((this.word() / 2 ** 32) * n);
  }

  /** From 1 to `most`, small ones as likely as large ones by magnitude. */
  size(most: number): number {
    const bits = Math.ceil(Math.log2(most + 1));
    return Math.max(1, Math.min(most, this.below(2 ** (1 + this.below(bits)))));
  }

  chance(p: number): boolean {
    return this.word() / 2 ** 32 < p;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
}
