// The named kernels in plain TypeScript, over typed arrays: slow, and what those of a device are
// held against.
import { resolve } from "@spillway/core/options.js";
import { type FloatArray, Matrix, type Precision, rowDot, type SparseMatrix } from "@spillway/numerics";
import { divideByLength } from "@spillway/numerics/spectrum/power-iteration.js";
import { activationOf } from "../../reservoir/index.js";
import { noise as noiseOf } from "../../reservoir/step.js";
import { cosine32, dot32, norm32 } from "../../spikes/detection/cosine.js";
import { type BinOptions, binSpikes, type SpikePattern } from "../../spikes/index.js";
import { type Checked, type ElementType, isSparseArrays, NeuromorphicOperations, type SparseArrays } from "./operations.js";
import { precisionTable } from "./options.js";

/** Typed arrays. */
export interface HostArrays {
  real: FloatArray;
  realInput: FloatArray;
  u32Input: Uint32Array;
  f32: Float32Array;
  f32Input: Float32Array;
  i32: Int32Array;
}

const types = { f32: Float32Array, f64: Float64Array, i32: Int32Array, u32: Uint32Array } as const;

/** The operations on the host: the bits of `NeuromorphicKernels`, at once. */
export class HostNeuromorphicKernels extends NeuromorphicOperations<HostArrays> {
  protected readonly takes = "a typed array";
  readonly #round: (value: number) => number;

  /** For states and weights of a precision, default "float32". */
  constructor(options: { readonly precision?: Precision | undefined } = {}) {
    const { precision } = resolve(precisionTable, options);
    super(precision);
    this.#round = precision === "float32" ? Math.fround : (value) => value;
  }

  /**
   * Spikes counted in bins of time and neuron, T x C: `binSpikes` of spillway/spikes. @throws
   * ArgumentError
   */
  async spikeEncoding(pattern: SpikePattern, options: BinOptions): Promise<Matrix<Float32Array>> {
    return binSpikes(pattern, options);
  }

  protected typeOf(array: unknown): ElementType | undefined {
    return (Object.keys(types) as (keyof typeof types)[]).find((type) => array instanceof types[type]);
  }

  protected make(_name: string, type: ElementType, length: number): HostArrays["real"] {
    return new types[type as keyof typeof types](length) as FloatArray;
  }

  protected computeInput({ size, steps, inputSize, weights, inputs, bias, out }: Checked<HostArrays>["input"]): void {
    const round = this.#round;
    for (let t = 0; t < steps; t++)
      for (let r = 0; r < size; r++) {
        let sum = bias?.[r] ?? 0;
        for (let i = 0; i < inputSize; i++) sum = round(sum + round(weights![i * size + r]! * inputs![t * inputSize + i]!));
        out[t * size + r] = sum;
      }
  }

  protected computeProduct({ weights, state, rows, out }: Checked<HostArrays>["product"]): void {
    const matrix = matrixOf(weights, rows, state.length);
    for (let r = 0; r < rows; r++) out[r] = rowDot(matrix, r, state, this.#round);
  }

  protected computeLeaky({ state, drive, recurrent, feedback, leak, activation, noise, out }: Checked<HostArrays>["leaky"]): void {
    const round = this.#round;
    const { precision } = this;
    const activate = activationOf({ activation, precision });
    const { level = 0, key = [0, 0], step = 0, sequence = 0 } = noise ?? {};
    for (let i = 0; i < out.length; i++) {
      let z = drive[i]!;
      if (recurrent) z = round(z + recurrent[i]!);
      if (feedback) z = round(z + feedback[i]!);
      if (round(level) !== 0) z = round(z + noiseOf(round(level), key, i, step, sequence, precision));
      const a = leak[i]!;
      out[i] = round(round(round(1 - a) * state[i]!) + round(a * activate(z)));
    }
  }

  protected computePower({ weights, state, out, length }: Checked<HostArrays>["power"]): void {
    this.computeProduct({ weights, state, rows: out.length, out });
    length[0] = divideByLength(out, state);
  }

  protected computeDetection(work: Checked<HostArrays>["detection"]): void {
    const { vectors, templates, length, count, templateCount, score, threshold, scores, best, matches } = work;
    const norms = Float32Array.from({ length: templateCount }, (_, p) => norm32(templates, p * length, length));
    for (let b = 0; b < count; b++) {
      const norm = norm32(vectors, b * length, length);
      let index = 0;
      for (let p = 0; p < templateCount; p++) {
        const dot = dot32(vectors, b * length, templates, p * length, length);
        const at = b * templateCount + p;
        scores[at] = score === "dot" ? dot : cosine32(dot, norm, norms[p]!);
        if (scores[at]! > scores[b * templateCount + index]!) index = p;
      }
      best[b] = index;
      matches[b] = scores[b * templateCount + index]! >= threshold ? index : -1;
    }
  }
}

function matrixOf(weights: FloatArray | SparseArrays<HostArrays>, rows: number, cols: number): Matrix | SparseMatrix {
  return isSparseArrays<HostArrays>(weights) ? { rows, cols, ...weights } : new Matrix(rows, cols, weights);
}
