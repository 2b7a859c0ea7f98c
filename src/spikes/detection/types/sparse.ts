// Sparse: few neurons do most of the firing.
import { neuronCounts } from "../../pattern/rates.js";
import { generatorStream, modulatedSpikes, patternMeasure } from "../generators.js";

/**
 * Population sparseness: a = mean(r)^2 / mean(r^2) over the neurons' rates r is 1 if all fire
 * alike and 1/N if one does all the firing (Treves and Rolls 1991, "What determines the capacity
 * of autoassociative memories in the brain?"); score (1 - a) / (1 - 1/N), as Vinje and Gallant
 * 2000. Counts n of Poisson neurons differ although their rates do not, so the mean of r^2 is taken
 * as that of n (n - 1), less four times what this deviates by in N neurons of equal rate m, sqrt((4
 * m^3 + 2 m^2) / N).
 */
export const sparse = patternMeasure("sparse", {
  threshold: 0.05,
  score(pattern) {
    const { neuronCount, spikeCount } = pattern;
    if (neuronCount < 2 || spikeCount < 2) return { score: 0 };
    const mean = spikeCount / neuronCount;
    let pairs = 0;
    for (const count of neuronCounts(pattern)) pairs += count * (count - 1);
    const square = pairs / neuronCount - 4 * Math.sqrt((4 * mean * mean * mean + 2 * mean * mean) / neuronCount);
    if (!(square > mean * mean)) return { score: 0 };
    return { score: Math.min(1, (1 - (mean * mean) / square) / (1 - 1 / neuronCount)) };
  },
  /**
   * A tenth of the neurons, drawn at random, at least one, are Poisson with all of the rate; the
   * others are silent.
   */
  spikes({ seed, neuronCount, durationMs, rateHz }) {
    const draws = generatorStream(seed, 18);
    const order = Array.from({ length: neuronCount }, (_, n) => n).sort((a, b) => draws.uniform(0, a) - draws.uniform(0, b));
    const active = new Set(order.slice(0, Math.max(1, Math.round(neuronCount / 10))));
    const rate = (rateHz * neuronCount) / active.size;
    return modulatedSpikes(seed, neuronCount, durationMs, rate, (neuron) => (active.has(neuron) ? 1 : 0));
  },
});
