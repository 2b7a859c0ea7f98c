// What a spiking network carries from step to step, at its start.
import { allocate } from "@spillway/numerics";
import type { NetworkState, SpikingModel } from "../../reservoir/spiking-model.js";
import type { NetworkRunState } from "../network/session.js";

type CarriedByNetwork = Pick<NetworkRunState, "potential" | "recovery" | "currents" | "held" | "pending">;

/** Whether neurons have a rise of the threshold, or Izhikevich's recovery. */
const hasRecovery = ({ config }: SpikingModel): boolean => config.neuron.type !== "leakyIntegrateAndFire";

/**
 * The network before its first step: potentials as the model has them, no currents, nothing
 * pending.
 */
export function initialNetwork(model: SpikingModel): NetworkState {
  const { precision, size, config, initialPotential, ringRows } = model;
  const recovery = allocate(precision, hasRecovery(model) ? size : 0);
  const excitatory = size - Math.round(config.inhibitory.share * size);
  const round = precision === "float32" ? Math.fround : (value: number) => value;
  for (let r = 0; r < recovery.length; r++) {
    const neuron = r < excitatory ? config.neuron : config.inhibitory.neuron;
    if (neuron.type === "izhikevich") recovery[r] = round(neuron.b) * initialPotential[r]!;
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

/** What a liquid carries of a state of the network that it is. */
export function liquidState(model: SpikingModel, state: CarriedByNetwork): NetworkState {
  const { potential, recovery, currents, held, pending } = state;
  const { size } = model;
  return {
    ...{ potential, held, pending, excitatory: currents.slice(0, size), inhibitory: currents.slice(size) },
    recovery: hasRecovery(model) ? recovery : recovery.slice(0, 0),
  };
}

/** The reverse. */
export function stateOfNetwork({ size, precision }: SpikingModel, state: NetworkState): CarriedByNetwork {
  const { potential, held, pending } = state;
  const [recovery, currents] = [allocate(precision, size), allocate(precision, 2 * size)];
  recovery.set(state.recovery);
  currents.set(state.excitatory);
  currents.set(state.inhibitory, size);
  return { potential, held, pending, recovery, currents };
}
