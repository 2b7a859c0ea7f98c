// The matrices by which a quantum reservoir is a state-affine system. No engine sees a quantum
// state: it multiplies these.
import { Matrix, RandomStream, type Seed, seedKeys } from "@spillway/numerics";
import type { QuantumConfig } from "../options.js";
import { adjoint, type ComplexMatrix, complexProduct, complexZeros, evolution, isingHamiltonian, signOf } from "./evolution.js";
import { pauliCoordinates, pauliMatrix } from "./pauli.js";

/** Matrices of x' and of the output: blocks of rows, and what is added. */
export interface QuantumSystem {
  /** 3 n x n: A, B, C, of which s multiplies B and sqrt(s (1 - s)) C. */
  readonly transition: Matrix<Float64Array>;
  /** n x 3. */
  readonly transitionOffset: Matrix<Float64Array>;
  /** 3 m x n. */
  readonly output: Matrix<Float64Array>;
  /** m x 3. */
  readonly outputOffset: Matrix<Float64Array>;
}

/** J_ij, i < j, uniform in [-J/2, J/2]: draws (i, j) of stream 0. */
export function drawCouplings(qubits: number, coupling: number, seed: Seed): Matrix<Float64Array> {
  const values = new RandomStream(seedKeys(seed).weights, 0);
  const out = Matrix.zeros(qubits, qubits);
  for (let i = 0; i < qubits; i++) for (let j = i + 1; j < qubits; j++) out.data[i * qubits + j] = coupling * (values.uniform(i, j) - 0.5);
  return out;
}

/**
 * Qubits that evolve for the time tau after each input s, which sets the first of them to
 * sqrt(s) |0> + sqrt(1 - s) |1>. x are the coordinates Tr(P rho) of the other qubits'
 * state for every word P of Pauli matrices but the identity, whose coordinate is always 1.
 *
 * An observable M after the time t has the mean Tr(M(t) (reset (x) rest)), M(t) = U' M U, which is
 * (a_I - a_Z + 2 s a_Z + 2 c a_X) x with a_R the coordinates of M(t) whose first matrix is R.
 */
export function quantumSystem({ qubits, virtualNodes, tau, coupling, field }: QuantumConfig, seed: Seed): QuantumSystem {
  const couplings = drawCouplings(qubits, coupling, seed);
  const part = evolution(isingHamiltonian(couplings, field), tau / virtualNodes);
  const others = 4 ** (qubits - 1);
  const observables: ComplexMatrix[] = [];
  let evolved = part;
  for (let v = 0; v < virtualNodes; v++) {
    if (v > 0) evolved = complexProduct(part, evolved);
    const back = adjoint(evolved);
    for (let qubit = 0; qubit < qubits; qubit++) observables.push(complexProduct(withSigns(back, qubit, qubits), evolved));
  }
  const back = adjoint(evolved);
  const moved = (word: number) => complexProduct(back, complexProduct(pauliMatrix(word, qubits), evolved));
  const outputs = affine(observables.length, others, qubits, (m) => observables[m]!);
  const transitions = affine(others - 1, others, qubits, (m) => moved(m + 1));
  return {
    transition: transitions.blocks,
    transitionOffset: transitions.offsets,
    output: outputs.blocks,
    outputOffset: outputs.offsets,
  };
}

/** M Z of a qubit: its columns times 1 or -1. */
function withSigns({ size, re, im }: ComplexMatrix, qubit: number, qubits: number): ComplexMatrix {
  const out = complexZeros(size);
  for (let i = 0; i < size; i++)
    for (let j = 0; j < size; j++) {
      const sign = signOf(j, qubit, qubits);
      out.re[i * size + j] = sign * re[i * size + j]!;
      out.im[i * size + j] = sign * im[i * size + j]!;
    }
  return out;
}

/** The blocks and what is added, of observables in Heisenberg's picture. */
function affine(rows: number, others: number, qubits: number, observable: (row: number) => ComplexMatrix) {
  const cols = others - 1;
  const blocks = Matrix.zeros(3 * rows, cols);
  const offsets = Matrix.zeros(rows, 3);
  for (let row = 0; row < rows; row++) {
    const a = pauliCoordinates(observable(row), qubits);
    for (let word = 0; word < others; word++) {
      // The first qubit's digit is the highest: I, X and Z lie `others` words apart.
      const [i, x, z] = [a[word]!, a[others + word]!, a[3 * others + word]!];
      for (const [k, value] of [i - z, 2 * z, 2 * x].entries()) {
        if (word === 0) offsets.data[row * 3 + k] = value;
        else blocks.data[(k * rows + row) * cols + word - 1] = value;
      }
    }
  }
  return { blocks, offsets };
}
