// Takes a model file apart: each tensor and note is asked for with its shape, and what is left over
// at the end is an error.
import { type Kind, type OptionTable, type Resolved, resolve } from "@spillway/core/options.js";
import type { SafetensorsTensor, SafetensorsType } from "@spillway/io/safetensors-types.js";
import { type FloatArray, firstNonFinite, Matrix, type Precision } from "@spillway/numerics";
import { type ModelFile, ModelFileError } from "./model-file.js";

export class TensorReader {
  readonly source: string;
  readonly #file: ModelFile;
  readonly #taken = new Set<string>();

  /** @param source what errors call the file by */
  constructor(file: ModelFile, source: string) {
    this.#file = file;
    this.source = source;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#file.tensors, name);
  }

  /** A matrix of finite numbers of that shape and precision. @throws ModelFileError */
  matrix(name: string, rows: number, cols: number, precision: Precision): Matrix {
    const data = this.#take(name, precision === "float32" ? "F32" : "F64", [rows, cols]) as FloatArray;
    const bad = firstNonFinite(data);
    if (bad >= 0) throw this.error(`its tensor "${name}" holds ${data[bad]} at ${bad}; it takes finite numbers`);
    return new Matrix(rows, cols, data);
  }

  /** A list of finite numbers. @throws ModelFileError */
  vector(name: string, length: number, precision: Precision): FloatArray {
    const data = this.#take(name, precision === "float32" ? "F32" : "F64", [length]) as FloatArray;
    const bad = firstNonFinite(data);
    if (bad >= 0) throw this.error(`its tensor "${name}" holds ${data[bad]} at ${bad}; it takes finite numbers`);
    return data;
  }

  /** Whole numbers; without a length, as many as there are. @throws ModelFileError */
  indices(name: string, length?: number): Uint32Array {
    return this.#take(name, "U32", [length]) as Uint32Array;
  }

  /**
   * Whole numbers of another format; without a length, as many as there are. @throws ModelFileError
   */
  integers<Data extends Int32Array | Uint16Array>(name: string, dtype: Data extends Int32Array ? "I32" : "U16", length?: number): Data {
    return this.#take(name, dtype, [length]) as Data;
  }

  /** How many values a tensor of one dimension holds. @throws ModelFileError */
  lengthOf(name: string): number {
    return this.#find(name).data.length;
  }

  hasNote(name: string): boolean {
    return Object.hasOwn(this.#file.metadata, name);
  }

  /** A note as JSON. @throws ModelFileError */
  json(name: string): unknown {
    const text = this.#file.metadata[name];
    if (text === undefined) throw this.error(`its metadata has no "${name}"`);
    try {
      return JSON.parse(text);
    } catch (error) {
      throw this.error(`its metadata "${name}" is no JSON`, error);
    }
  }

  /** A note of a kind. @throws ModelFileError */
  note<Value>(name: string, kind: Kind<Value>): Value {
    return this.check(name, () => kind.read(this.json(name), name));
  }

  /** A note with the options of a table. @throws ModelFileError */
  settings<Table extends OptionTable>(name: string, table: Table): Resolved<Table> {
    return this.check(name, () => resolve(table, this.json(name) as object));
  }

  /** Runs a check of the content and names the file if it fails. @throws ModelFileError */
  check<T>(what: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof ModelFileError) throw error;
      throw this.error(`its ${what} cannot be used: ${error instanceof Error ? error.message : String(error)}`, error);
    }
  }

  /** @throws ModelFileError for a tensor that nothing asked for */
  finish(): void {
    const left = Object.keys(this.#file.tensors).find((name) => !this.#taken.has(name));
    if (left !== undefined) throw this.error(`it holds a tensor "${left}" that a ${this.#file.kind} of this shape does not have`);
  }

  error(reason: string, cause?: unknown): ModelFileError {
    return new ModelFileError(this.source, reason, cause);
  }

  #find(name: string): SafetensorsTensor {
    const tensor = this.has(name) ? this.#file.tensors[name] : undefined;
    if (!tensor) throw this.error(`it has no tensor "${name}"`);
    return tensor;
  }

  #take(name: string, dtype: SafetensorsType, shape: readonly (number | undefined)[]): SafetensorsTensor["data"] {
    const tensor = this.#find(name);
    const fits = tensor.shape.length === shape.length && tensor.shape.every((length, d) => shape[d] === undefined || shape[d] === length);
    if (tensor.dtype !== dtype || !fits) {
      const wanted = `${dtype} [${shape.map((length) => length ?? "any").join(", ")}]`;
      throw this.error(`its tensor "${name}" is ${tensor.dtype} [${tensor.shape.join(", ")}]; by its description it takes ${wanted}`);
    }
    this.#taken.add(name);
    return tensor.data;
  }
}
