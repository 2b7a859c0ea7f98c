// A network of populations in WebAssembly: fills memory from the model and runs steps, on one
// thread or several. The arithmetic is docs/numerics.md, rule 13; the kernel is
// assembly/network.ts.
import { DisposedByAwaitUsing } from "@spillway/core/disposal.js";
import { DisposedError } from "@spillway/core/errors.js";
import { allocate, type FloatArray } from "@spillway/numerics";
import { loadWasm, type WasmInstance, wasmInstance } from "@spillway/numerics/wasm/index.js";
import type { NetworkModel, NetworkPlan, PlasticTable } from "../../spikes/network/plan.js";
import { NetworkPlasticity } from "../../spikes/network/plasticity.js";
import {
  initialState,
  type LiquidRows,
  type NetworkRunState,
  type NetworkSession,
  NotFiniteError,
  type StepSpikes,
} from "../../spikes/network/session.js";
import { CallSpikes } from "./call-spikes.js";
import { type Region, viewOf } from "./memory.js";
import {
  bytesOf,
  type CallRows,
  inputsOf,
  mostSteps,
  type NetworkMemory,
  type PartMemory,
  planNetworkMemory,
  rowsAtOnce,
  stateOf,
  writeNetwork,
  writeRecords,
  writeSequence,
  writeTeam,
} from "./network-memory.js";
import { WorkerTeam } from "./team.js";
import { whyOneThread } from "./thread.js";

/** Values a neuron, of the network's precision. */
type ValueList = "potential" | "recovery" | "currents" | "filtered" | "drive" | "states";
type Values = FloatArray | Int32Array;

/** Where a network is loaded: its instance, and the threads that have one each. */
interface Loaded extends WasmInstance {
  readonly team?: WorkerTeam;
}

/** A state that was kept: that of each part, in its layout. */
interface Kept {
  readonly row: number;
  readonly step: number;
  readonly parts: readonly Uint8Array[];
  /** Undefined without plastic projections. */
  readonly plasticity: ReturnType<NetworkPlasticity["getState"]> | undefined;
}

/** A network that runs in WebAssembly. */
export class WasmNetwork extends DisposedByAwaitUsing implements NetworkSession {
  readonly model: NetworkModel;
  readonly summary: string;
  readonly liquid: LiquidRows | undefined;
  readonly #memory: NetworkMemory;
  #loaded: Loaded | undefined;
  readonly #shares: readonly (readonly number[])[];
  /** The row of the ring that arrives in the next step. */
  #row = 0;
  #step = 0;
  /** Of the liquid's rows that ran last. */
  #sequence = 0;
  /** Whether the records of the parts have input spikes. */
  #isGiven = false;
  /** Memory for input spikes of a call, behind everything else; it grows when needed. */
  #inputMemory: Region | undefined;
  readonly #plasticity: NetworkPlasticity;
  #kept: Kept | undefined;

  /** On the calling thread alone, unless it is given what `open` has loaded. */
  constructor(model: NetworkModel, memory = planNetworkMemory(model, 1), loaded: Loaded = wasmInstance(bytesOf(memory)), why = "") {
    super();
    const threads = loaded.team?.size ?? 1;
    this.model = model;
    this.summary = `cpu: WebAssembly SIMD, ${threads === 1 ? "one thread" : `${threads} threads`}${why}`;
    this.#plasticity = new NetworkPlasticity(model);
    this.#memory = memory;
    this.#loaded = loaded;
    this.#shares = memory.parts.map((_, p) => [memory.common.team.address, p, p + 1]);
    writeNetwork(memory, this.#buffer);
    writeRecords(memory, this.#buffer, 0, 0);
    this.setDrive(model.drive);
    this.setState(initialState(model));
    this.liquid = model.liquid && this.#rowsOfLiquid();
  }

  /**
   * Loads a network for so many threads, the caller and workers, or for one if there is a reason
   * for it. @throws EngineCapacityError
   */
  static async open(model: NetworkModel, threads: number): Promise<WasmNetwork> {
    const why = whyAlone(model, threads);
    if (threads === 1 || why !== undefined) {
      await loadWasm();
      return new WasmNetwork(model, undefined, undefined, why && `, as ${why}`);
    }
    return WasmNetwork.together(model, threads);
  }

  /** The same, however small the network is. It may have no plastic projections. */
  static async together(model: NetworkModel, threads: number): Promise<WasmNetwork> {
    const memory = planNetworkMemory(model, threads);
    const kernel = model.precision === "float32" ? "runNetwork32" : "runNetwork64";
    return new WasmNetwork(model, memory, await WorkerTeam.load(threads, memory.totalBytes, kernel));
  }

  get #here(): Loaded {
    if (!this.#loaded) throw new DisposedError("the network");
    return this.#loaded;
  }

  get #buffer(): ArrayBuffer {
    return this.#here.memory.buffer;
  }

  get plan(): NetworkPlan {
    return this.model;
  }

  setDrive(drive: FloatArray): void {
    this.#set("drive", drive);
  }

  getValues(name: "potential" | "filtered"): FloatArray {
    return this.#get(name, 1);
  }

  get plastic(): readonly PlasticTable[] {
    return this.model.plastic;
  }

  getWeights(k: number): FloatArray | undefined {
    return this.#plasticity.weights(k);
  }

  keep(): void {
    const parts = this.#memory.parts.map((part, p) => {
      const state = this.#bytesOf(part);
      const into = this.#kept?.parts[p] ?? new Uint8Array(state.length);
      into.set(state);
      return into;
    });
    const plasticity = this.#plasticity.isEmpty ? undefined : this.#plasticity.getState(this.#kept?.plasticity);
    this.#kept = { row: this.#row, step: this.#step, parts, plasticity };
  }

  restore(): void {
    const { row, step, parts, plasticity } = this.#kept!;
    for (const [p, part] of this.#memory.parts.entries()) this.#bytesOf(part).set(parts[p]!);
    this.#row = row;
    this.#step = step;
    if (plasticity) this.#plasticity.setState({ ...plasticity, step });
  }

  #bytesOf(part: PartMemory): Uint8Array {
    const { address, bytes } = stateOf(part);
    return new Uint8Array(this.#buffer, address, bytes);
  }

  getState(): NetworkRunState {
    const { size, receptors, currents, ringRows } = this.model;
    const held = new Int32Array(size);
    const pending = new Int32Array(ringRows * receptors * size);
    for (const part of this.#memory.parts) {
      this.#copy(part, this.#words(part, "held", 1), held, "out");
      const ring = this.#words(part, "ring", ringRows * receptors);
      this.#copy(part, ring, pending, "out", this.#row * receptors);
    }
    return {
      step: this.#step,
      potential: this.#get("potential", 1),
      recovery: this.#get("recovery", 1),
      currents: this.#get("currents", currents),
      held,
      pending,
      filtered: this.#get("filtered", 1),
      ...this.#plasticity.getState(),
    };
  }

  setState(state: NetworkRunState): void {
    const { receptors, ringRows } = this.model;
    for (const name of ["potential", "recovery", "currents", "filtered"] as const) this.#set(name, state[name]);
    for (const part of this.#memory.parts) {
      this.#copy(part, this.#words(part, "held", 1), state.held, "in");
      this.#copy(part, this.#words(part, "ring", ringRows * receptors), state.pending, "in");
    }
    this.#row = 0;
    this.#step = state.step;
    this.#plasticity.setState(state);
  }

  #set(name: ValueList, values: FloatArray): void {
    for (const part of this.#memory.parts) this.#copy(part, this.#floats(part, name, values.length / this.model.size), values, "in");
  }

  #get(name: ValueList, lists: number): FloatArray {
    const { size, precision } = this.model;
    const values = allocate(precision, lists * size);
    for (const part of this.#memory.parts) this.#copy(part, this.#floats(part, name, lists), values, "out");
    return values;
  }

  #floats({ size, regions }: PartMemory, name: ValueList, lists: number): FloatArray {
    return viewOf(this.#buffer, this.model.precision, regions[name], lists * size);
  }

  #words({ size, regions }: PartMemory, name: "held" | "ring", lists: number): Int32Array {
    return new Int32Array(this.#buffer, regions[name].address, lists * size);
  }

  /**
   * Copies lists of a part's neurons into those of all, or back; `first` is the part's first list.
   */
  #copy({ size, slices }: PartMemory, own: Values, all: Values, way: "in" | "out", first = 0): void {
    const lists = all.length / this.model.size;
    for (let k = 0; k < lists; k++) {
      const list = ((first + k) % lists) * size;
      for (const slice of slices) {
        const [here, there] = [list + slice.first, k * this.model.size + slice.inNetwork];
        if (way === "in") own.set(all.subarray(there, there + slice.size), here);
        else all.set(own.subarray(here, here + slice.size), there);
      }
    }
  }

  /** Rows of a liquid, in the memory of its one part. */
  #rowsOfLiquid(): LiquidRows {
    const capacity = rowsAtOnce(this.model);
    const { rowInputs } = this.#memory.common;
    return {
      capacity,
      inputs: viewOf(this.#buffer, this.model.precision, rowInputs, capacity * inputsOf(this.model)),
      states: this.#floats(this.#memory.parts[0]!, "states", capacity),
      advance: (rows, step, sequence) => {
        if (sequence !== this.#sequence) writeSequence(this.#memory, this.#buffer, sequence);
        this.#sequence = sequence;
        this.#step = step;
        this.#advance(rows, undefined, undefined, 1);
      },
    };
  }

  get rowsPerCall(): number {
    return rowsAtOnce(this.model);
  }

  advanceRows(rows: number, steps: number, inputs: StepSpikes | undefined, states: FloatArray): void {
    this.#advance(rows * steps, inputs, undefined, steps);
    for (const part of this.#memory.parts) this.#copy(part, this.#floats(part, "states", rows), states, "out");
  }

  advance(steps: number, inputs: StepSpikes | undefined, record: boolean): StepSpikes | undefined {
    const recorded = record ? new CallSpikes(steps) : undefined;
    this.#advance(steps, inputs, recorded, 0);
    return recorded?.spikes;
  }

  /** @param rowSteps steps of each row of states that is kept; 0 for none */
  #advance(steps: number, inputs: StepSpikes | undefined, recorded: CallSpikes | undefined, rowSteps: number): void {
    for (let done = 0; done < steps; ) {
      // Weights change between the steps, on the host's side.
      const most = this.#plasticity.isEmpty ? Math.min(mostSteps, steps - done) : 1;
      this.#giveInputs(inputs, done, most);
      if (!this.#plasticity.isEmpty) this.#beginStep(inputs?.neurons.subarray(inputs.offsets[done], inputs.offsets[done + 1]) ?? []);
      const ran = this.#run(most, { steps: rowSteps, before: done });
      const finished = ran < 0 ? -1 - ran : ran;
      if (ran < 0) throw new NotFiniteError(this.#step + finished, this.model);
      if (recorded || !this.#plasticity.isEmpty) {
        const lists = this.#spikesOf(finished);
        if (!this.#plasticity.isEmpty) this.#plasticity.end(lists[0]!.neurons);
        recorded?.add(done, lists);
      }
      done += finished;
      this.#step += finished;
      this.#row = (this.#row + finished) % this.model.ringRows;
    }
  }

  /** The spikes of the last steps, by the parts of the network. */
  #spikesOf(steps: number): StepSpikes[] {
    return this.#memory.parts.map(({ regions }) => {
      const offsets = new Uint32Array(this.#buffer, regions.spikeOffsets.address, steps + 1);
      return { offsets, neurons: new Uint32Array(this.#buffer, regions.spikes.address, offsets[steps]) };
    });
  }

  /** Runs the kernel in every thread. @throws WorkerEndedError */
  #run(steps: number, rows: CallRows): number {
    const { exports, team } = this.#here;
    const here = team?.ready ? team : undefined;
    const { common, parts } = this.#memory;
    const run = this.model.precision === "float32" ? exports.runNetwork32 : exports.runNetwork64;
    writeTeam(this.#memory, this.#buffer, here?.size ?? 1, this.#row, this.#step, rows);
    if (!here) return run(steps, common.team.address, 0, parts.length);
    try {
      here.advance(steps, 0, 0, this.#shares);
      const ran = run(steps, common.team.address, 0, 1);
      here.join();
      return ran;
    } catch (error) {
      here.fail();
      new Uint8Array(this.#buffer, common.barrier.address, common.barrier.bytes).fill(0);
      throw error;
    }
  }

  #beginStep(channels: ArrayLike<number>): void {
    const { ringRows, receptors } = this.model;
    this.#plasticity.begin(this.#words(this.#memory.parts[0]!, "ring", ringRows * receptors), this.#row, channels);
  }

  /** Writes the input spikes of the steps of a call. */
  #giveInputs(inputs: StepSpikes | undefined, from: number, steps: number): void {
    if (!inputs && !this.#isGiven) return;
    this.#isGiven = inputs !== undefined;
    if (!inputs) {
      writeRecords(this.#memory, this.#buffer, 0, 0);
      return;
    }
    const first = inputs.offsets[from]!;
    const channels = inputs.neurons.subarray(first, inputs.offsets[from + steps]);
    const given = this.#memoryForInputs(4 * channels.length);
    const { address } = this.#memory.common.inputOffsets;
    const offsets = new Uint32Array(this.#buffer, address, steps + 1);
    for (let k = 0; k <= steps; k++) offsets[k] = inputs.offsets[from + k]! - first;
    new Uint32Array(this.#buffer, given.address, channels.length).set(channels);
    writeRecords(this.#memory, this.#buffer, address, given.address);
  }

  #memoryForInputs(bytes: number): Region {
    if (this.#inputMemory && this.#inputMemory.bytes >= bytes) return this.#inputMemory;
    const memory = this.#here.memory as WebAssembly.Memory;
    const pages = Math.ceil((2 * bytes + 4) / 65_536);
    this.#inputMemory = { address: memory.grow(pages) * 65_536, bytes: pages * 65_536 };
    return this.#inputMemory;
  }

  async dispose(): Promise<void> {
    const team = this.#loaded?.team;
    this.#loaded = undefined;
    await team?.dispose();
  }
}

/**
 * From so many neurons on two threads were a quarter faster or more, on idle cores
 * (bench/results/network-threads-2026-11-27.md).
 */
const leastNeurons = 500;

/** Why a network runs on one thread although more are asked for; undefined if it does not. */
function whyAlone({ plastic, size }: NetworkModel, threads: number): string | undefined {
  if (threads === 1) return undefined;
  if (plastic.length > 0) return "synapses that change are renewed on one";
  return size < leastNeurons ? `there are fewer than ${leastNeurons} neurons` : whyOneThread();
}
