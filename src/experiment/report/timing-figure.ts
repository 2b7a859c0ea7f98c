// Where the time of a run went, as a figure. The seconds are the run's own.

import { formatNumber } from "../../plot/format.js";
import type { Figure } from "../../plot/index.js";
import { seriesColour } from "../../plot/palette.js";

/**
 * A bar a phase, in seconds, in the order in which a run goes through them: `timing` holds the
 * phases, and "total" with what none of them covers, such as figures and files. Phases below a
 * thousandth of the total join that rest. Nothing if no phase was timed.
 */
export function timingFigure({ total = 0, ...phases }: Readonly<Record<string, number>>): Figure | undefined {
  const timed = Object.entries(phases).filter(([, seconds]) => seconds >= total / 1000);
  if (timed.length === 0) return undefined;
  const rest = total - timed.reduce((sum, [, seconds]) => sum + seconds, 0);
  const bars = rest > 0 ? [...timed, ["files and the rest", rest] as const] : timed;
  const names = bars.map(([name]) => name);
  const seconds = bars.map(([, value]) => value);
  return {
    title: "Where the time went",
    description: `${formatNumber(total)} s in all: ${bars.map(([name, value]) => `${name} ${formatNumber(value)} s`).join(", ")}.`,
    data: [
      {
        type: "bar",
        orientation: "h",
        x: seconds,
        y: names,
        text: seconds.map((value) => `${formatNumber(value)} s`),
        textposition: "auto",
        cliponaxis: false,
        marker: { color: seriesColour(0) },
        hovertemplate: "%{y}: %{x:.3g} s<extra></extra>",
      },
    ],
    layout: {
      height: 110 + 32 * bars.length,
      showlegend: false,
      xaxis: { title: { text: "seconds" }, rangemode: "tozero", automargin: true },
      yaxis: { type: "category", autorange: "reversed", automargin: true, ticksuffix: " " },
    },
  };
}
