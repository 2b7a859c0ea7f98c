/**
 * Spikes: patterns of them, encoders and decoders, plasticity, detection, spiking neurons,
 * liquids and networks.
 */

export { CircuitBreaker, CircuitOpenError } from "@spillway/core/circuit-breaker.js";
export { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
export * from "./detection/index.js";
export { binWidth, drivingRows, rangeOf } from "./drive.js";
export * from "./encoders/index.js";
export * from "./liquid/index.js";
export * from "./network/index.js";
export * from "./neurons/index.js";
export * from "./nir/index.js";
export * from "./pattern/index.js";
export * from "./plasticity/index.js";
export * from "./statistics/index.js";
