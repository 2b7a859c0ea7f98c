// The kernels of executor.cu: their parameters, and the shapes of their launches. KernelExecutor
// launches them.
import { ArgumentError } from "@spillway/core/errors.js";
import type { KernelOptions } from "../kernel.js";
import type { Dimensions } from "../launch-config.js";
import type { Parameter } from "../parameters.js";
import type { DeviceSlice, ReadonlyDeviceSlice } from "../slice.js";

/** Memory that a kernel reads. */
export type Input = ReadonlyDeviceSlice<"f32">;
/** Memory that a kernel writes. */
export type Output = DeviceSlice<"f32">;

/** Running statistics and parameters of a batch normalisation, one of each for a feature. */
export interface BatchNorm<Vector> {
  readonly gamma: Vector;
  readonly beta: Vector;
  readonly mean: Vector;
  readonly variance: Vector;
  /** Added to the variance; default 1e-5. */
  readonly epsilon?: number;
}

/** What rows are divided by: their sum, their sum of magnitudes, or their Euclidean length. */
export type Norm = "sum" | "magnitudes" | "euclidean";

export const norms: Readonly<Record<Norm, number>> = { sum: 0, magnitudes: 1, euclidean: 2 };

interface Declared {
  readonly parameters: readonly Parameter[];
  readonly lengths: KernelOptions["lengths"];
}

const declare = <const Parameters extends readonly Parameter[]>(parameters: Parameters, lengths: readonly (readonly number[])[]) => ({
  parameters,
  lengths,
});

const binary = declare(["const f32*", "const f32*", "f32*", "i32"], [[3], [3], [3]]);
const inPlace = declare(["f32*", "i32"], [[1]]);
const product = declare(
  ["const f32*", "const f32*", "f32*", "i32", "i32", "i32"],
  [
    [3, 4],
    [4, 5],
    [3, 5],
  ],
);

/** Every kernel of executor.cu: its parameters, and which of them say how long its arrays are. */
export const declarations = {
  vector_add: binary,
  elementwise_multiply: binary,
  elementwise_exp: declare(["const f32*", "f32*", "i32"], [[2], [2]]),
  relu: inPlace,
  sigmoid: inPlace,
  tanh_activation: inPlace,
  broadcast_add: declare(["f32*", "const f32*", "i32", "i32"], [[2, 3], [3]]),
  batch_norm: declare(["f32*", "const f32*", "const f32*", "const f32*", "const f32*", "i32", "i32", "f32"], [[5, 6], [6], [6], [6], [6]]),
  softmax: declare(["f32*", "i32", "i32"], [[1, 2]]),
  normalize: declare(["f32*", "i32", "i32", "i32"], [[1, 2]]),
  reduce_sum: declare(["const f32*", "f64*", "i32"], [[2]]),
  dot_product: declare(["const f32*", "const f32*", "f64*", "i32"], [[3], [3]]),
  sum_partials: declare(["const f64*", "f64*", "i32"], [[2]]),
  matmul: product,
  matmul_small: product,
  matmul_large: product,
} satisfies Record<string, Declared>;

export type Declarations = typeof declarations;

/** The name of a standard kernel. */
export type StandardKernel = keyof Declarations;

/** The names of the standard kernels, in the order of executor.cu. */
export const standardKernelNames: readonly StandardKernel[] = Object.keys(declarations) as StandardKernel[];

/** Threads of a block. */
export const threads = 256;

/** Blocks for `count` elements, four a thread; beyond these blocks threads walk on. */
export const blocksFor = (count: number): number => Math.min(Math.ceil(count / (4 * threads)), 65536);

/**
 * Blocks of a reduction. It depends on the length only, since it is part of the order of the sum.
 */
export const partialsFor = (count: number): number => Math.max(1, Math.min(Math.ceil(count / (16 * threads)), 2048));

/**
 * The shape of a launch whose blocks are (threads of a row, rows): about eight elements a thread.
 */
export function rowShape(rows: number, columns: number): { readonly grid: number; readonly block: Dimensions } {
  let across = 32;
  while (across < 1024 && across * 8 < columns) across *= 2;
  const down = Math.max(1, threads / across);
  return { grid: Math.ceil(rows / down), block: [across, down] };
}

/** @throws ArgumentError if a size is no count that a kernel takes. */
export function checkSizes(kernel: string, sizes: Readonly<Record<string, number>>): void {
  let elements = 1;
  for (const [name, size] of Object.entries(sizes)) {
    if (!Number.isSafeInteger(size) || size < 0) throw new ArgumentError(name, size, "a whole number, at least 0", { of: kernel });
    if (size > 2147483647) throw new ArgumentError(name, size, "at most 2147483647", { of: kernel });
    elements *= Math.max(1, size);
  }
  if (!Number.isSafeInteger(elements))
    throw ArgumentError.because(`${kernel}: ${Object.values(sizes).join(" x ")} elements are too many`, {
      field: Object.keys(sizes).join(" x "),
      value: elements,
    });
}
