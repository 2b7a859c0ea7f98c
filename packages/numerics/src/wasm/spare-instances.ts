// Instances that were given back and wait for the next work of their size. A fresh memory is
// mapped, cleared page by page and collected again, which takes longer than a small solve and
// keeps the other threads of the process waiting.

import type { WasmExports } from "./exports.js";

/** A module with its memory. */
export interface WasmInstance {
  readonly exports: WasmExports;
  readonly memory: { readonly buffer: ArrayBuffer };
}

/** The most instances that wait, and the most bytes that they hold together. */
const mostInstances = 16;
const mostBytes = 64 * 1024 * 1024;

/** Those that wait, the one given back last at the end. */
const spare: WasmInstance[] = [];

/**
 * The smallest spare instance of at least `bytes` of memory and at most four times as many, with
 * its memory as it was left; undefined if there is none.
 */
export function takeSpare(bytes: number): WasmInstance | undefined {
  let found = -1;
  for (const [i, { memory }] of spare.entries()) {
    const size = memory.buffer.byteLength;
    if (size < bytes || size > 4 * bytes) continue;
    if (found < 0 || size < spare[found]!.memory.buffer.byteLength) found = i;
  }
  return found < 0 ? undefined : spare.splice(found, 1)[0];
}

/** Keeps an instance for later; those that waited longest go if there are too many. */
export function keepSpare(instance: WasmInstance): void {
  spare.push(instance);
  while (spare.length > mostInstances || heldBytes() > mostBytes) spare.shift();
}

function heldBytes(): number {
  return spare.reduce((sum, { memory }) => sum + memory.buffer.byteLength, 0);
}
