// How forecasts compare with the best baseline, in a sentence.
import { formatNumber } from "../../plot/format.js";
import { compareStarts, type Verdict } from "../../series/index.js";
import { meanAndDeviation, median } from "./scores.js";
import type { Trial } from "./trial.js";

/** A verdict in figures and in words. */
export interface SaidVerdict extends Verdict {
  readonly sentence: string;
  /** Whether errors of several columns were divided by the deviations of their training rows. */
  readonly standardised?: boolean | undefined;
}

/**
 * The verdict on the seeds that are finished, against the baselines that each of them has: of
 * series that are drawn anew, one may have a season that another lacks. If the best is none of
 * those that were asked for, a second sentence is about the best of these. Undefined if nothing was
 * forecast.
 * @param asked the names of the baselines that the experiment names
 */
export function verdictOn(
  seeds: readonly NonNullable<Trial["startErrors"]>[],
  statistic: "median" | "mean",
  asked: readonly string[] = [],
  standardised = false,
): SaidVerdict | undefined {
  const [first] = seeds;
  if (!first) return undefined;
  const { counts } = first.model;
  const model = { name: first.model.name, errors: seeds.flatMap((seed) => seed.model.errors), counts };
  const errorsOf = (name: string) => seeds.map((seed) => seed.baselines.find((each) => each.name === name)?.errors);
  const baselines = first.baselines
    .map(({ name }) => ({ name, errors: errorsOf(name) }))
    .filter(({ errors }) => errors.every((each) => each !== undefined))
    .map(({ name, errors }) => ({ name, errors: errors.flatMap((each) => each!), counts }));
  const middle = (values: readonly number[]) => (statistic === "median" ? median(values) : meanAndDeviation(values).mean);
  const verdict = compareStarts(model, baselines, middle);
  if (!verdict) return undefined;
  const own = asked.includes(verdict.against)
    ? undefined
    : compareStarts(
        model,
        baselines.filter(({ name }) => asked.includes(name)),
        middle,
      );
  const sentence = [verdict, ...(own ? [own] : [])].map((each) => sentenceOf(each, standardised)).join(" ");
  return { sentence, ...verdict, ...(standardised && { standardised }) };
}

/** "Worse than ridge AR(192): rmse 81.9 against 38.6 (skill -1.12), better on 3 of 50 starts." */
export function sentenceOf(
  { against, rmse, baselineRmse, skill, betterOn, oneSided, starts, differs, interval }: Verdict,
  standardised = false,
): string {
  const from = `${starts} start${starts === 1 ? "" : "s"}`;
  const isUneven = oneSided && !differs;
  const same = `No difference${isUneven ? " of rmse" : ""} from ${against} that ${from} can show`;
  const how = differs ? `${interval[1] < 0 ? "Better" : "Worse"} than ${against}` : same;
  const many = 2 * betterOn > starts ? "more" : "fewer";
  const count = `better on ${betterOn} of ${from}${isUneven ? `, ${many} than chance gives` : ""}`;
  const figures = Number.isFinite(rmse)
    ? `${standardised ? "standardised " : ""}rmse ${formatNumber(rmse)} against ${formatNumber(baselineRmse)} (skill ${formatNumber(skill)})`
    : `a forecast left for infinity; rmse of ${against} ${formatNumber(baselineRmse)}`;
  return `${how}: ${figures}, ${count}.`;
}
