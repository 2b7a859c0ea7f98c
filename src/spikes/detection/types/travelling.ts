// Travelling: activity moves across the population, neuron by neuron, in one direction.
import { portableCos, portableLog } from "@spillway/numerics";
import { modulatedSpikes, patternMeasure } from "../generators.js";
import { aboveChance } from "../measure.js";
import { planeWaves, strongest } from "../waves.js";

/**
 * A travelling wave: the phase of activity falls linearly with position (Muller, Chavane, Reynolds,
 * Sejnowski 2018, "Cortical travelling waves: mechanisms and computational principles"). Score:
 * over wave numbers k and frequencies f, the largest difference of the vector strengths
 * |sum_j e^(i 2 pi (k x_j - f t_j))| / n of the waves k and -k, each above what the M strengths of
 * Poisson neurons reach by chance, R^2 = ln(100 M) / n. Neurons lie on a line in the order of their
 * numbers. A single sweep is a wave too.
 */
export const travelling = patternMeasure("travelling", {
  threshold: 0.1,
  score(pattern) {
    const waves = planeWaves(pattern);
    const chance = portableLog(200 * waves.length) / pattern.spikeCount;
    return strongest(waves, ({ up, down }) => Math.sqrt(aboveChance(up, chance)) - Math.sqrt(aboveChance(down, chance)));
  },
  /** Rates rateHz (1 + cos(2 pi (x - 8 Hz t))). */
  spikes({ seed, neuronCount, durationMs, rateHz }) {
    const share = (neuron: number, timeMs: number) =>
      0.5 + 0.5 * portableCos(6.283185307179586 * ((neuron + 0.5) / neuronCount - 0.008 * timeMs));
    return modulatedSpikes(seed, neuronCount, durationMs, 2 * rateHz, share);
  },
});
