// Burst: neurons fire in quick runs with silence between them.
import { portableExp } from "@spillway/numerics";
import type { Spike } from "../../pattern/pattern.js";
import { spikeTrains } from "../../pattern/rates.js";
import { eventTimes, generatorStream, patternMeasure } from "../generators.js";

const longestIntervalMs = 20;

/**
 * A burst is a run of at least 3 spikes of one neuron with intervals of at most 20 ms, and of at
 * most a quarter of the neuron's mean interval (the maximal-interval method; Cotterill et al. 2016,
 * "A comparison of computational methods for detecting bursts in neuronal spike trains"). Score:
 * the share of all spikes that lie in bursts, above what Poisson neurons of the same rates have,
 * (share - p) / (1 - p): with q = 1 - e^(-rate interval) a spike of a Poisson neuron is in a burst
 * with probability 1 - (1 - q)^2 (1 + 2 q); p is the mean of that plus four standard deviations.
 */
export const burst = patternMeasure("burst", {
  threshold: 0.1,
  score(pattern) {
    const { durationMs, spikeCount } = pattern;
    if (spikeCount < 5 || durationMs === 0) return { score: 0 };
    let inBursts = 0;
    let expected = 0;
    let variance = 0;
    for (const train of spikeTrains(pattern)) {
      if (train.length < 3) continue;
      const rate = train.length / durationMs;
      const interval = Math.min(longestIntervalMs, 0.25 / rate);
      const q = 1 - portableExp(-rate * interval);
      const chance = 1 - (1 - q) * (1 - q) * (1 + 2 * q);
      expected += train.length * chance;
      // Spikes of one burst come together: three at least for one piece of chance.
      variance += 3 * train.length * chance * (1 - chance);
      inBursts += spikesInBursts(train, interval);
    }
    const share = (expected + 4 * Math.sqrt(variance)) / spikeCount;
    return { score: share >= 1 ? 0 : Math.max(0, (inBursts / spikeCount - share) / (1 - share)) };
  },
  /** Bursts of 5 spikes 4 ms apart, at Poisson times. */
  spikes({ seed, neuronCount, durationMs, rateHz }) {
    const draws = generatorStream(seed, 19);
    const spikes: Spike[] = [];
    for (let neuron = 0; neuron < neuronCount; neuron++) {
      for (const timeMs of eventTimes(draws, neuron, durationMs, rateHz / 5)) {
        for (let k = 0; k < 5; k++) spikes.push({ neuron, timeMs: timeMs + 4 * k });
      }
    }
    return spikes;
  },
});

/** How many spikes of a train lie in runs of at least 3 with intervals up to `longestMs`. */
function spikesInBursts(train: Float64Array, longestMs: number): number {
  let total = 0;
  let run = 1;
  for (let i = 1; i <= train.length; i++) {
    if (i < train.length && train[i]! - train[i - 1]! <= longestMs) {
      run++;
      continue;
    }
    if (run >= 3) total += run;
    run = 1;
  }
  return total;
}
