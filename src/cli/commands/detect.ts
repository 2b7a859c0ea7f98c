// `spillway detect`: anomalies in a table, or in rows that come on standard input, at an asked
// rate.
import "../../index.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { suggestion } from "@spillway/core/near-names.js";
import { describe, quoted, tally, visibleLines } from "@spillway/core/text.js";
import { type CsvOptions, writeFileAtomic } from "@spillway/io";
import { AtomicFile } from "@spillway/io/atomic.js";
import { missingMarkers } from "@spillway/io/csv-options.js";
import { cellNumber, delimiterOf, eachRecord } from "@spillway/io/csv-records.js";
import { csvCell } from "@spillway/io/csv-writer.js";
import { Incidents } from "../../model/anomaly/incidents.js";
import { AnomalyDetector, type AnomalyOptions, type AnomalyRow, type Incident } from "../../model/index.js";
import { readTimeColumn, type TimeOptions } from "../../series/time-stamps.js";
import { formatTable } from "../table.js";
import { Drawn, mostDrawn } from "./detect-page.js";
import { type Asked, type Row, readTable, readText, type Source, stampOf } from "./detect-table.js";

/** What `spillway detect` takes. */
export interface DetectFlags extends AnomalyOptions, TimeOptions {
  readonly model?: string;
  readonly save?: string;
  readonly out?: string;
  readonly plot?: string;
  readonly time?: string;
  readonly delimiter?: string;
  readonly decimal?: "." | ",";
  readonly thousands?: CsvOptions["thousands"];
  readonly missingMarkers?: readonly string[];
  readonly json?: boolean;
}

/**
 * Says of each row how odd it is; gives what is printed in the end, which for standard input goes
 * to standard error. If it is stopped, or a row cannot be read, files hold what came before.
 */
export async function detect(path: string, flags: DetectFlags, signal: AbortSignal): Promise<string> {
  const { model, save, out, plot, time, json = false, unit, format, zone, ...others } = flags;
  const { delimiter, decimal, thousands, missingMarkers, ...options } = others;
  const isStream = path === "-";
  if (model !== undefined && Object.keys(options).length > 0)
    throw new ArgumentError(Object.keys(options)[0]!, Object.values(options)[0], "nothing beside --model, whose file says it");
  const opened = model === undefined ? undefined : await AnomalyDetector.load(model);
  const asked = opened?.settings.columns ?? (Array.isArray(options.columns) ? (options.columns as readonly string[]) : undefined);
  const asks: Asked = { columns: asked, time, csv: { delimiter, decimal, thousands, missingMarkers }, times: { unit, format, zone } };
  const source = isStream ? await linesOf(process.stdin, asks, signal) : await readTable(path, asks);
  const detector = opened ?? (await AnomalyDetector.create({ ...options, columns: source.columns }));
  const { columns, alarmRate, rate } = detector.settings;
  const { warmUp } = detector.settings;
  if (source.count !== undefined && save === undefined && detector.rows + source.count <= warmUp)
    throw ArgumentError.shape(
      `${path} has ${tally(source.count, "row")}; alarms are raised after ${warmUp}: give more rows, set --warm-up, or --save the detector for later rows`,
      { field: "warmUp" },
    );
  const writer = new Writer(columns, time, json && isStream);
  const file = out === undefined ? undefined : await AtomicFile.create(out);
  const put = async (text: string) => {
    if (file) await file.write(new TextEncoder().encode(text));
    else if (isStream && !process.stdout.write(text)) await new Promise((drained) => process.stdout.once("drain", drained));
  };
  const incidents = new Incidents(alarmRate);
  const drawn = plot === undefined ? undefined : new Drawn(columns, isStream ? mostDrawn : Number.POSITIVE_INFINITY);
  const first = detector.rows;
  const begun = performance.now();
  let failure: unknown;
  try {
    if (file || isStream) await put(writer.head);
    let text = "";
    for await (const row of source.rows) {
      if (signal.aborted) break;
      const said = detector.update(row.values, row.time);
      const incident = incidents.add({ ...said, time: row.label });
      drawn?.add(row, said);
      if (!file && !isStream) continue;
      text += writer.line(row, said, incident && incidents.list.length);
      // A file is written in pieces; a reader of a stream gets each line at once.
      if (isStream || text.length > 1e6) {
        await put(text);
        text = "";
      }
    }
    await put(text);
  } catch (error) {
    failure = error;
  }
  await file?.commit();
  if (save !== undefined) await detector.save(save);
  if (plot !== undefined && drawn!.rows > 0) await writeFileAtomic(plot, await drawn!.page(path, incidents.list, alarmRate));
  if (failure !== undefined) throw failure;
  const rows = detector.rows - first;
  const found = {
    ...{ file: path, rows, incidents: incidents.list, asked: alarmRate, rate, obtained: incidents.list.length / Math.max(1, rows) },
    ...{ rowsPerSecond: Math.round((1000 * rows) / (performance.now() - begun)), refused: detector.refused, unordered: detector.unordered },
  };
  if (json) return JSON.stringify(found, undefined, isStream ? undefined : 2);
  const part = drawn && drawn.rows < rows ? ` (the last ${drawn.rows} rows)` : "";
  const files = Object.entries({ rows: out, detector: save, plot: plot && plot + part }).flatMap(([what, at]) =>
    at === undefined ? [] : [`${what}: ${at}`],
  );
  const texts = source.leftOut ? [`columns of text are left out: ${source.leftOut.join(", ")}`] : [];
  const times = source.times === undefined ? [] : [`time: ${source.times}`];
  return visibleLines([...summaryOf(found), ...times, ...texts, ...(files.length > 0 ? ["", ...files] : [])].join("\n"));
}

interface Found {
  readonly file: string;
  readonly rows: number;
  readonly incidents: readonly Incident[];
  readonly asked: number;
  readonly rate: "atMost" | "exact";
  readonly rowsPerSecond: number;
  readonly refused: number;
  readonly unordered: number;
}

/** Incidents that are printed if a file has all of them. */
const printed = 100;

function summaryOf({ file, rows, incidents, asked, rate, rowsPerSecond, refused, unordered }: Found): string[] {
  const one = (share: number) => (share === 0 ? "none" : `1 in ${Math.round(1 / share)} rows`);
  const lines = incidents
    .slice(-printed)
    .map(({ startedAt, endedAt, by, columns, score, pValue }) => [
      ...[String(startedAt), String(endedAt), by, columns.join(", ")],
      ...[score.toFixed(2), Number.isNaN(pValue) ? "" : pValue.toExponential(1)],
    ]);
  return [
    `${file === "-" ? "standard input" : file}: ${tally(rows, "row")}, ${tally(incidents.length, "incident")}; alarms asked${rate === "exact" ? "" : " at most"} ${one(asked)}, obtained ${one(incidents.length / Math.max(1, rows))}; ${rowsPerSecond} rows a second`,
    ...(refused > 0 ? [`${tally(refused, "value was", "values were")} infinite, and count as missing`] : []),
    ...(unordered > 0
      ? [`${tally(unordered, "time stamp was", "time stamps were")} not later than the one before; such rows count as the next ones`]
      : []),
    ...(incidents.length > 0 ? ["", formatTable(["start", "end", "by", "columns", "score", "p-value"], lines, [4, 5])] : []),
  ];
}

/** Rows as lines of CSV or JSON. */
class Writer {
  readonly head: string;
  readonly #asJson: boolean;
  readonly #columns: readonly string[];

  constructor(columns: readonly string[], time: string | undefined, asJson: boolean) {
    const [only] = columns.length === 1 ? columns : [];
    const each = (name: string) => columns.map((column) => (only === undefined ? `${name} ${column}` : name));
    const heads = [time ?? "row", ...columns, ...each("expected"), ...each("lower"), ...each("upper")];
    this.#asJson = asJson;
    this.#columns = columns;
    this.head = asJson ? "" : `${[...heads, "pvalue", "score", "alarm", "incident", "cause"].map((head) => csvCell(head)).join(",")}\n`;
  }

  line({ label, values }: Row, said: AnomalyRow, incident: number | undefined): string {
    const { row, score, pValue, alarm, expected, lower, upper, cause } = said;
    if (this.#asJson) {
      const named = Object.fromEntries(this.#columns.map((column, c) => [column, values[c] ?? null]));
      return `${JSON.stringify({ ...said, time: label, values: named, alarm: alarm?.by, incident })}\n`;
    }
    const number = (value: number | null | undefined) =>
      value === undefined || value === null || Number.isNaN(value) ? "" : String(value);
    const cells = [...values, ...expected, ...lower, ...upper, pValue, score].map(number);
    const words = [alarm?.by ?? "", String(incident ?? ""), cause && incident !== undefined ? `${cause.column} ${cause.rows}` : ""];
    return `${[csvCell(label ?? String(row)), ...cells, ...words.map((word) => csvCell(word))].join(",")}\n`;
  }
}

/** Lines among which all that is wrong with one is looked for. */
const mostLines = 100_000;

/** Characters of a line. */
const longestLine = 1 << 20;

/**
 * The lines of a stream, which ends if it is stopped.
 * @throws what `endless` gives for a line that is too long
 */
async function* eachLine(input: NodeJS.ReadStream, signal: AbortSignal, endless: () => Error): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const bytes of input) {
      const lines = (rest + decoder.decode(bytes as Uint8Array, { stream: true })).split("\n");
      rest = lines.pop()!;
      yield* lines;
      if (rest.length > longestLine) throw endless();
    }
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  if (rest !== "") yield rest;
}

/** Rows that come line by line: JSON objects or lists, or CSV with a header. */
async function linesOf(input: NodeJS.ReadStream, { columns, time, csv, times }: Asked, signal: AbortSignal): Promise<Source> {
  signal.addEventListener("abort", () => input.destroy(), { once: true });
  let number = 0;
  let header: readonly string[] | undefined;
  const wrong = (sentence: string, value?: unknown) => ArgumentError.because(`line ${number}: ${sentence}`, { field: "rows", value });
  const { decimal, thousands } = csv;
  const markers = csv.missingMarkers ?? missingMarkers;
  let mark = csv.delimiter;
  /** The header as written in the input, below as many empty lines as there were lines before. */
  let head: string | undefined;
  const inHeader = (name: string, flag: string) => {
    if (header && !header.includes(name))
      throw wrong(`${flag} asks for ${quoted(name)}; the columns are ${header.map(quoted).join(", ")}${suggestion(name, header)}`, name);
  };
  const cells = async (line: string): Promise<Readonly<Record<string, unknown>> | undefined> => {
    if (/^[[{]/.test(line)) {
      try {
        const parsed = JSON.parse(line) as Readonly<Record<string, unknown>> | readonly unknown[];
        return Array.isArray(parsed)
          ? Object.fromEntries(parsed.map((cell, k) => [columns?.[k] ?? String(k), cell]))
          : (parsed as Readonly<Record<string, unknown>>);
      } catch {
        throw wrong(`${describe(line)} is no JSON`, line);
      }
    }
    mark ??= delimiterOf(line, { decimal });
    let texts: readonly string[] = [];
    await eachRecord(line, `standard input, line ${number}`, { delimiter: mark, decimal }, (record) => {
      texts = record;
    });
    const isHead = header === undefined && texts.every((cell) => cellNumber(cell, { decimal, thousands }) === undefined);
    header ??= isHead ? texts : texts.map((_, k) => columns?.[k] ?? String(k));
    if (isHead) {
      for (const name of columns ?? []) inHeader(name, "--columns");
      if (time !== undefined) inHeader(time, "--time");
      head = "\n".repeat(number - 1) + line;
      return undefined;
    }
    const parsed = (cell: string) => (markers.includes(cell) ? null : (cellNumber(cell, { decimal, thousands }) ?? cell));
    return Object.fromEntries(header.map((name, k) => [name, name === time ? texts[k] : parsed(texts[k] ?? "")]));
  };
  let names = columns;
  let before: string | undefined;
  const rowOf = async (line: string): Promise<Row | undefined> => {
    const found = await cells(line);
    if (found === undefined) return undefined;
    const numbers = Object.keys(found).filter((name) => name !== time && (typeof found[name] === "number" || found[name] === null));
    if (names === undefined && numbers.length === 0) throw wrong("it has no column of numbers");
    names ??= numbers;
    if (!names.some((name) => name in found)) throw wrong(`it has none of the columns ${names.join(", ")}`);
    const values = names.map((name) => found[name] ?? null) as (number | null)[];
    values.forEach((value, c) => {
      if (value !== null && typeof value !== "number")
        throw wrong(`column ${quoted(names![c]!)} is ${describe(value)}; it takes a number, or null`, value);
    });
    if (time === undefined) return { values };
    if (!(time in found)) throw wrong(`it has no ${quoted(time)}, which --time asks for${suggestion(time, Object.keys(found))}`);
    const label = String(found[time] ?? "");
    const stamps = before === undefined ? [label] : [before, label];
    const read = readTimeColumn(stamps, times, () => `line ${number}, column "${time}"`);
    before = label;
    return { label, ...stampOf(read, stamps.length - 1), values };
  };
  const iterator = eachLine(input, signal, () => wrong(`there is no end of it after ${longestLine} characters`))[Symbol.asyncIterator]();
  /** All that is wrong with a line below a header, as with a file of it; else that error. */
  const orAll = async (error: unknown, line: string): Promise<never> => {
    if (head === undefined || number > mostLines) throw error;
    const text = head + "\n".repeat(number - head.split("\n").length) + line;
    await readText(text, "standard input", { columns: names, time, csv: { ...csv, delimiter: mark }, times });
    throw error;
  };
  const next = async (): Promise<Row | undefined> => {
    for (;;) {
      number++;
      const { value, done } = await iterator.next();
      if (done) return undefined;
      const line = value.trim();
      const row = line === "" ? undefined : await rowOf(line).catch((error: unknown) => orAll(error, line));
      if (row) return row;
    }
  };
  // The first row says which columns there are.
  const first = await next();
  if (first === undefined || names === undefined) throw ArgumentError.because("standard input has no rows", { field: "rows" });
  async function* rows() {
    for (let row: Row | undefined = first; row !== undefined; row = await next()) yield row;
  }
  return { columns: names, rows: rows() };
}
