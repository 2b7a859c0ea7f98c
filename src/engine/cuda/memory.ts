// How much device memory a model and its chunks take, decided before any is allocated. The loop's
// own memory is its plan's business.
import type { Context, DeviceInfo } from "@spillway/gpu";
import { orFloat32 } from "../../reservoir/engine/errors.js";
import { EngineCapacityError } from "../../reservoir/engine.js";
import { slowSteps } from "./chunk-limit.js";
import { elementBytes, type ModelShape } from "./shape.js";
import type { TimeLoopPlan } from "./time-loop.js";

/**
 * A chunk's states take about this many bytes: enough to copy at full speed, few enough to wait
 * for.
 */
const chunkBytes = 32 * 2 ** 20;

/** A chunk takes no longer than this, to let progress and signals through. */
const chunkMicroseconds = 40_000;

/**
 * A launch has at most 65,535 blocks along its second axis, of 16 steps each
 * (kernels/neuromorphic_gemv.cu, matvec_input).
 */
const mostSteps = 65_535;

/** The share of a device's memory that a model may plan for; the rest is the driver's. */
const usableShare = 0.95;

/** What a session allocates. */
export interface MemoryPlan {
  /** Steps in one chunk. */
  readonly capacity: number;
  /** Bytes beside the chunks: weights, vectors, the loop. */
  readonly fixedBytes: number;
  readonly bytesPerStep: number;
  readonly totalBytes: number;
}

export const usableMemory = (device: DeviceInfo): number => Math.floor(device.totalMemory * usableShare);

/** What may still be allocated: free on the device, and held by the pool but not used. */
export function freeMemory(context: Context): number {
  const { reserved, used } = context.poolStatistics();
  return context.memoryInfo().free + Math.max(0, reserved - used);
}

/**
 * Input weights, bias, feedback weights, states before chunks: what every session holds beside its
 * loop.
 */
export function sessionBytes({ size, inputSize, outputSize, precision }: ModelShape): number {
  return elementBytes(precision) * size * (inputSize + outputSize + 4);
}

/** The error for a reservoir, or its part, that does not fit on a device. */
export const tooLarge = ({ size, nonzeros, precision }: ModelShape, device: string, needed: number, limit: number): EngineCapacityError =>
  new EngineCapacityError(
    `a reservoir of ${size} neurons with ${nonzeros.toLocaleString("en")} weights on ${device}`,
    needed,
    limit,
    `take fewer neurons, a smaller connectionProbability${orFloat32('weightPrecision "bfloat16" ("int8" or "q4_k" where W is dense)', precision)}`,
  );

/**
 * Sizes the chunks of a session to fit into `limit` bytes.
 * @throws EngineCapacityError if not even one step does
 */
export function planMemory(shape: ModelShape, loop: TimeLoopPlan, limit: number, device: string, mostChunkSteps = mostSteps): MemoryPlan {
  const { size, inputSize, outputSize, precision } = shape;
  const element = elementBytes(precision);
  const matrices = 3 + (outputSize > 0 ? 1 : 0);
  const bytesPerStep = element * (matrices * size + 3 * inputSize + 2 * outputSize);
  const fixedBytes = loop.bytes + sessionBytes(shape);
  const slow = mostChunkSteps < mostSteps ? slowSteps(mostChunkSteps, shape.nonzeros) : mostSteps;
  const wanted = Math.min(mostSteps, slow, chunkBytes / (element * size), chunkMicroseconds / loop.microsecondsPerStep);
  const fits = Math.floor((limit - fixedBytes) / bytesPerStep);
  if (fits < 1) throw tooLarge(shape, device, fixedBytes + bytesPerStep, limit);
  const capacity = Math.max(1, Math.min(Math.floor(wanted), fits));
  return { capacity, fixedBytes, bytesPerStep, totalBytes: fixedBytes + capacity * bytesPerStep };
}
