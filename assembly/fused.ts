// The module for runtimes with relaxed SIMD: the kernels whose products are exact, with fused
// multiply-add. It works in the memory of an instance of the main module.
export { gramAddRows } from "./linear-algebra/gram";
