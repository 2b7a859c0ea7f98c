// Kernels that the builder makes for given sizes, without any toolkit: matrix products, softmax,
// norms, attention, four-bit weights, and the steps of a reservoir. What each computes and takes
// stands at its generator.
export { attention, type AttentionShape } from "./attention.js";
export { generateKernel, type KernelKind, kernelKinds, kernelName, type KernelType, presets } from "./catalogue.js";
export { classShares, type ClassSharesShape, stateStatistics, type StateStatisticsShape } from "./classify.js";
export { elementwise, type ElementwiseName, elementwiseNames } from "./elementwise.js";
export { gemmNaive, type GemmShape } from "./gemm-naive.js";
export { gemmTensorCore, type GemmTensorCoreShape, type TensorCoreType } from "./gemm-tensor-core.js";
export { gemmTiled, type GemmTiledShape } from "./gemm-tiled.js";
export { gemv, type GemvShape, leakyStep } from "./gemv.js";
export type { GeneratedKernel, GeneratedLaunch, KernelGeneratorOptions, Size3 } from "./generated-kernel.js";
export { layerNorm, type NormShape, rmsNorm } from "./norms.js";
export { persistentGrid, persistentPlaces, type PersistentShape, statesOutOfRange } from "./persistent.js";
export { persistentCluster, type PersistentClusterShape } from "./persistent-cluster.js";
export type { GroupStorage, PersistentArithmetic } from "./persistent-rows.js";
export { dequantizeQ4, q4Blocks, q4BlocksPerRow, type Q4Format, type Q4Matrix, quantizeQ4 } from "./q4k.js";
export { quantizedGemm, type QuantizedGemmShape } from "./quantized-gemm.js";
export { rowSoftmax, type SoftmaxShape } from "./softmax.js";
