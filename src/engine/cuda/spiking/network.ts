// A spiking network in device memory: its synapses and constants, and what it carries from step to
// step.
import { disposeAll, disposeQuietly } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, Stream } from "@spillway/gpu";
import { allocate, type FloatArray } from "@spillway/numerics";
import type { NetworkState, SpikingModel, SynapseTable } from "../../../reservoir/spiking-model.js";
import { hasRecovery } from "../../../spikes/liquid/network-state.js";
import type { NetworkModel } from "../../../spikes/network/plan.js";
import { type AnyBuffer, realType } from "../kernels.js";
import { constantLists, type SpikingLaunch, stateLists } from "./launch.js";

/** One table of synapses; all null if there are none of that kind. */
export type DeviceSynapses = readonly [
  offsets: AnyBuffer | null,
  cells: AnyBuffer | null,
  weights: AnyBuffer | null,
  delays: AnyBuffer | null,
];

export class DeviceNetwork {
  readonly synapses: DeviceSynapses;
  readonly inputSynapses: DeviceSynapses;
  /** W_in, I x N. */
  readonly inputWeights: AnyBuffer | null;
  readonly constants: AnyBuffer;
  readonly refractory: DeviceBuffer<"i32">;
  /** Potential, recovery, excitatory and inhibitory current, filtered spikes: N values each. */
  readonly state: AnyBuffer;
  readonly held: DeviceBuffer<"i32">;
  readonly ring: DeviceBuffer<"i32">;
  /** Orders all that is done to the network. */
  readonly stream: Stream;
  readonly #model: SpikingModel;
  readonly #rows: number;
  readonly #context: Context;
  readonly #before: { readonly state: AnyBuffer; readonly held: DeviceBuffer<"i32">; readonly ring: DeviceBuffer<"i32"> };
  readonly #owned: { dispose(): void }[] = [];

  constructor(context: Context, model: SpikingModel, network: NetworkModel, { rows }: SpikingLaunch) {
    const { size, precision, inputWeights } = model;
    this.#context = context;
    this.#model = model;
    this.#rows = rows;
    const own = <T extends { dispose(): void }>(thing: T): T => {
      this.#owned.push(thing);
      return thing;
    };
    const upload = (array: FloatArray | Uint32Array | Int32Array | Uint16Array, label: string) =>
      own(context.upload(array as Float32Array<ArrayBuffer>, { label })) as unknown as AnyBuffer;
    const table = (synapses: SynapseTable | undefined, label: string): DeviceSynapses => {
      if (!synapses) return [null, null, null, null];
      const cells = synapses.targets.map((target, s) => (synapses.weights[s]! < 0 ? size + target : target));
      // A network without synapses has offsets of zeros: the element that stands in for them is not
      // read.
      const isEmpty = cells.length === 0;
      const [weights, delays] = isEmpty ? [new Int32Array(1), new Uint16Array(1)] : [synapses.weights, synapses.delays];
      return [
        upload(synapses.offsets, label),
        upload(isEmpty ? new Uint32Array(1) : cells, label),
        upload(weights, label),
        upload(delays, label),
      ];
    };
    try {
      this.synapses = table(model.synapses, "synapses");
      this.inputSynapses = table(model.inputSize > 0 ? model.inputSynapses : undefined, "input synapses");
      this.inputWeights = inputWeights && model.inputSize > 0 ? upload(transposed(inputWeights.data, size, model.inputSize), "W_in") : null;
      const { numbers, refractory } = constantsOf(network);
      this.constants = upload(numbers, "constants of the neurons");
      this.refractory = own(context.upload(refractory as Int32Array<ArrayBuffer>, { label: "refractory steps" }));
      const carried = () => ({
        state: own(context.zeros(realType(precision), stateLists * size, { label: "state of the neurons" }) as AnyBuffer),
        held: own(context.zeros("i32", size, { label: "held" })),
        ring: own(context.zeros("i32", rows * 2 * size, { label: "pending input" })),
      });
      ({ state: this.state, held: this.held, ring: this.ring } = carried());
      this.#before = carried();
      this.stream = own(context.stream({ label: "spiking reservoir" }));
    } catch (error) {
      disposeQuietly(this.#owned);
      throw error;
    }
  }

  /** Keeps the state as it is now, in the order of the stream. */
  keep(): void {
    this.#copy(this.#before, this);
  }

  /** Goes back to the state that was kept. */
  restore(): void {
    this.#copy(this, this.#before);
  }

  /** The filtered spikes, N values. */
  values(): FloatArray {
    const { size } = this.#model;
    return this.#read(this.state.slice(4 * size, 5 * size)) as FloatArray;
  }

  setValues(values: FloatArray): void {
    const { size } = this.#model;
    this.#write(this.state.slice(4 * size, 5 * size), values);
  }

  /** `row` is the row of the ring that comes first. */
  network(row: number): NetworkState {
    const { size, ringRows } = this.#model;
    const { potential, recovery, excitatory, inhibitory } = this.#lists();
    const ring = this.#read(this.ring) as Int32Array;
    const pending = new Int32Array(ringRows * 2 * size);
    for (let d = 0; d < ringRows; d++) {
      const from = ((row + d) % this.#rows) * 2 * size;
      pending.set(ring.subarray(from, from + 2 * size), d * 2 * size);
    }
    return {
      potential,
      recovery: hasRecovery(this.#model) ? recovery : recovery.slice(0, 0),
      excitatory,
      inhibitory,
      held: this.#read(this.held) as Int32Array,
      pending,
    };
  }

  /** Sets the state; the ring then begins at row 0. */
  setNetwork({ potential, recovery, excitatory, inhibitory, held, pending }: NetworkState): void {
    const { size } = this.#model;
    const lists = this.#read(this.state) as FloatArray;
    [potential, recovery, excitatory, inhibitory].forEach((values, k) => {
      lists.set(values, k * size);
    });
    this.#write(this.state, lists);
    this.#write(this.held as AnyBuffer, held);
    const ring = new Int32Array(this.#rows * 2 * size);
    ring.set(pending);
    this.#write(this.ring as AnyBuffer, ring);
  }

  dispose(): void {
    disposeAll(this.#owned);
  }

  #lists() {
    const { size } = this.#model;
    const lists = this.#read(this.state) as FloatArray;
    const [potential, recovery, excitatory, inhibitory, filtered] = Array.from({ length: stateLists }, (_, k) =>
      lists.slice(k * size, (k + 1) * size),
    );
    return { potential, recovery, excitatory, inhibitory, filtered } as Record<
      "potential" | "recovery" | "excitatory" | "inhibitory" | "filtered",
      FloatArray
    >;
  }

  #read(buffer: unknown): FloatArray | Int32Array {
    this.stream.sync();
    return this.#context.read(buffer as DeviceBuffer<"f32">) as FloatArray;
  }

  #write(buffer: unknown, values: FloatArray | Int32Array): void {
    this.stream.upload(buffer as DeviceBuffer<"f32">, values as Float32Array<ArrayBuffer>);
  }

  #copy(to: Carried, from: Carried): void {
    this.stream.copy(to.state as DeviceBuffer<"f32">, from.state as DeviceBuffer<"f32">);
    this.stream.copy(to.held, from.held);
    this.stream.copy(to.ring, from.ring);
  }
}

type Carried = Pick<DeviceNetwork, "state" | "held" | "ring">;

/** The lists of the kernel's constants, in its order, and the steps that potentials are held for. */
function constantsOf({ populations, liquid, size, precision }: NetworkModel): { numbers: FloatArray; refractory: Int32Array } {
  const numbers = allocate(precision, constantLists * size);
  const refractory = new Int32Array(size);
  for (const { first, size: count, neuron, receptors } of populations) {
    const { keep, driveGain, threshold, reset, recoveryKeep, recoveryStep, refractorySteps } = neuron;
    const [excitatory, inhibitory] = receptors.map(({ gain }) => gain) as [number, number];
    const own = [keep, driveGain, excitatory, inhibitory, threshold, reset, recoveryKeep, recoveryStep, liquid!.current];
    for (const [k, value] of own.entries()) numbers.fill(value, k * size + first, k * size + first + count);
    refractory.fill(refractorySteps, first, first + count);
  }
  return { numbers, refractory };
}

/** N x I, row by row, as I x N. */
function transposed(data: FloatArray, size: number, inputs: number): FloatArray {
  const out = data.slice();
  for (let r = 0; r < size; r++) for (let i = 0; i < inputs; i++) out[i * size + r] = data[r * inputs + i]!;
  return out;
}
