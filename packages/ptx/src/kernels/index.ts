// Kernels that the builder generates for given sizes, without any toolkit: matrix products, softmax,
// norms, attention, four-bit weights, and the leaky step. Each generator documents its kernel.
export { type AttentionShape, attention } from "./attention.js";
export { generateKernel, type KernelType, kernelKinds, kernelName, presets } from "./catalogue.js";
export { type ClassSharesShape, classShares, type StateStatisticsShape, stateStatistics } from "./classify.js";
export { elementwise } from "./elementwise.js";
export { type GemmShape, gemmNaive } from "./gemm-naive.js";
export { type GemmTensorCoreShape, gemmTensorCore, type TensorCoreType } from "./gemm-tensor-core.js";
export { type GemmTiledShape, gemmTiled } from "./gemm-tiled.js";
export { type GemvShape, gemv, leakyStep } from "./gemv.js";
export type { GeneratedKernel, GeneratedLaunch, KernelGeneratorOptions, Size3 } from "./generated-kernel.js";
export { layerNorm, type NormShape, rmsNorm } from "./norms.js";
export { dequantizeQ4, type Q4Format, type Q4Matrix, q4Blocks, q4BlocksPerRow, quantizeQ4 } from "./q4k.js";
export { type QuantizedGemmShape, quantizedGemm } from "./quantized-gemm.js";
export { type ElementwiseName, elementwiseNames, type KernelKind, shapeTables } from "./shapes.js";
export { rowSoftmax, type SoftmaxShape } from "./softmax.js";
