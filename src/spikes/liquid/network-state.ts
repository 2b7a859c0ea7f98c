// What a spiking network carries from step to step, at its start.
import { allocate, type FloatArray } from "@spillway/numerics";
import type { NetworkState, SpikingModel } from "../../reservoir/spiking-model.js";

/**
 * The network before its first step: potentials as the model has them, no currents, nothing
 * pending.
 */
export function initialNetwork({ precision, size, neuron, initialPotential, ringRows }: SpikingModel): NetworkState {
  const recovery = allocate(precision, neuron.type === "leakyIntegrateAndFire" ? 0 : size);
  if (neuron.type === "izhikevich") {
    const { sensitivity } = neuron;
    recovery.set(sensitivity.map((b, r) => b * initialPotential[r]!) as FloatArray);
  }
  return {
    potential: initialPotential.slice(),
    recovery,
    excitatory: allocate(precision, size),
    inhibitory: allocate(precision, size),
    held: new Int32Array(size),
    pending: new Int32Array(ringRows * 2 * size),
  };
}
