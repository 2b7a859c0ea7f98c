// Reservoirs in integer arithmetic on the host: 16-bit weights and states, sums in 32 bits.
import { isSparse } from "../numerics/index.js";
import type { EnginePlan } from "../reservoir/engine.js";
import { inputSteps, unit } from "../reservoir/integer/step.js";
import { integerTanh } from "../reservoir/integer/tanh.js";
import { type IntegerRows, integerRows } from "../reservoir/integer/weights.js";
import type { ReservoirModel } from "../reservoir/model.js";
import type { Stepper } from "./chunked-session.js";

/** Steps of a chunk. */
const capacity = 64;

/** Where row r of W has its columns, and which they are. */
interface Rows {
  readonly offsets: Int32Array;
  readonly columns: Int32Array;
}

function rowsOf({ weights, size }: ReservoirModel): Rows | undefined {
  if (!isSparse(weights)) return undefined;
  return { offsets: Int32Array.from({ length: size + 1 }, (_, r) => weights.rowOffsets[r]!), columns: Int32Array.from(weights.columns) };
}

export function integerPlan(engine: string, model: ReservoirModel): EnginePlan {
  const { size, inputSize, outputSize, weights } = model;
  const stored = isSparse(weights) ? 3 * weights.values.length : weights.data.length;
  return {
    engine,
    summary: `16-bit states and weights, 32-bit sums, ${isSparse(weights) ? "sparse" : "dense"}`,
    bytes: 2 * stored + size * (2 * (inputSize + outputSize) + 16) + capacity * 4 * (size + inputSize + outputSize),
    details: { arithmetic: "integer", storage: isSparse(weights) ? "sparse" : "dense", stepsPerChunk: capacity },
  };
}

export class IntegerStepper implements Stepper {
  readonly capacity = capacity;
  readonly inputs: Float32Array;
  readonly outputs: Float32Array;
  readonly states: Float32Array;
  readonly #model: ReservoirModel;
  readonly #rows: IntegerRows;
  readonly #sparse: Rows | undefined;
  readonly #values: Float32Array;
  #x: Int16Array;
  #next: Int16Array;

  constructor(model: ReservoirModel) {
    const { size, inputSize, outputSize } = model;
    this.#model = model;
    this.#rows = integerRows(model);
    this.#sparse = rowsOf(model);
    this.#values = new Float32Array(size);
    this.#x = new Int16Array(size);
    this.#next = new Int16Array(size);
    this.inputs = new Float32Array(capacity * inputSize);
    this.outputs = new Float32Array(capacity * outputSize);
    this.states = new Float32Array(capacity * size);
  }

  getValues(): Float32Array {
    return this.#values;
  }

  setValues(values: ArrayLike<number>): void {
    this.#values.set(values);
    for (let r = 0; r < this.#x.length; r++) this.#x[r] = values[r]! * unit;
  }

  advance(steps: number): number {
    const { size, inputSize, outputSize } = this.#model;
    const driving = new Int32Array(inputSize + outputSize);
    for (let t = 0; t < steps; t++) {
      for (let i = 0; i < inputSize; i++) driving[i] = inputSteps(this.inputs[t * inputSize + i]!);
      for (let o = 0; o < outputSize; o++) driving[inputSize + o] = inputSteps(this.outputs[t * outputSize + o]!);
      this.#step(driving);
      const first = t * size;
      for (let r = 0; r < size; r++) this.states[first + r] = this.#x[r]! / unit;
    }
    if (steps > 0) this.#values.set(this.states.subarray((steps - 1) * size, steps * size));
    return steps;
  }

  async dispose(): Promise<void> {}

  #step(driving: Int32Array): void {
    const { size, inputSize, outputSize } = this.#model;
    const { exponents, weights, inputWeights, feedbackWeights, bias, leakRate } = this.#rows;
    const x = this.#x;
    const next = this.#next;
    const sparse = this.#sparse;
    for (let r = 0; r < size; r++) {
      let sum = 0;
      for (let i = 0; i < inputSize; i++) sum = (sum + Math.imul(inputWeights[r * inputSize + i]!, driving[i]!)) | 0;
      for (let o = 0; o < outputSize; o++) sum = (sum + Math.imul(feedbackWeights[r * outputSize + o]!, driving[inputSize + o]!)) | 0;
      sum = ((sum << 3) + bias[r]!) | 0;
      if (sparse) {
        const end = sparse.offsets[r + 1]!;
        for (let p = sparse.offsets[r]!; p < end; p++) sum = (sum + Math.imul(weights[p]!, x[sparse.columns[p]!]!)) | 0;
      } else {
        const row = r * size;
        for (let k = 0; k < size; k++) sum = (sum + Math.imul(weights[row + k]!, x[k]!)) | 0;
      }
      const before = x[r]!;
      next[r] = before + ((Math.imul(leakRate[r]!, integerTanh(sum >> exponents[r]!) - before) + 16384) >> 15);
    }
    this.#x = next;
    this.#next = x;
  }
}
