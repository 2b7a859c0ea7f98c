// Every kernel that can be generated, by kind: its name before it is made, and presets for common
// uses.
import { ArgumentError } from "@spillway/core/errors.js";
import { type AttentionShape, attention, attentionName } from "./attention.js";
import {
  type ClassSharesShape,
  classShares,
  classSharesName,
  type StateStatisticsShape,
  stateStatistics,
  stateStatisticsName,
} from "./classify.js";
import { type ElementwiseName, elementwise } from "./elementwise.js";
import { type GemmShape, gemmNaive, gemmNaiveName } from "./gemm-naive.js";
import { type GemmTensorCoreShape, gemmTensorCore, gemmTensorCoreName } from "./gemm-tensor-core.js";
import { type GemmTiledShape, gemmTiled, gemmTiledName } from "./gemm-tiled.js";
import { type GemvShape, gemv, gemvName, leakyStep, leakyStepName } from "./gemv.js";
import type { GeneratedKernel, KernelGeneratorOptions } from "./generated-kernel.js";
import { layerNorm, layerNormName, type NormShape, rmsNorm, rmsNormName } from "./norms.js";
import { type QuantizedGemmShape, quantizedGemm, quantizedGemmName } from "./quantized-gemm.js";
import { rowSoftmax, type SoftmaxShape, softmaxName } from "./softmax.js";

interface Shapes {
  gemmNaive: GemmShape;
  gemmTiled: GemmTiledShape;
  gemmTensorCore: GemmTensorCoreShape;
  softmax: SoftmaxShape;
  layerNorm: NormShape;
  rmsNorm: NormShape;
  attention: AttentionShape;
  quantizedGemm: QuantizedGemmShape;
  gemv: GemvShape;
  leakyStep: { readonly size: number };
  stateStatistics: StateStatisticsShape;
  classShares: ClassSharesShape;
  elementwise: { readonly operation: ElementwiseName; readonly count: number };
}

/** The name of a kind of generated kernel. */
export type KernelKind = keyof Shapes;
/** A kernel to generate: its kind with the sizes of that kind. */
export type KernelType = { [K in KernelKind]: { readonly kind: K } & Shapes[K] }[KernelKind];

interface Entry<S> {
  readonly name: (shape: S) => string;
  readonly make: (shape: S, options: KernelGeneratorOptions) => GeneratedKernel;
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
export const kernelKinds = Object.keys(catalogue) as KernelKind[];

function entryOf(type: KernelType): Entry<KernelType> {
  if (typeof type !== "object" || type === null)
    throw new ArgumentError("type", type, `an object with kind: one of ${kernelKinds.join(", ")}`);
  if (!Object.hasOwn(catalogue, type.kind)) throw new ArgumentError("kind", type.kind, `one of ${kernelKinds.join(", ")}`);
  return catalogue[type.kind] as unknown as Entry<KernelType>;
}

/**
 * The `.entry` that a kernel will have. @throws ArgumentError, PtxBuildError for an unknown kind.
 */
export function kernelName(type: KernelType): string {
  return entryOf(type).name(type);
}

/**
 * Makes a kernel. @throws ArgumentError, PtxBuildError, also for a field that a kernel of this kind
 * does not have; PtxTargetError
 */
export function generateKernel(type: KernelType, options: KernelGeneratorOptions = {}): GeneratedKernel {
  const { make } = entryOf(type);
  const read = new Set(["kind"]);
  const watched = new Proxy(type, {
    get(target, field) {
      if (typeof field === "string") read.add(field);
      return Reflect.get(target, field);
    },
  });
  const kernel = make(watched, options);
  for (const [field, value] of Object.entries(type))
    if (value !== undefined && !read.has(field)) throw ArgumentError.unknownField(field, value, [...read], `kernel ${type.kind}`);
  return kernel;
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
