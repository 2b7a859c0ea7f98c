// Chaotic: intervals look random but follow a deterministic law.

import type { Spike } from "../../pattern/pattern.js";
import { spikeTrains } from "../../pattern/rates.js";
import { generatorStream, patternMeasure } from "../generators.js";

/** Neighbours that a prediction is the mean of, and intervals that are looked at, at most. */
const neighbours = 4;
const most = 1000;

/**
 * Deterministic chaos in interspike intervals: where a neuron was two intervals ago tells the next
 * one, through a law that is not linear (Sauer 1994, "Reconstruction of dynamical systems from
 * interspike intervals"; nonlinear prediction against linear: Sugihara and May 1990; Theiler et al.
 * 1992). From the pairs of successive intervals of all neurons, each next interval is predicted as
 * the mean of what followed the 4 nearest other pairs. Score: max(0, R^2 of this prediction less
 * R^2 of the best linear one), R^2 = 1 - squared error / variance, so that rhythm, which is linear,
 * and noise, which nothing predicts, score 0. The intervals of the first 1000 pairs are taken, at
 * least 30.
 */
export const chaotic = patternMeasure("chaotic", {
  threshold: 0.15,
  score(pattern) {
    const triples: (readonly [number, number, number])[] = [];
    for (const train of spikeTrains(pattern)) {
      for (let i = 3; i < train.length && triples.length < most; i++) {
        triples.push([train[i - 2]! - train[i - 3]!, train[i - 1]! - train[i - 2]!, train[i]! - train[i - 1]!]);
      }
    }
    if (triples.length < 30) return { score: 0 };
    const next = triples.map((triple) => triple[2]);
    const mean = next.reduce((sum, value) => sum + value, 0) / next.length;
    const variance = next.reduce((sum, value) => sum + (value - mean) * (value - mean), 0);
    if (!(variance > 0)) return { score: 0 };
    const analogue = 1 - analogueError(triples) / variance;
    const linear = 1 - linearError(triples) / variance;
    return { score: Math.min(1, Math.max(0, analogue - Math.max(0, linear))) };
  },
  /**
   * Each neuron's intervals are (0.2 + 1.6 x) / rate with x the logistic map x' = 4 x (1 - x) from
   * a start of its own.
   */
  spikes({ seed, neuronCount, durationMs, rateHz }) {
    const draws = generatorStream(seed, 12);
    const spikes: Spike[] = [];
    for (let neuron = 0; neuron < neuronCount; neuron++) {
      let x = 0.05 + 0.9 * draws.uniform(neuron, 0);
      let timeMs = (draws.uniform(neuron, 1) * 1000) / rateHz;
      while (timeMs <= durationMs) {
        spikes.push({ neuron, timeMs });
        x = 4 * x * (1 - x);
        timeMs += ((0.2 + 1.6 * x) * 1000) / rateHz;
      }
    }
    return spikes;
  },
});

/**
 * The squared error of predicting each third number as the mean of those of the nearest other
 * pairs.
 */
function analogueError(triples: readonly (readonly [number, number, number])[]): number {
  let error = 0;
  for (const [i, [a, b, next]] of triples.entries()) {
    const distances = new Float64Array(neighbours).fill(Infinity);
    const values = new Float64Array(neighbours);
    for (let j = 0; j < triples.length; j++) {
      if (j === i) continue;
      const [c, d, value] = triples[j]!;
      const distance = (a - c) * (a - c) + (b - d) * (b - d);
      if (distance >= distances[neighbours - 1]!) continue;
      let at = neighbours - 1;
      for (; at > 0 && distances[at - 1]! > distance; at--) {
        distances[at] = distances[at - 1]!;
        values[at] = values[at - 1]!;
      }
      distances[at] = distance;
      values[at] = value;
    }
    const predicted = values.reduce((sum, value) => sum + value, 0) / neighbours;
    error += (next - predicted) * (next - predicted);
  }
  return error;
}

/** The squared error of the least-squares prediction c0 + c1 a + c2 b of each third number. */
function linearError(triples: readonly (readonly [number, number, number])[]): number {
  const n = triples.length;
  const means = [0, 1, 2].map((k) => triples.reduce((sum, triple) => sum + triple[k]!, 0) / n);
  const sums: [number, number, number, number, number, number] = [0, 0, 0, 0, 0, 0];
  for (const triple of triples) {
    const [a, b, c] = triple.map((value, k) => value - means[k]!) as [number, number, number];
    for (const [k, product] of [a * a, a * b, b * b, a * c, b * c, c * c].entries()) sums[k] = sums[k]! + product;
  }
  const [saa, sab, sbb, san, sbn, snn] = sums;
  const determinant = saa * sbb - sab * sab;
  if (!(determinant > 1e-12 * saa * sbb)) return saa > 0 ? snn - (san * san) / saa : snn;
  return snn - (san * (sbb * san - sab * sbn) + sbn * (saa * sbn - sab * san)) / determinant;
}
