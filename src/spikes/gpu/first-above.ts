// Looks for inputs in device memory that are stronger than a reservoir takes.
import { Held } from "@spillway/core/disposal.js";
import type { Context, DeviceSlice, ReadonlyDeviceSlice, Stream } from "@spillway/gpu";
import { gridFor, none, spikeKernels } from "./kernels.js";

/**
 * The first of some numbers whose magnitude is above a limit, or that is NaN; undefined if there is
 * none.
 */
export async function firstAbove(
  context: Context,
  stream: Stream,
  values: ReadonlyDeviceSlice<"f32"> | ReadonlyDeviceSlice<"f64">,
  limit: number,
): Promise<{ readonly index: number; readonly value: number } | undefined> {
  using held = new Held();
  const first = held.own(context.alloc("u64", 1, { label: "first input that is too strong" }));
  const { above, aboveDouble } = spikeKernels(context);
  stream.fill(first.as("u32"), 0xffffffff);
  const config = gridFor(values.length);
  if (values.dtype === "f32") stream.launch(above, config, values as ReadonlyDeviceSlice<"f32">, values.length, limit, first);
  else stream.launch(aboveDouble, config, values as ReadonlyDeviceSlice<"f64">, values.length, limit, first);
  const [index] = await stream.download(first);
  if (index === none) return undefined;
  const at = Number(index);
  const [value] = await stream.download(values.slice(at, at + 1) as DeviceSlice<"f32">);
  return { index: at, value: value! };
}
