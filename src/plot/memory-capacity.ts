// The memory curve of a reservoir: how much of the input k steps ago can still be read out. It is
// measured by `analysis`.
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { axis, scatter } from "./elements.js";
import type { Figure } from "./figure.js";
import { formatNumber } from "./format.js";
import { isArrayLike, titleTable } from "./options.js";
import { seriesColour } from "./palette.js";

const table = titleTable("Memory capacity");

/** One measured memory: `memoryCapacity()` gives these. */
export interface MemoryCurve {
  readonly total: number;
  /** Squared correlation by delay, `curve[k]` for delay k. */
  readonly curve: ArrayLike<number>;
  /** Of the states; it stands beside the total, since float32 shows less of a linear memory. */
  readonly precision?: string | undefined;
}

/** Memory curves of one or several reservoirs, by delay. @throws ArgumentError if there is none. */
export function plotMemoryCapacity(
  memories: MemoryCurve | Readonly<Record<string, MemoryCurve>>,
  options: { readonly title?: string | undefined } = {},
): Figure {
  const { title } = resolve(table, options);
  if (typeof memories !== "object" || memories === null)
    throw new ArgumentError("memories", memories, "what memoryCapacity() gives, or several of these by name");
  const named = isOne(memories) ? { reservoir: memories } : memories;
  const entries = Object.entries(named);
  for (const [name, memory] of entries) {
    if (typeof memory?.total !== "number" || !isArrayLike(memory.curve))
      throw new ArgumentError(name, memory, "what memoryCapacity() gives");
  }
  if (entries.length === 0) throw ArgumentError.shape("there is no memory curve to draw; it takes at least one");
  return {
    title,
    description: `Squared correlation of the input k steps ago with what is read out: ${entries.map(([name, { total, precision }]) => `${name} holds ${formatNumber(total)} steps in all${precision ? ` (${precision})` : ""}`).join("; ")}.`,
    data: entries.map(([name, { total, curve, precision }], k) => {
      const label = `${name}${precision ? ` (${precision})` : ""}: ${formatNumber(total)}`;
      const columns = { x: Float64Array.from({ length: curve.length }, (_, delay) => delay), y: Float64Array.from(curve) };
      return scatter("lines", label, columns, {
        line: { color: seriesColour(k), width: 2 },
        ...(entries.length === 1 ? { fill: "tozeroy", fillcolor: `${seriesColour(k)}33` } : {}),
        hovertemplate: "delay %{x}: r² %{y:.3f}<extra></extra>",
      });
    }),
    layout: { height: 320, showlegend: entries.length > 1, xaxis: axis("delay (steps)"), yaxis: axis("r²", { range: [0, 1.02] }) },
  };
}

function isOne(memories: MemoryCurve | Readonly<Record<string, MemoryCurve>>): memories is MemoryCurve {
  return typeof (memories as MemoryCurve).total === "number";
}
