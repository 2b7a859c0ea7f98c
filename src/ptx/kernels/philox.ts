// Noise of docs/numerics.md rule 6 as instructions: Philox4x32-10 (Salmon, Moraes, Dror and Shaw
// 2011), in binary32.
import type { PtxKernel, Value } from "../builder/index.js";

type U = Value<"u32">;

/** What noise is drawn from. */
export interface NoiseKey {
  readonly level: Value<"f32">;
  readonly key0: U;
  readonly key1: U;
  /** The number of a run's first step. */
  readonly firstStep: U;
  readonly sequence: U;
}

/** The four words of the block with counter (c0, c1, c2, c3). */
function block(k: PtxKernel, key: readonly [U, U], counter: readonly [U, U, U, U]): readonly [U, U, U, U] {
  let [key0, key1] = key;
  let [c0, c1, c2, c3] = counter;
  for (let round = 0; round < 10; round++) {
    const [high0, low0] = [k.mulHi(c0, 0xd2511f53), k.mul(c0, 0xd2511f53)];
    const [high1, low1] = [k.mulHi(c2, 0xcd9e8d57), k.mul(c2, 0xcd9e8d57)];
    [c0, c1, c2, c3] = [k.xor(k.xor(high1, c1), key0), low1, k.xor(k.xor(high0, c3), key1), low0];
    [key0, key1] = [k.add(key0, 0x9e3779b9), k.add(key1, 0xbb67ae85)];
  }
  return [c0, c1, c2, c3];
}

/** noiseLevel (2U - 1) of one neuron at one step; a block serves four neurons. */
export function noise(k: PtxKernel, { level, key0, key1, sequence }: NoiseKey, step: U, neuron: U): Value<"f32"> {
  const words = block(k, [key0, key1], [step, k.shr(neuron, 2), sequence, k.constant("u32", 0)]);
  const bit = (mask: number): Value<"pred"> => k.compare("ne", k.and(neuron, mask), 0);
  const odd = bit(1);
  const [low, high] = [k.select(odd, words[1], words[0]), k.select(odd, words[3], words[2])];
  const word = k.select(bit(2), high, low);
  const uniform = k.mul(k.convert("f32", k.shr(word, 8)), 2 ** -24);
  return k.mul(level, k.sub(k.mul(uniform, 2), k.constant("f32", 1)));
}
