// Qubits with the transverse-field Ising Hamiltonian, and their evolution in time. Qubit 0 is the
// highest bit of a basis state's number; bit 0 is the state |0>, of which Z is +1.
import { Matrix, portableCos, portableSin, symmetricEigen } from "@spillway/numerics";

/** A complex d x d matrix, row by row. */
export interface ComplexMatrix {
  readonly size: number;
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/** A complex matrix of zeros. */
export const complexZeros = (size: number): ComplexMatrix => ({
  size,
  re: new Float64Array(size * size),
  im: new Float64Array(size * size),
});

/** The value of Z of a qubit in a basis state: 1 or -1. */
export const signOf = (state: number, qubit: number, qubits: number): number => 1 - 2 * ((state >>> (qubits - 1 - qubit)) & 1);

/**
 * H = sum over i < j of J_ij X_i X_j + h sum of Z_i, 2^n x 2^n and real. `couplings` has J_ij at
 * entry (i, j), i < j.
 */
export function isingHamiltonian(couplings: Matrix, field: number): Matrix<Float64Array> {
  const qubits = couplings.rows;
  const size = 2 ** qubits;
  const out = Matrix.zeros(size, size);
  for (let state = 0; state < size; state++) {
    let diagonal = 0;
    for (let i = 0; i < qubits; i++) diagonal += field * signOf(state, i, qubits);
    out.data[state * size + state] = diagonal;
    for (let i = 0; i < qubits; i++)
      for (let j = i + 1; j < qubits; j++) {
        const flipped = state ^ (1 << (qubits - 1 - i)) ^ (1 << (qubits - 1 - j));
        out.data[state * size + flipped] = couplings.at(i, j);
      }
  }
  return out;
}

/**
 * exp(-i H t) of a real symmetric H by its eigenvectors, sine and cosine by docs/numerics.md, rule
 * 8. A step of Newton's iteration, U (3 - U' U) / 2, then makes it unitary to rounding: thousands
 * of steps shall not change a trace.
 */
export function evolution(hamiltonian: Matrix, time: number): ComplexMatrix {
  const { values, vectors } = symmetricEigen(hamiltonian);
  const out = complexZeros(values.length);
  const { size, re, im } = out;
  for (let k = 0; k < size; k++) {
    const c = portableCos(values[k]! * time);
    const s = -portableSin(values[k]! * time);
    const v = vectors.data.subarray(k * size, (k + 1) * size);
    for (let i = 0; i < size; i++) {
      const [a, b] = [c * v[i]!, s * v[i]!];
      for (let j = 0; j < size; j++) {
        re[i * size + j] = re[i * size + j]! + a * v[j]!;
        im[i * size + j] = im[i * size + j]! + b * v[j]!;
      }
    }
  }
  const correction = complexProduct(adjoint(out), out);
  for (let at = 0; at < correction.re.length; at++) {
    correction.re[at] = ((at % (size + 1) === 0 ? 3 : 0) - correction.re[at]!) / 2;
    correction.im[at] = -correction.im[at]! / 2;
  }
  return complexProduct(out, correction);
}

/** A B, every sum in rising order from +0. */
export function complexProduct(a: ComplexMatrix, b: ComplexMatrix): ComplexMatrix {
  const out = complexZeros(a.size);
  const { size, re, im } = out;
  for (let i = 0; i < size; i++)
    for (let k = 0; k < size; k++) {
      const [ar, ai] = [a.re[i * size + k]!, a.im[i * size + k]!];
      if (ar === 0 && ai === 0) continue;
      const from = k * size;
      const to = i * size;
      for (let j = 0; j < size; j++) {
        const br = b.re[from + j]!;
        const bi = b.im[from + j]!;
        re[to + j] = re[to + j]! + (ar * br - ai * bi);
        im[to + j] = im[to + j]! + (ar * bi + ai * br);
      }
    }
  return out;
}

/** The conjugate transpose. */
export function adjoint({ size, re, im }: ComplexMatrix): ComplexMatrix {
  const out = complexZeros(size);
  for (let i = 0; i < size; i++)
    for (let j = 0; j < size; j++) {
      out.re[j * size + i] = re[i * size + j]!;
      out.im[j * size + i] = -im[i * size + j]!;
    }
  return out;
}
