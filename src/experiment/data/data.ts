// Brings the data of an experiment: a generated series, or files. Splitting and transforming it is
// elsewhere.

import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { tally } from "@spillway/core/text.js";
import { FileError } from "@spillway/io";
import { kindOfPath } from "@spillway/io/files.js";
import { Matrix, type Seed } from "@spillway/numerics";
import { columnsBetween } from "../../model/forecaster/data.js";
import { rowsLost } from "../../series/index.js";
import { generateTask, knownLyapunovExponent, tasks } from "../../tasks/index.js";
import type { FileData, GeneratedData, OpenExperiment } from "../description/description.js";
import { ExperimentError } from "../description/errors.js";
import { resolveDataPath } from "../description/paths.js";
import { loadPatterns, loadSeriesFolder, loadSounds, loadSpikes } from "./cases.js";
import type { CaseData, DrivenRows, ExperimentData } from "./experiment-data.js";
import { readLabels } from "./labels.js";
import { ownTransforms, rowsAhead } from "./prepare.js";
import { loadTable, type SeriesPart, type Table } from "./table.js";

/**
 * The data of an experiment for one seed.
 * @param path the experiment file, from whose folder paths count; default the working directory
 * @param seed what `redraw` draws from; default the first seed
 * @throws FileError, ExperimentError, ArgumentError
 */
export async function loadData(experiment: OpenExperiment, path?: string, seed?: Seed): Promise<ExperimentData> {
  checkHas("experiment", experiment, "an experiment that parseExperiment gave", "data", "seeds");
  const { data } = experiment;
  const loaded =
    "task" in data
      ? generate(experiment, data, data.redraw ? (seed ?? experiment.seeds[0]!) : undefined)
      : "sounds" in data
        ? await loadSounds(data, path)
        : "cases" in data
          ? await loadSeriesFolder(data, path)
          : "spikes" in data
            ? await loadSpikes(data, path, experiment.reservoir)
            : "patterns" in data
              ? loadPatterns(data, experiment.reservoir)
              : await loadFiles(data, path, experiment.task.type === "forecast" && data.inputs === undefined);
  checkKind(experiment, loaded);
  const { task } = experiment;
  if (task.type !== "anomalies" || loaded.kind !== "series" || task.labels === undefined || !("file" in task.labels)) return loaded;
  return { ...loaded, labels: await readLabels(task.labels, path) };
}

/** A series of the experiment's generator on its own, for a start of its own. */
export function generateIndependent(data: GeneratedData, length: number, seed: Seed): Matrix<Float64Array> {
  const result = generateTask(taskOf(data), length, { ...data.options, seed });
  return result instanceof Matrix ? result : result.targets;
}

function generate(experiment: OpenExperiment, data: GeneratedData, seed: Seed | undefined): ExperimentData {
  const task = taskOf(data);
  const isSeeded = "seed" in task.options;
  if (data.redraw && !isSeeded) throw new ArgumentError("data.redraw", true, `false for ${task.name}, which draws nothing`);
  if (experiment.task.type === "forecast" && experiment.task.independent && !isSeeded) {
    throw new ArgumentError("task.independent", true, `false for ${task.name}, which draws nothing: its series would all be the same`);
  }
  const length = data.length ?? neededLength(experiment, task.kind);
  const options: Readonly<Record<string, unknown>> = seed === undefined ? data.options : { ...data.options, seed };
  const summary = `${task.name}, ${length} rows${data.redraw ? ", drawn anew for every seed" : ""}`;
  if (task.kind === "driven") {
    const { inputs, targets } = generateTask(task, length, options);
    return { kind: "driven", inputs, targets, inputNames: namesOf(inputs.cols), names: namesOf(targets.cols), summary };
  }
  const series = generateTask(task, length, options);
  const dt = options["dt"] ?? task.options["dt"]?.default;
  const exponent = knownLyapunovExponent(task.name, options)?.value;
  const step = typeof dt === "number" ? dt : 1;
  return { kind: "series", series, names: namesOf(series.cols), summary, dt: step, lyapunovExponent: exponent };
}

/** The most rows that are generated. */
const mostRows = 100_000_000;

function taskOf(data: GeneratedData) {
  return tasks.get(data.task, "data.task");
}

function neededLength(experiment: OpenExperiment, kind: "series" | "driven"): number {
  const { split, task } = experiment;
  const { train, test } = split;
  const isCount = (rows: number | undefined): rows is number => rows !== undefined && rows >= 1;
  const isIndependent = task.type === "forecast" && task.independent;
  if (!isCount(train) || train === 1 || !(isCount(test) || (isIndependent && test === undefined))) {
    throw new ArgumentError("data.length", undefined, "a number of rows; or give split.train and split.test as rows, not shares");
  }
  // The schema bounds data.length; what follows from other fields has the same bound.
  for (const [field, rows] of Object.entries({ train, test: test ?? 0 }))
    if (rows > mostRows) throw new ArgumentError(`split.${field}`, rows, `at most ${mostRows}`);
  return train + (test ?? 0) + rowsAhead(experiment, kind) + rowsLost(ownTransforms(experiment));
}

async function loadFiles(data: FileData, experimentPath: string | undefined, isForecast: boolean): Promise<ExperimentData> {
  const path = resolveDataPath(data.file, experimentPath);
  if ((await kindOfPath(path)) === "folder") throw new FileError(path, "that is a folder; give the name of a file in it", "folder");
  const format = data.format ?? formatOf(path);
  checkRead(data, format);
  const testPath = data.test === undefined ? undefined : resolveDataPath(data.test, experimentPath);
  if (format === "ts") return loadCases(data, path, testPath);
  const table = await loadTable(data, path, format, isForecast);
  const testTable = testPath === undefined ? undefined : await loadTable(data, testPath, format, isForecast);
  const [first, ...more] = table.parts;
  const [firstTest, ...moreTests] = testTable?.parts ?? [];
  if (testPath !== undefined && (more.length > 0 || moreTests.length > 0))
    throw new ExperimentError(`${testPath}: a test file takes one series; this experiment has several (group, or gaps: split)`);
  if (testTable && (testTable.form !== table.form || testTable.step !== table.step))
    throw new ExperimentError(
      `${testPath} has time stamps ${testTable.form} with a step of ${testTable.step}, and ${path} ${table.form} with ${table.step}; they take the same`,
    );
  const test = testTable === undefined ? "" : ` and ${testTable.rows} rows of ${testPath}`;
  const missing = missingSaid(table, data.missing);
  const summary = `${table.rows} rows of ${data.file}${test}${missing === undefined ? "" : `, ${missing}`}`;
  if (data.inputs !== undefined || data.targets !== undefined) {
    if (data.inputs === undefined || data.targets === undefined || data.columns !== undefined) {
      const [field, value] =
        data.columns !== undefined ? ["columns", data.columns] : data.inputs === undefined ? ["inputs", undefined] : ["targets", undefined];
      throw new ArgumentError(`data.${field}`, value, "inputs and targets together, or only columns");
    }
    if (more.length > 0) throw oneSeriesOnly(data);
    const inputs = data.inputs.length;
    const halves = (matrix: Matrix<Float64Array>) => ({
      inputs: columnsBetween(matrix, 0, inputs),
      targets: columnsBetween(matrix, inputs),
    });
    const cut = ({ series, filled }: SeriesPart): DrivenRows => ({ ...halves(series), filled: filled && halves(filled) });
    const { timesSaid, names } = table;
    const columns = { inputNames: names.slice(0, inputs), names: names.slice(inputs) };
    const test = firstTest && cut(firstTest);
    return { kind: "driven", ...cut(first!), axis: first!.axis, test, ...columns, timesSaid, missingSaid: missing, summary };
  }
  if (testTable && testTable.names.length !== table.names.length) {
    throw new ExperimentError(
      `${testPath} has ${testTable.names.length} columns and ${path} ${table.names.length}; they take the same number`,
    );
  }
  const { names, kept, timesSaid } = table;
  const tested = firstTest && {
    test: firstTest.series,
    testKnown: firstTest.known,
    testFilled: firstTest.filled,
    testAxis: firstTest.axis,
  };
  const parts = { ...first!, ...(more.length > 0 && { more }), ...tested };
  return { kind: "series", ...parts, names, kept, timesSaid, missingSaid: missing, summary, dt: undefined };
}

/** How many values were missing, in which columns, and what became of them. */
function missingSaid({ missing, names }: Pick<Table, "missing" | "names">, policy: string): string | undefined {
  const each = Object.entries(missing);
  if (each.length === 0) return undefined;
  const count = each.reduce((sum, [, own]) => sum + own, 0);
  const columns = names.length > 1 || each[0]![0] !== names[0] ? ` (${each.map(([name, own]) => `${name} ${own}`).join(", ")})` : "";
  return `${tally(count, "missing value")}${columns}: ${policy === "mask" ? "held, with a mask" : policy}`;
}

/** The fields of `data` that each format has, beside file, format and test. */
const tableFields = ["columns", "inputs", "targets", "rows"];
const fieldsOf: Readonly<Record<NonNullable<FileData["format"]>, readonly string[]>> = {
  csv: [
    ...[...tableFields, "header", "delimiter", "decimal", "thousands", "comment", "encoding", "text"],
    ...["missing", "missingMarkers", "time", "timeUnit", "timeFormat", "timeZone", "gaps", "known", "calendar", "group"],
  ],
  parquet: [...tableFields, "text", "missing", "time", "timeUnit", "timeFormat", "timeZone", "gaps", "known", "calendar", "group"],
  npy: tableFields,
  wav: tableFields,
  ts: ["missing"],
};

/**
 * @throws ArgumentError for a field that the format does not have: it would be ignored silently.
 */
function checkRead(data: FileData, format: NonNullable<FileData["format"]>): void {
  for (const [field, value] of Object.entries(data)) {
    if (value === undefined || ["file", "format", "test", ...fieldsOf[format]].includes(field)) continue;
    if (field === "missing" && value === "error") continue;
    const formats = Object.entries(fieldsOf).flatMap(([name, fields]) => (fields.includes(field) ? [name] : []));
    throw new ArgumentError(`data.${field}`, value, `nothing for ${format}; it is for ${formats.join(", ")}`);
  }
}

async function loadCases(data: FileData, path: string, testPath: string | undefined): Promise<CaseData> {
  const { readUea } = await import("@spillway/io");
  const { missing } = data;
  if (missing === "mask") throw maskOfForecasts();
  const options = { missing };
  const train = await readUea(path, options);
  const test = testPath === undefined ? undefined : await readUea(testPath, options);
  for (const [file, set] of [
    [path, train],
    [testPath, test],
  ] as const) {
    if (set && set.labels.length === 0)
      throw new ExperimentError(`${file}: its cases have no classes; classify takes a file with a class label`);
  }
  if (test && test.channels !== train.channels) {
    throw new ExperimentError(`${testPath} has ${test.channels} channels and ${path} ${train.channels}; they take the same number`);
  }
  const unknown = test?.labels.find((label) => !train.classes.includes(label));
  if (unknown !== undefined) throw new ExperimentError(`${testPath}: the class ${JSON.stringify(unknown)} does not occur in ${path}`);
  const channels = tally(train.channels, "channel");
  const summary = `${train.problemName}: ${train.sequences.length}${test ? ` + ${test.sequences.length}` : ""} cases, ${train.classes.length} classes, ${channels}`;
  return { kind: "cases", train, test, classes: train.classes, summary };
}

function formatOf(path: string): NonNullable<FileData["format"]> {
  const ending = /\.([A-Za-z]+)$/.exec(path)?.[1]?.toLowerCase();
  if (ending === "csv" || ending === "parquet" || ending === "npy" || ending === "ts" || ending === "wav") return ending;
  if (ending === "txt" || ending === "tsv" || ending === "dat") return "csv";
  throw new ArgumentError("data.format", undefined, `csv, parquet, npy, ts or wav, since the name ${JSON.stringify(path)} does not say it`);
}

/** Several series are for forecasts alone. */
function oneSeriesOnly({ group, gaps }: FileData): ArgumentError {
  const [field, value] = group === undefined ? ["gaps", gaps] : ["group", group];
  return new ArgumentError(`data.${field}`, value, `a task of type "forecast" without inputs: it makes several series of one table`);
}

function checkKind({ task, data }: OpenExperiment, loaded: ExperimentData): void {
  const { kind } = loaded;
  const ahead = "file" in data && task.type !== "forecast" ? (["known", "calendar"] as const).find((field) => data[field]) : undefined;
  if (ahead)
    throw new ArgumentError(
      `data.${ahead}`,
      (data as FileData)[ahead],
      'a task of type "forecast": it is known of the rows that are forecast',
    );
  if ("file" in data && data.missing === "mask" && (task.type !== "forecast" || kind !== "series")) throw maskOfForecasts();
  if (task.type !== "forecast" && loaded.kind === "series" && loaded.more) throw oneSeriesOnly(data as FileData);
  if ((task.type === "classify" || task.type === "detect") !== (kind === "cases")) {
    throw new ArgumentError(
      "task.type",
      task.type,
      kind === "cases"
        ? '"classify" or "detect" for cases with classes'
        : `"predict", "forecast" or "anomalies" for a series; ${task.type} takes cases: a .ts file, sounds, cases, spikes or patterns`,
    );
  }
  if (task.type === "anomalies" && kind === "driven")
    throw new ArgumentError("task.type", task.type, '"predict" if inputs drive the reservoir; anomalies are of one series');
  if (task.type === "forecast" && kind === "driven") {
    throw new ArgumentError("task.type", task.type, '"predict" if inputs drive the reservoir; a forecast takes one series');
  }
  if (task.type === "forecast" && task.independent && !("task" in data)) {
    throw new ArgumentError("task.independent", true, "false for a file: independent series take a generator");
  }
}

function maskOfForecasts(): ArgumentError {
  return new ArgumentError("data.missing", "mask", '"hold" or "interpolate"; a mask is for a task of type "forecast" over one table');
}

function namesOf(cols: number): string[] {
  return cols === 1 ? ["value"] : cols === 3 ? ["x", "y", "z"] : Array.from({ length: cols }, (_, c) => `column ${c}`);
}
