// What the contract says besides `../engine.ts`: the errors of engines and their capabilities.
export type * from "./activations.js";
export type * from "./cells.js";
export type * from "./costs.js";
export type * from "./device-data.js";
export type * from "./drawing.js";
export type * from "./ensembles.js";
export * from "./errors.js";
export type * from "./integers.js";
export type * from "./limits.js";
export type * from "./measures.js";
export type * from "./plans.js";
export type * from "./products.js";
export type * from "./registered.js";
export type * from "./several.js";
export type * from "./spectra.js";
export type * from "./summaries.js";
export type * from "./sweeps.js";
export type * from "./training.js";
