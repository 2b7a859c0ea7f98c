// Gram matrices of one reservoir or of many on the device, in the order of docs/numerics.md rule 9.
// If sinks have sums already, it goes on from them, and hands them back as if the sinks had
// taken the rows themselves.
import type { Context, DeviceBuffer, DeviceSlice, Stream } from "../../../gpu/index.js";
import { type GramBlocks, Matrix, type Precision } from "../../../numerics/index.js";
import type { FeatureSpec } from "../../../reservoir/features.js";
import { disposeAll } from "../dispose.js";
import { type AnyKernel, type RealParameter, realKernel } from "../kernels.js";
import type { RealSlice } from "../time-loop.js";

/** Columns of a tile (kernels/training.cu). */
const tile = 64;
const tileValues = tile * tile;
const blockRows = 1024;
const threads = 256;

/** The parameters that say where rows come from. */
export const rowParameters: readonly RealParameter[] = [
  ...(["const real*", "const real*", "const f64*", "i64", "i64", "i32", "i32", "i32", "i32", "i32", "i32"] as const),
];

/** What the columns of training rows are: features, perhaps a constant one, then targets. */
export interface RowShape {
  readonly precision: Precision;
  readonly size: number;
  readonly inputSize: number;
  readonly outputs: number;
  readonly features: FeatureSpec;
  readonly constant: boolean;
}

/** F, the constant feature included. */
export function rowFeatures({ size, inputSize, features, constant }: RowShape): number {
  return size + (features.input ? inputSize : 0) + (features.squares ? size : 0) + (constant ? 1 : 0);
}

/**
 * Rows of every member on the device; member m's states and inputs begin m pitches after those of
 * the first.
 */
export interface MemberRows {
  readonly rows: number;
  /** rows x N of the first member. */
  readonly states: RealSlice;
  readonly statePitch: number;
  /** rows x I of the first member. */
  readonly inputs: RealSlice | null;
  readonly inputPitch: number;
  /** rows x O, the same for all. */
  readonly targets: DeviceSlice<"f64">;
}

/** The arguments that go with `rowParameters`. */
export function rowArguments(shape: RowShape, { states, statePitch, inputs, inputPitch, targets }: MemberRows): unknown[] {
  const { size, inputSize, outputs, features, constant } = shape;
  const seen = features.input ? inputSize : 0;
  const odd = features.state === "squareHalf" ? 1 : 0;
  return [states, inputs, targets, statePitch, inputPitch, size, seen, features.squares ? size : 0, constant ? 1 : 0, outputs, odd];
}

/** Sums of members that take in the same number of rows. */
export class DeviceGrams {
  readonly members: number;
  /** Columns of a row. */
  readonly columns: number;
  readonly tiles: number;
  /** members x tiles x 64 x 64: of the unfinished block, and of those before it. */
  readonly sums: DeviceBuffer<"f64">;
  readonly totals: DeviceBuffer<"f64">;
  readonly #shape: RowShape;
  readonly #kernel: AnyKernel;
  #rows = 0;
  #inBlock = 0;

  constructor(context: Context, shape: RowShape, members: number) {
    this.members = members;
    this.#shape = shape;
    this.columns = rowFeatures(shape) + shape.outputs;
    const edge = Math.ceil(this.columns / tile);
    this.tiles = (edge * (edge + 1)) / 2;
    const name = `training_gram_${shape.precision === "float32" ? "f32" : "f64"}`;
    this.#kernel = realKernel(context, "training", name, shape.precision, [...rowParameters, "i32", "i32", "i32", "f64*", "f64*"]);
    const values = members * this.tiles * tileValues;
    this.sums = context.alloc("f64", values, { label: "Gram matrices of a block" });
    try {
      this.totals = context.alloc("f64", values, { label: "Gram matrices" });
    } catch (error) {
      this.sums.dispose();
      throw error;
    }
  }

  /** Device memory in bytes. */
  get bytes(): number {
    return this.sums.byteLength + this.totals.byteLength;
  }

  /** Begins with no rows. */
  clear(stream: Stream): void {
    stream.fill(this.sums);
    stream.fill(this.totals);
    this.#rows = 0;
    this.#inBlock = 0;
  }

  /**
   * Begins with the sums of each member, whose blocks are equally long; undefined stands for no
   * rows.
   */
  load(stream: Stream, blocks: readonly (GramBlocks | undefined)[]): void {
    this.clear(stream);
    const rowsInBlock = blocks[0]?.rowsInBlock ?? 0;
    if (blocks.every((each) => each === undefined)) return;
    stream.upload(this.sums, this.#tiled(blocks.map((each) => each?.sums)));
    stream.upload(this.totals, this.#tiled(blocks.map((each) => each?.totals)));
    this.#inBlock = rowsInBlock;
  }

  /** Enqueues rows in rising order. */
  add(stream: Stream, given: MemberRows): void {
    const config = { grid: [this.tiles, this.members] as const, block: threads };
    const range = [0, given.rows, this.#inBlock];
    stream.launch(this.#kernel, config, ...([...rowArguments(this.#shape, given), ...range, this.sums, this.totals] as never[]));
    this.#rows += given.rows;
    this.#inBlock = (this.#inBlock + given.rows) % blockRows;
  }

  /**
   * The sums of a member after all that the stream was given; its `rows` are those that came here.
   */
  async read(stream: Stream, member: number): Promise<GramBlocks> {
    const values = this.tiles * tileValues;
    const of = async (buffer: DeviceBuffer<"f64">) =>
      this.#triangle(await stream.download(buffer.slice(member * values, (member + 1) * values)));
    return { rows: this.#rows, rowsInBlock: this.#inBlock, sums: await of(this.sums), totals: await of(this.totals) };
  }

  dispose(): void {
    disposeAll([this.sums, this.totals]);
  }

  /** Element (i, j), j <= i, of a member's tiles. */
  #place(i: number, j: number): number {
    const row = Math.floor(i / tile);
    return (((row * (row + 1)) / 2 + Math.floor(j / tile)) * tile + (i % tile)) * tile + (j % tile);
  }

  #tiled(triangles: readonly (Matrix<Float64Array> | undefined)[]): Float64Array<ArrayBuffer> {
    const values = this.tiles * tileValues;
    const out = new Float64Array(values * this.members);
    for (const [m, triangle] of triangles.entries())
      if (triangle)
        for (let i = 0; i < this.columns; i++)
          for (let j = 0; j <= i; j++) out[m * values + this.#place(i, j)] = triangle.data[i * this.columns + j]!;
    return out;
  }

  #triangle(values: Float64Array): Matrix<Float64Array> {
    const out = Matrix.zeros(this.columns, this.columns);
    for (let i = 0; i < this.columns; i++) for (let j = 0; j <= i; j++) out.data[i * this.columns + j] = values[this.#place(i, j)]!;
    return out;
  }
}

/** Hands rows to the sums of sinks, and the sums to the sinks at the end. */
export interface GramTrainer {
  readonly bytes: number;
  add(stream: Stream, rows: MemberRows): void;
  finish(stream: Stream): Promise<void>;
  dispose(): void;
}
