// Spiking reservoirs as the domain asks for them: from a description to a model, whose every synapse
// is drawn from the seed. The same description gives the same bits everywhere. Loaded when the first
// is described.
import { machineMemory } from "@spillway/core/machine-memory.js";
import { allocate, type FloatArray, RandomStream, seedKeys } from "@spillway/numerics";
import { EngineCapacityError } from "../../reservoir/engine/errors.js";
import type { Engine } from "../../reservoir/engine.js";
import type { SpikingShape } from "../../reservoir/shape.js";
import type { SpikingModel } from "../../reservoir/spiking-model.js";
import { decay } from "../neurons/leaky-integrate-and-fire.js";
import { liquidStreams } from "../streams.js";
import { resolveSpikingConfig, type SpikingReservoirConfig, type SpikingReservoirOptions } from "./schema.js";
import { checkSums, inputSynapses, inputWeights, inUnits, recurrentSynapses } from "./synapses.js";

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

/** What of a model is drawn; the rest follows from the description. */
export type DrawnParts = Pick<SpikingModel, "synapses" | "inputSynapses" | "inputWeights" | "initialPotential">;

/** Draws the model of a checked description, or takes parts that were drawn before. */
export function buildSpikingModel(config: SpikingReservoirConfig, given?: DrawnParts): SpikingModel {
  const { size, inputSize, precision, timeStep, fractionBits, input, background, inhibitory } = config;
  const keys = seedKeys(config.seed);
  const inhibitoryCount = Math.round(inhibitory.share * size);
  const excitatory = size - inhibitoryCount;
  const round = precision === "float32" ? Math.fround : (value: number) => value;
  const parts: DrawnParts = given ?? {
    synapses: recurrentSynapses(config, excitatory, keys.weights),
    ...(input.mode === "spikes"
      ? { inputSynapses: inputSynapses(config, keys.weights) }
      : { inputWeights: inputWeights(config, keys.weights) }),
    initialPotential: initialPotential(config, excitatory),
  };
  const model: SpikingModel = {
    ...parts,
    kind: "spiking",
    config,
    precision,
    size,
    inputSize,
    outputSize: 0,
    fractionBits,
    initialState: allocate(precision, size),
    stateKeep: round(decay(config.stateTimeConstant, timeStep)),
    noiseLevel: background.deviation > 0 || backgroundChance(config) > 0 ? 1 : 0,
    ringRows: 1 + longestDelay(parts),
  };
  checkSums(model, backgroundUnits(config));
  return model;
}

/** A spike from outside reaches a neuron in a step if a word of 32 bits is below this. */
export function backgroundChance({ background, timeStep }: SpikingReservoirConfig): number {
  return Math.min(2 ** 32 - 1, Math.round((background.rate * timeStep * 2 ** 32) / 1000));
}

/** Units of 2^-fractionBits mV of such a spike; 0 if there are none. @throws ArgumentError */
export function backgroundUnits(config: SpikingReservoirConfig): number {
  return backgroundChance(config) > 0 ? inUnits(config.background.weight, config.fractionBits, "background.weight") : 0;
}

function longestDelay({ synapses, inputSynapses: inputs }: DrawnParts): number {
  let longest = 0;
  for (const delay of synapses.delays) if (delay > longest) longest = delay;
  if (inputs) for (const delay of inputs.delays) if (delay > longest) longest = delay;
  return longest;
}

/** The potential of each neuron before the first step, mV; "rest" if they begin at rest. */
export function initialPotentials({ seed, initialPotential: given }: SpikingReservoirConfig): "rest" | ((neuron: number) => number) {
  if (given === "rest") return given;
  const draws = new RandomStream(seedKeys(seed).weights, liquidStreams.initialPotential);
  return (r) => given.from + (given.to - given.from) * draws.uniform(r, 0);
}

function initialPotential(config: SpikingReservoirConfig, excitatory: number): FloatArray {
  const { size, precision, neuron, inhibitory } = config;
  const potentials = initialPotentials(config);
  const out = allocate(precision, size);
  for (let r = 0; r < size; r++) {
    const kind = r < excitatory ? neuron : inhibitory.neuron;
    const zero = kind.type === "izhikevich" ? 0 : kind.restingPotential;
    if (potentials === "rest") out[r] = kind.type === "izhikevich" ? kind.c : 0;
    else out[r] = potentials(r) - zero;
  }
  return out;
}
