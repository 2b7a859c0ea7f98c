// How a reservoir sees a sequence of any length as one vector of features. No readout of classes here.
import { Matrix } from "../numerics/index.js";
import { ridge } from "../readout/index.js";
import type { AnyReservoirComputer, WorkOptions } from "../reservoir/index.js";
import type { ClassifierSettings } from "./classifier-options.js";

/** States kept at a time: the sequences are run in groups of up to this many values. */
const groupValues = 2 ** 23;

/**
 * B x F features of B sequences (T x C, any lengths), each run from the initial state. F is N for "last" and "mean", 2N for "last+mean",
 * C more of each kind with `input`; for "output" it is C (N + 1), or C (N + C + 1) with `input`: weights channel by channel, then the
 * intercepts. Sums of a mean are taken in binary64 in rising order.
 *
 * A reservoir with noise draws it by a sequence's place in its group.
 */
export async function represent(
  computer: AnyReservoirComputer,
  sequences: readonly Matrix[],
  settings: ClassifierSettings,
  work: WorkOptions,
): Promise<Matrix<Float64Array>> {
  const { size } = computer.model;
  const { representation, washout } = settings;
  const keep = representation === "last" ? "last" : "all";
  const total = sequences.reduce((sum, { rows }) => sum + rows, 0);
  const features: Float64Array[] = [];
  for (let from = 0, done = 0; from < sequences.length; ) {
    const group = [sequences[from]!];
    let rows = group[0]!.rows;
    while (from + group.length < sequences.length && (rows + sequences[from + group.length]!.rows) * size <= groupValues) {
      const next = sequences[from + group.length]!;
      rows += next.rows;
      group.push(next);
    }
    const states = await computer.batch(group, { keep, signal: work.signal });
    states.forEach((x, b) => {
      features.push(representation === "output" ? outputSpace(x, group[b]!, settings) : statistics(x, group[b]!, settings, washout));
    });
    from += group.length;
    done += rows;
    work.onProgress?.(done, total);
  }
  const out = Matrix.zeros(features.length, features[0]!.length);
  features.forEach((row, b) => {
    out.row(b).set(row);
  });
  return out;
}

/** Last and mean of states and, if joined, of inputs. `states` may be the last one alone where only that is asked for. */
function statistics(states: Matrix, inputs: Matrix, { representation, input }: ClassifierSettings, washout: number): Float64Array {
  const parts: ArrayLike<number>[] = [];
  for (const series of input ? [states, inputs] : [states]) {
    if (representation !== "mean") parts.push(series.row(series.rows - 1));
    if (representation !== "last") parts.push(columnMeans(series, washout));
  }
  const out = new Float64Array(parts.reduce((length, part) => length + part.length, 0));
  let next = 0;
  for (const part of parts) {
    out.set(part, next);
    next += part.length;
  }
  return out;
}

function columnMeans(series: Matrix, washout: number): Float64Array {
  const { rows, cols, data } = series;
  const means = new Float64Array(cols);
  for (let t = washout; t < rows; t++) for (let c = 0; c < cols; c++) means[c] = means[c]! + data[t * cols + c]!;
  for (let c = 0; c < cols; c++) means[c] = means[c]! / (rows - washout);
  return means;
}

/**
 * The output space (F. M. Bianchi et al. 2021, "Reservoir computing approaches for representation and classification of multivariate time
 * series", IEEE TNNLS 32): the weights and intercepts of the ridge readout u(t+1) = W [x(t), u(t)] + c of this sequence.
 */
function outputSpace(states: Matrix, inputs: Matrix, { washout, sequenceLambda, input }: ClassifierSettings): Float64Array {
  const { weights, intercept } = ridge({ lambda: sequenceLambda, solver: "auto", input }).fit(states.subarray(0, -1), inputs.subarray(1), {
    washout,
    inputs: inputs.subarray(0, -1),
  });
  const out = new Float64Array(weights.data.length + intercept.length);
  out.set(weights.data);
  out.set(intercept, weights.data.length);
  return out;
}
