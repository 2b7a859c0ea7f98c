// One neuron under a given current: for looking at neurons. Networks are run by engines.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, type InputOf, option, resolve } from "@spillway/core/options.js";
import { allocate, type FloatArray } from "@spillway/numerics";
import { positive } from "../options.js";
import type { NeuronOptions } from "./schema.js";

export const simulateNeuronTable = {
  /** ms; default 1. */
  timeStep: option(positive("ms"), 1, "Length of a step."),
  /** Default "float64". */
  precision: option(choice("float32", "float64"), "float64", "Precision of potentials and currents."),
};

/** Time step and precision of a simulated neuron. */
export interface SimulateNeuronOptions extends InputOf<typeof simulateNeuronTable> {}

/** What a neuron did. */
export interface NeuronTrace {
  /**
   * When it fired, ms from the beginning: the end of the step in which it reached its threshold.
   */
  readonly spikeTimes: Float64Array;
  /** The potential after each step, mV, T values; if it fired, after the reset. */
  readonly potential: FloatArray;
}

/**
 * Runs one neuron from rest.
 *
 * @param neuron a neuron by name, or by name and settings
 * @param currents the current of each step, T values: for integrate-and-fire neurons in mV, times
 * the membrane's resistance
 * @throws ArgumentError for the neuron, or for a current that is not finite
 */
export async function simulateNeuron(
  neuron: NeuronOptions,
  currents: ArrayLike<number>,
  options: SimulateNeuronOptions = {},
): Promise<NeuronTrace> {
  checkHas("currents", currents, "a list of currents", "length");
  const { timeStep, precision } = resolve(simulateNeuronTable, options);
  const [{ build }, { networkOf }, { ReferenceNetwork }] = await Promise.all([
    import("../liquid/kind.js"),
    import("../liquid/as-network.js"),
    import("../network/reference.js"),
  ]);
  const model = build({
    kind: "spiking",
    size: 1,
    neuron,
    timeStep,
    precision,
    inhibitory: { share: 0 },
    input: { mode: "current", connectivity: 1, weight: 1, distribution: "constant", negativeShare: 0 },
    connectivity: { type: "random", probability: 0 },
    stateTimeConstant: 0,
  });
  const network = new ReferenceNetwork(networkOf(model));
  const { inputs, states, advance } = network.liquid!;
  const { neuron: config } = model.config;
  const zero = config.type === "izhikevich" ? 0 : config.restingPotential;
  const potential = allocate(precision, currents.length);
  const spikeTimes: number[] = [];
  for (let t = 0; t < currents.length; t++) {
    if (!Number.isFinite(currents[t])) throw new ArgumentError(`the current of step ${t}`, currents[t], "a finite number of mV");
    inputs[0] = currents[t]!;
    try {
      advance(1, t, 0);
    } catch {
      throw new ArgumentError(`the current of step ${t}`, currents[t], "one that keeps the potential finite");
    }
    if (states[0] === 1) spikeTimes.push((t + 1) * timeStep);
    potential[t] = network.getValues("potential")[0]! + zero;
  }
  return { spikeTimes: Float64Array.from(spikeTimes), potential };
}
