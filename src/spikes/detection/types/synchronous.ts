// Synchronous: neurons fire together, at any times.

import { binSpikes } from "../../pattern/binning.js";
import type { Spike } from "../../pattern/pattern.js";
import { eventTimes, generatorStream, patternMeasure, poissonSpikes } from "../generators.js";
import { aboveChance } from "../measure.js";

const binMs = 5;

/**
 * Synchrony chi of counts c_i in bins of 5 ms: chi^2 = Var_t(mean_i c_i) / mean_i Var_t(c_i), which
 * is 1 if all neurons do the same and 1/N if they are independent (Golomb and Rinzel 1994,
 * "Clustering in globally coupled inhibitory neurons"; Golomb 2007). Score: sqrt of chi^2 above its
 * chance level in T bins, (1 + 4 sqrt(2 / T)) / N.
 */
export const synchronous = patternMeasure("synchronous", {
  threshold: 0.1,
  score(pattern) {
    const { rows, cols, data } = binSpikes(pattern, { binMs });
    if (cols < 2 || rows < 4) return { score: 0 };
    const totals = new Float64Array(rows);
    const counts = new Float64Array(cols);
    const squares = new Float64Array(cols);
    for (let i = 0; i < data.length; i++) {
      const count = data[i]!;
      if (count === 0) continue;
      const neuron = i % cols;
      totals[Math.floor(i / cols)] = totals[Math.floor(i / cols)]! + count;
      counts[neuron] = counts[neuron]! + count;
      squares[neuron] = squares[neuron]! + count * count;
    }
    let single = 0;
    for (let n = 0; n < cols; n++) single += squares[n]! / rows - (counts[n]! / rows) * (counts[n]! / rows);
    let sum = 0;
    let square = 0;
    for (const total of totals) {
      sum += total / cols;
      square += (total / cols) * (total / cols);
    }
    const whole = square / rows - (sum / rows) * (sum / rows);
    if (!(single > 0)) return { score: 0 };
    const chance = (1 + 4 * Math.sqrt(2 / rows)) / cols;
    return { score: Math.sqrt(aboveChance(whole / (single / cols), chance)) };
  },
  /**
   * Half of the spikes in common events, which a neuron takes part in with probability 0.8, within
   * a normal jitter of 2 ms.
   */
  spikes({ seed, neuronCount, durationMs, rateHz }) {
    const spikes: Spike[] = poissonSpikes(seed, neuronCount, durationMs, rateHz / 2);
    const draws = generatorStream(seed, 10);
    for (const [e, timeMs] of eventTimes(draws, 0, durationMs, rateHz / 2 / 0.8).entries()) {
      for (let neuron = 0; neuron < neuronCount; neuron++) {
        if (draws.uniform(1 + e, 2 * neuron) < 0.8)
          spikes.push({ neuron, timeMs: timeMs + 2 * generatorStream(seed, 11).normal(e, neuron) });
      }
    }
    return spikes;
  },
});
