// The options that give a generated kernel its sizes. Apart from the command: --help loads no
// kernels.
import type { presets } from "@spillway/ptx";

/** Sizes and choices as options of the command line: "--tile-size 64" is tileSize. */
export const kernelNumbers = {
  m: "rows of A and C",
  n: "columns of B and C, or rows of four-bit weights; columns of A for gemv",
  k: "columns of A",
  tileSize: "of gemmTiled: 16, 32, 64 or 128",
  rows: "rows of softmax and norms",
  dim: "length of a row of softmax",
  hiddenSize: "length of a row of a norm",
  epsilon: "of a norm",
  heads: "of attention",
  seqLen: "queries of attention",
  headDim: "numbers of a query, up to 256",
  keyLength: "keys of attention, if not as many as queries",
  scale: "factor of attention's scores",
  size: "neurons of a reservoir's step",
  rowsPerWarp: "of four-bit kernels",
  count: "elements of an element-wise kernel",
  sequences: "of stateStatistics",
  levels: "of all statistics by stateStatistics",
  features: "numbers of a row of a classifier's features",
  classes: "of classShares",
  batch: "of ffnGemm and ffnGemmHalf",
  hidden: "of ffnGemm and ffnGemmHalf: numbers of a layer's input",
  intermediate: "of ffnGemm and ffnGemmHalf: numbers of its output",
} as const;

/** The sizes of each preset, in the order in which it takes them; kinds have their own. */
export const presetSizes = {
  llamaAttention: ["seqLen", "headDim", "heads"],
  ffnGemm: ["batch", "hidden", "intermediate"],
  ffnGemmHalf: ["batch", "hidden", "intermediate"],
  q4kInference: ["m", "n", "k"],
  rmsNorm: ["hiddenSize", "rows"],
} as const satisfies Record<keyof typeof presets, readonly (keyof typeof kernelNumbers)[]>;

export const kernelWords = {
  type: "element type: f16, bf16 or tf32 of tensor-core kernels, f16, bf16 or f32 of attention",
  form: "who shares a row: warp or block",
  format: "of four-bit weights: superblock or block32",
  transform: "what classShares sees of features: plain, squareHalf or squares",
  shares: "of classShares: softmax or positive",
  operation: "of elementwise: relu, sigmoid, vector_add, ...",
} as const;

/** True if given. */
export const kernelSwitches = {
  causal: "attention: a query sees no later keys",
  layerNorm: "classShares: layer norm of each row first",
  scaled: "classShares: scores times a factor first",
} as const;
