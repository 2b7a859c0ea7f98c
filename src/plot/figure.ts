// A figure as data: what plotly draws, with a title and the same in words. Nothing is drawn here.
import { isObject } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { toLittleEndian } from "@spillway/io/typed-bytes.js";
import { describe, type FloatArray } from "@spillway/numerics";

/** A plotly figure (JSON), with what a reader gets who cannot see it. */
export interface Figure {
  readonly title: string;
  /** What the figure shows, as a sentence: its text alternative. */
  readonly description: string;
  /** Plotly traces. */
  readonly data: readonly Readonly<Record<string, unknown>>[];
  /** Plotly layout; colours of paper, text and grid are left to the page. */
  readonly layout: Readonly<Record<string, unknown>>;
  /**
   * A trace of single points that a page draws in place of an image as soon as a zoom leaves at
   * most `maxPoints` of them in view.
   */
  readonly detail?: Readonly<Record<string, unknown>> & { readonly maxPoints: number };
}

/** @throws ArgumentError for what no plot function made, such as states that are to be drawn. */
export function checkFigure(figure: Figure): void {
  const takes = "it takes what a function such as plotSeries or plotForecast gives";
  if (!Array.isArray(figure?.data) || !isObject(figure.layout))
    throw ArgumentError.because(`figure is ${describe(figure)}; ${takes}`, { field: "figure" });
  for (const name of ["title", "description"] as const)
    if (typeof figure[name] !== "string") throw ArgumentError.because(`the ${name} of the figure is ${describe(figure[name])}; ${takes}`);
  figure.data.forEach((trace, k) => {
    if (!isObject(trace)) throw ArgumentError.because(`trace ${k} of the figure is ${describe(trace)}; ${takes}`);
  });
}

/** Arrays that plotly can read without a list of numbers. */
export type EncodableArray = FloatArray | Int32Array | Uint16Array | Uint8Array;

/**
 * A typed array as plotly reads it from JSON: little-endian bytes in base64. `shape` ("rows, cols")
 * makes it a matrix.
 */
export interface EncodedArray {
  readonly dtype: "f4" | "f8" | "i4" | "u2" | "u1";
  readonly bdata: string;
  readonly shape?: string;
}

/** Encodes numbers for plotly without writing them out as text. */
export function encodeArray(data: EncodableArray, shape?: readonly [number, number]): EncodedArray {
  const dtype = dtypeOf(data);
  return { dtype, bdata: base64(toLittleEndian(data)), ...(shape ? { shape: `${shape[0]}, ${shape[1]}` } : {}) };
}

function dtypeOf(data: EncodableArray): EncodedArray["dtype"] {
  if (data instanceof Float32Array) return "f4";
  if (data instanceof Float64Array) return "f8";
  if (data instanceof Int32Array) return "i4";
  if (data instanceof Uint16Array) return "u2";
  if (data instanceof Uint8Array) return "u1";
  throw new ArgumentError("the array", data, "a Float32Array, Float64Array, Int32Array, Uint16Array or Uint8Array");
}

/** Bytes as text, in pieces: a call takes a limited number of arguments. */
export function base64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}
