// Cells: what a step keeps of the state, and what it adds. The leaky cell is the default, in
// model.ts and step.ts; the others are described here.
import { byType, given, number } from "@spillway/core/options.js";
import type { FloatArray, Matrix } from "@spillway/numerics";

/**
 * How a new state is made, if not by leaking:
 * - "es2n": x' = (1 - B) O x + B f(z), B the `proximity` to the nonlinear reservoir. Ceni and
 *   Gallicchio, "Edge of Stability Echo State Network", 2023.
 * - "residual": x' = A O x + B f(z), A `keep` and B `gain`. Ceni and Gallicchio, "Residual Echo
 *   State Networks", 2023.
 * - "euler": x' = x + e f(z) with e the `step`, and V = W - W^T - G I in place of W, G the
 *   `damping`. Gallicchio, "Euler State Networks", 2022.
 *
 * z = W x + W_in u + b + W_fb y + noise. O is a random orthogonal matrix, drawn from the seed.
 */
export type CellConfig =
  | { readonly type: "es2n"; readonly proximity: number }
  | { readonly type: "residual"; readonly keep: number; readonly gain: number }
  | { readonly type: "euler"; readonly step: number; readonly damping: number };

const share = number({ atLeast: 0, atMost: 1 });

/** The options of each cell. */
export const cellKind = byType<CellConfig>({
  es2n: { proximity: given(share, "B in x' = (1 - B) O x + B f(z).") },
  residual: { keep: given(share, "A in x' = A O x + B f(z)."), gain: given(share, "B in x' = A O x + B f(z).") },
  euler: {
    step: given(number({ above: 0, atMost: 1 }), "e in x' = x + e f(z)."),
    damping: given(number({ atLeast: 0 }), "G in W - W^T - G I, which stands for W."),
  },
});

/** What a step keeps of the state, in place of (1 - a) x. */
export interface CellWeights {
  /** k, N values. */
  readonly keep: FloatArray;
  /** O, N x N; left out, the identity. */
  readonly orthogonal?: Matrix | undefined;
}

/** Whether a cell has a matrix O. */
export function hasOrthogonal({ cell }: { readonly cell?: CellConfig | undefined }): boolean {
  return cell !== undefined && cell.type !== "euler";
}
