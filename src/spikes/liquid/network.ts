// One step of a spiking network in plain TypeScript, in the order of docs/numerics.md, rule 12:
// slow, and the reference for every engine.
import { allocate, type FloatArray, philox4x32 } from "@spillway/numerics";
import type { NetworkState, SpikingModel, SynapseTable } from "../../reservoir/spiking-model.js";
import { izhikevichPeak, izhikevichStep } from "../neurons/izhikevich.js";
import { fired, type IntegrateAndFireState, integrated } from "../neurons/leaky-integrate-and-fire.js";
import { initialNetwork } from "./network-state.js";

/** A network with its state. */
export class LiquidNetwork {
  readonly #model: SpikingModel;
  readonly #round: (value: number) => number;
  #state: NetworkState;
  /** The row of the ring that reaches the neurons in the next step. */
  #row = 0;
  readonly #block = new Uint32Array(4);
  readonly #next: {
    readonly potential: FloatArray;
    readonly recovery: FloatArray;
    readonly excitatory: FloatArray;
    readonly inhibitory: FloatArray;
  };

  constructor(model: SpikingModel) {
    this.#model = model;
    this.#round = model.precision === "float32" ? Math.fround : (value) => value;
    this.#state = initialNetwork(model);
    const values = () => allocate(model.precision, model.size);
    this.#next = { potential: values(), recovery: values(), excitatory: values(), inhibitory: values() };
  }

  /** A copy of the state, with the row that comes next in front. */
  get state(): NetworkState {
    const { pending } = this.#state;
    const split = this.#row * 2 * this.#model.size;
    const inOrder = new Int32Array(pending.length);
    inOrder.set(pending.subarray(split));
    inOrder.set(pending.subarray(0, split), pending.length - split);
    return copyWith(inOrder, this.#state);
  }

  set state(state: NetworkState) {
    this.#state = copyWith(state.pending.slice(), state);
    this.#row = 0;
  }

  /**
   * One step. Writes the filtered spikes after it to `next` (N values) and returns whether every
   * potential is finite; if one is not, it is in `next` and the network is as it was.
   *
   * @param filtered the filtered spikes before it, N values
   * @param input u, I values
   * @param step steps since reset, from 0: the counter of everything drawn
   * @param sequence 0, or the index in a batch
   */
  step(filtered: FloatArray, next: FloatArray, input: FloatArray, step: number, sequence: number): boolean {
    this.#deliverInput(input, 1);
    if (!this.#advance(filtered, next, input, step, sequence)) {
      this.#deliverInput(input, -1);
      return false;
    }
    this.#fire(filtered, next);
    return true;
  }

  /** `sign` -1 takes back what 1 delivered. */
  #deliverInput(input: FloatArray, sign: number): void {
    const { inputSynapses } = this.#model;
    if (!inputSynapses) return;
    for (let i = 0; i < input.length; i++) if (input[i] !== 0) this.#deliver(inputSynapses, i, 0, sign * input[i]!);
  }

  /**
   * Adds the weights of one source's synapses, times an amplitude, to the rows `first` + delay
   * steps ahead.
   */
  #deliver({ offsets, targets, weights, delays }: SynapseTable, source: number, first: number, amplitude: number): void {
    const { size, ringRows } = this.#model;
    const { pending } = this.#state;
    for (let s = offsets[source]!; s < offsets[source + 1]!; s++) {
      const weight = weights[s]!;
      const row = (this.#row + first + delays[s]!) % ringRows;
      const units = amplitude === 1 ? weight : roundToEven(this.#round(weight * amplitude));
      const cell = row * 2 * size + (weight < 0 ? size : 0) + targets[s]!;
      pending[cell] = pending[cell]! + units;
    }
  }

  /** Potentials and currents after the step, before any reset, into scratch. */
  #advance(filtered: FloatArray, out: FloatArray, input: FloatArray, step: number, sequence: number): boolean {
    const { size, neuron, fractionBits } = this.#model;
    const { potential, recovery, excitatory, inhibitory, held, pending } = this.#state;
    const { potential: v, recovery: u, excitatory: e, inhibitory: i } = this.#next;
    const round = this.#round;
    const unit = 2 ** -fractionBits;
    const from = this.#row * 2 * size;
    let finite = true;
    for (let r = 0; r < size; r++) {
      const arrived = pending[from + r]! + this.#backgroundSpike(r, step, sequence);
      e[r] = excitatory[r]! + round(round(arrived) * unit);
      i[r] = inhibitory[r]! + round(round(pending[from + size + r]!) * unit);
      const drive = this.#drive(r, input, step, sequence);
      if (neuron.type === "izhikevich") {
        const current = round(round(e[r]! + i[r]!) + drive);
        const after = izhikevichStep(neuron, r, potential[r]!, recovery[r]!, current, round);
        v[r] = after.v;
        u[r] = after.u;
      } else {
        const before = { potential: potential[r]!, recovery: 0, held: held[r]! };
        v[r] = integrated(neuron, r, before, e[r]!, i[r]!, drive, round);
        u[r] = 0;
      }
      const stays = Number.isFinite(v[r]!) && Number.isFinite(u[r]!);
      out[r] = stays ? filtered[r]! : Number.NaN;
      finite &&= stays;
    }
    return finite;
  }

  /** Resets, decays, and what the spikes of this step bring later ones. */
  #fire(filtered: FloatArray, next: FloatArray): void {
    const { size, neuron, stateKeep, excitatoryKeep, inhibitoryKeep, synapses } = this.#model;
    const { potential, recovery, excitatory, inhibitory, held, pending } = this.#state;
    const round = this.#round;
    pending.fill(0, this.#row * 2 * size, (this.#row + 1) * 2 * size);
    for (let r = 0; r < size; r++) {
      excitatory[r] = excitatoryKeep * this.#next.excitatory[r]!;
      inhibitory[r] = inhibitoryKeep * this.#next.inhibitory[r]!;
      let fires: boolean;
      if (neuron.type === "izhikevich") {
        const v = this.#next.potential[r]!;
        const u = this.#next.recovery[r]!;
        fires = v >= izhikevichPeak;
        potential[r] = fires ? neuron.reset[r]! : v;
        recovery[r] = fires ? u + neuron.recoveryStep[r]! : u;
      } else {
        const state: IntegrateAndFireState = { potential: potential[r]!, recovery: recovery[r] ?? 0, held: held[r]! };
        fires = fired(neuron, r, state, this.#next.potential[r]!, round);
        potential[r] = state.potential;
        if (recovery.length > 0) recovery[r] = state.recovery;
        held[r] = state.held;
      }
      const kept = round(stateKeep * filtered[r]!);
      next[r] = fires ? kept + 1 : kept;
      if (fires) this.#deliver(synapses, r, 1, 1);
    }
    this.#row = (this.#row + 1) % this.#model.ringRows;
  }

  /** The current that is no synaptic one: bias, then W_in u in rising order, then noise. */
  #drive(r: number, input: FloatArray, step: number, sequence: number): number {
    const { bias, inputWeights, noiseScale, noiseKey } = this.#model;
    const round = this.#round;
    let drive = bias[r]!;
    if (inputWeights) {
      const { data, cols } = inputWeights;
      for (let i = 0; i < cols; i++) drive = round(drive + round(data[r * cols + i]! * input[i]!));
    }
    if (noiseScale === 0) return drive;
    philox4x32(noiseKey, step, r >>> 2, sequence, 0, this.#block);
    const word = this.#block[r & 3]!;
    const sum = (word & 255) + ((word >>> 8) & 255) + ((word >>> 16) & 255) + (word >>> 24);
    return round(drive + round(noiseScale * (sum - 510)));
  }

  #backgroundSpike(r: number, step: number, sequence: number): number {
    const { backgroundChance, backgroundWeight, noiseKey } = this.#model;
    if (backgroundChance === 0) return 0;
    philox4x32(noiseKey, step, r >>> 2, sequence, 1, this.#block);
    return this.#block[r & 3]! < backgroundChance ? backgroundWeight : 0;
  }
}

function copyWith(pending: Int32Array, { potential, recovery, excitatory, inhibitory, held }: NetworkState): NetworkState {
  return {
    potential: potential.slice(),
    recovery: recovery.slice(),
    excitatory: excitatory.slice(),
    inhibitory: inhibitory.slice(),
    held: held.slice(),
    pending,
  };
}

/** To the nearest whole number, ties to the even one. */
function roundToEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 !== 0) ? below + 1 : below;
}
