// Plastic projections of a running network, on the host: spike-timing-dependent and short-term
// plasticity, in the order of docs/numerics.md, rule 13. Both engines of the host run them here.
import { allocate, type FloatArray, portableExp, portablePow } from "../../numerics/index.js";
import type { NetworkModel, NetworkPlan, PlannedShortTerm, PlannedSpikeTiming, PlasticTable } from "./plan.js";
import type { NetworkRunState } from "./session.js";

type PlasticState = Pick<NetworkRunState, "fired" | "plastic" | "resources">;
type TimingTable = PlasticTable & { readonly projection: { readonly plasticity: PlannedSpikeTiming } };

/** Spikes of one time: sources, each once, and how often each fired. */
interface Spikes {
  readonly sources: number[];
  readonly times: number[];
}

/** Times of which spikes are kept: this one, the last, and as far back as delays reach. */
export function keptTimes({ historySteps }: { readonly historySteps: number }): number {
  return 1 + Math.max(1, historySteps);
}

/** What plastic projections carry before the first step; empty lists if there are none. */
export function initialPlasticity(model: NetworkPlan & Partial<Pick<NetworkModel, "plastic">>): PlasticState {
  const { plastic = [], precision, size, inputs } = model;
  const values = allocate(
    precision,
    plastic.reduce((sum, table) => sum + valuesOf(table, model), 0),
  );
  let at = 0;
  for (const table of plastic) {
    if (isTiming(table)) {
      const { least, most } = table.projection.plasticity;
      table.units.forEach((units, s) => {
        values[at + s] = Math.max(least, Math.min(most, units));
      });
    }
    at += valuesOf(table, model);
  }
  const resources = new Float64Array(3 * plastic.reduce((sum, table) => sum + (isTiming(table) ? 0 : table.projection.source.size), 0));
  let first = 0;
  for (const table of plastic) {
    if (isTiming(table)) continue;
    const { size: sources } = table.projection.source;
    resources.fill(1, first + sources, first + 2 * sources);
    first += 3 * sources;
  }
  return { fired: new Int32Array(plastic.length === 0 ? 0 : keptTimes(model) * (size + inputs)), plastic: values, resources };
}

/** Numbers of a projection in `plastic`: weights, traces of sources at all times kept, of targets. */
function valuesOf(table: PlasticTable, model: NetworkPlan): number {
  const { source, target } = table.projection;
  return isTiming(table) ? table.places.length + keptTimes(model) * source.size + target.size : 0;
}

/** The first weight of a state that is beyond the bounds of its projection, if there is one. */
export function weightOutside(plan: NetworkPlan, tables: readonly PlasticTable[], values: FloatArray): number | undefined {
  let at = 0;
  for (const table of tables) {
    if (isTiming(table)) {
      const { least, most } = table.projection.plasticity;
      const found = values.subarray(at, at + table.places.length).find((weight) => !(weight >= least && weight <= most));
      if (found !== undefined) return found;
    }
    at += valuesOf(table, plan);
  }
  return undefined;
}

function isTiming(table: PlasticTable): table is TimingTable {
  return table.projection.plasticity?.kind === "stdp";
}

/** The plastic projections of a network that runs. */
export class NetworkPlasticity {
  readonly #model: NetworkModel;
  readonly #timings: (SpikeTiming | ShortTerm)[];
  /** Spikes by time modulo their number; the present time is at #now. */
  readonly #history: Spikes[];
  #now = 0;

  constructor(model: NetworkModel) {
    this.#model = model;
    const round = model.precision === "float32" ? Math.fround : (value: number) => value;
    this.#timings = model.plastic.map((table) => (isTiming(table) ? new SpikeTiming(table, model, round) : new ShortTerm(table, model)));
    this.#history = Array.from({ length: keptTimes(model) }, () => ({ sources: [], times: [] }));
    this.setState({ ...initialPlasticity(model), step: 0 });
  }

  /** Whether there are plastic projections at all. */
  get isEmpty(): boolean {
    return this.#timings.length === 0;
  }

  /** Sizes of the weights of projection k of the plastic ones, in units. */
  weights(k: number): FloatArray | undefined {
    const timing = this.#timings[k];
    return timing instanceof SpikeTiming ? timing.weights.slice() : undefined;
  }

  /**
   * What happens before a step: spikes of the step before, and those given to channels of inputs,
   * arrive. `row` of the ring is that of the step.
   */
  begin(ring: Int32Array, row: number, channels: ArrayLike<number>): void {
    const spikes = this.#history[this.#now]!;
    for (let s = 0; s < channels.length; s++) {
      const source = this.#model.size + channels[s]!;
      if (s > 0 && channels[s] === channels[s - 1]) spikes.times[spikes.times.length - 1]!++;
      else {
        spikes.sources.push(source);
        spikes.times.push(1);
      }
    }
    const at = (stepsAgo: number) => this.#history[(this.#now - stepsAgo + this.#history.length) % this.#history.length]!;
    for (const timing of this.#timings) timing.begin(ring, row, at);
  }

  /** Notes which neurons fired in the step. */
  end(fired: ArrayLike<number>): void {
    this.#now = (this.#now + 1) % this.#history.length;
    this.#history[this.#now] = { sources: Array.from(fired), times: new Array<number>(fired.length).fill(1) };
  }

  getState(): PlasticState {
    const state = initialPlasticity(this.#model);
    const sources = this.#model.size + this.#model.inputs;
    if (!this.isEmpty)
      for (let ago = 0; ago < this.#history.length; ago++) {
        const spikes = this.#history[(this.#now - ago + this.#history.length) % this.#history.length]!;
        spikes.sources.forEach((source, s) => {
          state.fired[ago * sources + source] = spikes.times[s]!;
        });
      }
    let [values, resources] = [0, 0];
    for (const timing of this.#timings) {
      if (timing instanceof SpikeTiming) values = timing.write(state.plastic, values);
      else resources = timing.write(state.resources, resources);
    }
    return state;
  }

  setState({ fired, plastic, resources, step }: PlasticState & { readonly step: number }): void {
    const sources = this.#model.size + this.#model.inputs;
    this.#now = 0;
    for (let ago = 0; ago < this.#history.length; ago++) {
      const spikes: Spikes = { sources: [], times: [] };
      for (let j = 0; !this.isEmpty && j < sources; j++) {
        const times = fired[ago * sources + j]!;
        if (times === 0) continue;
        spikes.sources.push(j);
        spikes.times.push(times);
      }
      this.#history[(this.#history.length - ago) % this.#history.length] = spikes;
    }
    let [values, amounts] = [0, 0];
    for (const timing of this.#timings) {
      if (timing instanceof SpikeTiming) values = timing.read(plastic, values);
      else amounts = timing.read(resources, amounts, step);
    }
  }
}

/** One projection with spike-timing-dependent plasticity. */
class SpikeTiming {
  /** Sizes in units. */
  readonly weights: FloatArray;
  readonly #table: TimingTable;
  readonly #rows: number;
  /** Traces of the sources, before the spikes of their time: a row for each time kept. */
  readonly #sourceTraces: FloatArray;
  readonly #targetTraces: FloatArray;
  readonly #round: (value: number) => number;
  readonly #size: number;
  readonly #cells: number;
  readonly #cellBits: number;
  readonly #leastDelay: number;
  readonly #mostDelay: number;
  #row = 0;

  constructor(table: TimingTable, model: NetworkModel, round: (value: number) => number) {
    const { source, target } = table.projection;
    this.#table = table;
    this.#rows = keptTimes(model);
    this.weights = allocate(model.precision, table.places.length);
    this.#sourceTraces = allocate(model.precision, this.#rows * source.size);
    this.#targetTraces = allocate(model.precision, target.size);
    this.#round = round;
    this.#size = model.size;
    this.#cells = model.receptors * model.size;
    this.#cellBits = model.cellBits;
    let [least, most] = [this.#rows, 0];
    for (const place of table.places) {
      least = Math.min(least, place >>> model.cellBits);
      most = Math.max(most, place >>> model.cellBits);
    }
    this.#leastDelay = least;
    this.#mostDelay = most;
  }

  begin(ring: Int32Array, row: number, spikesAt: (stepsAgo: number) => Spikes): void {
    this.#decay(spikesAt(1));
    for (let delay = this.#leastDelay; delay <= this.#mostDelay; delay++) this.#arrive(ring, row, delay, spikesAt(delay));
    this.#fire(spikesAt(0));
  }

  /** Traces of this time, from those of the last and the spikes of the last. */
  #decay({ sources, times }: Spikes): void {
    const { source, target, plasticity } = this.#table.projection;
    const { sourceKeep, targetKeep } = plasticity;
    const round = this.#round;
    const before = this.#row * source.size;
    this.#row = (this.#row + 1) % this.#rows;
    const now = this.#row * source.size;
    const [x, y] = [this.#sourceTraces, this.#targetTraces];
    sources.forEach((neuron, s) => {
      const i = neuron - target.first;
      if (neuron < this.#size && i >= 0 && i < target.size) y[i] = y[i]! + times[s]!;
    });
    for (let i = 0; i < target.size; i++) y[i] = targetKeep * y[i]!;
    for (let j = 0; j < source.size; j++) x[now + j] = sourceKeep * x[before + j]!;
    sources.forEach((neuron, s) => {
      const j = neuron - source.first;
      if (j >= 0 && j < source.size) x[now + j] = sourceKeep * round(x[before + j]! + times[s]!);
    });
  }

  /** Spikes of `delay` steps ago arrive: depression by the targets' traces, then the weights. */
  #arrive(ring: Int32Array, row: number, delay: number, { sources, times }: Spikes): void {
    const { offsets, places, projection } = this.#table;
    const { source, target, receptor, plasticity, sign } = projection;
    const { least, most, depression, depressionExponent, isBounded, perScale } = plasticity;
    const round = this.#round;
    const mask = 2 ** this.#cellBits - 1;
    const first = receptor * this.#size + target.first;
    for (let k = 0; k < sources.length; k++) {
      const j = sources[k]! - source.first;
      if (j < 0 || j >= source.size) continue;
      const end = offsets[j + 1]!;
      for (let s = firstOf(places, offsets[j]!, end, delay, this.#cellBits); s < end && places[s]! >>> this.#cellBits === delay; s++) {
        const cell = places[s]! & mask;
        const y = this.#targetTraces[cell - first]!;
        for (let n = times[k]!; n > 0; n--) {
          const weight = this.weights[s]!;
          const share = round((isBounded ? round(weight - least) : weight) * perScale);
          const change = round(round(depression * power(share, depressionExponent, round)) * y);
          const next = Math.max(least, Math.min(most, round(weight - change)));
          this.weights[s] = next;
          const to = row * this.#cells + cell;
          ring[to] = ring[to]! + sign * Math.floor(next + 0.5);
        }
      }
    }
  }

  /** Neurons fire: potentiation by the traces of their sources, as they are at the synapse. */
  #fire({ sources: fired }: Spikes): void {
    const { incomingOffsets, incoming, sources, places, projection } = this.#table;
    const { source, target, plasticity } = projection;
    const { least, most, potentiation, potentiationExponent, isBounded, perScale } = plasticity;
    const round = this.#round;
    for (const neuron of fired) {
      const i = neuron - target.first;
      if (neuron >= this.#size || i < 0 || i >= target.size) continue;
      for (let k = incomingOffsets[i]!; k < incomingOffsets[i + 1]!; k++) {
        const s = incoming[k]!;
        const traces = (this.#row - (places[s]! >>> this.#cellBits) + this.#rows) % this.#rows;
        const x = this.#sourceTraces[traces * source.size + sources[k]!]!;
        const weight = this.weights[s]!;
        const share = round((isBounded ? round(most - weight) : weight) * perScale);
        const change = round(round(potentiation * power(share, potentiationExponent, round)) * x);
        this.weights[s] = Math.max(least, Math.min(most, round(weight + change)));
      }
    }
  }

  /** Writes weights and traces, newest first, from `at` on; says where the next ones go. */
  write(to: FloatArray, at: number): number {
    const { size } = this.#table.projection.source;
    to.set(this.weights, at);
    let next = at + this.weights.length;
    for (let ago = 0; ago < this.#rows; ago++, next += size) {
      const row = ((this.#row - ago + this.#rows) % this.#rows) * size;
      to.set(this.#sourceTraces.subarray(row, row + size), next);
    }
    to.set(this.#targetTraces, next);
    return next + this.#targetTraces.length;
  }

  read(from: FloatArray, at: number): number {
    const { size } = this.#table.projection.source;
    this.weights.set(from.subarray(at, at + this.weights.length));
    let next = at + this.weights.length;
    this.#row = 0;
    for (let ago = 0; ago < this.#rows; ago++, next += size)
      this.#sourceTraces.set(from.subarray(next, next + size), ((this.#rows - ago) % this.#rows) * size);
    this.#targetTraces.set(from.subarray(next, next + this.#targetTraces.length));
    return next + this.#targetTraces.length;
  }
}

/** share^exponent: 1 and the share itself without a power. */
function power(share: number, exponent: number, round: (value: number) => number): number {
  if (exponent === 0) return 1;
  return exponent === 1 ? share : round(portablePow(share, exponent));
}

/** The first synapse of a source with at least this delay. */
function firstOf(places: Uint32Array, from: number, to: number, delay: number, cellBits: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (places[middle]! >>> cellBits < delay) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** One projection with short-term plasticity. */
class ShortTerm {
  readonly #table: PlasticTable;
  readonly #plasticity: PlannedShortTerm;
  readonly #u: Float64Array;
  readonly #x: Float64Array;
  /** Steps of the last spikes. */
  readonly #last: Float64Array;
  readonly #ringRows: number;
  readonly #cells: number;
  readonly #cellBits: number;
  #step = 0;

  constructor(table: PlasticTable, { ringRows, receptors, size, cellBits }: NetworkModel) {
    const sources = table.projection.source.size;
    this.#table = table;
    this.#plasticity = table.projection.plasticity as PlannedShortTerm;
    this.#u = new Float64Array(sources);
    this.#x = new Float64Array(sources).fill(1);
    this.#last = new Float64Array(sources);
    this.#ringRows = ringRows;
    this.#cells = receptors * size;
    this.#cellBits = cellBits;
  }

  begin(ring: Int32Array, row: number, spikesAt: (stepsAgo: number) => Spikes): void {
    const { offsets, places, units, projection } = this.#table;
    const { first, size } = projection.source;
    const mask = 2 ** this.#cellBits - 1;
    const { sources, times } = spikesAt(0);
    for (let k = 0; k < sources.length; k++) {
      const j = sources[k]! - first;
      if (j < 0 || j >= size) continue;
      for (let n = times[k]!; n > 0; n--) {
        const share = this.#release(j);
        for (let s = offsets[j]!; s < offsets[j + 1]!; s++) {
          const place = places[s]!;
          const to = ((row + (place >>> this.#cellBits)) % this.#ringRows) * this.#cells + (place & mask);
          ring[to] = ring[to]! + Math.floor(units[s]! * share + 0.5);
        }
      }
    }
    this.#step++;
  }

  /** A spike of a source: the share u x of its weights that it brings. */
  #release(j: number): number {
    const { release, recoveryRate, facilitationRate } = this.#plasticity;
    const steps = this.#step - this.#last[j]!;
    const kept = facilitationRate === null ? 0 : this.#u[j]! * portableExp(-(steps * facilitationRate));
    const u = kept + release * (1 - kept);
    const x = 1 - (1 - this.#x[j]!) * portableExp(-(steps * recoveryRate));
    this.#u[j] = u;
    this.#x[j] = x - u * x;
    this.#last[j] = this.#step;
    return u * x;
  }

  write(to: Float64Array, at: number): number {
    const { length } = this.#u;
    to.set(this.#u, at);
    to.set(this.#x, at + length);
    to.set(this.#last, at + 2 * length);
    return at + 3 * length;
  }

  read(from: Float64Array, at: number, step: number): number {
    const { length } = this.#u;
    this.#u.set(from.subarray(at, at + length));
    this.#x.set(from.subarray(at + length, at + 2 * length));
    this.#last.set(from.subarray(at + 2 * length, at + 3 * length));
    this.#step = step;
    return at + 3 * length;
  }
}
