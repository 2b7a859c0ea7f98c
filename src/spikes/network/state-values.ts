// What a network carries from step to step as numbers in a row, and back: first the filtered spikes
// that readouts see, then all else. Whole numbers are exact in either precision.
import { allocate, type FloatArray } from "@spillway/numerics";
import type { NetworkPlan, NeuronRange } from "./plan.js";
import { initialPlasticity, type NetworkRunState, shortTermRanges } from "./run-state.js";

/** Units of pending input are kept as high * 65536 + low, which binary32 holds exactly. */
const low = 65536;

/** Whole numbers of 16 bits that a number in binary64 is. */
const words = 4;

/** How many values there are behind the states. */
export function hiddenValues(plan: NetworkPlan): number {
  const { size, receptors, currents, ringRows } = plan;
  const sources = shortTermRanges(plan);
  const plastic = sources.length === 0 ? 0 : size + sources.reduce((sum, each) => sum + 3 * words * each.size, 0);
  return (3 + currents) * size + 2 * ringRows * receptors * size + plastic;
}

/** The values of some ranges of neurons, one behind the other. */
export function copyRanges(ranges: readonly NeuronRange[], from: FloatArray, to: FloatArray): void {
  let at = 0;
  for (const { first, size } of ranges) {
    to.set(from.subarray(first, first + size), at);
    at += size;
  }
}

/**
 * States of the populations that are read, then potentials, recoveries, currents, held steps and
 * pending input. With short-term plasticity also which neurons fired in the last step, and u, x and
 * the steps since the last spike of each source, in words of 16 bits.
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
  at += 2 * pending.length;
  if (state.resources.length > 0) {
    put(state.fired.subarray(0, plan.size));
    put(new Uint16Array(sinceLast(state.resources, plan, state.step).buffer));
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
  const plasticity = initialPlasticity(plan);
  if (plasticity.resources.length > 0) {
    // Of earlier spikes, and of those of inputs, only traces of other kinds of plasticity are made.
    plasticity.fired.set(take(size));
    const resources = new Float64Array(Uint16Array.from(take(words * plasticity.resources.length)).buffer);
    plasticity.resources.set(sinceLast(resources, plan, step));
  }
  return {
    step,
    filtered,
    pending,
    potential: potential.slice(),
    recovery: recovery.slice(),
    currents: currents.slice(),
    held: Int32Array.from(held),
    ...plasticity,
  };
}

/** Resources with the steps since the last spikes in place of the steps of them, or the reverse. */
function sinceLast(resources: Float64Array, plan: NetworkPlan, step: number): Float64Array {
  const out = resources.slice();
  for (const { first, size } of shortTermRanges(plan)) for (let j = first + 2 * size; j < first + 3 * size; j++) out[j] = step - out[j]!;
  return out;
}
