// Runs chunks of steps of a spiking network on a device, one launch a chunk. The session around it
// is the host engines' own.
import { Making } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, DeviceSlice, HostArray, PinnedBuffer, Stream } from "@spillway/gpu";
import { allocate, type FloatArray, transposed } from "@spillway/numerics";
import type { DeviceMatrix } from "../../../reservoir/device-matrix.js";
import type { NetworkState, SpikingModel } from "../../../reservoir/spiking-model.js";
import { firstAbove } from "../../../spikes/gpu/first-above.js";
import { amplitudeError, checkAmplitudes } from "../../../spikes/liquid/amplitudes.js";
import { networkOf } from "../../../spikes/liquid/as-network.js";
import { liquidState, stateOfNetwork } from "../../../spikes/liquid/network-state.js";
import type { NetworkModel, PlannedPopulation } from "../../../spikes/network/plan.js";
import type { Keep, Stepper, StepperStates } from "../../host-steps.js";
import { copyEvery, statesThere } from "../device-rows.js";
import { type AnyArgument, type AnyBuffer, type AnyKernel, allocAny, realKernel, realType } from "../kernels.js";
import { CarriedState } from "../network/carried.js";
import type { DeviceClock } from "../profile.js";
import { type RealSlice, StallError } from "../time-loop.js";
import { constantLists, type SpikingLaunch } from "./launch.js";

const neuronNumber = { leakyIntegrateAndFire: 0, adaptiveIntegrateAndFire: 1, izhikevich: 2 } as const;

/** Parameters of leaky_integrate_fire_f32 and _f64. */
const parameters = [
  ...(["const u32*", "const u32*", "const i32*", "const u16*", "const u32*", "const u32*", "const i32*", "const u16*"] as const),
  ...(["const real*", "real*", "const i32*", "i32*", "i32*", "const real*", "const real*", "real*"] as const),
  ...(["i32", "i32", "i32", "i32", "i32", "i32", "i32", "i32", "i32", "real", "real", "real", "real", "real", "real"] as const),
  ...(["u32", "u32", "u32", "u32", "u32", "i32", "u32*", "u64*", "i64"] as const),
];

/** What the kernel carries, in its order. */
const carriedLists = ["potential", "recovery", "currents", "filtered"] as const;

/** What stays as it is. */
interface FixedArguments {
  /** Offsets, cells, weights and delays of neurons, then of channels; null if there are none. */
  readonly synapses: readonly (AnyBuffer | DeviceSlice<"u32"> | null)[];
  /** I x N. */
  readonly inputWeights: AnyBuffer | null;
  readonly constants: AnyBuffer;
  readonly refractory: AnyBuffer;
}

/** A potential that was not finite, by its step in the chunk. */
interface BadPotential {
  readonly step: number;
  readonly neuron: number;
}

export class DeviceSpikingStepper implements Stepper {
  readonly timesPhases = true;
  readonly capacity: number;
  readonly inputs: FloatArray;
  readonly outputs: FloatArray;
  readonly states: FloatArray;
  readonly #context: Context;
  readonly there: StepperStates;
  readonly #model: SpikingModel;
  readonly #described: NetworkModel;
  readonly #launch: SpikingLaunch;
  readonly #spinLimit: number;
  readonly #clock: DeviceClock | undefined;
  readonly #stream: Stream;
  readonly #carried: CarriedState;
  /** Synapses of neurons and of channels, constants and W_in, as the kernel takes them. */
  readonly #fixed: FixedArguments;
  readonly #kernel: AnyKernel;
  readonly #inputs: AnyBuffer | null;
  readonly #states: AnyBuffer;
  readonly #arrived: DeviceBuffer<"u32">;
  readonly #report: DeviceBuffer<"u64">;
  readonly #hostStates: PinnedBuffer<"f32" | "f64">;
  readonly #hostReport: PinnedBuffer<"u64">;
  readonly #owned = new Making();
  /** The row of the ring that reaches the neurons in the next step. */
  #row = 0;
  /** Whether the inputs of the next steps are on the device already. */
  #loaded = false;
  /** What `dispose` waits for. */
  #work: Promise<unknown> = Promise.resolve();

  constructor(context: Context, model: SpikingModel, launch: SpikingLaunch, spinLimit: number, clock?: DeviceClock) {
    const { precision, size, inputSize } = model;
    const real = realType(precision);
    this.#context = context;
    this.#model = model;
    this.#described = networkOf(model);
    this.#launch = launch;
    this.#spinLimit = spinLimit;
    this.#clock = clock;
    this.capacity = launch.capacity;
    this.inputs = allocate(precision, this.capacity * inputSize);
    this.outputs = allocate(precision, 0);
    this.#kernel = realKernel(context, "leaky_integrate_fire", `leaky_integrate_fire_${real}`, precision, parameters);
    using owned = this.#owned;
    const { own } = owned;
    if (clock) own(clock);
    this.#stream = own(context.stream({ label: "spiking reservoir" }));
    clock?.watch(this.#stream);
    const shape = { precision, size, receptors: 2, currents: 2, rows: launch.rows, lists: carriedLists };
    this.#carried = new CarriedState(context, this.#stream, shape, own);
    this.#fixed = uploaded(context, this.#described, own);
    this.#inputs = inputSize > 0 ? own(allocAny(context, real, this.inputs.length, "inputs") as AnyBuffer) : null;
    this.#states = own(allocAny(context, real, this.capacity * size, "states") as AnyBuffer);
    this.#arrived = own(context.zeros("u32", 1, { label: "barrier" }));
    this.#report = own(context.zeros("u64", 2, { label: "report of the blocks" }));
    this.#hostReport = own(context.pinned("u64", 2, { label: "report of the blocks" }));
    this.#hostStates = own(context.pinned(real, this.capacity * size, { label: "states" }));
    this.states = this.#hostStates.array;
    const stream = this.#stream;
    const states = this.#states as RealSlice;
    this.there = {
      ...{ ...statesThere(context, model, stream, clock), states },
      copyEvery: (from, rows, every, into) => copyEvery(stream, states, from, rows, every, into),
    };
    owned.done();
  }

  get lost(): boolean {
    return this.#context.loss !== undefined;
  }

  async load(inputs: DeviceMatrix, from: number, to: number, step: number): Promise<void> {
    const stream = this.#stream;
    const { inputSize, inputSynapses, config } = this.#model;
    this.#loaded = true;
    if (!this.#inputs) return;
    const given = inputs.values.slice(from * inputSize, to * inputSize) as DeviceSlice<"f32">;
    const target = this.#inputs.slice(0, given.length) as DeviceSlice<"f32">;
    stream.waitFor([given]);
    stream.copy(target, given);
    if (!inputSynapses) return;
    const strong = await firstAbove(this.#context, stream, target, config.input.largestAmplitude);
    if (strong) throw amplitudeError(this.#model, strong.index, strong.value, step);
  }

  getValues(): FloatArray {
    return this.#carried.get("filtered");
  }

  setValues(values: FloatArray): void {
    this.#carried.set("filtered", values);
  }

  getNetwork(): NetworkState {
    return liquidState(this.#model, this.#carried.getState(this.#model.ringRows, this.#row));
  }

  setNetwork(state: NetworkState): void {
    this.#carried.setState({ ...stateOfNetwork(this.#model, state), filtered: this.getValues() }, 0);
    this.#row = 0;
  }

  advance(steps: number, step: number, sequence: number, keep: Keep = true): number {
    this.#begin(steps, step);
    this.#enqueue(steps, step, sequence, keep);
    this.#stream.sync();
    const bad = this.#outcome();
    if (!bad) return this.#took(steps);
    this.#carried.restore();
    if (bad.step > 0) {
      this.#enqueue(bad.step, step, sequence, true);
      this.#stream.sync();
      this.#outcome();
    }
    return this.#tookUpTo(bad);
  }

  advanceLater(steps: number, step: number, sequence: number, keep: Keep = true): Promise<number> {
    const work = this.#advanceLater(steps, step, sequence, keep);
    this.#work = work;
    return work;
  }

  async dispose(): Promise<void> {
    await this.#work.catch(() => undefined);
    this.#owned.dispose();
  }

  /** `advance`, the event loop going on while the device works. */
  async #advanceLater(steps: number, step: number, sequence: number, keep: Keep): Promise<number> {
    const stream = this.#stream;
    this.#begin(steps, step);
    this.#enqueue(steps, step, sequence, keep);
    await stream.done();
    const bad = this.#outcome();
    if (!bad) return this.#took(steps);
    this.#carried.restore();
    if (bad.step > 0) {
      this.#enqueue(bad.step, step, sequence, true);
      await stream.done();
      this.#outcome();
    }
    return this.#tookUpTo(bad);
  }

  /** Sends the inputs, and keeps the state to go back to. */
  #begin(steps: number, step: number): void {
    const stream = this.#stream;
    const inputs = this.inputs.subarray(0, steps * this.#model.inputSize);
    if (!this.#loaded) {
      checkAmplitudes(this.#model, inputs, step);
      this.#clock?.on(stream, "upload");
      if (this.#inputs) stream.upload(this.#inputs.slice(0, inputs.length) as DeviceBuffer<"f32">, inputs as Float32Array<ArrayBuffer>);
      this.#clock?.off(stream);
    }
    this.#loaded = false;
    this.#carried.keep();
  }

  /**
   * Gives the steps to the stream, and the copies of their report and, if they are wanted,
   * states.
   */
  #enqueue(steps: number, step: number, sequence: number, keep: Keep): void {
    const { blocks, threads, slices, inputSlices, sharedBytes, rows } = this.#launch;
    const { size, inputSize, fractionBits, stateKeep } = this.#model;
    const { populations, config, liquid } = this.#described;
    const [{ neuron, receptors }] = populations as [PlannedPopulation];
    const { noiseScale, backgroundChance, backgroundUnits, key } = liquid!;
    const { synapses, inputWeights, constants, refractory } = this.#fixed;
    const { state, held, ring } = this.#carried;
    const stream = this.#stream;
    stream.fill(this.#arrived);
    stream.fill(this.#report);
    const [excitatoryKeep, inhibitoryKeep] = receptors.map(({ keep }) => keep);
    this.#clock?.on(stream, "run", { steps });
    const given = [
      ...[...synapses, constants, state, refractory, held, ring, this.#inputs, inputWeights, keep ? this.#states : null],
      ...[size, inputSize, rows, this.#row, steps],
      ...[neuronNumber[neuron.type as keyof typeof neuronNumber], neuron.subtracts ? 1 : 0, slices, inputSlices],
      ...[2 ** -fractionBits, excitatoryKeep, inhibitoryKeep, stateKeep, noiseScale, config.timeStep / 2],
      ...[backgroundChance, key[0] >>> 0, key[1] >>> 0, step >>> 0, sequence >>> 0, backgroundUnits],
      ...[this.#arrived, this.#report, this.#spinLimit],
    ];
    const shape = { grid: blocks, block: threads, shared: sharedBytes, cooperative: true };
    stream.launch(this.#kernel, shape, ...(given as AnyArgument[]));
    this.#clock?.on(stream, "download");
    stream.read(this.#report, this.#hostReport);
    if (keep === true) stream.copy2D(this.#hostStates, this.#states as DeviceBuffer<"f32">, { columns: size, rows: steps });
    this.#clock?.off(stream);
  }

  /** At which step, from 0, and in which neuron a potential was not finite. @throws StallError */
  #outcome(): BadPotential | undefined {
    this.#clock?.endCall();
    const [bad = 0n, stalled = 0n] = this.#hostReport.array;
    if (stalled !== 0n) {
      this.#carried.restore();
      const kernel = `leaky_integrate_fire_${realType(this.#model.precision)}`;
      throw new StallError(kernel, Number(stalled >> 32n) - 1, Number(stalled & 0xffffffffn), this.#spinLimit);
    }
    if (bad === 0n) return undefined;
    return { step: 0xffffffff - Number(bad >> 32n), neuron: 0xffffffff - Number(bad & 0xffffffffn) };
  }

  #took(steps: number): number {
    this.#row = (this.#row + steps) % this.#launch.rows;
    return steps;
  }

  /**
   * What came after the bad step is worth nothing: the steps before it were made once more, from
   * where the chunk began.
   */
  #tookUpTo({ step, neuron }: BadPotential): number {
    const { size } = this.#model;
    const row = this.states.subarray(step * size, (step + 1) * size);
    row.set(this.getValues());
    row[neuron] = Number.NaN;
    return this.#took(step);
  }
}

function uploaded(context: Context, network: NetworkModel, own: <T extends { dispose(): void }>(thing: T) => T): FixedArguments {
  const { size, inputs, synapses, liquid } = network;
  const upload = <A extends HostArray>(array: A, label: string) => own(context.upload(array, { label }));
  const { offsets, packed, units, cellBits } = synapses;
  // Of a network without synapses one is there that is not read.
  const some = packed.length > 0 ? packed : new Uint32Array(1);
  const cells = some.map((word) => word & (2 ** cellBits - 1));
  const delays = Uint16Array.from(some, (word) => word >>> cellBits);
  const table = [
    upload(cells, "cells of synapses"),
    upload(packed.length > 0 ? units : new Int32Array(1), "weights of synapses"),
    upload(delays, "delays of synapses"),
  ];
  const firsts = upload(offsets, "offsets of synapses");
  const weights = liquid!.inputWeights;
  const { numbers, refractory } = constantsOf(network);
  return {
    synapses: [
      firsts.slice(0, size + 1),
      ...table,
      ...(inputs > 0 ? [firsts.slice(size, size + inputs + 1), ...table] : [null, null, null, null]),
    ],
    inputWeights: weights && weights.cols > 0 ? upload(transposed(weights).data, "W_in") : null,
    constants: upload(numbers, "constants of the neurons"),
    refractory: upload(refractory, "refractory steps"),
  };
}

/**
 * The lists of the kernel's constants, in its order, and the steps that potentials are held for.
 */
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
