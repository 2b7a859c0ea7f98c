// What each neuron did over a sequence, in a few numbers: the features of a classifier's
// "statistics". docs/numerics.md, rule 10, has the order of sums. It runs no reservoir.
import { Matrix } from "../../numerics/index.js";

/** Statistics of a neuron that need no level. */
const plain = 6;

/** How many numbers a neuron has with so many levels. */
export function statisticsPerNeuron(levels: number): number {
  return plain + 2 * levels;
}

/**
 * Writes statistics of the states x(1) ... x(T) of N neurons, N values of each:
 *
 * - mean, 1/T sum x(t)
 * - deviation, sqrt(max(0, 1/T sum x(t)^2 - mean^2))
 * - largest, smallest, last
 * - change, 1/T sum over t > 1 of |x(t) - x(t-1)|
 * - above, N values for each level h: 1/T times the number of t with x(t) > h
 * - crossings, N values for each level h: 1/T times the number of t > 1 with x(t) > h unlike
 *   x(t-1) > h
 *
 * Sums are binary64, in rising t from 0. `levels` is Q x N and `out` takes N (6 + 2 Q) values.
 * Shares above levels are ROCKET's proportions of positive values (Dempster, Petitjean and Webb
 * 2020, Data Min. Knowl. Disc. 34).
 */
export function writeStatistics({ rows, cols: size, data }: Matrix, levels: Matrix<Float64Array>, out: Float64Array): void {
  const x = new Float64Array(rows);
  for (let r = 0; r < size; r++) {
    for (let t = 0, at = r; t < rows; t++, at += size) x[t] = data[at]!;
    let sum = 0;
    let squares = 0;
    let change = 0;
    let largest = x[0]!;
    let smallest = largest;
    let before = largest;
    for (let t = 0; t < rows; t++) {
      const value = x[t]!;
      sum += value;
      squares += value * value;
      change += Math.abs(value - before);
      largest = Math.max(largest, value);
      smallest = Math.min(smallest, value);
      before = value;
    }
    const mean = sum / rows;
    out[r] = mean;
    out[size + r] = Math.sqrt(Math.max(0, squares / rows - mean * mean));
    out[2 * size + r] = largest;
    out[3 * size + r] = smallest;
    out[4 * size + r] = before;
    out[5 * size + r] = change / rows;
    for (let q = 0; q < levels.rows; q++) {
      const level = levels.data[q * size + r]!;
      let above = 0;
      let crossings = 0;
      let was = x[0]! > level ? 1 : 0;
      for (let t = 0; t < rows; t++) {
        const is = x[t]! > level ? 1 : 0;
        above += is;
        crossings += is ^ was;
        was = is;
      }
      out[(plain + q) * size + r] = above / rows;
      out[(plain + levels.rows + q) * size + r] = crossings / rows;
    }
  }
}

/** About a hundred rows of a sequence, evenly spaced: every k-th, k = max(1, floor(T / 100)). */
export function someRows(states: Matrix): Matrix {
  const step = Math.max(1, Math.floor(states.rows / 100));
  const kept = Matrix.zeros(Math.ceil(states.rows / step), states.cols);
  for (let k = 0; k < kept.rows; k++) kept.row(k).set(states.row(k * step));
  return kept;
}

/**
 * Levels of each column that part its n values into shares of one size, Q x N: level k of 1 ... Q
 * is value floor(k n / (Q + 1)) of the sorted ones, counted from 0.
 */
export function levelsOf(samples: readonly Matrix[], count: number): Matrix<Float64Array> {
  const size = samples[0]!.cols;
  const out = Matrix.zeros(count, size);
  const values = new Float64Array(samples.reduce((sum, { rows }) => sum + rows, 0));
  for (let r = 0; r < size; r++) {
    let n = 0;
    for (const { rows, data } of samples) for (let t = 0; t < rows; t++) values[n++] = data[t * size + r]!;
    values.sort();
    for (let k = 1; k <= count; k++) out.data[(k - 1) * size + r] = values[Math.floor((k * n) / (count + 1))]!;
  }
  return out;
}
