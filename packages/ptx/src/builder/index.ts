// The PTX builder: kernels written in TypeScript, printed as PTX without any CUDA toolkit. It knows
// nothing of what kernels compute.
//
//   const module = new PtxModule({ target: "sm_80" });
//   module.kernel("scale", { block: [256] }, (k) => {
//     const [x, n, factor] = [k.pointer("f32", "x"), k.parameter("u32", "n"), k.parameter("f32", "factor")];
//     const i = k.mad(k.blockIndex(), 256, k.threadIndex());
//     k.if(k.compare("lt", i, n), () => {
//       const at = k.at(x, i);
//       k.store(at, k.mul(k.load(at), factor));
//     });
//   });
//   const ptx = module.emit();
//
// A Value carries its PTX type, a Pointer its state space and element: an f32 added to a u32, or a
// global address used in shared memory, does not compile. emit() refuses undefined values, barriers
// that some threads do not reach, full-mask shuffles under divergence, and what the target lacks.

export { bfloat16Bits, halfBits, halfValue } from "@spillway/core/half.js";
export type { ComparisonOperator } from "./arithmetic.js";
export { PtxBuildError, PtxTargetError } from "./errors.js";
export { PtxKernel, type Threads } from "./kernel.js";
export type { MatrixType } from "./matrix.js";
export { atomicTypes, type MemoryLoadOptions } from "./memory.js";
export { PtxModule } from "./module.js";
export { type OperationName, operations } from "./operations.js";
export type { DeclaredParameter } from "./storage.js";
export { type Target, targetFacts, targets } from "./targets.js";
export { type MemoryType, type RegisterType, typeBytes } from "./types.js";
export { type BuiltKernelResources, validateKernel } from "./validate.js";
export { literal, Pointer, Value, Variable } from "./values.js";
export type { AsyncProduct } from "./warp-group.js";
