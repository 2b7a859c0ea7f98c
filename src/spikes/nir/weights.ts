// What a spike of NIR, a current of 1 for a while, is as a jump at the beginning of a step.
import { portableExp } from "@spillway/numerics";

/**
 * The weight of rule 13 for a weight of 1 in NIR, in steps dt and a spike of so many ms.
 * With a synaptic time constant the charge is kept, duration / tau_s. Without one the potential at
 * the end of the step is that of a constant current, (1 - keep) duration / dt with keep = exp(-dt /
 * tau), of which the jump is taken a step before.
 */
export function perWeight(
  { tau, synapticTau }: { readonly tau: number; readonly synapticTau: number },
  spikeDuration: number,
  timeStep: number,
): number {
  if (synapticTau > 0) return spikeDuration / synapticTau;
  const keep = portableExp(-timeStep / tau);
  return ((spikeDuration / timeStep) * (1 - keep)) / keep;
}
