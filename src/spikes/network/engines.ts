// The choice of an engine that runs a network of populations.

import type { Context } from "@spillway/gpu";
import { EngineUnavailableError } from "../../reservoir/engine/errors.js";
import { selectEngine } from "../../reservoir/engines.js";
import type { NetworkPlan } from "./plan.js";
import type { NetworkEngineOptions, NetworkSession } from "./session.js";

/**
 * Opens a network on an open device, or an engine by name. "auto" chooses as for a liquid of these
 * sizes; networks that only the general kernels of a device run stay on the host. @throws
 * EngineUnavailableError, EngineCapacityError
 */
export async function openNetwork(
  name: string,
  plan: NetworkPlan,
  { context, ...options }: NetworkEngineOptions & { readonly context?: Context | undefined },
): Promise<NetworkSession> {
  const asked = name === "auto" && !context && whyGeneral(plan) !== undefined ? "cpu" : name;
  const shape = { kind: "spiking", size: plan.size, synapses: plan.expectedSynapses } as const;
  const { engine } = await selectEngine({ engine: asked, context }, async () => shape);
  if (!engine.openNetwork) throw new EngineUnavailableError(name, "it runs no networks of populations");
  return engine.openNetwork(plan, options);
}

/** Why only the general kernels run a network; undefined if the quicker ones do. */
export function whyGeneral({ populations, inputs, receptors, oneSign, projections }: NetworkPlan): string | undefined {
  const plastic = projections.find(({ plasticity }) => plasticity !== null);
  if (plastic) return `projections[${plastic.index}] has plasticity`;
  const other = populations.find(({ neuron }) => neuron.type !== "leakyIntegrateAndFire" || neuron.subtracts);
  if (other) return `${other.name} has neurons that are not leaky integrate-and-fire with a reset to a value`;
  const conducting = populations.find(({ neuron }) => neuron.relaxes);
  if (conducting) return `${conducting.name} has conductances`;
  if (receptors > 1) return "a population has several receptors";
  const rising = populations.find((each) => each.receptors.some(({ rise }) => rise !== null));
  if (rising) return `${rising.name} has alpha-shaped currents`;
  if (inputs > 0) return "it has populations of inputs";
  if (!oneSign) return "the weights of a source have both signs, or more than 16 bits";
  if (projections.some(reachesAtOnce)) return "a projection has a delay of 0";
  if (populations.some(({ stateKeep }) => stateKeep !== null)) return "filtered spikes are kept for a readout";
  return undefined;
}

/** Whether synapses may have a delay of 0. */
export function reachesAtOnce({ rule, delay }: NetworkPlan["projections"][number]): boolean {
  return delay.first === 0 || (rule.rule === "list" && rule.synapses.some((each) => each[3] === 0));
}
