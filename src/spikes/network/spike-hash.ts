// One number of 64 bits that says whether two runs fired the same spikes.
import { checkHas } from "@spillway/core/checks.js";
import type { StepSpikes } from "./session.js";

const [prime, basis] = [0x100000001b3n, 0xcbf29ce484222325n];
const modulo = 2n ** 64n - 1n;

/**
 * FNV-1a, 64 bits, of spikes, a word of 32 bits at a time: step, then neuron, of each in order. As
 * 16 hexadecimal digits; `from` is the hash of spikes before these.
 */
export function spikeHash(spikes: StepSpikes, firstStep = 0, from?: string): string {
  const { offsets, neurons } = checkHas("spikes", spikes, "spikes by step", "offsets", "neurons");
  let hash = from === undefined ? basis : BigInt(`0x${from}`);
  for (let k = 0; k + 1 < offsets.length; k++) {
    for (let s = offsets[k]!; s < offsets[k + 1]!; s++) {
      hash = ((hash ^ BigInt(firstStep + k)) * prime) & modulo;
      hash = ((hash ^ BigInt(neurons[s]!)) * prime) & modulo;
    }
  }
  return hash.toString(16).padStart(16, "0");
}
