// The synapses of a network in device memory: drawn there, or copied from the host; and the same in
// slots for kernels/network_slots.cu.
import type { Held } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, DeviceSlice, Parameter, Stream } from "@spillway/gpu";
import { shippedKernel } from "@spillway/gpu/shipped-kernels.js";
import { type NetworkPlan, type NetworkTable, networkStreams, type PlannedProjection } from "../../network/plan.js";
import { tableSum as sumOnHost } from "../../network/table-sum.js";

/** Synapses by source, as a network's table on the host. */
export interface DeviceTable {
  readonly offsets: DeviceSlice<"u32">;
  readonly packed: DeviceSlice<"u32">;
  /** Without signs; none if they have more than 16 bits or both signs. */
  readonly units: DeviceSlice<"u16">;
  /** With their signs, in place of these, and the sum of the table. */
  readonly wide?: { readonly units: DeviceSlice<"i32">; readonly tableSum: string } | undefined;
  readonly cellBits: number;
  /** Neurons, and channels of input. */
  readonly sources: number;
  readonly synapses: number;
}

/** Sources in a row whose slots have one length and one sign. */
export interface SourceClass {
  readonly first: number;
  readonly size: number;
  readonly negative: boolean;
}

/** Synapses in slots: one of a fixed length for each source and block of targets. */
export interface DeviceSlots {
  readonly entries: DeviceSlice<"u32">;
  /** First source, first entry / 4, entries of a slot, sign: four numbers a class. */
  readonly classes: DeviceSlice<"u32">;
  readonly classCount: number;
  readonly blocks: number;
  readonly bytes: number;
}

/** Most classes: a lane of a warp holds one. */
export const mostClasses = 32;
const threads = 256;
const mostGrid = 8192;
/** Synapses have numbers of 32 bits. */
const mostSynapses = 2 ** 32;
/** A block that draws holds what it draws of each projection. */
const mostProjections = 1024;
const families = { constant: 0, uniform: 1, normal: 2 } as const;

type Pointers = readonly Parameter[];
const kernel = (context: Context, name: string, parameters: Pointers) => shippedKernel(context, "network_draw", name, parameters);

/** Whether a device draws the synapses of a plan; else the host does. */
export function isDrawnThere({ projections, oneSign, expectedSynapses }: NetworkPlan): boolean {
  return (
    oneSign &&
    expectedSynapses < mostSynapses &&
    projections.length <= mostProjections &&
    projections.every(
      ({ rule, multiple, weight, plasticity }) =>
        plasticity === null &&
        (rule.rule === "fixedTotalNumber" || rule.rule === "fixedOutDegree") &&
        multiple &&
        weight.family in families,
    )
  );
}

/**
 * Draws a plan's table on the device. Memory is `held`. @throws OutOfMemoryError; ArgumentError as
 * `drawNetwork`
 */
export async function drawTable(stream: Stream, context: Context, plan: NetworkPlan, held: Held): Promise<DeviceTable> {
  const { size, inputs, projections, key, cellBits } = plan;
  const sources = size + inputs;
  const { own } = held;
  const offsets = own(context.alloc("u32", sources + 1, { label: "offsets of synapses" }));
  const synapses = plan.expectedSynapses;
  const packed = own(context.alloc("u32", Math.max(1, synapses), { label: "cells and delays of synapses" }));
  const units = own(context.alloc("u16", Math.max(1, synapses), { label: "units of synapses" }));
  const layout = layoutOf(plan);
  using words = context.upload(layout.words, { label: "projections" });
  using samplers = context.upload(layout.samplers, { label: "weights of projections" });
  using thresholds = context.upload(layout.thresholds, { label: "delays of projections" });
  using degrees = context.zeros("u32", Math.max(1, layout.degrees), { label: "degrees of sources" });
  const count = kernel(context, "network_degrees", ["u32*", "u32", "u32", "u32", "u32", "u32", "u32"]);
  projections.forEach(({ rule, number: counter, source }, p) => {
    if (rule.rule !== "fixedTotalNumber" || rule.number === 0) return;
    const from = layout.words[p * projectionWords + 8]!;
    const part = degrees.slice(from, from + source.size);
    const grid = Math.min(mostGrid, Math.ceil(rule.number / 4 / threads));
    stream.launch(
      count,
      { grid, block: threads },
      part,
      source.size,
      rule.number,
      counter,
      key[0] >>> 0,
      key[1] >>> 0,
      networkStreams.counts,
    );
  });
  stream.launch(
    kernel(context, "network_offsets", ["u32*", "const u32*", "const u32*", "i32", "u32"]),
    { grid: 1, block: 1024 },
    ...[offsets, degrees, words, projections.length, sources],
  );
  stream.launch(
    kernel(context, "network_synapses", [
      ...(["u32*", "u16*", "const u32*", "const u32*", "const u32*", "const f64*", "const u32*"] as const),
      ...(["i32", "u32", "i32", "u32", "u32", "u32"] as const),
    ]),
    { grid: Math.min(sources, mostGrid), block: threads },
    ...[packed, units, offsets, degrees, words, samplers, thresholds],
    ...[projections.length, sources, cellBits, key[0] >>> 0, key[1] >>> 0, networkStreams.synapses],
  );
  await stream.done();
  return { offsets, packed, units, cellBits, sources, synapses };
}

const projectionWords = 11;
const samplerNumbers = 7;

/**
 * What the kernels read of projections, one after the other. Targets are cells: receptor N + target.
 */
function layoutOf({ projections, fractionBits, size }: NetworkPlan) {
  const words = new Uint32Array(Math.max(1, projections.length) * projectionWords);
  const samplers = new Float64Array(Math.max(1, projections.length) * samplerNumbers);
  const thresholds: number[] = [0];
  const scale = 2 ** fractionBits;
  let degrees = 0;
  projections.forEach((projection, p) => {
    const { source, target, receptor, number, delay, weight, rule } = projection;
    const given = rule.rule === "fixedOutDegree" ? rule.number : 0;
    const cells = receptor * size;
    words.set(
      [
        ...[source.first, source.size, cells + target.first, target.size, number, thresholds.length, delay.thresholds.length, delay.first],
        ...[degrees, forbidden(projection, cells), given],
      ],
      p * projectionWords,
    );
    const { family, a, b, low, share, least, most } = weight;
    samplers.set(
      [families[family as keyof typeof families], a * scale, b * scale, low, share, least * scale, most * scale],
      p * samplerNumbers,
    );
    for (const threshold of delay.thresholds) thresholds.push(threshold);
    degrees += source.size;
  });
  return { words, samplers, thresholds: Uint32Array.from(thresholds), degrees };
}

/** What added to a source is a cell that it must not have: its own, or none at all. */
const forbidden = ({ selfConnections, target }: PlannedProjection, cells: number): number =>
  selfConnections || target.size < 2 ? 2 ** 31 : cells;

/** A table of the host. Memory is `held`. @throws OutOfMemoryError */
export function uploadTable(context: Context, table: NetworkTable, held: Held): DeviceTable {
  const { offsets, packed, units, cellBits } = table;
  const upload = <A extends Uint32Array | Uint16Array | Int32Array>(array: A, label: string) => {
    const given = array.length > 0 ? array : new (array.constructor as new (length: number) => A)(1);
    return held.own(context.upload(given as A & Uint32Array<ArrayBuffer>, { label }));
  };
  const isWide = units instanceof Int32Array;
  return {
    offsets: upload(offsets, "offsets of synapses"),
    packed: upload(packed, "cells and delays of synapses"),
    units: upload(isWide ? new Uint16Array(1) : units, "units of synapses") as unknown as DeviceSlice<"u16">,
    ...(isWide && { wide: { units: upload(units, "units of synapses") as unknown as DeviceSlice<"i32">, tableSum: sumOnHost(table) } }),
    ...{ cellBits, sources: offsets.length - 1, synapses: packed.length },
  };
}

/** The largest sum of units, without their signs, that reaches a cell. */
export async function largestReach(stream: Stream, context: Context, table: DeviceTable, cells: number): Promise<number> {
  using sums = context.zeros("u64", cells, { label: "units onto cells" });
  stream.launch(
    kernel(context, "network_reach", ["u64*", "const u32*", "const u16*", "u32", "i32"]),
    { grid: Math.max(1, Math.min(mostGrid, Math.ceil(table.synapses / threads))), block: threads },
    ...[sums, table.packed, table.units, table.synapses, table.cellBits],
  );
  return (await stream.download(sums)).reduce((most, sum) => Math.max(most, Number(sum)), 0);
}

/** The sum of a table's synapses, in whatever order they are. */
export async function tableSum(stream: Stream, context: Context, table: DeviceTable): Promise<bigint> {
  if (table.wide) return BigInt(`0x${table.wide.tableSum}`);
  using sum = context.zeros("u64", 1, { label: "sum of synapses" });
  stream.launch(
    kernel(context, "network_table_sum", ["const u32*", "const u16*", "const u32*", "u32", "i32", "u64*"]),
    { grid: Math.min(table.sources, mostGrid), block: threads },
    ...[table.packed, table.units, table.offsets, table.sources, table.cellBits, sum],
  );
  return (await stream.download(sum))[0]!;
}

/**
 * Puts a table into slots for a grid of so many blocks. Memory is `held`. @throws OutOfMemoryError
 */
export async function packSlots(
  stream: Stream,
  context: Context,
  table: DeviceTable,
  { classes, blocks }: { readonly classes: readonly SourceClass[]; readonly blocks: number },
  held: Held,
): Promise<DeviceSlots> {
  const { packed, units, offsets, sources, cellBits } = table;
  const words = (lengths: Uint32Array): { readonly words: Uint32Array<ArrayBuffer>; readonly entries: number } => {
    const out = new Uint32Array(4 * classes.length);
    let entries = 0;
    classes.forEach(({ first, size, negative }, c) => {
      const length = 8 * Math.ceil(lengths[c]! / 8);
      out.set([first, entries / 4, length, negative ? 1 : 0], 4 * c);
      entries += size * blocks * length;
    });
    return { words: out, entries };
  };
  using lengths = context.zeros("u32", classes.length, { label: "lengths of slots" });
  using first = context.upload(words(new Uint32Array(classes.length)).words, { label: "classes of sources" });
  const launch = { grid: Math.min(sources, mostGrid), block: threads, shared: 4 * blocks };
  stream.launch(
    kernel(context, "network_slot_lengths", ["u32*", "const u32*", "const u32*", "const u32*", "i32", "u32", "i32", "u32"]),
    launch,
    ...[lengths, packed, offsets, first, classes.length, sources, cellBits, blocks],
  );
  const planned = words(await stream.download(lengths));
  const entries = held.own(context.zeros("u32", Math.max(4, planned.entries), { label: "slots of synapses" }));
  const classWords: DeviceBuffer<"u32"> = held.own(context.upload(planned.words, { label: "classes of sources" }));
  stream.launch(
    kernel(context, "network_slots_fill", ["u32*", "const u32*", "const u16*", "const u32*", "const u32*", "i32", "u32", "i32", "u32"]),
    launch,
    ...[entries, packed, units, offsets, classWords, classes.length, sources, cellBits, blocks],
  );
  return { entries, classes: classWords, classCount: classes.length, blocks, bytes: 4 * planned.entries };
}

/** The sum of the synapses in slots: that of the table they were packed from. */
export async function slotsSum(stream: Stream, context: Context, slots: DeviceSlots, sources: number): Promise<bigint> {
  using sum = context.zeros("u64", 1, { label: "sum of synapses" });
  stream.launch(
    kernel(context, "network_slots_sum", ["const u32*", "const u32*", "i32", "u32", "u32", "u64*"]),
    { grid: Math.min(sources, mostGrid), block: threads },
    ...[slots.entries, slots.classes, slots.classCount, sources, slots.blocks, sum],
  );
  return (await stream.download(sum))[0]!;
}
