// The numbers of a population's neurons and receptors in a step, from their description.
import { portableExp } from "@spillway/numerics";
import { alphaGain, decay, integrateAndFireNumbers, synapticGain } from "../neurons/leaky-integrate-and-fire.js";
import { stepsIn } from "../steps.js";
import type { AdaptiveExponentialConfig, PopulationConfig } from "./config.js";
import type { PlannedNeuron, PlannedPopulation } from "./plan.js";

/** An Izhikevich neuron fires when its potential reaches this, mV. */
const izhikevichPeak = 30;

/** mV a unit of current, of a population's weights. */
export function resistanceOf({ capacitance, neuron }: PopulationConfig): number {
  return capacitance === null || neuron === null || neuron.type === "izhikevich" ? 1 : neuron.membraneTimeConstant / capacitance;
}

/** @param planned the population's neuron */
export function receptorsOf(
  config: PopulationConfig,
  planned: PlannedNeuron,
  timeStep: number,
  round: (value: number) => number,
): PlannedPopulation["receptors"] {
  const neuron = config.neuron!;
  return Object.entries(config.receptors).map(([receptor, { timeConstant, shape, reversalPotential }]) => {
    // What the current of a step's beginning, or its rise, is on average over the step.
    const x = timeStep / timeConstant;
    const [mean, meanOfRise] = planned.upswing ? [(1 - portableExp(-x)) / x, (Math.E * (1 - portableExp(-x) * (1 + x))) / x] : [1, 0];
    const goal = reversalPotential === null ? 1 : reversalPotential - planned.rest;
    const [gain, gainOfRise] = planned.relaxes
      ? [goal * mean, goal * meanOfRise]
      : neuron.type === "izhikevich"
        ? [1, 0]
        : [
            synapticGain(timeConstant, neuron.membraneTimeConstant, timeStep),
            alphaGain(timeConstant, neuron.membraneTimeConstant, timeStep),
          ];
    const conducts = (share: number) => (reversalPotential === null ? 0 : round(share));
    return {
      name: receptor,
      keep: round(decay(timeConstant, timeStep)),
      gain: round(gain),
      conducts: conducts(mean),
      rise:
        shape === "exponential"
          ? null
          : { gain: round(gainOfRise), conducts: conducts(meanOfRise), feed: round((Math.E * timeStep) / timeConstant) },
    };
  });
}

export function neuronOf(config: PopulationConfig, timeStep: number, round: (value: number) => number): PlannedNeuron {
  const neuron = config.neuron!;
  const resistance = resistanceOf(config);
  if (neuron.type === "adaptiveExponential") return adaptiveExponential(neuron, timeStep, resistance, round);
  if (neuron.type === "izhikevich")
    return {
      ...{ type: neuron.type, relaxes: false, upswing: null, subtracts: false, refractorySteps: 0, rest: 0, resistance },
      keep: round(timeStep * neuron.a),
      driveGain: 1,
      threshold: izhikevichPeak,
      reset: round(neuron.c),
      recoveryKeep: round(neuron.b),
      recoveryStep: round(neuron.d),
    };
  const numbers = integrateAndFireNumbers(neuron, timeStep, 0, 0);
  const relaxes = Object.values(config.receptors).some(({ reversalPotential }) => reversalPotential !== null);
  return {
    ...{ type: neuron.type, relaxes, upswing: null, subtracts: neuron.reset === "subtract", rest: neuron.restingPotential, resistance },
    keep: round(relaxes ? timeStep / neuron.membraneTimeConstant : numbers.keep),
    driveGain: relaxes ? 1 : round(numbers.driveGain),
    threshold: round(numbers.threshold),
    reset: round(numbers.reset),
    refractorySteps: numbers.refractorySteps,
    recoveryKeep: round(numbers.adaptationKeep),
    recoveryStep: round(numbers.adaptationStep),
  };
}

function adaptiveExponential(
  neuron: AdaptiveExponentialConfig,
  timeStep: number,
  resistance: number,
  round: (value: number) => number,
): PlannedNeuron {
  const { restingPotential: rest, slopeFactor, threshold: onset, adaptationStep } = neuron;
  const kept = portableExp(-timeStep / (2 * neuron.adaptationTimeConstant));
  const from = (potential: number) => portableExp((potential - onset) / slopeFactor);
  return {
    type: neuron.type,
    relaxes: true,
    upswing: {
      onset: round(onset - rest),
      slope: round(slopeFactor),
      perSlope: round(1 / slopeFactor),
      adaptationGain: round((1 - kept) * neuron.subthresholdAdaptation),
      peakShare: round(1 / from(neuron.peakPotential)),
      resetCurrent: round(slopeFactor * from(neuron.resetPotential)),
      stepLoss: round(adaptationStep * (1 - kept * kept)),
    },
    keep: round(timeStep / neuron.membraneTimeConstant),
    driveGain: 1,
    threshold: round(neuron.peakPotential - rest),
    reset: round(neuron.resetPotential - rest),
    subtracts: false,
    refractorySteps: stepsIn(neuron.refractoryPeriod, timeStep),
    recoveryKeep: round(kept),
    recoveryStep: round(adaptationStep),
    rest,
    resistance,
  };
}

/** The numbers of an upswing in the order in which the engines have them, 0 without one. */
export function upswingNumbers({ upswing }: PlannedNeuron): readonly number[] {
  if (!upswing) return [0, 0, 0, 0, 0, 0, 0];
  const { onset, slope, perSlope, adaptationGain, peakShare, resetCurrent, stepLoss } = upswing;
  return [onset, slope, perSlope, adaptationGain, peakShare, resetCurrent, stepLoss];
}
