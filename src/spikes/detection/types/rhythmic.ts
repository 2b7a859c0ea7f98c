// Rhythmic: neurons keep time, together or each with a phase of its own.
import { portableLog, portableSinCos } from "@spillway/numerics";
import type { Spike } from "../../pattern/pattern.js";
import { spikeTrains } from "../../pattern/rates.js";
import { generatorStream, patternMeasure } from "../generators.js";
import { aboveChance } from "../measure.js";

const twoPi = 6.283185307179586;
const highestHz = 100;

/**
 * Phase locking of each neuron to a clock of its own: at frequency f the pairwise phase consistency
 * S(f) = sum_i (|sum_j e^(i 2 pi f t_ij)|^2 - n_i) / P, P = sum_i n_i (n_i - 1), which is 1 for a
 * perfect rhythm and 0 on average for Poisson neurons (Vinck et al. 2010, "The pairwise phase
 * consistency"; its square root is the vector strength of Goldberg and Brown 1969). Score: sqrt of
 * the largest S over F frequencies, from 2 cycles in the pattern to 100 Hz by half a cycle, less
 * what the ends of the pattern add to it and above its chance level ln(100 F) / sqrt(P).
 */
export const rhythmic = patternMeasure("rhythmic", {
  threshold: 0.1,
  score(pattern) {
    const { durationMs } = pattern;
    const trains = spikeTrains(pattern).filter(({ length }) => length >= 2);
    const pairs = trains.reduce((sum, { length }) => sum + length * (length - 1), 0);
    const frequencies = Math.max(0, Math.floor((2 * highestHz * durationMs) / 1000) - 3);
    if (pairs === 0 || frequencies === 0) return { score: 0 };
    const sums = new Float64Array(frequencies).fill(-trains.reduce((sum, { length }) => sum + length, 0));
    const real = new Float64Array(frequencies);
    const imaginary = new Float64Array(frequencies);
    for (const train of trains) {
      real.fill(0);
      imaginary.fill(0);
      for (const timeMs of train) addPhasors(timeMs / durationMs, real, imaginary);
      for (let m = 0; m < frequencies; m++) sums[m] = sums[m]! + real[m]! * real[m]! + imaginary[m]! * imaginary[m]!;
    }
    const chance = portableLog(100 * frequencies) / Math.sqrt(pairs);
    let best = 0;
    for (let m = 0; m < frequencies; m++) {
      // Half a cycle too many leaves a uniform train a mean phasor of 1 / (pi cycles).
      const cycles = (m + 4) / 2;
      sums[m] = sums[m]! / pairs - (m % 2 === 0 ? 0 : 4 / (twoPi * cycles * twoPi * cycles));
      if (sums[m]! > sums[best]!) best = m;
    }
    const score = Math.sqrt(aboveChance(sums[best]!, chance));
    return score > 0 ? { score, frequencyHz: rhythmFrequencyHz(best, durationMs) } : { score };
  },
  /**
   * A spike in every cycle of rateHz, each neuron with its own phase and a normal jitter of a tenth
   * of the cycle.
   */
  spikes({ seed, neuronCount, durationMs, rateHz }) {
    const draws = generatorStream(seed, 16);
    const jitter = generatorStream(seed, 17);
    const period = 1000 / rateHz;
    const spikes: Spike[] = [];
    for (let neuron = 0; neuron < neuronCount; neuron++) {
      const phase = draws.uniform(neuron, 0);
      for (let cycle = 0; (cycle + phase) * period <= durationMs; cycle++) {
        spikes.push({ neuron, timeMs: (cycle + phase + 0.1 * jitter.normal(neuron, cycle)) * period });
      }
    }
    return spikes;
  },
});

/** The frequency of number m: from 2 cycles in a pattern on by half a cycle. */
export const rhythmFrequencyHz = (m: number, durationMs: number): number => (1000 * (m + 4)) / (2 * durationMs);

/** Adds e^(i 2 pi (m + 4) / 2 share) for m = 0, 1, ...: from 2 cycles on by half a cycle. */
function addPhasors(share: number, real: Float64Array, imaginary: Float64Array): void {
  const { sine: stepIm, cosine: stepRe } = portableSinCos((twoPi * share) / 2, { sine: 0, cosine: 0 });
  let { sine: im, cosine: re } = portableSinCos(twoPi * 2 * share, { sine: 0, cosine: 0 });
  for (let m = 0; m < real.length; m++) {
    real[m] = real[m]! + re;
    imaginary[m] = imaginary[m]! + im;
    const next = re * stepRe - im * stepIm;
    im = re * stepIm + im * stepRe;
    re = next;
  }
}
