// A network of populations in device memory, and its steps: whole chunks a launch.
import { SpillwayError } from "../../../core/errors.js";
import type { Context, DeviceBuffer, DeviceSlice, Stream } from "../../../gpu/index.js";
import type { FloatArray, Precision } from "../../../numerics/index.js";
import type { DeviceSlots, DeviceTable } from "../../../spikes/gpu/network/table.js";
import type { NetworkRunState, StepSpikes } from "../../../spikes/network/session.js";
import { abandonAll, disposeAll } from "../dispose.js";
import { type AnyBuffer, type AnyKernel, realKernel, realType } from "../kernels.js";
import { StallError } from "../time-loop.js";
import type { NetworkLaunch } from "./launch.js";
import { SpikeRecording } from "./recording.js";

/** The neurons of a network: lists of N values. */
export interface NetworkNeurons {
  readonly size: number;
  readonly precision: Precision;
  readonly fractionBits: number;
  /**
   * keep, gain, what the drive adds, threshold, reset, decay of the current: one after the other.
   */
  readonly constants: FloatArray;
  readonly refractory: Int32Array;
  readonly background: NetworkBackground | null;
  readonly key: readonly [number, number];
  /** The stream of background spikes. */
  readonly stream: number;
}

/** Spikes from outside. */
export interface NetworkBackground {
  /**
   * The distribution of each neuron's, -1 for none, and then the units of one spike: 2 N values.
   */
  readonly neurons: Int32Array;
  /** Of all distributions, `count` each. */
  readonly thresholds: Uint32Array;
  readonly count: number;
}

const neuronParameters = [
  "const real*",
  "const i32*",
  "real*",
  "i32*",
  "const i32*",
  "const u32*",
  "i32",
  "i32",
  "real",
  "u32",
  "u32",
  "u32",
] as const;
const recordParameters = ["u64*", "u32*", "u32", "u64*", "i64"] as const;
const tableParameters = [
  ...neuronParameters,
  ...(["const u32*", "const u32*", "const u16*", "const u32*", "i32", "i32*", "u32", "u32", "u32", "u32", "u32*", "u32*", "u32*"] as const),
  ...recordParameters,
] as const;
const slotParameters = [
  ...neuronParameters,
  ...(["const u32*", "const u32*", "i32", "i32*", "u32", "u32", "u32", "u32", "i32", "i32", "u64*", "u16*"] as const),
  ...recordParameters,
] as const;

/** Bytes of recorded spikes of a chunk at most, unless a single step needs more. */
const recordBytes = 2 ** 28;
const mostSteps = 2 ** 16;

interface Carried {
  /** Potentials and then currents, 2 N values. */
  readonly state: AnyBuffer;
  readonly held: DeviceBuffer<"i32">;
  readonly ring: DeviceBuffer<"i32">;
}

export class DeviceNetworkStepper {
  readonly stream: Stream;
  readonly #context: Context;
  readonly #neurons: NetworkNeurons;
  readonly #launch: NetworkLaunch;
  readonly #synapses: DeviceTable | DeviceSlots;
  readonly #spinLimit: number;
  readonly #kernel: AnyKernel;
  readonly #owned: { dispose(): void }[] = [];
  readonly #fixed: readonly unknown[];
  readonly #constants: AnyBuffer;
  readonly #carried: Carried;
  /** What was carried before the steps under way. */
  readonly #before: Carried;
  readonly #report: DeviceBuffer<"u64">;
  readonly #table: { lists: DeviceBuffer<"u32">; counts: DeviceBuffer<"u32">; negative: DeviceBuffer<"u32"> } | undefined;
  readonly #slots: { messages: DeviceBuffer<"u64">; lists: DeviceBuffer<"u16"> } | undefined;
  readonly #recording: SpikeRecording;
  #step = 0;

  /** `signs`: 1 or -1 for each source. */
  constructor(
    context: Context,
    neurons: NetworkNeurons,
    synapses: DeviceTable | DeviceSlots,
    { launch, signs, spinLimit }: { readonly launch: NetworkLaunch; readonly signs: Int8Array; readonly spinLimit: number },
  ) {
    const { size, precision, background } = neurons;
    this.#context = context;
    this.#neurons = neurons;
    this.#launch = launch;
    this.#synapses = synapses;
    this.#spinLimit = spinLimit;
    const own = <T extends { dispose(): void }>(thing: T): T => {
      this.#owned.push(thing);
      return thing;
    };
    const real = realType(precision);
    const isSlots = launch.plan === "slots";
    const file = isSlots ? "network_slots" : "network_step";
    this.#kernel = realKernel(context, file, `${file}_${real}`, precision, isSlots ? slotParameters : tableParameters);
    try {
      this.stream = own(context.stream({ label: "network" }));
      const upload = (array: FloatArray | Int32Array | Uint32Array, label: string) =>
        own(context.upload(array as Float32Array<ArrayBuffer>, { label })) as unknown as AnyBuffer;
      this.#constants = upload(neurons.constants, "constants of the neurons");
      const refractory = upload(neurons.refractory, "refractory steps");
      const carried = (): Carried => ({
        state: own(context.zeros(real, 2 * size, { label: "state of the neurons" })) as AnyBuffer,
        held: own(context.zeros("i32", size, { label: "held" })),
        ring: own(context.zeros("i32", launch.rows * size, { label: "pending input" })),
      });
      this.#carried = carried();
      this.#before = carried();
      this.#report = own(context.zeros("u64", 2, { label: "report of the blocks" }));
      this.#recording = own(new SpikeRecording(context, isSlots ? launch.blocks : 1));
      this.#fixed = [
        ...[this.#constants, refractory, this.#carried.state, this.#carried.held],
        background ? upload(background.neurons, "background of the neurons") : null,
        background ? upload(background.thresholds, "background spikes") : null,
        ...[background?.count ?? 0, size, 2 ** -neurons.fractionBits, neurons.key[0] >>> 0, neurons.key[1] >>> 0, neurons.stream],
      ];
      if (isSlots) {
        this.#slots = {
          messages: own(context.zeros("u64", 4 * launch.blocks, { label: "messages" })),
          lists: own(context.zeros("u16", 4 * launch.blocks * 1024, { label: "spikes of messages" })),
        };
      } else {
        const negative = new Uint32Array(Math.ceil(size / 32));
        for (let j = 0; j < size; j++) if (signs[j]! < 0) negative[j >>> 5]! |= 1 << (j & 31);
        this.#table = {
          lists: own(context.zeros("u32", 2 * size, { label: "spikes" })),
          // The numbers of spikes of three steps, and the blocks at the barrier.
          counts: own(context.zeros("u32", 4, { label: "numbers of spikes" })),
          negative: own(context.upload(negative, { label: "negative sources" })),
        };
      }
    } catch (error) {
      abandonAll(this.#owned);
      throw error;
    }
  }

  /** Steps taken. */
  get step(): number {
    return this.#step;
  }

  /** What the constant currents add in a step, N values. */
  setDrive(drive: FloatArray): void {
    const { size } = this.#neurons;
    this.stream.upload(this.#constants.slice(2 * size, 3 * size) as DeviceSlice<"f32">, drive as Float32Array<ArrayBuffer>);
    this.stream.sync();
  }

  setState({ step, potential, currents, held, pending }: NetworkRunState): void {
    const { size } = this.#neurons;
    const { rows } = this.#launch;
    const { state, held: heldThere, ring } = this.#carried;
    this.stream.upload(state.slice(0, size) as DeviceSlice<"f32">, potential as Float32Array<ArrayBuffer>);
    this.stream.upload(state.slice(size, 2 * size) as DeviceSlice<"f32">, currents as Float32Array<ArrayBuffer>);
    this.stream.upload(heldThere, held as Int32Array<ArrayBuffer>);
    const rowsThere = new Int32Array(rows * size);
    for (let d = 0; d < pending.length / size; d++) rowsThere.set(pending.subarray(d * size, (d + 1) * size), ((step + d) % rows) * size);
    this.stream.upload(ring, rowsThere);
    this.stream.sync();
    this.#step = step;
  }

  /** Potentials; filtered spikes are not kept, so they are 0. */
  getValues(name: "potential" | "filtered"): FloatArray {
    const { size } = this.#neurons;
    this.stream.sync();
    const potential = this.#context.read(this.#carried.state.slice(0, size) as DeviceSlice<"f32">) as FloatArray;
    return name === "potential" ? potential : potential.fill(0);
  }

  /** @param ringRows how many rows of pending input it is to have */
  getState(ringRows: number): NetworkRunState {
    const { size } = this.#neurons;
    const { rows } = this.#launch;
    this.stream.sync();
    const ring = this.#context.read(this.#carried.ring);
    const pending = new Int32Array(ringRows * size);
    for (let d = 0; d < Math.min(rows, ringRows); d++) {
      const row = (this.#step + d) % rows;
      pending.set(ring.subarray(row * size, (row + 1) * size), d * size);
    }
    const state = this.#context.read(this.#carried.state as DeviceBuffer<"f32">) as FloatArray;
    return {
      step: this.#step,
      ...{ potential: state.slice(0, size), recovery: state.slice(0, size).fill(0), currents: state.slice(size) },
      ...{ held: this.#context.read(this.#carried.held), pending, filtered: state.slice(0, size).fill(0) },
    };
  }

  /**
   * Takes some steps; gives their spikes if they are recorded. Nothing has happened if it throws.
   * @throws StallError; SpillwayError for a potential that is not finite
   */
  async advance(steps: number, record: boolean): Promise<StepSpikes | undefined> {
    const before = this.#step;
    this.#copy(this.#before, this.#carried);
    const parts: { readonly steps: number; readonly spikes: StepSpikes }[] = [];
    const most = record ? Math.min(mostSteps, this.#recordedSteps()) : mostSteps;
    try {
      for (let done = 0; done < steps; done += most) {
        const part = Math.min(most, steps - done);
        this.#enqueue(part, record);
        this.#check(await this.stream.download(this.#report), part);
        if (record) parts.push({ steps: part, spikes: await this.#recording.read(this.stream, part) });
      }
    } catch (error) {
      this.#copy(this.#carried, this.#before);
      this.#step = before;
      throw error;
    }
    return record ? joined(parts, steps) : undefined;
  }

  /** @throws for what the blocks reported of the last so many steps */
  #check([bad, stalled]: BigUint64Array, steps: number): void {
    const kernel = this.#launch.plan === "slots" ? "network_slots" : "network_step";
    if (stalled)
      throw new StallError(kernel, Number(stalled >> 32n) - 1, Number(stalled & 0xffffffffn), this.#spinLimit, {
        instead: "run the network on the host",
      });
    if (!bad) return;
    const [step, neuron] = [this.#step - steps + 0xffffffff - Number(bad >> 32n), 0xffffffff - Number(bad & 0xffffffffn)];
    const sentence = `the potential of neuron ${neuron} is not finite after step ${step}; take smaller weights or currents`;
    throw new SpillwayError("numeric", sentence, { field: "potential", value: step });
  }

  /** Gives a launch to the stream and waits for nothing. */
  #enqueue(steps: number, record: boolean): void {
    const { plan, blocks, threads, sharedBytes, rows, perBlock, neuronThreads, slices } = this.#launch;
    const { background } = this.#neurons;
    this.stream.fill(this.#report);
    const recorded = record ? this.#recording.begin(this.stream, steps, this.#capacity(steps)) : [null, null, 0];
    const last = [...recorded, this.#report, this.#spinLimit];
    const config = { grid: blocks, block: threads, shared: sharedBytes, cooperative: true };
    if (plan === "slots") {
      const { entries, classes, classCount } = this.#synapses as DeviceSlots;
      const { messages, lists } = this.#slots!;
      this.stream.fill(messages);
      const distributions = background ? background.thresholds.length / background.count : 0;
      const own = [
        entries,
        classes,
        classCount,
        this.#carried.ring,
        rows,
        perBlock,
        this.#step,
        steps,
        neuronThreads,
        distributions,
        messages,
        lists,
      ];
      this.stream.launch(this.#kernel, config, ...([...this.#fixed, ...own, ...last] as never[]));
    } else {
      const { offsets, places, units, cellBits } = this.#synapses as DeviceTable;
      const { lists, counts, negative } = this.#table!;
      this.stream.fill(counts);
      const own = [
        offsets,
        places,
        units,
        negative,
        cellBits,
        this.#carried.ring,
        rows,
        this.#step,
        steps,
        slices,
        lists,
        counts.slice(0, 3),
        counts.slice(3, 4),
      ];
      this.stream.launch(this.#kernel, config, ...([...this.#fixed, ...own, ...last] as never[]));
    }
    this.#step += steps;
  }

  dispose(): void {
    disposeAll(this.#owned);
  }

  /** The fewest steps from one spike of a neuron to its next. */
  get #leastInterval(): number {
    return 1 + this.#neurons.refractory.reduce((few, held) => Math.min(few, held), mostSteps);
  }

  /** Steps of a launch that records, so that its spikes have room. */
  #recordedSteps(): number {
    return Math.max(1, Math.floor((recordBytes / 8) * (this.#leastInterval / this.#neurons.size)));
  }

  /** Spikes that a region may hold after so many steps. */
  #capacity(steps: number): number {
    const { plan, perBlock } = this.#launch;
    return (plan === "slots" ? perBlock : this.#neurons.size) * Math.ceil(steps / this.#leastInterval);
  }

  #copy(to: Carried, from: Carried): void {
    this.stream.copy(to.state as DeviceBuffer<"f32">, from.state as DeviceBuffer<"f32">);
    this.stream.copy(to.held, from.held);
    this.stream.copy(to.ring, from.ring);
  }
}

function joined(parts: readonly { readonly steps: number; readonly spikes: StepSpikes }[], steps: number): StepSpikes {
  if (parts.length === 1) return parts[0]!.spikes;
  const offsets = new Uint32Array(steps + 1);
  const neurons = new Uint32Array(parts.reduce((sum, { spikes }) => sum + spikes.neurons.length, 0));
  let [done, count] = [0, 0];
  for (const { steps: own, spikes } of parts) {
    for (let k = 1; k <= own; k++) offsets[done + k] = count + spikes.offsets[k]!;
    neurons.set(spikes.neurons, count);
    done += own;
    count += spikes.neurons.length;
  }
  return { offsets, neurons };
}
