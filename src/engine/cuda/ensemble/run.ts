// Runs members on the device, those of one shape in one launch: in waves that fit the memory and
// chunks of steps whose states come to the host while the next chunk runs.
import { disposeAll, Making } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, DeviceEvent, HostArray, HostPart, Stream } from "@spillway/gpu";
import { Matrix, storedValues } from "@spillway/numerics";
import { NonFiniteStateError, type TrainingSink, type WorkOptions } from "../../../reservoir/engine.js";
import { hostInputs } from "../../../reservoir/inputs.js";
import { WorkPacer } from "../../../reservoir/work.js";
import type { StateChunk, StateTaker } from "../../session.js";
import { mostChunkSteps } from "../chunk-limit.js";
import { allocAny, realType } from "../kernels.js";
import { freeMemory } from "../memory.js";
import type { DeviceClock } from "../profile.js";
import { elementBytes } from "../shape.js";
import type { RealSlice } from "../time-loop.js";
import type { GramTrainer } from "../training/gram.js";
import { openGramTrainer } from "../training/index.js";
import { unwritten } from "../unwritten.js";
import type { MemberPlan } from "./member-plan.js";
import { DeviceMembers, type Member } from "./members.js";
import { DeviceWeights, weightBytes } from "./weights.js";

/** What to do with the states. */
export interface MemberOptions extends WorkOptions {
  readonly keep: "all" | "last" | "none";
  /** Where the states go; left out, into new matrices. */
  readonly into?: readonly Matrix[] | undefined;
  readonly training?: { readonly targets: Matrix; readonly washout: number; readonly sinks: readonly TrainingSink[] } | undefined;
  /** Takes the states of the members on the device. */
  readonly taker?: StateTaker | undefined;
  /** Bytes of states in one chunk, default 256 MiB, and of weights in a portion, 64 MiB. */
  readonly chunkBytes?: number | undefined;
  readonly portionBytes?: number | undefined;
  /** The clock of the session that asks, if there is one. */
  readonly clock?: DeviceClock | undefined;
}

/** What is kept between runs of the same members. */
export interface KeptMembers {
  readonly compute: Stream;
  readonly copies: Stream;
  /**
   * Weights of the groups of the plan, in its order; undefined if they come to the device in
   * each run.
   */
  readonly weights: readonly (DeviceWeights | undefined)[];
}

/**
 * Runs members from their initial states. Returns the states (T x N) or the last state (1 x N) of
 * each, or nothing.
 * @throws NonFiniteStateError of the first member that has such a state, once all have run
 */
export async function runMembers(
  context: Context,
  members: readonly Member[],
  plan: MemberPlan,
  options: MemberOptions,
  kept?: KeptMembers,
): Promise<Matrix[]> {
  const total = members.reduce((sum, { sequence }) => sum + sequence.inputs.rows, 0);
  const pacer = new WorkPacer(options, total);
  const results: Matrix[] = options.keep === "none" ? [] : (options.into?.slice() ?? new Array(members.length));
  const failed = new Map<number, { step: number; neuron: number }>();
  const { clock } = options;
  const opened = kept ? [] : openStreams(context, clock);
  const [compute, copies] = (kept ? [kept.compute, kept.copies] : opened) as [Stream, Stream];
  try {
    let done = 0;
    for (const [g, { kernel, indices }] of plan.groups.entries()) {
      const there = kept?.weights[g];
      const models = indices.map((r) => members[r]!.model);
      const size = waveSize(context, members, indices, there ? 0 : weightBytes(models, plan.patterns) / indices.length, options);
      for (let first = 0; first < indices.length; first += size) {
        const wave = indices.slice(first, first + size);
        clock?.on(compute, "upload");
        const transfer = { compute, sender: copies, clock, portionBytes: options.portionBytes };
        const weights = there ?? new DeviceWeights(context, transfer, kernel, models.slice(first, first + size), plan.patterns);
        try {
          weights.begin();
          const work = new Wave(context, compute, copies, weights, there ? first : 0, wave, members, options, failed);
          try {
            done += await work.run(results, (steps) => pacer.pause(done + steps));
          } finally {
            work.dispose();
          }
        } finally {
          if (!there) {
            await weights.stop();
            weights.dispose();
          }
        }
      }
    }
  } finally {
    clock?.endCall();
    disposeAll(opened);
  }
  const worst = Math.min(...failed.keys());
  const failure = failed.get(worst);
  if (failure) throw new NonFiniteStateError(failure.step, failure.neuron);
  pacer.finish();
  return results;
}

/** A stream for work and one for states that come to the host. */
export function openStreams(context: Context, clock: DeviceClock | undefined): [Stream, Stream] {
  using made = new Making();
  const compute = made.own(context.stream({ label: "ensemble" }));
  const copies = made.own(context.stream({ label: "ensemble states to the host" }));
  clock?.watch(compute);
  clock?.watch(copies);
  return made.done<[Stream, Stream]>([compute, copies]);
}

/**
 * The most members of a wave: a grid's second axis, along which training has one block a member,
 * ends there.
 */
const mostMembers = 32_768;

/**
 * Members whose weights, if they are not there yet, inputs and Gram matrices take no more than
 * half of what is free.
 */
function waveSize(
  context: Context,
  members: readonly Member[],
  indices: readonly number[],
  weights: number,
  { training }: MemberOptions,
): number {
  const { model, sequence } = members[indices[0]!]!;
  const element = elementBytes(model.precision);
  const inputs = sequence.inputs.rows * (model.inputSize + model.outputSize) * element;
  const columns = training ? model.size * 2 + model.inputSize + training.targets.cols + 65 : 0;
  const bytes = weights + inputs + model.size * element + 8 * columns ** 2;
  return Math.max(1, Math.min(mostMembers, indices.length, Math.floor(freeMemory(context) / 2 / bytes)));
}

const defaultChunkBytes = 256 * 2 ** 20;

/** A chunk of steps that was enqueued. */
interface Chunk {
  readonly from: number;
  readonly to: number;
  readonly slot: 0 | 1;
}

/** Members that run in the same launches. */
class Wave {
  readonly #compute: Stream;
  readonly #copies: Stream;
  readonly #indices: readonly number[];
  readonly #members: readonly Member[];
  readonly #options: MemberOptions;
  readonly #failed: Map<number, { step: number; neuron: number }>;
  readonly #device: DeviceMembers;
  readonly #weights: DeviceWeights;
  readonly #first: number;
  readonly #trainer: GramTrainer | undefined;
  readonly #take: ((chunk: StateChunk) => void) | undefined;
  readonly #steps: number;
  /** Rows from one member's inputs to the next one's. */
  readonly #inputPitch: number = 0;
  readonly #chunkSteps: number;
  /** Two chunks of states, if anybody wants them: members x chunk x N. */
  readonly #states: RealSlice[] = [];
  readonly #computed: DeviceEvent[] = [];
  readonly #owned = new Making();
  readonly #onHost: boolean;
  readonly #targets: DeviceBuffer<"f64"> | undefined;

  constructor(
    context: Context,
    compute: Stream,
    copies: Stream,
    weights: DeviceWeights,
    first: number,
    indices: readonly number[],
    members: readonly Member[],
    options: MemberOptions,
    failed: Map<number, { step: number; neuron: number }>,
  ) {
    this.#compute = compute;
    this.#copies = copies;
    this.#indices = indices;
    this.#members = members;
    this.#options = options;
    this.#failed = failed;
    this.#weights = weights;
    this.#first = first;
    using owned = this.#owned;
    const { own } = owned;
    const ours = indices.map((r) => members[r]!);
    const { size, precision } = ours[0]!.model;
    this.#steps = ours.reduce((most, { sequence }) => Math.max(most, sequence.inputs.rows), 0);
    options.clock?.on(compute, "upload");
    this.#device = own(new DeviceMembers(context, compute, weights, ours, first));
    options.clock?.off(compute);
    const { training } = options;
    if (training) {
      const sinks = indices.map((r) => training.sinks[r]!);
      // The trainer finds each member's inputs at equal distances.
      this.#inputPitch = ours.length > 1 ? this.#device.inputRow(1) : 0;
      const even = ours.every((_, i) => this.#device.inputRow(i) === i * this.#inputPitch);
      this.#trainer = even ? openGramTrainer(context, compute, ours[0]!.model, sinks, training.targets.cols) : undefined;
      if (this.#trainer) {
        own(this.#trainer);
        this.#targets = own(context.alloc("f64", training.targets.data.length, { label: "targets" }));
        options.clock?.on(compute, "upload");
        compute.upload(this.#targets, training.targets.data as Float64Array);
        options.clock?.off(compute);
      }
    }
    this.#onHost = options.keep === "all" || (training !== undefined && !this.#trainer);
    this.#take = options.taker?.group(compute, indices);
    const wanted = this.#onHost || this.#trainer !== undefined || this.#take !== undefined;
    const rowBytes = indices.length * size * elementBytes(precision);
    const bytes = Math.min(options.chunkBytes ?? defaultChunkBytes, freeMemory(context) / 4);
    const most = Math.min(this.#steps, mostChunkSteps(context, indices.length * storedValues(members[indices[0]!]!.model.weights)));
    this.#chunkSteps = wanted ? Math.max(1, Math.min(most, Math.floor(bytes / rowBytes))) : Math.min(most, 65_536);
    for (let slot = 0; slot < 2; slot++) {
      this.#computed.push(own(context.event({ timing: false })));
      if (!wanted) continue;
      const states = own(allocAny(context, realType(precision), indices.length * this.#chunkSteps * size, "states"));
      // Rows past the end of a sequence come to the host with the others.
      compute.fill(states);
      this.#states.push(states);
    }
    owned.done();
  }

  /** Returns how many steps it made in all. */
  async run(results: Matrix[], pause: (done: number) => Promise<void>): Promise<number> {
    const { keep, clock } = this.#options;
    for (const r of this.#indices) {
      const { model, sequence } = this.#members[r]!;
      if (keep !== "none") results[r] ??= unwritten(keep === "last" ? 1 : sequence.inputs.rows, model.size, model.precision);
    }
    const underWay: Chunk[] = [];
    let next = 0;
    for (let count = 0; next < this.#steps || underWay.length > 0; ) {
      while (next < this.#steps && underWay.length < 2) {
        const chunk = { from: next, to: Math.min(this.#steps, next + this.#chunkSteps), slot: (count++ % 2) as 0 | 1 };
        await this.#enqueue(chunk);
        underWay.push(chunk);
        next = chunk.to;
      }
      const chunk = underWay.shift()!;
      if (this.#onHost) await this.#bringOver(chunk, results);
      else await this.#computed[chunk.slot]!.done();
      clock?.collect();
      await pause(this.#done(chunk.to));
    }
    for (const { member, ...failure } of await this.#device.failures(this.#compute)) this.#failed.set(this.#indices[member]!, failure);
    if (this.#trainer && this.#failed.size === 0) {
      clock?.enter("sums");
      await this.#trainer.finish(this.#compute);
      clock?.leave();
    }
    if (keep === "last") {
      const { size } = this.#members[this.#indices[0]!]!.model;
      const state = this.#device.state;
      const last = await this.#compute.download(state, clock?.around(this.#compute, state.byteLength));
      for (const [i, r] of this.#indices.entries()) results[r]!.data.set(last.subarray(i * size, (i + 1) * size));
    }
    return this.#done(this.#steps);
  }

  dispose(): void {
    this.#owned.dispose();
  }

  async #enqueue({ from, to, slot }: Chunk): Promise<void> {
    const states = this.#states[slot] ?? null;
    const { clock } = this.#options;
    const all = this.#indices.length;
    const portion = this.#weights.allSent ? all : this.#weights.portion;
    for (let first = 0; first < all; first += portion) {
      const count = Math.min(portion, all - first);
      await this.#weights.sent(this.#first + first + count);
      clock?.on(this.#compute, "batch", { steps: this.#done(to, first, count) - this.#done(from, first, count), bytes: 0 });
      this.#device.enqueue(this.#compute, from, to, states, this.#chunkSteps, { first, count });
      clock?.off(this.#compute);
    }
    if (states) this.#take?.({ states, pitch: this.#chunkSteps * this.#members[this.#indices[0]!]!.model.size, from, to });
    if (this.#trainer && states) {
      const { washout, targets } = this.#options.training!;
      const first = Math.max(from, washout);
      const { model } = this.#members[this.#indices[0]!]!;
      if (first < to) {
        clock?.on(this.#compute, "train", { steps: (to - first) * this.#indices.length, bytes: 0 });
        this.#trainer.add(this.#compute, {
          ...{ rows: to - first, targets: this.#targets!.slice(first * targets.cols, to * targets.cols) },
          states: states.slice((first - from) * model.size),
          statePitch: this.#chunkSteps * model.size,
          inputs: this.#device.inputs.slice((this.#device.inputRow(0) + first) * model.inputSize),
          inputPitch: this.#inputPitch * model.inputSize,
        });
        clock?.off(this.#compute);
      }
    }
    this.#computed[slot]!.record(this.#compute);
  }

  async #bringOver({ from, to, slot }: Chunk, results: readonly Matrix[]): Promise<void> {
    const { keep, training, clock } = this.#options;
    const made = this.#states[slot]!;
    const marks = () => clock?.around(this.#copies, made.byteLength);
    await this.#computed[slot]!.done();
    if (keep === "all") await this.#copies.toHost(made, this.#partsOf(from, to, results), marks());
    if (!training || this.#trainer) return;
    const states = await this.#copies.download(made, marks());
    for (const [i, r] of this.#indices.entries()) {
      const { model, sequence } = this.#members[r]!;
      const end = Math.min(to, sequence.inputs.rows);
      const first = Math.max(from, training.washout);
      if (first >= end) continue;
      const begin = (i * this.#chunkSteps - from) * model.size;
      clock?.enter("train", end - first);
      training.sinks[r]!.add(
        new Matrix(end - first, model.size, states.subarray(begin + first * model.size, begin + end * model.size)),
        hostInputs(sequence).subarray(first, end),
        training.targets.subarray(first, end),
      );
      clock?.leave();
    }
  }

  /** The states of steps [from, to) of each member, and the rows that they belong to. */
  #partsOf(from: number, to: number, results: readonly Matrix[]): HostPart[] {
    const parts: HostPart[] = [];
    for (const [i, r] of this.#indices.entries()) {
      const { model, sequence } = this.#members[r]!;
      const end = Math.min(to, sequence.inputs.rows);
      if (end <= from) continue;
      const array = results[r]!.data.subarray(from * model.size, end * model.size) as HostArray;
      parts.push({ start: i * this.#chunkSteps * model.size, array });
    }
    return parts;
  }

  /** Steps that are made once all, or some that follow one another, have come to step `to`. */
  #done(to: number, first = 0, count = this.#indices.length): number {
    const some = this.#indices.slice(first, first + count);
    return some.reduce((sum, r) => sum + Math.min(to, this.#members[r]!.sequence.inputs.rows), 0);
  }
}
