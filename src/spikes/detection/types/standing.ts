// Standing: activity swings in place, with nodes that stay silent and antinodes that take turns.
import { portableCos, portableLog } from "@spillway/numerics";
import { modulatedSpikes, patternMeasure } from "../generators.js";
import { aboveChance } from "../measure.js";
import { planeWaves, strongest } from "../waves.js";

/** The mean of max(0, cos a cos b) over all a and b: 2 / pi^2. */
const meanShare = 0.2026423672846756;

/**
 * A standing wave is two equal waves that run against each other, cos(k x - w t) + cos(k x + w t) =
 * 2 cos(k x) cos(w t) (Nunez and Srinivasan 2006, "Electric Fields of the Brain"). Score: over wave
 * numbers and frequencies, the largest of the smaller of the two vector strengths of k and -k (see
 * travelling), each above what both of M pairs reach together by chance, R^2 = ln(100 M) / (2 n).
 */
export const standing = patternMeasure("standing", {
  threshold: 0.1,
  score(pattern) {
    const waves = planeWaves(pattern);
    const chance = portableLog(100 * waves.length) / (2 * pattern.spikeCount);
    return strongest(waves, ({ up, down }) => Math.sqrt(aboveChance(Math.min(up, down), chance)));
  },
  /** Rates in proportion to max(0, cos(2 pi x) cos(2 pi 8 Hz t)). */
  spikes({ seed, neuronCount, durationMs, rateHz }) {
    const twoPi = 6.283185307179586;
    const share = (neuron: number, timeMs: number) =>
      Math.max(0, portableCos((twoPi * (neuron + 0.5)) / neuronCount) * portableCos(twoPi * 0.008 * timeMs));
    return modulatedSpikes(seed, neuronCount, durationMs, rateHz / meanShare, share);
  },
});
