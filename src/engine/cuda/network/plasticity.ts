// Plastic projections of a network in device memory: what kernels/network_plastic.cu reads and
// changes of them. docs/numerics.md, rule 13.
import type { Context, DeviceBuffer, DeviceSlice, Stream } from "@spillway/gpu";
import { allocate, type FloatArray } from "@spillway/numerics";
import { reachesAtOnce } from "../../../spikes/network/engines.js";
import type { NetworkPlan, PlannedSpikeTiming, PlasticTable } from "../../../spikes/network/plan.js";
import {
  initialPlasticity,
  isTiming,
  keptTimes,
  type PlasticState,
  type TimingTable,
  traceRows,
} from "../../../spikes/network/run-state.js";
import { type AnyBuffer, realType } from "../kernels.js";

type Own = <T extends { dispose(): void }>(thing: T) => T;

/** What the kernel takes of plastic projections. */
export const plasticParameters = [
  ...(["const u32*", "const f64*", "i32", "const u32*", "const u32*", "const i32*", "u32"] as const),
  ...(["const u32*", "const u32*", "const u32*", "const u16*", "real*", "real*", "f64*"] as const),
  ...(["u32*", "u32*", "u32*", "u32", "u32", "u32", "u32"] as const),
] as const;

/** What changes while a network runs. */
interface Changing {
  readonly weights: AnyBuffer;
  readonly traces: AnyBuffer;
  readonly resources: DeviceBuffer<"f64">;
  readonly fired: DeviceBuffer<"u32">;
  readonly lists: DeviceBuffer<"u32">;
  readonly counts: DeviceBuffer<"u32">;
}

/** Plastic projections on a device. Its memory is its owner's. */
export class DevicePlasticity {
  readonly #context: Context;
  readonly #plan: NetworkPlan;
  readonly #tables: readonly PlasticTable[];
  readonly #layout: Layout;
  readonly #fixed: readonly unknown[];
  readonly #changing: Changing;
  readonly #before: Changing;
  readonly #rows: number;
  /** 1 if the two halves of a step are one: nothing arrives in the step itself. */
  readonly #isOneHalf: number;
  /** The row of the present time. */
  #now = 0;
  #nowBefore = 0;

  constructor(context: Context, plan: NetworkPlan, tables: readonly PlasticTable[], own: Own) {
    const layout = layoutOf(plan, tables);
    this.#context = context;
    this.#plan = plan;
    this.#tables = tables;
    this.#layout = layout;
    this.#rows = rowsOf(plan);
    this.#isOneHalf = plan.projections.some((each) => reachesAtOnce(each) || isAxonal(each)) ? 0 : 1;
    const real = realType(plan.precision);
    const sources = plan.size + plan.inputs;
    const changing = (): Changing => ({
      weights: own(context.zeros(real, Math.max(1, layout.timed), { label: "plastic weights" })) as AnyBuffer,
      traces: own(context.zeros(real, Math.max(1, layout.traces), { label: "traces of spikes" })) as AnyBuffer,
      resources: own(context.zeros("f64", Math.max(1, layout.resources), { label: "resources of sources" })),
      fired: own(context.zeros("u32", this.#rows * sources, { label: "earlier spikes" })),
      lists: own(context.zeros("u32", this.#rows * sources, { label: "lists of earlier spikes" })),
      counts: own(context.zeros("u32", this.#rows, { label: "numbers of earlier spikes" })),
    });
    this.#changing = changing();
    this.#before = changing();
    const upload = <A extends Uint32Array | Int32Array | Uint16Array | Float64Array>(values: A, label: string) =>
      own(context.upload((values.length > 0 ? values : new (values.constructor as new (length: number) => A)(1)) as never, { label }));
    const { weights, traces, resources } = this.#changing;
    this.#fixed = [
      ...[upload(layout.words, "plastic projections"), upload(layout.numbers, "constants of plasticity"), tables.length],
      ...[upload(layout.runs, "runs of plastic synapses"), upload(layout.packed, "cells and delays of plastic synapses")],
      ...[upload(layout.units, "units of plastic synapses"), layout.timed, upload(layout.incomingOffsets, "offsets by target")],
      ...[upload(layout.incoming, "synapses by target"), upload(layout.incomingSources, "sources by target")],
      ...[upload(layout.incomingDelays, "delays by target"), weights, traces, resources],
    ];
  }

  /** Arguments of a launch from the present time on. */
  get arguments(): readonly unknown[] {
    const { fired, lists, counts } = this.#changing;
    return [...this.#fixed, fired, lists, counts, this.#rows, this.#now, this.#plan.size + this.#plan.inputs, this.#isOneHalf];
  }

  /** Notes that a launch takes so many steps. */
  advance(steps: number): void {
    this.#now = (this.#now + steps) % this.#rows;
  }

  /** Keeps what there is, or puts back what was kept. */
  keep(stream: Stream): void {
    copy(stream, this.#before, this.#changing);
    this.#nowBefore = this.#now;
  }

  restore(stream: Stream): void {
    copy(stream, this.#changing, this.#before);
    this.#now = this.#nowBefore;
  }

  /** Sizes of the weights of plastic projection k, in units. */
  weights(k: number): FloatArray | undefined {
    if (this.#tables[k]?.projection.plasticity?.kind !== "stdp") return undefined;
    const first = this.#layout.firsts[k]!;
    const length = this.#tables[k]!.packed.length;
    return length === 0 ? allocate(this.#plan.precision, 0) : this.#read(this.#changing.weights, first, length);
  }

  getState(): PlasticState {
    const state = initialPlasticity({ ...this.#plan, plastic: this.#tables });
    const sources = this.#plan.size + this.#plan.inputs;
    const fired = this.#context.read(this.#changing.fired);
    for (let ago = 0; ago < keptTimes(this.#plan); ago++) {
      const row = this.#rowOf(ago);
      state.fired.set(fired.subarray(row * sources, (row + 1) * sources), ago * sources);
    }
    let at = 0;
    const traces = this.#read(this.#changing.traces, 0, Math.max(1, this.#layout.traces));
    this.#tables.forEach((table, k) => {
      if (!isTiming(table)) return;
      const weights = this.weights(k)!;
      state.plastic.set(weights, at);
      at += weights.length;
      // A step leaves the traces of the next time too.
      for (const { first, size, rows } of this.#tracesOf(table, k))
        for (let ago = 1; ago <= rows; ago++, at += size) {
          const row = first + this.#rowOf(ago) * size;
          state.plastic.set(traces.subarray(row, row + size), at);
        }
    });
    if (state.resources.length > 0) state.resources.set(this.#context.read(this.#changing.resources));
    return state;
  }

  setState(stream: Stream, { fired, plastic, resources }: PlasticState): void {
    const plan = this.#plan;
    const sources = plan.size + plan.inputs;
    const [there, lists] = [new Uint32Array(this.#rows * sources), new Uint32Array(this.#rows * sources)];
    const counts = new Uint32Array(this.#rows);
    this.#now = 0;
    for (let ago = 0; ago < keptTimes(this.#plan); ago++) {
      const row = this.#rowOf(ago);
      for (let j = 0; j < sources; j++) {
        const times = fired[ago * sources + j]!;
        if (times === 0) continue;
        there[row * sources + j] = times;
        lists[row * sources + counts[row]!++] = j;
      }
    }
    const traces = allocate(plan.precision, Math.max(1, this.#layout.traces));
    let at = 0;
    this.#tables.forEach((table, k) => {
      const { length } = table.packed;
      if (!isTiming(table)) return;
      const first = this.#layout.firsts[k]!;
      if (length > 0) this.#write(stream, this.#changing.weights.slice(first, first + length), plastic.subarray(at, at + length));
      at += length;
      for (const { first: row, neuron, size, rows, keep } of this.#tracesOf(table, k)) {
        for (let ago = 1; ago <= rows; ago++, at += size) traces.set(plastic.subarray(at, at + size), row + this.#rowOf(ago) * size);
        for (let j = 0; j < size; j++) {
          const before = traces[row + this.#rowOf(1) * size + j]! + fired[sources + neuron + j]!;
          traces[row + this.#rowOf(0) * size + j] = keep * (plan.precision === "float32" ? Math.fround(before) : before);
        }
      }
    });
    this.#write(stream, this.#changing.traces, traces);
    if (resources.length > 0) stream.upload(this.#changing.resources, resources as Float64Array<ArrayBuffer>);
    stream.upload(this.#changing.fired, there);
    stream.upload(this.#changing.lists, lists);
    stream.upload(this.#changing.counts, counts);
    stream.sync();
  }

  /**
   * Traces of sources, then of targets: where they begin, of which neurons, and rows of a state.
   */
  #tracesOf(table: TimingTable, k: number) {
    const { source, target, plasticity } = table.projection;
    const keeps = [plasticity.sourceKeep, plasticity.targetKeep];
    const rows = traceRows(table, this.#plan);
    return [source, target].map(({ first, size }, n) => ({
      ...{ first: this.#layout.traceFirsts[k]![n]!, neuron: first, size },
      ...{ rows: rows[n]!, keep: keeps[n]! },
    }));
  }

  #rowOf(ago: number): number {
    return (this.#now - ago + this.#rows) % this.#rows;
  }

  #read(from: AnyBuffer, first: number, length: number): FloatArray {
    return this.#context.read(from.slice(first, first + length) as DeviceSlice<"f32">) as FloatArray;
  }

  #write(stream: Stream, to: unknown, values: FloatArray): void {
    stream.upload(to as DeviceSlice<"f32">, values as Float32Array<ArrayBuffer>);
  }
}

function copy(stream: Stream, to: Changing, from: Changing): void {
  for (const name of ["weights", "traces", "resources", "fired", "lists", "counts"] as const)
    stream.copy(to[name] as DeviceBuffer<"f32">, from[name] as DeviceBuffer<"f32">);
}

/** Rows of the history: the times kept, the one that a step writes, and the one that it empties. */
const rowsOf = (plan: NetworkPlan): number => keptTimes(plan) + 2;

const isAxonal = ({ plasticity }: NetworkPlan["projections"][number]): boolean => plasticity?.kind === "stdp" && !plasticity.isDendritic;

/** Lists of all plastic projections one after the other, as the kernel's head names them. */
interface Layout {
  readonly words: Uint32Array;
  readonly numbers: Float64Array;
  readonly runs: Uint32Array;
  readonly packed: Uint32Array;
  readonly units: Int32Array;
  /** Synapses of stdp, which come first. */
  readonly timed: number;
  readonly incomingOffsets: Uint32Array;
  readonly incoming: Uint32Array;
  readonly incomingSources: Uint32Array;
  readonly incomingDelays: Uint16Array;
  readonly traces: number;
  readonly resources: number;
  /** Of each projection: its first synapse, and where the traces of sources and targets begin. */
  readonly firsts: readonly number[];
  readonly traceFirsts: readonly (readonly [number, number])[];
}

const wordsOf = 20;
const numbersOf = 9;

function layoutOf(plan: NetworkPlan, tables: readonly PlasticTable[]): Layout {
  const count = (of: readonly PlasticTable[]) => of.reduce((sum, { packed }) => sum + packed.length, 0);
  const timed = count(tables.filter(isTiming));
  const all = count(tables);
  const words = new Uint32Array(tables.length * wordsOf);
  const numbers = new Float64Array(tables.length * numbersOf);
  const packed = new Uint32Array(all);
  const units = new Int32Array(all - timed);
  const incoming = new Uint32Array(timed);
  const incomingSources = new Uint32Array(timed);
  const incomingDelays = new Uint16Array(timed);
  const delays = tables.map((table) => delaysOf(table, plan.cellBits));
  const runs = new Uint32Array(tables.reduce((sum, { projection }, k) => sum + projection.source.size * delays[k]!.arriving.count + 1, 0));
  const incomingOffsets = new Uint32Array(
    tables.reduce((sum, table, k) => sum + (isTiming(table) ? table.projection.target.size * delays[k]!.returning.count + 1 : 0), 0),
  );
  const rows = rowsOf(plan);
  let [stdp, shortTerm, run, target, traces, resources] = [0, timed, 0, 0, 0, 0];
  const firsts: number[] = [];
  const traceFirsts: (readonly [number, number])[] = [];
  tables.forEach((table, k) => {
    const { projection, offsets } = table;
    const { source, target: targets, plasticity } = projection;
    const timing = isTiming(table);
    const first = timing ? stdp : shortTerm;
    const { arriving, returning } = delays[k]!;
    const ofTargets = traces + rows * source.size;
    const { length } = table.packed;
    const delayOf = (s: number) => table.packed[s]! >>> plan.cellBits;
    words.set(
      [
        ...[timing ? 1 : 0, source.first, source.size, targets.first, targets.size, projection.receptor * plan.size + targets.first],
        ...[projection.sign < 0 ? 1 : 0, timing && table.projection.plasticity.isBounded ? 1 : 0],
        ...[timing && table.projection.plasticity.isDendritic ? 1 : 0, arriving.least, arriving.count, returning.least, returning.count],
        ...[run, target, traces, ofTargets, resources],
        ...[slicesFor(length / source.size / arriving.count), slicesFor(length / targets.size / returning.count)],
      ],
      k * wordsOf,
    );
    numbers.set(
      plasticity!.kind === "stdp"
        ? timingNumbers(plasticity!)
        : [plasticity!.release, plasticity!.recoveryRate, plasticity!.facilitationRate ?? -1],
      k * numbersOf,
    );
    firsts.push(first);
    traceFirsts.push([traces, ofTargets]);
    packed.set(table.packed, first);
    run = writeRuns(runs, run, first, offsets, arriving, delayOf);
    if (!timing) {
      units.set(table.units, first - timed);
      shortTerm += length;
      resources += 3 * source.size;
      return;
    }
    target = writeRuns(incomingOffsets, target, first, table.incomingOffsets, returning, (at) => delayOf(table.incoming[at]!));
    incomingSources.set(table.sources, first);
    for (let at = 0; at < length; at++) incoming[first + at] = first + table.incoming[at]!;
    if (!table.projection.plasticity.isDendritic)
      for (let at = 0; at < length; at++) incomingDelays[first + at] = delayOf(table.incoming[at]!);
    stdp += length;
    traces = ofTargets + rows * targets.size;
  });
  return {
    words,
    numbers,
    runs,
    packed,
    units,
    timed,
    incomingOffsets,
    incoming,
    incomingSources,
    incomingDelays,
    traces,
    resources,
    firsts,
    traceFirsts,
  };
}

/** Delays of so many steps from the least on. */
interface Delays {
  readonly least: number;
  readonly count: number;
}

/**
 * Delays on the way of the sources' spikes to a projection's synapses, and of the targets' spikes
 * back: those of the synapses on one of the two, none on the other.
 */
function delaysOf(table: PlasticTable, cellBits: number): { readonly arriving: Delays; readonly returning: Delays } {
  const none = { least: 0, count: 1 };
  if (!isTiming(table) || table.packed.length === 0) return { arriving: none, returning: none };
  let [least, most] = [table.packed[0]! >>> cellBits, 0];
  for (let s = 0; s < table.packed.length; s++) {
    const delay = table.packed[s]! >>> cellBits;
    if (delay < least) least = delay;
    if (delay > most) most = delay;
  }
  const own = { least, count: 1 + most - least };
  return table.projection.plasticity.isDendritic ? { arriving: none, returning: own } : { arriving: own, returning: none };
}

/**
 * Where the entries of each owner with each delay begin, from `to[at]` on, and where the last ones
 * end: `offsets` of the owners, whose entries are in order of delay, and `first` more. Says where
 * the next ones go.
 */
function writeRuns(
  to: Uint32Array,
  at: number,
  first: number,
  offsets: Uint32Array,
  delays: Delays,
  delayOf: (s: number) => number,
): number {
  const { least, count } = delays;
  const owners = offsets.length - 1;
  for (let j = 0; j < owners; j++) {
    let s = offsets[j]!;
    for (let d = 0; d < count; d++) {
      to[at++] = first + s;
      if (d + 1 < count) while (s < offsets[j + 1]! && delayOf(s) === least + d) s++;
    }
  }
  to[at++] = first + offsets[owners]!;
  return at;
}

/** Warps for so many synapses, two of them a lane. */
const slicesFor = (synapses: number): number => Math.max(1, Math.min(512, Math.ceil(synapses / 64)));

function timingNumbers(plasticity: PlannedSpikeTiming): number[] {
  const { sourceKeep, targetKeep, potentiation, depression, perScale, least, most, potentiationExponent, depressionExponent } = plasticity;
  return [sourceKeep, targetKeep, potentiation, depression, perScale, least, most, potentiationExponent, depressionExponent];
}

/** Bytes of a plan's plastic projections on a device, on average over seeds. */
export function plasticBytes(plan: NetworkPlan, synapsesOf: (projection: NetworkPlan["projections"][number]) => number): number {
  const real = plan.precision === "float32" ? 4 : 8;
  const own = plan.projections.filter(({ plasticity }) => plasticity !== null);
  if (own.length === 0) return 0;
  const rows = rowsOf(plan);
  const synapses = own.reduce((sum, each) => sum + synapsesOf(each) * (each.plasticity!.kind === "stdp" ? 14 + 2 * real : 8), 0);
  const traces = own.reduce(
    (sum, { source, target }) => sum + 2 * real * rows * (source.size + target.size) + 4 * plan.ringRows * source.size,
    0,
  );
  return synapses + traces + 16 * rows * (plan.size + plan.inputs);
}
