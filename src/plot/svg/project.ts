// A turnable view of three dimensions as a flat one, seen from a fixed place: what paper can hold
// of it.
import type { Figure } from "../figure.js";
import type { Trace } from "./traces.js";
import { numbersOf } from "./values.js";

/**
 * The view of plotly's default camera: from the front, to the left and above, without perspective.
 */
const right = [-Math.SQRT1_2, Math.SQRT1_2, 0] as const;
const up = [-0.408248, -0.408248, 0.816497] as const;

/**
 * The same figure in two dimensions, with the three axes drawn as lines from the least corner;
 * figures of two dimensions are left as they are.
 */
export function flattened(figure: Figure): Figure {
  if (!figure.data.some(({ type }) => type === "scatter3d")) return figure;
  const columns = figure.data.map((trace) => (["x", "y", "z"] as const).map((axis) => numbersOf(trace[axis])));
  const low = [0, 1, 2].map((c) => Math.min(...columns.map((axes) => least(axes[c]!))));
  const high = [0, 1, 2].map((c) => Math.max(...columns.map((axes) => -least(Array.from(axes[c]!, (value) => -value)))));
  const place = (point: readonly number[]) => {
    const unit = point.map((value, c) => (value - low[c]!) / (high[c]! - low[c]! || 1));
    return [right, up].map((direction) => direction.reduce<number>((sum, value, c) => sum + value * unit[c]!, 0)) as [number, number];
  };
  const data: Trace[] = figure.data.map((trace, k) => {
    const [xs, ys, zs] = columns[k]!;
    const points = Array.from({ length: xs!.length }, (_, i) => place([xs![i]!, ys![i]!, zs![i]!]));
    return { ...trace, type: "scatter", mode: "lines", x: points.map(([px]) => px), y: points.map(([, py]) => py) };
  });
  const scene = (figure.layout["scene"] ?? {}) as Readonly<Record<string, { readonly title?: { readonly text?: string } }>>;
  const corner = place(low);
  const annotations = ["xaxis", "yaxis", "zaxis"].map((name, c) => {
    const end = place(low.map((value, other) => (other === c ? high[c]! : value)));
    const line = { color: "#8A8A8A", width: 1 };
    data.push({ type: "scatter", mode: "lines", showlegend: false, x: [corner[0], end[0]], y: [corner[1], end[1]], line });
    // The first axis ends at the left, the second at the right, the third at the top.
    const where = [{ xanchor: "left", yshift: -14 }, { xanchor: "right", yshift: -14 }, { yshift: 10 }][c];
    return { x: end[0], y: end[1], text: scene[name]?.title?.text ?? name[0]!, showarrow: false, font: { size: 12 }, ...where };
  });
  return {
    ...figure,
    data,
    layout: { height: figure.layout["height"] ?? 480, annotations, xaxis: { visible: false }, yaxis: { visible: false } },
  };
}

function least(values: ArrayLike<number>): number {
  let low = Infinity;
  for (let i = 0; i < values.length; i++) if (values[i]! < low) low = values[i]!;
  return low;
}
