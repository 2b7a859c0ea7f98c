// A network of populations in a WebAssembly instance: fills its memory from the model and runs
// steps. The arithmetic is docs/numerics.md, rule 13; the kernel is assembly/network.ts.
import type { FloatArray } from "../../numerics/index.js";
import { loadWasm, type WasmInstance, wasmInstance, wasmMemoryLimit, wasmReserved } from "../../numerics/wasm/index.js";
import { EngineCapacityError } from "../../reservoir/engine.js";
import { drawNetwork } from "../../spikes/network/draw.js";
import type { NetworkEngine } from "../../spikes/network/engines.js";
import type { NetworkModel, NetworkPlan, PlasticTable } from "../../spikes/network/plan.js";
import { NetworkPlasticity } from "../../spikes/network/plasticity.js";
import { initialState, type NetworkRunState, type NetworkSession, notFinite, type StepSpikes } from "../../spikes/network/session.js";
import { placeRegions, type Region } from "./memory.js";

/** Steps of one call of the kernel at most. */
const mostSteps = 4096;
/** Bytes of a population's record. */
const populationBytes = 144;
/** Bytes of a receptor's record. */
const receptorBytes = 40;

type RegionName =
  | "fields"
  | "populations"
  | "receptors"
  | "thresholds"
  | "potential"
  | "recovery"
  | "currents"
  | "held"
  | "filtered"
  | "drive"
  | "ring"
  | "rowsAhead"
  | "offsets"
  | "signs"
  | "inputOffsets"
  | "spikeOffsets"
  | "spikes"
  | "units"
  | "places";
type Regions = Readonly<Record<RegionName, Region>>;

/** Lays out the memory. @throws EngineCapacityError above 4 GiB */
function layOut(model: NetworkModel): { readonly regions: Regions; readonly totalBytes: number } {
  const { size, inputs, receptors, currents, ringRows, populations, synapses } = model;
  const element = model.precision === "float32" ? 4 : 8;
  // A vector at the end of a list reaches beyond it.
  const list = (length: number) => length * element + 16;
  const laidOut = placeRegions<RegionName>({
    fields: 128,
    populations: populations.length * populationBytes,
    receptors: receptorBytes * populations.reduce((sum, each) => sum + each.receptors.length, 0),
    thresholds: 4 * populations.reduce((sum, { background }) => sum + (background?.counts.thresholds.length ?? 0), 0),
    potential: list(size),
    recovery: list(size),
    currents: list(currents * size),
    held: 4 * size + 16,
    filtered: list(size),
    drive: list(size),
    ring: 4 * ringRows * receptors * size + 16,
    rowsAhead: 4 * (ringRows + 1),
    offsets: 4 * (size + inputs + 1),
    signs: size + inputs,
    inputOffsets: 4 * (mostSteps + 1),
    spikeOffsets: 4 * (mostSteps + 1),
    spikes: 4 * spikeRoom(size),
    units: synapses.units.byteLength,
    places: synapses.places.byteLength,
  });
  if (laidOut.totalBytes > wasmMemoryLimit)
    throw new EngineCapacityError(
      `a network of ${size} neurons with ${synapses.places.length.toLocaleString("en")} synapses on the CPU engine`,
      laidOut.totalBytes,
      wasmMemoryLimit,
      "a WebAssembly memory ends there; take fewer neurons or synapses",
    );
  return laidOut;
}

/** Spikes of one call that there is room for, at least those of a step. */
const spikeRoom = (size: number): number => size + 65_536;

const neuronTypes = { leakyIntegrateAndFire: 0, adaptiveIntegrateAndFire: 1, izhikevich: 2, adaptiveExponential: 3 } as const;

/** A network that runs in WebAssembly, on one thread. */
export class WasmNetwork implements NetworkSession {
  readonly model: NetworkModel;
  readonly summary = "cpu: WebAssembly SIMD, one thread";
  readonly #regions: Regions;
  #instance: WasmInstance | undefined;
  readonly #floats: (name: RegionName, length: number) => FloatArray;
  readonly #run: (table: number, steps: number, row: number, firstStep: number) => number;
  /** The row of the ring that arrives in the next step. */
  #row = 0;
  #step = 0;
  /** Room for input spikes of a call, grown at need behind everything else. */
  #inputRoom: Region | undefined;
  readonly #plasticity: NetworkPlasticity;

  constructor(model: NetworkModel) {
    this.#plasticity = new NetworkPlasticity(model);
    const { regions, totalBytes } = layOut(model);
    const instance = wasmInstance(totalBytes - wasmReserved);
    const { precision, synapses } = model;
    this.model = model;
    this.#regions = regions;
    this.#instance = instance;
    this.#run = precision === "float32" ? instance.exports.runNetwork32 : instance.exports.runNetwork64;
    this.#floats = (name, length) => {
      const { address } = regions[name];
      const { buffer } = this.#memory;
      return precision === "float32" ? new Float32Array(buffer, address, length) : new Float64Array(buffer, address, length);
    };
    const { buffer } = instance.memory;
    new Uint32Array(buffer, regions.offsets.address, synapses.offsets.length).set(synapses.offsets);
    new Uint32Array(buffer, regions.places.address, synapses.places.length).set(synapses.places);
    new Int8Array(buffer, regions.signs.address, synapses.signs.length).set(synapses.signs);
    if (synapses.units instanceof Uint16Array) new Uint16Array(buffer, regions.units.address, synapses.units.length).set(synapses.units);
    else new Int32Array(buffer, regions.units.address, synapses.units.length).set(synapses.units);
    this.#writePopulations();
    this.#writeFields(0, 0);
    this.setDrive(model.drive);
    this.setState(initialState(model));
  }

  get #memory(): WasmInstance["memory"] {
    if (!this.#instance) throw new ReferenceError("the network is disposed");
    return this.#instance.memory;
  }

  #writePopulations(): void {
    const { populations, config, precision } = this.model;
    const view = new DataView(this.#memory.buffer);
    const round = precision === "float32" ? Math.fround : (value: number) => value;
    let receptors = this.#regions.receptors.address;
    let thresholds = this.#regions.thresholds.address;
    populations.forEach(({ first, size, neuron, receptors: own, background, stateKeep }, p) => {
      const at = this.#regions.populations.address + p * populationBytes;
      const words = [
        ...[first, size, neuronTypes[neuron.type], neuron.subtracts ? 1 : 0, neuron.refractorySteps],
        ...[stateKeep === null ? 0 : 1, own.length, receptors],
        ...(background ? [background.receptor, background.units] : [-1, 0]),
        ...[background?.counts.thresholds.length ?? 0, thresholds, neuron.relaxes ? 1 : 0, 0],
      ];
      words.forEach((word, k) => {
        view.setInt32(at + 4 * k, word, true);
      });
      const numbers = [neuron.keep, neuron.threshold, neuron.reset, neuron.recoveryKeep, neuron.recoveryStep, stateKeep ?? 0];
      const { onset, slope, perSlope, adaptationGain } = neuron.upswing ?? { onset: 0, slope: 0, perSlope: 0, adaptationGain: 0 };
      [...numbers, round(config.timeStep / 2), onset, slope, perSlope, adaptationGain].forEach((value, k) => {
        view.setFloat64(at + 4 * words.length + 8 * k, value, true);
      });
      for (const { keep, gain, conducts, rise } of own) {
        view.setFloat64(receptors, keep, true);
        view.setFloat64(receptors + 8, gain, true);
        view.setInt32(receptors + 16, conducts ? 1 : 0, true);
        view.setInt32(receptors + 20, rise ? 1 : 0, true);
        view.setFloat64(receptors + 24, rise?.gain ?? 0, true);
        view.setFloat64(receptors + 32, rise?.feed ?? 0, true);
        receptors += receptorBytes;
      }
      for (const threshold of background?.counts.thresholds ?? []) {
        view.setUint32(thresholds, threshold, true);
        thresholds += 4;
      }
    });
  }

  #writeFields(inputOffsets: number, inputChannels: number): void {
    const { size, receptors, ringRows, key, populations, synapses, fractionBits } = this.model;
    const at = (name: RegionName) => this.#regions[name].address;
    const words = [
      ...[size, receptors * size, ringRows, synapses.cellBits, key[0], key[1], populations.length, at("populations")],
      ...[at("potential"), at("recovery"), at("currents"), at("held"), at("ring"), at("filtered"), at("drive")],
      ...[at("offsets"), at("places"), at("units"), synapses.units instanceof Uint16Array ? 0 : 1, at("signs")],
      ...[inputOffsets, inputChannels, at("spikeOffsets"), at("spikes"), spikeRoom(size), at("rowsAhead")],
    ];
    const view = new DataView(this.#memory.buffer);
    words.forEach((word, k) => {
      view.setInt32(at("fields") + 4 * k, word | 0, true);
    });
    view.setFloat64(at("fields") + 4 * words.length, 2 ** -fractionBits, true);
  }

  get plan(): NetworkPlan {
    return this.model;
  }

  setDrive(drive: FloatArray): void {
    this.#floats("drive", this.model.size).set(drive);
  }

  getValues(name: "potential" | "filtered"): FloatArray {
    return this.#floats(name, this.model.size).slice();
  }

  get plastic(): readonly PlasticTable[] {
    return this.model.plastic;
  }

  getWeights(k: number): FloatArray | undefined {
    return this.#plasticity.weights(k);
  }

  getState(): NetworkRunState {
    const { size, receptors, currents, ringRows } = this.model;
    const { buffer } = this.#memory;
    const ring = new Int32Array(buffer, this.#regions.ring.address, ringRows * receptors * size);
    const pending = new Int32Array(ring.length);
    const split = this.#row * receptors * size;
    pending.set(ring.subarray(split));
    pending.set(ring.subarray(0, split), ring.length - split);
    return {
      step: this.#step,
      potential: this.#floats("potential", size).slice(),
      recovery: this.#floats("recovery", size).slice(),
      currents: this.#floats("currents", currents * size).slice(),
      held: new Int32Array(buffer, this.#regions.held.address, size).slice(),
      pending,
      filtered: this.#floats("filtered", size).slice(),
      ...this.#plasticity.getState(),
    };
  }

  setState(state: NetworkRunState): void {
    const { size, currents } = this.model;
    const { buffer } = this.#memory;
    for (const name of ["potential", "recovery", "filtered"] as const) this.#floats(name, size).set(state[name]);
    this.#floats("currents", currents * size).set(state.currents);
    new Int32Array(buffer, this.#regions.held.address, size).set(state.held);
    new Int32Array(buffer, this.#regions.ring.address, state.pending.length).set(state.pending);
    this.#row = 0;
    this.#step = state.step;
    this.#plasticity.setState(state);
  }

  advance(steps: number, inputs: StepSpikes | undefined, record: boolean): StepSpikes | undefined {
    const offsets = new Uint32Array(steps + 1);
    const parts: Uint32Array[] = [];
    let count = 0;
    for (let done = 0; done < steps; ) {
      // Weights change between the steps, on the host's side.
      const most = this.#plasticity.isEmpty ? Math.min(mostSteps, steps - done) : 1;
      this.#giveInputs(inputs, done, most);
      if (!this.#plasticity.isEmpty) this.#beginStep(inputs?.neurons.subarray(inputs.offsets[done], inputs.offsets[done + 1]) ?? []);
      const ran = this.#run(this.#regions.fields.address, most, this.#row, this.#step | 0);
      const finished = ran < 0 ? -1 - ran : ran;
      if (ran < 0) throw notFinite(this.#step + finished, this.model);
      if (!this.#plasticity.isEmpty) {
        const { buffer } = this.#memory;
        const fired = new Uint32Array(buffer, this.#regions.spikeOffsets.address, 2)[1];
        this.#plasticity.end(new Uint32Array(buffer, this.#regions.spikes.address, fired));
      }
      if (record) {
        const { buffer } = this.#memory;
        const firsts = new Uint32Array(buffer, this.#regions.spikeOffsets.address, finished + 1);
        for (let k = 1; k <= finished; k++) offsets[done + k] = count + firsts[k]!;
        parts.push(new Uint32Array(buffer, this.#regions.spikes.address, firsts[finished]!).slice());
        count += firsts[finished]!;
      }
      done += finished;
      this.#step += finished;
      this.#row = (this.#row + finished) % this.model.ringRows;
    }
    if (!record) return undefined;
    const neurons = new Uint32Array(count);
    let to = 0;
    for (const part of parts) {
      neurons.set(part, to);
      to += part.length;
    }
    return { offsets, neurons };
  }

  #beginStep(channels: ArrayLike<number>): void {
    const { ringRows, receptors, size } = this.model;
    const ring = new Int32Array(this.#memory.buffer, this.#regions.ring.address, ringRows * receptors * size);
    this.#plasticity.begin(ring, this.#row, channels);
  }

  /** Writes the input spikes of the steps of a call. */
  #giveInputs(inputs: StepSpikes | undefined, from: number, steps: number): void {
    if (!inputs) {
      this.#writeFields(0, 0);
      return;
    }
    const first = inputs.offsets[from]!;
    const channels = inputs.neurons.subarray(first, inputs.offsets[from + steps]);
    const room = this.#roomForInputs(4 * channels.length);
    const { buffer } = this.#memory;
    const offsets = new Uint32Array(buffer, this.#regions.inputOffsets.address, steps + 1);
    for (let k = 0; k <= steps; k++) offsets[k] = inputs.offsets[from + k]! - first;
    new Uint32Array(buffer, room.address, channels.length).set(channels);
    this.#writeFields(this.#regions.inputOffsets.address, room.address);
  }

  #roomForInputs(bytes: number): Region {
    if (this.#inputRoom && this.#inputRoom.bytes >= bytes) return this.#inputRoom;
    const memory = this.#memory as unknown as { readonly buffer: ArrayBuffer; grow(pages: number): number };
    const pages = Math.ceil((2 * bytes + 4) / 65_536);
    this.#inputRoom = { address: memory.grow(pages) * 65_536, bytes: pages * 65_536 };
    return this.#inputRoom;
  }

  async dispose(): Promise<void> {
    this.#instance = undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }
}

/** The CPU engine of networks. */
export const cpuNetworks: NetworkEngine = {
  name: "cpu",
  missing: async () => undefined,
  async open(plan) {
    await loadWasm();
    return new WasmNetwork(drawNetwork(plan));
  },
};
