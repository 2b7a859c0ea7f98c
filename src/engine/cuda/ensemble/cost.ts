// What a step of many reservoirs together would take on a device, by a model fitted to
// bench/results/gpu-ensemble-2026-11-21.md: for the choice between engines, before any weight is
// drawn.
import { getOrMake } from "@spillway/core/maps.js";
import type { DeviceInfo } from "@spillway/gpu";
import type { ModelShape } from "../../../reservoir/shape.js";
import { clockMegahertz } from "../persistent/shapes.js";
import { elementBytes } from "../shape.js";
import { bytesPerSecond, microsecondsAlone } from "./index.js";
import { chooseEnsembleKernel } from "./kernel-choice.js";

/**
 * Microseconds of one member's step on one of many full multiprocessors at 1.98 GHz: of itself, and
 * for a weight that stays there.
 */
const perMember = 0.02;
const perWeight = { dense: 2.1e-5, sparse: 1.25e-4 };

/** Less a step does not take, however few the members. */
const leastMicroseconds = 0.7;

/**
 * Slots of slices and their entries, beside neurons and connections: rows of similar length are
 * padded to the longest of 32.
 */
const padding = 1.2;

/** Microseconds of a step of all members; undefined if some would run one after the other. */
export function ensembleMicroseconds(shapes: readonly ModelShape[], device: DeviceInfo): number | undefined {
  const groups = new Map<string, { readonly shape: ModelShape; count: number }>();
  for (const shape of shapes) {
    const { size, inputSize, outputSize, precision, storage, arithmetic, integers } = shape;
    const key = JSON.stringify([size, inputSize, outputSize, precision, storage, arithmetic, integers]);
    getOrMake(groups, key, () => ({ shape, count: 0 })).count++;
  }
  let sum = 0;
  for (const { shape, count } of groups.values()) {
    const cost = groupMicroseconds(shape, count, device);
    if (cost === undefined) return undefined;
    sum += cost;
  }
  return sum;
}

function groupMicroseconds(shape: ModelShape, count: number, device: DeviceInfo): number | undefined {
  const { size, nonzeros, precision, storage, arithmetic, integers } = shape;
  const sliced = storage === "sparse" ? { slots: Math.ceil(size / 32) * 32, entries: Math.ceil(padding * nonzeros) } : undefined;
  const kernel = chooseEnsembleKernel(device, { size, precision, arithmetic, integers, sliced });
  if (!kernel) return undefined;
  const width = elementBytes(precision) / 4;
  const rounds = Math.ceil(count / device.attributes.multiprocessors);
  const computed = (perMember + width * perWeight[storage] * nonzeros) * (1980 / clockMegahertz(device));
  const bytes = kernel.resident ? 0 : nonzeros * (elementBytes(precision) + (storage === "sparse" ? 2 : 0));
  const read = (bytes / bytesPerSecond) * 1e6;
  const together = Math.max(leastMicroseconds, rounds * Math.max(computed, read));
  return kernel.resident || together < count * microsecondsAlone ? together : undefined;
}
