// What a state must be before a network is put into it: an engine counts on it, and does not look.
import { ArgumentError } from "@spillway/core/errors.js";
import type { NetworkPlan, PlasticTable } from "./plan.js";
import { shortTermSources, weightOutside } from "./plasticity.js";
import type { NetworkRunState } from "./session.js";

const lists = ["potential", "recovery", "currents", "filtered", "plastic", "resources"] as const;
const wholes = ["held", "pending", "fired"] as const;

/** How often a channel of inputs can spike in a step. */
export const mostSpikes = 65_535;

/**
 * @param start a state of the network, for the lengths
 * @throws ArgumentError for a state in which this network cannot be
 */
export function checkState(state: NetworkRunState, start: NetworkRunState, plan: NetworkPlan, plastic: readonly PlasticTable[]): void {
  if (typeof state !== "object" || state === null) throw new ArgumentError("state", state, "what getState() gives");
  const { step } = state;
  if (!Number.isInteger(step) || step < 0 || step >= 2 ** 32) throw new ArgumentError("state.step", step, "a whole number of 32 bits");
  for (const name of [...lists, ...wholes]) {
    const values: unknown = state[name];
    const { length } = start[name];
    if (!ArrayBuffer.isView(values)) throw new ArgumentError(`state.${name}`, values, `an array of ${length} values`);
    if (state[name].length !== length) throw new ArgumentError(`state.${name}`, state[name].length, `${length} values`);
  }
  for (const name of lists) {
    const at = state[name].findIndex((value) => !Number.isFinite(value));
    if (at >= 0) throw new ArgumentError(`state.${name}[${at}]`, state[name][at], "a finite number");
  }
  for (const { first, size, neuron } of plan.populations) within(state.held, first, size, neuron.refractorySteps, "held");
  const sources = plan.size + plan.inputs;
  for (let row = 0; row < state.fired.length; row += sources) {
    within(state.fired, row, plan.size, 1, "fired");
    within(state.fired, row + plan.size, plan.inputs, mostSpikes, "fired");
  }
  const outside = weightOutside(plan, plastic, state.plastic);
  if (outside !== undefined) throw new ArgumentError("state.plastic", outside, "weights in units within the bounds of their plasticity");
  let first = 0;
  for (const count of shortTermSources(plan)) {
    within(state.resources, first, 2 * count, 1, "resources");
    within(state.resources, first + 2 * count, count, step, "resources");
    first += 3 * count;
  }
}

/** @throws ArgumentError unless all of these values lie between 0 and `most` */
function within(values: ArrayLike<number>, first: number, count: number, most: number, name: string): void {
  for (let k = first; k < first + count; k++)
    if (!(values[k]! >= 0 && values[k]! <= most)) throw new ArgumentError(`state.${name}[${k}]`, values[k], `a number from 0 to ${most}`);
}
