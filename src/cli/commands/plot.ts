// `spillway plot`: the figures of a run as images and as a page, from the files that the run kept.
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { ArgumentError } from "@spillway/core/errors.js";
import { tally } from "@spillway/core/text.js";
import { ensureFolder, FileError, writeInto } from "@spillway/io";
import { kindOfPath } from "@spillway/io/files.js";
import { runFigures } from "../../experiment/index.js";
import type { RunFiguresOptions } from "../../experiment/report/plot-options.js";
import { type Figure, type SvgOptions, toHtml, toSvg } from "../../plot/index.js";

/** What figures are written as. */
export interface DrawFlags extends SvgOptions {
  readonly out?: string | undefined;
  readonly format?: "svg" | "html" | undefined;
  readonly json?: boolean | undefined;
}

/** What `spillway plot` takes beside a run. */
export interface PlotFlags extends DrawFlags, RunFiguresOptions {
  /** The folder of runs, in which a name is looked for. */
  readonly runs: string;
}

/** Writes the figures of a run, and gives what is printed. */
export async function plot(name: string, { runs, out, format, json, ...flags }: PlotFlags): Promise<string> {
  const path = await pathOf(name, runs);
  const { start, target, series, last, ...drawing } = flags;
  const { title, figures, folder } = await runFigures(path, { start, target, series, last });
  return writeFigures(figures, title, path, { out: out ?? (await ownFolder(folder)), format, json, ...drawing });
}

/** Where figures are if nobody says where. @throws FileError if a link leads elsewhere from there */
async function ownFolder(run: string): Promise<string> {
  const folder = join(run, "figures");
  if ((await lstat(folder).catch(() => undefined))?.isSymbolicLink())
    throw new FileError(folder, "that is a link to another folder; --out writes the figures into a folder that you name", "notWritable");
  return folder;
}

/** A path, or the name of a run in the folder of runs. */
async function pathOf(name: string, runs: string): Promise<string> {
  for (const path of [name, join(runs, name)]) if (await kindOfPath(path)) return path;
  throw new FileError(name, `no run of this name, here or in ${runs}, and no such file`, "missing");
}

/** Writes figures as images and on one page, and gives what is printed. @throws FileError */
export async function writeFigures(
  figures: readonly Figure[],
  title: string,
  source: string,
  { out, format, json, ...drawing }: DrawFlags & { readonly out: string },
): Promise<string> {
  const images =
    format === "html"
      ? []
      : figures.map((figure, k) => ({ name: `${k + 1}-${slugOf(figure.title)}.svg`, text: drawn(figure, source, drawing) }));
  const page = format === "svg" ? [] : [{ name: "figures.html", text: await toHtml(figures, { title }) }];
  await ensureFolder(out);
  const files: string[] = [];
  for (const { name, text } of [...images, ...page]) {
    files.push(await writeInto(out, name, text));
  }
  if (json)
    return JSON.stringify(
      { title, source, files, figures: figures.map(({ title, description }) => ({ title, description })) },
      undefined,
      2,
    );
  return [`${source}: ${tally(figures.length, "figure")}`, ...files.map((file) => `  ${file}`)].join("\n");
}

/** What comes from a file may be data that no plot function made. @throws FileError */
function drawn(figure: Figure, source: string, drawing: SvgOptions): string {
  try {
    return toSvg(figure, drawing);
  } catch (cause) {
    if (cause instanceof ArgumentError && cause.field !== undefined && Object.hasOwn(drawing, cause.field)) throw cause;
    throw new FileError(
      source,
      `the figure "${figure.title}" cannot be drawn: ${cause instanceof Error ? cause.message : String(cause)}`,
      "content",
      cause,
    );
  }
}

/** A title as a part of a file's name. */
function slugOf(title: string): string {
  const plain = title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return plain.replace(/^-|-$/g, "").slice(0, 60) || "figure";
}
