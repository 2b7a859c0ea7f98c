/**
 * The lowest layer: matrices, portable arithmetic, random streams, linear algebra. It knows no
 * reservoir.
 */
export { describe } from "@spillway/core/text.js";
export * from "./double-double.js";
export type { DoubleDoubles } from "./double-double-rows.js";
export * from "./drawing.js";
export * from "./linear-algebra/index.js";
export * from "./matrix.js";
export { normalCdf, normalQuantile } from "./normal.js";
export * from "./portable.js";
export * from "./random.js";
export { rowDot } from "./row-dot.js";
export * from "./spectrum/index.js";
export { logGamma, studentQuantile } from "./student.js";
export { loadWasm } from "./wasm/index.js";
