// The steps of phase oscillators as a kernel: what kernels/oscillators.cu is told of a model.
import { allocate, isSparse, type Matrix, type Precision } from "../numerics/index.js";
import type { KindKernel, RegisteredModel } from "../reservoir/index.js";
import type { OscillatorConfig } from "./options.js";
import { sinesWithin } from "./sines.js";
import { OscillatorStep } from "./step.js";

const couplings = { dense: 0, sparse: 1, meanField: 2 } as const;

/**
 * Up to so many oscillators with a W one block is faster than several that wait for one another.
 */
const mostAlone = 128;

/** The same in the mean field, where nothing but two sums ties them. */
const mostAloneInTheMean = 2048;

/** Threads of a block, of which the kernel takes so many at most. */
const fewestThreads = 256;
const mostThreads = { float32: 1024, float64: 512 } as const;

/** Multiprocessors of a large device: there a warp has one row of W, or few. */
const largeDevice = 132;

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
  const report = new BigUint64Array(2);
  return {
    source: { shipped: "oscillators" },
    entry: `oscillators_${real}`,
    ...sharesOf(kind, size, precision),
    report,
    arguments: [
      ...[omega, drive, fieldY, inputSize > 0 ? inputWeights.data : nothing],
      ...(weights ? (isSparse(weights) ? [weights.values, weights.rowOffsets, weights.columns] : [weights.data]) : [nothing]),
      ...(kind === "sparse" ? [] : [new Uint32Array(1), new Uint32Array(1)]),
      ...[allocate(precision, 6 * size), report],
      ...[size, inputSize, steps, harmonics, Number(order), Number(input === "field"), couplings[kind]].map(
        (value) => ["i32", value] as const,
      ),
      ["f64", pull],
      ...[h, halfStep, meanGain, noiseScale].map((value) => [real, value] as const),
      ...noiseKey.map((word) => ["u32", word >>> 0] as const),
    ],
    ...(input === "phase" && { takes: sinesWithin(inputWeights, drive) }),
  };
}

/** How oscillators are shared out over a device, and why. */
function sharesOf(kind: keyof typeof couplings, size: number, precision: Precision): Pick<KindKernel, "threads" | "blocks" | "why"> {
  const what = `${size.toLocaleString("en")} ${size === 1 ? "oscillator" : "oscillators"}`;
  const isMean = kind === "meanField";
  if (size <= (isMean ? mostAloneInTheMean : mostAlone))
    return { threads: fewestThreads, blocks: () => 1, why: `${what} take less time than a wait for other blocks` };
  if (isMean)
    return { threads: fewestThreads, blocks: (most) => Math.min(most, Math.ceil(size / fewestThreads)), why: `${what} are shared out` };
  let threads = fewestThreads;
  while (threads < mostThreads[precision] && size > largeDevice * (threads / 32)) threads *= 2;
  return {
    threads,
    blocks: (most) => Math.min(most, Math.ceil(size / (threads / 32))),
    why: `they share out the rows of W of ${what}, which takes longer than their waits for one another`,
  };
}
