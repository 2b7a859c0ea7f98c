/**
 * PTX without a toolkit: a builder that makes it, generated kernels, and an interpreter that
 * reads and runs it. No driver, nothing native.
 */
export * from "./builder/index.js";
export { PtxModule } from "./builder/index.js";
/** A module as the interpreter reads it. */
export type { PtxModule as ParsedPtxModule } from "./interpreter/index.js";
export * from "./interpreter/index.js";
export * from "./kernels/index.js";
