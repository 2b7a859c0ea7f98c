// W in slices of rows over several devices whose memory each step reads: the streamed step on every
// device, which stores its part of x into the memory of all, and events between the steps. It takes
// what the persistent kernels have no room for, and needs no NVRTC.
import { disposeAll, Held } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, DeviceEvent, Stream } from "@spillway/gpu";
import { namedFailure } from "../../../reservoir/engine/shares.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { type AnyKernel, loadEntries, realKernel, realType } from "../kernels.js";
import type { RowRange } from "../streamed/drawn.js";
import type { WeightLayout } from "../streamed/index.js";
import { chunkBytes, keepRates } from "../streamed/loop.js";
import type { NeuronArguments, StepArguments, StreamedRun, StreamedWeights } from "../streamed/weights.js";
import type { RealSlice } from "../time-loop.js";
import { drawnDetail } from "./kernel.js";

/** A device among those that share W, in their order. */
export interface SpreadSeat {
  readonly context: Context;
  /** "cuda:1": how errors name it. */
  readonly name: string;
  readonly rows: RowRange;
}

/** Rows of each device: whole pieces, as equal as they can be; undefined if there are too few. */
export function spreadRows(size: number, rowsOfPiece: number, devices: number): RowRange[] | undefined {
  const pieces = rowsOfPiece > 0 ? Math.ceil(size / rowsOfPiece) : 0;
  if (pieces < devices) return undefined;
  const begin = (device: number): number => Math.min(size, Math.floor((pieces * device) / devices) * rowsOfPiece);
  return Array.from({ length: devices }, (_, device) => ({ from: begin(device), to: begin(device + 1) }));
}

/** A slice on a device that is not the loop's. */
class OtherSlice {
  readonly seat: SpreadSeat;
  readonly stream: Stream;
  readonly done: DeviceEvent;
  readonly weights: StreamedWeights;
  readonly packed: readonly [RealSlice, RealSlice];
  readonly #chunk: DeviceBuffer<"u64">;
  readonly #leak: RealSlice;
  readonly #keep: RealSlice;
  readonly #setChunk: AnyKernel;
  readonly #pack: AnyKernel;
  readonly #size: number;
  readonly #owned = new Held();

  constructor(seat: SpreadSeat, model: ReservoirModel, layout: WeightLayout, neuron: NeuronArguments) {
    const { context, name, rows } = seat;
    const { precision, size } = model;
    const real = realType(precision);
    this.seat = seat;
    this.#size = size;
    this.#setChunk = loadEntries(context, "reservoir_step", ["set_chunk", "advance_chunk"]).kernel("set_chunk", [
      ...(["u64*", `const ${real}*`, `const ${real}*`, `${real}*`, "u32", "u32"] as const),
    ]);
    this.#pack = realKernel(context, "reservoir_step", `pack_state_${real}`, precision, ["const real*", "real*", "i32", "i32", "i32"]);
    const { own } = this.#owned;
    try {
      this.stream = own(context.stream({ label: `slice of ${name}` }));
      this.done = own(context.event({ timing: false }));
      this.weights = own(layout.load(context, this.stream, model, neuron, rows));
      const state = () => own(context.zeros(real, this.weights.stateLength, { label: "x of a slice" }));
      this.packed = [state(), state()];
      this.#chunk = own(context.zeros("u64", chunkBytes / 8, { label: "chunk" }));
      this.#leak = own(context.upload(model.leakRate, { label: "a" }));
      this.#keep = own(context.upload(keepRates(model.leakRate, precision), { label: "1 - a" }));
    } catch (error) {
      this.#owned.disposeQuietly();
      throw error;
    }
  }

  begin({ state, drive, feedback, states, firstStep, sequence }: StreamedRun): void {
    const { stateLength, lanes } = this.weights;
    const run = [drive, feedback ?? null, states ?? null, firstStep >>> 0, sequence] as const;
    this.stream.launch(this.#setChunk, { grid: 1, block: 1 }, this.#chunk, ...run);
    const grid = { grid: Math.ceil(stateLength / 256), block: 256 };
    this.stream.launch(this.#pack, grid, state, this.packed[0], this.#size, stateLength, lanes);
  }

  step(step: number, others: DeviceBuffer<"u64">): void {
    const [before, after] = step % 2 === 0 ? this.packed : [this.packed[1], this.packed[0]];
    this.weights.step(this.stream, { before, after, chunk: this.#chunk, leak: this.#leak, keep: this.#keep, step, others });
  }

  dispose(): void {
    this.#owned.dispose();
  }
}

/** Addresses for one device of the x of all others after an even step, and after an odd one. */
type Addresses = readonly [even: DeviceBuffer<"u64">, odd: DeviceBuffer<"u64">];

export class SpreadWeights implements StreamedWeights {
  readonly lanes: number;
  readonly stateLength: number;
  readonly bytes: number;
  readonly details: StreamedWeights["details"];
  readonly #home: Context;
  readonly #homeName: string;
  readonly #own: StreamedWeights;
  readonly #others: readonly OtherSlice[];
  readonly #ready: DeviceEvent;
  /** Of the first device, and of the others in their order. */
  #addresses: readonly Addresses[] | undefined;

  constructor(seats: readonly SpreadSeat[], stream: Stream, model: ReservoirModel, layout: WeightLayout, neuron: NeuronArguments) {
    const [first, ...rest] = seats as readonly [SpreadSeat, ...SpreadSeat[]];
    for (const { context } of seats) for (const other of seats) if (context !== other.context) context.enableAccess(other.context);
    const others: OtherSlice[] = [];
    const made = new Held();
    let { name } = first;
    this.#home = first.context;
    this.#homeName = name;
    try {
      this.#ready = made.own(first.context.event({ timing: false }));
      this.#own = made.own(layout.load(first.context, stream, model, neuron, first.rows));
      for (const seat of rest) {
        name = seat.name;
        const slice = new OtherSlice(seat, model, layout, neuron);
        others.push(slice);
        made.own(slice);
      }
      for (const slice of others) {
        name = slice.seat.name;
        slice.stream.sync();
      }
    } catch (error) {
      made.disposeQuietly();
      throw namedFailure(error, name);
    }
    this.#others = others;
    this.lanes = this.#own.lanes;
    this.stateLength = this.#own.stateLength;
    this.bytes = Math.max(this.#own.bytes, ...others.map(({ weights }) => weights.bytes));
    const rows = Math.max(...seats.map((seat) => seat.rows.to - seat.rows.from));
    this.details = {
      ...{ devices: seats.length, rowsOfDevice: rows, ...this.#own.details, bytesPerStep: this.bytes },
      ...(model.draws ? drawnDetail : {}),
    };
  }

  get peers(): readonly Context[] {
    return this.#others.map(({ seat }) => seat.context);
  }

  begin(stream: Stream, run: StreamedRun): void {
    this.#addresses ??= this.#meet(run.packed);
    this.#onAll(stream, (slice) => slice.begin(run));
  }

  step(stream: Stream, step: StepArguments): void {
    const odd = step.step % 2;
    const [own, ...rest] = this.#addresses!;
    this.#onAll(
      stream,
      (slice, index) => slice.step(step.step, rest[index]![odd]!),
      () => this.#own.step(stream, { ...step, others: own![odd]! }),
    );
  }

  /** Tells each device where all others have x. The first buffer of two is read by even steps. */
  #meet(home: readonly [RealSlice, RealSlice]): readonly Addresses[] {
    const all = [{ context: this.#home, packed: home }, ...this.#others.map(({ seat, packed }) => ({ context: seat.context, packed }))];
    const made = new Held();
    try {
      return all.map((one) => {
        const after = (parity: 0 | 1) => {
          const addresses = all.filter((each) => each !== one).map(({ packed }) => packed[parity].address);
          const buffer = made.own(one.context.upload(BigUint64Array.from(addresses), { label: "where other devices have x" }));
          return buffer;
        };
        return [after(1), after(0)];
      });
    } catch (error) {
      made.disposeQuietly();
      throw error;
    }
  }

  /**
   * Work on the other devices behind all that the first one's stream was given, work on that stream
   * beside it, and the stream behind the work of all.
   */
  #onAll(stream: Stream, other: (slice: OtherSlice, index: number) => void, own?: () => void): void {
    let name = this.#homeName;
    try {
      this.#ready.record(stream);
      for (const [index, slice] of this.#others.entries()) {
        name = slice.seat.name;
        slice.stream.wait(this.#ready);
        other(slice, index);
        slice.done.record(slice.stream);
      }
      name = this.#homeName;
      own?.();
      for (const slice of this.#others) {
        name = slice.seat.name;
        stream.wait(slice.done);
      }
    } catch (error) {
      // What was launched is on memory that the caller may now give back.
      this.#settle();
      throw namedFailure(error, name);
    }
  }

  #settle(): void {
    for (const { stream } of this.#others)
      try {
        stream.sync();
      } catch {
        // The error under way says what happened.
      }
  }

  check(): void {
    for (const { seat, stream } of this.#others)
      if (seat.context.loss !== undefined)
        try {
          stream.sync();
        } catch (error) {
          throw namedFailure(error, seat.name);
        }
  }

  dispose(): void {
    // The others store into one another's memory: none is given back before all are done.
    this.#settle();
    disposeAll([this.#ready, this.#own, ...this.#others, ...(this.#addresses ?? []).flat()]);
  }
}
