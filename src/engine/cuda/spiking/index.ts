// Spiking networks on a device: what the engine calls.
import type { Context } from "@spillway/gpu";
import type { EngineOptions, EnginePlan, EngineSession } from "../../../reservoir/engine.js";
import { EngineUnavailableError, formatBytes } from "../../../reservoir/engine.js";
import type { SpikingModel } from "../../../reservoir/spiking-model.js";
import { stepperSession } from "../../host-steps.js";
import { DeviceClock } from "../profile.js";
import { spinLimitOf } from "../spin-limit.js";
import { planLaunch, type SpikingLaunch } from "./launch.js";
import { DeviceSpikingStepper } from "./stepper.js";

/** Which engine, and how long its chunks are at most. */
export interface SpikingTarget {
  readonly engine: string;
  readonly stepsPerChunk?: number | undefined;
}

/** @throws EngineCapacityError if it does not fit */
export function planSpiking(context: Context, model: SpikingModel, target: SpikingTarget): EnginePlan {
  return describe(model, planLaunch(model, context.info, target.stepsPerChunk), target);
}

/**
 * @throws EngineCapacityError if it does not fit, EngineUnavailableError if the device cannot
 * run all blocks at once
 */
export function openSpiking(context: Context, model: SpikingModel, target: SpikingTarget, options: EngineOptions = {}): EngineSession {
  if (context.info.attributes.cooperativeLaunch === 0)
    throw new EngineUnavailableError(target.engine, `${context.info.name} has no cooperative launches, which spiking reservoirs take`);
  const launch = planLaunch(model, context.info, target.stepsPerChunk);
  const clock = options.profile ? new DeviceClock(context) : undefined;
  const stepper = new DeviceSpikingStepper(context, model, launch, spinLimitOf(options.spinLimit), clock);
  try {
    return stepperSession(model, describe(model, launch, target), stepper, clock);
  } catch (error) {
    // The error under way says what happened.
    stepper.dispose().catch(() => undefined);
    throw error;
  }
}

function describe(model: SpikingModel, { blocks, threads, bytes, capacity }: SpikingLaunch, { engine }: SpikingTarget): EnginePlan {
  const synapses = model.synapses.targets.length;
  return {
    engine,
    summary: `one launch a chunk, ${blocks} blocks of ${threads} threads, ${synapses.toLocaleString("en")} synapses, ${formatBytes(bytes)}`,
    bytes,
    details: {
      plan: "spiking",
      precision: model.precision,
      neuron: model.config.neuron.type,
      synapses,
      blocks,
      threads,
      stepsPerChunk: capacity,
    },
  };
}
