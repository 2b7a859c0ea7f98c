// Reads forecasts.csv again, with the history.csv beside it: the forecasts that a run wrote, in the
// shape that figures are drawn from.
import { getOrMake } from "@spillway/core/maps.js";
import { suggestion } from "@spillway/core/near-names.js";
import { quoted } from "@spillway/core/text.js";
import { eachRecord } from "@spillway/io/csv-records.js";
import { FileError, type FormatError, readText } from "@spillway/io";
import { failing } from "@spillway/io/errors.js";
import { parseNumber } from "@spillway/io/missing.js";
import { Matrix } from "@spillway/numerics";
import { baselinePrefix, forecastColumns, type WrittenForecast } from "./forecasts-file.js";
import { historyColumns, seriesKey } from "./history-file.js";

/** The forecasts of a file. */
export interface ReadForecasts {
  readonly written: readonly WrittenForecast[];
  /** What is forecast, a name a column. */
  readonly names: readonly string[];
}

/**
 * Lines and forecasts that are read at most, so that neither time nor memory is without a bound.
 */
const mostLines = 4_000_000;
const mostForecasts = 200_000;

/** Most rows before a forecast that are joined to it. */
const mostBefore = 60;
const mostBeforeEach = 3;

/**
 * Reads `forecasts.csv` of a run or of `spillway forecast`, in any order of its lines.
 * @param targets the columns of the series that are read; left out, all
 * @throws FileError, and FormatError naming line and column for what is no such file
 */
export async function readForecasts(path: string, historyPath?: string, targets?: readonly string[]): Promise<ReadForecasts> {
  const lines = await readLines(path, targets);
  const forecasts = lines.forecasts();
  const { names } = lines;
  const history = historyPath === undefined ? new Map<string, KnownRows>() : await readHistory(historyPath, names);
  for (const forecast of forecasts) {
    const known = getOrMake(history, seriesKey(forecast), () => new Map());
    const { target, times, row } = forecast;
    if (target) for (let h = 0; h < target.rows; h++) known.set(row + h, { values: target.row(h), time: times?.[h] });
  }
  const written = forecasts.map((each) => {
    const known = history.get(seriesKey(each))!;
    // With time stamps the file does not say which row lies beyond the end; history.csv ends before
    // it.
    const hasRow = each.start !== "last" || each.times === undefined;
    const withRow = hasRow || historyPath === undefined ? each : { ...each, row: 1 + lastOf(known.keys()) };
    return { ...withRow, before: hasRow || historyPath !== undefined ? rowsBefore(withRow, known) : undefined };
  });
  return { names, written };
}

function lastOf(rows: Iterable<number>): number {
  let last = -1;
  for (const row of rows) last = Math.max(last, row);
  return last;
}

type KnownRows = Map<number, { readonly values: ArrayLike<number>; readonly time: string | undefined }>;

/** The rows that are known without a gap up to a forecast. */
function rowsBefore({ row, times, prediction }: WrittenForecast, known: KnownRows): WrittenForecast["before"] {
  const { rows, cols } = prediction;
  let from = row;
  while (row - from < Math.min(mostBefore, mostBeforeEach * rows) && known.has(from - 1)) from--;
  if (from === row) return undefined;
  const found = Array.from({ length: row - from }, (_, i) => known.get(from + i)!);
  const before = Matrix.zeros(found.length, cols);
  found.forEach(({ values }, i) => {
    before.data.set(Array.from(values), i * cols);
  });
  const labels = found.flatMap(({ time }) => time ?? []);
  if (times && labels.length < found.length) return undefined;
  return { rows: before, times: times && labels };
}

/** Lines of a file by column. */
class Lines {
  readonly names: string[] = [];
  readonly #wanted: readonly string[] | undefined;
  readonly #fail: ReturnType<typeof failing>;
  readonly #columnNumbers = new Map<string, number>();
  readonly #parts = new Map<string, Part>();
  readonly #levels: readonly string[];
  readonly #baselines: readonly string[];
  readonly #heads: ReadonlyMap<string, number>;

  constructor(path: string, heads: ReadonlyMap<string, number>, wanted: readonly string[] | undefined) {
    this.#fail = failing("CSV", path);
    this.#wanted = wanted;
    this.#heads = heads;
    this.#levels = [...heads.keys()].flatMap((name) => /^lower (.+)$/.exec(name)?.[1] ?? []);
    this.#baselines = [...heads.keys()].filter((name) => name.startsWith(baselinePrefix));
    // A file of its own, or of an earlier version, has the best baseline alone.
    if (this.#baselines.length === 0) this.#baselines = ["baseline"];
    for (const level of this.#levels) {
      if (!(Number(level) > 0 && Number(level) < 1))
        throw this.#fail(`the column "lower ${level}" names no share between 0 and 1`);
      if (!heads.has(`upper ${level}`)) throw this.#fail(`there is a column "lower ${level}" and none "upper ${level}"`);
    }
    const others = this.#levels.flatMap((level) => [`lower ${level}`, `upper ${level}`]);
    this.figures = ["target", "prediction", "lower", "upper", ...others, ...this.#baselines];
  }

  /** The columns that hold figures. */
  readonly figures: readonly string[];

  take(cells: readonly string[], line: number): void {
    const cell = (name: string) => cells[this.#heads.get(name) ?? -1] ?? "";
    const column = cell("column");
    if (this.#wanted && !this.#wanted.includes(column)) {
      this.#skipped.add(column);
      return;
    }
    const number = getOrMake(this.#columnNumbers, column, () => this.names.push(column) - 1);
    const start = cell("start");
    const group = this.#heads.has("group") ? cell("group") : undefined;
    const key = group === undefined ? start : JSON.stringify([group, start]);
    const part = getOrMake(this.#parts, key, (): Part => {
      if (start !== "last" && !/^\d{1,15}$/.test(start)) throw this.#fault(line, `start is ${quoted(start)}; it takes a row or "last"`);
      if (this.#parts.size === mostForecasts)
        throw this.#fail(`there are more than ${mostForecasts} forecasts in it; draw a part of them`);
      return { group, start: start === "last" ? start : Number(start), steps: [], columns: [], times: [], values: [] };
    });
    const step = cell("step");
    if (!/^[1-9]\d{0,8}$/.test(step)) throw this.#fault(line, `step is ${quoted(step)}; it takes a whole number of at least 1`);
    part.steps.push(Number(step));
    part.columns.push(number);
    part.times.push(cell("time"));
    for (const name of this.figures) {
      const text = cell(name);
      const value = text === "" ? Number.NaN : parseNumber(text);
      if (value === undefined) throw this.#fault(line, `${quoted(name)} is ${quoted(text)}; it takes a number or nothing`);
      part.values.push(value);
    }
  }

  readonly #skipped = new Set<string>();

  forecasts(): WrittenForecast[] {
    const missed = this.#wanted?.find((name) => !this.#columnNumbers.has(name));
    if (missed !== undefined) {
      const there = [...this.names, ...this.#skipped];
      const near = suggestion(missed, there);
      throw this.#fail(
        `nothing is forecast that is called ${quoted(missed)}; there are ${there.slice(0, 20).map(quoted).join(", ")}${near}`,
      );
    }
    if (this.#parts.size === 0) throw this.#fail("there is no forecast in it");
    return [...this.#parts.values()].map((part) => this.#forecastOf(part));
  }

  #forecastOf({ group, start, steps, columns, times, values }: Part): WrittenForecast {
    const cols = this.names.length;
    const rows = steps.reduce((most, step) => Math.max(most, step), 0);
    const where = `the forecast from ${start}${group === undefined ? "" : ` of ${quoted(group)}`}`;
    const complete = new Uint8Array(rows * cols === steps.length ? steps.length : 0);
    const count = this.figures.length;
    const found = new Map(this.figures.map((name) => [name, Matrix.zeros(complete.length / cols, cols)]));
    const labels = new Array<string>(rows * cols === steps.length ? rows : 0);
    for (let i = 0; i < complete.length; i++) {
      const at = (steps[i]! - 1) * cols + columns[i]!;
      complete[at] = 1;
      labels[steps[i]! - 1] = times[i]!;
      this.figures.forEach((name, k) => {
        found.get(name)!.data[at] = values[i * count + k]!;
      });
    }
    if (complete.length === 0 || !complete.every((one) => one === 1))
      throw this.#fail(`${where} has ${steps.length} lines; ${rows} steps of ${cols} columns take one each`);
    const first = /^\d{1,15}$/.test(labels[0]!) ? Number(labels[0]) : undefined;
    const areRows = first !== undefined && labels.every((label, h) => label === String(first + h));
    const known = (name: string) => {
      const matrix = found.get(name)!;
      return matrix.data.every(Number.isNaN) ? undefined : matrix;
    };
    const bandOf = (lower: string, upper: string) => {
      const ends = { lower: known(lower), upper: known(upper) };
      return ends.lower && ends.upper ? { lower: ends.lower, upper: ends.upper } : undefined;
    };
    return {
      group,
      start,
      row: areRows ? first : start === "last" ? 0 : start,
      times: areRows ? undefined : labels,
      target: start === "last" ? undefined : known("target"),
      prediction: found.get("prediction")!,
      band: bandOf("lower", "upper"),
      more: this.#levels.flatMap((level) => {
        const band = bandOf(`lower ${level}`, `upper ${level}`);
        return band ? [{ ...band, level: Number(level) }] : [];
      }),
      baselines: this.#baselines.flatMap((name) => {
        const prediction = known(name);
        return prediction ? [{ name: name === "baseline" ? "best baseline" : name.slice(baselinePrefix.length), prediction }] : [];
      }),
    };
  }

  #fault(line: number, reason: string): FormatError {
    return this.#fail(`line ${line}: ${reason}`, { row: line });
  }
}

/** The lines of one forecast. */
interface Part {
  readonly group: string | undefined;
  readonly start: number | "last";
  readonly steps: number[];
  readonly columns: number[];
  readonly times: string[];
  /** The figures of each line. */
  readonly values: number[];
}

async function readLines(path: string, targets: readonly string[] | undefined): Promise<Lines> {
  let lines: Lines | undefined;
  await eachLine(path, forecastColumns, (heads) => {
    const made = new Lines(path, heads, targets);
    lines = made;
    return (cells, line) => made.take(cells, line);
  });
  return lines!;
}

async function readHistory(path: string, names: readonly string[]): Promise<Map<string, KnownRows>> {
  const history = new Map<string, KnownRows>();
  const fail = failing("CSV", path);
  const columnNumbers = new Map(names.map((name, c) => [name, c]));
  await eachLine(path, historyColumns, (heads) => (cells, line) => {
    const cell = (name: string) => cells[heads.get(name) ?? -1] ?? "";
    const column = columnNumbers.get(cell("column"));
    if (column === undefined) return;
    const text = cell("value");
    const [row, value] = [parseNumber(cell("row")), text === "" ? Number.NaN : parseNumber(text)];
    if (row === undefined || value === undefined)
      throw fail(`line ${line}: row and value are ${quoted(cell("row"))} and ${quoted(text)}; they take numbers`, { row: line });
    const start = cell("start") === "last" ? "last" : Number(cell("start"));
    const group = heads.has("group") ? cell("group") : undefined;
    // A line does not say whether its start is a row: it is kept for both.
    for (const key of new Set([seriesKey({ group, start, row: Number(start) }), seriesKey({ group, start, row: -1 })])) {
      const known = getOrMake(history, key, () => new Map());
      const values = (known.get(row)?.values ?? new Float64Array(names.length).fill(Number.NaN)) as Float64Array;
      values[column] = value;
      known.set(row, { values, time: cell("time") });
    }
  });
  return history;
}

/** Calls what `begin` makes of the header with every line after it. @throws FormatError */
async function eachLine(
  path: string,
  columns: readonly string[],
  begin: (heads: ReadonlyMap<string, number>) => (cells: readonly string[], line: number) => void,
): Promise<void> {
  const text = await readText(path, "CSV");
  const fail = failing("CSV", path);
  let take: ReturnType<typeof begin> | undefined;
  let count = 0;
  await eachRecord(text, path, { delimiter: "," }, (cells, { line }) => {
    if (take) {
      if (++count > mostLines) throw fail(`there are more than ${mostLines} lines in it; draw a part of them`);
      take(cells, line);
      return;
    }
    const heads = new Map(cells.map((name, c) => [name, c]));
    const missing = columns.filter((name) => !heads.has(name));
    if (missing.length > 0)
      throw fail(`it has no column ${missing.join(", ")}; forecasts have ${columns.join(", ")}`);
    take = begin(heads);
  });
  if (!take) throw new FileError(path, "there is nothing in it", "content");
}
