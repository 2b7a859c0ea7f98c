// Short-term memory capacity: how much of past input a linear readout can get back from a
// reservoir's present state.
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, choice, type InputOf, number, option, optional, resolve, whole } from "@spillway/core/options.js";
import { Matrix, type Precision } from "@spillway/numerics";
import { ridge, type TrainedReadout } from "../readout/index.js";
import type { AnyReservoirComputer } from "../reservoir/index.js";
import {
  type AnalysisOptions,
  type AnyReservoirSource,
  analysisTable,
  count,
  inputTable,
  uniformInputs,
  withAnyReservoir,
} from "./source.js";

export const memoryCapacityTable = {
  ...analysisTable,
  /** The input is independent and uniform in [-amplitude, amplitude). Default 0.8. */
  amplitude: inputTable.amplitude,
  /** K, the longest delay. Default 2N. */
  maxDelay: optional(count, "K, the longest delay; left out, 2N."),
  /**
   * The first delay that `total` counts: 1 (default, Jaeger 2001), or 0 to count the present input
   * too.
   */
  firstDelay: option(
    checked<0 | 1>("0 or 1", (value) => value === 0 || value === 1, { enum: [0, 1] }),
    1,
    "The first delay that the total counts.",
  ),
  /** Rows the readouts are trained on. Default 6000, or 6 (N + 1) if that is more. */
  length: optional(whole({ atLeast: 2 }), "Rows the readouts are trained on; left out, 6000 or 6 (N + 1), the larger."),
  /** Rows after those, on which they are scored. Default 4000. */
  heldOut: option(whole({ atLeast: 2 }), 4000, "Rows after those, on which they are scored."),
  /** Rows before those, at least K. Default K + 100. */
  washout: optional(whole(), "Rows before those, at least K; left out, K + 100."),
  /** Ridge penalty of the readouts. Default 1e-12 (float32) or 1e-24 (float64). */
  lambda: optional(number({ atLeast: 0 }), "Ridge penalty of the readouts; left out, 1e-12 (float32) or 1e-24 (float64)."),
  /**
   * "qr" (default) resolves small directions of state that normal equations lose; "cholesky" is
   * faster for large N.
   */
  solver: option(choice("qr", "cholesky"), "qr", "What solves; qr resolves small directions of state."),
};

/** The delays, rows and inputs of the measure. */
export interface MemoryCapacityOptions extends AnalysisOptions, InputOf<typeof memoryCapacityTable> {}

/** How much of past inputs can be read from the states. */
export interface MemoryCapacity {
  /** The sum of the curve from `firstDelay` to K. */
  readonly total: number;
  /** Squared correlation on held-out rows for each delay, K + 1 values; `curve[k]` is delay k. */
  readonly curve: Float64Array;
  /**
   * Of the states: in float32 a linear reservoir shows less than it holds, as {@link
   * memoryCapacity} says.
   */
  readonly precision: Precision;
}

/** Rows scored at a time. */
const chunk = 512;

/**
 * MC = sum over k of r^2(u(t - k), y_k(t)), the squared correlation of the input k steps ago with
 * the output of a linear readout trained to give it back, for independent uniform input. MC is at
 * most N. The present input takes one of those N if it is counted (`firstDelay: 0`) and if it
 * is not: a line of d neurons that holds u(t), ..., u(t - d + 1) has capacity d from delay 0 and d
 * - 1 from delay 1.
 *
 * All readouts are trained at once from one factorisation. The correlation is taken on rows that
 * were not trained on: in sample it is too high by about K N / T. Held out, each delay out of reach
 * still adds about 1 / heldOut by chance.
 *
 * The precision of the states is part of what is measured. Of linear units, old inputs lie in
 * directions of state that float32 rounds away: 100 units with spectral radius 0.95 have 73 in
 * float64 and 53 in float32, the default. With tanh the two agree (31.6 of 31.6 at inputScaling
 * 0.1). For a figure beside the literature's take `precision: "float64"`.
 *
 * Source: H. Jaeger 2001, "Short term memory in echo state networks", GMD report 152 (definition
 * and bound).
 * @throws ArgumentError for a reservoir with more inputs than one, and for options
 */
export async function memoryCapacity(source: AnyReservoirSource, options: MemoryCapacityOptions = {}): Promise<MemoryCapacity> {
  const { engine, seed, signal, firstDelay, heldOut, amplitude, solver, ...asked } = resolve(memoryCapacityTable, options);
  return withAnyReservoir(source, engine, async (computer) => {
    const { size, inputSize, precision } = computer.model;
    if (inputSize !== 1) throw new ArgumentError("inputSize", inputSize, "1: memory capacity is about one input");
    const { maxDelay = 2 * size, length = Math.max(6000, 6 * (size + 1)), lambda = usualPenalty(precision) } = asked;
    const { washout = maxDelay + 100 } = asked;
    if (washout < maxDelay) throw new ArgumentError("washout", washout, `a whole number of at least ${maxDelay}`);
    const inputs = uniformInputs(seed, "inputs", 0, washout + length + heldOut, 1, amplitude);
    const trainer = ridge({ lambda, solver });
    const sink = trainer.accumulator({ stateSize: size, inputSize: 1, outputSize: maxDelay + 1 });
    try {
      await computer.run(inputs.subarray(0, washout), { signal, every: washout });
      for (let from = washout; from < washout + length; from += chunk) {
        const to = Math.min(washout + length, from + chunk);
        await computer.train(inputs.subarray(from, to), delayed(inputs, from, to, maxDelay), sink, { signal });
      }
      const curve = await score(computer, trainer.solve(sink), inputs, washout + length, maxDelay, signal);
      return { total: curve.subarray(firstDelay).reduce((sum, value) => sum + value, 0), curve, precision };
    } finally {
      sink.dispose();
    }
  });
}

/** The ridge penalty of the readouts, if nothing else is asked for. */
export const usualPenalty = (precision: Precision): number => (precision === "float32" ? 1e-12 : 1e-24);

/** Row t of the targets is u(t), u(t - 1), ..., u(t - K). */
function delayed(inputs: Matrix, from: number, to: number, maxDelay: number): Matrix {
  const out = Matrix.zeros(to - from, maxDelay + 1);
  for (let t = from; t < to; t++) for (let k = 0; k <= maxDelay; k++) out.data[(t - from) * out.cols + k] = inputs.data[t - k]!;
  return out;
}

async function score(
  computer: AnyReservoirComputer,
  readout: TrainedReadout,
  inputs: Matrix,
  start: number,
  maxDelay: number,
  signal: AbortSignal | undefined,
): Promise<Float64Array> {
  const correlations = Array.from({ length: maxDelay + 1 }, () => new Correlation());
  for (let from = start; from < inputs.rows; from += chunk) {
    const to = Math.min(inputs.rows, from + chunk);
    const states = await computer.run(inputs.subarray(from, to), { signal });
    const outputs = readout.predict(states, undefined, { precision: "float64" });
    for (let t = from; t < to; t++) {
      for (let k = 0; k <= maxDelay; k++) correlations[k]!.add(inputs.data[t - k]!, outputs.data[(t - from) * outputs.cols + k]!);
    }
  }
  return Float64Array.from(correlations, (correlation) => correlation.squared());
}

/**
 * The squared correlation of pairs that come one by one (Welford's updates of means and sums of
 * squares).
 */
class Correlation {
  #count = 0;
  #meanX = 0;
  #meanY = 0;
  #xx = 0;
  #yy = 0;
  #xy = 0;

  add(x: number, y: number): void {
    this.#count++;
    const dx = x - this.#meanX;
    const dy = y - this.#meanY;
    this.#meanX += dx / this.#count;
    this.#meanY += dy / this.#count;
    this.#xx += dx * (x - this.#meanX);
    this.#yy += dy * (y - this.#meanY);
    this.#xy += dx * (y - this.#meanY);
  }

  /** 0 if one of the two never changes. */
  squared(): number {
    return this.#xx > 0 && this.#yy > 0 ? (this.#xy * this.#xy) / (this.#xx * this.#yy) : 0;
  }
}
