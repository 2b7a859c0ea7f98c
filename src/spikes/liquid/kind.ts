// Spiking reservoirs as the domain asks for them: a description in, a model out. Loaded when the
// first is described.
import { machineMemory } from "@spillway/core/machine-memory.js";
import { EngineCapacityError } from "../../reservoir/engine/errors.js";
import type { Engine } from "../../reservoir/engine.js";
import type { SpikingShape } from "../../reservoir/shape.js";
import type { SpikingModel } from "../../reservoir/spiking-model.js";
import { buildSpikingModel } from "./build.js";
import type { SpikingReservoirConfig, SpikingReservoirOptions } from "./schema.js";
import { resolveSpikingConfig } from "./schema.js";

/**
 * Checks a description and draws its network. @throws ArgumentError, EngineCapacityError if it
 * cannot fit the engine
 */
export function build(options: SpikingReservoirOptions, engine?: Engine): SpikingModel {
  const config = resolveSpikingConfig(options);
  if (engine) refuseOversized(config, engine);
  return buildSpikingModel(config);
}

/** The sizes that a description will have, on average over seeds. @throws ArgumentError */
export function shape(options: SpikingReservoirOptions): SpikingShape {
  const config = resolveSpikingConfig(options);
  return { kind: "spiking", size: config.size, synapses: expectedSynapses(config) };
}

/**
 * @throws EngineCapacityError if a description's synapses cannot fit an engine, before any is
 * drawn
 */
function refuseOversized(config: SpikingReservoirConfig, engine: Engine): void {
  const { size, inputSize, input } = config;
  // Of a neuron: potential, two currents, the steps it is held for, and a row of what is to come,
  // twice.
  const bytes = 8 * (expectedSynapses(config) + input.connectivity * inputSize * size) + 24 * size;
  const limit = Math.min(engine.cost?.limit ?? Number.POSITIVE_INFINITY, machineMemory());
  if (bytes <= limit) return;
  const advice = "take fewer neurons or inputs, or a smaller probability of connection";
  throw new EngineCapacityError(`the synapses of ${size} neurons for the ${engine.name} engine`, bytes, limit, advice);
}

/** Synapses between neurons, near enough to plan with. */
function expectedSynapses(config: SpikingReservoirConfig): number {
  const { size, connectivity } = config;
  const { ee, ei, ie, ii } = connectivity.probability;
  const inhibitory = config.inhibitory.share;
  const excitatory = 1 - inhibitory;
  const chance = excitatory * (excitatory * ee + inhibitory * ei) + inhibitory * (excitatory * ie + inhibitory * ii);
  // Around a neuron in the middle of a large grid, exp(-(D / lambda)^2) adds up to (sqrt(pi)
  // lambda)^3.
  const reached =
    connectivity.type === "random"
      ? size
      : Math.min(size, 5.568327996831708 * connectivity.lambda * connectivity.lambda * connectivity.lambda);
  return chance * size * reached;
}
