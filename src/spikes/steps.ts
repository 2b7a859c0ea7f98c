// Durations in whole time steps.

/**
 * The steps of `timeStep` ms in a duration, halves up. The quotient of two rounded numbers may be
 * some units in the last place below a half, as that of 0.15 and 0.1 is: it counts as the half.
 */
export function stepsIn(ms: number, timeStep: number): number {
  return Math.floor((ms / timeStep) * (1 + 2 ** -50) + 0.5);
}
