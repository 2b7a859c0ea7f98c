// A figure as a static SVG without a browser: axes, traces, shapes, annotations and a legend. What
// plotly does beyond these figures is not here.
import { resolve } from "@spillway/core/options.js";
import type { Element } from "../elements.js";
import { checkFigure, type Figure } from "../figure.js";
import { escapeHtml, formatNumber } from "../format.js";
import { type ColourScale, colourAt } from "./heatmap.js";
import { type SvgOptions, sizeOf, svgTable } from "./options.js";
import { type AxisLayout, Scale, type Tick } from "./scale.js";
import { dashOf, extentOf, rangeOf, round, type Trace, traceSvg } from "./traces.js";
import { extremesOf, numbersOf } from "./values.js";

/**
 * The view of plotly's default camera: from the front, to the left and above, without perspective.
 */
const right = [-Math.SQRT1_2, Math.SQRT1_2, 0] as const;
const up = [-0.408248, -0.408248, 0.816497] as const;

/**
 * The same figure in two dimensions, with the three axes drawn as lines from the least corner;
 * figures of two dimensions are left as they are.
 */
function flattened(figure: Figure, width: number): Figure {
  if (!figure.data.some(({ type }) => type === "scatter3d")) return figure;
  const columns = figure.data.map((trace) => (["x", "y", "z"] as const).map((axis) => numbersOf(trace[axis])));
  const ends = [0, 1, 2].map((c) => columns.map((axes) => extremesOf(axes[c]!)));
  const low = ends.map((each) => Math.min(...each.map(([least]) => least)));
  const high = ends.map((each) => Math.max(...each.map(([, largest]) => largest)));
  const project = (point: readonly number[]) => {
    const unit = point.map((value, c) => (value - low[c]!) / (high[c]! - low[c]! || 1));
    return [right, up].map((direction) => direction.reduce<number>((sum, value, c) => sum + value * unit[c]!, 0)) as [number, number];
  };
  const data: Trace[] = figure.data.map((trace, k) => {
    const [xs, ys, zs] = columns[k]!;
    const points = Array.from({ length: xs!.length }, (_, i) => project([xs![i]!, ys![i]!, zs![i]!]));
    return { ...trace, type: "scatter", mode: "lines", x: points.map(([px]) => px), y: points.map(([, py]) => py) };
  });
  const scene = (figure.layout["scene"] ?? {}) as Readonly<Record<string, { readonly title?: { readonly text?: string } }>>;
  const corner = project(low);
  const titles = ["xaxis", "yaxis", "zaxis"].map((name) => scene[name]?.title?.text ?? name[0]!);
  // Two long names under the picture take two lines.
  const lower = 6.8 * (titles[0]!.length + titles[1]!.length) > width - 110 ? -30 : -14;
  const annotations = titles.map((text, c) => {
    const end = project(low.map((value, other) => (other === c ? high[c]! : value)));
    const line = { color: "#8A8A8A", width: 1 };
    data.push({ type: "scatter", mode: "lines", showlegend: false, x: [corner[0], end[0]], y: [corner[1], end[1]], line });
    // The first axis ends at the left, the second at the right, the third at the top.
    const where = [{ xanchor: "left", yshift: -14 }, { xanchor: "right", yshift: lower }, { yshift: 10 }][c];
    return { x: end[0], y: end[1], text, showarrow: false, font: { size: 12 }, ...where };
  });
  return {
    ...figure,
    data,
    layout: { height: figure.layout["height"] ?? 480, annotations, xaxis: { visible: false }, yaxis: { visible: false } },
  };
}

const themes = {
  light: { paper: "#ffffff", ink: "#14202b", rule: "#d8dfe5" },
  dark: { paper: "#12181e", ink: "#e6ecf1", rule: "#2d3944" },
} as const;

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** One panel: a pair of axes and what is drawn on them. */
interface Panel {
  readonly xName: string;
  readonly yName: string;
  readonly x: Scale;
  readonly y: Scale;
  readonly xLayout: AxisLayout & { readonly visible?: boolean };
  readonly yLayout: AxisLayout & { readonly visible?: boolean };
  readonly traces: readonly Trace[];
  readonly box: Box;
}

/** Draws a figure as SVG text, its description as the text alternative. */
export function toSvg(source: Figure, options: SvgOptions = {}): string {
  checkFigure(source);
  const asked = resolve(svgTable, options);
  const visible = { ...source, data: source.data.filter(({ visible }) => visible !== "legendonly") };
  const figure = flattened(visible, sizeOf(asked, 0).width);
  const { layout } = figure;
  const { width, height, written } = sizeOf(asked, Number(layout["height"] ?? 320) + 40);
  const theme = themes[asked.theme];
  const bar = figure.data.find((trace) => trace["colorbar"]);
  const right = width - (bar ? 92 : 18);
  const categories = figure.data.flatMap(({ y }) => (Array.isArray(y) ? y : [])).filter((name) => typeof name === "string");
  const names = [...((layout["yaxis"] as AxisLayout | undefined)?.ticktext ?? []), ...categories].map((name) => name.length);
  const left = Math.min(Math.floor(width / 3), Math.max(74, 7 * Math.max(0, ...names) + 30));
  const entries = legend(figure.data, left, right, theme.ink);
  const inner: Box = { left, right, top: 42 + 16 * Math.max(1, entries.lines), bottom: height - 52 };
  const drawn = panels(figure, inner);
  const titleSize = round(Math.min(15, Math.max(9, (width - left - 8) / (0.56 * figure.title.length))));
  const parts = drawn.map((panel) => panelSvg(panel, layout, theme));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${written.width}" height="${written.height}" viewBox="0 0 ${width} ${height}" role="img" font-family="Helvetica, Arial, sans-serif" font-size="12">
<title>${escapeHtml(figure.title)}</title><desc>${escapeHtml(figure.description)}</desc>
<rect width="${width}" height="${height}" fill="${theme.paper}"/>
<text x="${inner.left}" y="22" font-size="${titleSize}" font-weight="600" fill="${theme.ink}">${escapeHtml(figure.title)}</text>
${entries.svg}
${parts.join("\n")}
${bar ? colourBar(bar, inner, theme.ink) : ""}
</svg>
`;
}

function panels({ data, layout }: Figure, inner: Box): Panel[] {
  const pairs = new Map<string, Trace[]>();
  for (const trace of data) {
    const key = `${String(trace["xaxis"] ?? "x")} ${String(trace["yaxis"] ?? "y")}`;
    pairs.set(key, [...(pairs.get(key) ?? []), trace]);
  }
  return [...pairs].map(([key, traces]) => {
    const [xName = "x", yName = "y"] = key.split(" ");
    const xLayout = (layout[`xaxis${xName.slice(1)}`] ?? {}) as Panel["xLayout"];
    const yLayout = (layout[`yaxis${yName.slice(1)}`] ?? {}) as Panel["yLayout"];
    const extents = traces.map(extentOf);
    const scaleOf = (layout: AxisLayout, name: "x" | "y") =>
      new Scale(
        layout,
        Array.from(extents, (extent) => extent[name]),
      );
    const [x, y] = [scaleOf(xLayout, "x"), scaleOf(yLayout, "y")];
    if (traces.some(({ type, fill }) => (type === "bar" && yLayout.type !== "log") || fill === "tozeroy")) y.include(0);
    if (traces.some(({ type }) => type === "scatter") && !yLayout.range) addMargin(y);
    const box = boxOf(inner, xLayout.domain, yLayout.domain);
    if (yLayout.scaleanchor) sameUnits(x, y, box);
    x.setRange(box.left, box.right);
    y.setRange(box.bottom, box.top);
    return { xName, yName, x, y, xLayout, yLayout, traces, box };
  });
}

function boxOf(inner: Box, xDomain: readonly [number, number] = [0, 1], yDomain: readonly [number, number] = [0, 1]): Box {
  const across = inner.right - inner.left;
  const up = inner.bottom - inner.top;
  return {
    left: inner.left + xDomain[0] * across,
    right: inner.left + xDomain[1] * across,
    top: inner.bottom - yDomain[1] * up,
    bottom: inner.bottom - yDomain[0] * up,
  };
}

/** A margin above and below lines. */
function addMargin(scale: Scale): void {
  const [low, high] = scale.range;
  scale.range = [low - 0.05 * (high - low), high + 0.05 * (high - low)];
}

/** A unit is as long on both axes: the one whose units are longer gets a wider range. */
function sameUnits(x: Scale, y: Scale, box: Box): void {
  const perX = (box.right - box.left) / (x.range[1] - x.range[0]);
  const perY = (box.bottom - box.top) / (y.range[1] - y.range[0]);
  const widen = (scale: Scale, factor: number) => {
    const [low, high] = scale.range;
    const middle = (low + high) / 2;
    scale.range = [middle + (low - middle) * factor, middle + (high - middle) * factor];
  };
  if (perX > perY) widen(x, perX / perY);
  else widen(y, perY / perX);
}

const position = (x: number, y: number) => `x="${round(x)}" y="${round(y)}"`;
const ends = (x1: number, x2: number, y1: number, y2: number) => `x1="${round(x1)}" x2="${round(x2)}" y1="${round(y1)}" y2="${round(y2)}"`;

function panelSvg(panel: Panel, layout: Figure["layout"], theme: (typeof themes)["light" | "dark"]): string {
  const { x, y, box, traces, xLayout, yLayout } = panel;
  const { ink, rule } = theme;
  const inside = (at: number, low: number, high: number) => at >= Math.min(low, high) - 0.5 && at <= Math.max(low, high) + 0.5;
  const parts: string[] = [];
  const sharesTime = traces.length > 0 && xLayout.anchor !== undefined && xLayout.anchor !== panel.yName;
  const line = (x1: number, x2: number, y1: number, y2: number) => parts.push(`<line ${ends(x1, x2, y1, y2)} stroke="${rule}"/>`);
  const text = (at: string, anchor: "middle" | "end", content: string) =>
    parts.push(`<text ${at} text-anchor="${anchor}" fill="${ink}">${escapeHtml(content)}</text>`);
  if (xLayout.visible !== false) {
    for (const { at, label } of fitting(x)) {
      const px = x.pixelOf(at);
      if (!inside(px, box.left, box.right)) continue;
      line(px, px, box.top, box.bottom);
      if (!sharesTime) text(position(px, box.bottom + 16), "middle", label);
    }
    const title = xLayout.title?.text;
    if (title && !sharesTime) text(position((box.left + box.right) / 2, box.bottom + 36), "middle", title);
  }
  if (yLayout.visible !== false) {
    for (const { at, label } of y.ticks()) {
      const py = y.pixelOf(at);
      if (!inside(py, box.top, box.bottom)) continue;
      line(box.left, box.right, py, py);
      text(position(box.left - 6, py + 4), "end", label);
    }
    const title = yLayout.title?.text;
    if (title) text(`transform="translate(16 ${round((box.top + box.bottom) / 2)}) rotate(-90)"`, "middle", title);
  }
  // An inner svg clips to its own box, without an id that another figure on the page could have
  // too.
  const [left, top, width, height] = [box.left, box.top, box.right - box.left, box.bottom - box.top].map(round);
  parts.push(
    `<svg x="${left}" y="${top}" width="${width}" height="${height}" viewBox="${left} ${top} ${width} ${height}" overflow="hidden">${traces.map((trace) => traceSvg(trace, x, y)).join("")}${shapes(panel, layout)}</svg>`,
  );
  parts.push(annotations(panel, layout, ink));
  return parts.join("\n");
}

/** Every tick of an axis, or if their labels would overlap every second, third, ... */
function fitting(scale: Scale): readonly Tick[] {
  const ticks = scale.ticks();
  if (ticks.length < 2) return ticks;
  const widest = 7 * Math.max(...ticks.map(({ label }) => label.length)) + 8;
  const between = Math.abs(scale.pixelOf(ticks[1]!.at) - scale.pixelOf(ticks[0]!.at));
  const every = Math.max(1, Math.ceil(widest / Math.max(1, between)));
  return ticks.filter((_, k) => k % every === 0);
}

function shapes({ x, y, box, xName, yName }: Panel, layout: Figure["layout"]): string {
  const list = ((layout["shapes"] ?? []) as readonly Element[]).filter(
    (shape) => (shape["xref"] ?? "x") === xName && [yName, "paper", undefined].includes(shape["yref"] as string),
  );
  return list
    .map((shape) => {
      const across = (key: string) => x.pixel(shape[key] as number | string);
      const up = (key: string) =>
        shape["yref"] === "paper" ? box.bottom - Number(shape[key]) * (box.bottom - box.top) : y.pixel(shape[key] as number | string);
      const line = (shape["line"] ?? {}) as Element;
      const stroke = `stroke="${escapeHtml(String(line["color"] ?? "#8A8A8A"))}" stroke-width="${Number(line["width"] ?? 1)}"${dashOf(line)}`;
      const [x0, x1, y0, y1] = [across("x0"), across("x1"), up("y0"), up("y1")];
      if (shape["type"] === "circle")
        return `<ellipse cx="${round((x0 + x1) / 2)}" cy="${round((y0 + y1) / 2)}" rx="${round(Math.abs(x1 - x0) / 2)}" ry="${round(Math.abs(y1 - y0) / 2)}" fill="none" ${stroke}/>`;
      return `<line ${ends(x0, x1, y0, y1)} ${stroke}/>`;
    })
    .join("");
}

function annotations({ x, y, xName, yName }: Panel, layout: Figure["layout"], ink: string): string {
  if (xName !== "x" || yName !== "y") return "";
  return ((layout["annotations"] ?? []) as readonly Element[])
    .map((note) => {
      const font = (note["font"] ?? {}) as Element;
      const anchor = { left: "start", right: "end" }[String(note["xanchor"])] ?? "middle";
      const py = y.pixel(note["y"] as number) + 4 - Number(note["yshift"] ?? 0);
      return `<text ${position(x.pixel(note["x"] as number), py)} text-anchor="${anchor}" font-size="${Number(font["size"] ?? 12)}" fill="${escapeHtml(String(font["color"] ?? ink))}">${escapeHtml(String(note["text"] ?? ""))}</text>`;
    })
    .join("");
}

/** The names of the traces, in as many lines as they take. */
function legend(data: readonly Trace[], left: number, right: number, ink: string): { readonly svg: string; readonly lines: number } {
  const named = data.filter((trace) => trace["name"] !== undefined && trace["showlegend"] !== false && trace["type"] !== "heatmap");
  if (named.length < 2) return { svg: "", lines: 0 };
  let at = left;
  let y = 40;
  const svg = named
    .map((trace) => {
      const colours = [trace["line"], trace["marker"]].map((part) => (part as Element | undefined)?.["color"]);
      const colour = String(colours.find((value) => typeof value === "string") ?? "#0072B2");
      const name = String(trace["name"]);
      const wide = 34 + 7 * name.length;
      if (at > left && at + wide > right + 11) {
        at = left;
        y += 16;
      }
      const from = at;
      at += wide;
      return `<line x1="${from}" x2="${from + 18}" y1="${y}" y2="${y}" stroke="${escapeHtml(colour)}" stroke-width="3"/><text x="${from + 23}" y="${y + 4}" fill="${ink}">${escapeHtml(name)}</text>`;
    })
    .join("");
  return { svg, lines: (y - 24) / 16 };
}

function colourBar(trace: Trace, inner: Box, ink: string): string {
  const [low, high] = rangeOf(trace);
  const scale = trace["colorscale"] as ColourScale;
  const left = inner.right + 16;
  const tall = inner.bottom - inner.top;
  const steps = 48;
  const cells = Array.from({ length: steps }, (_, k) => {
    const [r, g, b] = colourAt(scale, (k + 0.5) / steps);
    return `<rect x="${left}" y="${round(inner.bottom - ((k + 1) * tall) / steps)}" width="12" height="${round(tall / steps + 0.5)}" fill="rgb(${r},${g},${b})"/>`;
  });
  const title = ((trace["colorbar"] as Element)["title"] as { readonly text?: string } | undefined)?.text;
  const label = (value: number, y: number) => `<text x="${left + 16}" y="${round(y)}" fill="${ink}">${formatNumber(value)}</text>`;
  return `${cells.join("")}${label(high, inner.top + 9)}${label((low + high) / 2, (inner.top + inner.bottom) / 2 + 4)}${label(low, inner.bottom)}${title ? `<text x="${left}" y="${inner.top - 8}" fill="${ink}">${escapeHtml(title)}</text>` : ""}`;
}
