// The kind "stateAffine" of reservoirs: its sizes and its matrices. The step is in step.ts, and
// what makes the matrices of qubits in quantum/.
import { type FloatArray, Matrix, RandomStream, seedKeys } from "@spillway/numerics";
import { matrixPanels, packColumns, packPanels } from "@spillway/numerics/wasm/layout.js";
import type { KindDraw, KindSizes, ReservoirKind } from "../registered/kind.js";
import type { KindWasm, KindWasmArgument } from "../registered/wasm.js";
import { orthogonalMatrix } from "../topologies/orthogonal.js";
import { completeStateAffine, type StateAffineConfig, type StateAffineMatrices, type StateAffineModel } from "./complete.js";
import { type InputFunction, stateAffineTable } from "./options.js";
import { quantumSystem } from "./quantum/system.js";
import { stateAffineStep, stateAffineTangent } from "./step.js";

/** Each function's two bits. */
const codes = { u: 0, "u^2": 1, "sqrt(u(1-u))": 2 } as const;

/** Functions of WebAssembly with the steps of a model. */
function stateAffineWasm({ config, precision, matrices }: StateAffineModel): KindWasm {
  const { inputSize, functions, range } = config;
  const { transition, transitionOffset, output, outputOffset } = matrices;
  const round = precision === "float32" ? Math.fround : (value: number) => value;
  const low = round(range[0]);
  const size = transition.cols;
  return {
    setup: "stateAffineModel",
    run: precision === "float32" ? "stateAffine32" : "stateAffine64",
    arguments: [
      ...[size, outputOffset?.rows ?? 0, inputSize, functions.length],
      functions.reduce((bits, name, k) => bits | (codes[name] << (2 * k)), 0),
      ...[low, round(round(range[1]) - low)],
      ...blocks(transition, transitionOffset),
      ...(output && outputOffset ? blocks(output, outputOffset) : [0, 0, 0, 0]),
      // x in 32 parts, products, what they add up to, and gains.
      { length: 32 * Math.ceil(size / 32) },
      { length: Math.max(transition.rows, output?.rows ?? 0) + 32 },
      { length: Math.max(size, outputOffset?.rows ?? 0) + 4 },
      { length: inputSize * functions.length },
    ],
  };
}

/** Panels of blocks of rows, how many there are, bytes to their second stream, and the offsets. */
function blocks(matrix: Matrix, offsets: Matrix): KindWasmArgument[] {
  const elementBytes = matrix.data.BYTES_PER_ELEMENT;
  const layout = matrixPanels(matrix, elementBytes);
  const lanes = 16 / elementBytes;
  const padded = Math.ceil(offsets.rows / lanes) * lanes;
  return [
    { length: layout.length, fill: (out: FloatArray) => packPanels(matrix, layout, out) },
    layout.panels,
    layout.streams === 2 ? (layout.length * elementBytes) / 2 : 0,
    { length: padded * offsets.cols, fill: (out: FloatArray) => packColumns(offsets, padded, out) },
  ];
}

/** Streams of rule 7 that are drawn from: A and the B_k by purpose, then b and the c_k. */
const streams = { matrices: 6, offsets: 2 } as const;

/** The largest value of each function on [0, 1]. */
const largest: Readonly<Record<InputFunction, number>> = { u: 1, "u^2": 1, "sqrt(u(1-u))": 0.5 };

function sizes({ size, inputSize, functions, quantum }: StateAffineConfig): KindSizes {
  const terms = 1 + inputSize * functions.length;
  const states = quantum ? quantum.qubits * quantum.virtualNodes : size;
  return {
    states,
    hidden: quantum ? size : 0,
    matrices: {
      transition: [terms * size, size],
      transitionOffset: [size, terms],
      ...(quantum && { output: [terms * states, size], outputOffset: [states, terms] }),
    },
  };
}

function draw(config: StateAffineConfig): KindDraw<StateAffineMatrices> {
  const { quantum, seed } = config;
  if (!quantum) return drawn(config);
  const matrices = quantumSystem(quantum, seed);
  return { initial: new Float64Array(matrices.output.cols + matrices.outputOffset.rows), matrices };
}

/**
 * Random orthogonal matrices. With c the contraction, m the modulation and K functions of inputs, A
 * is one times c (1 - m), and B_k one times c m / (K largest g_k): no A + sum of g_k B_k has a norm
 * beyond c.
 */
function drawn({
  size,
  inputSize,
  functions,
  contraction,
  modulation,
  inputScaling,
  bias,
  seed,
}: StateAffineConfig): KindDraw<StateAffineMatrices> {
  const { weights } = seedKeys(seed);
  const factors = [contraction * (1 - modulation)];
  const terms = inputSize * functions.length;
  for (let i = 0; i < inputSize; i++) for (const name of functions) factors.push((contraction * modulation) / (terms * largest[name]));
  const transition = Matrix.zeros((terms + 1) * size, size);
  const offsets = Matrix.zeros(size, terms + 1);
  for (const [k, factor] of factors.entries()) {
    if (factor > 0) {
      const { data: values } = orthogonalMatrix(size, new RandomStream(weights, streams.matrices, k));
      for (let i = 0; i < values.length; i++) transition.data[k * size * size + i] = factor * values[i]!;
    }
    const column = new RandomStream(weights, streams.offsets, k);
    const scale = k === 0 ? bias : inputScaling;
    for (let i = 0; i < size; i++) offsets.data[i * (terms + 1) + k] = scale * (2 * column.uniform(i, 0) - 1);
  }
  return { initial: new Float64Array(size), matrices: { transition, transitionOffset: offsets } };
}

/** State-affine systems as a reservoir. */
export const stateAffineKind: ReservoirKind<StateAffineConfig, StateAffineMatrices> = {
  name: "stateAffine",
  description: "A system that is linear in its state and not in its input; with quantum, qubits with an Ising interaction.",
  options: stateAffineTable,
  forScores: { range: [-3, 3] },
  complete: completeStateAffine,
  sizes,
  draw,
  stepper: stateAffineStep,
  wasm: stateAffineWasm,
  tangent: stateAffineTangent,
};
