// All eigenvalues of one irreducible block by dense methods, in WebAssembly.
import { SpillwayError } from "@spillway/core/errors.js";
import type { SparseMatrix } from "../matrix.js";
import { releaseInstance, wasmInstance, wasmReserved } from "../wasm/index.js";
import type { Component } from "./components.js";
import { paddedLength } from "./padding.js";
import { powerOfTwoFactors } from "./power-of-two.js";

/** Eigenvalues re[i] + i im[i], as two lists of equal length. */
export interface Eigenvalues {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/**
 * The eigenvalues of a block, in the order in which the QR algorithm leaves them; conjugate pairs
 * are exact.
 */
export function denseEigenvalues(component: Component): Eigenvalues {
  const n = component.size;
  const ld = paddedLength(n);
  const instance = wasmInstance(8 * ld * (n + 3));
  const { exports, memory } = instance;
  const work = wasmReserved + 8 * ld * n;
  writeBlock(component, ld, new Float64Array(memory.buffer, wasmReserved, ld * n));
  const missing = exports.denseEigenvalues(n, wasmReserved, ld, work);
  const part = (at: number) => new Float64Array(memory.buffer, at, n).slice();
  const found = { re: part(work), im: part(work + 8 * ld) };
  releaseInstance(instance);
  if (missing !== 0)
    throw new SpillwayError("numeric", `the QR algorithm did not find ${missing} of the ${n} eigenvalues of an irreducible block`);
  return found;
}

/** A block as the QR algorithm takes it: balanced, its largest element in [1, 2). */
export interface DenseBlock {
  readonly n: number;
  /** Numbers from row to row; it is even, and those beyond column n are 0. */
  readonly ld: number;
  readonly values: Float64Array;
  /** Its eigenvalues times 2^exponent are those asked for. */
  readonly exponent: number;
}

/** What `denseEigenvalues` begins with, for a device that does the rest. */
export function denseBlock(component: Component): DenseBlock {
  const n = component.size;
  const ld = paddedLength(n);
  const instance = wasmInstance(8 * ld * n);
  const { exports, memory } = instance;
  const values = writeBlock(component, ld, new Float64Array(memory.buffer, wasmReserved, ld * n));
  const exponent = exports.balanceAndScale(n, wasmReserved, ld);
  const block = { n, ld, values: values.slice(), exponent };
  releaseInstance(instance);
  return block;
}

/** Writes a block divided by 2^exponent, row by row with `ld` numbers from row to row. */
export function writeBlock<Values extends Float64Array>(component: Component, ld: number, values: Values, exponent = 0): Values {
  const [scale0, scale1] = powerOfTwoFactors(-exponent);
  component.forEach((row, column, value) => {
    values[row * ld + column] = value * scale0 * scale1;
  });
  return values;
}

/** Writes a block divided by 2^exponent in CSR form, each column times `pitch`; of an empty row the offset is left. */
export function writeSparseBlock(
  component: Component,
  exponent: number,
  { values, columns, rowOffsets }: Pick<SparseMatrix<Float64Array>, "values" | "columns" | "rowOffsets">,
  pitch = 1,
): void {
  const [scale0, scale1] = powerOfTwoFactors(-exponent);
  let p = 0;
  component.forEach((row, column, value) => {
    values[p] = value * scale0 * scale1;
    columns[p++] = pitch * column;
    rowOffsets[row + 1] = p;
  });
}

/** sqrt(re^2 + im^2), free of overflow; exact if one of the two is 0. */
export function modulus(re: number, im: number): number {
  const larger = Math.max(Math.abs(re), Math.abs(im));
  const lesser = Math.min(Math.abs(re), Math.abs(im));
  if (lesser === 0) return larger;
  const ratio = lesser / larger;
  return larger * Math.sqrt(1 + ratio * ratio);
}
