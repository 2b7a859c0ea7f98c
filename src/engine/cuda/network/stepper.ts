// A network of populations in device memory, and its steps: whole chunks a launch.
import { DisposedByAwaitUsing, disposeAll, type Held, Making } from "@spillway/core/disposal.js";
import { SpillwayError } from "@spillway/core/errors.js";
import type { Context, DeviceBuffer, DeviceSlice, Stream } from "@spillway/gpu";
import { allocate, type FloatArray } from "@spillway/numerics";
import type { DeviceSlots, DeviceTable } from "../../../spikes/gpu/network/table.js";
import type { NetworkPlan, PlasticTable } from "../../../spikes/network/plan.js";
import type { NetworkRunState, NetworkSession, StepSpikes } from "../../../spikes/network/session.js";
import { type AnyArgument, type AnyBuffer, type AnyKernel, realKernel, realType } from "../kernels.js";
import { StallError } from "../time-loop.js";
import { CarriedState } from "./carried.js";
import type { NetworkLaunch } from "./launch.js";
import type { NetworkNeurons } from "./neurons.js";
import { DevicePlasticity, plasticParameters } from "./plasticity.js";
import { SpikeRecording } from "./recording.js";

const neuronParameters = [
  ...(["const real*", "const i32*", "real*", "i32*", "const i32*", "const u32*", "i32", "i32", "real", "u32", "u32", "u32"] as const),
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

const anyNeuronParameters = [
  ...(["const i32*", "const real*", "const u32*", "const u32*", "const real*", "real*", "i32*", "i32", "i32", "real"] as const),
  ...(["u32", "u32", "u32", "const u32*", "const u32*", "const u16*", "const u32*", "const i32*", "i32", "i32*", "u32", "u32"] as const),
  ...(["u32", "u32", "const u32*", "const u32*"] as const),
] as const;
const generalParameters = [...anyNeuronParameters, ...(["i32", "u32*", "u32*", "u32*"] as const), ...recordParameters] as const;
const kernels = {
  slots: { file: "network_slots", name: "network_slots", parameters: slotParameters },
  table: { file: "network_step", name: "network_step", parameters: tableParameters },
  general: { file: "network_step", name: "network_general", parameters: generalParameters },
  plastic: {
    file: "network_plastic",
    name: "network_plastic",
    parameters: [...anyNeuronParameters, ...plasticParameters, "u32*", ...recordParameters] as const,
  },
} as const;
/** What a kernel carries, in its order. */
const generalLists = ["potential", "recovery", "filtered", "currents"] as const;
const plainLists = ["potential", "currents"] as const;

/** Bytes of recorded spikes of a chunk at most, unless a single step needs more. */
const recordBytes = 2 ** 28;
const mostSteps = 2 ** 16;

/** What an open network says of itself. */
export interface NetworkFacts {
  /** The engine in one line. */
  readonly summary: string;
  /** The sum of the synapses that are on the device: that of the host's table. */
  readonly tableSum: string;
  /** Steps of some ten milliseconds; on a simulated device, few. */
  readonly stepsPerCall: number;
  /** Milliseconds from the plan to the synapses as the kernel takes them. */
  readonly drawingMs: number;
}

interface NetworkParts {
  readonly launch: NetworkLaunch;
  readonly neurons: NetworkNeurons;
  readonly synapses: DeviceTable | DeviceSlots;
  /** 1 or -1 for each source. */
  readonly signs: Int8Array;
  readonly spinLimit: number;
  readonly plastic: readonly PlasticTable[];
  /** Memory of the synapses, which is the network's from now on. */
  readonly memory: Held;
}

/** A network on a device. Calls may not overlap. */
export class DeviceNetwork extends DisposedByAwaitUsing implements NetworkSession, NetworkFacts {
  readonly plan: NetworkPlan;
  readonly later = true;
  readonly plastic: readonly PlasticTable[];
  readonly summary: string;
  readonly tableSum: string;
  readonly stepsPerCall: number;
  readonly drawingMs: number;
  readonly stream: Stream;
  readonly #context: Context;
  readonly #neurons: NetworkNeurons;
  readonly #launch: NetworkLaunch;
  readonly #synapses: DeviceTable | DeviceSlots;
  readonly #spinLimit: number;
  readonly #kernel: AnyKernel;
  readonly #owned = new Making();
  #work: Promise<unknown> = Promise.resolve();
  readonly #fixed: readonly unknown[];
  readonly #constants: AnyBuffer;
  readonly #carried: CarriedState;
  #stepBefore = 0;
  readonly #report: DeviceBuffer<"u64">;
  /** What constant currents add in a step. */
  readonly #drive: DeviceSlice<"f32">;
  readonly #table: { lists: DeviceBuffer<"u32">; counts: DeviceBuffer<"u32">; negative: DeviceBuffer<"u32"> } | undefined;
  readonly #slots: { messages: DeviceBuffer<"u64">; lists: DeviceBuffer<"u16"> } | undefined;
  readonly #recording: SpikeRecording;
  readonly #plasticity: DevicePlasticity | undefined;
  #inputOffsets: DeviceBuffer<"u32"> | undefined;
  #inputChannels: DeviceBuffer<"u32"> | undefined;
  #step = 0;

  /** `openNetwork` makes one. */
  constructor(context: Context, plan: NetworkPlan, facts: NetworkFacts, parts: NetworkParts) {
    super();
    const { launch, neurons, synapses, signs, spinLimit, plastic } = parts;
    const { size, receptors, currents, precision, background, general } = neurons;
    this.plan = plan;
    this.plastic = plastic;
    this.summary = facts.summary;
    this.tableSum = facts.tableSum;
    this.stepsPerCall = facts.stepsPerCall;
    this.drawingMs = facts.drawingMs;
    this.#context = context;
    this.#neurons = neurons;
    this.#launch = launch;
    this.#synapses = synapses;
    this.#spinLimit = spinLimit;
    using owned = this.#owned;
    const { own } = owned;
    const real = realType(precision);
    const isSlots = launch.plan === "slots";
    const { file, name, parameters } = kernels[launch.plan];
    this.#kernel = realKernel(context, file, `${name}_${real}`, precision, parameters);
    this.stream = own(context.stream({ label: "network" }));
    const upload = (array: FloatArray | Int32Array | Uint32Array, label: string) =>
      own(context.upload(array as Float32Array<ArrayBuffer>, { label })) as unknown as AnyBuffer;
    this.#constants = upload(neurons.constants, "constants of the neurons");
    const lists = general ? generalLists : plainLists;
    const shape = { precision, size, receptors, currents, rows: launch.rows, lists };
    this.#carried = new CarriedState(context, this.stream, shape, own);
    this.#report = own(context.zeros("u64", 2, { label: "report of the blocks" }));
    this.#recording = own(new SpikeRecording(context, isSlots ? launch.blocks : 1));
    this.#plasticity = launch.plan === "plastic" ? new DevicePlasticity(context, plan, plastic, own) : undefined;
    const drive = general && upload(general.drive, "constant currents");
    this.#drive = (drive ?? (this.#constants as DeviceBuffer<"f32">).slice(2 * size, 3 * size)) as DeviceSlice<"f32">;
    const unit = 2 ** -neurons.fractionBits;
    const key = [neurons.key[0] >>> 0, neurons.key[1] >>> 0, neurons.stream];
    if (general)
      this.#fixed = [
        ...[upload(general.whole, "populations"), this.#constants, upload(general.thresholds, "background spikes")],
        ...[upload(general.population, "population of each neuron"), drive, this.#carried.state, this.#carried.held],
        ...[size, receptors, unit, ...key],
      ];
    else
      this.#fixed = [
        ...[this.#constants, upload(neurons.refractory, "refractory steps"), this.#carried.state, this.#carried.held],
        background ? upload(background.neurons, "background of the neurons") : null,
        background ? upload(background.thresholds, "background spikes") : null,
        ...[background?.count ?? 0, size, unit, ...key],
      ];
    if (isSlots) {
      this.#slots = {
        messages: own(context.zeros("u64", 4 * launch.blocks, { label: "messages" })),
        lists: own(context.zeros("u16", 4 * launch.blocks * 1024, { label: "spikes of messages" })),
      };
    } else {
      const negative = new Uint32Array(Math.ceil(signs.length / 32));
      for (let j = 0; j < signs.length; j++) if (signs[j]! < 0) negative[j >>> 5]! |= 1 << (j & 31);
      this.#table = {
        lists: own(context.zeros("u32", 2 * size, { label: "spikes" })),
        // The numbers of spikes of three steps, and the blocks at the barrier.
        counts: own(context.zeros("u32", 4, { label: "numbers of spikes" })),
        negative: own(context.upload(negative, { label: "negative sources" })),
      };
    }
    own(parts.memory);
    owned.done();
  }

  /** What the constant currents add in a step, N values. */
  setDrive(drive: FloatArray): void {
    this.stream.upload(this.#drive, drive as Float32Array<ArrayBuffer>);
    this.stream.sync();
  }

  setState(given: NetworkRunState): void {
    this.#carried.setState(given, given.step);
    this.#plasticity?.setState(this.stream, given);
    this.stream.sync();
    this.#step = given.step;
  }

  /** Potentials, or filtered spikes: 0 if none are kept. */
  getValues(name: "potential" | "filtered"): FloatArray {
    return this.#carried.get(name);
  }

  getState(): NetworkRunState {
    const none = { fired: new Int32Array(0), plastic: allocate(this.#neurons.precision, 0), resources: new Float64Array(0) };
    return { step: this.#step, ...this.#carried.getState(this.plan.ringRows, this.#step), ...(this.#plasticity?.getState() ?? none) };
  }

  /** Sizes of the weights of plastic projection k in units, if they change. */
  getWeights(k: number): FloatArray | undefined {
    this.stream.sync();
    return this.#plasticity?.weights(k);
  }

  /**
   * Runs some steps from the present state; gives the spikes of all neurons if they are recorded.
   * @throws StallError; SpillwayError if a potential is not finite: the state is then to be set or
   * restored
   */
  advance(steps: number, inputs: StepSpikes | undefined, record: boolean): Promise<StepSpikes | undefined> {
    const work = this.#advance(steps, inputs, record);
    this.#work = work;
    return work;
  }

  async #advance(steps: number, inputs: StepSpikes | undefined, record: boolean): Promise<StepSpikes | undefined> {
    const parts: { readonly steps: number; readonly spikes: StepSpikes }[] = [];
    const most = record ? Math.min(mostSteps, this.#recordedSteps()) : mostSteps;
    for (let done = 0; done < steps; done += most) {
      const part = Math.min(most, steps - done);
      this.#enqueue(part, record, inputs && this.#giveInputs(inputs, done, part));
      this.#check(await this.stream.download(this.#report), part);
      if (record) parts.push({ steps: part, spikes: await this.#recording.read(this.stream, part) });
    }
    return record ? joined(parts, steps) : undefined;
  }

  /** Keeps the state on the device, in place of what was kept before. */
  keep(): void {
    this.#carried.keep();
    this.#plasticity?.keep(this.stream);
    this.#stepBefore = this.#step;
  }

  /** Goes back to what was kept last. */
  restore(): void {
    this.#carried.restore();
    this.#plasticity?.restore(this.stream);
    this.#step = this.#stepBefore;
  }

  /** @throws for what the blocks reported of the last so many steps */
  #check([bad, stalled]: BigUint64Array, steps: number): void {
    const kernel = kernels[this.#launch.plan].name;
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
  #enqueue(steps: number, record: boolean, inputs: readonly [unknown, unknown] = [null, null]): void {
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
        ...[entries, classes, classCount, this.#carried.ring, rows, perBlock, this.#step, steps],
        ...[neuronThreads, distributions, messages, lists],
      ];
      this.stream.launch(this.#kernel, config, ...([...this.#fixed, ...own, ...last] as AnyArgument[]));
    } else {
      const { offsets, packed, units, wide, cellBits } = this.#synapses as DeviceTable;
      const { lists, counts, negative } = this.#table!;
      const { general } = this.#neurons;
      this.stream.fill(counts);
      const own = [
        ...[offsets, packed, units, negative, ...(general ? [wide?.units ?? null] : []), cellBits],
        ...[this.#carried.ring, rows, this.#step, steps, slices],
        ...(this.#plasticity ? [...inputs, ...this.#plasticity.arguments] : general ? [...inputs, general.atOnce ? 1 : 0] : []),
        ...(this.#plasticity ? [] : [lists, counts.slice(0, 3)]),
        counts.slice(3, 4),
      ];
      this.stream.launch(this.#kernel, config, ...([...this.#fixed, ...own, ...last] as AnyArgument[]));
    }
    this.#step += steps;
    this.#plasticity?.advance(steps);
  }

  async dispose(): Promise<void> {
    await this.#work.catch(() => undefined);
    disposeAll([this.#owned, this.#inputChannels, this.#inputOffsets]);
    this.#inputChannels = undefined;
    this.#inputOffsets = undefined;
  }

  /** Brings the input spikes of some steps of a call to the device: offsets, and channels. */
  #giveInputs({ offsets, neurons }: StepSpikes, from: number, steps: number): readonly [unknown, unknown] {
    const first = offsets[from]!;
    const channels = neurons.slice(first, offsets[from + steps]);
    const own = offsets.slice(from, from + steps + 1).map((each) => each - first);
    const given = (buffer: DeviceBuffer<"u32"> | undefined, values: Uint32Array, label: string) => {
      const there = buffer && buffer.length >= values.length ? buffer : this.#context.alloc("u32", 2 * values.length + 1, { label });
      if (there !== buffer) buffer?.dispose();
      if (values.length > 0) this.stream.upload(there.slice(0, values.length), values as Uint32Array<ArrayBuffer>);
      return there;
    };
    this.#inputOffsets = given(this.#inputOffsets, own, "input spikes of each step");
    this.#inputChannels = given(this.#inputChannels, channels, "channels of input spikes");
    this.stream.sync();
    return [this.#inputOffsets, this.#inputChannels];
  }

  /** The fewest steps from one spike of a neuron to its next. */
  get #leastInterval(): number {
    return 1 + this.#neurons.refractory.reduce((few, held) => Math.min(few, held), mostSteps);
  }

  /** Steps of a launch that records, so that its spikes fit. */
  #recordedSteps(): number {
    return Math.max(1, Math.floor((recordBytes / 8) * (this.#leastInterval / this.#neurons.size)));
  }

  /** Spikes that a region may hold after so many steps. */
  #capacity(steps: number): number {
    const { plan, perBlock } = this.#launch;
    return (plan === "slots" ? perBlock : this.#neurons.size) * Math.ceil(steps / this.#leastInterval);
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
