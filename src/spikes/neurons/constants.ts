// The constants of every neuron of a network, in its precision: excitatory neurons first, then
// inhibitory ones.
import { allocate, type FloatArray, type Precision } from "@spillway/numerics";
import type { NeuronConfig } from "../../reservoir/spiking-config.js";
import type { NeuronConstants } from "../../reservoir/spiking-model.js";
import { type IntegrateAndFireNumbers, integrateAndFireNumbers } from "./leaky-integrate-and-fire.js";

/** How many neurons of each kind. */
export interface NeuronGroup {
  readonly count: number;
  readonly neuron: NeuronConfig;
}

/** What the neurons' constants depend on besides the neurons. Times in ms. */
export interface StepSettings {
  readonly timeStep: number;
  readonly excitatoryTimeConstant: number;
  readonly inhibitoryTimeConstant: number;
  readonly precision: Precision;
}

/** Constants of groups of neurons that are all of one type, one group after the other. */
export function neuronConstants(groups: readonly NeuronGroup[], settings: StepSettings): NeuronConstants {
  const { timeStep, precision } = settings;
  const size = groups.reduce((sum, { count }) => sum + count, 0);
  const filled = <Neuron extends NeuronConfig>(
    take: (neuron: Neuron) => number,
    out: FloatArray | Int32Array = allocate(precision, size),
  ) => {
    let from = 0;
    for (const { count, neuron } of groups) {
      out.fill(take(neuron as Neuron), from, from + count);
      from += count;
    }
    return out;
  };
  const first = groups[0]!.neuron;
  if (first.type === "izhikevich") {
    type Neuron = typeof first;
    const each = (take: (neuron: Neuron) => number) => filled<Neuron>(take) as FloatArray;
    return {
      type: "izhikevich",
      halfStep: timeStep / 2,
      recoveryRate: each(({ a }) => timeStep * a),
      sensitivity: each(({ b }) => b),
      reset: each(({ c }) => c),
      recoveryStep: each(({ d }) => d),
    };
  }
  const each = (field: keyof IntegrateAndFireNumbers, out?: Int32Array) =>
    filled<Exclude<NeuronConfig, { type: "izhikevich" }>>(
      (neuron) => integrateAndFireNumbers(neuron, timeStep, settings.excitatoryTimeConstant, settings.inhibitoryTimeConstant)[field],
      out,
    );
  const floats = (field: keyof IntegrateAndFireNumbers) => each(field) as FloatArray;
  return {
    type: first.type,
    keep: floats("keep"),
    driveGain: floats("driveGain"),
    excitatoryGain: floats("excitatoryGain"),
    inhibitoryGain: floats("inhibitoryGain"),
    threshold: floats("threshold"),
    reset: floats("reset"),
    subtracts: first.reset === "subtract",
    refractorySteps: each("refractorySteps", new Int32Array(size)) as Int32Array,
    ...(first.type === "adaptiveIntegrateAndFire"
      ? { adaptationKeep: floats("adaptationKeep"), adaptationStep: floats("adaptationStep") }
      : {}),
  };
}
