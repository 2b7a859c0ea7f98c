// Binning of many patterns on a device in one launch, each as binSpikesOnDevice bins it.
import { checkWhole } from "@spillway/core/checks.js";
import { Making } from "@spillway/core/disposal.js";
import { resolve } from "@spillway/core/options.js";
import type { Context, DeviceSlice } from "@spillway/gpu";
import { DeviceSequences } from "../../reservoir/index.js";
import { binsOf } from "../pattern/binning.js";
import type { SpikePattern } from "../pattern/pattern.js";
import { checkReport, type DeviceBinOptions, deviceBinTable, type ReportWords } from "./binning.js";
import { DeviceSpikePatterns } from "./device-pattern.js";
import { binningKernel, gridFor } from "./kernels.js";

/** Blocks along a grid's second axis at most; each takes several patterns if there are more. */
const mostRows = 32_768;

/**
 * The bins of each pattern as `binSpikes` makes them, T x C in binary32, one pattern behind the
 * other in device memory. Patterns on the host are copied there first.
 *
 * @example
 * using spikes = DeviceSpikePatterns.upload(context, patterns);
 * using bins = await binPatternsOnDevice(context, spikes, { binMs: 1 });
 * using states = await computer.batch(bins.sequences, { keep: "deviceLast" });
 * @throws ArgumentError as binSpikes does, naming the pattern; if a spike on the device lies
 * outside its pattern
 */
export async function binPatternsOnDevice(
  context: Context,
  patterns: readonly SpikePattern[] | DeviceSpikePatterns,
  options: DeviceBinOptions,
): Promise<DeviceSequences<DeviceSlice<"f32">>> {
  const { values, channels: columnCount, stream: theirs, ...given } = resolve(deviceBinTable, options);
  using held = new Making();
  using result = new Making();
  const spikes = patterns instanceof DeviceSpikePatterns ? patterns : held.own(DeviceSpikePatterns.upload(context, patterns));
  const { columns, neuronCount, durationsMs, offsets, count, spikeCount } = spikes;
  const channels = checkWhole("channels", columnCount ?? neuronCount, 1, neuronCount);
  checkWhole("the number of spikes", spikeCount, 0, 2 ** 31);
  const shapes = durationsMs.map((durationMs) => binsOf({ durationMs }, given));
  const cells = [0];
  for (const { bins } of shapes) cells.push(cells.at(-1)! + checkWhole("bins", bins, 1, 0xffffffff) * channels);
  const total = cells.at(-1)!;
  const stream = theirs ?? held.own(context.stream({ label: "binning" }));
  const out = result.own(context.alloc("f32", total, { label: "bins" }));
  const report = held.own(context.alloc("u64", 3, { label: "report of the binning" }));
  const table = <A extends BigUint64Array | Float64Array>(array: A, label: string) => held.own(context.upload(array, { label }));
  const each = [
    table(BigUint64Array.from(offsets, BigInt), "first spikes"),
    table(Float64Array.from(durationsMs), "durations"),
    table(
      Float64Array.from(shapes, ({ width }) => width),
      "widths of bins",
    ),
    table(BigUint64Array.from(cells, BigInt), "first cells"),
    count,
    neuronCount,
    channels,
  ] as const;
  const { times, neurons, amplitudes } = columns;
  const grid = [Math.max(1, Math.min(64, Math.ceil(spikeCount / count / 256))), Math.min(count, mostRows)] as const;
  stream.waitFor(amplitudes ? [times, neurons, amplitudes] : [times, neurons]);
  stream.fill(report.as("u32"), 0xffffffff);
  if (values === "amplitudes" && amplitudes) {
    const [high, low] = [held.own(context.alloc("i64", total)), held.own(context.alloc("u64", total))];
    stream.fill(high);
    stream.fill(low);
    stream.launch(binningKernel(context, "add_each"), { grid, block: 256 }, times, neurons, amplitudes, ...each, high, low, report);
    stream.launch(binningKernel(context, "sums"), gridFor(total), high, low, out, total, 1, report);
  } else {
    const counts = out.as("u32");
    stream.fill(counts);
    stream.launch(binningKernel(context, "count_each"), { grid, block: 256 }, times, neurons, ...each, counts, report);
    stream.launch(binningKernel(context, "counts"), gridFor(total), counts, out, total, 1);
  }
  checkReport(context, spikes, await stream.download(report), {
    ...patternWords(spikes),
    bin(cell) {
      const b = lastFrom(cells, cell);
      return `${Math.floor((cell - cells[b]!) / channels)} of patterns[${b}]`;
    },
  });
  held.dispose();
  const { width } = shapes[0]!;
  const stepMs = width > 0 && shapes.every((shape) => shape.width === width) ? width : undefined;
  return result.done(
    new DeviceSequences<DeviceSlice<"f32">>(context, out, { rows: shapes.map(({ bins }) => bins), cols: channels, stepMs }, out),
  );
}

const lastFrom = (starts: readonly number[], index: number): number => starts.findLastIndex((start) => start <= index);

/** What spikes of patterns one behind the other are called in errors. */
export function patternWords({ offsets, durationsMs }: DeviceSpikePatterns): ReportWords {
  return {
    durationOf: (spike) => durationsMs[lastFrom(offsets, spike)]!,
    spike(spike) {
      const b = lastFrom(offsets, spike);
      return `${spike - offsets[b]!} of patterns[${b}]`;
    },
    bin: String,
  };
}
