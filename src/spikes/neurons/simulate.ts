// One neuron under a given current: for looking at neurons. Networks are run by engines.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, option, resolve, type TableOf } from "@spillway/core/options.js";
import { allocate, type FloatArray, type Precision } from "@spillway/numerics";
import type { NeuronOptions } from "../../reservoir/spiking-config.js";
import { positive } from "../options.js";

/** Time step and precision of a simulated neuron. */
export interface SimulateNeuronOptions {
  /** ms; default 1. */
  readonly timeStep?: number | undefined;
  /** Default "float64". */
  readonly precision?: Precision | undefined;
}

/** The options of `simulateNeuron`. */
export const simulateNeuronTable = {
  timeStep: option(positive("ms"), 1, "Length of a step."),
  precision: option(choice("float32", "float64"), "float64", "Precision of potentials and currents."),
} satisfies TableOf<SimulateNeuronOptions>;

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
  const { timeStep, precision } = resolve(simulateNeuronTable, options);
  const [{ build }, { LiquidNetwork }] = await Promise.all([import("../liquid/kind.js"), import("../liquid/network.js")]);
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
  const network = new LiquidNetwork(model);
  const { neuron: config } = model.config;
  const zero = config.type === "izhikevich" ? 0 : config.restingPotential;
  const potential = allocate(precision, currents.length);
  const spikeTimes: number[] = [];
  const [before, after, input] = [allocate(precision, 1), allocate(precision, 1), allocate(precision, 1)];
  for (let t = 0; t < currents.length; t++) {
    if (!Number.isFinite(currents[t])) throw new ArgumentError(`the current of step ${t}`, currents[t], "a finite number of mV");
    input[0] = currents[t]!;
    if (!network.step(before, after, input, t, 0))
      throw new ArgumentError(`the current of step ${t}`, currents[t], "one that keeps the potential finite");
    if (after[0] === 1) spikeTimes.push((t + 1) * timeStep);
    potential[t] = network.state.potential[0]! + zero;
  }
  return { spikeTimes: Float64Array.from(spikeTimes), potential };
}
