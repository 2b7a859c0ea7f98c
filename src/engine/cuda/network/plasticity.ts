// Plastic projections of a network in device memory: what kernels/network_plastic.cu reads and
// changes of them. docs/numerics.md, rule 13.
import type { Context, DeviceBuffer, DeviceSlice, Stream } from "../../../gpu/index.js";
import { allocate, type FloatArray } from "../../../numerics/index.js";
import type { NetworkPlan, PlannedSpikeTiming, PlasticTable } from "../../../spikes/network/plan.js";
import { initialPlasticity, keptTimes } from "../../../spikes/network/plasticity.js";
import type { NetworkRunState } from "../../../spikes/network/session.js";
import { type AnyBuffer, realType } from "../kernels.js";

type PlasticState = Pick<NetworkRunState, "fired" | "plastic" | "resources">;
type Own = <T extends { dispose(): void }>(thing: T) => T;

/** What the kernel takes of plastic projections. */
export const plasticParameters = [
  ...(["const u32*", "const f64*", "i32", "const u32*", "const u32*", "const i32*", "u32"] as const),
  ...(["const u32*", "const u32*", "const u32*", "const u16*", "real*", "real*", "f64*"] as const),
  ...(["u32*", "u32*", "u32*", "u32", "u32", "u32"] as const),
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
  /** Rows of the history: the times kept, and the one that a step writes. */
  readonly #rows: number;
  /** The row of the present time. */
  #now = 0;
  #nowBefore = 0;

  constructor(context: Context, plan: NetworkPlan, tables: readonly PlasticTable[], own: Own) {
    const layout = layoutOf(plan, tables);
    this.#context = context;
    this.#plan = plan;
    this.#tables = tables;
    this.#layout = layout;
    this.#rows = keptTimes(plan) + 1;
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
      ...[upload(layout.runs, "runs of plastic synapses"), upload(layout.places, "places of plastic synapses")],
      ...[upload(layout.units, "units of plastic synapses"), layout.timed, upload(layout.incomingOffsets, "offsets by target")],
      ...[upload(layout.incoming, "synapses by target"), upload(layout.incomingSources, "sources by target")],
      ...[upload(layout.incomingDelays, "delays by target"), weights, traces, resources],
    ];
  }

  /** Arguments of a launch from the present time on. */
  get arguments(): readonly unknown[] {
    const { fired, lists, counts } = this.#changing;
    return [...this.#fixed, fired, lists, counts, this.#rows, this.#now, this.#plan.size + this.#plan.inputs];
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
    const length = this.#tables[k]!.places.length;
    return length === 0 ? allocate(this.#plan.precision, 0) : this.#read(this.#changing.weights, first, length);
  }

  getState(): PlasticState {
    const state = initialPlasticity({ ...this.#plan, plastic: this.#tables });
    const sources = this.#plan.size + this.#plan.inputs;
    const fired = this.#context.read(this.#changing.fired);
    for (let ago = 0; ago < this.#rows - 1; ago++) {
      const row = this.#rowOf(ago);
      state.fired.set(fired.subarray(row * sources, (row + 1) * sources), ago * sources);
    }
    let at = 0;
    const traces = this.#read(this.#changing.traces, 0, Math.max(1, this.#layout.traces));
    this.#tables.forEach((table, k) => {
      const weights = this.weights(k);
      if (!weights) return;
      state.plastic.set(weights, at);
      at += weights.length;
      const { source, target } = table.projection;
      const [ofSources, ofTargets] = this.#layout.traceFirsts[k]!;
      // A step leaves the traces of the next time too.
      for (let ago = 1; ago < this.#rows; ago++, at += source.size) {
        const row = ofSources + this.#rowOf(ago) * source.size;
        state.plastic.set(traces.subarray(row, row + source.size), at);
      }
      const row = ofTargets + this.#rowOf(1) * target.size;
      state.plastic.set(traces.subarray(row, row + target.size), at);
      at += target.size;
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
    for (let ago = 0; ago < this.#rows - 1; ago++) {
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
    this.#tables.forEach(({ projection, places }, k) => {
      if (projection.plasticity?.kind !== "stdp") return;
      const { source, target } = projection;
      const first = this.#layout.firsts[k]!;
      if (places.length > 0)
        this.#write(stream, this.#changing.weights.slice(first, first + places.length), plastic.subarray(at, at + places.length));
      at += places.length;
      const [ofSources, ofTargets] = this.#layout.traceFirsts[k]!;
      for (let ago = 1; ago < this.#rows; ago++, at += source.size)
        traces.set(plastic.subarray(at, at + source.size), ofSources + this.#rowOf(ago) * source.size);
      traces.set(plastic.subarray(at, at + target.size), ofTargets + this.#rowOf(1) * target.size);
      at += target.size;
      const { sourceKeep, targetKeep } = projection.plasticity;
      for (const [from, { first: neuron, size }, keep] of [
        [ofSources, source, sourceKeep],
        [ofTargets, target, targetKeep],
      ] as const)
        for (let j = 0; j < size; j++) {
          const before = traces[from + this.#rowOf(1) * size + j]! + fired[sources + neuron + j]!;
          traces[from + this.#rowOf(0) * size + j] = keep * (plan.precision === "float32" ? Math.fround(before) : before);
        }
    });
    this.#write(stream, this.#changing.traces, traces);
    if (resources.length > 0) stream.upload(this.#changing.resources, resources as Float64Array<ArrayBuffer>);
    stream.upload(this.#changing.fired, there);
    stream.upload(this.#changing.lists, lists);
    stream.upload(this.#changing.counts, counts);
    stream.sync();
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

/** Lists of all plastic projections one after the other, as the kernel's head names them. */
interface Layout {
  readonly words: Uint32Array;
  readonly numbers: Float64Array;
  readonly runs: Uint32Array;
  readonly places: Uint32Array;
  readonly units: Int32Array;
  /** Synapses of stdp, which stand first. */
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

const wordsOf = 17;
const numbersOf = 9;

function layoutOf(plan: NetworkPlan, tables: readonly PlasticTable[]): Layout {
  const isTiming = ({ projection }: PlasticTable) => projection.plasticity!.kind === "stdp";
  const count = (of: readonly PlasticTable[]) => of.reduce((sum, { places }) => sum + places.length, 0);
  const timed = count(tables.filter(isTiming));
  const all = count(tables);
  const words = new Uint32Array(tables.length * wordsOf);
  const numbers = new Float64Array(tables.length * numbersOf);
  const places = new Uint32Array(all);
  const units = new Int32Array(all - timed);
  const incoming = new Uint32Array(timed);
  const incomingSources = new Uint32Array(timed);
  const incomingDelays = new Uint16Array(timed);
  const delays = tables.map((table) => (isTiming(table) ? delaysOf(table, plan.cellBits) : { least: 0, count: 1 }));
  const runs = new Uint32Array(tables.reduce((sum, { projection }, k) => sum + projection.source.size * delays[k]!.count + 1, 0));
  const incomingOffsets = new Uint32Array(tables.reduce((sum, table) => sum + (isTiming(table) ? table.incomingOffsets.length : 0), 0));
  const rows = keptTimes(plan) + 1;
  let [stdp, shortTerm, run, target, traces, resources] = [0, timed, 0, 0, 0, 0];
  const firsts: number[] = [];
  const traceFirsts: (readonly [number, number])[] = [];
  tables.forEach((table, k) => {
    const { projection, offsets } = table;
    const { source, target: targets, plasticity } = projection;
    const timing = plasticity!.kind === "stdp";
    const first = timing ? stdp : shortTerm;
    const { least, count: delayCount } = delays[k]!;
    const ofTargets = traces + rows * source.size;
    const perSource = table.places.length / source.size / delayCount;
    words.set(
      [
        ...[timing ? 1 : 0, source.first, source.size, targets.first, targets.size, projection.receptor * plan.size + targets.first],
        ...[projection.sign < 0 ? 1 : 0, plasticity!.kind === "stdp" && plasticity!.isBounded ? 1 : 0, least, delayCount],
        ...[run, target, traces, ofTargets, resources, slicesFor(perSource), slicesFor(table.places.length / targets.size)],
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
    places.set(table.places, first);
    for (let j = 0; j < source.size; j++) {
      let s = offsets[j]!;
      for (let d = 0; d < delayCount; d++) {
        runs[run++] = first + s;
        while (timing && s < offsets[j + 1]! && table.places[s]! >>> plan.cellBits === least + d) s++;
      }
    }
    runs[run++] = first + table.places.length;
    if (!timing) {
      units.set(table.units, first - timed);
      shortTerm += table.places.length;
      resources += 3 * source.size;
      return;
    }
    table.incomingOffsets.forEach((at) => {
      incomingOffsets[target++] = first + at;
    });
    incomingSources.set(table.sources, first);
    for (let at = 0; at < table.incoming.length; at++) {
      const s = table.incoming[at]!;
      incoming[first + at] = first + s;
      incomingDelays[first + at] = table.places[s]! >>> plan.cellBits;
    }
    stdp += table.places.length;
    traces = ofTargets + rows * targets.size;
  });
  return {
    words,
    numbers,
    runs,
    places,
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

/** Delays from the least to the most of a projection's synapses; one if there are none. */
function delaysOf({ places }: PlasticTable, cellBits: number): { readonly least: number; readonly count: number } {
  let [least, most] = [places.length > 0 ? places[0]! >>> cellBits : 0, 0];
  for (let s = 0; s < places.length; s++) {
    const delay = places[s]! >>> cellBits;
    if (delay < least) least = delay;
    if (delay > most) most = delay;
  }
  return { least, count: Math.max(1, 1 + most - least) };
}

/** Warps for so many synapses, four of them a lane. */
const slicesFor = (synapses: number): number => Math.max(1, Math.min(64, Math.ceil(synapses / 128)));

function timingNumbers(plasticity: PlannedSpikeTiming): number[] {
  const { sourceKeep, targetKeep, potentiation, depression, perScale, least, most, potentiationExponent, depressionExponent } = plasticity;
  return [sourceKeep, targetKeep, potentiation, depression, perScale, least, most, potentiationExponent, depressionExponent];
}

/** Bytes of a plan's plastic projections on a device, on average over seeds. */
export function plasticBytes(plan: NetworkPlan, synapsesOf: (projection: NetworkPlan["projections"][number]) => number): number {
  const real = plan.precision === "float32" ? 4 : 8;
  const own = plan.projections.filter(({ plasticity }) => plasticity !== null);
  if (own.length === 0) return 0;
  const rows = keptTimes(plan) + 1;
  const synapses = own.reduce((sum, each) => sum + synapsesOf(each) * (each.plasticity!.kind === "stdp" ? 14 + 2 * real : 8), 0);
  const traces = own.reduce(
    (sum, { source, target }) => sum + 2 * real * rows * (source.size + target.size) + 4 * plan.ringRows * source.size,
    0,
  );
  return synapses + traces + 16 * rows * (plan.size + plan.inputs);
}
