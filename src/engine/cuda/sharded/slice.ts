// One device's part of a reservoir over several: its blocks, its rows of W, the slots where all
// devices put states for it, and its stream.
import { disposeAll, Making } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, DeviceEvent, LaunchConfig, PinnedBuffer, Stream } from "@spillway/gpu";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { type AnyArgument, type AnyBuffer, type AnyKernel, allocAny, realType } from "../kernels.js";
import { closedParameters, reportWords, stalledWord } from "../persistent/loop.js";
import type { ClosedLoopRun, RealSlice } from "../time-loop.js";
import type { ShardedKernel } from "./kernel.js";

/** A device among those that share a reservoir, in their order. */
export interface Seat {
  readonly context: Context;
  /** "cuda:1": how errors name it. */
  readonly name: string;
  /** Its blocks, from `from` up to `to`, which is not among them. */
  readonly from: number;
  readonly to: number;
  /** Whether the device has another seat: then its launches are not cooperative, to run at once. */
  readonly repeated: boolean;
}

/** Copies that a device has of what a closed loop reads and writes in every step. */
type ClosedCopies = Readonly<
  Record<"readout" | "intercept" | "inputWeights" | "bias" | "feedbackWeights" | "inputs" | "answers", AnyBuffer | null>
>;

export class DeviceSlice {
  readonly seat: Seat;
  readonly context: Context;
  readonly kernel: AnyKernel;
  readonly stream: Stream;
  readonly weights: AnyBuffer;
  readonly slots: DeviceBuffer<"u64">;
  readonly report: DeviceBuffer<"u64">;
  readonly told: PinnedBuffer<"u64">;
  readonly leak: AnyBuffer;
  /** N values: x before a chunk. */
  readonly before: RealSlice;
  /** After the work of the last chunk. */
  readonly done: DeviceEvent;
  /** For what has to come through while a kernel waits. */
  readonly #aside: Stream;
  readonly #description: ShardedKernel;
  readonly #model: ReservoirModel;
  readonly #owned = new Making();
  #peers: DeviceBuffer<"u64"> | undefined;
  #closedKernel: AnyKernel | undefined;
  #copies:
    | { readonly of: ClosedLoopRun["readout"]["weights"]["length"]; readonly values: number; readonly buffers: ClosedCopies }
    | undefined;

  constructor(seat: Seat, model: ReservoirModel, kernel: AnyKernel, description: ShardedKernel) {
    this.seat = seat;
    this.kernel = kernel;
    this.#description = description;
    this.#model = model;
    const { context } = seat;
    this.context = context;
    using owned = this.#owned;
    const { own } = owned;
    this.stream = own(context.stream({ label: `slice of ${seat.name}` }));
    this.weights = own(description.load(context, this.stream, model, seat.from, seat.to));
    const slots = Math.ceil(description.fit.slotBytes / 8);
    this.slots = own(context.zeros("u64", slots, { label: "exchanged states" }));
    this.report = own(context.zeros("u64", reportWords, { label: "report of the blocks" }));
    this.told = own(context.pinned("u64", reportWords, { label: "report of the blocks" }));
    this.leak = own(context.upload(model.leakRate, { label: "a" }));
    this.before = own(allocAny(context, realType(model.precision), model.size, "x before a chunk"));
    this.done = own(context.event({ timing: false }));
    this.#aside = own(context.stream({ label: `beside the slice of ${seat.name}` }));
    owned.done();
  }

  get bytes(): number {
    return [this.weights, this.slots, this.report, this.leak].reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** Tells the kernel where all devices have their slots and reports. */
  meet(all: readonly DeviceSlice[]): void {
    const addresses = BigUint64Array.from([...all.map(({ slots }) => slots.address), ...all.map(({ report }) => report.address)]);
    this.#peers = this.#owned.own(this.context.upload(addresses, { label: "where the devices have their slots" }));
  }

  get config(): LaunchConfig & { readonly shared: number } {
    const { block, shared = 0 } = this.#description.config;
    const { from, to, repeated } = this.seat;
    return { grid: to - from, block, shared, ...(repeated ? {} : { cooperative: true }) };
  }

  /** What is of this device among a launch's arguments. */
  get arguments(): Readonly<Record<string, AnyArgument>> {
    const { weights, layout, fit } = this.#description;
    return {
      ...{ [weights[0]]: this.weights, slots: this.slots, report: this.report, leak: this.leak, state: this.before },
      ...{ ...layout, peers: this.#peers ?? null, devices: fit.devices, firstBlock: this.seat.from },
    };
  }

  /** The kernel with its loop closed, made when it is first asked for. */
  get closed(): { readonly kernel: AnyKernel; readonly parameters: ShardedKernel["parameters"] } {
    const parameters = { ...this.#description.parameters, ...closedParameters };
    this.#closedKernel ??= this.#description.code.loadClosed(this.context, parameters);
    return { kernel: this.#closedKernel, parameters };
  }

  /** Memory for what a closed loop works on here, before anything is launched. */
  prepareClosed({ readout, inputWeights, bias, feedbackWeights, inputs, outputs }: ClosedLoopRun): void {
    const wanted = Math.max(inputs.length, outputs.length);
    if (this.#copies && this.#copies.of === readout.weights.length && this.#copies.values >= wanted) return;
    if (this.#copies) disposeAll(Object.values(this.#copies.buffers));
    this.#copies = undefined;
    using made = new Making();
    const like = (slice: { readonly length: number } | undefined | null, dtype: "f32" | "f64", label: string): AnyBuffer | null => {
      if (!slice || slice.length === 0) return null;
      const buffer = made.own(allocAny(this.context, dtype, slice.length, label));
      return buffer;
    };
    const real = realType(this.#model.precision);
    const buffers = {
      readout: like(readout.weights, "f64", "readout"),
      intercept: like(readout.intercept, "f64", "intercept"),
      inputWeights: like(inputWeights, real, "W_in"),
      bias: like(bias, real, "b"),
      feedbackWeights: like(feedbackWeights, real, "W_fb"),
      inputs: like(inputs.length > 0 ? { length: wanted } : null, real, "inputs of the closed loop"),
      answers: like({ length: wanted }, real, "outputs of the closed loop"),
    };
    this.#copies = { of: readout.weights.length, values: wanted, buffers };
    made.done();
  }

  /** Copies what a closed loop works on here, and says what its arguments are then. */
  copyClosed(run: ClosedLoopRun): Readonly<Record<string, AnyArgument>> {
    const { readout, inputWeights, bias, feedbackWeights, inputs, outputs } = run;
    const from = { readout: readout.weights, intercept: readout.intercept, inputWeights, bias, feedbackWeights, inputs, answers: outputs };
    const copies = this.#copies!.buffers;
    const copied = Object.entries(from).map(([name, source]) => {
      const target = copies[name as keyof ClosedCopies];
      if (!target || !source || source.length === 0) return [name, null];
      const there = target.slice(0, source.length);
      this.stream.copy(there, source);
      return [name, there];
    });
    return Object.fromEntries(copied);
  }

  /**
   * Ends a kernel that waits for what does not come. It uses a copy: a fill may be a kernel, which
   * could not run beside the waiting one.
   */
  endWaiting(): void {
    this.#aside.upload(this.report.slice(stalledWord), BigUint64Array.of(1n));
    this.#aside.sync();
  }

  /** Forgets what a chunk that stalled left behind. */
  clear(): void {
    this.stream.fill(this.report);
    this.stream.fill(this.slots);
    this.stream.sync();
  }

  dispose(): void {
    disposeAll([this.#owned, ...Object.values(this.#copies?.buffers ?? {})]);
  }
}
