// Which column of a table of spikes is what, by its header: tables are written under many names,
// and times in several units.
import { quoted } from "@spillway/core/text.js";

/** The unit of times. */
export type SpikeTimeUnit = "s" | "ms" | "us";

/** ms in a unit. */
const milliseconds: Readonly<Record<SpikeTimeUnit, number>> = { s: 1000, ms: 1, us: 0.001 };

/** The units there are. */
export const spikeTimeUnits = Object.keys(milliseconds) as readonly SpikeTimeUnit[];

const timeName = /^(?:spike_?)?(?:times?|t)(?:_(?:(ms|msec|milliseconds?)|(s|secs?|seconds?)|(us|usec|microseconds?)))?$/;
const neuronNames = new Set(["neuron", "neurons", "neuron_id", "id", "ids", "i", "unit", "units", "sender", "senders", "channel"]);
const amplitudeNames = new Set(["amplitude", "amplitudes"]);

/** The indices of the columns. */
export interface SpikeColumns {
  readonly time: number;
  readonly neuron: number;
  readonly amplitude: number | undefined;
  /** What a time is multiplied by to be in ms. */
  readonly msPerUnit: number;
}

const takes = "it takes time_ms (or time_s, time_us) and neuron, and perhaps amplitude";

/**
 * The indices of the columns. Names without a word are the columns of a table without a header:
 * time, neuron and perhaps amplitude, in ms.
 * @param unit what a header that says no unit means, and a table without one
 * @throws what `fail` makes of the reason: a column that is missing, occurs twice or is unknown,
 * and times without a unit
 */
export function spikeColumnsIn(names: readonly string[], unit: SpikeTimeUnit | undefined, fail: (reason: string) => Error): SpikeColumns {
  if (names.every((name) => /^\d*$/.test(name))) {
    if (names.length < 2 || names.length > 3) throw fail(`it has ${names.length} columns and no header; ${takes}`);
    return { time: 0, neuron: 1, amplitude: names.length === 3 ? 2 : undefined, msPerUnit: milliseconds[unit ?? "ms"] };
  }
  const found = new Map<"time" | "neuron" | "amplitude", number>();
  let said: SpikeTimeUnit | undefined;
  for (const [index, name] of names.entries()) {
    const plain = name
      .toLowerCase()
      .replaceAll(/[µμ]/g, "u")
      .replaceAll(/[^a-z0-9]+/g, "_")
      .replace(/^_|_$/g, "");
    const time = timeName.exec(plain);
    const role = time ? "time" : neuronNames.has(plain) ? "neuron" : amplitudeNames.has(plain) ? "amplitude" : undefined;
    if (!role) throw fail(`it has a column ${quoted(name)}; ${takes}`);
    if (found.has(role)) throw fail(`its columns ${quoted(names[found.get(role)!]!)} and ${quoted(name)} both hold the ${role}`);
    found.set(role, index);
    if (time) said = time[1] ? "ms" : time[2] ? "s" : time[3] ? "us" : undefined;
  }
  const [time, neuron] = [found.get("time"), found.get("neuron")];
  if (time === undefined || neuron === undefined)
    throw fail(`it has no column of the ${time === undefined ? "time" : "neuron"}, only ${names.map(quoted).join(", ")}; ${takes}`);
  const known = said ?? unit;
  if (!known) throw fail(`its column ${quoted(names[time]!)} says no unit; name it time_ms, time_s or time_us, or give timeUnit`);
  return { time, neuron, amplitude: found.get("amplitude"), msPerUnit: milliseconds[known] };
}
