// Rows of many sequences for one chunk of steps, put together on the host and copied to the device.
import { disposeAll, disposeQuietly } from "@spillway/core/disposal.js";
import type { DeviceBuffer, Stream } from "@spillway/gpu";
import type { Matrix } from "@spillway/numerics";
import type { SequenceInput } from "../../../reservoir/engine.js";
import type { KeptLocked, LentMemory } from "../kept-locked.js";

/** What is gathered of each sequence. */
export interface Gathering {
  readonly columns: number;
  /** The series of a sequence; undefined for zeros. */
  readonly of: (sequence: SequenceInput) => Matrix | undefined;
  /** Step t takes row t - delay; zeros before the first row. */
  readonly delay: 0 | 1;
}

/** Gathers rows for chunks, each of which has a slot. */
export class GatheredRows {
  readonly #sequences: readonly SequenceInput[];
  readonly #gathering: Gathering;
  readonly #target: DeviceBuffer<"f32">;
  /** Page-locked memory of each slot. */
  readonly #slots: LentMemory[] = [];

  /**
   * Fills the first rows of `target`. With `locked` its chunks stand behind others in the stream,
   * and rows come by page-locked memory of so many slots: a copy from other memory may wait for all
   * that the stream was given, and keep the thread from launching on other devices.
   */
  constructor(
    sequences: readonly SequenceInput[],
    gathering: Gathering,
    target: DeviceBuffer<"f32">,
    locked: KeptLocked | undefined,
    slots: number,
  ) {
    this.#sequences = sequences;
    this.#gathering = gathering;
    this.#target = target;
    if (!locked) return;
    try {
      for (let slot = 0; slot < slots; slot++) this.#slots.push(locked.lend(target.length));
    } catch (error) {
      disposeQuietly(this.#slots);
      throw error;
    }
  }

  /** Steps [from, to) of every sequence. The chunk that the slot had before must be done. */
  upload(stream: Stream, from: number, to: number, slot: number): void {
    const count = this.#sequences.length;
    const pitch = (to - from) * this.#gathering.columns;
    const locked = this.#slots[slot]?.buffer;
    const rows = locked?.array ?? new Float32Array(count * pitch);
    for (const [b, sequence] of this.#sequences.entries()) this.#gather(sequence, from, to, rows, b * pitch);
    if (locked) stream.copy2D(this.#target, locked, { columns: pitch, rows: count });
    else stream.upload(this.#target.slice(0, rows.length), rows);
  }

  dispose(): void {
    disposeAll(this.#slots.splice(0));
  }

  /** One sequence, from number `at` of `out` on; zeros if it has no series. */
  #gather(sequence: SequenceInput, from: number, to: number, out: Float32Array, at: number): void {
    const { columns, of, delay } = this.#gathering;
    const series = of(sequence);
    if (!series) {
      out.fill(0, at, at + (to - from) * columns);
      return;
    }
    // Nothing reads what is past the last row.
    const first = Math.max(from, delay);
    const end = Math.min(to, sequence.inputs.rows);
    out.fill(0, at, at + (first - from) * columns);
    if (first >= end) return;
    out.set(series.data.subarray((first - delay) * columns, (end - delay) * columns), at + (first - from) * columns);
  }
}
