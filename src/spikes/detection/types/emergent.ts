// Emergent: groups of neurons act together, though nothing in any one of them shows it.

import { binSpikes } from "../../pattern/binning.js";
import type { Spike } from "../../pattern/pattern.js";
import { eventTimes, generatorStream, patternMeasure, poissonSpikes } from "../generators.js";

const binMs = 20;

/**
 * Cell assemblies: structure of the whole that the parts do not have (Peyrache et al. 2010,
 * "Principal component analysis of ensemble recordings reveals cell assemblies at high temporal
 * resolution"; Lopes-dos-Santos, Ribeiro, Tort 2013). With counts in T bins of 20 ms, z-scored for
 * each of the N neurons that fire, the largest eigenvalue L of their correlation matrix is held
 * against the largest that independent neurons have (Marchenko and Pastur 1967, with the width of
 * Tracy and Widom 1996): B = (1 + sqrt(N / T))^2 + 4 (1 + sqrt(N / T))^(4/3) (N T)^(-1/6) T^(-1/2).
 * Score: max(0, 1 - B / L).
 */
export const emergent = patternMeasure("emergent", {
  threshold: 0.3,
  score(pattern) {
    const { rows, cols, data } = binSpikes(pattern, { binMs });
    const columns: Float64Array[] = [];
    for (let n = 0; n < cols; n++) {
      const column = Float64Array.from({ length: rows }, (_, t) => data[t * cols + n]!);
      const mean = column.reduce((sum, value) => sum + value, 0) / rows;
      const variance = column.reduce((sum, value) => sum + (value - mean) * (value - mean), 0) / rows;
      if (variance > 0) columns.push(column.map((value) => (value - mean) / Math.sqrt(variance)));
    }
    const count = columns.length;
    if (count < 3 || rows < 10) return { score: 0 };
    const edge = 1 + Math.sqrt(count / rows);
    // x^(4/3) and x^(1/6) of numbers near 1 need no precision: square and cube roots by Newton's
    // rule.
    const width = (edge * cubeRoot(edge)) / (Math.sqrt(cubeRoot(count * rows)) * Math.sqrt(rows));
    const bound = edge * edge + 4 * width;
    return { score: Math.max(0, 1 - bound / largestEigenvalue(columns, rows)) };
  },
  /**
   * Half of the spikes from five assemblies of a fifth of the neurons, drawn at random; each fires
   * as a whole within 10 ms, at random times.
   */
  spikes({ seed, neuronCount, durationMs, rateHz }) {
    const spikes: Spike[] = poissonSpikes(seed, neuronCount, durationMs, rateHz / 2);
    const draws = generatorStream(seed, 13);
    const jitter = generatorStream(seed, 14);
    let event = 0;
    for (let assembly = 0; assembly < 5; assembly++) {
      const members = Array.from({ length: neuronCount }, (_, n) => n).filter((n) => draws.uniform(assembly, n) < 0.2);
      for (const timeMs of eventTimes(generatorStream(seed, 15), assembly, durationMs, rateHz / 2)) {
        for (const neuron of members) spikes.push({ neuron, timeMs: timeMs + 10 * jitter.uniform(event, neuron) });
        event++;
      }
    }
    return spikes;
  },
});

/**
 * The largest eigenvalue of Z'Z / T by power iteration from a fixed start, to 1e-6 of itself; from
 * below.
 */
function largestEigenvalue(columns: readonly Float64Array[], rows: number): number {
  let vector = Float64Array.from(columns, (_, n) => 1 + ((n * 7919) % 13) / 13);
  let value = 0;
  for (let iteration = 0; iteration < 300; iteration++) {
    const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));
    const projected = new Float64Array(rows);
    for (const [n, column] of columns.entries()) {
      const weight = vector[n]! / length;
      for (let t = 0; t < rows; t++) projected[t] = projected[t]! + weight * column[t]!;
    }
    const before = value;
    value = projected.reduce((sum, x) => sum + x * x, 0) / rows;
    if (Math.abs(value - before) <= 1e-6 * value) break;
    vector = Float64Array.from(columns, (column) => column.reduce((sum, x, t) => sum + x * projected[t]!, 0) / rows);
  }
  return value;
}

function cubeRoot(x: number): number {
  let root = x < 1 ? 1 : x;
  for (let i = 0; i < 60; i++) root = (2 * root + x / (root * root)) / 3;
  return root;
}
