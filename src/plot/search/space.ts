// Where a search found what: trials across all parameters, one parameter, two, and which matter.
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, number, optional, record, resolve } from "@spillway/core/options.js";
import { axis as axisOf, columnsOf, type Element, heatmap, scatter, ticksOf } from "../elements.js";
import type { Figure } from "../figure.js";
import { formatNumber, formatShare } from "../format.js";
import { type TitleOptions, titleOf, titleOption } from "../options.js";
import { baselineColour, sequentialScale, seriesColour } from "../palette.js";
import {
  axisLayout,
  brokenLine,
  densityImage,
  drawnTrials,
  manyTrials,
  type PlottedParameter,
  type PlottedStudy,
  parameterAxis,
  rankColours,
  readStudy,
  type ScoredTrial,
} from "./trials.js";

const tableOf = (title: string) => ({
  /** The figure's title; default says what is drawn. */
  title: titleOption(title),
  /** The share of each parameter, as `study.importance()` gives it: the largest comes first. */
  importance: optional(record(number(), "an object of shares"), "The share of each parameter: the largest comes first."),
});

/** Options of figures whose panels or columns are ordered. */
export interface SearchPlotOptions extends InputOf<ReturnType<typeof tableOf>> {}

/** The options of `plotParallelCoordinates` and of `plotSlices`. */
export const parallelTable = tableOf("Trials across all parameters");
export const slicesTable = tableOf("Values by parameter");

/**
 * Every complete trial as a line across its parameters and its value, coloured by rank, the best on
 * top. Axes are logarithmic if the parameter's is. Above 5,000 trials the best 500 are lines and
 * all are an image beneath. A line is broken where a parameter is not there.
 * @throws ArgumentError if it is no study
 */
export function plotParallelCoordinates(study: PlottedStudy, options: SearchPlotOptions = {}): Figure {
  const { title, importance } = resolve(parallelTable, options);
  const { best, values, ...read } = readStudy(study);
  const parameters = ordered(read.parameters, importance);
  const axes = [...parameters.map(parameterAxis), values];
  const points = (trial: ScoredTrial) =>
    axes.map(({ low, high, at }, k): [number, number] => {
      const parameter = parameters[k];
      return [k, (at(parameter ? trial.params[parameter.name] : trial.value) - low) / (high - low)];
    });
  const many = best.length > manyTrials;
  const shown = many ? best.slice(0, drawnTrials) : best;
  const last = Math.max(1, axes.length - 1);
  const groups = byRank(shown);
  const notes = axes.flatMap(({ low, high, ticks: { tickvals, ticktext } }, k) =>
    [0, tickvals.length - 1]
      .filter((tick, i, list) => list.indexOf(tick) === i)
      .map((tick) => ({
        ...{ x: k, y: (tickvals[tick]! - low) / (high - low), text: ticktext[tick]! },
        ...{ showarrow: false, font: { size: 11 }, bgcolor: "rgba(255,255,255,0)" },
      })),
  );
  const names = [...parameters.map(({ name }) => name), "value"];
  return {
    title,
    description: `${shown.length} of ${best.length} complete trials as lines across ${names.join(", ")}${many ? "; the others as an image beneath" : ""}, coloured by rank.`,
    data: [
      ...(many ? [densityImage(crossings(best, points), [0, last], [0, 1], [40 * last, 60])] : []),
      ...groups.toReversed().map(({ name, trials, color }, k) => {
        const line = { color, width: k === groups.length - 1 ? 1.8 : 0.8 };
        return scatter("lines", name, brokenLine(trials.map(points)), { line, hoverinfo: "skip" });
      }),
    ],
    layout: {
      height: 400,
      xaxis: axisOf(undefined, { ...ticksOf(names.map(shortName)), range: [-0.25, last + 0.25] }),
      yaxis: { range: [-0.05, 1.05], visible: false },
      annotations: notes,
    },
  };
}

/** The points at which lines cross the columns of an image of 40 columns a gap. */
function* crossings(
  trials: readonly ScoredTrial[],
  points: (trial: ScoredTrial) => readonly [number, number][],
): Generator<[number, number]> {
  for (const trial of trials) {
    const at = points(trial);
    for (let k = 0; k + 1 < at.length; k++)
      for (let i = 0; i < 40; i++) yield [k + (i + 0.5) / 40, at[k]![1] + ((at[k + 1]![1] - at[k]![1]) * (i + 0.5)) / 40];
  }
}

/** Ends of the groups of ranks, as shares of the trials. */
const rankShares = [0.01, 0.05, 0.1, 0.25, 0.5, 1] as const;

function byRank(best: readonly ScoredTrial[]) {
  let from = 0;
  return rankShares.flatMap((share, k) => {
    const to = Math.ceil(share * best.length);
    const trials = best.slice(from, to).toReversed();
    from = Math.max(from, to);
    return trials.length > 0 ? [{ name: `best ${formatShare(share)}`, trials, color: rankColours[k]! }] : [];
  });
}

/**
 * The value of every complete trial against each parameter, a panel each; the colour goes with the
 * trial's number, late ones strongest. Above 5,000 trials the best 500 are points and all are an
 * image beneath.
 * @throws ArgumentError if it is no study
 */
export function plotSlices(study: PlottedStudy, options: SearchPlotOptions = {}): Figure {
  const { title, importance } = resolve(slicesTable, options);
  const { best, values, ...read } = readStudy(study);
  const parameters = ordered(read.parameters, importance);
  const many = best.length > manyTrials;
  const shown = (many ? best.slice(0, drawnTrials) : best).toSorted((a, b) => a.number - b.number);
  const across = Math.min(3, Math.max(1, parameters.length));
  const down = Math.ceil(parameters.length / across);
  const height = 70 + 220 * Math.max(1, down);
  const data: Element[] = [];
  const layout: Record<string, unknown> = { height };
  parameters.forEach((parameter, p) => {
    const axis = parameterAxis(parameter);
    const points = (list: readonly ScoredTrial[]) =>
      list.map((trial): [number, number] => [axis.at(trial.params[parameter.name]), values.at(trial.value)]);
    const id = p === 0 ? "" : String(p + 1);
    const own = { xaxis: `x${id}`, yaxis: `y${id}` };
    if (many) data.push({ ...densityImage(points(best), [axis.low, axis.high], [values.low, values.high], [60, 40]), ...own });
    const groups = rankColours.length;
    for (let g = 0; g < groups; g++) {
      const part = shown.slice(Math.floor((g * shown.length) / groups), Math.floor(((g + 1) * shown.length) / groups));
      if (part.length === 0) continue;
      const name = `trials ${part[0]!.number} to ${part.at(-1)!.number}`;
      const marker = { color: rankColours[groups - 1 - g], size: 5, opacity: 0.75 };
      data.push(scatter("markers", name, columnsOf(points(part)), { showlegend: p === 0, legendgroup: name, marker, ...own }));
    }
    const [column, row] = [p % across, Math.floor(p / across)];
    const xGap = 0.05;
    const wide = (1 - xGap * (across - 1)) / across;
    const yGap = down > 1 ? 70 / height : 0;
    const tall = (1 - yGap * (down - 1)) / down;
    const left = column * (wide + xGap);
    const top = 1 - row * (tall + yGap);
    const few = everyOther(axis.ticks);
    layout[`xaxis${id}`] = {
      ...axisLayout({ ...axis, ticks: few }, shortName(parameter.name)),
      domain: [left, Math.min(1, left + wide)],
      anchor: `y${id}`,
    };
    const labelled = column === 0 ? {} : { tickvals: [], ticktext: [] };
    layout[`yaxis${id}`] = {
      ...axisLayout(values, column === 0 ? "value" : undefined),
      ...labelled,
      domain: [Math.max(0, top - tall), Math.min(1, top)],
      anchor: `x${id}`,
    };
  });
  return {
    title,
    description: `The value of ${best.length} complete trials against ${parameters.map(({ name }) => name).join(", ")}${many ? `; the best ${drawnTrials} as points` : ""}.`,
    data,
    layout,
  };
}

/**
 * The values over two parameters: in each cell the mean of the trials, nearer ones counting more,
 * and the trials as points. Above 2,000 trials every k-th makes the image.
 * @throws ArgumentError if it is no study, or for a parameter that it has not
 */
export function plotContour(study: PlottedStudy, first: string, second: string, options: TitleOptions = {}): Figure {
  const title = titleOf(options, "Values over two parameters");
  const { isMinimised, best, values, parameters } = readStudy(study);
  const parameterOf = (name: string) => {
    const found = parameters.find((parameter) => parameter.name === name);
    if (found) return found;
    throw ArgumentError.because(
      `${JSON.stringify(name)} is no parameter of the study; it has ${parameters.map((each) => each.name).join(", ")}`,
    );
  };
  const [x, y] = [parameterAxis(parameterOf(first)), parameterAxis(parameterOf(second))];
  const points = best
    .map((trial): [number, number, number] => [x.at(trial.params[first]), y.at(trial.params[second]), values.at(trial.value)])
    .filter((point) => point.every(Number.isFinite));
  const marks = points.slice(0, manyTrials).map(([px, py]) => [px, py] as const);
  const every = Math.max(1, Math.ceil(points.length / 2000));
  const used = points.filter((_, k) => k % every === 0);
  const cells = 40;
  const [dx, dy] = [(x.high - x.low) / cells, (y.high - y.low) / cells];
  const z = Float32Array.from({ length: cells * cells }, (_, i) => {
    const [cx, cy] = [(i % cells) + 0.5, Math.floor(i / cells) + 0.5];
    let [sum, weights] = [0, 0];
    for (const [px, py, value] of used) {
      const weight = 1 / (((px - x.low) / dx - cx) ** 2 + ((py - y.low) / dy - cy) ** 2 + 1) ** 2;
      sum += weight * value;
      weights += weight;
    }
    return weights > 0 ? sum / weights : Number.NaN;
  });
  const reversed = sequentialScale.map(([share], k) => [share, sequentialScale[sequentialScale.length - 1 - k]![1]]);
  const scale = isMinimised ? reversed : sequentialScale;
  const image = { x0: x.low + dx / 2, dx, y0: y.low + dy / 2, dy, colorscale: scale };
  return {
    title,
    description: `Values over ${first} and ${second}, of ${points.length} complete trials; darker is better.`,
    data: [
      heatmap(z, [cells, cells], { ...image, showscale: false, hoverinfo: "skip" }),
      scatter("markers", "trials", columnsOf(marks), { marker: { color: baselineColour, size: 4, opacity: 0.8 } }),
      ...(marks[0] ? [scatter("markers", "best", columnsOf([marks[0]]), { marker: { color: rankColours[0], size: 9 } })] : []),
    ],
    layout: { height: 400, xaxis: axisLayout({ ...x, ticks: everyOther(x.ticks) }, first), yaxis: axisLayout(y, second) },
  };
}

/**
 * How much each parameter matters, as bars.
 * @param importance the share of each, as `study.importance()` gives it
 * @throws ArgumentError if it is no object of shares
 */
export function plotImportance(importance: Readonly<Record<string, number>>, options: TitleOptions = {}): Figure {
  const title = titleOf(options, "Importance of the parameters");
  if (typeof importance !== "object" || importance === null || Array.isArray(importance))
    throw new ArgumentError("importance", importance, "an object of shares, as study.importance() gives it");
  const shares = Object.entries(importance).sort(([, a], [, b]) => b - a);
  for (const [name, share] of shares)
    if (!(share >= 0 && share <= 1)) throw new ArgumentError(`importance[${JSON.stringify(name)}]`, share, "a share from 0 to 1");
  const names = shares.map(([name]) => shortName(name));
  const bars = shares.map(([, share], k) => [0, share].map((x) => [x, k] as const));
  return {
    title,
    description: `What makes the best tenth of the trials good: ${shares.map(([name, share]) => `${name} ${formatNumber(share)}`).join(", ") || "too few trials to say"}.`,
    data: [scatter("lines", "share", brokenLine(bars), { line: { color: seriesColour(0), width: 14 } })],
    layout: {
      height: 110 + 26 * Math.max(1, shares.length),
      xaxis: axisOf("share", { range: [0, 1] }),
      yaxis: axisOf(undefined, { ...ticksOf(names), range: [Math.max(1, shares.length) - 0.4, -0.6], showgrid: false }),
    },
  };
}

/** Parameters that differ at all, the most important first. */
function ordered(parameters: readonly PlottedParameter[], importance: Readonly<Record<string, number>> = {}): PlottedParameter[] {
  const share = ({ name }: PlottedParameter) => importance[name] ?? 0;
  return Array.from(parameters)
    .filter(({ low, high }) => high > low)
    .sort((a, b) => share(b) - share(a));
}

/** The last part of a path: reservoir.spectralRadius is called spectralRadius. */
function shortName(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1) || name;
}

/** Ticks that fit into a panel: five numbers become three. */
function everyOther(ticks: { readonly tickvals: readonly number[]; readonly ticktext: readonly string[] }) {
  if (ticks.tickvals.length !== 5) return ticks;
  return { tickvals: ticks.tickvals.filter((_, k) => k % 2 === 0), ticktext: ticks.ticktext.filter((_, k) => k % 2 === 0) };
}
