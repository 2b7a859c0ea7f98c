// Every kind of generated kernel at a few sizes with the first target that has it: for the tests of
// the list and of assembling.
import type { Target } from "../../../packages/ptx/src/builder/index.js";
import type { KernelType } from "../../../packages/ptx/src/kernels/catalogue.js";
import { elementwiseNames } from "../../../packages/ptx/src/kernels/shapes.js";

const odd = { m: 131, n: 259, k: 77 };
const even = { m: 256, n: 512, k: 128 };

export const catalogueCases: readonly [type: KernelType, target: Target][] = [
  [{ kind: "gemmNaive", ...odd }, "sm_75"],
  ...([16, 32, 64, 128] as const).map((tileSize): [KernelType, Target] => [{ kind: "gemmTiled", ...odd, tileSize }, "sm_75"]),
  [{ kind: "gemmTiled", ...even, tileSize: 128 }, "sm_75"],
  [{ kind: "gemmTensorCore", ...odd, type: "f16" }, "sm_75"],
  [{ kind: "gemmTensorCore", ...even, type: "f16", tile: [128, 256] }, "sm_75"],
  [{ kind: "gemmTensorCore", ...odd, type: "bf16", tile: [128, 128] }, "sm_80"],
  [{ kind: "gemmTensorCore", ...even, type: "bf16", tile: [128, 256] }, "sm_80"],
  [{ kind: "gemmTensorCore", ...odd, type: "tf32" }, "sm_80"],
  [{ kind: "gemmTensorCore", ...even, type: "tf32", tile: [128, 256] }, "sm_80"],
  [{ kind: "softmax", rows: 3, dim: 77 }, "sm_75"],
  [{ kind: "softmax", rows: 3, dim: 4096 }, "sm_75"],
  [{ kind: "softmax", rows: 3, dim: 50001 }, "sm_75"],
  [{ kind: "layerNorm", rows: 3, hiddenSize: 768 }, "sm_75"],
  [{ kind: "layerNorm", rows: 3, hiddenSize: 40001, affine: false }, "sm_75"],
  [{ kind: "rmsNorm", rows: 3, hiddenSize: 4097 }, "sm_75"],
  [{ kind: "attention", heads: 2, seqLen: 100, headDim: 64, causal: true }, "sm_75"],
  [{ kind: "attention", heads: 2, seqLen: 100, headDim: 77 }, "sm_75"],
  [{ kind: "attention", heads: 2, seqLen: 100, headDim: 256, causal: true, type: "bf16" }, "sm_80"],
  [{ kind: "attention", heads: 128, seqLen: 200, headDim: 64, causal: true, type: "f32" }, "sm_75"],
  [{ kind: "attention", heads: 2, seqLen: 100, headDim: 77, type: "f32" }, "sm_75"],
  [{ kind: "attention", heads: 128, seqLen: 100, headDim: 256, causal: true, type: "f32" }, "sm_75"],
  [{ kind: "quantizedGemm", m: 1, n: 16384, k: 512 }, "sm_75"],
  [{ kind: "quantizedGemm", m: 5, n: 33, k: 300 }, "sm_75"],
  [{ kind: "quantizedGemm", m: 1, n: 16384, k: 512, rowsPerWarp: 16 }, "sm_80"],
  [{ kind: "quantizedGemm", m: 1, n: 9000, k: 512, rowsPerWarp: 8 }, "sm_80"],
  [{ kind: "quantizedGemm", m: 5, n: 33, k: 301, rowsPerWarp: 16 }, "sm_80"],
  [{ kind: "quantizedGemm", m: 1, n: 100, k: 70, format: "block32" }, "sm_75"],
  [{ kind: "gemv", m: 100, n: 333 }, "sm_75"],
  [{ kind: "leakyStep", size: 1000 }, "sm_75"],
  [{ kind: "stateStatistics", size: 1000, features: 2000 }, "sm_75"],
  [{ kind: "stateStatistics", size: 77, type: "f64", features: 80, last: false }, "sm_75"],
  [{ kind: "stateStatistics", size: 1000, features: 12000, levels: 3 }, "sm_75"],
  [{ kind: "stateStatistics", size: 77, type: "f64", features: 77 * 204, levels: 99 }, "sm_75"],
  [{ kind: "classShares", features: 77, classes: 3, scaled: true }, "sm_75"],
  [{ kind: "classShares", features: 2000, classes: 10 }, "sm_75"],
  [{ kind: "classShares", features: 77, classes: 3, transform: "squares", layerNorm: true, shares: "positive" }, "sm_75"],
  ...elementwiseNames.map((operation): [KernelType, Target] => [{ kind: "elementwise", operation, count: 1000 }, "sm_75"]),
];
