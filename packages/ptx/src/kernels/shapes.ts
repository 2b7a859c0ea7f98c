// The sizes and choices of every generated kernel, as option tables: their checks and their types.
// It loads no kernel, so that the command line can name them cheaply.
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, choice, flag, given, type Kind, number, type Option, type OptionTable, optional, whole } from "@spillway/core/options.js";

type ValueOf<O> = O extends Option<infer Value, infer _> ? Value : never;
type OptionalKeys<Table> = { [K in keyof Table]: undefined extends ValueOf<Table[K]> ? K : never }[keyof Table];

/** What a table takes: options that may be left out are optional fields. */
export type ShapeOf<Table extends OptionTable> = {
  readonly [K in Exclude<keyof Table, OptionalKeys<Table>>]: ValueOf<Table[K]>;
} & { readonly [K in OptionalKeys<Table>]?: Exclude<ValueOf<Table[K]>, undefined> };

const sizeTo = (atMost: number): Kind<number> => whole({ atLeast: 1, atMost });
const size = sizeTo(2 ** 30);

function oneOf<const Value extends number>(...values: readonly Value[]): Kind<Value> {
  const takes = `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`;
  return checked(takes, (value) => (values as readonly unknown[]).includes(value), { enum: values });
}

const product = {
  m: given(size, "Rows of A and C; rows of A for gemv."),
  n: given(size, "Columns of B and C, or rows of four-bit weights; columns of A for gemv."),
  k: given(size, "Columns of A and rows of B."),
};
const rows = optional(size, "Rows of softmax, norms and classShares; default 1. A launch may change it with the grid.");
const form = optional(choice("warp", "block"), "Who shares a row; left out, a warp up to 1024 elements, else a block.");
const features = given(size, "Numbers of a row of a classifier's features; of stateStatistics the statistics come first.");
const norm = {
  rows,
  hiddenSize: given(size, "Length of a row of a norm."),
  epsilon: optional(
    number({ atLeast: 0, takes: "a number from 0" }),
    "Added to the variance or the mean square; left out, 1e-5 for layer norm, 1e-6 for RMS norm.",
  ),
  affine: optional(flag, "Whether a norm's results are multiplied by gamma, and for layer norm beta added; default true."),
  form,
};

/** Tiles of C a block on tensor cores. */
export const tensorTiles = [
  [128, 256],
  [128, 128],
  [64, 128],
  [64, 64],
] as const;

const tile: Kind<readonly [rows: 64 | 128, columns: 64 | 128 | 256]> = {
  takes: tensorTiles.map((each) => each.join(" x ")).join(", "),
  schema: { enum: tensorTiles },
  read(value, field) {
    const shown = Array.isArray(value) ? value.join(" x ") : value;
    const found = tensorTiles.find((each) => each.join(" x ") === shown);
    if (!found) throw new ArgumentError(field, shown, tile.takes);
    return found;
  },
};

/** The names of the element-wise kernels. */
export const elementwiseNames = [
  "vector_add",
  "elementwise_multiply",
  "elementwise_exp",
  "relu",
  "sigmoid",
  "tanh_activation",
  "broadcast_add",
  "batch_norm",
] as const;

/** By the kind of kernel. */
export const shapeTables = {
  gemmNaive: product,
  gemmTiled: {
    ...product,
    tileSize: optional(
      oneOf(16, 32, 64, 128),
      "Rows and columns of C a block of gemmTiled; left out, the largest that still gives work to 128 blocks, or 32.",
    ),
  },
  gemmTensorCore: {
    ...product,
    type: optional(choice("f16", "bf16", "tf32"), "Type of A and B, default f16; tf32 is given as f32 and rounded to 11 significant bits."),
    tile: optional(
      tile,
      "Rows and columns of C a block of gemmTensorCore; left out, the largest that still gives work to 128 blocks, or the smallest.",
    ),
  },
  softmax: { rows, dim: given(size, "Length of a row of softmax."), form },
  layerNorm: norm,
  rmsNorm: norm,
  attention: {
    heads: optional(sizeTo(65535), "Independent attentions, batch times heads; default 1."),
    seqLen: given(size, "Queries of attention."),
    headDim: given(sizeTo(256), "Numbers of a query, a key, a value of attention."),
    keyLength: optional(size, "Keys and values of attention; left out, seqLen."),
    causal: optional(flag, "Whether query i of attention sees keys only up to i + keyLength - seqLen."),
    scale: optional(
      number({ takes: "a number other than 0", accepts: (value) => value !== 0 }),
      "Factor of attention's scores; left out, 1 / sqrt(headDim).",
    ),
    type: optional(choice("f16", "bf16", "f32"), "Type of queries, keys, values and results; default f16."),
  },
  quantizedGemm: {
    ...product,
    format: optional(choice("superblock", "block32"), "How four-bit weights are stored; default superblock."),
    rowsPerWarp: optional(
      checked<1 | 2 | 4 | 8 | 16>(
        "1, 2, 4 or 8, or 16 for superblocks on sm_80 and later",
        (value) => [1, 2, 4, 8, 16].includes(value as number),
        {
          type: "integer",
        },
      ),
      "Rows of four-bit weights that a warp multiplies; 16 by tensor cores. Left out, it depends on target and sizes.",
    ),
  },
  gemv: { m: product.m, n: product.n },
  leakyStep: { size: given(size, "Neurons of a reservoir's step.") },
  stateStatistics: {
    size: given(size, "Neurons whose states are summarised."),
    type: optional(choice("f32", "f64"), "Element of the states; default f32."),
    features,
    last: optional(flag, "The last state; default true."),
    mean: optional(flag, "The mean of the states, behind the last one; default true."),
    levels: optional(
      whole({ atLeast: 0, atMost: 99 }),
      "In place of last and mean, all statistics of states, with counts by so many levels of each neuron.",
    ),
    sequences: optional(size, "Sequences of a launch of stateStatistics, the grid's first size, which a launch may change; default 1."),
  },
  classShares: {
    features,
    classes: given(size, "Classes of classShares."),
    transform: optional(
      choice("plain", "squareHalf", "squares"),
      "Features of classShares: as they are (default), every second one squared, or all squares behind them.",
    ),
    layerNorm: optional(flag, "Layer norm of each row of classShares first."),
    shares: optional(choice("softmax", "positive"), "Shares of classShares: softmax (default), or what is above 0 divided by its sum."),
    scaled: optional(flag, "Scores of classShares times a factor, its last argument."),
    rows,
  },
  elementwise: {
    operation: given(choice(...elementwiseNames), "Which element-wise kernel."),
    count: given(size, "Elements that the grid of an element-wise kernel is for."),
  },
} as const satisfies Readonly<Record<string, OptionTable>>;

/** The sizes and choices of each kind of kernel. */
export type Shapes = { readonly [Kind in keyof typeof shapeTables]: ShapeOf<(typeof shapeTables)[Kind]> };
/** The name of a kind of generated kernel. */
export type KernelKind = keyof Shapes;
/** The name of an element-wise kernel. */
export type ElementwiseName = (typeof elementwiseNames)[number];
