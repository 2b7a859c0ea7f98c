// Whether the matrices of a description fit, before any is drawn.
import { machineMemory } from "@spillway/core/machine-memory.js";
import { hasOrthogonal } from "./cell-options.js";
import type { ReservoirConfig } from "./config.js";
import { EngineCapacityError, orFloat32 } from "./engine/errors.js";
import type { Engine } from "./engine.js";
import { expectedShape } from "./shape.js";
import { isDrawnInPlace } from "./weight-draws.js";
import { roundedBytes } from "./weight-rounding.js";

/**
 * Bytes that the matrices of a description take where they are used, near enough to refuse what
 * cannot fit before anything is drawn.
 */
function expectedWeightBytes(config: ReservoirConfig, inPlace: boolean): number {
  const { size, inputSize, outputSize, storage, nonzeros, precision } = expectedShape(config);
  const elementBytes = precision === "float32" ? 4 : 8;
  const weightBytes = (inPlace && roundedBytes[config.weightPrecision]) || elementBytes;
  const recurrent = storage === "dense" ? size * size * weightBytes : nonzeros * (elementBytes + (size * elementBytes > 65536 ? 4 : 2));
  const orthogonal = hasOrthogonal(config) ? size * size * elementBytes : 0;
  return recurrent + orthogonal + size * (inputSize + outputSize) * elementBytes;
}

/**
 * Bytes that the host takes to draw them: W in binary64, unless an engine draws it, and the rest in
 * the precision it has.
 */
function expectedDrawingBytes(config: ReservoirConfig, inPlace: boolean): number {
  const { size, inputSize, outputSize, storage, nonzeros, precision } = expectedShape(config);
  // CSR rows are drawn into buffers of 8 entries each.
  const recurrent = storage === "dense" ? 8 * size * size : 12 * Math.max(nonzeros, 8 * size) + 4 * size;
  // O is drawn in binary64, from half as many normal numbers, and rounded.
  const orthogonal = hasOrthogonal(config) ? 16 * size * size : 0;
  return (inPlace ? 0 : recurrent) + orthogonal + size * (inputSize + outputSize + 3) * (precision === "float32" ? 4 : 8);
}

/**
 * @throws EngineCapacityError if a description's matrices cannot fit an engine, or the machine
 * that draws them, before any is drawn
 */
export function refuseOversized(config: ReservoirConfig, engine: Engine): void {
  const { size } = config;
  const advice = `take fewer neurons or inputs${orFloat32("a smaller connectionProbability", config.precision)}`;
  const bytes = engine.cost?.bytes?.(expectedShape(config)) ?? expectedWeightBytes(config, engine.device !== undefined);
  const limit = engine.cost?.limit ?? Number.POSITIVE_INFINITY;
  if (bytes > limit) throw new EngineCapacityError(`the weights of ${size} neurons for the ${engine.name} engine`, bytes, limit, advice);
  const drawing = expectedDrawingBytes(config, isDrawnInPlace(config, engine.device));
  const memory = machineMemory();
  if (drawing > memory)
    throw new EngineCapacityError(`drawing the weights of ${size} neurons in the memory of this machine`, drawing, memory, advice);
}
