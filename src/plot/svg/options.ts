// Size and theme of a drawing, apart from what draws it: the command line reads them for its help.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, type InputOf, option, optional } from "@spillway/core/options.js";
import { sizeKind } from "../options.js";

export const svgTable = {
  /** Pixels of 1/96 inch; default 800. */
  width: optional(sizeKind, "Pixels of 1/96 inch; left out, 800."),
  /** Pixels; default the figure's own height. */
  height: optional(sizeKind, "Pixels; left out, the figure's own height."),
  /**
   * Millimetres on paper, in place of `width`: text is then 9 points high in a column of any width.
   */
  widthMm: optional(sizeKind, "Millimetres on paper, in place of width."),
  /** Millimetres, in place of `height`; default three quarters of `widthMm` if that is given. */
  heightMm: optional(sizeKind, "Millimetres on paper, in place of height; left out, three quarters of widthMm."),
  /** Default "light". */
  theme: option(choice("light", "dark"), "light", "The colours of paper, text and rules."),
};

/** Size and theme of a drawing. */
export interface SvgOptions extends InputOf<typeof svgTable> {}

/** The size of a drawing in pixels, and how its `svg` element says it. */
export interface DrawingSize {
  readonly width: number;
  readonly height: number;
  /** "85mm", or pixels without a unit. */
  readonly written: { readonly width: string; readonly height: string };
}

const pixelsPerMm = 96 / 25.4;

/**
 * The size that options ask for; `ownHeight` is the figure's, in pixels.
 * @throws ArgumentError if a length is given both in pixels and in millimetres
 */
export function sizeOf(asked: Omit<SvgOptions, "theme">, ownHeight: number): DrawingSize {
  for (const name of ["width", "height"] as const) {
    const mm = asked[`${name}Mm`];
    if (asked[name] !== undefined && mm !== undefined)
      throw new ArgumentError(`${name}Mm`, mm, `no value beside ${name}, which is ${asked[name]}: a length is in one unit`);
  }
  const { widthMm } = asked;
  const heightMm = asked.heightMm ?? (asked.height === undefined && widthMm !== undefined ? 0.75 * widthMm : undefined);
  const [width, height] = [inPixels(asked.width ?? 800, widthMm), inPixels(asked.height ?? ownHeight, heightMm)];
  const written = { width: asText(width, widthMm), height: asText(height, heightMm) };
  return { width, height, written };
}

const inPixels = (pixels: number, mm: number | undefined) => (mm === undefined ? pixels : Number((mm * pixelsPerMm).toFixed(2)));
const asText = (pixels: number, mm: number | undefined) => (mm === undefined ? String(pixels) : `${Number(mm.toFixed(3))}mm`);
