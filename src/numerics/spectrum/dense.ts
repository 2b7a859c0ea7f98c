// All eigenvalues of one irreducible block by dense methods: balance, reduce to Hessenberg form, double-shift QR, in WebAssembly.
import { wasmInstance, wasmReserved } from "../wasm/index.js";
import type { Component } from "./components.js";
import { paddedLength } from "./padding.js";
import { exponentOf, timesPowerOfTwo } from "./power-of-two.js";

/** Eigenvalues re[i] + i im[i], as two lists of equal length. */
export interface Eigenvalues {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/** The eigenvalues of a block, in the order in which the QR algorithm leaves them; conjugate pairs are exact. */
export function denseEigenvalues(component: Component): Eigenvalues {
  const n = component.size;
  const ld = paddedLength(n);
  const { exports, memory } = wasmInstance(8 * ld * (n + 5));
  const matrix = wasmReserved;
  const work = matrix + 8 * ld * n;
  const data = new Float64Array(memory.buffer, matrix, ld * n);
  component.forEach((row, column, value) => {
    data[row * ld + column] = value;
  });
  // A power of two brings the largest element to [1, 2): no product of the QR algorithm overflows then, and nothing is rounded.
  const largest = exports.balanceMatrix(n, matrix, ld);
  const exponent = largest === 0 ? 0 : exponentOf(largest);
  if (exponent !== 0) for (let p = 0; p < data.length; p++) data[p] = timesPowerOfTwo(data[p]!, -exponent);
  exports.reduceToHessenberg(n, matrix, ld, 0, work);
  const missing = exports.francisQr(n, matrix, ld, 0, work, work + 8 * ld);
  if (missing !== 0) throw new Error(`the QR algorithm did not find ${missing} of the ${n} eigenvalues of an irreducible block`);
  return {
    re: new Float64Array(memory.buffer, work, n).map((x) => timesPowerOfTwo(x, exponent)),
    im: new Float64Array(memory.buffer, work + 8 * ld, n).map((x) => timesPowerOfTwo(x, exponent)),
  };
}

/** sqrt(re^2 + im^2), free of overflow; exact where one of the two is 0. */
export function modulus(re: number, im: number): number {
  const larger = Math.max(Math.abs(re), Math.abs(im));
  const lesser = Math.min(Math.abs(re), Math.abs(im));
  if (lesser === 0) return larger;
  const ratio = lesser / larger;
  return larger * Math.sqrt(1 + ratio * ratio);
}
