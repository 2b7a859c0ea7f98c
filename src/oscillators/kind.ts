// The kind "oscillator" of reservoirs: its sizes and what it draws. The step is in step.ts.
import { Matrix, portableCos, portableSin, RandomStream, seedKeys } from "../numerics/index.js";
import { type KindDraw, type KindMatrix, type KindSizes, type ReservoirKind, sparseFromRows } from "../reservoir/index.js";
import { roundFor } from "./circle.js";
import { oscillatorKernel } from "./device.js";
import { completeOscillators, type OscillatorConfig, oscillatorTable } from "./options.js";
import { orderOf, oscillatorStep } from "./step.js";
import { oscillatorTangent } from "./tangent.js";
import { oscillatorWasm } from "./wasm.js";

/** Streams of rule 7: W and W_in those of other reservoirs, b 2, first phases 4, frequencies 5. */
const streams = { weights: 0, inputWeights: 1, bias: 2, initialPhases: 4, frequencies: 5 } as const;

const fullTurn = 6.283185307179586;

function sizes({ size, inputSize, coupling, harmonics, order, noise }: OscillatorConfig): KindSizes {
  return {
    states: 2 * size * harmonics + (order ? 1 : 0),
    noisy: noise > 0,
    matrices: {
      ...(coupling === "random" && { weights: [size, size] as const }),
      inputWeights: [size, inputSize],
      bias: [size, 1],
      frequencies: [size, 1],
    },
  };
}

function draw(config: OscillatorConfig): KindDraw {
  const { size, inputSize, seed, coupling, gain, inputs } = config;
  const key = seedKeys(seed).weights;
  const column = (stream: number, of: (u: number, i: number) => number) => {
    const values = new RandomStream(key, stream);
    return new Matrix(
      size,
      1,
      Float64Array.from({ length: size }, (_, i) => of(values.uniform(i, 0), i)),
    );
  };
  const inputWeights = Matrix.zeros(size, inputSize);
  const values = new RandomStream(key, streams.inputWeights);
  const places = new RandomStream(key, streams.inputWeights, 1);
  for (let i = 0; i < size; i++) {
    const only = inputs === "one" ? places.integer(i, 0, inputSize) : undefined;
    for (let k = 0; k < inputSize; k++)
      if (only === undefined || only === k) inputWeights.data[i * inputSize + k] = gain * (2 * values.uniform(i, k) - 1);
  }
  return {
    initial: statesOf(config, column(streams.initialPhases, (u) => fullTurn * u).data),
    matrices: {
      ...(coupling === "random" && { weights: randomCoupling(config) }),
      inputWeights,
      bias: column(streams.bias, (u) => fullTurn * u),
      // One of each N-th part of the distribution: every seed has the same spread.
      frequencies: column(streams.frequencies, (u, i) => frequencyOf(config, (i + u) / size)),
    },
  };
}

/** The natural frequency below which a share u of all lies. */
function frequencyOf({ frequency, frequencySpread, frequencyDistribution }: OscillatorConfig, u: number): number {
  if (frequencyDistribution === "uniform") return frequency + frequencySpread * (2 * u - 1);
  // tan(pi (u - 1/2)), no more than 400 half widths from the middle.
  const quantile = -portableCos(0.5 * fullTurn * u) / portableSin(0.5 * fullTurn * u);
  return frequency + frequencySpread * Math.max(-400, Math.min(400, quantile));
}

/** Normal weights of deviation K / sqrt(N p), without self-connections, in binary64. */
function randomCoupling({ size, strength, connectionProbability: share, seed }: OscillatorConfig): KindMatrix {
  const key = seedKeys(seed).weights;
  const values = new RandomStream(key, streams.weights);
  const chances = new RandomStream(key, streams.weights, 1);
  const factor = strength / Math.sqrt(size * share);
  if (share === 1) {
    const out = Matrix.zeros(size, size);
    for (let i = 0; i < size; i++) for (let j = 0; j < size; j++) if (i !== j) out.data[i * size + j] = factor * values.normal(i, j);
    return out;
  }
  const columns = (i: number) => Array.from({ length: size }, (_, j) => j).filter((j) => j !== i && chances.uniform(i, j) < share);
  return sparseFromRows(size, size, columns, (i, _, j) => factor * values.normal(i, j));
}

/** The states of phases, in binary64. */
function statesOf({ size, harmonics, order, precision }: OscillatorConfig, phases: Float64Array): Float64Array {
  const out = new Float64Array(2 * size * harmonics + (order ? 1 : 0));
  for (let m = 1; m <= harmonics; m++) {
    for (let i = 0; i < size; i++) {
      out[2 * size * (m - 1) + i] = portableCos(m * phases[i]!);
      out[2 * size * (m - 1) + size + i] = portableSin(m * phases[i]!);
    }
  }
  if (order) out[2 * size * harmonics] = orderOf(out, out.subarray(size), size, roundFor(precision));
  return out;
}

/** Coupled phase oscillators as a reservoir. */
export const oscillatorKind: ReservoirKind<OscillatorConfig> = {
  name: "oscillator",
  description: "Coupled phase oscillators that the input pulls at, with Langevin noise; states are their cosines and sines.",
  options: oscillatorTable,
  complete: completeOscillators,
  sizes,
  draw,
  stepper: oscillatorStep,
  wasm: oscillatorWasm,
  kernel: oscillatorKernel,
  tangent: oscillatorTangent,
};
