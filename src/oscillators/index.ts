/**
 * Phase oscillators outside reservoirs. As a reservoir they are `kind: "oscillator"`.
 */
export { type ColouringOptions, colourGraph, conflictsOf, type VertexGraph } from "./colouring.js";
