// The page of a search: the three figures of its best setting side by side, and its trials drawn.
import {
  type Figure,
  type PlottedStudy,
  plotContour,
  plotHistory,
  plotImportance,
  plotIntermediateValues,
  plotParallelCoordinates,
  plotSlices,
  plotTimeline,
  type ReportScore,
  type ReportSection,
} from "../../plot/index.js";
import type { ExperimentResult } from "../runs/result.js";
import type { SearchResult } from "../search/search-result.js";
import { verdictOf } from "./report-section.js";

/** A search as a section of a page. `config` is the experiment of the best setting, as YAML. */
export function searchSection(result: SearchResult, source: PlottedStudy, config?: string, refit?: ExperimentResult): ReportSection {
  const { name, score, better, objective, trials, best, validation, freshSeeds, test, importance, interrupted, seconds } = result;
  const scoreOf = (metric: string, value: number | null | undefined): ReportScore[] =>
    typeof value === "number" ? [{ metric: `${score} ${metric}`, value, better }] : [];
  const tested = refit?.scores.find((each) => each.metric === score);
  const verdict = refit && verdictOf(refit);
  return {
    title: name,
    lead: "The best of many trials is too good on the rows that chose it: the second and third figures say how much.",
    warnings: interrupted ? ["This search was stopped before its budget was used; the same command goes on."] : [],
    facts: [
      ["trials", `${trials.complete} complete, ${trials.pruned} pruned, ${trials.failed} failed`],
      ["objective", `${score} on ${objective.on}, ${better} is better`],
      ["best", best ? `trial ${best.trial}` : "no trial is complete"],
      ...Object.entries(best?.values ?? {}).map(([path, value]): [string, string] => [path, JSON.stringify(value)]),
      ...(verdict ? [["against baselines", verdict] as const] : []),
      ...(refit?.bands ? [["bands", refit.bands.sentence] as const] : []),
      ["time", `${seconds.toFixed(1)} s`],
    ],
    scores: [
      ...scoreOf("of the trial that was chosen by it", validation),
      ...scoreOf("with seeds that no trial had", freshSeeds),
      ...scoreOf("on the test part", test).map((each) => ({ ...each, baselines: tested?.baselines, published: tested?.published })),
    ],
    figures: searchFigures(source, importance),
    config,
  };
}

/** The figures of a search. @param importance the share of each parameter, the largest first */
export function searchFigures(source: PlottedStudy, importance: Readonly<Record<string, number>>): Figure[] {
  // A study makes its list of trials anew each time that it is asked.
  const study = { direction: source.direction, trials: source.trials, space: source.space };
  const [first, second] = Object.keys(importance);
  const hasSteps = study.trials.some(({ intermediate }) => Object.keys(intermediate ?? {}).length > 0);
  return [
    plotHistory(study),
    plotParallelCoordinates(study, { importance }),
    plotSlices(study, { importance }),
    plotImportance(importance),
    ...(first !== undefined && second !== undefined ? [plotContour(study, first, second)] : []),
    ...(hasSteps ? [plotIntermediateValues(study)] : []),
    plotTimeline(study),
  ];
}
