// The layout of a network in the memory of its WebAssembly instances, and the records
// that assembly/network.ts reads: lists that all parts read, and lists of each part.
import type { Precision } from "@spillway/numerics";
import { wasmMemoryLimit, wasmReserved } from "@spillway/numerics/wasm/index.js";
import { packColumns } from "@spillway/numerics/wasm/layout.js";
import { EngineCapacityError } from "../../reservoir/engine.js";
import type { NetworkModel, NetworkPlan } from "../../spikes/network/plan.js";
import { upswingNumbers } from "../../spikes/network/planned-neurons.js";
import { expectedSynapses } from "../../spikes/network/wiring.js";
import { layOutRegions, type Region, stepsPerChunk, viewOf } from "./memory.js";
import { CutTable, cutNeurons, type NetworkPart, periodOf } from "./network-parts.js";

/**
 * Rows of states that are kept at once: of a liquid those of a chunk of steps, else 64, or what 4
 * million values hold, and at least one.
 */
export const rowsAtOnce = ({ size, populations, precision, liquid }: NetworkPlan & Pick<NetworkModel, "liquid">): number => {
  // A chunk begins with a copy of the state, so it is longer than those of other reservoirs.
  if (liquid) return stepsPerChunk(size * (precision === "float32" ? 2 : 4));
  return populations.some(({ stateKeep }) => stateKeep !== null) ? Math.max(1, Math.min(64, Math.floor(2 ** 22 / size))) : 0;
};

/** Numbers of a row of inputs of a liquid. */
export const inputsOf = ({ inputs, liquid }: NetworkModel): number => (liquid ? (liquid.inputWeights?.cols ?? inputs) : 0);

/** Neurons in whole groups, whose currents are drawn together. */
const groupsOf = (size: number): number => 16 * Math.ceil(size / 16);

/** Steps of one call of the kernel at most. */
export const mostSteps = 4096;
/** Bytes of the record of a part, of one of its populations, and of a receptor. */
const partBytes = 120;
const populationBytes = 168;
const receptorBytes = 56;
/** Bytes of the record of a liquid. */
const liquidBytes = 56;

type CommonName =
  | "team"
  | "barrier"
  | "records"
  | "receptors"
  | "thresholds"
  | "inputOffsets"
  | "liquid"
  | "rowInputs"
  | "inputWeights"
  | "driveGains";
type PartName =
  | "populations"
  | "potential"
  | "recovery"
  | "currents"
  | "held"
  | "filtered"
  | "states"
  | "drive"
  | "ring"
  | "rowsAhead"
  | "offsets"
  | "signs"
  | "spikeOffsets"
  | "spikes"
  | "units"
  | "packed";

/** A part with its memory, which only its thread writes while steps run. */
export interface PartMemory extends NetworkPart {
  readonly regions: Readonly<Record<PartName, Region>>;
  /** Spikes of a call that fit. */
  readonly spikeCapacity: number;
}

/** The memory of a network. */
export interface NetworkMemory {
  readonly model: NetworkModel;
  readonly common: Readonly<Record<CommonName, Region>>;
  readonly parts: readonly PartMemory[];
  /** Steps between two exchanges of spikes. */
  readonly period: number;
  readonly table: CutTable;
  readonly totalBytes: number;
}

/**
 * Checks before a synapse is drawn that the synapses, the ring and the neurons of a network fit a
 * WebAssembly memory, by the number of synapses that is expected. @throws EngineCapacityError
 */
export function checkNetworkFits(plan: NetworkPlan): void {
  const { size, inputs, receptors, currents, ringRows, oneSign, precision, projections } = plan;
  const constant = projections.filter(({ plasticity }) => plasticity === null);
  const synapses = constant.reduce((sum, each) => sum + expectedSynapses(each), 0);
  const element = precision === "float32" ? 4 : 8;
  const ofNeurons = size * ((4 + currents) * element + 4 + 4 * ringRows * receptors) + 5 * (size + inputs);
  checkBytes(plan, synapses, (oneSign ? 6 : 8) * synapses + ofNeurons);
}

function checkBytes({ size }: NetworkPlan, synapses: number, bytes: number): void {
  if (bytes <= wasmMemoryLimit) return;
  throw new EngineCapacityError(
    `a network of ${size} neurons with ${Math.round(synapses).toLocaleString("en")} synapses on the CPU engine`,
    bytes,
    wasmMemoryLimit,
    "a WebAssembly memory ends there; take fewer neurons or synapses",
  );
}

/** Lays out the memory of a network in so many parts. @throws EngineCapacityError above 4 GiB */
export function planNetworkMemory(model: NetworkModel, count: number): NetworkMemory {
  const { receptors, currents, ringRows, populations, synapses, liquid } = model;
  const cut = cutNeurons(model, count);
  const table = new CutTable(model, cut);
  // Alone, a step's spikes are delivered while they are at hand.
  const period = count === 1 ? 1 : periodOf(model);
  const element = model.precision === "float32" ? 4 : 8;
  // A vector at the end of a list reaches beyond it, and a liquid's groups of neurons.
  const list = (length: number) => length * element + (liquid ? 128 : 16);
  const inputs = inputsOf(model);
  const common = layOutRegions<CommonName>({
    team: 44,
    barrier: 256,
    records: count * partBytes,
    receptors: receptorBytes * populations.reduce((sum, each) => sum + each.receptors.length, 0),
    thresholds: 4 * populations.reduce((sum, { background }) => sum + (background?.counts.thresholds.length ?? 0), 0),
    inputOffsets: 4 * (mostSteps + 1),
    liquid: liquid ? liquidBytes : 0,
    rowInputs: rowsAtOnce(model) * inputs * element,
    inputWeights: liquid?.inputWeights ? inputs * groupsOf(model.size) * element : 0,
    driveGains: liquid ? list(model.size) : 0,
  });
  let { totalBytes } = common;
  const parts = cut.map((part, p): PartMemory => {
    const { size } = part;
    // At least those of a period.
    const spikeCapacity = period * size + 65_536;
    const laidOut = layOutRegions<PartName>(
      {
        populations: part.slices.length * populationBytes,
        // From here to the ring is the state.
        potential: list(size),
        recovery: list(size),
        currents: list(currents * size),
        held: 4 * size + 16,
        filtered: list(size),
        ring: 4 * ringRows * receptors * size + (liquid ? 64 : 16),
        states: list(rowsAtOnce(model) * size),
        drive: list(size),
        rowsAhead: 4 * (ringRows + 1),
        offsets: table.offsets[p]!.byteLength,
        signs: synapses.signs.byteLength,
        spikeOffsets: 4 * (mostSteps + 1),
        spikes: 4 * spikeCapacity,
        units: synapses.units.BYTES_PER_ELEMENT * table.count(p),
        packed: synapses.packed.BYTES_PER_ELEMENT * table.count(p),
      },
      totalBytes,
    );
    totalBytes = laidOut.totalBytes;
    return { ...part, regions: laidOut.regions, spikeCapacity };
  });
  checkBytes(model, synapses.packed.length, totalBytes);
  return { model, common: common.regions, parts, period, table, totalBytes };
}

/** The memory of a part that has its state. */
export const stateOf = ({ regions: { potential, ring } }: PartMemory): Region => ({
  address: potential.address,
  bytes: ring.address + ring.bytes - potential.address,
});

/** Bytes of a network's memory beside what belongs to the module. */
export const bytesOf = ({ totalBytes }: NetworkMemory): number => totalBytes - wasmReserved;

const neuronTypes = { leakyIntegrateAndFire: 0, adaptiveIntegrateAndFire: 1, izhikevich: 2, adaptiveExponential: 3 } as const;

/** Writes what stays as it is: synapses, constants of populations and receptors. */
export function writeNetwork(memory: NetworkMemory, buffer: ArrayBuffer): void {
  const { model, parts, table } = memory;
  const { synapses } = model;
  const Units = synapses.units.constructor as Uint16ArrayConstructor | Int32ArrayConstructor;
  parts.forEach(({ regions }, p) => {
    new Uint32Array(buffer, regions.offsets.address, table.offsets[p]!.length).set(table.offsets[p]!);
    new Int8Array(buffer, regions.signs.address, synapses.signs.length).set(synapses.signs);
  });
  table.write(
    parts.map(({ regions }, p) => new Uint32Array(buffer, regions.packed.address, table.count(p))),
    parts.map(({ regions }, p) => new Units(buffer, regions.units.address, table.count(p))),
  );
  writePopulations(memory, new DataView(buffer), writeConstants(memory, new DataView(buffer)));
  if (model.liquid) writeLiquid(memory, buffer);
}

/** Writes W_in and what the drive of each neuron is times. */
function writeLiquid({ model, common }: NetworkMemory, buffer: ArrayBuffer): void {
  const { size, precision, populations, liquid } = model;
  const floats = (region: Region, length: number) => viewOf(buffer, precision, region, length);
  const gains = floats(common.driveGains, size);
  for (const { first, size: count, neuron } of populations) gains.fill(neuron.driveGain, first, first + count);
  const weights = liquid!.inputWeights;
  if (weights) packColumns(weights, groupsOf(size), floats(common.inputWeights, weights.cols * groupsOf(size)));
  writeSequence({ model, common }, buffer, 0);
}

/** Writes the record of a liquid, for rows whose draws are those of a sequence. */
export function writeSequence({ model, common }: Pick<NetworkMemory, "model" | "common">, buffer: ArrayBuffer, sequence: number): void {
  const { inputWeights, key, backgroundChance, backgroundUnits, current, noiseScale } = model.liquid!;
  const view = new DataView(buffer);
  const { address } = common.liquid;
  const words = [
    ...[common.rowInputs.address, inputsOf(model), inputWeights ? common.inputWeights.address : 0, common.driveGains.address],
    ...[key[0], key[1], sequence, backgroundChance, backgroundUnits, 0],
  ];
  writeWords(view, address, words);
  view.setFloat64(address + 40, current, true);
  view.setFloat64(address + 48, noiseScale, true);
}

interface ConstantAddresses {
  readonly receptors: number;
  readonly thresholds: number;
}

/** Writes receptors and counts of every population; their addresses, by its name. */
function writeConstants({ model, common }: NetworkMemory, view: DataView): ReadonlyMap<string, ConstantAddresses> {
  const addresses = new Map<string, ConstantAddresses>();
  let receptors = common.receptors.address;
  let thresholds = common.thresholds.address;
  for (const { name, receptors: own, background } of model.populations) {
    addresses.set(name, { receptors, thresholds });
    for (const { keep, gain, conducts, rise } of own) {
      writeNumbers(view, receptors, [keep, gain, conducts], model.precision);
      view.setInt32(receptors + 24, rise ? 1 : 0, true);
      writeNumbers(view, receptors + 32, [rise?.gain ?? 0, rise?.feed ?? 0, rise?.conducts ?? 0], model.precision);
      receptors += receptorBytes;
    }
    for (const threshold of background?.counts.thresholds ?? []) {
      view.setUint32(thresholds, threshold, true);
      thresholds += 4;
    }
  }
  return addresses;
}

function writePopulations({ model, parts }: NetworkMemory, view: DataView, addresses: ReadonlyMap<string, ConstantAddresses>): void {
  for (const { slices, regions } of parts)
    slices.forEach(({ population, first, inNetwork, size }, k) => {
      const { name, neuron, receptors, background, stateKeep } = population;
      const at = regions.populations.address + k * populationBytes;
      const of = addresses.get(name)!;
      const words = [
        ...[first, size, neuronTypes[neuron.type], neuron.subtracts ? 1 : 0, neuron.refractorySteps],
        ...[stateKeep === null ? 0 : 1, receptors.length, of.receptors],
        ...(background ? [background.receptor, background.units] : [-1, 0]),
        ...[background?.counts.thresholds.length ?? 0, of.thresholds, neuron.relaxes ? 1 : 0, inNetwork - first],
      ];
      writeWords(view, at, words);
      const numbers = [neuron.keep, neuron.threshold, neuron.reset, neuron.recoveryKeep, neuron.recoveryStep, stateKeep ?? 0];
      const more = [model.config.timeStep / 2, ...upswingNumbers(neuron)];
      writeNumbers(view, at + 4 * words.length, [...numbers, ...more], model.precision);
    });
}

/** Writes the records of the parts, with the input spikes of a call; addresses 0 for none. */
export function writeRecords({ model, common, parts }: NetworkMemory, buffer: ArrayBuffer, offsets: number, channels: number): void {
  const { receptors, ringRows, key, synapses, fractionBits, precision } = model;
  const view = new DataView(buffer);
  parts.forEach(({ size, slices, regions, spikeCapacity }, p) => {
    const at = (name: PartName) => regions[name].address;
    const words = [
      ...[size, receptors * size, ringRows, synapses.cellBits, key[0], key[1], slices.length, at("populations")],
      ...[at("potential"), at("recovery"), at("currents"), at("held"), at("ring"), at("filtered"), at("drive")],
      ...[at("offsets"), at("packed"), at("units"), synapses.units instanceof Uint16Array ? 0 : 1, at("signs")],
      ...[offsets, channels, at("spikeOffsets"), at("spikes"), spikeCapacity, at("rowsAhead"), at("states")],
      0, // A number of 64 bits follows.
    ];
    const record = common.records.address + p * partBytes;
    writeWords(view, record, words);
    writeNumbers(view, record + 4 * words.length, [2 ** -fractionBits], precision);
  });
}

/** Rows of states that a call keeps, and where it is in them. */
export interface CallRows {
  /** Steps of a row; 0 if none are kept. */
  readonly steps: number;
  /** Steps of the rows that were run before the call. */
  readonly before: number;
}

/** Writes what the threads of a call have in common. */
export function writeTeam(
  memory: NetworkMemory,
  buffer: ArrayBuffer,
  threads: number,
  row: number,
  firstStep: number,
  rows: CallRows,
): void {
  const { model, common, parts, period } = memory;
  const words = [
    ...[model.size, threads, common.barrier.address, parts.length, common.records.address, period, row, firstStep],
    ...[rows.steps, rows.before, model.liquid ? common.liquid.address : 0],
  ];
  writeWords({ buffer }, common.team.address, words);
}

/** Writes numbers of the precision from an address on, 64 bits apart. */
function writeNumbers(view: DataView, at: number, numbers: readonly number[], precision: Precision): void {
  numbers.forEach((value, k) => {
    if (precision === "float32") view.setFloat32(at + 8 * k, value, true);
    else view.setFloat64(at + 8 * k, value, true);
  });
}

function writeWords({ buffer }: { readonly buffer: ArrayBufferLike }, at: number, words: readonly number[]): void {
  // Numbers of unsigned 32 bits become those of the same bits.
  new Int32Array(buffer, at, words.length).set(words.map((word) => word | 0));
}
