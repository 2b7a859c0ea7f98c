// The time loops that launch each step: "streamed", a fused kernel a step, which takes every model
// and every device, and "named", the same by the kernels that a reader of the equation would write,
// which are there to be read, profiled and called.
import type { Context, DeviceInfo, Stream } from "@spillway/gpu";
import { EngineUnavailableError } from "../../../reservoir/engine.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { isQuantized } from "../../../reservoir/weight-rounding.js";
import type { CompiledSource } from "../kernels.js";
import { relativeBandwidth } from "../persistent/shapes.js";
import { elementBytes, type ModelShape } from "../shape.js";
import type { TimeLoopFamily, TimeLoopPlan } from "../time-loop.js";
import { denseKernel, denseLayout, denseWeights } from "./dense.js";
import type { RowRange } from "./drawn.js";
import { integerLayout, integerWeights } from "./integers.js";
import { StreamedLoop } from "./loop.js";
import { namedKernels, namedWeights, sourceDetail } from "./named.js";
import { quantizedLayout, quantizedWeights } from "./quantized.js";
import { type SparseVariant, sparseKernel, sparseVariant, sparseWeights } from "./sparse.js";
import { mostLayoutBytes } from "./sparse-layout.js";
import { chunkBytes } from "./step-state.js";
import { fastDetail, type NeuronArguments, type StreamedWeights } from "./weights.js";

/**
 * Bytes of W a microsecond on an H200, and what a step costs beside them
 * (bench/results/gpu-streamed-2026-11-21.md and gpu-sharded-2026-11-27.md). Rows that gather x from
 * shared memory wait for memory, those that gather it from the second cache for that.
 */
const bandwidth = { dense: 4.5e6, int8: 4.3e6, q4_k: 2.9e6, staged: 3.0e6, sparse: 4.0e6, gathered: 1.4e6 };
export const launchMicroseconds = { streamed: 3, named: 5 };

/** Bytes of x a microsecond that come from the second cache, in sectors of 32. */
const sectorRate = 3.8e6;
const sectorBytes = 32;

/**
 * The bandwidth of sparse rows that gather x from there: those of a block, eight lanes each, read the
 * same part of x at a time, and entries of theirs that are close share a sector.
 */
function gatheringBandwidth({ size, nonzeros, precision }: ModelShape, { entryBytes, threads }: SparseVariant): number {
  const values = sectorBytes / elementBytes(precision);
  const sharing = 1 + ((threads / 8) * values * nonzeros) / size ** 2;
  return Math.min(bandwidth.sparse, Math.max(bandwidth.gathered, (entryBytes * sharing * sectorRate) / sectorBytes));
}

/**
 * Where W would lie: what a plan needs to know before anything is allocated, and how it gets
 * there.
 */
export interface WeightLayout {
  readonly kernel: string;
  readonly fast: boolean;
  /** Bytes that a step reads, and those of W beside them. */
  readonly bytes: number;
  readonly more: number;
  /** Values of the packed state. */
  readonly stateLength: number;
  readonly bandwidth: number;
  /**
   * Rows whose states lie side by side: slices of W have whole numbers of them. 0: W has no slices.
   */
  readonly rowsOfPiece: number;
  load(context: Context, stream: Stream, model: ReservoirModel, neuron: NeuronArguments, rows?: RowRange): StreamedWeights;
}

/** Bytes of W a microsecond that a kernel gets from this device's memory. */
export const streamingRate = ({ bandwidth: rate }: WeightLayout, device: DeviceInfo): number => rate * relativeBandwidth(device);

/** Where W of this shape would lie. */
export function layOut(shape: ModelShape, device: DeviceInfo): WeightLayout {
  if (shape.integers) return layOutIntegers(shape, device);
  const { size, nonzeros, precision, weightPrecision, storage, arithmetic } = shape;
  const steps = storage === "dense" ? quantizedLayout(shape, device) : undefined;
  if (steps)
    return {
      ...{ kernel: steps.kernel, fast: true, bytes: steps.bytes, more: 0, stateLength: steps.stride },
      ...{ bandwidth: bandwidth[steps.precision], rowsOfPiece: 0 },
      load: (context, stream, model, neuron) => quantizedWeights(context, stream, model, steps, neuron),
    };
  if (storage === "dense") {
    const layout = denseLayout(size, precision, weightPrecision, arithmetic);
    return {
      ...{ kernel: denseKernel(layout), fast: layout.fast, bytes: layout.bytes, more: 0, stateLength: layout.stride },
      ...{ bandwidth: bandwidth.dense, rowsOfPiece: isQuantized(weightPrecision) ? 0 : 32 * layout.lanes },
      load: (context, stream, model, neuron, rows) => {
        if (model.draws && isQuantized(weightPrecision)) throw new EngineUnavailableError("cuda", noSteps(shape, device));
        return denseWeights(context, stream, model, layout, neuron, rows);
      },
    };
  }
  const variant = sparseVariant(size, nonzeros, precision, weightPrecision, arithmetic, device);
  const bytes = nonzeros * variant.entryBytes;
  const more = mostLayoutBytes(size, nonzeros, variant.entryBytes) - bytes;
  return {
    ...{ kernel: sparseKernel(variant), fast: variant.fast, bytes, more, stateLength: size, rowsOfPiece: 32 },
    bandwidth: variant.shared > 0 ? bandwidth.staged : gatheringBandwidth(shape, variant),
    load: (context, stream, model, neuron, rows) => sparseWeights(context, stream, model, variant, neuron, rows),
  };
}

function layOutIntegers(shape: ModelShape, device: DeviceInfo): WeightLayout {
  const layout = integerLayout(shape);
  const { kernel, bytes, stateLength, staged, weightType } = layout;
  const entryBytes = weightType === "i8" ? 3 : 4;
  return {
    ...{ kernel, fast: false, bytes, stateLength },
    more: shape.storage === "dense" ? 0 : mostLayoutBytes(shape.size, shape.nonzeros, entryBytes) - bytes,
    bandwidth: bandwidth[shape.storage === "dense" ? "dense" : staged ? "staged" : "gathered"],
    rowsOfPiece: 0,
    load: (context, stream, model) => integerWeights(context, stream, model, layout, device),
  };
}

const noSteps = ({ size, weightPrecision }: ModelShape, device: DeviceInfo): string =>
  `W of ${size} neurons in "${weightPrecision}" takes tensor cores of compute capability 8.0, and ${device.name} has ${device.computeCapability.join(".")}`;

function plan(shape: ModelShape, device: DeviceInfo): TimeLoopPlan {
  const layout = layOut(shape, device);
  const { kernel, fast, bytes, more, stateLength } = layout;
  return {
    name: "streamed",
    arithmetic: fast ? "fast" : "portable",
    details: { kernel, bytesPerStep: bytes, ...fastDetail(fast) },
    bytes: bytes + more + 4 * stateLength * elementBytes(shape.precision) + chunkBytes,
    microsecondsPerStep: launchMicroseconds.streamed + bytes / streamingRate(layout, device),
    open: (context, model) => new StreamedLoop("streamed", context, model, (stream, neuron) => layout.load(context, stream, model, neuron)),
  };
}

/** Weights are stored in the model's precision, even if they were rounded further. */
function namedPlan({ size, nonzeros, precision, storage }: ModelShape, device: DeviceInfo, source?: CompiledSource): TimeLoopPlan {
  const element = elementBytes(precision);
  const bytes = storage === "dense" ? size * size * element : nonzeros * (element + 4) + 4 * (size + 1);
  const rate = bandwidth[storage === "dense" ? "dense" : "gathered"] * relativeBandwidth(device);
  return {
    name: "named",
    ...sourceDetail(source),
    details: { kernels: namedKernels(storage), bytesPerStep: bytes, ...sourceDetail(source) },
    bytes: bytes + 5 * size * element + chunkBytes,
    microsecondsPerStep: launchMicroseconds.named + bytes / rate,
    open: (context, model) =>
      new StreamedLoop("named", context, model, (stream, neuron) => namedWeights(context, stream, model, neuron, source), source),
  };
}

export const streamedLoops: TimeLoopFamily = {
  names: ["streamed", "named"],
  integers: true,
  plans(shape, device, { kernelSource, whyNoCompiler }) {
    if (shape.integers) return kernelSource === "nvrtc" ? [] : [plan(shape, device)];
    if (kernelSource !== "nvrtc") return [plan(shape, device), namedPlan(shape, device)];
    return whyNoCompiler?.() === undefined ? [namedPlan(shape, device, "nvrtc")] : [];
  },
};
