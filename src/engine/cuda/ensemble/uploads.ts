// Device memory of one piece of work, filled from the host.
import type { Held } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, Dtype, HostArray, Stream } from "@spillway/gpu";
import { allocate, type FloatArray, type Matrix } from "@spillway/numerics";
import { uploadSoon } from "../host-calls.js";
import { allocAny, type PrecisionOf, type RealType, realType } from "../kernels.js";
import type { RealSlice } from "../time-loop.js";

/**
 * Values of rows that are put together on the host: a copy of a few kilobytes takes as long as one
 * of a hundred.
 */
const pieceValues = 2 ** 20;

/** `T` is the precision of what `real`, `matrix` and `gathered` make. */
export class Uploads<T extends RealType = RealType> {
  /** Has its owner dispose of something. */
  readonly own: Held["own"];
  readonly #context: Context;
  readonly #stream: Stream;
  readonly #precision: PrecisionOf<T>;

  /** @param owner disposes of the memory */
  constructor({ own }: Held, context: Context, stream: Stream, precision: PrecisionOf<T>) {
    this.own = own;
    this.#context = context;
    this.#stream = stream;
    this.#precision = precision;
  }

  /** Memory of a type, of one element at least. */
  take<D extends Dtype>(dtype: D, length: number, label: string): DeviceBuffer<D> {
    return this.own(allocAny(this.#context, dtype, Math.max(1, length), label));
  }

  /** Memory in the precision of the states. */
  real(length: number, label: string): RealSlice<T> {
    return this.take(realType<T>(this.#precision), length, label);
  }

  /** A matrix of whole numbers, one row an item; what short rows leave of theirs means nothing. */
  table<D extends "i32" | "u32" | "u16" | "i16">(dtype: D, rows: readonly HostArray[], columns: number, label: string): DeviceBuffer<D> {
    const buffer = this.take(dtype, rows.length * columns, label);
    this.#fillRows(buffer as DeviceBuffer, rows, columns);
    return buffer;
  }

  /** A matrix in the precision of the states, one row an item. */
  matrix<Item>(items: readonly Item[], columns: number, label: string, values: (item: Item) => FloatArray): RealSlice<T> {
    const buffer = this.real(items.length * columns, label);
    const rows = items.map((item) => values(item) as HostArray);
    if (columns > 0) this.#fillRows(buffer, rows, columns);
    return buffer;
  }

  /** The numbers of one matrix. */
  series({ data }: Matrix, label: string): RealSlice<T> {
    return this.matrix([data], data.length, label, (values) => values);
  }

  /**
   * The same for many short rows, which are put together on the host: `write` puts an item's values
   * to `at` and behind it, where zeros are.
   */
  gathered<Item>(
    items: readonly Item[],
    columns: number,
    label: string,
    write: (item: Item, to: FloatArray, at: number) => void,
  ): RealSlice<T> {
    const buffer = this.real(items.length * columns, label);
    if (items.length * columns === 0) return buffer;
    const all = allocate(this.#precision, items.length * columns);
    for (let i = 0; i < items.length; i++) write(items[i]!, all, i * columns);
    this.#fill(buffer, 0, all as HostArray);
    return buffer;
  }

  /**
   * Copies matrices to the rows from `starts` on, which rise; as many of them in one copy as make a
   * piece. A row between two of them may become zeros.
   */
  fillRowsAt(buffer: RealSlice, matrices: readonly Matrix[], starts: readonly number[], columns: number): void {
    for (let first = 0; first < matrices.length; ) {
      const start = starts[first]!;
      let end = start + matrices[first]!.rows;
      let next = first + 1;
      for (; next < matrices.length && starts[next]! <= end + 1; next++) {
        const further = starts[next]! + matrices[next]!.rows;
        if ((further - start) * columns > pieceValues) break;
        end = further;
      }
      let { data } = matrices[first]!;
      if (next > first + 1) {
        data = allocate(this.#precision, (end - start) * columns);
        for (let i = first; i < next; i++) data.set(matrices[i]!.data, (starts[i]! - start) * columns);
      }
      if (data.length > 0) this.#fill(buffer, start * columns, data as HostArray);
      first = next;
    }
  }

  /** Rows; as many of them in one copy as make a piece. */
  #fillRows(buffer: RealSlice | DeviceBuffer, rows: readonly HostArray[], columns: number): void {
    const atOnce = Math.max(1, Math.floor(pieceValues / Math.max(1, columns)));
    for (let first = 0; first < rows.length; first += atOnce) {
      const part = rows.slice(first, first + atOnce);
      const top = part[0]!;
      if (part.length === 1) {
        this.#fill(buffer, first * columns, top);
        continue;
      }
      const all = new (top.constructor as new (length: number) => Float64Array<ArrayBuffer>)(part.length * columns);
      for (const [i, row] of part.entries()) all.set(row as Float64Array, i * columns);
      this.#fill(buffer, first * columns, all);
    }
  }

  #fill(buffer: RealSlice | DeviceBuffer, at: number, values: HostArray): void {
    uploadSoon(this.#stream, (buffer as DeviceBuffer).slice(at, at + values.length), values);
  }
}
