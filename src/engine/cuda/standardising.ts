// z-scores of series that lie on the device, of their changes from row to row, and the series from
// their ends. They stay there, with the bits of the host's.
import { type Held, Making } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, Parameter, Stream } from "@spillway/gpu";
import { type DeviceMatrix, DeviceSequences, stretchOf } from "../../reservoir/device-matrix.js";
import type { ColumnScale, ScaledThere } from "../../reservoir/engine.js";
import { type AnyArgument, type AnyBuffer, allocAny, shippedKernel } from "./kernels.js";
import type { RealSlice } from "./time-loop.js";

/** Series of one type one behind the other: where they lie, if they do, or in new memory. */
function together(
  stream: Stream,
  context: Context,
  series: readonly DeviceMatrix[],
  own: <T extends AnyBuffer>(buffer: T) => T,
): RealSlice {
  const { values } = stretchOf(series[0]!);
  const starts = [stretchOf(series[0]!).start];
  for (const { rows, cols } of series) starts.push(starts.at(-1)! + rows * cols);
  stream.waitFor(series.map((one) => one.values));
  if (series.every((one, b) => stretchOf(one).values === values && stretchOf(one).start === starts[b]))
    return values.slice(starts[0]!, starts.at(-1)!);
  const all = own(allocAny(context, values.dtype, starts.at(-1)! - starts[0]!, "series to standardise"));
  series.forEach((one, b) => {
    const part = all.slice(starts[b]! - starts[0]!, starts[b + 1]! - starts[0]!);
    stream.copy(part, one.values);
  });
  return all;
}

/** What the series are made of, and what makes kernels of this file run on them. */
interface SeriesWork {
  readonly all: RealSlice;
  readonly own: Held["own"];
  run(name: string, parameters: readonly Parameter[], grid: number | readonly [number, number], ...given: readonly AnyArgument[]): void;
  /** Launches with a block or more for each series. */
  readonly perSeries: readonly [number, number];
  /** The first row of each series, and the end of the last. */
  starts(): DeviceBuffer<"u64">;
}

/** New series of the same type and rows. `make` writes them on the stream. */
async function seriesMade<Result>(
  context: Context,
  stream: Stream,
  series: readonly DeviceMatrix[],
  label: string,
  make: (work: SeriesWork, out: AnyBuffer & RealSlice) => Promise<Result>,
): Promise<{ readonly series: DeviceSequences; readonly result: Result }> {
  using owned = new Making();
  using kept = new Making();
  const { own } = owned;
  const { cols, stepMs, values } = series[0]!;
  const all = together(stream, context, series, own);
  const out = kept.own(allocAny(context, values.dtype, all.length, label));
  const rows = series.map((one) => one.rows);
  const parts = Math.min(64, Math.max(1, Math.ceil((rows.reduce((most, each) => Math.max(most, each)) * cols) / 2048)));
  const work: SeriesWork = {
    ...{ all, own, perSeries: [rows.length, parts] },
    run(name, parameters, grid, ...given) {
      const entry = `standardisation_${name}`;
      const kernel = shippedKernel(context, "standardisation", entry, parameters);
      stream.launch(kernel, { grid, block: name.startsWith("moments") ? 32 : 256 }, ...given);
    },
    starts() {
      const starts = new BigUint64Array(rows.length + 1);
      rows.forEach((each, b) => {
        starts[b + 1] = starts[b]! + BigInt(each);
      });
      return own(context.upload(starts, { label: "starts of series" }));
    },
  };
  const result = await make(work, out);
  await stream.done();
  owned.dispose();
  return kept.done({ result, series: new DeviceSequences(context, out, { rows, cols, stepMs }, out) });
}

/**
 * Series of one type and width as z-scores of that type, in new memory; with `changes`, the
 * differences of their z-scores by that scale as z-scores. Without a scale the mean and deviation
 * of each column over all rows are taken, which come to the host.
 */
export async function standardiseThere(
  context: Context,
  stream: Stream,
  series: readonly DeviceMatrix[],
  given?: ColumnScale,
  changes?: ColumnScale,
): Promise<ScaledThere> {
  const { cols, values } = series[0]!;
  const real = values.dtype;
  const made = await seriesMade(context, stream, series, "z-scores", async ({ all, own, run, perSeries, starts }, out) => {
    const column = (numbers: Float64Array | undefined, label: string): DeviceBuffer<"f64"> =>
      own(numbers ? context.upload(numbers, { label }) : context.alloc("f64", cols, { label }));
    const scaleOf = (scale: ColumnScale | undefined) => [column(scale?.mean, "means"), column(scale?.deviation, "deviations")] as const;
    let [from, type]: [RealSlice, typeof real] = [all, real];
    if (changes) {
      const differences = own(context.alloc("f64", all.length, { label: "differences" }));
      const parameters = [`const ${real}*`, "const u64*", "u32", "const f64*", "const f64*", "f64*"] as const;
      run(`differences_${real}`, parameters, perSeries, all, starts(), cols, ...scaleOf(changes), differences);
      [from, type] = [differences, "f64"];
    }
    const [mean, deviation] = scaleOf(given);
    const source = [`const ${type}*`, "u64", "u32"] as const;
    if (!given) run(`moments_${type}`, [...source, "f64*", "f64*"], Math.ceil(cols / 32), from, all.length / cols, cols, mean, deviation);
    const name = type === real ? real : (`${type}_${real}` as const);
    const grid = Math.min(4096, Math.ceil(all.length / 256));
    run(`scores_${name}`, [...source, "const f64*", "const f64*", `${real}*`], grid, from, all.length, cols, mean, deviation, out);
    return given ?? { mean: await stream.download(mean), deviation: await stream.download(deviation) };
  });
  return { scale: made.result, series: made.series };
}

/** Series of one type and width, each from its last row to its first, in new memory. */
export async function reverseThere(context: Context, stream: Stream, series: readonly DeviceMatrix[]): Promise<DeviceSequences> {
  const { cols, values } = series[0]!;
  const real = values.dtype;
  const made = await seriesMade(context, stream, series, "reversed series", async ({ all, run, perSeries, starts }, out) =>
    run(`reversed_${real}`, [`const ${real}*`, "const u64*", "u32", `${real}*`], perSeries, all, starts(), cols, out),
  );
  return made.series;
}
