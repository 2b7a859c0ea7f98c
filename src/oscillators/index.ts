/**
 * Phase oscillators outside reservoirs. As a reservoir they are `kind: "oscillator"`.
 * @module spillway/oscillators
 */
export { type Colouring, type ColouringOptions, colourGraph, conflictsOf, type VertexGraph } from "./colouring.js";
