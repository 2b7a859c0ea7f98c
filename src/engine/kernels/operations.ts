// The operations of the named kernels with the shapes that they take, for any holder of the
// numbers. The classes on top of this one compute them.
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import type { Precision } from "@spillway/numerics";
import type { Activation } from "../../reservoir/model.js";
import { detectionTable, inputTable, leakyTable, powerTable, productTable } from "./options.js";
import type {
  ArrayKinds,
  Detections,
  DetectionWork,
  ElementType,
  InputWork,
  LeakyWork,
  PowerStep,
  PowerWork,
  ProductWork,
  SparseArrays,
} from "./works.js";

export type * from "./works.js";

/** Work whose shapes were checked. */
export interface Checked<A extends ArrayKinds> {
  input: InputWork<A> & { readonly inputSize: number; readonly steps: number; readonly out: A["real"] };
  product: ProductWork<A> & { readonly rows: number; readonly out: A["real"] };
  leaky: LeakyWork<A> & { readonly activation: Activation; readonly out: A["real"] };
  power: PowerWork<A> & PowerStep<A>;
  detection: DetectionWork<A> &
    Detections<A> & { readonly count: number; readonly templateCount: number } & {
      readonly score: "cosine" | "dot";
      readonly threshold: number;
    };
}

/** @internal */
export const isSparseArrays = <A extends ArrayKinds>(weights: A["realInput"] | SparseArrays<A>): weights is SparseArrays<A> =>
  typeof weights === "object" && weights !== null && "rowOffsets" in weights;

/**
 * The operations. Every array is checked for its type and its length before anything is computed;
 * new memory is the caller's.
 */
export abstract class NeuromorphicOperations<A extends ArrayKinds> {
  /** Of states and weights. */
  readonly precision: Precision;

  /** @internal */
  protected constructor(precision: Precision) {
    this.precision = precision;
  }

  /**
   * drive[t, r] = ((bias[r] + W_in[r, 0] u[t, 0]) + W_in[r, 1] u[t, 1]) + ..., T x N:
   * docs/numerics.md, rule 3. @throws ArgumentError
   */
  matvecInput(work: InputWork<A>): A["real"] {
    const { size, steps, weights, inputs, bias } = resolve(inputTable, work);
    const length = inputs === undefined ? 0 : this.#any("inputs", inputs, this.#real);
    if (length % steps !== 0)
      throw ArgumentError.shape(`inputs has ${length} values; ${steps} steps take a multiple of it`, { field: "inputs" });
    const inputSize = length / steps;
    if (inputSize > 0 || weights !== undefined) this.#check("weights", weights, this.#real, inputSize * size, "inputs x size");
    if (bias !== undefined) this.#check("bias", bias, this.#real, size, "size");
    const out = this.#out("out", work.out, this.#real, steps * size, "steps x size");
    this.computeInput({ ...work, inputSize, steps, out });
    return out;
  }

  /**
   * W x, R values: docs/numerics.md, rules 1 and 2. Columns of a W in CSR form lie below C. @throws
   * ArgumentError
   */
  matvecReservoir(work: ProductWork<A>): A["real"] {
    resolve(productTable, work);
    const columns = this.#any("state", work.state, this.#real);
    const rows = this.#rowsOf(work.weights, columns);
    const out = this.#out("out", work.out, this.#real, rows, "the rows of weights");
    this.computeProduct({ ...work, rows, out });
    return out;
  }

  /**
   * (1 - a) x + a f(((drive + W x) + W_fb y) + noise), N values: docs/numerics.md, rules 3 to 6.
   * @throws ArgumentError
   */
  leakyIntegration(work: LeakyWork<A>): A["real"] {
    const { activation } = resolve(leakyTable, work);
    const size = this.#any("state", work.state, this.#real);
    for (const name of ["drive", "leak"] as const) this.#check(name, work[name], this.#real, size, "as many as state");
    for (const name of ["recurrent", "feedback"] as const)
      if (work[name] !== undefined) this.#check(name, work[name], this.#real, size, "as many as state");
    const out = this.#out("out", work.out, this.#real, size, "as many as state");
    this.computeLeaky({ ...work, activation, out });
    return out;
  }

  /**
   * An iteration of power iteration: W (x / |x|), and |x|. Given its own result again and again,
   * |x| comes to the modulus of the largest eigenvalue if one real eigenvalue leads;
   * `spectralRadius` of spillway/numerics says when it has. docs/numerics.md, rule 7. @throws
   * ArgumentError
   */
  powerIteration(work: PowerWork<A>): PowerStep<A> {
    resolve(powerTable, work);
    const size = this.#any("state", work.state, this.#real);
    const rows = this.#rowsOf(work.weights, size);
    if (rows !== size) throw ArgumentError.shape(`weights has ${rows} rows; it takes ${size}, as many as state`, { field: "weights" });
    if (work.out === work.state)
      throw ArgumentError.because("out is state; it takes other memory, since every row reads all of state", { field: "out" });
    const out = this.#out("out", work.out, this.#real, size, "as many as state");
    const length = this.#out("length", work.length, this.#real, 1, "one");
    this.computePower({ ...work, out, length });
    return { out, length };
  }

  /**
   * Scores of vectors against templates in binary32 by docs/numerics.md, rule 1, and the best of
   * each vector. @throws ArgumentError
   */
  patternDetection(work: DetectionWork<A>): Detections<A> {
    const { length, score, threshold } = resolve(detectionTable, work);
    const [count, templateCount] = (["vectors", "templates"] as const).map((name) => {
      const values = this.#any(name, work[name], "f32");
      if (values === 0 || values % length !== 0)
        throw ArgumentError.shape(`${name} has ${values} values; it takes a multiple of ${length}, length`, { field: name });
      return values / length;
    }) as [number, number];
    const scores = this.#out<"f32">("scores", work.scores, "f32", count * templateCount, "vectors x templates");
    const best = this.#out<"i32">("best", work.best, "i32", count, "one a vector");
    const matches = this.#out<"i32">("matches", work.matches, "i32", count, "one a vector");
    this.computeDetection({ ...work, count, templateCount, score, threshold, scores, best, matches });
    return { scores, best, matches };
  }

  /** @internal The type of an array's elements; undefined for what is no array of this memory. */
  protected abstract typeOf(array: unknown): ElementType | undefined;
  /** @internal */
  protected abstract make(name: string, type: ElementType, length: number): ArrayKinds["real"];
  /** @internal */
  protected abstract computeInput(work: Checked<A>["input"]): void;
  /** @internal */
  protected abstract computeProduct(work: Checked<A>["product"]): void;
  /** @internal */
  protected abstract computeLeaky(work: Checked<A>["leaky"]): void;
  /** @internal */
  protected abstract computePower(work: Checked<A>["power"]): void;
  /** @internal */
  protected abstract computeDetection(work: Checked<A>["detection"]): void;

  get #real(): "f32" | "f64" {
    return this.precision === "float32" ? "f32" : "f64";
  }

  /** The number of elements of an array of this type. */
  #any(name: string, array: unknown, type: ElementType): number {
    const found = this.typeOf(array);
    if (found === undefined) throw new ArgumentError(name, array, `${this.takes} of ${type}`);
    if (found !== type) throw ArgumentError.because(`${name} holds ${found}; it takes ${type}`, { field: name, expected: type });
    return (array as { readonly length: number }).length;
  }

  #check(name: string, array: unknown, type: ElementType, length: number, why: string): void {
    const found = this.#any(name, array, type);
    if (found !== length) throw ArgumentError.shape(`${name} has ${found} values; it takes ${length}, ${why}`, { field: name });
  }

  #out<K extends "real" | "f32" | "i32" = "real">(
    name: string,
    given: A[K] | undefined,
    type: ElementType,
    length: number,
    why: string,
  ): A[K] {
    if (given === undefined) return this.make(name, type, length) as A[K];
    this.#check(name, given, type, length, why);
    return given;
  }

  #rowsOf(weights: A["realInput"] | SparseArrays<A>, columns: number): number {
    if (!isSparseArrays(weights)) {
      const values = this.#any("weights", weights, this.#real);
      if (columns === 0 || values % columns !== 0)
        throw ArgumentError.shape(`weights has ${values} values; it takes a multiple of ${columns}, the values of state`, {
          field: "weights",
        });
      return values / columns;
    }
    const values = this.#any("weights.values", weights.values, this.#real);
    this.#check("weights.columns", weights.columns, "u32", values, "as many as values");
    const offsets = this.#any("weights.rowOffsets", weights.rowOffsets, "u32");
    if (offsets === 0)
      throw ArgumentError.because("weights.rowOffsets is empty; it takes one value a row and one more", {
        field: "weights.rowOffsets",
      });
    return offsets - 1;
  }

  /** @internal What arrays are called in errors. */
  protected abstract readonly takes: string;
}
