// Heat-bath sweeps over chains of spins, classical or of several slices in imaginary time.
import { type PhiloxKey, philox4x32, portableExp, uniformFromWords } from "@spillway/numerics";
import { fieldAt, type Neighbourhoods } from "./ising.js";

/** Last words of counters: rule 7's streams that nothing else draws from. */
const streams = { first: 27, flips: 28, links: 29 } as const;

/**
 * What a sweep goes by: weights of the energy in a slice, and of being alike in neighbouring
 * slices.
 */
export interface SweepWeights {
  /** beta / P. */
  readonly space: number;
  /** .5 ln coth(beta Gamma / P); 0 for one slice. */
  readonly time: number;
}

/**
 * Chains of P slices of n spins, P = 1 for a classical model; slice p of chain m begins at (m P +
 * p) n.
 */
export class Chains {
  readonly model: Neighbourhoods;
  readonly count: number;
  readonly slices: number;
  readonly spins: Int8Array;
  readonly #key: PhiloxKey;
  readonly #block = new Uint32Array(4);
  /** Whether a slice of the spin that is drawn is linked to the next. */
  readonly #linked: Uint8Array;

  /** All spins are drawn at random. */
  constructor(model: Neighbourhoods, count: number, slices: number, key: PhiloxKey) {
    this.model = model;
    this.count = count;
    this.slices = slices;
    this.#key = key;
    this.#linked = new Uint8Array(slices);
    const length = slices * model.spins;
    this.spins = new Int8Array(count * length);
    for (let chain = 0; chain < count; chain++)
      for (let k = 0; k < length; k++) this.spins[chain * length + k] = this.#uniform(0, k, chain, streams.first) < 0.5 ? -1 : 1;
  }

  /**
   * A sweep of a chain, spin by spin. Slices p and p + 1 of spin i are linked where they are alike
   * and U < 1 - exp(-2 time). Each run of linked slices is drawn as one: it becomes 1 where U < 1 /
   * (1 + exp(-2 b)), b = space times the sum of f_i over its slices, else -1. For one slice this is
   * the heat bath.
   */
  sweep(sweep: number, chain: number, { space, time }: SweepWeights): void {
    const { model, slices, spins } = this;
    const size = model.spins;
    const start = chain * slices * size;
    const chance = 1 - portableExp(-2 * time);
    const linked = this.#linked;
    for (let i = 0; i < size; i++) {
      let cut = 0;
      for (let p = 0; slices > 1 && p < slices; p++) {
        const alike = spins[start + p * size + i] === spins[start + ((p + 1) % slices) * size + i];
        linked[p] = alike && this.#uniform(sweep, p * size + i, chain, streams.links) < chance ? 1 : 0;
        if (linked[p] === 0) cut = (p + 1) % slices;
      }
      for (let done = 0; done < slices; ) {
        const head = (cut + done) % slices;
        let length = 1;
        while (done + length < slices && linked[(head + length - 1) % slices] === 1) length++;
        let sum = 0;
        for (let m = 0; m < length; m++) sum += fieldAt(model, spins, i, start + ((head + m) % slices) * size);
        const up = this.#uniform(sweep, head * size + i, chain, streams.flips) * (1 + portableExp(-2 * space * sum)) < 1;
        for (let m = 0; m < length; m++) spins[start + ((head + m) % slices) * size + i] = up ? 1 : -1;
        done += length;
      }
    }
  }

  #uniform(sweep: number, k: number, chain: number, stream: number): number {
    philox4x32(this.#key, sweep, k, chain, stream, this.#block);
    return uniformFromWords(this.#block[0]!, this.#block[1]!);
  }
}
