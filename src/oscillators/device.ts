// The steps of phase oscillators as a kernel: what kernels/oscillators.cu is told of a model.
import { allocate, isSparse, type Matrix } from "../numerics/index.js";
import type { KindKernel, RegisteredModel } from "../reservoir/index.js";
import type { OscillatorConfig } from "./options.js";
import { OscillatorStep } from "./step.js";

const couplings = { dense: 0, sparse: 1, meanField: 2 } as const;

/** Threads of a block: eight rows of W at a time. */
const threads = 256;

/** Up to so many oscillators one block is faster than several that wait for one another. */
const mostAlone = 128;

/** Sines are the kernel's own below 2^30; the sum of the bounds is rounded. */
const largestPhase = 2 ** 29;

/** The kernel of a model. */
export function oscillatorKernel(model: RegisteredModel<OscillatorConfig>): KindKernel {
  const { config, precision, noiseKey, matrices } = model;
  const { size, inputSize, steps, harmonics, order, pull, input, coupling } = config;
  const { h, halfStep, meanGain, noiseScale, drive, fieldY, omega } = new OscillatorStep(model);
  const { weights } = matrices;
  const nothing = allocate(precision, 1);
  const real = precision === "float32" ? "f32" : "f64";
  const inputWeights = matrices["inputWeights"] as Matrix;
  const kind = coupling === "meanField" ? "meanField" : isSparse(weights!) ? "sparse" : "dense";
  const largest = (values: ArrayLike<number>) => Array.from(values).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const [most, start] = [largest(inputWeights.data), largest(drive)];
  return {
    source: { shipped: "oscillators" },
    entry: `oscillators_${real}`,
    threads,
    blocks: (multiprocessors) =>
      kind === "meanField" || size <= mostAlone ? 1 : Math.min(multiprocessors, Math.ceil(size / (threads / 32))),
    arguments: [
      ...[omega, drive, fieldY, inputSize > 0 ? inputWeights.data : nothing],
      ...(weights ? (isSparse(weights) ? [weights.values, weights.rowOffsets, weights.columns] : [weights.data]) : [nothing]),
      ...(kind === "sparse" ? [] : [new Uint32Array(1), new Uint32Array(1)]),
      ...[allocate(precision, 6 * size), new BigUint64Array(1)],
      ...[size, inputSize, steps, harmonics, Number(order), Number(input === "field"), couplings[kind]].map(
        (value) => ["i32", value] as const,
      ),
      ["f64", pull],
      ...[h, halfStep, meanGain, noiseScale].map((value) => [real, value] as const),
      ...noiseKey.map((word) => ["u32", word >>> 0] as const),
    ],
    ...(input === "phase" && {
      takes(inputs) {
        for (let row = 0; row < inputs.length; row += inputSize) {
          let sum = start;
          for (let k = 0; k < inputSize; k++) sum += most * Math.abs(inputs[row + k]!);
          if (!(sum < largestPhase)) return false;
        }
        return true;
      },
    }),
  };
}
