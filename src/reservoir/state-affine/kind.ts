// The kind "stateAffine" of reservoirs: its sizes and its matrices. The step is in step.ts, and
// what makes the matrices of qubits in quantum/.
import { isSparse, Matrix, RandomStream, seedKeys, toDense } from "../../numerics/index.js";
import type { KindDraw, KindSizes, ReservoirKind } from "../registered/kind.js";
import { orthogonal } from "../topologies/orthogonal.js";
import type { InputFunction } from "./description.js";
import { completeStateAffine, type StateAffineConfig, stateAffineTable } from "./options.js";
import { quantumSystem } from "./quantum/system.js";
import { stateAffineStep, stateAffineTangent } from "./step.js";
import { stateAffineWasm } from "./wasm.js";

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

function draw(config: StateAffineConfig): KindDraw {
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
function drawn({ size, inputSize, functions, contraction, modulation, inputScaling, bias, seed }: StateAffineConfig): KindDraw {
  const { weights } = seedKeys(seed);
  const factors = [contraction * (1 - modulation)];
  const terms = inputSize * functions.length;
  for (let i = 0; i < inputSize; i++) for (const name of functions) factors.push((contraction * modulation) / (terms * largest[name]));
  const transition = Matrix.zeros((terms + 1) * size, size);
  const offsets = Matrix.zeros(size, terms + 1);
  for (const [k, factor] of factors.entries()) {
    if (factor > 0) {
      const values = orthogonalValues(size, new RandomStream(weights, streams.matrices, k));
      for (let i = 0; i < values.length; i++) transition.data[k * size * size + i] = factor * values[i]!;
    }
    const column = new RandomStream(weights, streams.offsets, k);
    const scale = k === 0 ? bias : inputScaling;
    for (let i = 0; i < size; i++) offsets.data[i * (terms + 1) + k] = scale * (2 * column.uniform(i, 0) - 1);
  }
  return { initial: new Float64Array(size), matrices: { transition, transitionOffset: offsets } };
}

function orthogonalValues(size: number, values: RandomStream): ArrayLike<number> {
  const { matrix } = orthogonal.build({}, { size, values } as Parameters<typeof orthogonal.build>[1]);
  return (isSparse(matrix) ? toDense(matrix) : matrix).data;
}

/** State-affine systems as a reservoir. */
export const stateAffineKind: ReservoirKind<StateAffineConfig> = {
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
