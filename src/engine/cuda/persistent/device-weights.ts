// W, or a slice of it, in the memory of its device as a fit wants it: packed on the host, or drawn
// there, with the same bits (kernels/reservoir_weights.cu).
import { Making } from "@spillway/core/disposal.js";
import type { Context, Stream } from "@spillway/gpu";
import type { Matrix, SparseMatrix } from "@spillway/numerics";
import type { ReservoirModel } from "../../../reservoir/model.js";
import type { WeightDraws } from "../../../reservoir/weight-draws.js";
import { isQuantized } from "../../../reservoir/weight-rounding.js";
import { type AnyArgument, type AnyBuffer, type AnyKernel, allocAny, realType, shippedKernel } from "../kernels.js";
import type { ModelShape } from "../shape.js";
import { countDrawn, drawArguments, drawParameters, drawShape, drawSparse, roundingNumber, roundingOf } from "../streamed/drawn.js";
import { longestRow, packDense, packSparse, tileOrder, unitOrder } from "./pack.js";
import type { DenseFit, SparseFit } from "./shapes.js";

/** Stored of kernels/reservoir_weights.cu. */
const storedNumber = { f32: 0, f64: 1, u16: 2 } as const;

/** What a model's W is drawn from, if it is drawn on the device; steps are found on the host. */
export const drawnInPlace = ({ draws, config }: ReservoirModel): WeightDraws | undefined =>
  draws && !isQuantized(config.weightPrecision) ? draws : undefined;

/** Whether W can be packed: a W of steps is drawn on the host and must fit into its memory. */
export const canPack = ({ deviceOnly, weightPrecision }: ModelShape): boolean => deviceOnly !== true || !isQuantized(weightPrecision);

/** Entries of the longest row of a sparse W. */
export function longestOf(context: Context, model: ReservoirModel): number {
  const draws = drawnInPlace(model);
  if (!draws) return longestRow(model.weights as SparseMatrix);
  return countDrawn(context, draws).reduce((longest, count) => Math.max(longest, count), 0);
}

/** A sparse W for the host, which packs it: drawn on the device if its values are only there. */
export async function sparseOf(context: Context, model: ReservoirModel): Promise<SparseMatrix> {
  const draws = drawnInPlace(model);
  return draws ? drawSparse(context, draws, roundingOf(model)) : (model.weights as SparseMatrix);
}

/** What `make` gives, once its stream is done. */
export function onceReady(context: Context, make: (stream: Stream) => AnyBuffer): AnyBuffer {
  using stream = context.stream({ label: "W" });
  const weights = make(stream);
  stream.sync();
  return weights;
}

/** W of the blocks of a dense fit from `from` up to `to`, once the stream has come this far. */
export function loadDense(context: Context, stream: Stream, model: ReservoirModel, fit: DenseFit, from = 0, to = fit.blocks): AnyBuffer {
  const draws = drawnInPlace(model);
  if (!draws) {
    const packed = packDense(model.weights as Matrix, fit, from, to);
    return context.upload(packed, { label: "W" });
  }
  const { rows, warps, weights, precision } = fit.variant;
  const type = weights === "bfloat16" ? "u16" : realType(precision);
  const positions = rows * warps;
  return drawn(context, stream, model, draws, {
    ...{ name: "draw_grid", type, bytes: (fit.weightBytes / fit.blocks) * (to - from), order: tileOrder(fit) },
    ...{ rows, first: from * positions, count: (to - from) * positions },
  });
}

/** W of the blocks of a sparse fit from `from` up to `to`, once the stream has come this far. */
export function loadSparse(context: Context, stream: Stream, model: ReservoirModel, fit: SparseFit, from = 0, to = fit.blocks): AnyBuffer {
  const draws = drawnInPlace(model);
  if (!draws) {
    const packed = packSparse(model.weights as SparseMatrix, fit, from, to);
    return context.upload(packed, { label: "W" });
  }
  const { rounds, warps, precision } = fit.variant;
  const rows = 4 * rounds * warps;
  return drawn(context, stream, model, draws, {
    ...{ name: "draw_units", type: realType(precision), bytes: (fit.weightBytes / fit.blocks) * (to - from), order: unitOrder(fit) },
    ...{ rows: rounds, first: from * rows, count: (to - from) * rows },
  });
}

interface DrawnPlace {
  readonly name: "draw_grid" | "draw_units";
  /** Of a weight. */
  readonly type: keyof typeof storedNumber;
  readonly bytes: number;
  /** The tile or unit of each slot of storage. */
  readonly order: Int32Array;
  /** Rows of a warp, or its rounds. */
  readonly rows: number;
  readonly first: number;
  readonly count: number;
}

function drawn(
  context: Context,
  stream: Stream,
  model: ReservoirModel,
  draws: WeightDraws,
  { name, type, bytes, order, rows, first, count }: DrawnPlace,
): AnyBuffer {
  const dense = name === "draw_grid";
  const target = dense ? (`${type}*` as const) : "u8*";
  const parameters = [...drawParameters, "f64", "i32", "i32", "const i32*", "i32", "i32", "i32", "i32", target] as const;
  const kernel: AnyKernel = shippedKernel(context, "reservoir_weights", name, parameters);
  using owned = new Making();
  const { own } = owned;
  const elementBytes = { f32: 4, f64: 8, u16: 2 }[type];
  const weights = own(dense ? allocAny(context, type, bytes / elementBytes, "W") : allocAny(context, "u32", bytes / 4, "W"));
  const slots = new Int32Array(order.length);
  for (const [slot, which] of order.entries()) slots[which] = slot;
  const there = own(context.upload(slots, { label: "slots of W" }));
  stream.fill(weights);
  const how = [draws.factor, roundingNumber[roundingOf(model)], storedNumber[type]] as const;
  const into = dense ? weights : weights.as("u8");
  const args: AnyArgument[] = [...drawArguments(draws), ...how, there, order.length, rows, first, count, into];
  stream.launch(kernel, drawShape(count), ...args);
  there.dispose();
  return owned.done(weights);
}
