// Task "anomalies": one detector over the whole series, row by row. Labels, if there are any, score
// its incidents; nothing is chosen by them.
import { dirname, join } from "node:path";
import { ArgumentError } from "@spillway/core/errors.js";
import { describe, tally } from "@spillway/core/text.js";
import { writeFileAtomic } from "@spillway/io";
import { csvCell } from "@spillway/io/csv-writer.js";
import { Matrix } from "@spillway/numerics";
import { confusionMatrix } from "../../metrics/index.js";
import { noLabel } from "../../metrics/metric.js";
import { AnomalyDetector } from "../../model/index.js";
import { matrixOf, plotAnomalies } from "../../plot/anomalies.js";
import { plotConfusion } from "../../plot/index.js";
import { minuteMs } from "../../series/civil.js";
import { parseStamp, saysInstant, type TimeStamp } from "../../series/time-form.js";
import type { SeriesData } from "../data/experiment-data.js";
import type { KnownAnomaly } from "../data/labels.js";
import type { AnomaliesTask, AnomalyLabel, Experiment } from "../description/description.js";
import { scoreClasses } from "./scores.js";
import { Stopwatch, type Trial, type TrialOptions } from "./trial.js";

/** Rows from one to another. */
interface Window {
  readonly start: number;
  readonly end: number;
}

export async function runAnomalies(
  experiment: Experiment & { readonly task: AnomaliesTask },
  data: SeriesData,
  options: TrialOptions,
): Promise<Trial> {
  const { type: _, labels, ...settings } = experiment.task;
  const { names, filled, axis } = data;
  const watch = new Stopwatch();
  const series = Matrix.from(data.series, "float64");
  // What was filled was missing: a detector takes it so.
  filled?.data.forEach((flag, i) => {
    if (flag === 1) series.data[i] = Number.NaN;
  });
  const detector = await AnomalyDetector.create({ ...settings, columns: names, seed: options.seed });
  const { rows, incidents } = await watch.time("test", async () => detector.detect(series, { times: axis }));
  options.onProgress(1);
  const known = data.labels ?? (labels as readonly AnomalyLabel[] | undefined)?.map((label, k) => ({ label, from: `task.labels[${k}]` }));
  const windows = known?.map((each) => windowOf(each, data, settings.mergeRows));
  const events = windows && eventsOf(windows, incidents);
  const classes = ["anomaly", noLabel];
  const counted = events && confusionMatrix(events.labels, events.found, classes);
  const obtained = incidents.length / rows.length;
  const { alarmRate } = detector.settings;
  return {
    readout: { method: "anomalies", rows: rows.length, details: { alarmRate, obtained, incidents } },
    scores: events ? scoreClasses(events.labels, events.found, experiment.metrics, experiment.scoring) : {},
    baselines: {},
    confusion: counted,
    timing: watch.seconds,
    summary: `anomalies in ${rows.length} rows: ${tally(incidents.length, "incident")}, asked ${rateText(alarmRate)}, obtained ${rateText(obtained)}${events ? `; ${events.hits} of ${tally(windows!.length, "labelled anomaly", "labelled anomalies")} found, ${tally(events.wrong, "incident")} outside` : ""}`,
    figures: options.withFigures
      ? [
          plotAnomalies({
            ...{ names, series, incidents, labels: windows, alarmRate, wall: axis?.wall },
            lower: matrixOf(
              rows.map(({ lower }) => lower),
              names.length,
            ),
            upper: matrixOf(
              rows.map(({ upper }) => upper),
              names.length,
            ),
            scores: Float64Array.from(rows, ({ score }) => score),
            pValues: Float64Array.from(rows, ({ pValue }) => pValue),
          }),
          ...(counted ? [plotConfusion(counted.counts, classes)] : []),
        ]
      : [],
    unit: () => undefined,
    async save(path) {
      await detector.save(path);
      const at = (row: number) => csvCell(data.times?.[row] ?? String(row));
      const lines = incidents.map(({ start, end, oddest, by, score, pValue, columns }) =>
        [at(start), at(end), at(oddest), by, score, Number.isNaN(pValue) ? "" : pValue, csvCell(columns.join(" "))].join(","),
      );
      await writeFileAtomic(join(dirname(path), "incidents.csv"), `${["start,end,oddest,by,score,pvalue,columns", ...lines].join("\n")}\n`);
      return ["incidents.csv"];
    },
    saveStates: () => Promise.resolve([]),
    dispose: () => Promise.resolve(),
  };
}

const rateText = (share: number) => (share === 0 ? "none" : `1 in ${Math.round(1 / share)} rows`);

/** Where the first of `values`, in order, is that is at least `least`. */
function firstFrom(values: ArrayLike<number>, least: number): number {
  let [from, to] = [0, values.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (values[middle]! >= least) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** Each labelled anomaly, and each incident outside of them: what it is, and what was found. */
function eventsOf(windows: readonly Window[], incidents: readonly { readonly start: number }[]) {
  const starts = incidents.map(({ start }) => start);
  const isFound = windows.map(({ start, end }) => starts[firstFrom(starts, start)]! <= end);
  const inside = new Uint8Array(starts.length);
  for (const { start, end } of windows) for (let k = firstFrom(starts, start); starts[k]! <= end; k++) inside[k] = 1;
  const wrong = inside.filter((is) => is === 0).length;
  return {
    hits: isFound.filter(Boolean).length,
    wrong,
    labels: [...windows.map(() => "anomaly"), ...Array.from({ length: wrong }, () => noLabel)],
    found: [...isFound.map((is) => (is ? "anomaly" : noLabel)), ...Array.from({ length: wrong }, () => "anomaly")],
  };
}

/** @throws ArgumentError for rows or stamps that the series does not have */
function windowOf({ label, from }: KnownAnomaly, { series, axis }: SeriesData, mergeRows: number): Window {
  const wrong = (value: unknown, takes: string) =>
    ArgumentError.because(`${from} is ${describe(value)}; it takes ${takes}`, { field: /^[^,]*/.exec(from)![0], value, expected: takes });
  const instants = axis?.offsets ? axis.wall.map((wall, t) => wall - minuteMs * axis.offsets![t]!) : axis?.wall;
  /** The first row at or after a stamp, which is an instant or what the clock of the series shows. */
  const at = (stamp: TimeStamp) => {
    const isInstant = saysInstant(stamp.form);
    const times = (isInstant ? instants : axis!.wall)!;
    const time = isInstant ? stamp.wall - minuteMs * stamp.offset : stamp.wall;
    const row = firstFrom(times, time);
    return { row, isBetween: times[row]! > time };
  };
  const rowOf = (value: string | number, isLast: boolean): number => {
    if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value < series.rows) return value;
    const form = axis?.form;
    const stamps =
      form === "s" || form === "ms"
        ? [parseStamp(String(value), form)]
        : [parseStamp(String(value)), parseStamp(String(value), undefined, form)];
    const stamp = axis && stamps.find((each) => typeof each === "object");
    const found = stamp && at(stamp);
    if (found && found.row < series.rows) return isLast && found.isBetween ? found.row - 1 : found.row;
    throw wrong(value, `rows from 0 to ${series.rows - 1}${axis ? ", or time stamps of the series" : ""}`);
  };
  if (!isPair(label)) {
    const start = rowOf(label, false);
    return { start, end: Math.min(series.rows - 1, start + mergeRows) };
  }
  const window = { start: rowOf(label[0], false), end: rowOf(label[1], true) };
  if (window.end < window.start) throw wrong(label, "a first row, and a last one that is not before it");
  return window;
}

const isPair = (label: AnomalyLabel): label is Exclude<AnomalyLabel, string | number> => typeof label === "object";
