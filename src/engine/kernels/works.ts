// What the operations of the named kernels read and write, for any holder of the numbers.
import type { Activation } from "../../reservoir/model.js";

/** Types of elements that the operations read and write. */
export type ElementType = "f32" | "f64" | "i32" | "u32" | "u64" | "i64";

/** The arrays of a memory: typed arrays on the host, slices of memory on a device. */
export interface ArrayKinds {
  /** In the precision of the kernels: written, and read. */
  real: { readonly length: number };
  realInput: { readonly length: number };
  u32Input: { readonly length: number };
  f32: { readonly length: number };
  f32Input: { readonly length: number };
  i32: { readonly length: number };
}

/** A matrix in CSR form: columns rise strictly within a row, and R + 1 row offsets begin at 0. */
export interface SparseArrays<A extends ArrayKinds> {
  readonly values: A["realInput"];
  readonly columns: A["u32Input"];
  readonly rowOffsets: A["u32Input"];
}

/** What `matvecInput` takes. N neurons, I inputs, T steps. */
export interface InputWork<A extends ArrayKinds> {
  /** N. */
  readonly size: number;
  /** T; default 1. */
  readonly steps?: number | undefined;
  /** I x N, input by input: W_in transposed. Left out if there are no inputs. */
  readonly weights?: A["realInput"] | undefined;
  /** T x I. */
  readonly inputs?: A["realInput"] | undefined;
  /** N values; left out, sums begin at +0. */
  readonly bias?: A["realInput"] | undefined;
  /** T x N; default new memory. */
  readonly out?: A["real"] | undefined;
}

/** What `matvecReservoir` takes. */
export interface ProductWork<A extends ArrayKinds> {
  /** W, R x C: row by row, or in CSR form. */
  readonly weights: A["realInput"] | SparseArrays<A>;
  /** x, C values. */
  readonly state: A["realInput"];
  /** R values; default new memory. */
  readonly out?: A["real"] | undefined;
}

/** Noise of a step: docs/numerics.md, rule 6. */
export interface NoiseWork {
  /** Rounded to the precision of the kernels. */
  readonly level: number;
  /** Two words of 32 bits. */
  readonly key: readonly [number, number];
  /** The counter of the step. */
  readonly step: number;
  /** Default 0. */
  readonly sequence?: number | undefined;
}

/** What `leakyIntegration` takes: N values each. */
export interface LeakyWork<A extends ArrayKinds> {
  /** x. */
  readonly state: A["realInput"];
  readonly drive: A["realInput"];
  /** W x; left out, nothing is added. */
  readonly recurrent?: A["realInput"] | undefined;
  /** W_fb y, likewise. */
  readonly feedback?: A["realInput"] | undefined;
  /** a. */
  readonly leak: A["realInput"];
  /** f; default "tanh". */
  readonly activation?: Activation | undefined;
  readonly noise?: NoiseWork | undefined;
  /** x', which may be `state`; default new memory. */
  readonly out?: A["real"] | undefined;
}

/** What `powerIteration` takes. */
export interface PowerWork<A extends ArrayKinds> {
  /** W, N x N: row by row, or in CSR form. */
  readonly weights: A["realInput"] | SparseArrays<A>;
  /** x, N values. */
  readonly state: A["realInput"];
  /** W (x / |x|), N values, not `state`; default new memory. */
  readonly out?: A["real"] | undefined;
  /** |x|, one value; default new memory. */
  readonly length?: A["real"] | undefined;
}

/** What `powerIteration` gives. */
export interface PowerStep<A extends ArrayKinds> {
  readonly out: A["real"];
  readonly length: A["real"];
}

/** What `patternDetection` takes. B vectors and P templates of D numbers, in binary32. */
export interface DetectionWork<A extends ArrayKinds> {
  /** B x D. */
  readonly vectors: A["f32Input"];
  /** P x D. */
  readonly templates: A["f32Input"];
  /** D. */
  readonly length: number;
  /** "cosine" (default), 0 if a vector is all zeros, or "dot". */
  readonly score?: "cosine" | "dot" | undefined;
  /** The smallest score that is a match; default 0.5. */
  readonly threshold?: number | undefined;
  /** B x P; default new memory. */
  readonly scores?: A["f32"] | undefined;
  /** B values; default new memory. */
  readonly best?: A["i32"] | undefined;
  /** B values; default new memory. */
  readonly matches?: A["i32"] | undefined;
}

/** What `patternDetection` gives. */
export interface Detections<A extends ArrayKinds> {
  /** B x P. */
  readonly scores: A["f32"];
  /** The index of each vector's best template, the first if tied. */
  readonly best: A["i32"];
  /** The same, or -1 if its score is below the threshold. */
  readonly matches: A["i32"];
}
