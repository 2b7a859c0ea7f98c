// What the process of the cases and the one that runs it say to each other.
import type { Problem } from "./format.js";

export type Request =
  | { readonly kind: "cases"; readonly format: string; readonly seed: string; readonly from: number; readonly to: number }
  | { readonly kind: "input"; readonly format: string; readonly input: Uint8Array };

export type Answer =
  | { readonly kind: "finding"; readonly index: number; readonly problem: Problem }
  | { readonly kind: "done"; readonly refused: number; readonly slowestMs: number; readonly slowest: number; readonly growthBytes: number };

/**
 * The status file: the number of the case, and why the process was ended, as two 32-bit integers.
 */
export const endedBy = { nothing: 0, time: 1, memory: 2 } as const;
