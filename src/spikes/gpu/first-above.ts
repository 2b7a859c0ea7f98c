// Looks for inputs in device memory that are stronger than a reservoir takes.
import { Held } from "@spillway/core/disposal.js";
import type { Context, DeviceSlice, ReadonlyDeviceSlice, Stream } from "@spillway/gpu";
import { binningKernel, gridFor, none } from "./kernels.js";

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
  stream.fill(first.as("u32"), 0xffffffff);
  stream.launch(
    binningKernel(context, `above_${values.dtype}`),
    gridFor(values.length),
    values as DeviceSlice,
    values.length,
    limit,
    first,
  );
  const [index] = await stream.download(first);
  if (index === none) return undefined;
  const at = Number(index);
  const [value] = await stream.download(values.slice(at, at + 1) as DeviceSlice<"f32">);
  return { index: at, value: value! };
}
