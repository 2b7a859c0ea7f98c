// The kernels of a reservoir over several devices: those of the grid, compiled by NVRTC for a reach
// across devices (kernels/across.cuh), and each device's slice of W. No launch is here.
import type { Context, LaunchConfig, Stream } from "@spillway/gpu";
import type { ReservoirModel } from "../../../reservoir/model.js";
import type { AnyBuffer } from "../kernels.js";
import { compiledEntry } from "../persistent/compiled-shapes.js";
import { denseLayout, describeDense, given } from "../persistent/dense.js";
import { drawnInPlace, loadDense, loadSparse } from "../persistent/device-weights.js";
import { compiledCode, type KernelCode, type NamedParameters } from "../persistent/kernel-code.js";
import { stepParameters } from "../persistent/loop.js";
import type { Arithmetic } from "../persistent/parts.js";
import { type DenseFit, denseEntry, foursAtOnce, type SparseFit, sparseEntry } from "../persistent/shapes.js";
import { describeSparse, sparseLayout } from "../persistent/sparse.js";

/** What across.cuh adds to a kernel's parameters, behind `spinLimit`. */
const reachParameters = { peers: "const u64*", devices: "i32", firstBlock: "i32", after: "real*" } as const;

/** What a plan says of a W that no host holds. */
export const drawnDetail = { drawn: "on the devices" } as const;

/** A fit of either storage. */
export type AnyFit = DenseFit | SparseFit;

/** How a reservoir runs over several devices. */
export interface ShardedKernel {
  readonly fit: AnyFit;
  readonly code: KernelCode;
  readonly parameters: NamedParameters;
  readonly details: Readonly<Record<string, string | number | boolean>>;
  readonly numbers: Readonly<Record<string, number>>;
  /** Neurons whose values a block makes, in the order of the slots. */
  readonly rowsOfBlock: number;
  /** Of a launch beside its grid. */
  readonly config: Pick<LaunchConfig, "shared"> & { readonly block: number };
  /** The argument that W is. */
  readonly weightsName: "weights" | "entries";
  /** W of the blocks from `from` up to `to`, once the stream has come this far. */
  weights(context: Context, stream: Stream, model: ReservoirModel, from: number, to: number): AnyBuffer;
}

export const isDense = (fit: AnyFit): fit is DenseFit => "groups" in fit;

/** The name of a fit's kernel. */
export const shardedEntry = (fit: AnyFit, arithmetic: Arithmetic): string =>
  compiledEntry(`${isDense(fit) ? denseEntry(fit.variant) : sparseEntry(fit.variant)}_x${fit.devices}`, arithmetic);

export function shardedDetails(fit: AnyFit): ShardedKernel["details"] {
  return { devices: fit.devices, ...(isDense(fit) ? describeDense(fit) : describeSparse(fit)) };
}

/** The kernel of a fit, compiled when it is loaded. */
export function shardedKernel(fit: AnyFit, model: ReservoirModel, arithmetic: Arithmetic): ShardedKernel {
  const { precision } = fit.variant;
  const entry = shardedEntry(fit, arithmetic);
  const common = { entry, precision, fast: arithmetic === "fast", sharded: true };
  const known = (numbers: Readonly<Record<string, number>>) => given(model, { ...numbers, devices: fit.devices });
  const shared = { fit, details: { ...shardedDetails(fit), ...(drawnInPlace(model) ? drawnDetail : {}) } };
  if (isDense(fit)) {
    const { rows, held, warps, mixed, weights } = fit.variant;
    const numbers = denseLayout(fit);
    const halves = weights === "bfloat16";
    const weight = halves ? "packing::bfloat16" : precision === "float32" ? "float" : "double";
    const shape = { ROWS: rows, HELD: held, WARPS: warps, MIXED: mixed, WEIGHT: weight, BATCH: foursAtOnce(fit) };
    return {
      ...shared,
      ...{ numbers, rowsOfBlock: rows * warps, weightsName: "weights" },
      code: compiledCode({ ...common, file: "reservoir_grid", prefix: "GRID", shape, given: known(numbers) }),
      parameters: {
        ...({ weights: halves ? "const u16*" : "const real*", slots: "u64*" } as const),
        ...stepParameters,
        ...({ groups: "i32", shared: "i32", streamed: "i32", kept: "u32", copies: "i32", buffers: "i32", spinLimit: "i64" } as const),
        ...reachParameters,
      },
      config: { block: warps * 32, shared: fit.sharedBytes },
      weights: (context, stream, of, from, to) => loadDense(context, stream, of, fit, from, to),
    };
  }
  const { rounds, held, warps, mixed } = fit.variant;
  const numbers = sparseLayout(fit);
  const shape = { ROUNDS: rounds, HELD: held, WARPS: warps, MIXED: mixed };
  return {
    ...shared,
    ...{ numbers, rowsOfBlock: 4 * rounds * warps, weightsName: "entries" },
    code: compiledCode({ ...common, file: "reservoir_sparse", prefix: "SPARSE", shape, given: known(numbers) }),
    parameters: {
      ...({ entries: "const u32*", slots: "u64*" } as const),
      ...stepParameters,
      ...({ count: "i32", held: "i32", shared: "i32", streamed: "i32", copies: "i32", spinLimit: "i64" } as const),
      ...reachParameters,
    },
    config: { block: warps * 32, shared: fit.sharedBytes },
    weights: (context, stream, of, from, to) => loadSparse(context, stream, of, fit, from, to),
  };
}
