// Traces as SVG elements within one panel: lines, marks, bars and heat maps.
import type { Element } from "../elements.js";
import { escapeHtml } from "../format.js";
import { sequentialScale } from "../palette.js";
import { type ColourScale, colourAt, heatmapPng } from "./heatmap.js";
import type { Scale } from "./scale.js";
import { type AxisValues, extremesOf, matrixOf, numbersOf, valuesOf } from "./values.js";

export type Trace = Element;

/** What a trace stretches over: texts or numbers on each axis. */
export function extentOf(trace: Trace): { readonly x: AxisValues; readonly y: AxisValues } {
  if (trace["type"] === "heatmap") {
    const { rows, cols } = matrixOf(trace["z"]);
    return { x: edges(trace, "x", cols), y: edges(trace, "y", rows) };
  }
  const y = valuesOf(trace["y"]) ?? [];
  const x = valuesOf(trace["x"]) ?? Array.from({ length: y.length }, (_, i) => i);
  return { x, y };
}

/** First and last edge of a heat map's cells. */
function edges(trace: Trace, axis: "x" | "y", count: number): number[] {
  const start = Number(trace[`${axis}0`] ?? 0);
  const step = Number(trace[`d${axis}`] ?? 1);
  return [start - step / 2, start + (count - 0.5) * step];
}

/** The elements of a trace. */
export function traceSvg(trace: Trace, x: Scale, y: Scale): string {
  const opacity = trace["opacity"] === undefined ? "" : ` opacity="${Number(trace["opacity"])}"`;
  if (trace["type"] === "heatmap") return heatmap(trace, x, y);
  if (trace["type"] === "bar") return `<g${opacity}>${bars(trace, x, y)}</g>`;
  const { x: xs, y: ys } = extentOf(trace);
  const mode = String(trace["mode"] ?? "lines");
  const points = Array.from({ length: ys.length }, (_, i) => [x.pixel(xs[i]!), y.pixel(ys[i]!)] as const);
  const parts: string[] = [];
  const fill = String(trace["fillcolor"] ?? "#0072B233");
  if (trace["fill"] === "tozeroy") parts.push(area(points, y.pixelOf(0), fill));
  if (trace["fill"] === "toself") parts.push(`<path d="${pathOf(points, "Z")}" fill="${escapeHtml(fill)}"/>`);
  if (mode.includes("lines") && style(trace, "line")["width"] !== 0) parts.push(lines(points, trace));
  if (mode.includes("markers")) parts.push(marks(points, trace));
  return `<g${opacity}>${parts.join("")}</g>`;
}

type Point = readonly [number, number];
const style = (trace: Trace, key: string): Element => (trace[key] as Element) ?? {};
const isFinitePoint = ([px, py]: Point) => Number.isFinite(px) && Number.isFinite(py);

/** A number of pixels as it is written. */
export const round = (value: number): number => Number(value.toFixed(2));

const dashes: Readonly<Record<string, string>> = { dash: "7 4", longdash: "12 5", dot: "2 3" };

/** The dash pattern of a plotly line style as an attribute. */
export function dashOf(line: Element): string {
  const dash = dashes[String(line["dash"] ?? "")];
  return dash ? ` stroke-dasharray="${dash}"` : "";
}

/** A path that is interrupted if a value is missing; each stretch ends with `end`. */
function pathOf(points: readonly Point[], end: "" | "Z"): string {
  let path = "";
  let drawing = false;
  for (const point of points) {
    const finite = isFinitePoint(point);
    if (finite) path += `${drawing ? "L" : "M"}${round(point[0])} ${round(point[1])}`;
    else if (drawing) path += end;
    drawing = finite;
  }
  return drawing ? path + end : path;
}

function lines(points: readonly Point[], trace: Trace): string {
  const line = style(trace, "line");
  return `<path d="${pathOf(points, "")}" fill="none" stroke="${escapeHtml(String(line["color"] ?? "#0072B2"))}" stroke-width="${Number(line["width"] ?? 1.5)}" stroke-linejoin="round"${dashOf(line)}/>`;
}

function area(points: readonly Point[], foot: number, colour: string): string {
  const shown = points.filter(isFinitePoint);
  if (shown.length === 0) return "";
  const top = shown.map(([px, py]) => `L${round(px)} ${round(py)}`).join("");
  return `<path d="M${round(shown[0]![0])} ${round(foot)}${top}L${round(shown[shown.length - 1]![0])} ${round(foot)}Z" fill="${escapeHtml(colour)}"/>`;
}

function marks(points: readonly Point[], trace: Trace): string {
  const marker = style(trace, "marker");
  const size = Number(marker["size"] ?? 6);
  const colour = typeof marker["color"] === "string" ? marker["color"] : String(style(trace, "line")["color"] ?? "#0072B2");
  const symbol = String(marker["symbol"] ?? "circle");
  if (symbol.startsWith("line-ns")) {
    const path = points
      .filter(isFinitePoint)
      .map(([px, py]) => `M${round(px)} ${round(py - size)}v${2 * size}`)
      .join("");
    return `<path d="${path}" stroke="${escapeHtml(colour)}" stroke-width="1"/>`;
  }
  const colours = colourScaled(marker);
  const paint = symbol.endsWith("-open") ? `fill="none" stroke="${escapeHtml(colour)}"` : `fill="${escapeHtml(colour)}"`;
  const opacity = marker["opacity"] === undefined ? "" : ` opacity="${Number(marker["opacity"])}"`;
  const circle = (point: Point, i: number) => {
    if (!isFinitePoint(point)) return "";
    return `<circle cx="${round(point[0])}" cy="${round(point[1])}" r="${size / 2}"${colours ? ` fill="${colours(i)}"` : ""}/>`;
  };
  return `<g ${paint}${opacity}>${points.map(circle).join("")}</g>`;
}

/** The colour of each mark, if they have a number each and a scale of colours. */
function colourScaled(marker: Element): ((i: number) => string) | undefined {
  if (typeof marker["color"] === "string" || marker["color"] === undefined || marker["colorscale"] === undefined) return undefined;
  const values = numbersOf(marker["color"]);
  const [least, largest] = extremesOf(values);
  const [low, high] = [Number(marker["cmin"] ?? least), Number(marker["cmax"] ?? largest)];
  return (i) => `rgb(${colourAt(marker["colorscale"] as ColourScale, (values[i]! - low) / (high - low || 1)).join(",")})`;
}

function bars(trace: Trace, x: Scale, y: Scale): string {
  const { x: xs, y: ys } = extentOf(trace);
  const colour = escapeHtml(String(style(trace, "marker")["color"] ?? "#0072B2"));
  const width = 0.8 * Math.abs(x.pixelOf(1) - x.pixelOf(0));
  const foot = y.kind === "log" ? y.pixelOf(y.range[0]) : y.pixelOf(0);
  return Array.from({ length: ys.length }, (_, i) => {
    const top = y.pixel(ys[i]!);
    if (!Number.isFinite(top)) return "";
    return `<rect x="${round(x.pixel(xs[i]!) - width / 2)}" y="${round(Math.min(top, foot))}" width="${round(width)}" height="${round(Math.abs(foot - top))}" fill="${colour}"/>`;
  }).join("");
}

function heatmap(trace: Trace, x: Scale, y: Scale): string {
  const cells = matrixOf(trace["z"]);
  const { x: xs, y: ys } = extentOf(trace);
  const [left, right] = [x.pixelOf(Number(xs[0])), x.pixelOf(Number(xs[1]))];
  const [bottom, top] = [y.pixelOf(Number(ys[0])), y.pixelOf(Number(ys[1]))];
  const scale = (trace["colorscale"] as ColourScale | undefined) ?? (sequentialScale as ColourScale);
  const href = heatmapPng(cells, rangeOf(trace), scale, bottom < top);
  return `<image x="${round(left)}" y="${round(Math.min(top, bottom))}" width="${round(right - left)}" height="${round(Math.abs(bottom - top))}" preserveAspectRatio="none" style="image-rendering:pixelated" href="${href}"/>`;
}

/** From where to where the colours of a heat map run. */
export function rangeOf(trace: Trace): readonly [number, number] {
  const found = extremesOf(numbersOf(matrixOf(trace["z"]).data));
  const [low, high] = found[0] > found[1] ? [0, 1] : found;
  return [Number(trace["zmin"] ?? low), Number(trace["zmax"] ?? high)];
}
