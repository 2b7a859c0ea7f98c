// Izhikevich's neuron: the step. Networks of them are in ../liquid.
import type { IzhikevichConstants } from "../../reservoir/spiking-model.js";

/** A neuron fires when its potential reaches this, mV. */
export const izhikevichPeak = 30;

/**
 * One step of v' = 0.04 v^2 + 5 v + 140 - u + I, u' = a (b v - u) by the scheme of the paper's
 * program (Izhikevich 2003, "Simple model of spiking neurons", IEEE Transactions on Neural Networks
 * 14): v by two Euler steps of dt/2, then u by one of dt with the new v. If v >= 30: v = c, u =
 * u + d. The paper takes dt = 1 ms. Returns v and u before the reset.
 */
export function izhikevichStep(
  { halfStep, recoveryRate, sensitivity }: IzhikevichConstants,
  r: number,
  v: number,
  u: number,
  current: number,
  round: (value: number) => number,
): { v: number; u: number } {
  const slope = (at: number) => {
    const polynomial = round(round(round(round(round(0.04) * at) * at) + round(5 * at)) + 140);
    return round(round(polynomial - u) + current);
  };
  const half = round(halfStep);
  const middle = round(v + round(half * slope(v)));
  const end = round(middle + round(half * slope(middle)));
  const change = round(recoveryRate[r]! * round(round(sensitivity[r]! * end) - u));
  return { v: end, u: round(u + change) };
}
