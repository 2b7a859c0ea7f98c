// One spiking network in a WebAssembly instance: fills its memory from the model and runs chunks of
// steps.
import type { FloatArray } from "@spillway/numerics";
import type { WasmExports, WasmInstance } from "@spillway/numerics/wasm/index.js";
import { packColumns } from "@spillway/numerics/wasm/layout.js";
import type { NetworkState, NeuronConstants, SpikingModel, SynapseTable } from "../../reservoir/spiking-model.js";
import { checkAmplitudes } from "../../spikes/liquid/amplitudes.js";
import type { Stepper } from "../chunked-session.js";
import type { Region } from "./memory.js";
import { neuronLists, type SpikingMemoryMap } from "./spiking-memory.js";

const neuronTypes = { leakyIntegrateAndFire: 0, adaptiveIntegrateAndFire: 1, izhikevich: 2 } as const;

/** The fields of assembly/spiking-neurons.ts that are addresses, in its order. */
const addressFields = [
  "inputs",
  "states",
  "state",
  "potential",
  "recovery",
  "excitatory",
  "inhibitory",
  "held",
  "ring",
  "nextPotential",
  "nextRecovery",
  "nextExcitatory",
  "nextInhibitory",
  "drive",
  "bias",
  "inputWeights",
  "keep",
  "driveGain",
  "excitatoryGain",
  "inhibitoryGain",
  "threshold",
  "reset",
  "refractorySteps",
  "recoveryKeep",
  "recoveryStep",
  "spikes",
  "segments",
  "segmentEnds",
  "segmentDelays",
  "synapses",
  "inputSegments",
  "inputSegmentEnds",
  "inputSegmentDelays",
  "inputSynapses",
] as const;

type ListName = (typeof neuronLists)[number];
type Lists = Readonly<Record<ListName, FloatArray>>;

/** Lists of the state that a network carries, N values of its precision each. */
const carried = ["potential", "excitatory", "inhibitory"] as const;

export class WasmSpikingStepper implements Stepper {
  readonly capacity: number;
  readonly inputs: FloatArray;
  readonly outputs: FloatArray;
  readonly states: FloatArray;
  readonly #model: SpikingModel;
  readonly #map: SpikingMemoryMap;
  readonly #lists: Lists;
  readonly #held: Int32Array;
  readonly #ring: Int32Array;
  readonly #run: WasmExports["runSpiking32"];
  /** The row of the ring that reaches the neurons in the next step. */
  #row = 0;

  constructor(model: SpikingModel, map: SpikingMemoryMap, { buffer }: WasmInstance["memory"], exports: WasmExports) {
    const floats = (region: Region, length: number): FloatArray =>
      model.precision === "float32" ? new Float32Array(buffer, region.address, length) : new Float64Array(buffer, region.address, length);
    const { regions, paddedSize } = map;
    this.#model = model;
    this.#map = map;
    this.capacity = map.capacity;
    this.inputs = floats(regions.inputs, map.capacity * model.inputSize);
    this.outputs = floats(regions.inputs, 0);
    this.states = floats(regions.states, map.capacity * model.size);
    this.#lists = Object.fromEntries(neuronLists.map((name) => [name, floats(regions[name], paddedSize)])) as Lists;
    this.#held = new Int32Array(buffer, regions.held.address, paddedSize);
    this.#ring = new Int32Array(buffer, regions.ring.address, model.ringRows * 2 * paddedSize);
    this.#run = model.precision === "float32" ? exports.runSpiking32 : exports.runSpiking64;
    this.#lists.bias.set(model.bias);
    for (const [name, values] of Object.entries(constantsOf(model.neuron))) this.#lists[name as ListName].set(values);
    if (model.neuron.type !== "izhikevich")
      new Int32Array(buffer, regions.refractorySteps.address, paddedSize).set(model.neuron.refractorySteps);
    if (model.inputWeights) packColumns(model.inputWeights, paddedSize, floats(regions.inputWeights, model.inputSize * paddedSize));
    const names = { segments: regions.segments, ends: regions.segmentEnds, delays: regions.segmentDelays, synapses: regions.synapses };
    packSynapses(model.synapses, paddedSize, buffer, names);
    if (model.inputSynapses) {
      packSynapses(model.inputSynapses, paddedSize, buffer, {
        segments: regions.inputSegments,
        ends: regions.inputSegmentEnds,
        delays: regions.inputSegmentDelays,
        synapses: regions.inputSynapses,
      });
    }
    writeFields(model, map, buffer);
  }

  getValues(): FloatArray {
    return this.#lists.state.subarray(0, this.#model.size);
  }

  setValues(values: FloatArray): void {
    this.#lists.state.set(values);
  }

  getNetwork(): NetworkState {
    const { size, ringRows, neuron } = this.#model;
    const { paddedSize } = this.#map;
    const list = (name: ListName) => this.#lists[name].slice(0, size);
    const pending = new Int32Array(ringRows * 2 * size);
    for (let half = 0; half < 2 * ringRows; half++) {
      const from = ((this.#row * 2 + half) % (2 * ringRows)) * paddedSize;
      pending.set(this.#ring.subarray(from, from + size), half * size);
    }
    return {
      potential: list("potential"),
      recovery: neuron.type === "leakyIntegrateAndFire" ? list("recovery").slice(0, 0) : list("recovery"),
      excitatory: list("excitatory"),
      inhibitory: list("inhibitory"),
      held: this.#held.slice(0, size),
      pending,
    };
  }

  setNetwork(state: NetworkState): void {
    const { size, ringRows } = this.#model;
    const { paddedSize } = this.#map;
    for (const name of carried) this.#lists[name].set(state[name]);
    this.#lists.recovery.set(state.recovery);
    this.#held.set(state.held);
    for (let half = 0; half < 2 * ringRows; half++)
      this.#ring.set(state.pending.subarray(half * size, (half + 1) * size), half * paddedSize);
    this.#row = 0;
  }

  check(inputs: FloatArray, step: number): void {
    checkAmplitudes(this.#model, inputs, step);
  }

  advance(steps: number, step: number, sequence: number): number {
    const { ringRows } = this.#model;
    const done = this.#run(this.#map.regions.fields.address, steps, this.#row, step | 0, sequence | 0);
    this.#row = (this.#row + done) % ringRows;
    return done;
  }

  async dispose(): Promise<void> {}
}

/** Constants by the names of the kernel's lists. */
function constantsOf(neuron: NeuronConstants): Partial<Record<ListName, FloatArray>> {
  if (neuron.type === "izhikevich") {
    const { recoveryRate, sensitivity, reset, recoveryStep } = neuron;
    return { keep: recoveryRate, recoveryKeep: sensitivity, reset, recoveryStep };
  }
  const { keep, driveGain, excitatoryGain, inhibitoryGain, threshold, reset, adaptationKeep, adaptationStep } = neuron;
  const adaptation = adaptationKeep && adaptationStep ? { recoveryKeep: adaptationKeep, recoveryStep: adaptationStep } : {};
  return { keep, driveGain, excitatoryGain, inhibitoryGain, threshold, reset, ...adaptation };
}

interface SynapseRegions {
  readonly segments: Region;
  readonly ends: Region;
  readonly delays: Region;
  readonly synapses: Region;
}

/** Synapses as 64-bit words, and the runs of one source and delay as segments. */
function packSynapses(
  { offsets, targets, weights, delays }: SynapseTable,
  paddedSize: number,
  buffer: ArrayBuffer,
  regions: SynapseRegions,
): void {
  const segments = new Uint32Array(buffer, regions.segments.address, offsets.length);
  const ends = new Uint32Array(buffer, regions.ends.address, regions.ends.bytes / 4);
  const segmentDelays = new Uint32Array(buffer, regions.delays.address, ends.length);
  const words = new Int32Array(buffer, regions.synapses.address, 2 * targets.length);
  let segment = -1;
  for (let source = 0; source + 1 < offsets.length; source++) {
    segments[source] = segment + 1;
    for (let s = offsets[source]!; s < offsets[source + 1]!; s++) {
      if (s === offsets[source] || delays[s] !== delays[s - 1]) segmentDelays[++segment] = delays[s]!;
      ends[segment] = s + 1;
      words[2 * s] = 4 * (targets[s]! + (weights[s]! < 0 ? paddedSize : 0));
      words[2 * s + 1] = weights[s]!;
    }
  }
  segments[offsets.length - 1] = segment + 1;
}

/** The table that the kernel reads: see `Fields` in assembly/spiking-neurons.ts. */
function writeFields(model: SpikingModel, map: SpikingMemoryMap, buffer: ArrayBuffer): void {
  const { regions } = map;
  const view = new DataView(buffer, regions.fields.address, regions.fields.bytes);
  const { neuron } = model;
  const numbers = [
    model.size,
    map.paddedSize,
    model.inputSize,
    neuronTypes[neuron.type],
    neuron.type !== "izhikevich" && neuron.subtracts ? 1 : 0,
    model.ringRows,
    model.noiseKey[0],
    model.noiseKey[1],
    model.backgroundChance,
    model.backgroundWeight,
    ...addressFields.map((name) => {
      const isAbsent =
        name.startsWith("input") && name !== "inputs" && (name === "inputWeights" ? !model.inputWeights : !model.inputSynapses);
      return isAbsent ? 0 : regions[name].address;
    }),
  ];
  const scalars = [
    2 ** -model.fractionBits,
    model.excitatoryKeep,
    model.inhibitoryKeep,
    model.stateKeep,
    model.noiseScale,
    neuron.type === "izhikevich" ? neuron.halfStep : 0,
  ];
  let at = 0;
  for (const value of numbers) {
    view.setInt32(at, value | 0, true);
    at += 4;
  }
  for (const value of scalars) {
    view.setFloat32(at, value, true);
    at += 4;
  }
  at = Math.ceil(at / 8) * 8;
  for (const value of scalars) {
    view.setFloat64(at, value, true);
    at += 8;
  }
}
