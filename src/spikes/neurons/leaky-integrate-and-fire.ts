// Leaky integrate-and-fire neurons, plain and adaptive: the constants of a step, and the step.
// Networks of them are in ../liquid.
import { checkHas } from "@spillway/core/checks.js";
import { portableExp } from "@spillway/numerics";
import { stepsIn } from "../steps.js";
import type { AdaptiveIntegrateAndFireConfig, LeakyIntegrateAndFireConfig } from "./schema.js";

/** The constants of one neuron in binary64, before they are rounded to a model's precision. */
export interface IntegrateAndFireNumbers {
  readonly keep: number;
  readonly driveGain: number;
  readonly excitatoryGain: number;
  readonly inhibitoryGain: number;
  readonly threshold: number;
  readonly reset: number;
  readonly refractorySteps: number;
  readonly adaptationKeep: number;
  readonly adaptationStep: number;
}

/**
 * Exact integration of tau dV/dt = -(V - V_rest) + e + i + I over one step dt (Rotter and Diesmann
 * 1999, "Exact digital simulation of time-invariant linear systems with applications to neuronal
 * modeling", Biological Cybernetics 81), where e and i are synaptic currents that decay with tau_e
 * and tau_i, I is constant over the step, and currents are in mV, times the membrane's resistance:
 *
 *     V(t+dt) - V_rest = keep (V(t) - V_rest) + excitatoryGain e(t) + inhibitoryGain i(t) + driveGain I
 *     keep = exp(-dt/tau)   driveGain = 1 - keep   gain(tau_s) = tau_s/(tau_s - tau) (exp(-dt/tau_s) - exp(-dt/tau))
 *
 * A synaptic time constant of 0 is the whole charge at once: the potential jumps at the
 * beginning of the step, gain = keep.
 */
export function integrateAndFireNumbers(
  neuron: LeakyIntegrateAndFireConfig | AdaptiveIntegrateAndFireConfig,
  timeStep: number,
  excitatoryTimeConstant: number,
  inhibitoryTimeConstant: number,
): IntegrateAndFireNumbers {
  checkHas("neuron", neuron, "the parameters of a neuron", "membraneTimeConstant");
  const { membraneTimeConstant: tau, restingPotential: rest } = neuron;
  const keep = portableExp(-timeStep / tau);
  const isAdaptive = neuron.type === "adaptiveIntegrateAndFire";
  return {
    keep,
    driveGain: 1 - keep,
    excitatoryGain: synapticGain(excitatoryTimeConstant, tau, timeStep),
    inhibitoryGain: synapticGain(inhibitoryTimeConstant, tau, timeStep),
    threshold: neuron.threshold - rest,
    reset: neuron.reset === "subtract" ? neuron.threshold - rest : neuron.resetPotential - rest,
    refractorySteps: stepsIn(neuron.refractoryPeriod, timeStep),
    adaptationKeep: isAdaptive ? decay(neuron.adaptationTimeConstant, timeStep) : 0,
    adaptationStep: isAdaptive ? neuron.adaptationStep : 0,
  };
}

/** exp(-dt / tau); 0 for tau = 0. */
export function decay(timeConstant: number, timeStep: number): number {
  return timeConstant === 0 ? 0 : portableExp(-timeStep / timeConstant);
}

/** What a synaptic current that begins a step at 1 mV adds to the potential. */
export function synapticGain(synaptic: number, membrane: number, timeStep: number): number {
  const keep = portableExp(-timeStep / membrane);
  if (synaptic === 0) return keep;
  // The limit of the quotient if the two time constants meet and it would be 0/0.
  if (Math.abs(synaptic - membrane) < 1e-6 * membrane) return (timeStep / membrane) * keep;
  return (synaptic / (synaptic - membrane)) * (portableExp(-timeStep / synaptic) - keep);
}

/**
 * What a spike of 1 mV of an alpha-shaped current, (t / tau_s) exp(1 - t / tau_s), adds to the
 * potential in its first step: P31 of Rotter and Diesmann times e / tau_s,
 *
 *     (e dt^2 / (tau_s tau)) exp(-dt/tau) (1 - exp(-x) (1 + x)) / x^2,   x = dt / tau_s - dt / tau
 */
export function alphaGain(synaptic: number, membrane: number, timeStep: number): number {
  const x = timeStep / synaptic - timeStep / membrane;
  const scale = ((Math.E * timeStep * timeStep) / (synaptic * membrane)) * portableExp(-timeStep / membrane);
  if (Math.abs(x) >= 1) return (scale * (1 - portableExp(-x) * (1 + x))) / (x * x);
  // The quotient loses digits as x falls: sum of (-x)^n / (n! (n + 2)).
  let [sum, term] = [0, 1];
  for (let n = 0; n < 20; n++, term *= -x / n) sum += term / (n + 2);
  return scale * sum;
}
