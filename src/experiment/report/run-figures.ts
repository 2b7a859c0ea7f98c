// The figures of a finished run, from the files that it kept: forecasts are drawn again, all others
// are those of its report.

import { resolve as absolute, basename, dirname, join } from "node:path";
import { checkText } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { quoted } from "@spillway/core/text.js";
import { FileError, readText } from "@spillway/io";
import { kindOfPath } from "@spillway/io/files.js";
import { type Figure, plotConfusion } from "../../plot/index.js";
import { figuresOfReport } from "../../plot/report-figures.js";
import type { WrittenForecast } from "../runs/forecasts-file.js";
import { readForecasts } from "../runs/read-forecasts.js";
import { readRun } from "../runs/read-run.js";
import type { ExperimentResult } from "../runs/result.js";
import { reliabilityFigure } from "../tasks/classes.js";
import { forecastFigures, isForecastFigure } from "../tasks/forecast-figures.js";
import { studyFigures } from "./compared-runs.js";
import { type RunFiguresOptions, runFiguresTable } from "./plot-options.js";

/** The figures of a run. */
export interface RunFigures {
  /** What is drawn: the name of the run, or of the file. */
  readonly title: string;
  readonly figures: readonly Figure[];
  /** Where its files are. */
  readonly folder: string;
}

/**
 * Draws the figures of a run again, from the files in its folder. Forecasts come from
 * `forecasts.csv` and `history.csv`: history, bands and baselines of any start, errors by step,
 * residuals, and the calibration of the bands. The trials of a search come from its journal. The
 * figures of other tasks and of networks are those of `report.html`; without a report, classes are
 * drawn from `result.json`.
 * @param path the folder of a run or search, or a `forecasts.csv`
 * @throws FileError if nothing there can be drawn; ArgumentError for a start, column or series that
 * is not there
 * @example
 * const { figures } = await runFigures("runs/load", { start: "last" });
 * await writeFile("ahead.svg", toSvg(figures[0]));
 */
export async function runFigures(path: string, options: RunFiguresOptions = {}): Promise<RunFigures> {
  checkText("path", path);
  const settings = resolve(runFiguresTable, options);
  const isFile = (await kindOfPath(path)) === "file";
  const folder = isFile ? dirname(path) : path;
  const file = isFile ? path : join(folder, "forecasts.csv");
  if (isFile && basename(path) !== "forecasts.csv")
    return { title: basename(path), folder, figures: await drawForecasts(path, undefined, undefined, settings) };
  const there = async (name: string) => ((await kindOfPath(join(folder, name))) === "file" ? join(folder, name) : undefined);
  const [page, resultPath] = [await there("report.html"), await there("result.json")];
  const hasForecasts = isFile || (await kindOfPath(file)) === "file";
  // Of a network or a search there is a result of another kind.
  const isRun = resultPath !== undefined && (hasForecasts || page === undefined);
  const result = isRun ? await readRun(folder) : undefined;
  const title = isFile && !result ? basename(path) : (result?.name ?? basename(absolute(folder)));
  if (hasForecasts) {
    const drawn = await drawForecasts(file, await there("history.csv"), result, settings);
    const others = page && !isFile ? (await keptFigures(page)).filter((figure) => !isForecastFigure(figure)) : [];
    return { title, folder, figures: [...drawn, ...others] };
  }
  const asked = Object.entries(settings).find(([, value]) => value !== undefined)?.[0];
  if (asked !== undefined)
    throw ArgumentError.because(`${asked} is for runs that keep forecasts; there is no forecasts.csv in ${quoted(folder)}`, {
      field: asked,
    });
  // The journal of a search is newer than its report, and there before it.
  const journal = await there("journal.log");
  if (journal) return { title, folder, figures: (await studyFigures(journal)).figures };
  if (page) return { title, folder, figures: await keptFigures(page) };
  if (result?.classes) return { title, folder, figures: classFigures(result.classes) };
  throw new FileError(
    folder,
    result
      ? "this run kept nothing to draw (no report.html, no forecasts.csv); run it with outputs.report: true"
      : "no run or search is there (no result.json, report.html, forecasts.csv or journal.log)",
    "missing",
  );
}

async function keptFigures(page: string): Promise<Figure[]> {
  return figuresOfReport(await readText(page), page);
}

function classFigures({ confusion, reliability }: NonNullable<ExperimentResult["classes"]>): Figure[] {
  const { labels, counts } = confusion;
  return [plotConfusion(counts, labels), ...(reliability ? [reliabilityFigure(reliability)] : [])];
}

async function drawForecasts(
  file: string,
  history: string | undefined,
  result: ExperimentResult | undefined,
  { start, target, series, last }: RunFiguresOptions,
): Promise<Figure[]> {
  const { written: all, names } = await readForecasts(file, history, target === undefined ? undefined : [target]);
  const own = series === undefined ? all : all.filter(({ group }) => group === series);
  if (own.length === 0) throw notThere("series", series!, file, [...new Set(all.flatMap(({ group }) => group ?? []))]);
  const written = last === undefined ? own : lastStarts(own, last);
  const chosen = start === undefined ? undefined : written.filter((each) => isStart(each, start));
  if (chosen?.length === 0) throw notThere("start", start!, file, written.map(nameOf), "a row, the time stamp of a first row, or last");
  return forecastFigures({ written, names, level: result?.bands?.level, bands: target === undefined ? result?.bands : undefined }, chosen);
}

function notThere(field: string, value: string, file: string, there: readonly string[], takes = "a name"): ArgumentError {
  const shown =
    there.length === 0
      ? "there is one without a name"
      : there.length <= 6
        ? there.map(quoted).join(", ")
        : `${quoted(there[0]!)} to ${quoted(there.at(-1)!)}`;
  return ArgumentError.because(`${field} is ${quoted(value)}; it takes ${takes}: ${basename(file)} has ${shown}`, { field });
}

function isStart({ start, times }: WrittenForecast, wanted: string): boolean {
  return String(start) === wanted || times?.[0] === wanted;
}

function nameOf({ start, times }: WrittenForecast): string {
  return start === "last" ? "last" : (times?.[0] ?? String(start));
}

/** The last starts of each series, and what lies beyond the end. */
function lastStarts(written: readonly WrittenForecast[], most: number): WrittenForecast[] {
  const counts = new Map<string | undefined, number>();
  const kept = written.toReversed().filter(({ start, group }) => {
    if (start === "last") return true;
    const count = (counts.get(group) ?? 0) + 1;
    counts.set(group, count);
    return count <= most;
  });
  return kept.reverse();
}
