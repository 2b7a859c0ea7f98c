// A .npy file that grows by chunks of rows, for states that are not held in memory. The number of
// rows is written at the close.
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { choice, type InputOf, option, optional, resolve, whole } from "@spillway/core/options.js";
import { Matrix } from "@spillway/numerics";
import { AtomicFile } from "./atomic.js";
import { npyDescr } from "./npy.js";
import { formatNpyHeader } from "./npy-header.js";
import { toLittleEndian } from "./typed-bytes.js";

const arrayTypes = { float32: Float32Array, float64: Float64Array, int32: Int32Array, uint8: Uint8Array } as const;

export const npyWriterTable = {
  /** Columns of the T x C array; left out, the array has one dimension. */
  cols: optional(whole({ atLeast: 1 }), "Columns of the T x C array; left out, the array has one dimension."),
  /** Default "float32". */
  dtype: option(choice("float32", "float64", "int32", "uint8"), "float32", "The type of a number."),
};

/** Shape and type of the array that is written row by row. */
export interface NpyWriterOptions extends InputOf<typeof npyWriterTable> {}

/** Fits every number of rows: the header length never changes. */
const headerBytes = 128;

/**
 * Writes T rows of C numbers as they come. Nothing stands at the path until `close`; until then the
 * rows are in a temporary file beside it. `await using` gives an unclosed writer's temporary file
 * up.
 */
export class NpyWriter implements AsyncDisposable {
  readonly #file: AtomicFile;
  readonly #dtype: keyof typeof arrayTypes;
  readonly #cols: number | undefined;
  #values = 0;
  #open = true;
  #writing = false;

  private constructor(file: AtomicFile, dtype: keyof typeof arrayTypes, cols: number | undefined) {
    this.#file = file;
    this.#dtype = dtype;
    this.#cols = cols;
  }

  /** @throws FileError if the file cannot be made, ArgumentError on options it does not take. */
  static async create(path: string, options: NpyWriterOptions = {}): Promise<NpyWriter> {
    const { cols, dtype } = resolve(npyWriterTable, options);
    const writer = new NpyWriter(await AtomicFile.create(path), dtype, cols);
    await writer.#file.write(writer.#header());
    return writer;
  }

  /** Rows written so far. */
  get rows(): number {
    return this.#values / (this.#cols ?? 1);
  }

  /**
   * Appends whole rows: a matrix of C columns, or a flat array of rows one after the other. The
   * numbers are in the file when the promise resolves, so the array may be used again.
   * @throws ArgumentError on numbers of another type, or on rows of another width; FileError, after
   * which the writer is closed.
   */
  async append(rows: Matrix | Float32Array | Float64Array | Int32Array | Uint8Array): Promise<void> {
    this.#ready();
    const data = rows instanceof Matrix ? rows.data : rows;
    const cols = this.#cols ?? 1;
    if (!(data instanceof arrayTypes[this.#dtype])) {
      throw ArgumentError.because(
        `the rows are a ${data.constructor.name}; a writer of ${this.#dtype} takes a ${arrayTypes[this.#dtype].name}`,
      );
    }
    if (data.length % cols !== 0 || (rows instanceof Matrix && rows.cols !== cols)) {
      const got = rows instanceof Matrix ? `${rows.cols} columns` : `${data.length} values`;
      throw ArgumentError.shape(`the rows have ${got}; this writer takes whole rows of ${cols}`);
    }
    this.#writing = true;
    try {
      await this.#file.write(toLittleEndian(data));
    } catch (error) {
      this.#open = false;
      throw error;
    } finally {
      this.#writing = false;
    }
    this.#values += data.length;
  }

  /**
   * Writes the number of rows into the header and renames the file to its name. With no rows it is an
   * array of 0 rows. Idempotent.
   */
  async close(): Promise<void> {
    if (!this.#open) return;
    this.#ready();
    this.#open = false;
    await this.#file.write(this.#header(), 0);
    await this.#file.commit();
  }

  /**
   * Removes the temporary file; nothing stands at the path. Idempotent, and nothing after `close`.
   */
  async abort(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    await this.#file.abort();
  }

  /** Lets `await using` dispose of it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.abort();
  }

  #ready(): void {
    if (!this.#open) throw new SpillwayError("lifecycle", `the writer of ${this.#file.path} is closed; create a new one`);
    if (this.#writing)
      throw new SpillwayError("lifecycle", `the writer of ${this.#file.path} is still writing; await each append before the next call`);
  }

  #header(): Uint8Array {
    const descr = npyDescr(new arrayTypes[this.#dtype](0));
    return formatNpyHeader(descr, this.#cols === undefined ? [this.rows] : [this.rows, this.#cols], headerBytes);
  }
}
