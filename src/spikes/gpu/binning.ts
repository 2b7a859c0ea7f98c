// Binning on a device: the T x N inputs that binSpikes makes, bit for bit, of spikes that may have
// been made there.
import { checkWhole } from "@spillway/core/checks.js";
import { Making } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, type InputOf, optional, resolve } from "@spillway/core/options.js";
import type { Context, DeviceSlice, Stream } from "@spillway/gpu";
import { DeviceMatrix } from "../../reservoir/index.js";
import { type BinOptions, binsOf, binTable } from "../pattern/binning.js";
import type { SpikePattern } from "../pattern/pattern.js";
import { type DeviceSpikeColumns, DeviceSpikePattern } from "./device-pattern.js";
import { binningKernel, gridFor, none } from "./kernels.js";

export const deviceBinTable = {
  ...binTable,
  /**
   * Work that came before on this stream is waited for. Default a stream of its own, for spikes
   * that are there already.
   */
  stream: optional(
    checked<Stream>("a stream of the context", (value) => typeof (value as Stream | null)?.launch === "function"),
    "Work that came before on it is waited for; left out, a stream of its own.",
  ),
};

/** Who does the binning. */
export interface DeviceBinOptions extends BinOptions, InputOf<typeof deviceBinTable> {}

const unitsOfOne = 16777216;

/**
 * `binSpikes` on a device: the same options, the same bits. A pattern on the host is copied there
 * first; one on the device may have its spikes in any order. Sums are of whole numbers (32 bits for
 * counts, units of 2^-24 for amplitudes). The bins, T x C in binary32, stay on the device;
 * `toMatrix` copies them.
 * @throws ArgumentError as binSpikes does; if a spike on the device lies outside its pattern;
 * if the amplitudes of one bin sum to 2^29.
 */
export async function binSpikesOnDevice(
  context: Context,
  pattern: SpikePattern | DeviceSpikePattern,
  options: DeviceBinOptions,
): Promise<DeviceMatrix<DeviceSlice<"f32">>> {
  const { values, channels = pattern.neuronCount, stream: theirs, ...given } = resolve(deviceBinTable, options);
  checkWhole("channels", channels, 1, pattern.neuronCount);
  const { bins, width } = binsOf(pattern, given);
  checkWhole("bins", bins, 1, 0xffffffff);
  checkWhole("the number of spikes", pattern.spikeCount, 0, 2 ** 31);
  using held = new Making();
  using result = new Making();
  const spikes = pattern instanceof DeviceSpikePattern ? pattern : held.own(DeviceSpikePattern.upload(context, pattern));
  const stream = theirs ?? held.own(context.stream({ label: "binning" }));
  const cells = result.own(context.alloc("f32", bins * channels, { label: "bins" }));
  const weighted = values === "amplitudes" && spikes.columns.amplitudes !== undefined;
  const report = held.own(context.alloc("u64", 3, { label: "report of the binning" }));
  const copies = copiesOf(cells.length);
  const length = copies * cells.length;
  const sums: BinningSums = weighted
    ? { copies, high: held.own(context.alloc("i64", length)), low: held.own(context.alloc("u64", length)) }
    : { copies, counts: copies === 1 ? cells.as("u32") : held.own(context.alloc("u32", length)) };
  enqueueBinning(stream, context, spikes, { bins, channels, width }, { cells, report, sums });
  checkReport(context, spikes, await stream.download(report), {
    durationOf: () => spikes.durationMs,
    spike: String,
    bin: (cell) => String(Math.floor(cell / channels)),
  });
  held.dispose();
  return result.done(
    new DeviceMatrix<DeviceSlice<"f32">>(context, cells, { rows: bins, cols: channels, stepMs: width || undefined }, cells),
  );
}

/** Copies of the cells that spikes are added to, so that few spikes at once meet in one. */
export const copiesOf = (cells: number): number => Math.max(1, Math.min(64, Math.floor(2 ** 16 / cells)));

/**
 * Whole sums, `copies` times T x C: counts, or amplitudes in two parts. One copy of counts may lie
 * where the cells do.
 */
type BinningSums = { readonly copies: number } & (
  | { readonly counts: DeviceSlice<"u32"> }
  | { readonly high: DeviceSlice<"i64">; readonly low: DeviceSlice<"u64"> }
);

/** Memory that one binning works in. */
export interface BinningMemory {
  /** T x C. */
  readonly cells: DeviceSlice<"f32">;
  /**
   * 3 numbers: the first spike outside the pattern, the first with an amplitude too large, the
   * first cell with a sum too large.
   */
  readonly report: DeviceSlice<"u64">;
  readonly sums: BinningSums;
}

/** Enqueues one binning and waits for nothing. */
export function enqueueBinning(
  stream: Stream,
  context: Context,
  spikes: DeviceSpikePattern,
  { bins, channels, width }: { readonly bins: number; readonly channels: number; readonly width: number },
  { cells, report, sums }: BinningMemory,
): void {
  const { times, neurons, amplitudes } = spikes.columns;
  const { copies } = sums;
  const shape = [spikes.spikeCount, spikes.neuronCount, spikes.durationMs, width, bins, channels, copies] as const;
  const everySpike = gridFor(spikes.spikeCount);
  const everyCell = gridFor(cells.length);
  stream.fill(report.as("u32"), 0xffffffff);
  if ("counts" in sums) {
    const { counts } = sums;
    stream.fill(counts);
    stream.launch(binningKernel(context, "count"), everySpike, times, neurons, ...shape, counts, report);
    stream.launch(binningKernel(context, "counts"), everyCell, counts, cells, cells.length, copies);
    return;
  }
  const { high, low } = sums;
  stream.fill(high);
  stream.fill(low);
  stream.launch(binningKernel(context, "add"), everySpike, times, neurons, amplitudes ?? null, ...shape, high, low, report);
  stream.launch(binningKernel(context, "sums"), everyCell, high, low, cells, cells.length, copies, report);
}

/** Spikes and what is said of them in errors. */
export interface ReportedSpikes {
  readonly columns: DeviceSpikeColumns;
  readonly neuronCount: number;
}

/** Words for what a report numbers. */
export interface ReportWords {
  /** How long the pattern of a spike lasts. */
  durationOf(spike: number): number;
  /** "3", or "3 of patterns[7]". */
  spike(spike: number): string;
  /** The same for the bin of a cell. */
  bin(cell: number): string;
}

/** @throws ArgumentError for the first thing that was wrong. */
export function checkReport(context: Context, { columns, neuronCount }: ReportedSpikes, report: BigUint64Array, words: ReportWords): void {
  const [outside, amplitude, cell] = Array.from(report, (index) => (index === none ? undefined : Number(index)));
  if (outside !== undefined) {
    const [time] = context.read(columns.times.slice(outside, outside + 1));
    const durationMs = words.durationOf(outside);
    if (!(time! >= 0 && time! <= durationMs))
      throw new ArgumentError(`the time of spike ${words.spike(outside)}`, time, `0 to ${durationMs} ms, the duration of the pattern`);
    const [neuron] = context.read(columns.neurons.slice(outside, outside + 1));
    throw new ArgumentError(`the neuron of spike ${words.spike(outside)}`, neuron, `a whole number from 0 to ${neuronCount - 1}`);
  }
  if (amplitude !== undefined) {
    const [value] = context.read(columns.amplitudes!.slice(amplitude, amplitude + 1));
    const takes = `finite numbers below ${2 ** 53 / unitsOfOne}: scale the amplitudes down`;
    throw new ArgumentError(`the amplitude of spike ${words.spike(amplitude)}`, value, takes);
  }
  if (cell !== undefined) {
    const takes = "sums below 2^29: scale the amplitudes down";
    throw new ArgumentError(`the sum of amplitudes in bin ${words.bin(cell)}`, "2^29 or more", takes, { shown: "too large" });
  }
}
