// Draws a network from its plan on the host: the table of synapses, by rule 13 of
// docs/numerics.md. A device draws the same table.
import { checkHas } from "@spillway/core/checks.js";
import { machineMemory } from "@spillway/core/machine-memory.js";
import { allocate, philox4x32 } from "@spillway/numerics";
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
import { sample, samplerOf, stepsOf } from "./sampler.js";
import { checkLargest } from "./weight-units.js";
import { type Draws, expectedSynapses, type Wiring, wiringOf } from "./wiring.js";

/** Draws the network of a plan. @throws as `drawSynapses` */
export function drawNetwork(plan: NetworkPlan): NetworkModel {
  checkHas("plan", plan, "what planNetwork gives", "projections");
  return { ...plan, kind: "network", ...drawSynapses(plan), ...initialValues(plan) };
}

/** Bytes that drawing takes for a neuron beside its ring: its values, and positions in lists. */
const bytesOfNeuron = 64;

/** @throws EngineCapacityError if a plan's network does not fit the machine */
function checkMemory(plan: NetworkPlan): void {
  const ofSynapses = plan.projections.reduce((sum, each) => sum + bytesOf(each, plan) * expectedSynapses(each), 0);
  const bytes = ofSynapses + plan.size * (bytesOfNeuron + 4 * plan.ringRows * plan.receptors) + plan.inputs * bytesOfNeuron;
  const limit = machineMemory();
  if (bytes <= limit && plan.expectedSynapses < 2 ** 32) return;
  const most = Math.min(limit, 2 ** 32 * 6);
  const what = `the ${Math.round(plan.expectedSynapses)} synapses of ${plan.size} neurons`;
  throw new EngineCapacityError(what, bytes, most, "take fewer");
}

/**
 * Bytes of a synapse: cell with delay, and units, and of stdp weight, number and source by target; if targets
 * draw their sources, both lists of those.
 */
function bytesOf({ plasticity, rule }: PlannedProjection, { oneSign, precision }: NetworkPlan): number {
  const drawing = rule.rule === "fixedInDegree" ? 8 : 0;
  if (plasticity?.kind === "stdp") return drawing + (precision === "float32" ? 20 : 24);
  return drawing + (plasticity || !oneSign ? 8 : 6);
}

/**
 * The synapses of a plan: those that stay as they are, and those of plastic projections.
 * @throws EngineCapacityError before a synapse is drawn if they do not fit the machine;
 * ArgumentError if sums of input do not fit 32 bits
 */
export function drawSynapses(plan: NetworkPlan): Pick<NetworkModel, "synapses" | "plastic"> {
  checkMemory(plan);
  const { size, inputs, cellBits, fractionBits, oneSign, ringRows } = plan;
  const sources = size + inputs;
  const scale = 2 ** fractionBits;
  const wirings = plan.projections.map((projection) => wiringOf(plan, projection));
  const isAt = (j: number) =>
    wirings.flatMap(({ projection: { source } }, w) => (j >= source.first && j < source.first + source.size ? [w] : []));
  const borders = new Set(wirings.flatMap(({ projection: { source } }) => [source.first, source.first + source.size]));
  const offsets = new Uint32Array(sources + 1);
  const signs = new Int8Array(sources).fill(1);
  const changing = wirings.map((wiring) => (wiring.projection.plasticity ? plasticBuilder(wiring) : undefined));
  wirings.forEach((wiring, w) => {
    const { first, size } = wiring.projection.source;
    for (let j = first; j < first + size; j++) {
      if (changing[w]) continue;
      offsets[j + 1] = offsets[j + 1]! + wiring.degree(j);
      if (oneSign) signs[j] = wiring.projection.sign;
    }
  });
  const most = offsets.reduce((all, each) => Math.max(all, each), 0);
  for (let j = 0; j < sources; j++) offsets[j + 1] = offsets[j + 1]! + offsets[j]!;
  const packed = new Uint32Array(offsets[sources]!);
  const units = oneSign ? new Uint16Array(packed.length) : new Int32Array(packed.length);
  const capacity = changing.reduce((all, each) => Math.max(all, each?.most ?? 0), 0) + most;
  const word = new Uint32Array(capacity);
  const unit = new Int32Array(capacity);
  const ranks = new Uint32Array(capacity);
  const draws: Draws = { block: new Uint32Array(4), target: 0, own: undefined };
  const at = new Uint32Array(ringRows + 1);
  let present: readonly number[] = [];
  for (let j = 0; j < sources; j++) {
    let numbered = 0;
    let count = 0;
    if (borders.has(j)) present = isAt(j);
    for (const w of present) {
      const wiring = wirings[w]!;
      const { receptor, weight, delay, sign } = wiring.projection;
      const degree = wiring.degree(j);
      const first = receptor * size;
      const builder = changing[w];
      const signed = builder?.sign ?? (oneSign ? 1 : sign);
      // Those of a plastic projection lie behind the others only until they are in its lists.
      const from = count;
      for (let k = 0; k < degree; k++) {
        wiring.draw(draws, j, numbered + k, k);
        const { own } = draws;
        const steps = own ? own[3]! : stepsOf(delay, draws.block[2]!);
        word[count] = (steps << cellBits) | (first + draws.target);
        unit[count] = own ? Math.floor(own[2]! * scale + 0.5) : signed * Math.floor(sample(weight, draws.block[1]!) * scale + 0.5);
        ranks[count++] = steps;
      }
      if (wiring.isNumbered) numbered += degree;
      if (!builder) continue;
      rankDelays(ranks, from, count, at);
      builder.take(j, word, unit, ranks, from, count);
      count = from;
    }
    // In order of delay: delivery goes along the rows of the ring.
    rankDelays(ranks, 0, count, at);
    for (let k = 0; k < count; k++) {
      const to = offsets[j]! + ranks[k]!;
      packed[to] = word[k]!;
      units[to] = unit[k]!;
    }
  }
  const plastic = changing.flatMap((each) => each?.table(plan, at) ?? []);
  const synapses = { offsets, packed, cellBits, units, signs };
  checkSums(plan, synapses, plastic);
  return { synapses, plastic };
}

/**
 * Turns delays into positions in order of delay: of entries `from` to `end` the first has position 0, and
 * those of one delay keep their order. `at` has a counter for each delay, and one more.
 */
function rankDelays(entries: Uint32Array, from: number, end: number, at: Uint32Array): void {
  at.fill(0);
  for (let k = from; k < end; k++) at[entries[k]! + 1] = at[entries[k]! + 1]! + 1;
  for (let d = 1; d < at.length; d++) at[d] = at[d]! + at[d - 1]!;
  for (let k = from; k < end; k++) {
    const delay = entries[k]!;
    entries[k] = at[delay]!;
    at[delay] = at[delay]! + 1;
  }
}

/** The synapses of one plastic projection as they are drawn, source after source. */
function plasticBuilder({ projection, degree }: Wiring) {
  const { source } = projection;
  const isTiming = projection.plasticity!.kind === "stdp";
  const offsets = new Uint32Array(source.size + 1);
  for (let j = 0; j < source.size; j++) offsets[j + 1] = degree(source.first + j);
  const most = offsets.reduce((all, each) => Math.max(all, each), 0);
  for (let j = 0; j < source.size; j++) offsets[j + 1] = offsets[j + 1]! + offsets[j]!;
  const packed = new Uint32Array(offsets[source.size]!);
  const units = new Int32Array(offsets[source.size]!);
  return {
    /** Synapses of the source that has most. */
    most,
    /** What a drawn size is times: sizes of stdp have no sign. */
    sign: isTiming ? 1 : projection.sign,
    /** Takes the synapses of a source, which are entries `from` to `end` of the lists. */
    take(j: number, words: Uint32Array, drawn: Int32Array, ranks: Uint32Array, from: number, end: number): void {
      const first = offsets[j - source.first]!;
      for (let k = from; k < end; k++) {
        const to = first + ranks[k]!;
        packed[to] = words[k]!;
        units[to] = isTiming ? Math.abs(drawn[k]!) : drawn[k]!;
      }
    },
    /** @param at a counter for each delay, and one more */
    table(plan: NetworkPlan, at: Uint32Array): PlasticTable {
      const none = new Uint32Array(0);
      const incoming = isTiming
        ? incomingOf(projection, offsets, packed, plan, at)
        : { incomingOffsets: none, incoming: none, sources: none };
      return { projection, offsets, packed, units, ...incoming };
    },
  };
}

/** The synapses of a projection by target. @param at a counter for each delay, and one more */
function incomingOf(
  { source, target, receptor, plasticity }: PlannedProjection,
  offsets: Uint32Array,
  packed: Uint32Array,
  { size, cellBits }: NetworkPlan,
  at: Uint32Array,
): Pick<PlasticTable, "incomingOffsets" | "incoming" | "sources"> {
  const first = receptor * size + target.first;
  const mask = 2 ** cellBits - 1;
  const incomingOffsets = new Uint32Array(target.size + 1);
  let differ = false;
  for (let s = 0; s < packed.length; s++) {
    if (packed[s]! >>> cellBits !== packed[0]! >>> cellBits) differ = true;
    const i = (packed[s]! & mask) - first;
    incomingOffsets[i + 1] = incomingOffsets[i + 1]! + 1;
  }
  const most = incomingOffsets.reduce((all, each) => Math.max(all, each), 0);
  for (let i = 0; i < target.size; i++) incomingOffsets[i + 1] = incomingOffsets[i + 1]! + incomingOffsets[i]!;
  const next = incomingOffsets.slice();
  const incoming = new Uint32Array(packed.length);
  const sources = new Uint32Array(packed.length);
  for (let j = 0; j < source.size; j++)
    for (let s = offsets[j]!; s < offsets[j + 1]!; s++) {
      const i = (packed[s]! & mask) - first;
      const to = next[i]!;
      next[i] = to + 1;
      incoming[to] = s;
      sources[to] = j;
    }
  if (plasticity?.kind !== "stdp" || !plasticity.isDendritic || !differ) return { incomingOffsets, incoming, sources };
  const ranks = new Uint32Array(most);
  for (let i = 0; i < target.size; i++) {
    const [from, end] = [incomingOffsets[i]!, incomingOffsets[i + 1]!];
    const [numbers, own] = [incoming.slice(from, end), sources.slice(from, end)];
    for (let k = 0; k < end - from; k++) ranks[k] = packed[numbers[k]!]! >>> cellBits;
    rankDelays(ranks, 0, end - from, at);
    for (let k = 0; k < end - from; k++) {
      incoming[from + ranks[k]!] = numbers[k]!;
      sources[from + ranks[k]!] = own[k]!;
    }
  }
  return { incomingOffsets, incoming, sources };
}

/** @throws ArgumentError if the input that can reach a neuron at once does not fit 32 bits */
function checkSums(plan: NetworkPlan, { packed, units, cellBits }: NetworkTable, plastic: readonly PlasticTable[]): void {
  const mask = 2 ** cellBits - 1;
  const sums = new Float64Array(plan.receptors * plan.size);
  for (let s = 0; s < packed.length; s++) {
    const cell = packed[s]! & mask;
    sums[cell] = sums[cell]! + Math.abs(units[s]!);
  }
  for (const { projection, packed: own, units: drawn } of plastic) {
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
  checkLargest(ofSynapses + background, plan.fractionBits);
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
