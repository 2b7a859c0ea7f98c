// Spikes that kernels write without knowing how many there will be: a first launch counts those of
// each series, and a second one writes them.
import { Making } from "@spillway/core/disposal.js";
import type { Context, DeviceSlice, Stream } from "@spillway/gpu";
import { DeviceSpikePatterns } from "./device-pattern.js";

/**
 * What `launch` writes: one of `cursors` for each series, and null in place of times and
 * neurons in the launch that counts. `check` is called between the two, with the number of spikes.
 * Returns what makes patterns of them.
 */
export async function writeSpikes(
  context: Context,
  stream: Stream,
  series: number,
  launch: (cursors: DeviceSlice<"u64">, times: DeviceSlice<"f64"> | null, neurons: DeviceSlice<"u32"> | null) => void,
  check?: (total: number) => Promise<void>,
): Promise<(about: Pick<DeviceSpikePatterns, "durationsMs" | "neuronCount">) => DeviceSpikePatterns> {
  using held = new Making();
  using result = new Making();
  const cursors = held.own(context.zeros("u64", series, { label: "spikes of each series" }));
  launch(cursors, null, null);
  const offsets = [0];
  for (const count of await stream.download(cursors)) offsets.push(offsets.at(-1)! + Number(count));
  const total = offsets.at(-1)!;
  await check?.(total);
  const times = result.own(context.alloc("f64", total, { label: "spike times" }));
  const neurons = result.own(context.alloc("u32", total, { label: "spike neurons" }));
  stream.upload(cursors, BigUint64Array.from(offsets.slice(0, -1), BigInt));
  if (total > 0) launch(cursors, times, neurons);
  await stream.done();
  held.dispose();
  return result.done((about) => new DeviceSpikePatterns({ times, neurons }, { offsets, ...about }, result));
}
