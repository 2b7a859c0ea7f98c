// Gram matrices of one reservoir or of many on the device, in the order of docs/numerics.md rule 9.
// If sinks have sums already, it goes on from them, and hands them back as if the sinks had
// taken the rows themselves.
import { Making } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, DeviceSlice, Stream } from "@spillway/gpu";
import { type GramBlocks, Matrix, type Precision } from "@spillway/numerics";
import type { FeatureSpec } from "../../../reservoir/features.js";
import { type AnyArgument, type AnyKernel, type RealParameter, realKernel } from "../kernels.js";
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
export function rowArguments(shape: RowShape, { states, statePitch, inputs, inputPitch, targets }: MemberRows): AnyArgument[] {
  const { size, inputSize, outputs, features, constant } = shape;
  const used = features.input ? inputSize : 0;
  const odd = features.state === "squareHalf" ? 1 : 0;
  return [states, inputs, targets, statePitch, inputPitch, size, used, features.squares ? size : 0, constant ? 1 : 0, outputs, odd];
}

/** Tiles of the lower triangle, from `from` up to `to`, which is not among them. */
export interface TileRange {
  readonly from: number;
  readonly to: number;
}

/** Tiles of the Gram matrix of rows of a shape. */
export function gramTiles(shape: RowShape): number {
  const edge = Math.ceil((rowFeatures(shape) + shape.outputs) / tile);
  return (edge * (edge + 1)) / 2;
}

/** Sums of members that take in the same number of rows: all tiles, or those that a device has. */
export class DeviceGrams {
  readonly members: number;
  /** Columns of a row. */
  readonly columns: number;
  readonly tiles: number;
  readonly #firstTile: number;
  /** members x tiles x 64 x 64: of the unfinished block, and of those before it. */
  readonly sums: DeviceBuffer<"f64">;
  readonly totals: DeviceBuffer<"f64">;
  readonly #shape: RowShape;
  readonly #kernel: AnyKernel;
  readonly #owned = new Making();
  #rows = 0;
  #inBlock = 0;

  constructor(context: Context, shape: RowShape, members: number, { from, to }: TileRange = { from: 0, to: gramTiles(shape) }) {
    this.members = members;
    this.#shape = shape;
    this.columns = rowFeatures(shape) + shape.outputs;
    this.tiles = to - from;
    this.#firstTile = from;
    const name = `training_gram_${shape.precision === "float32" ? "f32" : "f64"}`;
    this.#kernel = realKernel(context, "training", name, shape.precision, [...rowParameters, "i32", "i32", "i32", "i32", "f64*", "f64*"]);
    const values = members * this.tiles * tileValues;
    using owned = this.#owned;
    this.sums = owned.own(context.alloc("f64", values, { label: "Gram matrices of a block" }));
    this.totals = owned.own(context.alloc("f64", values, { label: "Gram matrices" }));
    owned.done();
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
    const range = [0, given.rows, this.#inBlock, this.#firstTile];
    stream.launch(this.#kernel, config, ...rowArguments(this.#shape, given), ...range, this.sums, this.totals);
    this.#rows += given.rows;
    this.#inBlock = (this.#inBlock + given.rows) % blockRows;
  }

  /**
   * The sums of a member after all that the stream was given; its `rows` are those that came here.
   * With `into` they are written beside those of other tiles.
   */
  async read(
    stream: Stream,
    member: number,
    into: Pick<GramBlocks, "sums" | "totals"> = {
      sums: Matrix.zeros(this.columns, this.columns),
      totals: Matrix.zeros(this.columns, this.columns),
    },
  ): Promise<GramBlocks> {
    const values = this.tiles * tileValues;
    for (const name of ["sums", "totals"] as const)
      this.#write(await stream.download(this[name].slice(member * values, (member + 1) * values)), into[name]);
    return { rows: this.#rows, rowsInBlock: this.#inBlock, ...into };
  }

  dispose(): void {
    this.#owned.dispose();
  }

  /** Calls visit(at, element) for elements (i, j), j <= i, that lie in a member's tiles here. */
  #forEach(visit: (at: number, element: number) => void): void {
    const { columns, tiles } = this;
    for (let t = 0; t < tiles; t++) {
      const number = this.#firstTile + t;
      let row = Math.floor((Math.sqrt(8 * number + 1) - 1) / 2);
      while (((row + 1) * (row + 2)) / 2 <= number) row++;
      while ((row * (row + 1)) / 2 > number) row--;
      const [top, left] = [row * tile, (number - (row * (row + 1)) / 2) * tile];
      for (let i = top; i < Math.min(columns, top + tile); i++)
        for (let j = left; j <= Math.min(i, left + tile - 1); j++) visit((t * tile + i - top) * tile + j - left, i * columns + j);
    }
  }

  #tiled(triangles: readonly (Matrix<Float64Array> | undefined)[]): Float64Array<ArrayBuffer> {
    const values = this.tiles * tileValues;
    const out = new Float64Array(values * this.members);
    for (const [m, triangle] of triangles.entries())
      if (triangle)
        this.#forEach((at, element) => {
          out[m * values + at] = triangle.data[element]!;
        });
    return out;
  }

  #write(values: Float64Array, into: Matrix<Float64Array>): void {
    this.#forEach((at, element) => {
      into.data[element] = values[at]!;
    });
  }
}

/** Hands rows to the sums of sinks, and the sums to the sinks at the end. */
export interface GramTrainer {
  readonly bytes: number;
  add(stream: Stream, rows: MemberRows): void;
  finish(stream: Stream): Promise<void>;
  dispose(): void;
}
