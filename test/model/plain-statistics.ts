// The statistics of a sequence by plain loops, neuron by neuron: what the kernel is held against.
import type { Matrix } from "../../packages/numerics/src/index.js";

const plain = 6;

/** As `writeStatistics` of src/model/classifier/statistics.ts. */
export function plainStatistics({ rows, cols: size, data }: Matrix, levels: Matrix<Float64Array>, out: Float64Array): void {
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
