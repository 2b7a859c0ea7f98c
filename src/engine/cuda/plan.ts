// Which way of running the time loop a model gets: of the plans that fit its shape and the device, the one that its model of cost says is fastest.
import type { DeviceInfo } from "../../gpu/index.js";
import { EngineCapacityError, EngineUnavailableError, type EngineOptions, type EnginePlan, formatBytes } from "../../reservoir/engine.js";
import { type MemoryPlan, planMemory } from "./memory.js";
import { persistentLoops } from "./persistent/index.js";
import type { ModelShape } from "./shape.js";
import { streamedLoops } from "./streamed/index.js";
import type { TimeLoopFamily, TimeLoopPlan } from "./time-loop.js";

/** Every family of loops there is. */
const families: readonly TimeLoopFamily[] = [persistentLoops, streamedLoops];

/** What the option `plan` takes. */
export const planNames: readonly string[] = ["auto", ...families.flatMap(({ names }) => names)];

/** A plan and the memory of a session by it. */
export interface Choice {
  readonly loop: TimeLoopPlan;
  readonly memory: MemoryPlan;
}

/** Where a choice is made. */
export interface Place {
  /** The engine's name. */
  readonly engine: string;
  readonly device: DeviceInfo;
  /** Bytes of device memory that may be used. */
  readonly memory: number;
  /** The most steps of a chunk, where the device is slow. */
  readonly stepsPerChunk?: number | undefined;
}

/**
 * The plans that a model may run by, the fastest first.
 *
 * @throws RangeError for a plan of no such name; EngineUnavailableError where the plan asked for does not take this model or device;
 * EngineCapacityError where none fits the memory
 */
export function choices(shape: ModelShape, place: Place, options: EngineOptions = {}): readonly Choice[] {
  const wanted = options.plan ?? "auto";
  if (!planNames.includes(wanted))
    throw new RangeError(`plan is ${JSON.stringify(wanted)}; it takes ${planNames.map((name) => JSON.stringify(name)).join(", ")}`);
  const plans = families
    .filter(({ names }) => wanted === "auto" || names.includes(wanted))
    .flatMap((family) => family.plans(shape, place.device, { spinLimit: options.spinLimit }))
    .filter(({ name }) => wanted === "auto" || name === wanted)
    .sort((a, b) => a.microsecondsPerStep - b.microsecondsPerStep);
  if (plans.length === 0) {
    const reason = `the plan "${wanted}" does not take ${shape.size} neurons (${shape.storage}, ${shape.precision}) on ${place.device.name}; take "auto"`;
    throw new EngineUnavailableError(place.engine, reason);
  }
  let refusal: EngineCapacityError | undefined;
  const fitting = plans.flatMap((loop) => {
    try {
      return [{ loop, memory: planMemory(shape, loop, place.memory, place.device.name, place.stepsPerChunk) }];
    } catch (error) {
      if (!(error instanceof EngineCapacityError)) throw error;
      if (!refusal || error.needed < refusal.needed) refusal = error;
      return [];
    }
  });
  if (fitting.length === 0) throw refusal!;
  return fitting;
}

/** The choice in words and numbers, for people and result files. */
export function describeChoice(
  { loop, memory }: Choice,
  shape: ModelShape,
  place: Place,
  others: readonly Choice[],
  details: EnginePlan["details"] = loop.details,
): EnginePlan {
  const { name, microsecondsPerStep } = loop;
  const alternatives = others
    .filter((other) => other.loop !== loop)
    .map((other) => `${other.loop.name} ${microseconds(other.loop.microsecondsPerStep)}`);
  return {
    engine: place.engine,
    summary: `${place.device.name}, plan "${name}", ${shape.storage}, ${shape.precision}, about ${microseconds(microsecondsPerStep)} a step, ${formatBytes(memory.totalBytes)}`,
    bytes: memory.totalBytes,
    details: {
      device: place.device.name,
      plan: name,
      precision: shape.precision,
      storage: shape.storage,
      ...details,
      modelledMicrosecondsPerStep: Number(microsecondsPerStep.toPrecision(3)),
      stepsPerChunk: memory.capacity,
      bytesBesideChunks: memory.fixedBytes,
      ...(alternatives.length > 0 ? { alternatives: alternatives.join(", ") } : {}),
    },
  };
}

function microseconds(value: number): string {
  return value < 1000 ? `${value.toPrecision(value < 100 ? 2 : 3)} us` : `${(value / 1000).toPrecision(3)} ms`;
}
