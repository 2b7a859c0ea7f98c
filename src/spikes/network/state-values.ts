// What a network carries from step to step as numbers in a row, and back: first the filtered spikes
// that readouts see, then all else. Whole numbers are exact in either precision.
import { allocate, type FloatArray } from "../../numerics/index.js";
import type { NetworkPlan, NeuronRange } from "./plan.js";
import { initialPlasticity } from "./plasticity.js";
import type { NetworkRunState } from "./session.js";

/** Units of pending input are kept as high * 65536 + low, which binary32 holds exactly. */
const low = 65536;

/** How many values there are behind the states. */
export const hiddenValues = ({ size, receptors, currents, ringRows }: NetworkPlan): number =>
  (3 + currents) * size + 2 * ringRows * receptors * size;

/**
 * States of the populations that are read, then potentials, recoveries, currents, held steps and
 * pending input.
 */
export function flatState(state: NetworkRunState, plan: NetworkPlan, read: readonly NeuronRange[]): FloatArray {
  const states = read.reduce((sum, { size }) => sum + size, 0);
  const out = allocate(plan.precision, states + hiddenValues(plan));
  let at = 0;
  const put = (values: ArrayLike<number>): void => {
    out.set(values, at);
    at += values.length;
  };
  for (const { first, size } of read) put(state.filtered.subarray(first, first + size));
  for (const name of ["potential", "recovery", "currents", "held"] as const) put(state[name]);
  const { pending } = state;
  for (let k = 0; k < pending.length; k++) {
    const high = Math.floor(pending[k]! / low);
    out[at + k] = high;
    out[at + pending.length + k] = pending[k]! - low * high;
  }
  return out;
}

/** The state that `flatState` wrote, before network step `step`. */
export function stateOf(values: FloatArray, plan: NetworkPlan, read: readonly NeuronRange[], step: number): NetworkRunState {
  const { size, receptors, currents: lists, ringRows, precision } = plan;
  const filtered = allocate(precision, size);
  let at = 0;
  const take = (count: number): FloatArray => {
    at += count;
    return values.subarray(at - count, at);
  };
  for (const each of read) filtered.set(take(each.size), each.first);
  const [potential, recovery, currents, held] = [take(size), take(size), take(lists * size), take(size)];
  const cells = ringRows * receptors * size;
  const [high, rest] = [take(cells), take(cells)];
  const pending = Int32Array.from({ length: cells }, (_, k) => low * high[k]! + rest[k]!);
  return {
    step,
    filtered,
    pending,
    potential: potential.slice(),
    recovery: recovery.slice(),
    currents: currents.slice(),
    held: Int32Array.from(held),
    // Reservoirs have no plastic projections.
    ...initialPlasticity(plan),
  };
}
