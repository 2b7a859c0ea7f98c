// Figures out of the program: into a page, into an image, onto the screen. What they show is
// decided elsewhere.
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { choice, type InputOf, option, optional, resolve, text } from "@spillway/core/options.js";
import { chromiumImage, findChromium } from "./browser.js";
import { checkFigure, type Figure } from "./figure.js";
import { openInBrowser } from "./open-in-browser.js";
import { sizeKind } from "./options.js";
import { reportHtml } from "./report.js";
import { withDensity } from "./svg/heatmap.js";
import { toSvg } from "./svg/index.js";
import { type SvgOptions, sizeOf, svgTable } from "./svg/options.js";

export const htmlTable = {
  /** The page's heading; default the title of the figure, of several "Figures". */
  title: optional(text(), "The page's heading; left out, the title of the figure, or Figures if there are several."),
  /**
   * "inline" (default): the page holds plotly.js (2 MB, compressed) and opens anywhere. Else the
   * address of a script beside it, such as "plotly.min.js", which several pages share
   * (`plotlySource()` is what it holds).
   */
  plotly: option(text(), "inline", "inline: the page holds plotly.js; else the address of a script beside it."),
};

/** The heading of a page, and where it has plotly.js from. */
export interface HtmlOptions extends InputOf<typeof htmlTable> {}

/**
 * One page with the figures on it, which opens without a network. @throws Error if plotly.js
 * cannot be found.
 */
export async function toHtml(figures: Figure | readonly Figure[], options: HtmlOptions = {}): Promise<string> {
  const all = Array.isArray(figures) ? (figures as readonly Figure[]) : [figures as Figure];
  for (const figure of all) checkFigure(figure);
  const { plotly, title = all.length === 1 ? all[0]!.title : "Figures" } = resolve(htmlTable, options);
  const shared = plotly === "inline" ? {} : { plotlyScript: plotly };
  return reportHtml({ title, sections: [{ title, facts: [], scores: [], figures: all }], ...shared });
}

export const imageTable = {
  ...svgTable,
  /** Default "svg". PNG takes a Chromium. */
  format: option(choice("svg", "png"), "svg", "PNG takes a Chromium."),
  /**
   * "auto" (default): SVG without a browser, PNG by Chromium: the same call gives the same image on
   * every machine. "chromium": plotly's own drawing, with its fonts and layout. "static": without a
   * browser, SVG only.
   */
  renderer: option(choice("auto", "chromium", "static"), "auto", "auto: SVG without a browser, PNG by Chromium; static: SVG only."),
  /** Pixels of a PNG for each pixel of the figure; default 2. */
  scale: optional(sizeKind, "Pixels of a PNG for each pixel of the figure; left out, 2."),
  /**
   * Pixels of a PNG for each inch, in place of `scale`. The file says it too, so that a text
   * processor sets the picture at its width in millimetres.
   */
  dpi: optional(sizeKind, "Pixels of a PNG for each inch, in place of scale; the file says it too."),
};

/** The format and size of an image, and what draws it. */
export interface ImageOptions extends SvgOptions, InputOf<typeof imageTable> {}

/** An image and who drew it. */
export interface FigureImage {
  readonly bytes: Uint8Array;
  readonly format: "svg" | "png";
  readonly renderer: "chromium" | "static";
}

/**
 * A figure as an image. SVG is drawn without a browser unless Chromium is asked for. PNG needs a
 * Chromium: SPILLWAY_CHROMIUM names one, else the search path is looked through.
 * @throws Error if PNG or Chromium is asked for and there is none
 */
export async function toImage(figure: Figure, options: ImageOptions = {}): Promise<FigureImage> {
  checkFigure(figure);
  const { format, renderer, scale, dpi, ...drawing } = resolve(imageTable, options);
  const { width, height } = sizeOf(drawing, Number(figure.layout["height"] ?? 320) + 40);
  if (scale !== undefined && dpi !== undefined) throw new ArgumentError("dpi", dpi, `no value beside scale, which is ${scale}`);
  const browser = renderer === "chromium" || format === "png";
  const chromium = browser && renderer !== "static" ? findChromium() : undefined;
  if (!chromium && browser) {
    const asked =
      renderer === "static" ? 'the renderer "static" draws SVG only' : "no Chromium was found on the search path or by SPILLWAY_CHROMIUM";
    throw new SpillwayError(
      "unavailable",
      `a ${format} image takes a Chromium and ${asked}; ask for { format: "svg", renderer: "static" }`,
    );
  }
  if (!chromium) return { bytes: new TextEncoder().encode(toSvg(figure, drawing)), format: "svg", renderer: "static" };
  const size = { format, width: Math.round(width), height: Math.round(height), scale: scale ?? (dpi ?? 192) / 96 };
  const bytes = await chromiumImage(chromium, figure, size);
  return { bytes: format === "png" && dpi !== undefined ? withDensity(bytes, dpi) : bytes, format, renderer: "chromium" };
}

/**
 * Writes the figures into a page in the temporary folder and opens it in the user's browser. Gives
 * the page's path; if no browser can be opened (no screen), the path is all there is.
 * @throws Error outside Node, and if plotly.js cannot be found
 */
export async function show(figures: Figure | readonly Figure[], options: HtmlOptions = {}): Promise<string> {
  const builtin = globalThis.process?.getBuiltinModule;
  if (!builtin) throw new SpillwayError("unavailable", "show opens a browser from Node 20.19 or newer; elsewhere take toHtml");
  const { promises } = builtin("node:fs");
  const { tmpdir } = builtin("node:os");
  const { join } = builtin("node:path");
  const html = await toHtml(figures, options);
  const path = join(await promises.mkdtemp(join(tmpdir(), "spillway-figure-")), "figure.html");
  await promises.writeFile(path, html);
  openInBrowser(path);
  return path;
}
