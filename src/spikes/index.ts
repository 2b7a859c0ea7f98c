// Spikes: patterns of them, encoders and decoders, plasticity, detection, spiking neurons and liquids.
export * from "./encoders/index.js";
export { SpikeError } from "./errors.js";
export * from "./pattern/index.js";
