// Qubits as a density matrix, plainly: what the state-affine form is held against. It shares no
// code with that form but the Hamiltonian's evolution, which Trotter products check.
import { adjoint, type ComplexMatrix, complexProduct, complexZeros } from "../../../src/reservoir/state-affine/quantum/evolution.js";

/** 1 / 2^n. */
export function mixedState(qubits: number): ComplexMatrix {
  const rho = complexZeros(2 ** qubits);
  for (let i = 0; i < rho.size; i++) rho.re[i * rho.size + i] = 1 / rho.size;
  return rho;
}

/** Sets qubit 0 to sqrt(s) |0> + sqrt(1 - s) |1>; the others keep their reduced state. */
export function writeInput({ size, re, im }: ComplexMatrix, s: number): ComplexMatrix {
  const half = size / 2;
  const out = complexZeros(size);
  const c = Math.sqrt(s * (1 - s));
  const reset = [
    [s, c],
    [c, 1 - s],
  ];
  for (const [of, to] of [
    [re, out.re],
    [im, out.im],
  ] as const)
    for (let i = 0; i < half; i++)
      for (let j = 0; j < half; j++) {
        const kept = of[i * size + j]! + of[(i + half) * size + j + half]!;
        for (const a of [0, 1]) for (const b of [0, 1]) to[(a * half + i) * size + b * half + j] = reset[a]![b]! * kept;
      }
  return out;
}

/** rho -> U rho U'. */
export const evolved = (rho: ComplexMatrix, u: ComplexMatrix): ComplexMatrix => complexProduct(complexProduct(u, rho), adjoint(u));

/** The mean of Z of each qubit. */
export function meansOfZ({ size, re }: ComplexMatrix, qubits: number): number[] {
  return Array.from({ length: qubits }, (_, qubit) => {
    let sum = 0;
    for (let i = 0; i < size; i++) sum += (1 - 2 * ((i >> (qubits - 1 - qubit)) & 1)) * re[i * size + i]!;
    return sum;
  });
}

/** The states of a run over inputs in [0, 1], T rows of n V means, and the last density matrix. */
export function runDensityMatrix(qubits: number, parts: number, u: ComplexMatrix, inputs: readonly number[]) {
  let rho = mixedState(qubits);
  const rows = inputs.map((s) => {
    rho = writeInput(rho, s);
    return Array.from({ length: parts }, () => {
      rho = evolved(rho, u);
      return meansOfZ(rho, qubits);
    }).flat();
  });
  return { rows, rho };
}
