// What a persistent loop is opened with, whichever its storage and the source of its kernel.
import { disposeQuietly } from "@spillway/core/disposal.js";
import type { Context } from "@spillway/gpu";
import type { ReservoirModel } from "../../../reservoir/model.js";
import type { AnyBuffer } from "../kernels.js";
import type { ModelShape } from "../shape.js";
import type { KernelSource } from "./kernel-code.js";
import type { PersistentKernel, PersistentMemory } from "./loop.js";

export type Arithmetic = ModelShape["arithmetic"];

/** Where a kernel comes from, and how it reckons. */
export interface Made {
  readonly source: KernelSource;
  readonly arithmetic: Arithmetic;
}

/** A kernel, and the memory that it wants beside that of the steps. */
export interface LoopParts {
  readonly kernel: PersistentKernel;
  readonly memory: (context: Context, model: ReservoirModel) => PersistentMemory;
}

/** Memory with slots for exchanged states, zeros. */
export function withSlots(
  context: Context,
  buffers: Readonly<Record<string, AnyBuffer>>,
  bytes: number,
  numbers: Readonly<Record<string, number>>,
): PersistentMemory {
  try {
    const slots = context.zeros("u64", Math.ceil(bytes / 8), { label: "exchanged states" });
    return { buffers: { ...buffers, slots }, numbers, slots };
  } catch (error) {
    disposeQuietly(Object.values(buffers));
    throw error;
  }
}
