// Policy evaluation: the value of what a process will bring, as a linear readout of states, by
// least-squares temporal differences.
import { flag, type InputOf, number, option, resolve } from "@spillway/core/options.js";
import { BlockProduct, Matrix, solveSquare, transposed } from "@spillway/numerics";
import { type FeatureSpec, writeFeatures } from "../reservoir/features.js";
import { SingularFitError } from "./errors.js";
import { type FeatureOptions, featureSpec, featuresOf, featureTable } from "./features-option.js";
import { TrainedReadout } from "./trained-readout.js";
import type { Trainer } from "./trainer.js";
import { type FitOptions, type SeriesLike, shapeOf, type TrainingSequence, trainingSequences } from "./training-data.js";

export const lstdTable = {
  ...featureTable,
  /** gamma: what a reward of the next step is worth now, 0 to 1. Default 0.9. */
  discount: option(number({ atLeast: 0, atMost: 1 }), 0.9, "What a reward of the next step is worth now."),
  /** The decay of the eligibility trace, 0 to 1; 1 is regression on returns. Default 0. */
  trace: option(number({ atLeast: 0, atMost: 1 }), 0, "Decay of the eligibility trace; 1 is regression on returns."),
  /** Added to the diagonal of A but for the intercept. Default 1e-6. */
  lambda: option(number({ atLeast: 0 }), 1e-6, "Added to the diagonal of A, but for the intercept."),
  /**
   * Whether each sequence is an episode that ends behind its last row, where the value is 0.
   * Default false: the process goes on, and the last row has no successor to learn from.
   */
  episodes: option(flag, false, "Each sequence is an episode, behind whose end the value is 0."),
};

/** Discount, trace, penalty and features of least-squares temporal differences. */
export interface LstdOptions extends FeatureOptions, InputOf<typeof lstdTable> {}

/** Evaluates a policy on states and rewards. */
export interface LstdTrainer extends Trainer {
  /** On T x N states and T x O rewards, or on lists of them. */
  fit(states: SeriesLike, rewards: SeriesLike, options?: FitOptions): TrainedReadout;
}

/** Rows of features at a time. */
const chunk = 1024;

/**
 * LSTD(trace): the weights w of the values V(t) = w . x(t) = E[r(t) + discount V(t + 1)], x(t) the
 * features of states and r(t) the reward between t and t + 1,
 *
 *     z(t) = discount trace z(t - 1) + x(t),    z before a sequence 0
 *     A = sum z(t) (x(t) - discount x(t + 1))',  b = sum z(t) r(t)',    w = (A + lambda I)^-1 b
 *
 * `fit(states, rewards)` takes T x N states and T x O rewards, or a list of sequences. It evaluates
 * the policy that made the series and improves none. States of a reservoir remember, so the
 * process may be observed in part only. Sums are in the order of docs/numerics.md, rule 9; A is not symmetric
 * and is solved with row exchanges. Sources: S. Bradtke and A. Barto 1996, "Linear least-squares
 * algorithms for temporal difference learning", Machine Learning 22; J. Boyan 2002, "Technical
 * update: least-squares temporal difference learning", Machine Learning 49.
 * @throws ArgumentError naming the option; `fit` throws SingularFitError if the rows do not
 * determine the weights
 */
export function lstd(options: LstdOptions = {}): LstdTrainer {
  const { discount, trace, lambda, episodes, intercept, ...rest } = resolve(lstdTable, options, "lstd");
  const features = featureSpec(rest);
  return {
    features,
    fit(states, rewards, fitOptions = {}) {
      const sequences = trainingSequences(states, rewards, fitOptions, features.input);
      const shape = shapeOf(sequences[0]!);
      const count = featuresOf(features, shape) + (intercept ? 1 : 0);
      const product = new BlockProduct(count, count + shape.outputSize);
      let rows = 0;
      try {
        for (const sequence of sequences)
          rows += addSequence(product, sequence, { features, count, discount, decay: discount * trace, episodes });
        const a = Matrix.zeros(count, count);
        const b = Matrix.zeros(count, shape.outputSize);
        for (let j = 0; j < count; j++) setColumn(a, j, product.column(j));
        for (let o = 0; o < b.cols; o++) setColumn(b, o, product.column(count + o));
        const penalised = intercept ? count - 1 : count;
        for (let i = 0; i < penalised; i++) a.data[i * count + i] = a.data[i * count + i]! + lambda;
        const solved = solveSquare(a, b);
        if (!solved?.data.every(Number.isFinite)) throw new SingularFitError(lambda, rows, count);
        const weights = transposed(solved.subarray(0, penalised));
        const own = intercept ? solved.row(count - 1).slice() : new Float64Array(b.cols);
        const { stateSize, inputSize } = shape;
        const data = { features, stateSize, inputSize, weights, intercept: own };
        return new TrainedReadout(data, { method: "lstd", rows, details: { discount, trace, lambda, episodes } });
      } finally {
        product.dispose();
      }
    },
  };
}

function setColumn(matrix: Matrix<Float64Array>, column: number, values: Float64Array): void {
  for (let r = 0; r < matrix.rows; r++) matrix.data[r * matrix.cols + column] = values[r]!;
}

interface Settings {
  readonly features: FeatureSpec;
  /** F, a constant one included. */
  readonly count: number;
  readonly discount: number;
  /** discount trace. */
  readonly decay: number;
  readonly episodes: boolean;
}

/** Adds a sequence's rows to A and b; returns how many had a successor. */
function addSequence(product: BlockProduct, { states, inputs, targets }: TrainingSequence, settings: Settings): number {
  const { features, count, discount, decay, episodes } = settings;
  const rows = episodes ? states.rows : states.rows - 1;
  const write = (t: number, out: Float64Array): Float64Array => {
    // The last one is the constant feature, if there is one.
    out.fill(1);
    writeFeatures(features, states.row(t), inputs.cols > 0 ? inputs.row(t) : [], out);
    return out;
  };
  const trace = new Float64Array(count);
  const present = new Float64Array(count);
  const next = new Float64Array(count);
  if (rows > 0) write(0, next);
  for (let from = 0; from < rows; from += chunk) {
    const size = Math.min(chunk, rows - from);
    const traces = Matrix.zeros(size, count);
    const right = Matrix.zeros(size, count + targets.cols);
    for (let k = 0; k < size; k++) {
      const t = from + k;
      present.set(next);
      if (t + 1 < states.rows) write(t + 1, next);
      else next.fill(0);
      for (let f = 0; f < count; f++) {
        trace[f] = decay * trace[f]! + present[f]!;
        right.data[k * right.cols + f] = present[f]! - discount * next[f]!;
      }
      traces.row(k).set(trace);
      for (let o = 0; o < targets.cols; o++) right.data[k * right.cols + count + o] = targets.data[t * targets.cols + o]!;
    }
    const add = product.add([{ matrix: traces, square: "none" }], size, (j, first, part, out, at, step) => {
      for (let k = first, p = at; k < first + part; k++, p += step) out[p] = right.data[k * right.cols + j]!;
    });
    while (!add.next().done);
  }
  return rows;
}
