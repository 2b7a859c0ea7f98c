// Every kernel that can be generated, by kind: its name before it is generated, and presets for
// common uses.
import { ArgumentError } from "@spillway/core/errors.js";
import { attention, attentionName } from "./attention.js";
import { classShares, classSharesName, stateStatistics, stateStatisticsName } from "./classify.js";
import { elementwise } from "./elementwise.js";
import { gemmNaive, gemmNaiveName } from "./gemm-naive.js";
import { gemmTensorCore, gemmTensorCoreName } from "./gemm-tensor-core.js";
import { gemmTiled, gemmTiledName } from "./gemm-tiled.js";
import { gemv, gemvName, leakyStep, leakyStepName } from "./gemv.js";
import type { GeneratedKernel, KernelGeneratorOptions } from "./generated-kernel.js";
import { layerNorm, layerNormName, rmsNorm, rmsNormName } from "./norms.js";
import { quantizedGemm, quantizedGemmName } from "./quantized-gemm.js";
import { type KernelKind, type Shapes, shapeTables } from "./shapes.js";
import { rowSoftmax, softmaxName } from "./softmax.js";

/** A kernel to generate: its kind with the sizes of that kind. */
export type KernelType = { [K in KernelKind]: { readonly kind: K } & Shapes[K] }[KernelKind];

interface Entry<Shape> {
  name(shape: Shape): string;
  make(shape: Shape, options: KernelGeneratorOptions): GeneratedKernel;
}

const catalogue: { readonly [K in KernelKind]: Entry<Shapes[K]> } = {
  gemmNaive: { name: () => gemmNaiveName, make: gemmNaive },
  gemmTiled: { name: () => gemmTiledName, make: gemmTiled },
  gemmTensorCore: { name: gemmTensorCoreName, make: gemmTensorCore },
  softmax: { name: softmaxName, make: rowSoftmax },
  layerNorm: { name: () => layerNormName, make: layerNorm },
  rmsNorm: { name: () => rmsNormName, make: rmsNorm },
  attention: { name: attentionName, make: attention },
  quantizedGemm: { name: quantizedGemmName, make: quantizedGemm },
  gemv: { name: () => gemvName, make: gemv },
  leakyStep: { name: () => leakyStepName, make: leakyStep },
  stateStatistics: { name: stateStatisticsName, make: stateStatistics },
  classShares: { name: classSharesName, make: classShares },
  elementwise: { name: ({ operation }) => operation, make: elementwise },
};

/** All kinds of generated kernels. */
export const kernelKinds = Object.keys(shapeTables) as KernelKind[];

function entryOf(type: KernelType): Entry<object> {
  if (typeof type !== "object" || type === null)
    throw new ArgumentError("type", type, `an object with kind: one of ${kernelKinds.join(", ")}`);
  if (!Object.hasOwn(catalogue, type.kind)) throw new ArgumentError("kind", type.kind, `one of ${kernelKinds.join(", ")}`);
  return catalogue[type.kind];
}

/** The `.entry` of a kernel. @throws ArgumentError, PtxBuildError for an unknown kind. */
export function kernelName(type: KernelType): string {
  return entryOf(type).name(type);
}

/**
 * Generates a kernel. @throws ArgumentError, PtxBuildError, also for a field that a kernel of this
 * kind does not have; PtxTargetError
 */
export function generateKernel(type: KernelType, options: KernelGeneratorOptions = {}): GeneratedKernel {
  const entry = entryOf(type);
  const { kind: _, ...shape } = type;
  return entry.make(shape, options);
}

/** Kernel types for common uses. */
export const presets = {
  /** Causal attention of a Llama layer. */
  llamaAttention: (seqLen: number, headDim: number, heads = 1) => ({ kind: "attention", heads, seqLen, headDim, causal: true }) as const,
  /** The first product of a feed-forward layer: batch x hidden times hidden x intermediate. */
  ffnGemm: (batch: number, hidden: number, intermediate: number) =>
    ({ kind: "gemmTiled", m: batch, n: intermediate, k: hidden, tileSize: 32 }) as const,
  /** The same product of halves on tensor cores; for sm_90a by warp groups. */
  ffnGemmHalf: (batch: number, hidden: number, intermediate: number, type: "f16" | "bf16" = "bf16") =>
    ({ kind: "gemmTensorCore", m: batch, n: intermediate, k: hidden, type }) as const,
  /** A product with weights in Q4_K superblocks: m rows of k numbers with n rows of weights. */
  q4kInference: (m: number, n: number, k: number) => ({ kind: "quantizedGemm", m, n, k, format: "superblock" }) as const,
  /** Root-mean-square norm with a weight for each number. */
  rmsNorm: (hiddenSize: number, rows = 1) => ({ kind: "rmsNorm", rows, hiddenSize, epsilon: 1e-6, affine: true }) as const,
} as const;
