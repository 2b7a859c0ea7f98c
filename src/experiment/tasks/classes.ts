// How well each class was found, as result.json, the report and the terminal have it.
import { reportOfConfusion } from "../../metrics/classification-report.js";
import type { ClassificationReport, ConfusionMatrix, PrecisionRecall, Reliability } from "../../metrics/index.js";
import { type Figure, plotCalibration } from "../../plot/index.js";

/** What a run found of each class, over all its seeds. */
export interface ClassResult extends ClassificationReport {
  /** The counts of all seeds together. */
  readonly confusion: ConfusionMatrix;
  /** Whether probabilities came true, of the first seed. */
  readonly reliability?: Reliability | undefined;
}

/**
 * The classes of the seeds that are finished: their cases count together. Undefined without any.
 */
export function classResult(confusions: readonly ConfusionMatrix[], reliability?: Reliability): ClassResult | undefined {
  const [first, ...others] = confusions;
  if (!first) return undefined;
  const labels = [...new Set([first, ...others].flatMap((each) => [...each.labels]))];
  const counts = labels.map(() => labels.map(() => 0));
  for (const each of confusions) {
    const at = each.labels.map((label) => labels.indexOf(label));
    each.counts.forEach((row, i) => {
      row.forEach((count, j) => {
        counts[at[i]!]![at[j]!]! += count;
      });
    });
  }
  const confusion = { labels, counts };
  return { ...reportOfConfusion(confusion), confusion, reliability };
}

/** Classes that a terminal shows; of more, only the means. */
const mostLines = 40;

/** Heads and lines: each class, then the means over the classes. */
export function classTable({ classes, macro, weighted }: ClassResult, most = mostLines) {
  const line = (name: string, { precision, recall, f1, support }: PrecisionRecall) => [name, precision, recall, f1, String(support)];
  const shown = classes.length <= most ? classes : [];
  return {
    heads: ["class", "precision", "recall", "F1", "cases"],
    lines: [...shown.map((each) => line(String(each.label), each)), line("mean over classes", macro), line("weighted by cases", weighted)],
  };
}

/** The reliability diagram of a classifier. */
export function reliabilityFigure({ bins }: Reliability): Figure {
  return plotCalibration(
    bins.map(({ confidence }) => confidence),
    bins.map((bin) => bin.accuracy),
    {
      title: "Reliability of the probabilities",
      nominalLabel: "confidence",
      measuredLabel: "share that is right",
      counts: bins.map(({ count }) => count),
    },
  );
}
