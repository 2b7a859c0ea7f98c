// A saved model forecasts from a table: rows that it goes on from, and rows that follow.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ArgumentError } from "@spillway/core/errors.js";
import { type Resolved, resolve } from "@spillway/core/options.js";
import { tally } from "@spillway/core/text.js";
import { FileError } from "@spillway/io";
import { kindOfPath } from "@spillway/io/files.js";
import {
  type Forecaster,
  type ForecastModel,
  loadModel,
  ModelFileError,
  type TableNames,
} from "../../model/index.js";
import { fewestScores, rowsLost, timesAfter } from "../../series/index.js";
import { axisRows, gridText } from "../../series/time-grid.js";
import { type AheadOptions, aheadTable } from "./ahead-options.js";
import { ofGroup, type RowsToCome, type RowsUpToNow, readRowsToCome, readRowsUpToNow, type Wanted } from "./ahead-rows.js";
import { ExperimentError } from "../description/errors.js";
import { type WrittenForecast, writeForecasts } from "./forecasts-file.js";
import { selectionOf } from "../../reservoir/computer-options.js";

/** What a saved model forecast. */
export interface Ahead {
  /** The model file. */
  readonly path: string;
  readonly kind: "forecaster" | "nvar" | "field";
  readonly steps: number;
  /** One a series. */
  readonly forecasts: readonly WrittenForecast[];
  readonly names: readonly string[];
  /** The shares that the bands hold. */
  readonly levels: readonly number[];
  /** The model's horizon, if it has bands of so many steps and these are more. */
  readonly beyond?: number | undefined;
  /** The last row before the forecasts: its time stamp, or its number from 0; of one series. */
  readonly after?: string | undefined;
  /** The last row that the model was trained on, and the first one that its scores are of. */
  readonly trainedTo?: string | undefined;
  readonly scoredFrom?: string | undefined;
  /** Columns of the table that the model does not take. */
  readonly unused: readonly string[];
}

type Given = Resolved<typeof aheadTable>;
type AnyForecaster = Pick<Forecaster<ForecastModel>, "settings" | "leastRows" | "grid" | "known" | "columns" | "choice" | "keys" | "state" | "forecast">;

/** The model file of a run's folder, or the path itself. @throws FileError for a folder without one */
export async function modelFileOf(path: string): Promise<string> {
  if ((await kindOfPath(path)) !== "folder") return path;
  const own = await readdir(path, { withFileTypes: true });
  if (own.some(({ name }) => name === modelName)) return join(path, modelName);
  const folders = own.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name));
  const runs = (await Promise.all(folders.map(async (folder) => ((await kindOfPath(join(folder, modelName))) ? [folder] : [])))).flat().sort();
  const found = runs.length > 0 ? `; take a run inside: ${runs.slice(0, 20).join(", ")}${runs.length > 20 ? ", ..." : ""}` : "";
  throw new FileError(path, `this folder holds no ${modelName}${found}`, "folder");
}

const modelName = "model.safetensors";

/**
 * Forecasts with a saved model from the rows of a table, or from where it was saved.
 * @param path a model file, or the folder of a run
 * @throws FileError if the model or a table cannot be used, ExperimentError naming what is wrong in
 * a table, ArgumentError
 */
export async function forecastAhead(path: string, options: AheadOptions = {}): Promise<Ahead> {
  const given = resolve(aheadTable, options);
  const file = await modelFileOf(path);
  const loaded = await loadModel(file, selectionOf(given));
  if (loaded.kind === "classifier") {
    await loaded.classifier.dispose();
    throw new ModelFileError(file, "it holds a classifier, which says classes and forecasts nothing; spillway serve answers with classes");
  }
  if (loaded.kind === "reservoir") {
    await loaded.computer.dispose();
    throw new ModelFileError(file, "it holds a reservoir, which was not trained to forecast; save a Forecaster");
  }
  if (loaded.kind === "detector")
    throw new ModelFileError(file, "it holds a detector of anomalies, which forecasts nothing ahead; spillway detect takes its rows");
  const { kind, forecaster } = loaded;
  try {
    return { path: file, kind, ...(await aheadOf(forecaster, file, given)) };
  } finally {
    await forecaster.dispose();
  }
}

async function aheadOf(forecaster: AnyForecaster, path: string, given: Given): Promise<Omit<Ahead, "path" | "kind">> {
  const names = forecaster.settings.table;
  if (names?.inputs)
    throw new ModelFileError(
      path,
      `it predicts ${[names.columns.join(", "), names.inputs.join(", ")].filter(Boolean).join(" from ")}, a row for each row, and was not trained to forecast (a task of type ` +
        `"forecast" does that); spillway serve answers with its predictions`,
    );
  const wanted = wantedBy(forecaster, names);
  const table = given.data === undefined ? undefined : await readRowsUpToNow(given.data, wanted, given);
  const short = table?.series.find(({ series }) => series.rows < forecaster.leastRows);
  if (short)
    throw new ExperimentError(
      `${given.data}${ofGroup(short.group)}: this model needs the last ${tally(forecaster.leastRows, "row")} before the forecast; there ${short.series.rows === 1 ? "is" : "are"} ${short.series.rows}`,
      { field: "data" },
    );
  if (given.inputs !== undefined && wanted.known === 0)
    throw ArgumentError.because("inputs was given; the model takes nothing that is known beforehand", { field: "inputs" });
  const separate = given.inputs === undefined ? undefined : await readRowsToCome(given.inputs, wanted, given);
  const origins: readonly { readonly rows?: RowsUpToNow | undefined; readonly key?: string | undefined }[] =
    table?.series.map((rows) => ({ rows, key: forecaster.keys.find((key) => key === rows.group) })) ??
    (forecaster.keys.length > 0 ? forecaster.keys.map((key) => ({ key })) : [{}]);
  const series = origins.map(({ rows, key }) => ({
    rows,
    key,
    coming: separate ? separate.get(rows?.group) : comingOf(rows, wanted),
  }));
  const steps = given.steps ?? stepsGiven(series) ?? forecaster.choice?.horizon;
  if (steps === undefined)
    throw ArgumentError.because("steps is missing; the settings of the model were chosen for no horizon, so say how many rows to forecast", {
      field: "steps",
    });
  const levels = given.intervals ?? defaultLevels(forecaster, steps, given.bandsFrom);
  const forecasts: WrittenForecast[] = [];
  for (const [k, one] of series.entries()) {
    const { quantiles, bandsFrom, signal } = given;
    const onProgress = (done: number, total: number) => given.onProgress?.(k + done / total, series.length);
    forecasts.push(await forecastOne(forecaster, { ...one, wanted, steps, levels, quantiles, bandsFrom, signal, onProgress }));
  }
  const all = table?.columns ?? names?.columns ?? namesByPosition(wanted.columns);
  const columns = forecaster.settings.targets?.map((c) => all[c]!) ?? all;
  if (given.out !== undefined) await writeForecasts(given.out, forecasts, columns);
  const [first] = series;
  const saved = table === undefined ? forecaster.state.time : undefined;
  const grid = series.length === 1 ? (first!.rows?.axis?.grid ?? saved) : undefined;
  const row = first!.rows ? first!.rows.series.rows - 1 : lastRowOf(names);
  return {
    steps,
    forecasts,
    names: columns,
    levels,
    beyond: given.intervals === undefined && levels.length === 0 && steps > (forecaster.choice?.horizon ?? steps) ? forecaster.choice?.horizon : undefined,
    after: grid ? gridText(grid) : series.length === 1 && row !== undefined ? `row ${row}` : undefined,
    trainedTo: names?.trainedTo,
    scoredFrom: names?.scoredFrom,
    unused: table?.unused ?? [],
  };
}

function wantedBy({ grid, known, settings, columns }: AnyForecaster, names: TableNames | undefined): Wanted {
  const { missing = "error", transforms = [] } = settings;
  const rows = names?.warmup === undefined ? undefined : names.warmup + rowsLost(transforms);
  return { names, columns, known, grid, rows, fills: missing !== "error", masks: missing === "mask" };
}

/** What is known of the rows to come, if it stands below the rows up to now. */
function comingOf(rows: RowsUpToNow | undefined, { known }: Wanted): RowsToCome | undefined {
  return known > 0 && rows && rows.ahead.known.rows > 0 ? rows.ahead : undefined;
}

/** The fewest rows to come that a series has; undefined if none has any. */
function stepsGiven(series: readonly { readonly rows: RowsUpToNow | undefined; readonly coming: RowsToCome | undefined }[]) {
  const rows = Math.min(...series.map(({ rows, coming }) => coming?.known.rows ?? rows?.ahead.rows ?? 0));
  return rows > 0 ? rows : undefined;
}

/** 90 %, if there are errors of that many steps from enough starts, or members to differ. */
function defaultLevels({ choice }: AnyForecaster, steps: number, from: "errors" | "members"): readonly number[] {
  if (from === "members" || choice?.members) return [usualLevel];
  return choice && steps <= choice.horizon && (choice.errorStarts ?? choice.starts).length >= fewestScores(usualLevel) ? [usualLevel] : [];
}

const usualLevel = 0.9;

function namesByPosition(columns: number): readonly string[] {
  return columns === 1 ? ["value"] : Array.from({ length: columns }, (_, c) => `column ${c}`);
}

/** The number of the last row that trained, of a table without time stamps. */
function lastRowOf(names: TableNames | undefined): number | undefined {
  return names?.trainedTo !== undefined && names.time === undefined ? Number(names.trainedTo) : undefined;
}

interface One {
  /** Which of several series the model was trained on. */
  readonly key: string | undefined;
  readonly wanted: Wanted;
  readonly rows: RowsUpToNow | undefined;
  readonly coming: RowsToCome | undefined;
  readonly steps: number;
  readonly levels: readonly number[];
  readonly quantiles: readonly number[] | undefined;
  readonly bandsFrom: "errors" | "members";
  readonly signal: AbortSignal | undefined;
  readonly onProgress: (done: number, total: number) => void;
}

async function forecastOne(
  forecaster: AnyForecaster,
  { key, wanted, rows, coming, steps, levels, quantiles, bandsFrom, signal, onProgress }: One,
): Promise<WrittenForecast> {
  const origin = { start: "last", row: rows?.series.rows ?? (lastRowOf(wanted.names) ?? -1) + 1, group: rows?.group ?? key } as const;
  const times = rows?.axis && timesAfter(rows.axis.grid, steps);
  const options = {
    key,
    warmup: rows && warmupOf(rows, wanted),
    known: coming && (coming.times ? { values: coming.known, times: coming.times } : coming.known.subarray(0, steps)),
    intervals: levels,
    quantiles,
    bandsFrom,
    signal,
    onProgress,
  };
  const said = await forecaster.forecast(steps, options);
  const [band, ...more] = said.bands ?? [];
  return { ...origin, times: times ?? said.times, prediction: said, band, more, quantiles: said.quantiles };
}

/** The last rows, as many as a forecast is warmed up on. */
function warmupOf(
  { series, known, axis, filled }: RowsUpToNow,
  { grid, known: takes, rows = series.rows }: Pick<Wanted, "grid" | "known" | "rows">,
) {
  const from = Math.max(0, series.rows - rows);
  return {
    series: series.subarray(from),
    filled: filled?.subarray(from),
    known: takes > 0 ? known?.subarray(from) : undefined,
    times: grid && axis && axisRows(axis, from, series.rows),
  };
}
