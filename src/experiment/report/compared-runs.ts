// Runs and searches of several folders side by side, as figures.
import { basename, join, resolve } from "node:path";
import { FileError } from "@spillway/io";
import { kindOfPath } from "@spillway/io/files.js";
import { viewStored } from "@spillway/search/stored-view.js";
import type { Figure } from "../../plot/index.js";
import { type PlottedForecasts, type PlottedScore, plotRunErrors, plotScores } from "../../plot/runs.js";
import type { WrittenForecast } from "../runs/forecasts-file.js";
import { readForecasts } from "../runs/read-forecasts.js";
import { readRun } from "../runs/read-run.js";
import { readSearchResult } from "../search/search-result.js";
import { storedStudy } from "../search/stored-study.js";
import { searchFigures } from "./search-report.js";

/** Runs whose errors by step are drawn: more lines cannot be told apart. */
const mostLines = 12;

/** The figures of a study, as its journal tells it. @throws FileError if it is not there */
export async function studyFigures(journal: string, wanted?: string): Promise<{ readonly name: string; readonly figures: Figure[] }> {
  const study = await storedStudy(journal, wanted);
  const { importance, ...view } = viewStored(study);
  return { name: study.name, figures: searchFigures(view, importance) };
}

interface Score extends PlottedScore {
  readonly metric: string;
  readonly better: "lower" | "higher";
}

/**
 * The figures of runs and searches side by side: each score that two of them have, with its seeds;
 * errors by step, if they keep forecasts; the trials of each search.
 * @throws FileError if a folder holds neither, or if they have nothing in common
 */
export async function comparisonFigures(folders: readonly string[]): Promise<Figure[]> {
  const runs = await Promise.all(folders.map(scoresOf));
  const scores = runs.flat();
  const metrics = [...new Set(scores.map(({ metric }) => metric))].filter(
    (metric) => scores.filter((each) => each.metric === metric).length > 1,
  );
  if (metrics.length === 0) throw new FileError(folders[0]!, `it has no score in common with ${folders.slice(1, 4).join(", ")}`, "content");
  const forecasts = (await Promise.all(folders.slice(0, mostLines).map(forecastsOf))).flat();
  const searches = await Promise.all(folders.map(historyOf));
  return [
    ...metrics.map((metric) => {
      const own = scores.filter((each) => each.metric === metric);
      return plotScores(metric, own, own[0]!.better);
    }),
    ...(forecasts.length > 1 ? [plotRunErrors(forecasts)] : []),
    ...searches.flat(),
  ];
}

function nameOf(folder: string): string {
  return basename(resolve(folder));
}

async function scoresOf(folder: string): Promise<Score[]> {
  const run = nameOf(folder);
  if ((await kindOfPath(join(folder, "search.json"))) === "file") {
    const { score, better, validation, freshSeeds, test } = await readSearchResult(folder);
    return Object.entries({ validation, freshSeeds, test }).flatMap(([part, value]) =>
      typeof value === "number" ? [{ run, metric: `${score} (${part})`, value, seeds: [], better }] : [],
    );
  }
  const { scores, seeds } = await readRun(folder);
  return scores.map(({ metric, value, better }) => ({
    ...{ run, metric: `${metric} (test)`, value, better },
    seeds: seeds.length > 1 ? seeds.flatMap((seed) => seed.scores[metric] ?? []) : [],
  }));
}

type Scored = WrittenForecast & { readonly target: NonNullable<WrittenForecast["target"]> };

async function forecastsOf(folder: string): Promise<PlottedForecasts[]> {
  if ((await kindOfPath(join(folder, "forecasts.csv"))) !== "file") return [];
  const { written } = await readForecasts(join(folder, "forecasts.csv"));
  const scored = written.filter((each): each is Scored => each.target !== undefined && each.prediction.data.every(Number.isFinite));
  if (scored.length === 0) return [];
  return [{ run: nameOf(folder), predictions: scored.map(({ prediction }) => prediction), targets: scored.map(({ target }) => target) }];
}

/** The values of the trials of a search. */
async function historyOf(folder: string): Promise<Figure[]> {
  if ((await kindOfPath(join(folder, "journal.log"))) !== "file") return [];
  const { figures } = await studyFigures(join(folder, "journal.log"));
  return figures.slice(0, 1).map((figure) => ({ ...figure, title: `${figure.title}: ${nameOf(folder)}` }));
}
