// Draws a network from its plan on the host: the table of synapses, by rule 13 of
// docs/numerics.md. A device draws the same table.
import { ArgumentError } from "../../core/errors.js";
import { machineMemory } from "../../core/machine-memory.js";
import { allocate, philox4x32 } from "../../numerics/index.js";
import { EngineCapacityError } from "../../reservoir/engine/errors.js";
import type { Values } from "./config.js";
import {
  type NetworkModel,
  type NetworkPlan,
  type NetworkTable,
  networkStreams,
  type PlannedPopulation,
  type PlannedProjection,
  type PlasticTable,
} from "./plan.js";
import { expectedSynapses } from "./planning.js";
import { sample, samplerOf, stepsOf } from "./sampler.js";
import { type Draws, wiringOf } from "./wiring.js";

/**
 * Draws the network of a plan. @throws EngineCapacityError before a synapse is drawn if they do not
 * fit the machine; ArgumentError if sums of input do not fit 32 bits
 */
export function drawNetwork(plan: NetworkPlan): NetworkModel {
  const bytes = plan.projections.reduce((sum, each) => sum + bytesOf(each, plan) * expectedSynapses(each), 0);
  const limit = machineMemory();
  if (bytes > limit || plan.expectedSynapses >= 2 ** 32) {
    const most = Math.min(limit, 2 ** 32 * 6);
    throw new EngineCapacityError(`the ${Math.round(plan.expectedSynapses)} synapses of ${plan.size} neurons`, bytes, most, "take fewer");
  }
  const { synapses, plastic } = drawSynapses(plan);
  checkSums(plan, synapses, plastic);
  return { ...plan, kind: "network", synapses, plastic, ...initialValues(plan) };
}

/** Bytes of a synapse: place and units, and of stdp weight, number and source by target. */
function bytesOf({ plasticity }: PlannedProjection, { oneSign, precision }: NetworkPlan): number {
  if (plasticity?.kind === "stdp") return precision === "float32" ? 20 : 24;
  return plasticity || !oneSign ? 8 : 6;
}

/** The synapses of a plan: those that stay as they are, and those of plastic projections. */
export function drawSynapses(plan: NetworkPlan): Pick<NetworkModel, "synapses" | "plastic"> {
  const { size, inputs, cellBits, fractionBits, oneSign, ringRows } = plan;
  const sources = size + inputs;
  const scale = 2 ** fractionBits;
  const wirings = plan.projections.map((projection) => wiringOf(plan, projection));
  const bySource = Array.from({ length: sources }, (): number[] => []);
  const offsets = new Uint32Array(sources + 1);
  const signs = new Int8Array(sources).fill(1);
  const changing = wirings.map(({ projection }) => (projection.plasticity ? new PlasticBuilder(projection, cellBits) : undefined));
  wirings.forEach((wiring, w) => {
    const { first, size } = wiring.projection.source;
    for (let j = first; j < first + size; j++) {
      bySource[j]!.push(w);
      if (changing[w]) continue;
      offsets[j + 1] = offsets[j + 1]! + wiring.degree(j);
      if (oneSign) signs[j] = wiring.projection.sign;
    }
  });
  let most = 0;
  for (let j = 0; j < sources; j++) {
    most = Math.max(most, offsets[j + 1]!);
    offsets[j + 1] = offsets[j + 1]! + offsets[j]!;
  }
  const places = new Uint32Array(offsets[sources]!);
  const units = oneSign ? new Uint16Array(places.length) : new Int32Array(places.length);
  const place = new Uint32Array(most);
  const unit = new Int32Array(most);
  const draws: Draws = { block: new Uint32Array(4), target: 0, own: undefined };
  const at = new Uint32Array(ringRows + 1);
  for (let j = 0; j < sources; j++) {
    at.fill(0);
    let numbered = 0;
    let count = 0;
    for (const w of bySource[j]!) {
      const wiring = wirings[w]!;
      const { receptor, weight, delay, sign } = wiring.projection;
      const degree = wiring.degree(j);
      const first = receptor * size;
      const builder = changing[w];
      const signed = builder ? builder.signOf(sign) : oneSign ? 1 : sign;
      for (let k = 0; k < degree; k++) {
        wiring.draw(draws, j, numbered + k, k);
        const { own } = draws;
        const steps = own ? own[3]! : stepsOf(delay, draws.block[2]!);
        const cell = ((steps << cellBits) | (first + draws.target)) >>> 0;
        const size = own ? Math.floor(own[2]! * scale + 0.5) : signed * Math.floor(sample(weight, draws.block[1]!) * scale + 0.5);
        if (builder) {
          builder.add(j, cell, size);
          continue;
        }
        place[count] = cell;
        unit[count++] = size;
        at[steps + 1] = at[steps + 1]! + 1;
      }
      if (wiring.isNumbered) numbered += degree;
    }
    // In order of delay: delivery goes along the rows of the ring.
    for (let d = 1; d <= ringRows; d++) at[d] = at[d]! + at[d - 1]!;
    for (let k = 0; k < count; k++) {
      const steps = place[k]! >>> cellBits;
      const to = offsets[j]! + at[steps]!;
      at[steps] = at[steps]! + 1;
      places[to] = place[k]!;
      units[to] = unit[k]!;
    }
  }
  return { synapses: { offsets, places, cellBits, units, signs }, plastic: changing.flatMap((each) => each?.table(size) ?? []) };
}

/** The synapses of one plastic projection as they are drawn, source after source. */
class PlasticBuilder {
  readonly #projection: PlannedProjection;
  readonly #cellBits: number;
  #count = 0;
  #sources: Uint32Array;
  #places: Uint32Array;
  #units: Int32Array;

  constructor(projection: PlannedProjection, cellBits: number) {
    const room = Math.ceil(1.1 * expectedSynapses(projection)) + 1000;
    this.#projection = projection;
    this.#cellBits = cellBits;
    this.#sources = new Uint32Array(room);
    this.#places = new Uint32Array(room);
    this.#units = new Int32Array(room);
  }

  /** What a drawn size is times: sizes of stdp stand without their sign. */
  signOf(sign: number): number {
    return this.#projection.plasticity!.kind === "stdp" ? 1 : sign;
  }

  add(source: number, place: number, units: number): void {
    const at = this.#count++;
    if (at === this.#places.length) this.#grow();
    this.#sources[at] = source - this.#projection.source.first;
    this.#places[at] = place;
    this.#units[at] = this.#projection.plasticity!.kind === "stdp" ? Math.abs(units) : units;
  }

  #grow(): void {
    const room = 2 * this.#count;
    const [sources, places, units] = [new Uint32Array(room), new Uint32Array(room), new Int32Array(room)];
    sources.set(this.#sources);
    places.set(this.#places);
    units.set(this.#units);
    [this.#sources, this.#places, this.#units] = [sources, places, units];
  }

  /** @param neurons N of the network */
  table(neurons: number): PlasticTable {
    const { source, target, receptor, plasticity } = this.#projection;
    const count = this.#count;
    const delayOf = (s: number) => this.#places[s]! >>> this.#cellBits;
    const offsets = firsts(this.#sources.subarray(0, count), source.size);
    const order = Uint32Array.from({ length: count }, (_, s) => s);
    // Sources rise already; of one source, synapses of equal delay stay in the order they were drawn in.
    for (let j = 0; j < source.size; j++) order.subarray(offsets[j], offsets[j + 1]).sort((a, b) => delayOf(a) - delayOf(b) || a - b);
    const places = Uint32Array.from(order, (s) => this.#places[s]!);
    const isTiming = plasticity!.kind === "stdp";
    const first = receptor * neurons + target.first;
    const mask = 2 ** this.#cellBits - 1;
    const targets = isTiming ? Uint32Array.from(places, (place) => (place & mask) - first) : new Uint32Array(0);
    const incomingOffsets = isTiming ? firsts(targets, target.size) : new Uint32Array(0);
    const next = incomingOffsets.slice();
    const incoming = new Uint32Array(targets.length);
    targets.forEach((i, s) => {
      incoming[next[i]!] = s;
      next[i] = next[i]! + 1;
    });
    if (plasticity!.kind === "stdp" && plasticity!.isDendritic) {
      const later = (a: number, b: number) => (places[a]! >>> this.#cellBits) - (places[b]! >>> this.#cellBits) || a - b;
      for (let i = 0; i < target.size; i++) incoming.subarray(incomingOffsets[i], incomingOffsets[i + 1]).sort(later);
    }
    const sources = incoming.map((s) => this.#sources[order[s]!]!);
    const units = Int32Array.from(order, (s) => this.#units[s]!);
    return { projection: this.#projection, offsets, places, units, incomingOffsets, incoming, sources };
  }
}

/** Where the entries of each of n owners begin, once they are sorted, and where the last ones end. */
function firsts(owners: ArrayLike<number>, n: number): Uint32Array {
  const offsets = new Uint32Array(n + 1);
  for (let s = 0; s < owners.length; s++) offsets[owners[s]! + 1] = offsets[owners[s]! + 1]! + 1;
  for (let k = 0; k < n; k++) offsets[k + 1] = offsets[k + 1]! + offsets[k]!;
  return offsets;
}

/** @throws ArgumentError if the input that can reach a neuron at once does not fit 32 bits */
export function checkSums(plan: NetworkPlan, { places, units, cellBits }: NetworkTable, plastic: readonly PlasticTable[]): void {
  const mask = 2 ** cellBits - 1;
  const sums = new Float64Array(plan.receptors * plan.size);
  for (let s = 0; s < places.length; s++) {
    const cell = places[s]! & mask;
    sums[cell] = sums[cell]! + Math.abs(units[s]!);
  }
  for (const { projection, places: own, units: drawn } of plastic) {
    const most = projection.plasticity!.kind === "stdp" ? Math.ceil(projection.plasticity!.most) : undefined;
    for (let s = 0; s < own.length; s++) {
      const cell = own[s]! & mask;
      sums[cell] = sums[cell]! + (most ?? Math.abs(drawn[s]!));
    }
  }
  checkLargestSum(
    plan,
    sums.reduce((most, sum) => Math.max(most, sum), 0),
  );
}

/** @throws ArgumentError if so many units onto a cell, and the background's, do not fit 32 bits */
export function checkLargestSum(plan: NetworkPlan, ofSynapses: number): void {
  const background = plan.populations.reduce(
    (most, { background: one }) => Math.max(most, one ? Math.abs(one.units) * one.counts.thresholds.length : 0),
    0,
  );
  const largest = ofSynapses + background;
  if (largest < 2 ** 31) return;
  let bits = plan.fractionBits;
  while (largest / 2 ** (plan.fractionBits - bits) >= 2 ** 31) bits--;
  const reaches = Math.round(largest / 2 ** plan.fractionBits);
  throw new ArgumentError("fractionBits", plan.fractionBits, `at most ${bits} here, since up to ${reaches} mV can reach a neuron at once`);
}

/** Potentials before the first step, and what the constant currents add in a step. */
export function initialValues(plan: NetworkPlan): Pick<NetworkModel, "initialPotential" | "drive"> {
  const { size, precision, config } = plan;
  const initialPotential = allocate(precision, size);
  const drive = allocate(precision, size);
  const round = precision === "float32" ? Math.fround : (value: number) => value;
  for (const population of plan.populations) {
    const { neuron, name, first } = population;
    const { initialPotential: potential, current, neuron: given } = config.populations[name]!;
    const start = given?.type === "izhikevich" ? given.c : neuron.rest;
    const potentials = valuesOf(plan, population, potential === "rest" ? start : potential, 0, "initialPotential");
    const currents = valuesOf(plan, population, current, 1, "current");
    for (let k = 0; k < population.size; k++) {
      initialPotential[first + k] = potentials(k) - neuron.rest;
      drive[first + k] = neuron.driveGain * round(currents(k) * neuron.resistance);
    }
  }
  return { initialPotential, drive };
}

/** Value k of a population: word 0 of Philox (neuron, purpose, 18, 0) if it is drawn. */
function valuesOf(
  { key }: NetworkPlan,
  { first, name }: PlannedPopulation,
  given: Values,
  purpose: number,
  field: string,
): (k: number) => number {
  if (typeof given === "number") return () => given;
  if (!("distribution" in given)) return (k) => given[k]!;
  const sampler = samplerOf(given, `populations.${name}.${field}`);
  const block = new Uint32Array(4);
  return (k) => {
    philox4x32(key, first + k, purpose, networkStreams.values, 0, block);
    return sample(sampler, block[0]!);
  };
}
