// Pauli matrices of several qubits, and what they make of a Hermitian matrix. A word of Pauli
// matrices is a number in base 4, qubit 0 the highest digit: 0 is I, 1 X, 2 Y, 3 Z.
import { type ComplexMatrix, complexZeros } from "./evolution.js";

/** The matrix of a word: one entry in each row, 1, -1, i or -i. */
export function pauliMatrix(word: number, qubits: number): ComplexMatrix {
  const out = complexZeros(2 ** qubits);
  const { size, re, im } = out;
  for (let row = 0; row < size; row++) {
    let column = row;
    // The entry is i^power.
    let power = 0;
    for (let qubit = 0; qubit < qubits; qubit++) {
      const digit = (word >>> (2 * (qubits - 1 - qubit))) & 3;
      const bitOf = qubits - 1 - qubit;
      const bit = (row >>> bitOf) & 1;
      if (digit === 1 || digit === 2) column ^= 1 << bitOf;
      if (digit === 2) power += bit === 0 ? 3 : 1;
      if (digit === 3 && bit === 1) power += 2;
    }
    const at = row * size + column;
    if (power % 2 === 0) re[at] = power % 4 === 0 ? 1 : -1;
    else im[at] = power % 4 === 1 ? 1 : -1;
  }
  return out;
}

/**
 * The real coordinates a_P = Tr(P M) / 2^n of a Hermitian M, 4^n values by word, such that M is the
 * sum of a_P P.
 */
export function pauliCoordinates({ size, re, im }: ComplexMatrix, qubits: number): Float64Array {
  // Element (row, column) goes to the number whose digit of a qubit is 2 (row bit) + (column bit).
  const a = new Float64Array(size * size);
  const b = new Float64Array(size * size);
  for (let row = 0; row < size; row++)
    for (let column = 0; column < size; column++) {
      let word = 0;
      for (let bitOf = qubits - 1; bitOf >= 0; bitOf--) word = word * 4 + 2 * ((row >>> bitOf) & 1) + ((column >>> bitOf) & 1);
      a[word] = re[row * size + column]!;
      b[word] = im[row * size + column]!;
    }
  // Qubit by qubit: I (m00 + m11) / 2, X (m01 + m10) / 2, Y i (m01 - m10) / 2, Z (m00 - m11) / 2.
  for (let step = 1; step < a.length; step *= 4)
    for (let first = 0; first < a.length; first += 4 * step)
      for (let at = first; at < first + step; at++) {
        const [p, q, r, s] = [at, at + step, at + 2 * step, at + 3 * step];
        const [a0, a1, a2, a3] = [a[p]!, a[q]!, a[r]!, a[s]!];
        const [b0, b1, b2, b3] = [b[p]!, b[q]!, b[r]!, b[s]!];
        a[p] = (a0 + a3) / 2;
        a[q] = (a1 + a2) / 2;
        a[r] = (b2 - b1) / 2;
        a[s] = (a0 - a3) / 2;
        b[p] = (b0 + b3) / 2;
        b[q] = (b1 + b2) / 2;
        b[r] = (a1 - a2) / 2;
        b[s] = (b0 - b3) / 2;
      }
  return a;
}
