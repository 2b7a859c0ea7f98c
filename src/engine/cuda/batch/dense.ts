// Runs many sequences through one dense W, all in step, in chunks whose states come to the host
// while the next chunks run.
import { Making } from "@spillway/core/disposal.js";
import { getOrMake } from "@spillway/core/maps.js";
import { type Context, type DeviceBuffer, type DeviceEvent, type HostArray, type HostPart, isLocked, type Stream } from "@spillway/gpu";
import { Matrix } from "@spillway/numerics";
import { NonFiniteStateError, type SequenceInput } from "../../../reservoir/engine.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { WorkPacer } from "../../../reservoir/work.js";
import type { StateChunk, TakenBatchOptions } from "../../session.js";
import { activationNumber } from "../activation.js";
import { mostChunkSteps } from "../chunk-limit.js";
import { CommonKernels } from "../common-kernels.js";
import { DeviceModel } from "../device-model.js";
import { copyRows, slicesOf } from "../device-rows.js";
import { uploadSoon } from "../host-calls.js";
import { KeptLocked } from "../kept-locked.js";
import { type AnyKernel, type RealParameter, realKernel } from "../kernels.js";
import { freeMemory } from "../memory.js";
import type { DeviceClock } from "../profile.js";
import { spinLimitOf } from "../spin-limit.js";
import { type RealSlice, StallError } from "../time-loop.js";
import { unwritten } from "../unwritten.js";
import { GatheredRows } from "./gathered-rows.js";
import { type BatchPlan, packs } from "./shapes.js";

const rest: readonly RealParameter[] = [
  ...(["const f32*", "const f32*", "const f32*", "f32*", "f32*", "const i32*", "const i32*", "u64*"] as const),
  ...(["u32", "u32", "f32", "i32", "i32", "i32", "i32", "i32"] as const),
];

/** Bytes of drive, feedback and states in one chunk. */
const defaultChunkBytes = 512 * 2 ** 20;

/**
 * Page-locked results take shorter chunks, the first of which is done sooner: of so many bytes of
 * states, and of each sequence of so many.
 */
const lockedChunkBytes = 32 * 2 ** 20;
const lockedPieceBytes = 128 * 2 ** 10;

/** A launch of the drive kernel takes at most this many rows. */
const mostDriveRows = 2 ** 19;

type Packed = ReturnType<(typeof packs)[keyof typeof packs]>;

/** W as plans read it, as long as an array lives: devices that begin together share one. */
const packedWeights = new WeakMap<Matrix, Map<string, WeakRef<Packed>>>();

function packedFor({ weights, size }: ReservoirModel, { kernel, padded, rowBlocks }: BatchPlan): Packed {
  const matrix = weights as Matrix;
  const rows = rowBlocks * kernel.rows;
  const key = `${kernel.layout} ${rows} ${padded}`;
  const kept = getOrMake(packedWeights, matrix, () => new Map<string, WeakRef<Packed>>());
  const packed = kept.get(key)?.deref() ?? packs[kernel.layout](matrix.data, size, size, size, rows, padded);
  kept.set(key, new WeakRef(packed));
  return packed;
}

/** What a session has for its batches. */
export interface SessionWork {
  readonly clock?: DeviceClock | undefined;
  /** Clock ticks after which a wait between blocks is an error; default that of `spinLimitOf`. */
  readonly spinLimit?: number | undefined;
  /** Page-locked memory that serves one batch after another; default each its own. */
  readonly locked?: KeptLocked | undefined;
}

/** What to do with the states, and what the session has for its batches. */
export interface DenseBatchOptions extends TakenBatchOptions, SessionWork {}

/** A chunk of steps that was enqueued. */
interface Chunk {
  readonly from: number;
  readonly to: number;
  readonly slot: number;
}

/** One batch: sequences in falling order of their lengths. */
export class DenseBatchRun {
  readonly #model: ReservoirModel;
  readonly #plan: BatchPlan;
  readonly #sequences: readonly SequenceInput[];
  /** Which of the user's sequences each is. */
  readonly #order: readonly number[];
  readonly #options: DenseBatchOptions;
  readonly #clock: DeviceClock | undefined;
  readonly #spinLimit: number;
  readonly #steps: number;
  readonly #chunkSteps: number;
  readonly #slots: 2 | 3;
  readonly #compute: Stream;
  readonly #copies: Stream;
  readonly #kernel: AnyKernel;
  readonly #common: CommonKernels;
  readonly #device: DeviceModel;
  readonly #owned = new Making();
  readonly #weights: DeviceBuffer<"f32" | "u16">;
  readonly #exchange: DeviceBuffer<"f32" | "u16">;
  readonly #arrived: DeviceBuffer<"u32">;
  readonly #stalled: DeviceBuffer<"i32">;
  readonly #inputs: DeviceBuffer<"f32">;
  readonly #outputs: DeviceBuffer<"f32">;
  /** Rows from the host; undefined if none come from there. */
  readonly #givenInputs: GatheredRows | undefined;
  readonly #givenOutputs: GatheredRows | undefined;
  readonly #drive: DeviceBuffer<"f32">;
  readonly #feedback: DeviceBuffer<"f32"> | null;
  readonly #states: DeviceBuffer<"f32">[] = [];
  readonly #started: DeviceEvent[] = [];
  readonly #computed: DeviceEvent[] = [];
  readonly #take: ((chunk: StateChunk) => void) | undefined;
  #stepMilliseconds = 0;
  readonly #leak: DeviceBuffer<"f32">;
  readonly #state: DeviceBuffer<"f32">;
  readonly #lengths: DeviceBuffer<"i32">;
  readonly #numbers: DeviceBuffer<"i32">;
  readonly #failures: DeviceBuffer<"u64">;

  constructor(
    context: Context,
    model: ReservoirModel,
    plan: BatchPlan,
    sequences: readonly SequenceInput[],
    options: DenseBatchOptions,
    chunkBytes = defaultChunkBytes,
  ) {
    this.#model = model;
    this.#plan = plan;
    this.#options = options;
    this.#clock = options.clock;
    this.#spinLimit = spinLimitOf(options.spinLimit);
    this.#order = Array.from(sequences.keys()).sort((a, b) => sequences[b]!.inputs.rows - sequences[a]!.inputs.rows || a - b);
    this.#sequences = this.#order.map((b) => sequences[b]!);
    this.#steps = this.#sequences[0]!.inputs.rows;
    const { size, inputSize, outputSize } = model;
    const { kernel, padded, tiles } = plan;
    const count = sequences.length;
    const keepAll = options.taker !== undefined || options.keep !== "last";
    const stepBytes = 4 * count * (size * (keepAll ? 4 : 2) + inputSize + outputSize);
    // States that come to the host have a third buffer: the host may be late with one chunk.
    this.#slots = options.taker || options.keep === "last" ? 2 : 3;
    const areLocked = this.#slots === 3 && options.into?.every(({ data }) => isLocked(data as HostArray));
    const fits = Math.min(
      Math.floor(Math.min(chunkBytes, freeMemory(context) / 2) / stepBytes),
      mostChunkSteps(context, count * size * size),
      areLocked ? Math.ceil(Math.max(lockedChunkBytes / count, lockedPieceBytes) / (4 * size)) : Number.POSITIVE_INFINITY,
    );
    // Chunks have an even number of steps: each begins with the same of the two exchange buffers.
    this.#chunkSteps = Math.min(this.#steps, Math.max(2, fits - (fits % 2)));
    using owned = this.#owned;
    const { own } = owned;
    this.#compute = own(context.stream({ label: "batch" }));
    this.#copies = own(context.stream({ label: "batch states to the host" }));
    this.#compute.waitFor(slicesOf(sequences));
    this.#clock?.watch(this.#compute);
    this.#clock?.watch(this.#copies);
    this.#common = new CommonKernels(context, "float32");
    this.#device = own(new DeviceModel(context, model));
    const element = kernel.portable ? "f32" : "u16";
    const steps = kernel.ranged ? (["i32", "i32"] as const) : [];
    const slots = plan.slots === undefined ? [] : (["i32"] as const);
    const head: RealParameter[] = [`const ${element}*`, `${element}*`, "u32*", "i32*", "i64", ...steps, "i32", ...slots];
    this.#kernel = realKernel(context, kernel.file, kernel.name, "float32", [...head, ...rest]);
    const pack = packs[kernel.layout];
    this.#weights = own(context.upload(packedFor(model, plan), { label: "W" }));
    const exchanged = tiles * kernel.sequences * padded;
    this.#exchange = own(context.zeros(element, 2 * exchanged, { label: "exchanged states" }));
    // Every sequence begins with the same row, of zeros most of the time.
    const fromZero = model.initialState.every((x) => Object.is(x, 0));
    if (!fromZero) {
      const initial = pack(model.initialState, 0, count, size, tiles * kernel.sequences, padded);
      this.#compute.upload(this.#exchange.slice(0, exchanged), initial);
    }
    const take = (length: number, label: string) => own(context.alloc("f32", Math.max(1, length), { label }));
    const rows = count * this.#chunkSteps;
    this.#inputs = take(rows * inputSize, "inputs");
    this.#outputs = take(rows * outputSize, "fed back outputs");
    this.#drive = take(rows * size, "drive");
    this.#feedback = outputSize > 0 ? take(rows * size, "feedback") : null;
    const queued = this.#steps > this.#chunkSteps ? (options.locked ?? own(new KeptLocked(context))) : undefined;
    if (inputSize > 0 && sequences.some(({ inputs }) => inputs instanceof Matrix)) {
      const of = ({ inputs }: SequenceInput) => (inputs instanceof Matrix ? inputs : undefined);
      const gathering = { columns: inputSize, of, delay: 0 } as const;
      this.#givenInputs = own(new GatheredRows(this.#sequences, gathering, this.#inputs, queued, this.#slots));
    }
    if (outputSize > 0) {
      const of = ({ teacher }: SequenceInput) => teacher;
      const gathering = { columns: outputSize, of, delay: 1 } as const;
      this.#givenOutputs = own(new GatheredRows(this.#sequences, gathering, this.#outputs, queued, this.#slots));
    }
    for (let slot = 0; slot < this.#slots; slot++) {
      if (keepAll) {
        const states = take(rows * size, "states");
        // Rows past the end of a sequence come to the host with the others.
        this.#compute.fill(states);
        this.#states.push(states);
      }
      this.#started.push(own(context.event()));
      this.#computed.push(own(context.event()));
    }
    this.#leak = own(context.upload(model.leakRate, { label: "leak rates" }));
    this.#state = own(context.zeros("f32", count * size, { label: "x" }));
    if (!fromZero) {
      const state = new Float32Array(count * size);
      for (let b = 0; b < count; b++) state.set(model.initialState, b * size);
      this.#compute.upload(this.#state, state);
    }
    this.#arrived = own(context.zeros("u32", tiles * Math.ceil(size / kernel.rows), { label: "arrivals" }));
    this.#stalled = own(context.zeros("i32", 2, { label: "stalls" }));
    this.#lengths = own(context.alloc("i32", count, { label: "lengths" }));
    this.#numbers = own(
      context.upload(
        Int32Array.from(this.#order, (b) => (options.firstSequence ?? 0) + b),
        { label: "noise sequences" },
      ),
    );
    this.#failures = own(context.alloc("u64", count, { label: "first non-finite states" }));
    this.#compute.fill(this.#failures.as("u32"), 0xffffffff);
    this.#take = options.taker?.group(this.#compute, this.#order);
    owned.done();
  }

  /**
   * Milliseconds of the device's time that the steps took so far, by events, the drive not counted.
   */
  get stepMilliseconds(): number {
    return this.#stepMilliseconds;
  }

  async run(): Promise<Matrix[]> {
    const { size } = this.#model;
    const total = this.#sequences.reduce((sum, { inputs }) => sum + inputs.rows, 0);
    const pacer = new WorkPacer(this.#options, total);
    const all = !this.#take && this.#options.keep !== "last";
    const results: Matrix[] = this.#take ? [] : (this.#options.into?.slice() ?? new Array(this.#order.length));
    for (const [b, { inputs }] of this.#sequences.entries())
      if (!this.#take) results[this.#order[b]!] ??= unwritten(all ? inputs.rows : 1, size, "float32");
    const underWay: Chunk[] = [];
    for (let next = 0, count = 0; next < this.#steps || underWay.length > 0; ) {
      while (next < this.#steps && underWay.length < this.#slots) {
        const chunk = { from: next, to: Math.min(this.#steps, next + this.#chunkSteps), slot: count++ % this.#slots };
        this.#enqueue(chunk);
        underWay.push(chunk);
        next = chunk.to;
        // Other devices of this thread get their first chunk before this one gets its second.
        if (count === 1) await undefined;
      }
      const chunk = underWay.shift()!;
      if (all) await this.#bringOver(chunk, results);
      else await this.#computed[chunk.slot]!.done();
      this.#stepMilliseconds += this.#computed[chunk.slot]!.elapsedSince(this.#started[chunk.slot]!);
      this.#clock?.collect();
      await pacer.pause(this.#sequences.reduce((sum, { inputs }) => sum + Math.min(chunk.to, inputs.rows), 0));
    }
    await this.#check();
    if (!all && !this.#take) {
      const last = await this.#compute.download(this.#state, this.#clock?.around(this.#compute, this.#state.byteLength));
      for (const [b, index] of this.#order.entries()) results[index]!.data.set(last.subarray(b * size, (b + 1) * size));
    }
    pacer.finish();
    return results;
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #enqueue({ from, to, slot }: Chunk): void {
    const { size, inputSize, outputSize, noiseKey, noiseLevel, activation } = this.#model;
    const { kernel, rowBlocks, groups, shared, slots } = this.#plan;
    const stream = this.#compute;
    const steps = to - from;
    const count = this.#sequences.length;
    const rows = count * steps;
    if (inputSize > 0) {
      this.#clock?.on(stream, "upload");
      this.#bringInputs(from, to, slot);
    }
    this.#clock?.on(stream, "drive");
    this.#sum(this.#device.inputWeights, this.#device.bias, this.#inputs, this.#drive, inputSize, rows);
    this.#clock?.off(stream);
    if (this.#feedback) {
      this.#clock?.on(stream, "upload");
      this.#givenOutputs!.upload(stream, from, to, slot);
      this.#clock?.on(stream, "drive");
      this.#sum(this.#device.feedbackWeights, null, this.#outputs, this.#feedback, outputSize, rows);
      this.#clock?.off(stream);
    }
    const lengths = this.#sequences.map(({ inputs }) => Math.max(0, Math.min(to, inputs.rows) - from));
    uploadSoon(stream, this.#lengths, Int32Array.from(lengths));
    stream.fill(this.#arrived);
    const config = { grid: rowBlocks * groups, block: kernel.threads, shared, cooperative: kernel.persistent };
    const launch = (...range: number[]): void =>
      stream.launch(
        this.#kernel,
        config,
        ...[this.#weights, this.#exchange, this.#arrived, this.#stalled, this.#spinLimit, ...range, groups],
        ...(slots === undefined ? [] : [slots]),
        ...[this.#drive, this.#feedback, this.#leak, this.#states[slot] ?? null],
        ...[this.#state, this.#lengths, this.#numbers, this.#failures],
        ...[noiseKey[0], noiseKey[1], noiseLevel, size, count, steps, from, activationNumber[activation]],
      );
    this.#clock?.on(stream, "batch", { steps: lengths.reduce((sum, length) => sum + length, 0) });
    this.#started[slot]!.record(stream);
    if (!kernel.ranged) launch();
    else if (kernel.persistent) launch(0, steps);
    else for (let t = 0; t < steps; t++) launch(t, t + 1);
    this.#computed[slot]!.record(stream);
    this.#clock?.off(stream);
    this.#take?.({ states: this.#states[slot]!, pitch: steps * size, from, to });
  }

  /**
   * Puts the inputs of steps [from, to) of every sequence in their place, zeros if it has none.
   */
  #bringInputs(from: number, to: number, slot: number): void {
    const pitch = (to - from) * this.#model.inputSize;
    const all = this.#inputs.slice(0, this.#sequences.length * pitch);
    const series = this.#sequences.map(({ inputs }) => inputs);
    if (this.#givenInputs) this.#givenInputs.upload(this.#compute, from, to, slot);
    else if (series.at(-1)!.rows < to) this.#compute.fill(all);
    copyRows(this.#compute, series, from, to, all, (b) => b * pitch);
  }

  /** out = bias + inputs W, row by row, in launches that the grid takes. */
  #sum(
    weights: RealSlice | null,
    bias: RealSlice | null,
    inputs: DeviceBuffer<"f32">,
    out: DeviceBuffer<"f32">,
    columns: number,
    rows: number,
  ) {
    const { size } = this.#model;
    for (let first = 0; first < rows; first += mostDriveRows) {
      const steps = Math.min(mostDriveRows, rows - first);
      const given = columns > 0 ? inputs.slice(first * columns, (first + steps) * columns) : null;
      const into = out.slice(first * size, (first + steps) * size);
      this.#common.drive(this.#compute, weights, bias, given, into, { size, inputs: columns, steps });
    }
  }

  /** Copies the states of a chunk to their rows. */
  async #bringOver({ from, to, slot }: Chunk, results: readonly Matrix[]): Promise<void> {
    const { size } = this.#model;
    const columns = (to - from) * size;
    const parts: HostPart[] = [];
    for (const [b, { inputs }] of this.#sequences.entries()) {
      const end = Math.min(to, inputs.rows);
      if (end <= from) continue;
      const { data } = results[this.#order[b]!] as Matrix<Float32Array>;
      parts.push({ start: b * columns, array: data.subarray(from * size, end * size) });
    }
    await this.#computed[slot]!.done();
    const made = this.#states[slot]!.slice(0, this.#sequences.length * columns);
    await this.#copies.toHost(made, parts, this.#clock?.around(this.#copies, made.byteLength));
  }

  /**
   * @throws StallError, NonFiniteStateError of the first of the user's sequences that has such a
   * state
   */
  async #check(): Promise<void> {
    const [block, step] = await this.#compute.download(this.#stalled);
    if (block !== 0)
      throw new StallError(this.#kernel.name, block! - 1, step!, this.#spinLimit, { instead: "run the sequences one by one" });
    const words = await this.#compute.download(this.#failures);
    let first = Number.POSITIVE_INFINITY;
    let failure = 0n;
    for (const [b, word] of words.entries())
      if (word !== 2n ** 64n - 1n && this.#order[b]! < first) [first, failure] = [this.#order[b]!, word];
    if (Number.isFinite(first)) throw new NonFiniteStateError(Number(failure >> 32n), Number(failure & 0xffffffffn));
  }
}
