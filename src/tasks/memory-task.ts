// The memory task: remember what the input was some steps ago.

import { checked, type InputOf, number, option, resolve, seed } from "@spillway/core/options.js";
import { Matrix } from "@spillway/numerics";
import { checkLength } from "./options.js";
import { taskStream } from "./streams.js";
import type { DrivenTask, InputsAndTargets } from "./task.js";

const delaysOption = option(
  checked<number | readonly number[]>("a whole number of at least 1, or one or more whole numbers of at least 0", (value) =>
    Array.isArray(value) ? value.length > 0 && value.every((delay) => isWhole(delay, 0)) : isWhole(value, 1),
  ),
  20,
  "K for the delays 1 to K, or the delays themselves",
);

const table = {
  /** K for the delays 1 to K, or the delays themselves (0 is the input itself); default 20. */
  delays: delaysOption,
  /** The input is uniform in [-amplitude, amplitude); default 0.8. */
  amplitude: option(number({ above: 0 }), 0.8, "the input is uniform in [-amplitude, amplitude)"),
  /** Draws the input; default "spillway". */
  seed: option(seed, "spillway", "draws the input"),
};

/** Delays and input of the memory task. */
export interface MemoryTaskOptions extends InputOf<typeof table> {}

/**
 * The short-term memory task (H. Jaeger 2001, "Short term memory in echo state networks", GMD
 * report 152): the input is independent and uniform in [-amplitude, amplitude), target k is the
 * input delays[k] steps before:
 *
 *     targets(t, k) = u(t - delays[k]).
 *
 * The input is drawn from as far before row 0 as the longest delay asks, so every target is a real
 * input. Defaults: delays 20 (1, 2, ..., 20), amplitude 0.8, seed "spillway".
 * @returns inputs length x 1, targets length x K.
 * @throws ArgumentError on options it does not take.
 */
export function memoryTask(length: number, options: MemoryTaskOptions = {}): InputsAndTargets {
  const { delays: asked, amplitude, seed } = resolve(table, options, "memoryTask");
  checkLength("memoryTask", length);
  const delays = typeof asked === "number" ? Array.from({ length: asked }, (_, k) => k + 1) : asked;
  const before = Math.max(...delays);
  const stream = taskStream("memoryTask", seed);
  const drawn = Float64Array.from({ length: before + length }, (_, i) => amplitude * (2 * stream.uniform(0, i) - 1));
  const targets = new Float64Array(length * delays.length);
  for (let t = 0; t < length; t++) {
    delays.forEach((delay, k) => {
      targets[t * delays.length + k] = drawn[before + t - delay]!;
    });
  }
  return { inputs: new Matrix(length, 1, drawn.slice(before)), targets: new Matrix(length, delays.length, targets) };
}

function isWhole(value: unknown, atLeast: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= atLeast;
}

export const memoryTaskEntry: DrivenTask = {
  kind: "driven",
  name: "memoryTask",
  description: "Short-term memory: past values of a random input",
  options: table,
  generate: memoryTask,
};
