// What the calls of the one thread that serves all devices cost.

/**
 * Microseconds that the host takes for a launch or another call of the driver from JavaScript.
 * Measured on four H200 (bench/results/gpu-sharded-2026-11-27.md).
 */
export const callMicroseconds = 2.5;
