// What the neurons of a liquid fire, from its filtered states in device memory: the spikes that
// `reservoirSpikes` finds on the host.
import { Making } from "@spillway/core/disposal.js";
import type { Context, Stream } from "@spillway/gpu";
import { shippedKernel } from "@spillway/gpu/shipped-kernels.js";
import type { DeviceSequences, SpikingModel } from "../../reservoir/index.js";
import type { DeviceSpikePatterns } from "./device-pattern.js";
import { gridFor } from "./kernels.js";
import { writeSpikes } from "./written-spikes.js";

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
  using held = new Making();
  const { sequences, values } = states;
  const starts = [0];
  for (const { rows } of sequences) starts.push(starts.at(-1)! + rows);
  const count = sequences.length;
  const first = held.own(context.upload(BigUint64Array.from(starts, BigInt), { label: "first rows" }));
  const type = precision === "float32" ? "f32" : "f64";
  const kernel = shippedKernel(context, "spike_encoding", `spike_encoding_fired_${type}`, [
    ...([`const ${type}*`, "const u64*", "u32", "u32", type, "f64", "u64*", "f64*", "u32*"] as const),
  ]);
  stream.waitFor([values]);
  const spikes = await writeSpikes(context, stream, count, (...written) =>
    stream.launch(kernel, gridFor(values.length), values, first, count, size, stateKeep!, timeStep, ...written),
  );
  held.dispose();
  return spikes({ durationsMs: sequences.map(({ rows }) => rows * timeStep), neuronCount: size });
}
