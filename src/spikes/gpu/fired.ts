// What the neurons of a liquid fire, from its filtered states in device memory: the spikes that
// `reservoirSpikes` finds on the host.
import { Held } from "@spillway/core/disposal.js";
import type { Context, DeviceSlice, Stream } from "@spillway/gpu";
import type { DeviceSequences, SpikingModel } from "../../reservoir/index.js";
import { DeviceSpikePatterns } from "./device-pattern.js";
import { gridFor, kernelOf } from "./kernels.js";

/**
 * The spikes of each sequence of states, each run from the initial state, in any order; a spike's
 * time is the end of its step. What the stream was given before comes first.
 */
export async function firedThere(
  context: Context,
  stream: Stream,
  states: DeviceSequences,
  { size, stateKeep, precision, config: { timeStep } }: Pick<SpikingModel, "size" | "stateKeep" | "precision" | "config">,
): Promise<DeviceSpikePatterns> {
  const held = new Held();
  const result = new Held();
  try {
    const { sequences, values } = states;
    const starts = [0];
    for (const { rows } of sequences) starts.push(starts.at(-1)! + rows);
    const count = sequences.length;
    const first = held.own(context.upload(BigUint64Array.from(starts, BigInt), { label: "first rows" }));
    const cursors = held.own(context.zeros("u64", count, { label: "spikes of each sequence" }));
    const type = precision === "float32" ? "f32" : "f64";
    const kernel = kernelOf(context, "spike_encoding", `spike_encoding_fired_${type}`, [
      ...[`const ${type}*`, "const u64*", "u32", "u32", type, "f64"],
      ...["u64*", "f64*", "u32*"],
    ] as never);
    const launch = (times: DeviceSlice<"f64"> | null, neurons: DeviceSlice<"u32"> | null) =>
      stream.launch(
        kernel,
        gridFor(values.length),
        ...([values, first, count, size, stateKeep, timeStep, cursors, times, neurons] as never[]),
      );
    stream.waitFor([values]);
    launch(null, null);
    const offsets = [0];
    for (const spikes of await stream.download(cursors)) offsets.push(offsets.at(-1)! + Number(spikes));
    const total = offsets.at(-1)!;
    const times = result.own(context.alloc("f64", total, { label: "spike times" }));
    const neurons = result.own(context.alloc("u32", total, { label: "spike neurons" }));
    stream.upload(cursors, BigUint64Array.from(offsets.slice(0, -1), BigInt));
    if (total > 0) launch(times, neurons);
    await stream.done();
    held.dispose();
    const durationsMs = sequences.map(({ rows }) => rows * timeStep);
    return new DeviceSpikePatterns({ times, neurons }, { offsets, durationsMs, neuronCount: size }, result);
  } catch (error) {
    held.disposeQuietly();
    result.disposeQuietly();
    throw error;
  }
}
