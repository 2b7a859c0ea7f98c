// A Gram matrix whose tiles are shared out among devices, each of which has copies of the rows. A
// tile's sums are made by one device, in the order of docs/numerics.md rule 9: the bits are those
// of one device. Tiles, not blocks of rows, since what moves is then the states of a block, N
// values a row, and not sums of all blocks, F^2 / 2 values of twice the size; and no device holds
// them all.
import { disposeAll, Held, Making } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, DeviceEvent, Stream } from "@spillway/gpu";
import type { GramBlocks } from "@spillway/numerics";
import { namedFailure } from "../../../reservoir/engine/shares.js";
import { syncAll, workBeside } from "../beside.js";
import { deviceName } from "../device.js";
import { allocAny, type RealType, realType } from "../kernels.js";
import type { RealSlice } from "../time-loop.js";
import { DeviceGrams, gramTiles, type MemberRows, type RowShape, type TileRange } from "./gram.js";

/** Rows of training on a device that has none. */
interface Copies {
  readonly rows: number;
  readonly states: DeviceBuffer<RealType>;
  readonly inputs: DeviceBuffer<RealType> | null;
  readonly targets: DeviceBuffer<"f64">;
}

/** The tiles of a device beside the one that has the rows. */
class OtherTiles {
  readonly context: Context;
  readonly stream: Stream;
  readonly grams: DeviceGrams;
  readonly done: DeviceEvent;
  readonly #shape: RowShape;
  readonly #owned = new Making();
  #copies: Copies | undefined;

  constructor(context: Context, shape: RowShape, range: TileRange) {
    this.context = context;
    this.#shape = shape;
    using owned = this.#owned;
    const { own } = owned;
    this.stream = own(context.stream({ label: "Gram matrix" }));
    this.done = own(context.event({ timing: false }));
    this.grams = own(new DeviceGrams(context, shape, 1, range));
    owned.done();
  }

  get bytes(): number {
    return this.grams.bytes;
  }

  /** Copies the rows and adds them. */
  add(given: MemberRows): void {
    const { rows } = given;
    const { size, inputSize, outputs } = this.#shape;
    const copies = this.#copiesFor(rows);
    const copy = <T extends RealType>(target: RealSlice<T> | null, source: RealSlice<T> | null, columns: number): RealSlice<T> | null => {
      if (!target || !source) return null;
      const there = target.slice(0, rows * columns);
      this.stream.copy(there, source.slice(0, rows * columns));
      return there;
    };
    this.grams.add(this.stream, {
      ...given,
      states: copy(copies.states, given.states, size)!,
      inputs: copy(copies.inputs, given.inputs, inputSize),
      targets: copy(copies.targets, given.targets, outputs)!,
    });
  }

  /** Memory for so many rows. */
  #copiesFor(rows: number): Copies {
    if (this.#copies && this.#copies.rows >= rows) return this.#copies;
    this.#release();
    const { size, inputSize, outputs, precision } = this.#shape;
    using made = new Making();
    const buffer = <T extends RealType>(type: T, columns: number, label: string) =>
      made.own(allocAny(this.context, type, rows * columns, label));
    const real = realType(precision);
    this.#copies = {
      rows,
      states: buffer(real, size, "states to learn from"),
      inputs: inputSize > 0 ? buffer(real, inputSize, "inputs to learn from") : null,
      targets: buffer("f64", outputs, "targets"),
    };
    return made.done(this.#copies);
  }

  #release(): void {
    const copies = this.#copies;
    this.#copies = undefined;
    disposeAll([copies?.states, copies?.inputs, copies?.targets]);
  }

  dispose(): void {
    disposeAll([this.#owned, this.#copies?.states, this.#copies?.inputs, this.#copies?.targets]);
  }
}

/** Sums of one reservoir's rows, which lie on the first device. */
export class DistributedGrams {
  readonly #context: Context;
  readonly #own: DeviceGrams;
  readonly #others: readonly OtherTiles[];
  readonly #ready: DeviceEvent;

  constructor(context: Context, peers: readonly Context[], shape: RowShape) {
    this.#context = context;
    const tiles = gramTiles(shape);
    const devices = Math.min(tiles, peers.length + 1);
    const range = (d: number): TileRange => ({ from: Math.floor((tiles * d) / devices), to: Math.floor((tiles * (d + 1)) / devices) });
    const made = new Held();
    let where = context;
    try {
      this.#own = made.own(new DeviceGrams(context, shape, 1, range(0)));
      this.#ready = made.own(context.event({ timing: false }));
      const others: OtherTiles[] = [];
      for (const [k, peer] of peers.slice(0, devices - 1).entries()) {
        where = peer;
        const tiles = new OtherTiles(peer, shape, range(k + 1));
        others.push(tiles);
        made.own(tiles);
      }
      this.#others = others;
    } catch (error) {
      made.disposeQuietly();
      throw namedFailure(error, deviceName(where));
    }
  }

  /** Device memory in bytes, of the device that has most. */
  get bytes(): number {
    return Math.max(this.#own.bytes, ...this.#others.map(({ bytes }) => bytes));
  }

  /** Begins with these sums; undefined stands for no rows. */
  load(stream: Stream, [blocks]: readonly (GramBlocks | undefined)[]): void {
    this.#own.load(stream, [blocks]);
    for (const { context, stream: theirs, grams } of this.#others) named(context, () => grams.load(theirs, [blocks]));
  }

  /** Enqueues rows in rising order; the stream goes on when all devices have added them. */
  add(stream: Stream, given: MemberRows): void {
    const home = [this.#context, stream, this.#ready] as const;
    workBeside(
      home,
      this.#others,
      (other) => other.add(given),
      () => this.#own.add(stream, given),
    );
  }

  /** As `DeviceGrams.read`. */
  async read(stream: Stream, member: number): Promise<GramBlocks> {
    const all = await this.#own.read(stream, member);
    for (const { context, stream: theirs, grams } of this.#others)
      try {
        await grams.read(theirs, 0, all);
      } catch (error) {
        throw namedFailure(error, deviceName(context));
      }
    return all;
  }

  dispose(): void {
    syncAll(this.#others);
    disposeAll([this.#own, this.#ready, ...this.#others]);
  }
}

function named(context: Context, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw namedFailure(error, deviceName(context));
  }
}
