// Plastic projections of a running network, on the host: spike-timing-dependent and short-term
// plasticity, in the order of docs/numerics.md, rule 13. Both engines of the host run them here.
import { allocate, type FloatArray, type Precision, portableExp, portablePow } from "@spillway/numerics";
import type { NetworkModel, NeuronRange, PlannedShortTerm, PlasticTable } from "./plan.js";
import { emptyPlasticity, initialPlasticity, isTiming, keptTimes, type PlasticState, type TimingTable, traceRows } from "./run-state.js";

/** Spikes of one time: sources, each once, and how often each fired. */
interface Spikes {
  readonly sources: number[];
  readonly times: number[];
}

/** The plastic projections of a network that runs. */
export class NetworkPlasticity {
  readonly #model: NetworkModel;
  readonly #projections: readonly (SpikeTiming | ShortTerm)[];
  /** Spikes by time modulo their number; the present time is at #now. */
  readonly #history: Spikes[];
  #now = 0;

  constructor(model: NetworkModel) {
    this.#model = model;
    this.#projections = model.plastic.map((table) => (isTiming(table) ? new SpikeTiming(table, model) : new ShortTerm(table, model)));
    this.#history = Array.from({ length: keptTimes(model) }, () => ({ sources: [], times: [] }));
    this.setState({ ...initialPlasticity(model), step: 0 });
  }

  /** Whether there are plastic projections at all. */
  get isEmpty(): boolean {
    return this.#projections.length === 0;
  }

  /** Sizes of the weights of projection k of the plastic ones, in units. */
  weights(k: number): FloatArray | undefined {
    const projection = this.#projections[k];
    return projection instanceof SpikeTiming ? projection.weights.slice() : undefined;
  }

  /**
   * What happens before a step: spikes of the step before, and those given to channels of inputs,
   * arrive. `row` of the ring is that of the step.
   */
  begin(ring: Int32Array, row: number, channels: ArrayLike<number>): void {
    const spikes = this.#spikesAt(0);
    for (let s = 0; s < channels.length; s++) {
      const source = this.#model.size + channels[s]!;
      if (s > 0 && channels[s] === channels[s - 1]) spikes.times[spikes.times.length - 1]!++;
      else {
        spikes.sources.push(source);
        spikes.times.push(1);
      }
    }
    const at = (stepsAgo: number) => this.#spikesAt(stepsAgo);
    for (const projection of this.#projections) projection.begin(ring, row, at);
  }

  /** Notes which neurons fired in the step. */
  end(fired: ArrayLike<number>): void {
    this.#now = (this.#now + 1) % this.#history.length;
    this.#history[this.#now] = { sources: Array.from(fired), times: new Array<number>(fired.length).fill(1) };
  }

  /** @param into an earlier state, whose lists are written over */
  getState(into: PlasticState = emptyPlasticity(this.#model)): PlasticState {
    into.fired.fill(0);
    const sources = this.#model.size + this.#model.inputs;
    for (let ago = 0; !this.isEmpty && ago < this.#history.length; ago++) {
      const spikes = this.#spikesAt(ago);
      spikes.sources.forEach((source, s) => {
        into.fired[ago * sources + source] = spikes.times[s]!;
      });
    }
    this.#eachList(into, (list, values, at) => values.set(list, at));
    return { fired: into.fired, plastic: into.plastic, resources: into.resources };
  }

  setState(state: PlasticState & { readonly step: number }): void {
    const sources = this.#model.size + this.#model.inputs;
    this.#now = 0;
    for (let ago = 0; ago < this.#history.length; ago++) {
      const spikes: Spikes = { sources: [], times: [] };
      for (let j = 0; !this.isEmpty && j < sources; j++) {
        const times = state.fired[ago * sources + j]!;
        if (times === 0) continue;
        spikes.sources.push(j);
        spikes.times.push(times);
      }
      this.#history[(this.#history.length - ago) % this.#history.length] = spikes;
    }
    this.#eachList(state, (list, values, at) => list.set(values.subarray(at, at + list.length)));
    for (const projection of this.#projections) if (projection instanceof ShortTerm) projection.step = state.step;
  }

  #spikesAt(stepsAgo: number): Spikes {
    return this.#history[(this.#now - stepsAgo + this.#history.length) % this.#history.length]!;
  }

  /** Calls `take` with what projections carry, and where in `plastic` or `resources` it is kept. */
  #eachList({ plastic, resources }: PlasticState, take: (list: FloatArray, values: FloatArray, at: number) => void): void {
    let [values, amounts] = [0, 0];
    for (const projection of this.#projections)
      for (const list of projection.lists()) {
        if (projection instanceof SpikeTiming) {
          take(list, plastic, values);
          values += list.length;
        } else {
          take(list, resources, amounts);
          amounts += list.length;
        }
      }
  }
}

/** Traces of a run of neurons: a row for each time kept, before the spikes of that time. */
class Traces {
  readonly values: FloatArray;
  readonly #range: NeuronRange;
  readonly #rows: number;
  readonly #keep: number;
  readonly #round: (value: number) => number;
  #row = 0;

  constructor(range: NeuronRange, rows: number, keep: number, precision: Precision) {
    this.values = allocate(precision, rows * range.size);
    this.#range = range;
    this.#rows = rows;
    this.#keep = keep;
    this.#round = precision === "float32" ? Math.fround : (value) => value;
  }

  /** Where the row of so many steps ago begins. */
  at(stepsAgo: number): number {
    return ((this.#row - stepsAgo + this.#rows) % this.#rows) * this.#range.size;
  }

  /** Traces of this time, from those of the last and the spikes of the last. */
  next({ sources, times }: Spikes): void {
    const { first, size } = this.#range;
    const x = this.values;
    const before = this.at(0);
    this.#row = (this.#row + 1) % this.#rows;
    const now = this.at(0);
    // One row may be both: the spikes are put in first.
    const raised: [number, number][] = [];
    sources.forEach((neuron, n) => {
      const k = neuron - first;
      if (k >= 0 && k < size) raised.push([k, this.#round(x[before + k]! + times[n]!)]);
    });
    for (let k = 0; k < size; k++) x[now + k] = this.#keep * x[before + k]!;
    for (const [k, trace] of raised) x[now + k] = this.#keep * trace;
  }

  /** All rows, newest first. */
  rows(): FloatArray[] {
    return Array.from({ length: this.#rows }, (_, ago) => this.values.subarray(this.at(ago), this.at(ago) + this.#range.size));
  }
}

/** One projection with spike-timing-dependent plasticity. */
class SpikeTiming {
  /** Sizes in units. */
  readonly weights: FloatArray;
  readonly #table: TimingTable;
  readonly #model: NetworkModel;
  readonly #x: Traces;
  readonly #y: Traces;
  readonly #round: (value: number) => number;
  readonly #firstCell: number;
  readonly #leastDelay: number;
  readonly #mostDelay: number;

  constructor(table: TimingTable, model: NetworkModel) {
    const { source, target, receptor, plasticity } = table.projection;
    const [ofSources, ofTargets] = traceRows(table, model);
    this.#table = table;
    this.#model = model;
    this.weights = allocate(model.precision, table.packed.length);
    this.#x = new Traces(source, ofSources, plasticity.sourceKeep, model.precision);
    this.#y = new Traces(target, ofTargets, plasticity.targetKeep, model.precision);
    this.#round = model.precision === "float32" ? Math.fround : (value) => value;
    this.#firstCell = receptor * model.size + target.first;
    let [least, most] = [keptTimes(model), 0];
    for (const word of table.packed) {
      least = Math.min(least, word >>> model.cellBits);
      most = Math.max(most, word >>> model.cellBits);
    }
    this.#leastDelay = least;
    this.#mostDelay = most;
  }

  begin(ring: Int32Array, row: number, spikesAt: (stepsAgo: number) => Spikes): void {
    const { isDendritic } = this.#table.projection.plasticity;
    this.#x.next(spikesAt(1));
    this.#y.next(spikesAt(1));
    const [least, most] = [this.#leastDelay, this.#mostDelay];
    if (isDendritic) this.#arrive(ring, row, spikesAt(0), least, most);
    else for (let delay = least; delay <= most; delay++) this.#arrive(ring, row, spikesAt(delay), delay, delay);
    if (!isDendritic) this.#fire(spikesAt(0), least, most);
    else for (let delay = least; delay <= most; delay++) this.#fire(spikesAt(delay), delay, delay);
  }

  /**
   * Spikes arrive at the synapses with delays from `least` to `most`: depression by the targets'
   * traces, then the weights.
   */
  #arrive(ring: Int32Array, row: number, { sources, times }: Spikes, least: number, most: number): void {
    const { offsets, packed, projection } = this.#table;
    const { source, sign, plasticity } = projection;
    const { depression, depressionExponent, isBounded, perScale, isDendritic } = plasticity;
    const { ringRows, receptors, size, cellBits: bits } = this.#model;
    const round = this.#round;
    const mask = 2 ** bits - 1;
    for (let k = 0; k < sources.length; k++) {
      const j = sources[k]! - source.first;
      if (j < 0 || j >= source.size) continue;
      const end = offsets[j + 1]!;
      for (let s = firstOf((at) => packed[at]! >>> bits, offsets[j]!, end, least); s < end; s++) {
        const delay = packed[s]! >>> bits;
        if (delay > most) break;
        const ahead = isDendritic ? delay : 0;
        const cell = packed[s]! & mask;
        const y = this.#y.values[this.#y.at(ahead) + cell - this.#firstCell]!;
        const to = ((row + ahead) % ringRows) * receptors * size + cell;
        for (let n = times[k]!; n > 0; n--) {
          const weight = this.weights[s]!;
          const share = round((isBounded ? round(weight - plasticity.least) : weight) * perScale);
          const change = round(round(depression * power(share, depressionExponent, round)) * y);
          const next = Math.max(plasticity.least, Math.min(plasticity.most, round(weight - change)));
          this.weights[s] = next;
          ring[to] = ring[to]! + sign * Math.floor(next + 0.5);
        }
      }
    }
  }

  /**
   * Spikes of the targets come to the synapses with delays from `least` to `most`: potentiation by
   * the traces of the sources.
   */
  #fire({ sources: fired }: Spikes, least: number, most: number): void {
    const { incomingOffsets, incoming, sources, packed, projection } = this.#table;
    const { target, plasticity } = projection;
    const { potentiation, potentiationExponent, isBounded, perScale, isDendritic } = plasticity;
    const round = this.#round;
    const bits = this.#model.cellBits;
    const delayOf = (at: number) => packed[incoming[at]!]! >>> bits;
    for (const neuron of fired) {
      const i = neuron - target.first;
      if (i < 0 || i >= target.size) continue;
      const [from, end] = [incomingOffsets[i]!, incomingOffsets[i + 1]!];
      for (let k = isDendritic ? firstOf(delayOf, from, end, least) : from; k < end; k++) {
        const s = incoming[k]!;
        const delay = packed[s]! >>> bits;
        if (isDendritic && delay > most) break;
        const x = this.#x.values[this.#x.at(isDendritic ? 0 : delay) + sources[k]!]!;
        const weight = this.weights[s]!;
        const share = round((isBounded ? round(plasticity.most - weight) : weight) * perScale);
        const change = round(round(potentiation * power(share, potentiationExponent, round)) * x);
        this.weights[s] = Math.max(plasticity.least, Math.min(plasticity.most, round(weight + change)));
      }
    }
  }

  /** Weights, then traces of sources, then those of targets. */
  lists(): FloatArray[] {
    return [this.weights, ...this.#x.rows(), ...this.#y.rows()];
  }
}

/** share^exponent: 1 and the share itself without a power. */
function power(share: number, exponent: number, round: (value: number) => number): number {
  if (exponent === 0) return 1;
  return exponent === 1 ? share : round(portablePow(share, exponent));
}

/** The first of the synapses `from` to `to`, whose delays rise, with at least this delay. */
function firstOf(delayOf: (at: number) => number, from: number, to: number, delay: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (delayOf(middle) < delay) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** One projection with short-term plasticity. */
class ShortTerm {
  step = 0;
  readonly #table: PlasticTable;
  readonly #model: NetworkModel;
  readonly #u: Float64Array;
  readonly #x: Float64Array;
  /** Steps of the last spikes. */
  readonly #last: Float64Array;

  constructor(table: PlasticTable, model: NetworkModel) {
    const sources = table.projection.source.size;
    this.#table = table;
    this.#model = model;
    this.#u = new Float64Array(sources);
    this.#x = new Float64Array(sources).fill(1);
    this.#last = new Float64Array(sources);
  }

  begin(ring: Int32Array, row: number, spikesAt: (stepsAgo: number) => Spikes): void {
    const { offsets, packed, units, projection } = this.#table;
    const { ringRows, receptors, size: neurons, cellBits } = this.#model;
    const { first, size } = projection.source;
    const mask = 2 ** cellBits - 1;
    const { sources, times } = spikesAt(0);
    for (let k = 0; k < sources.length; k++) {
      const j = sources[k]! - first;
      if (j < 0 || j >= size) continue;
      for (let n = times[k]!; n > 0; n--) {
        const share = this.#release(j);
        for (let s = offsets[j]!; s < offsets[j + 1]!; s++) {
          const word = packed[s]!;
          const to = ((row + (word >>> cellBits)) % ringRows) * receptors * neurons + (word & mask);
          ring[to] = ring[to]! + Math.floor(units[s]! * share + 0.5);
        }
      }
    }
    this.step++;
  }

  /** A spike of a source: the share u x of its weights that it brings. */
  #release(j: number): number {
    const { release, recoveryRate, facilitationRate } = this.#table.projection.plasticity as PlannedShortTerm;
    const steps = this.step - this.#last[j]!;
    const kept = facilitationRate === null ? 0 : this.#u[j]! * portableExp(-(steps * facilitationRate));
    const u = kept + release * (1 - kept);
    const x = 1 - (1 - this.#x[j]!) * portableExp(-(steps * recoveryRate));
    this.#u[j] = u;
    this.#x[j] = x - u * x;
    this.#last[j] = this.step;
    return u * x;
  }

  /** u, x and the last steps of its sources. */
  lists(): FloatArray[] {
    return [this.#u, this.#x, this.#last];
  }
}
