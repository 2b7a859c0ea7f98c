// The series and runs that the golden programs and every place that runs them make for themselves.
import { allocate, Matrix, type Precision } from "../../packages/numerics/src/index.js";
import type { SpikingModel, SpikingReservoirOptions } from "../../src/reservoir/index.js";

export interface SpikingRun {
  readonly name: string;
  readonly config: SpikingReservoirOptions;
  readonly steps: number;
}

/**
 * White noise of 12-bit numbers, exact in every precision: s = 1664525 s + 1013904223 mod 2^32,
 * then (s >>> 20) / 2048 - 1.
 */
export function goldenSeries(seed: number, rows: number, cols: number, precision: Precision): Matrix {
  const data = allocate(precision, rows * cols);
  let s = seed;
  for (let i = 0; i < data.length; i++) {
    s = (Math.imul(1664525, s) + 1013904223) >>> 0;
    data[i] = (s >>> 20) / 2048 - 1;
  }
  return new Matrix(rows, cols, data);
}

/** y_o(t) = u_o(t) - u_o(t-1), with u(-1) = 0. */
export function goldenTargets(inputs: Matrix, outputs: number, precision: Precision): Matrix {
  const data = allocate(precision, inputs.rows * outputs);
  for (let t = 0; t < inputs.rows; t++) {
    for (let o = 0; o < outputs; o++) data[t * outputs + o] = inputs.row(t)[o]! - (t > 0 ? inputs.row(t - 1)[o]! : 0);
  }
  return new Matrix(inputs.rows, outputs, data);
}

const kind = "spiking";
export const spikingRuns: readonly SpikingRun[] = [
  { name: "one-neuron", config: { kind, size: 1, input: { weight: 18 }, background: { current: 20 }, seed: 1 }, steps: 200 },
  {
    name: "liquid-1000-by-distance",
    config: {
      kind,
      size: 1000,
      inputSize: 3,
      input: { weight: 18 },
      background: { current: 13.5, deviation: 4 },
      initialPotential: { from: -60, to: -55 },
    },
    steps: 400,
  },
  {
    name: "adaptive-by-subtraction-at-random",
    config: {
      kind,
      size: 130,
      inputSize: 5,
      timeStep: 0.5,
      precision: "float64",
      neuron: { type: "adaptiveIntegrateAndFire", reset: "subtract", refractoryPeriod: 1 },
      inhibitory: { share: 0.3, neuron: { refractoryPeriod: 0, membraneTimeConstant: 10 } },
      connectivity: { type: "random", probability: { ee: 0.1, ei: 0.3, ie: 0.5, ii: 0.2 } },
      synapses: { excitatoryTimeConstant: 0, distribution: "uniform", delay: { ee: [0, 7], ei: 2 }, weight: 4 },
      input: { weight: 60, negativeShare: 0.2, delay: 3 },
      background: { rate: 200, weight: 30 },
      stateTimeConstant: 0,
      seed: "two populations",
    },
    steps: 500,
  },
  {
    name: "izhikevich-with-currents",
    config: {
      kind,
      size: 97,
      inputSize: 4,
      neuron: "izhikevich",
      connectivity: { type: "distance", grid: [4, 25, 1], lambda: 1.5 },
      synapses: { weight: { ee: 4, ei: 4, ie: 6, ii: 6 }, inhibitoryTimeConstant: 3 },
      input: { mode: "current", weight: 8, connectivity: 0.6 },
      background: { current: 4, deviation: 3 },
      fractionBits: 16,
      seed: -3,
    },
    steps: 500,
  },
];

/** The inputs of spiking.c. */
export function spikingInputs({ inputSize, precision, inputWeights }: SpikingModel, steps: number): Matrix {
  const data = allocate(precision, steps * inputSize);
  let s = 1;
  for (let i = 0; i < data.length; i++) {
    s = (Math.imul(1664525, s) + 1013904223) >>> 0;
    const value = s >>> 20;
    data[i] = inputWeights ? value / 2048 - 1 : value < 205 ? (value % 2 === 1 ? 1 : 0.75) : 0;
  }
  return new Matrix(steps, inputSize, data);
}
