/**
 * Spikes on a device: encoding, binning and detection for what is in its memory. Spiking reservoirs
 * run there by the engines "cuda" and "sim", whatever is here.
 */
export { binSpikesOnDevice, type DeviceBinOptions } from "./binning.js";
export { DeviceDetector } from "./detector.js";
export { DeviceSpikePattern, DeviceSpikePatterns } from "./device-pattern.js";
export { type DeviceEncoderConfig, encodeOnDevice, isDeviceEncoder } from "./encoders.js";
export { firedThere } from "./fired.js";
export { binPatternsOnDevice } from "./patterns-binning.js";
export { DeviceTemplates, learnTemplatesThere } from "./templates.js";
