// W in slices of rows over several devices whose memory each step reads: the streamed step on every
// device, which stores its part of x into the memory of all, and events between the steps. It takes
// what does not fit in the persistent kernels, and needs no NVRTC.
import { disposeAll, Held, Making } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, DeviceEvent, Stream } from "@spillway/gpu";
import { namedFailure } from "../../../reservoir/engine/shares.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { type OtherStream, syncAll, workBeside } from "../beside.js";
import type { RowRange } from "../streamed/drawn.js";
import type { WeightLayout } from "../streamed/index.js";
import { StepState } from "../streamed/step-state.js";
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
class OtherSlice implements OtherStream {
  readonly seat: SpreadSeat;
  readonly context: Context;
  readonly stream: Stream;
  readonly done: DeviceEvent;
  readonly weights: StreamedWeights;
  readonly #x: StepState;
  readonly #owned = new Making();

  constructor(seat: SpreadSeat, model: ReservoirModel, layout: WeightLayout, neuron: NeuronArguments) {
    const { context, name, rows } = seat;
    this.seat = seat;
    this.context = context;
    using owned = this.#owned;
    const { own } = owned;
    this.stream = own(context.stream({ label: `slice of ${name}` }));
    this.done = own(context.event({ timing: false }));
    this.weights = own(layout.load(context, this.stream, model, neuron, rows));
    this.#x = own(new StepState(context, model, this.weights, "x of a slice"));
    owned.done();
  }

  get packed(): StepState["packed"] {
    return this.#x.packed;
  }

  begin(run: StreamedRun): void {
    this.#x.begin(this.stream, run);
  }

  step(step: number, others: DeviceBuffer<"u64">): void {
    this.weights.step(this.stream, { ...this.#x.arguments(step), others });
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
    workBeside([this.#home, stream, this.#ready], this.#others, (slice) => slice.begin(run));
  }

  step(stream: Stream, step: StepArguments): void {
    const odd = step.step % 2;
    const [own, ...rest] = this.#addresses!;
    workBeside(
      [this.#home, stream, this.#ready],
      this.#others,
      (slice, index) => slice.step(step.step, rest[index]![odd]!),
      () => this.#own.step(stream, { ...step, others: own![odd]! }),
    );
  }

  /** Tells each device where all others have x. The first buffer of two is read by even steps. */
  #meet(home: readonly [RealSlice, RealSlice]): readonly Addresses[] {
    const all = [{ context: this.#home, packed: home }, ...this.#others.map(({ seat, packed }) => ({ context: seat.context, packed }))];
    using made = new Making();
    const addresses = all.map((one) => {
      const after = (parity: 0 | 1) => {
        const others = all.filter((each) => each !== one).map(({ packed }) => packed[parity].address);
        return made.own(one.context.upload(BigUint64Array.from(others), { label: "where other devices have x" }));
      };
      return [after(1), after(0)] as const;
    });
    return made.done(addresses);
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
    syncAll(this.#others);
    disposeAll([this.#ready, this.#own, ...this.#others, ...(this.#addresses ?? []).flat()]);
  }
}
