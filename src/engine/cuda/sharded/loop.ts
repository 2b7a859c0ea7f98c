// A time loop over several devices: a persistent kernel on each, which hand the states of every
// step to one another by stores into each other's memory. docs/internals/one-reservoir.md has the
// protocol. What the steps are given, and where x and states go, lies on the first device; the
// others reach it.
import { disposeAll, disposeQuietly } from "@spillway/core/disposal.js";
import type { Context, DeviceEvent, Stream } from "@spillway/gpu";
import { namedFailure } from "../../../reservoir/engine/shares.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { activationNumber } from "../activation.js";
import { syncAll } from "../beside.js";
import { CommonKernels } from "../common-kernels.js";
import type { AnyArgument, AnyKernel } from "../kernels.js";
import { closedArguments, closedBytes, stalledWord } from "../persistent/loop.js";
import { spinLimitOf } from "../spin-limit.js";
import { type ClosedLoopRun, type RealSlice, StallError, type TimeLoop, type TimeLoopRun } from "../time-loop.js";
import type { ShardedKernel } from "./kernel.js";
import { DeviceSlice, type Seat } from "./slice.js";

/**
 * The last launches of such a loop on each device. Two loops over the same devices take turns: if
 * each had some of the devices, both would wait for ever.
 */
const turns = new WeakMap<Context, readonly DeviceEvent[]>();

export class ShardedLoop implements TimeLoop {
  readonly name = "sharded";
  readonly details: TimeLoop["details"];
  readonly kernelMilliseconds: number;
  readonly #description: ShardedKernel;
  readonly #slices: readonly DeviceSlice[];
  readonly #home: Context;
  readonly #model: ReservoirModel;
  readonly #ready: DeviceEvent;
  readonly #numbers: Readonly<Record<string, number>>;
  readonly #spinLimit: number;
  #common: CommonKernels | undefined;
  #stalled = false;

  private constructor(
    model: ReservoirModel,
    description: ShardedKernel,
    slices: readonly DeviceSlice[],
    spinLimit: number,
    milliseconds: number,
  ) {
    const { code, details } = description;
    this.#description = description;
    this.#slices = slices;
    this.#home = slices[0]!.context;
    this.#model = model;
    this.#spinLimit = spinLimit;
    this.kernelMilliseconds = milliseconds;
    this.details = { kernel: code.entry, kernelSource: code.source, kernelMilliseconds: milliseconds, ...details };
    const [key0, key1] = model.noiseKey;
    const { size, noiseLevel } = model;
    this.#numbers = { size, activation: activationNumber[model.activation], noiseLevel, key0, key1, spinLimit };
    this.#ready = this.#home.event({ timing: false });
  }

  /**
   * Loads the kernel on all devices, asks each whether its blocks can run at once, and only then
   * makes the memory. Undefined if they cannot. @throws what making the kernel throws
   */
  static async open(
    model: ReservoirModel,
    description: ShardedKernel,
    seats: readonly Seat[],
    spinLimit: number | undefined,
    arithmetic: string,
  ): Promise<ShardedLoop | undefined> {
    const limit = spinLimitOf(spinLimit);
    const begun = performance.now();
    const { code, parameters, config } = description;
    const kernels: AnyKernel[] = [];
    for (const { context } of seats) kernels.push(await code.load(context, parameters));
    const milliseconds = Number((performance.now() - begun).toPrecision(3));
    if (!seats.every(({ context }, k) => blocksOn(seats, context) <= kernels[k]!.maxCooperativeBlocks(config.block, config.shared ?? 0)))
      return undefined;
    for (const { context } of seats) for (const other of seats) if (context !== other.context) context.enableAccess(other.context);
    const slices: DeviceSlice[] = [];
    let name = seats[0]!.name;
    try {
      for (const [k, seat] of seats.entries()) {
        name = seat.name;
        slices.push(new DeviceSlice(seat, model, kernels[k]!, description));
      }
      // Devices draw beside one another, and none waits for the states of one that still draws.
      for (const { seat, stream } of slices) {
        name = seat.name;
        await stream.done();
      }
      for (const slice of slices) slice.meet(slices);
      const told = { ...description, details: { arithmetic, ...description.details } };
      return new ShardedLoop(model, told, slices, limit, milliseconds);
    } catch (error) {
      disposeQuietly(slices);
      throw namedFailure(error, name);
    }
  }

  get closedSteps(): number {
    return 2048;
  }

  get peers(): readonly Context[] {
    return this.#slices.slice(1).map(({ context }) => context);
  }

  /** Of the device that has most. */
  get bytes(): number {
    return Math.max(...this.#slices.map(({ bytes }) => bytes));
  }

  enqueue(stream: Stream, run: TimeLoopRun): void {
    const { drive, feedback, state, states } = run;
    const given = { drive, feedback: feedback ?? null, states: states ?? null };
    this.#launch(stream, run, state, (slice) => ({
      ...{ kernel: slice.kernel, config: slice.config, parameters: this.#description.parameters },
      given,
    }));
  }

  enqueueClosed(stream: Stream, run: ClosedLoopRun): boolean {
    const { shared: closedAt = 0, block } = this.#description.config;
    const shared = closedAt + closedBytes(this.#model, run);
    const closed = this.#slices.map((slice) => ({ slice, config: { ...slice.config, shared }, ...slice.closed }));
    const seats = this.#slices.map(({ seat }) => seat);
    if (closed.some(({ slice, kernel }) => blocksOn(seats, slice.context) > kernel.maxCooperativeBlocks(block, shared))) return false;
    for (const { slice } of closed.slice(1)) slice.prepareClosed(run);
    this.#common ??= new CommonKernels(this.#home, this.#model.precision);
    const own = { ...closedArguments(stream, this.#common, this.#model, run), closedAt };
    this.#launch(stream, run, run.state, (slice, k) => {
      const { kernel, config, parameters } = closed[k]!;
      // The first device's memory is what the others have copies of.
      return { kernel, config, parameters, given: { ...own, ...(k === 0 ? {} : slice.copyClosed(run)) } };
    });
    return true;
  }

  /**
   * A chunk on all devices: each waits until the first has all that it reads, and the first is done
   * when all are. The first is launched last, so that one that refuses ends what waits for it.
   */
  #launch(
    stream: Stream,
    { steps, firstStep, sequence }: Pick<TimeLoopRun, "steps" | "firstStep" | "sequence">,
    state: RealSlice,
    of: (
      slice: DeviceSlice,
      index: number,
    ) => {
      readonly kernel: AnyKernel;
      readonly config: DeviceSlice["config"];
      readonly parameters: ShardedKernel["parameters"];
      readonly given: Readonly<Record<string, AnyArgument>>;
    },
  ): void {
    if (this.#stalled) {
      for (const slice of this.#slices) slice.clear();
      this.#stalled = false;
    }
    this.#ready.record(stream);
    const launched: DeviceSlice[] = [];
    const common = { ...this.#numbers, after: state, steps, firstStep: firstStep >>> 0, sequence };
    const prepare = (slice: DeviceSlice): void => {
      slice.stream.wait(this.#ready);
      for (const turn of turns.get(slice.context) ?? []) slice.stream.wait(turn);
      slice.stream.copy(slice.before, state);
    };
    const one = (slice: DeviceSlice, index: number): void => {
      const { kernel, config, parameters, given } = of(slice, index);
      const values: Readonly<Record<string, AnyArgument>> = { ...slice.arguments, ...common, ...given };
      slice.stream.launch(kernel, config, ...Object.keys(parameters).map((name) => values[name]!));
      launched.push(slice);
      slice.stream.read(slice.report.slice(0), slice.told);
      slice.done.record(slice.stream);
    };
    let name = this.#slices[0]!.seat.name;
    try {
      // All wait for what was before any is launched: each launch records again what others wait
      // for.
      for (const slice of this.#slices) {
        name = slice.seat.name;
        prepare(slice);
      }
      for (const [index, slice] of [...this.#slices.entries()].reverse()) {
        name = slice.seat.name;
        one(slice, index);
      }
      for (const { context, done } of this.#slices) {
        turns.set(context, this.#doneOn(context));
        stream.wait(done);
      }
    } catch (error) {
      this.#end(launched);
      throw namedFailure(error, name);
    }
  }

  #doneOn(context: Context): readonly DeviceEvent[] {
    return this.#slices.filter((slice) => slice.context === context).map(({ done }) => done);
  }

  /**
   * Ends launches that wait for one that was refused, and waits for all that the devices were
   * given: it is on memory that the caller may now give back.
   */
  #end(launched: readonly DeviceSlice[]): void {
    this.#stalled = true;
    for (const slice of launched)
      try {
        slice.endWaiting();
      } catch {
        // The error under way says what happened.
      }
    syncAll(this.#slices);
  }

  check(): void {
    let stalled = 0n;
    for (const { told } of this.#slices) {
      stalled ||= told.array[stalledWord]!;
      told.array[stalledWord] = 0n;
    }
    const lost = this.#slices.find(({ context }) => context.loss !== undefined);
    if (stalled === 0n && !lost) return;
    this.#stalled = true;
    for (const { context, seat, stream } of this.#slices)
      try {
        stream.sync();
      } catch (error) {
        if (context !== this.#home || stalled === 0n) throw namedFailure(error, seat.name);
      }
    const { rowsOfBlock, code } = this.#description;
    const block = Math.floor((4 * (Number(stalled >> 32n) - 1)) / rowsOfBlock);
    const step = Number(stalled & 0xffffffffn);
    const late = this.#slices.find(({ seat: { from, to } }) => block >= from && block < to) ?? this.#slices[0]!;
    const what = `${late.seat.name} gave no states of block ${block} at step ${step} for ${this.#spinLimit} clock ticks, which ended the work of all devices`;
    throw new StallError(code.entry, block, step, this.#spinLimit, { what });
  }

  dispose(): void {
    for (const { context, done } of this.#slices) if (turns.get(context)?.includes(done)) turns.delete(context);
    // Peers write its slots: they are given back after all of that.
    syncAll(this.#slices);
    disposeAll([...this.#slices, this.#ready]);
  }
}

/** Blocks of all slices that a device has. */
function blocksOn(seats: readonly Seat[], context: Context): number {
  return seats.reduce((sum, seat) => sum + (seat.context === context ? seat.to - seat.from : 0), 0);
}
