// A block as an operator in a WebAssembly memory, with space for the vectors that it is multiplied
// with. No iteration here.
import { ArgumentError } from "@spillway/core/errors.js";
import { type WasmInstance, wasmInstance, wasmMemoryLimit, wasmReserved } from "../wasm/index.js";
import type { Component } from "./components.js";
import { writeBlock, writeSparseBlock } from "./dense.js";
import { paddedLength } from "./padding.js";
import { projectedBytes } from "./projected-problem.js";

/** The block divided by 2^exponent. */
export interface KrylovOperator {
  readonly instance: WasmInstance;
  /** Rows of the block. */
  readonly n: number;
  /** Numbers in a vector: n and its padding, zero, as `paddedLength` says. */
  readonly ld: number;
  /** Address of the first byte after the matrix, a multiple of 16. */
  readonly free: number;
  /** y = W x, by address. */
  multiply(x: number, y: number): void;
}

/**
 * Loads a block of `count` nonzeros, dense if more than half of it is not zero, with space after
 * it for an iteration with a basis of `full` vectors: two vectors more, and two square matrices and
 * five rows of even length for the projected problem.
 */
export function loadOperator(component: Component, count: number, exponent: number, full: number): KrylovOperator {
  const n = component.size;
  const ld = paddedLength(n);
  const dense = count > 0.5 * n * n;
  const columnsAt = wasmReserved + 8 * count;
  const offsetsAt = columnsAt + 4 * count;
  const end = dense ? wasmReserved + 8 * n * ld : offsetsAt + 4 * (n + 1);
  const free = Math.ceil(end / 16) * 16;
  const total = free + 8 * ld * (full + 2) + projectedBytes(full);
  if (total > wasmMemoryLimit) {
    throw ArgumentError.because(
      `a Krylov iteration on ${n} rows with ${count} nonzeros takes ${total} bytes; a WebAssembly memory has at most ${wasmMemoryLimit}: ask for the method "circularLaw"`,
    );
  }
  const instance = wasmInstance(total - wasmReserved);
  const { exports, memory } = instance;
  if (dense) {
    writeBlock(component, ld, new Float64Array(memory.buffer, wasmReserved, n * ld), exponent);
    return { instance, n, ld, free, multiply: (x, y) => exports.krylovMultiplyDense(n, ld, wasmReserved, x, y) };
  }
  const values = new Float64Array(memory.buffer, wasmReserved, count);
  const columns = new Uint32Array(memory.buffer, columnsAt, count);
  const rowOffsets = new Uint32Array(memory.buffer, offsetsAt, n + 1);
  writeSparseBlock(component, exponent, { values, columns, rowOffsets }, 8);
  return { instance, n, ld, free, multiply: (x, y) => exports.krylovMultiplySparse(n, offsetsAt, columnsAt, wasmReserved, x, y) };
}
