// Task "anomalies": one detector over the whole series, row by row. Labels, if there are any, score
// its incidents; nothing is chosen by them.
import { dirname, join } from "node:path";
import { ArgumentError } from "@spillway/core/errors.js";
import { writeFileAtomic } from "@spillway/io";
import { csvCell } from "@spillway/io/csv-writer.js";
import { Matrix } from "@spillway/numerics";
import { confusionMatrix } from "../../metrics/index.js";
import { noLabel } from "../../metrics/metric.js";
import { AnomalyDetector } from "../../model/index.js";
import { matrixOf, plotAnomalies } from "../../plot/anomalies.js";
import { plotConfusion } from "../../plot/index.js";
import { parseStamp } from "../../series/time-form.js";
import type { SeriesData } from "../data/experiment-data.js";
import type { AnomaliesTask, Experiment } from "../description/description.js";
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
  const windows = labels?.map((pair, k) => windowOf(pair, data, `task.labels[${k}]`));
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
    summary: `anomalies in ${rows.length} rows: ${incidents.length} incidents, asked ${rateText(alarmRate)}, obtained ${rateText(obtained)}${events ? `; ${events.hits} of ${windows!.length} labelled anomalies found, ${events.wrong} incidents outside` : ""}`,
    figures: options.withFigures
      ? [
          plotAnomalies({
            ...{ names, series, incidents, labels: windows, alarmRate, times: data.times },
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
          ...(counted
            ? [
                plotConfusion(
                  counted.counts.map((row) => [...row]),
                  classes,
                ),
              ]
            : []),
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

/** Each labelled anomaly, and each incident outside of them: what it is, and what was found. */
function eventsOf(windows: readonly Window[], incidents: readonly { readonly start: number }[]) {
  const isIn = ({ start, end }: Window) => incidents.some((incident) => incident.start >= start && incident.start <= end);
  const hits = windows.filter(isIn).length;
  const wrong = incidents.filter(({ start: at }) => !windows.some(({ start, end }) => at >= start && at <= end)).length;
  return {
    hits,
    wrong,
    labels: [...windows.map(() => "anomaly"), ...Array.from({ length: wrong }, () => noLabel)],
    found: [...windows.map((window) => (isIn(window) ? "anomaly" : noLabel)), ...Array.from({ length: wrong }, () => "anomaly")],
  };
}

/** @throws ArgumentError for rows or stamps that the series does not have */
function windowOf([from, to]: readonly [string | number, string | number], { series, axis }: SeriesData, field: string): Window {
  const rowOf = (at: string | number, isLast: boolean): number => {
    const stamp = typeof at === "string" ? parseStamp(at) : undefined;
    if (typeof at === "number" && Number.isInteger(at) && at >= 0 && at < series.rows) return at;
    const row = axis && typeof stamp === "object" ? axis.wall.findIndex((wall) => wall >= stamp.wall) : -1;
    if (row >= 0) return isLast && axis!.wall[row]! > (stamp as { readonly wall: number }).wall ? row - 1 : row;
    throw new ArgumentError(field, at, `rows from 0 to ${series.rows - 1}${axis ? ", or time stamps of the series" : ""}`);
  };
  const window = { start: rowOf(from, false), end: rowOf(to, true) };
  if (window.end < window.start) throw new ArgumentError(field, [from, to], "a first row, and a last one that is not before it");
  return window;
}
