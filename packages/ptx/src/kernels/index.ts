// Kernels that the builder generates for given sizes. Each generator documents its kernel.
export { attention } from "./attention.js";
export { generateKernel, type KernelType, kernelKinds, kernelName, presets } from "./catalogue.js";
export { classShares, stateStatistics } from "./classify.js";
export { elementwise } from "./elementwise.js";
export { gemmNaive } from "./gemm-naive.js";
export { gemmTensorCore } from "./gemm-tensor-core.js";
export { gemmTiled } from "./gemm-tiled.js";
export { gemv, leakyStep } from "./gemv.js";
export type { GeneratedKernel, KernelGeneratorOptions } from "./generated-kernel.js";
export { layerNorm, rmsNorm } from "./norms.js";
export { dequantizeQ4, q4Blocks, q4BlocksPerRow, quantizeQ4 } from "./q4k.js";
export { quantizedGemm } from "./quantized-gemm.js";
export { elementwiseNames, shapeTables } from "./shapes.js";
export { rowSoftmax } from "./softmax.js";
