// The kind "oscillator" of reservoirs: its sizes, what it draws, and the arguments of its step in
// WebAssembly and on a device. The step itself is in step.ts.
import {
  allocate,
  type FloatArray,
  isSparse,
  Matrix,
  type Precision,
  portableCos,
  portableSin,
  RandomStream,
  type SparseMatrix,
  seedKeys,
  visitFull,
} from "@spillway/numerics";
import { matrixPanels, packColumns, packPanels, packSlices, sliceLayout } from "@spillway/numerics/wasm/layout.js";
import {
  type KindDraw,
  type KindKernel,
  type KindMatrix,
  type KindMemory,
  type KindSizes,
  type KindWasm,
  type KindWasmArgument,
  type ReservoirKind,
  sparseFromRows,
} from "../reservoir/index.js";
import { oscillatorTable } from "../reservoir/registered/oscillator-options.js";
import { roundFor } from "./circle.js";
import { completeOscillators, type OscillatorConfig, type OscillatorMatrices, type OscillatorModel } from "./options.js";
import { sinesWithin } from "./sines.js";
import { OscillatorStep, orderOf, oscillatorStep } from "./step.js";
import { oscillatorTangent } from "./tangent.js";

const couplings = { dense: 0, sparse: 1, meanField: 2 } as const;

/** W for its products: kind of coupling, panels or slices, values, offsets, columns and rows. */
type Packed = readonly [kind: number, parts: number, ...memory: KindWasmArgument[]];

/** Functions of WebAssembly with the steps of a model. */
function oscillatorWasm(model: OscillatorModel): KindWasm {
  const { config, precision, noiseKey, matrices } = model;
  const { size, inputSize, steps, harmonics, order, pull, input } = config;
  const { h, halfStep, meanGain, noiseScale, drive, fieldY, omega } = new OscillatorStep(model);
  const elementBytes = precision === "float32" ? 4 : 8;
  // Whole panels of rows, which are whole vectors.
  const { panelRows, panels } = matrixPanels({ rows: size, cols: size }, elementBytes, 2);
  const padded = panelRows * panels;
  const column = (values: FloatArray): KindMemory => ({ length: padded, fill: (out) => out.set(values) });
  const { weights, inputWeights } = matrices;
  return {
    setup: "oscillatorModel",
    run: precision === "float32" ? "oscillators32" : "oscillators64",
    arguments: [
      ...[size, padded * elementBytes, inputSize],
      ...(!weights ? [couplings.meanField, 0, 0, 0, 0, 0] : isSparse(weights) ? sliced(weights, elementBytes, padded) : panelled(weights)),
      ...[column(omega), column(drive), column(fieldY)],
      { length: inputSize * padded, fill: (out: FloatArray) => packColumns(inputWeights, padded, out) },
      ...[Number(input === "field"), pull, h, halfStep, meanGain, noiseScale, ...noiseKey, steps, harmonics, Number(order)],
      // Ten vectors with padding behind them, 32 sums, and pairs in 32 parts.
      { length: 10 * (padded + 4) + 64 + 64 * Math.ceil(size / 32) },
    ],
    ...(input === "phase" && { takes: sinesWithin(inputWeights, drive) }),
  };
}

function panelled(weights: Matrix): Packed {
  const layout = matrixPanels(weights, weights.data.BYTES_PER_ELEMENT, 2);
  const values: KindMemory = { length: layout.length, fill: (out) => packPanels(weights, layout, out) };
  return [couplings.dense, layout.panels, values, 0, 0, 0];
}

function sliced(weights: SparseMatrix, elementBytes: number, padded: number): Packed {
  const layout = sliceLayout(weights, elementBytes, padded);
  const { slices, sliceRows, offsets, rows } = layout;
  const columns = new Uint32Array(offsets[slices]! * sliceRows);
  const values: KindMemory = { length: columns.length, fill: (out) => packSlices(weights, layout, out, columns) };
  return [couplings.sparse, slices, values, offsets, columns, rows];
}

/**
 * Up to so many oscillators with a W one block is faster than several that wait for one another.
 */
const mostAlone = 128;

/** The same in the mean field, where nothing but two sums ties them. */
const mostAloneInTheMean = 2048;

/** Threads of a block, but for a dense W. */
const threads = 256;

/** A dense W: the rows that a warp takes at a time, and the most warps of a block. */
const tileRows = 4;
const mostWarps = { float32: 12, float64: 8 } as const;

/** Multiprocessors of a large device: there a warp has one tile, or few. */
const largeDevice = 132;

/** The kernel of a model. */
function oscillatorKernel(model: OscillatorModel): KindKernel {
  const { config, precision, noiseKey, matrices } = model;
  const { size, inputSize, steps, harmonics, order, pull, input, coupling } = config;
  const { h, halfStep, meanGain, noiseScale, drive, fieldY, omega } = new OscillatorStep(model);
  const { weights, inputWeights } = matrices;
  const nothing = allocate(precision, 1);
  const real = precision === "float32" ? "f32" : "f64";
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

type Shares = Pick<KindKernel, "threads" | "blocks" | "shared" | "why">;

/** How oscillators are shared out over a device, and why. */
function sharesOf(kind: keyof typeof couplings, size: number, precision: Precision): Shares {
  const what = `${size.toLocaleString("en")} ${size === 1 ? "oscillator" : "oscillators"}`;
  const isMean = kind === "meanField";
  const isAlone = size <= (isMean ? mostAloneInTheMean : mostAlone);
  const why = isAlone
    ? `${what} take less time than a wait for other blocks`
    : isMean
      ? `${what} are shared out`
      : `they share out the rows of W of ${what}, which takes longer than their waits for one another`;
  if (kind === "dense") return denseShares(size, precision, isAlone, why);
  const rows = isMean ? threads : threads / 32;
  return { threads, blocks: (most) => (isAlone ? 1 : Math.min(most, Math.ceil(size / rows))), why };
}

/**
 * Tiles of a dense W over the warps of one block or of as many as there are multiprocessors, with s,
 * c and as many columns of W in shared memory as it has bytes for.
 */
function denseShares(size: number, precision: Precision, isAlone: boolean, why: string): Shares {
  const tiles = Math.ceil(size / tileRows);
  const each = Math.ceil(tiles / (isAlone ? 1 : largeDevice));
  const warps = Math.max(2, Math.ceil(each / Math.ceil(each / mostWarps[precision])));
  const element = precision === "float32" ? 4 : 8;
  return {
    threads: 32 * warps,
    blocks: (most) => (isAlone ? 1 : Math.min(most, Math.ceil(tiles / warps))),
    shared(most, blocks) {
      const rows = tileRows * warps * Math.ceil(tiles / (warps * blocks));
      const vectors = 2 * size * element;
      return vectors > most ? 0 : Math.min(most, vectors + rows * 32 * Math.ceil(size / 32) * element);
    },
    why,
  };
}

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

function draw(config: OscillatorConfig): KindDraw<OscillatorMatrices> {
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
  const channels = new RandomStream(key, streams.inputWeights, 1);
  for (let i = 0; i < size; i++) {
    const only = inputs === "one" ? channels.integer(i, 0, inputSize) : undefined;
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
    const full = { values, distribution: "normal", size, withoutOwn: false } as const;
    visitFull(full, factor, "float64", 1, (row, i) => out.data.set(row, i * size));
    for (let i = 0; i < size; i++) out.data[i * (size + 1)] = 0;
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
export const oscillatorKind: ReservoirKind<OscillatorConfig, OscillatorMatrices> = {
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
