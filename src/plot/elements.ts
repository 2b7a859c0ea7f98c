// What figures are made of: axes, traces and colour bars as plotly takes them. What they show is the
// figures' own.
import { type EncodableArray, encodeArray } from "./figure.js";

/** A trace, a layout or a part of one. */
export type Element = Readonly<Record<string, unknown>>;

/** An axis with its title; undefined leaves it out. */
export function axis(title: string | undefined, more: Element = {}): Element {
  return { ...(title === undefined ? {} : { title: { text: title } }), automargin: true, ...more };
}

/** More of an axis of names: the first at 0, the others at 1, 2, ... */
export function ticksOf(names: readonly string[]): Element {
  return { tickmode: "array", tickvals: names.map((_, k) => k), ticktext: names };
}

/** Where points lie: typed arrays are encoded, lists are taken as they are. */
export interface Columns {
  readonly x: unknown;
  readonly y: unknown;
}

/** Pairs as columns. */
export function columnsOf(points: readonly (readonly [number, number])[]): Columns {
  return { x: Float64Array.from(points, ([x]) => x), y: Float64Array.from(points, ([, y]) => y) };
}

/** Points as a trace: joined by lines, as marks, or both. */
export function scatter(mode: "lines" | "markers" | "lines+markers", name: string, { x, y }: Columns, more: Element = {}): Element {
  return { type: "scatter", mode, name, x: encoded(x), y: encoded(y), ...more };
}

const encoded = (values: unknown) => (ArrayBuffer.isView(values) ? encodeArray(values as EncodableArray) : values);

/** Numbers by rows and columns as colours. */
export function heatmap(z: EncodableArray, shape: readonly [rows: number, cols: number], more: Element): Element {
  return { type: "heatmap", z: encodeArray(z, shape), ...more };
}

/** The bar that says what the colours of a heat map mean. */
export const colourBar = (title: string, more: Element = {}): Element => ({
  title: { text: title },
  thickness: 12,
  len: 0.9,
  outlinewidth: 0,
  ...more,
});
