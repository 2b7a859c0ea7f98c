// A search over time: values by trial with the best so far, values on the way, who was busy when.
import { axis as axisOf, columnsOf, scatter, ticksOf } from "../elements.js";
import type { Figure } from "../figure.js";
import { formatNumber } from "../format.js";
import { type TitleOptions, titleOf } from "../options.js";
import { baselineColour, predictionColour, targetColour } from "../palette.js";
import {
  axisLayout,
  brokenLine,
  densityImage,
  drawnTrials,
  manyTrials,
  type PlottedStudy,
  type PlottedTrial,
  readStudy,
  valueAxis,
} from "./trials.js";

const failedColour = "#CC79A7";
const prunedColour = "#56B4E9";

/**
 * The value of each trial by its number, with the best so far. Pruned and failed trials are marked;
 * those without a finite value stand at the edge of the worst. Above 5,000 complete trials the best
 * 500 are points and all are an image beneath.
 * @throws ArgumentError if it is no study
 */
export function plotHistory(study: PlottedStudy, options: TitleOptions = {}): Figure {
  const title = titleOf(options, "Values by trial");
  const { isMinimised, trials, best: complete } = readStudy(study);
  const pruned = trials.filter(({ state }) => state === "pruned");
  const failed = trials.filter(({ state }) => state === "failed");
  const infinite = trials.filter(({ state, value }) => state === "complete" && !Number.isFinite(value));
  const axis = valueAxis([...complete, ...pruned].flatMap(({ value }) => (value !== undefined && Number.isFinite(value) ? [value] : [])));
  const worst = isMinimised ? axis.high : axis.low;
  const edge = (trial: PlottedTrial): [number, number] => {
    const at = axis.at(trial.value);
    return [trial.number, Number.isNaN(at) ? worst : at];
  };
  const many = complete.length > manyTrials;
  const last = trials.reduce((most, { number }) => Math.max(most, number), 0);
  const points = complete.map(edge);
  const marks = (name: string, found: readonly (readonly [number, number])[], color: string, symbol = "circle") =>
    found.length > 0 ? [scatter("markers", name, columnsOf(found), { marker: { color, size: 5, opacity: 0.7, symbol } })] : [];
  const best = complete[0];
  return {
    title,
    description: `${complete.length} complete, ${pruned.length} pruned and ${failed.length} failed trials${infinite.length > 0 ? `; ${infinite.length} are not finite` : ""}. ${best ? `The best is trial ${best.number} with ${formatNumber(best.value)}.` : "None has a value."}`,
    data: [
      ...(many ? [densityImage(points, [0, last + 1], [axis.low, axis.high], [200, 80])] : []),
      ...marks(many ? `best ${drawnTrials}` : "complete", many ? points.slice(0, drawnTrials) : points, targetColour),
      ...marks("pruned", pruned.map(edge), prunedColour, "circle-open"),
      ...marks("failed", [...failed, ...infinite].map(edge), failedColour, "circle-open"),
      scatter("lines", "best so far", brokenLine([bestSoFar(points, isMinimised, last)]), { line: { color: predictionColour, width: 2 } }),
    ],
    layout: { height: 340, xaxis: axisOf("trial"), yaxis: axisLayout(axis, "value") },
  };
}

/** The corners of the line of the best value so far. */
function bestSoFar(points: readonly (readonly [number, number])[], isMinimised: boolean, last: number): [number, number][] {
  const sign = isMinimised ? 1 : -1;
  const corners: [number, number][] = [];
  let best = Number.NaN;
  for (const [number, value] of points.toSorted(([a], [b]) => a - b)) {
    if (sign * value >= sign * best) continue;
    if (corners.length > 0) corners.push([number, best]);
    best = value;
    corners.push([number, best]);
  }
  if (corners.length > 0) corners.push([last, best]);
  return corners;
}

/**
 * The values of trials on the way, by training rows or seeds: those that were stopped early in
 * grey, those that went to the end in colour, the best on top.
 * @throws ArgumentError if it is no study
 */
export function plotIntermediateValues(study: PlottedStudy, options: TitleOptions = {}): Figure {
  const title = titleOf(options, "Values on the way");
  const { trials, best } = readStudy(study);
  const stepsOf = ({ intermediate = {} }: PlottedTrial) =>
    Object.entries(intermediate).map(([step, value]): [number, number] => [Number(step), value]);
  const withSteps = trials.filter((trial) => stepsOf(trial).length > 0);
  const pruned = withSteps.filter(({ state }) => state === "pruned").slice(0, manyTrials);
  const complete = best.filter((trial) => stepsOf(trial).length > 0).slice(0, drawnTrials);
  const axis = valueAxis([...pruned, ...complete].flatMap((trial) => stepsOf(trial).map(([, value]) => value)).filter(Number.isFinite));
  const lines = (list: readonly PlottedTrial[]) =>
    brokenLine(list.map((trial) => stepsOf(trial).map(([step, value]) => [step, axis.at(value)] as const)));
  const trace = (name: string, list: readonly PlottedTrial[], color: string, width: number) =>
    list.length > 0 ? [scatter("lines+markers", name, lines(list), { line: { color, width }, marker: { color, size: 4 } })] : [];
  return {
    title,
    description: `Values on the way of ${withSteps.length} trials: ${complete.length} complete and ${pruned.length} stopped early are drawn.`,
    data: [
      ...trace("stopped early", pruned, baselineColour, 0.75),
      ...trace("complete", complete.slice(1).toReversed(), targetColour, 1),
      ...trace("best", complete.slice(0, 1), predictionColour, 2.5),
    ],
    layout: { height: 340, xaxis: axisOf("resource"), yaxis: axisLayout(axis, "value") },
  };
}

/**
 * When each trial ran: a bar from its start to its end, in as many lanes as trials ran at once, by
 * state. Trials without times are left out.
 * @throws ArgumentError if it is no study
 */
export function plotTimeline(study: PlottedStudy, options: TitleOptions = {}): Figure {
  const title = titleOf(options, "Trials over time");
  const { trials } = readStudy(study);
  const timed = trials.filter(
    (trial): trial is PlottedTrial & { started: number; finished: number } =>
      Number.isFinite(trial.started) && Number.isFinite(trial.finished),
  );
  timed.sort((a, b) => a.started - b.started || a.number - b.number);
  const first = timed[0]?.started ?? 0;
  const free: number[] = [];
  const bars = timed.map((trial) => {
    let lane = free.findIndex((end) => end <= trial.started);
    if (lane < 0) lane = free.length;
    free[lane] = trial.finished;
    return {
      state: trial.state,
      line: [[(trial.started - first) / 1000, lane] as const, [(trial.finished - first) / 1000, lane] as const],
    };
  });
  const busy = timed.reduce((sum, { started, finished }) => sum + finished - started, 0);
  const span = timed.reduce((most, { finished }) => Math.max(most, finished), first) - first;
  const trace = (state: string, color: string) => {
    const lines = bars.filter((bar) => bar.state === state).map(({ line }) => line);
    return lines.length > 0 ? [scatter("lines", state, brokenLine(lines), { line: { color, width: 8 } })] : [];
  };
  const ticks = free.length <= 20 ? ticksOf(free.map((_, k) => String(k + 1))) : {};
  return {
    title,
    description: `${timed.length} trials in ${formatNumber(span / 1000)} s, at most ${free.length} at once${span > 0 ? ` and ${formatNumber(busy / span)} on average` : ""}.`,
    data: [...trace("complete", targetColour), ...trace("pruned", prunedColour), ...trace("failed", failedColour)],
    layout: {
      height: Math.min(640, 160 + 16 * Math.max(4, free.length)),
      xaxis: axisOf("seconds"),
      yaxis: axisOf("at once", { range: [-0.5, Math.max(0.5, free.length - 0.5)], ...ticks }),
    },
  };
}
