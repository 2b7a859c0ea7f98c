// z-scores of series that lie on the device, which stay there, with the bits of the host's.
import { disposeQuietly, Held } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, Stream } from "@spillway/gpu";
import { type DeviceMatrix, DeviceSequences, stretchOf } from "../../reservoir/device-matrix.js";
import type { ColumnScale, ScaledThere } from "../../reservoir/engine.js";
import { type AnyArgument, type AnyBuffer, type AnyKernel, allocAny, loadEntries } from "./kernels.js";
import type { RealSlice } from "./time-loop.js";

const file = "standardisation";

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

/**
 * Series of one type and width as z-scores of that type, in new memory. Without a scale the mean
 * and deviation of each column over all rows are taken, which come to the host.
 */
export async function standardiseThere(context: Context, series: readonly DeviceMatrix[], given?: ColumnScale): Promise<ScaledThere> {
  const owned = new Held();
  const { own } = owned;
  const { cols, stepMs, values } = series[0]!;
  const real = values.dtype;
  let out: (AnyBuffer & RealSlice) | undefined;
  try {
    const stream = own(context.stream({ label: "z-scores" }));
    const all = together(stream, context, series, own);
    const column = (values: Float64Array | undefined, label: string): DeviceBuffer<"f64"> =>
      own(values ? context.upload(values, { label }) : context.alloc("f64", cols, { label }));
    const [mean, deviation] = [column(given?.mean, "means"), column(given?.deviation, "deviations")];
    if (!given) {
      const name = `standardisation_moments_${real}`;
      const kernel = loadEntries(context, file, [name]).kernel(name, [`const ${real}*`, "u64", "u32", "f64*", "f64*"]);
      launch(stream, kernel, Math.ceil(cols / 32), 32, [all, all.length / cols, cols, mean, deviation]);
    }
    out = allocAny(context, real, all.length, "z-scores");
    const name = `standardisation_scores_${real}`;
    const kernel = loadEntries(context, file, [name]).kernel(name, [
      `const ${real}*`,
      "u64",
      "u32",
      "const f64*",
      "const f64*",
      `${real}*`,
    ]);
    launch(stream, kernel, Math.min(4096, Math.ceil(all.length / 256)), 256, [all, all.length, cols, mean, deviation, out]);
    const scale = given ?? { mean: await stream.download(mean), deviation: await stream.download(deviation) };
    await stream.done();
    owned.dispose();
    const rows = series.map((one) => one.rows);
    return { scale, series: new DeviceSequences(context, out, { rows, cols, stepMs }, out) };
  } catch (error) {
    disposeQuietly([owned, out]);
    throw error;
  }
}

function launch(stream: Stream, kernel: AnyKernel, grid: number, block: number, given: readonly AnyArgument[]): void {
  stream.launch(kernel, { grid, block }, ...given);
}
