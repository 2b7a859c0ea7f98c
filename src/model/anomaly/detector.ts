// AnomalyDetector: takes a stream row by row, in fixed memory, and says at once how unusual each
// row is. What it computes is in packages/export/runtime/detector.c; this is its checks and files.
import { ArgumentError } from "@spillway/core/errors.js";
import { checkedLater, optional, resolve } from "@spillway/core/options.js";
import { describe } from "@spillway/core/text.js";
import { warnOnce } from "@spillway/core/warning.js";
import { writeFileAtomic } from "@spillway/io/atomic.js";
import { readBytes } from "@spillway/io/files.js";
import { isList, loadWasm, Matrix, type MatrixLike } from "@spillway/numerics";
import { tableColumns, tableNumbers } from "@spillway/numerics/tables.js";
import { exportsOf } from "@spillway/numerics/wasm/index.js";
import { minuteMs } from "../../series/civil.js";
import { firstTime, lastTime, parseStamp } from "../../series/time-form.js";
import type { TimeColumn } from "../../series/time-grid.js";
import { type TimeLike, textOf } from "../../series/time-stamps.js";
import { checkHost, decodeModelFile, encodeModelFile, type LoadOptions, loadTable } from "../model-file.js";
import { floats } from "../mutable-content.js";
import { stableJson } from "../stable-json.js";
import { TensorReader } from "../tensor-reader.js";
import { Incidents } from "./incidents.js";
import { type AlarmCause, type AnomalyOptions, type AnomalyRow, type AnomalySettings, anomalySettings, type Incident } from "./options.js";
import { firstState, layoutOf, type StateLayout, shared } from "./program.js";

interface Exports {
  readonly memory: WebAssembly.Memory;
  model_update(state: number, row: number, instant: number, wall: number, out: number): void;
  model_feedback(state: number, at: number, byTime: number, isAnomaly: number): number;
}

/** Results of a row, then of each column, as detector-types.c orders them. */
const ofRow = 6;
const ofColumn = 6;

const causes: readonly (AlarmCause | undefined)[] = [undefined, "novelty", "stuck", "surprise", "missing"];
const valueTakes = "a number, or null or NaN if it is missing";

/** A time stamp as the detector takes it, in milliseconds; NaN for none. */
interface Moment {
  readonly instant: number;
  readonly wall: number;
}

const timeless: Moment = { instant: Number.NaN, wall: Number.NaN };
const untimed = { moment: timeless, time: undefined };

/**
 * Finds anomalies in a stream of rows of D columns: one pass, memory that does not grow, and no
 * look ahead. `update` row by row, `detect` of a series, and a detector that was saved in between
 * give the same bits, in every JavaScript engine and as exported C or WebAssembly.
 *
 * Alarms come from novelty: moving averages of each column over 1 to 128 rows are compared with the
 * states that the stream was in before. A forecast beside it gives expected values, bands and
 * p-values.
 *
 * @example
 * const detector = await AnomalyDetector.create({ columns: ["load"], alarmRate: 1 / 1000 });
 * const series = Array.from({ length: 1000 }, (_, t) => Math.sin(t / 7) + (t === 800 ? 5 : 0));
 * for (const value of series) {
 *   const { alarm, row } = detector.update(value);
 *   if (alarm) console.log(row, alarm.by);
 * }
 */
export class AnomalyDetector {
  /** The options with every default filled in. */
  readonly settings: AnomalySettings;
  readonly #layout: StateLayout;
  readonly #exports: Exports;
  readonly #at: { readonly state: number; readonly row: number; readonly out: number };
  readonly #state: Float64Array;
  readonly #row: Float64Array;
  readonly #out: Float64Array;
  /** What has no value, by column. */
  readonly #none: readonly undefined[];

  private constructor(settings: AnomalySettings, layout: StateLayout, exports: Exports, end: number) {
    const columns = settings.columns.length;
    const row = end + 8 * layout.length;
    const out = row + 8 * columns;
    const { memory } = exports;
    const bytes = out + 8 * (ofRow + ofColumn * columns);
    if (bytes > memory.buffer.byteLength) memory.grow(Math.ceil((bytes - memory.buffer.byteLength) / 65536));
    this.settings = settings;
    this.#none = Object.freeze(settings.columns.map(() => undefined));
    this.#layout = layout;
    this.#exports = exports;
    this.#at = { state: end, row, out };
    this.#state = new Float64Array(memory.buffer, end, layout.kept);
    this.#row = new Float64Array(memory.buffer, row, columns);
    this.#out = new Float64Array(memory.buffer, out, ofRow + ofColumn * columns);
  }

  /** @throws ArgumentError naming the option, the value and what is accepted */
  static async create(options: AnomalyOptions = {}): Promise<AnomalyDetector> {
    const settings = anomalySettings(options);
    return AnomalyDetector.#opened(settings, firstState(settings));
  }

  static async #opened(settings: AnomalySettings, state: Float64Array): Promise<AnomalyDetector> {
    const { detectorModule } = await import("../wasm/module.js");
    // A reservoir is drawn with the kernels of the package.
    if (settings.forecast && settings.size > 0) await loadWasm();
    const { module, end } = detectorModule(settings);
    const { instance } = await WebAssembly.instantiate(module as BufferSource);
    const detector = new AnomalyDetector(settings, layoutOf(settings), exportsOf<Exports>(instance), end);
    detector.#state.set(state);
    return detector;
  }

  /** Rows so far. */
  get rows(): number {
    return this.#state[shared.row]!;
  }

  /** Values so far that were infinite or beyond 1e300, and counted as missing. */
  get refused(): number {
    return this.#state[shared.refused]!;
  }

  /** Time stamps so far that were not later than the one before. */
  get unordered(): number {
    return this.#state[shared.unordered]!;
  }

  /** Whether alarms can be raised: a column had more than `warmUp` values. */
  get ready(): boolean {
    for (const at of this.#layout.counts) if (this.#state[at]! > this.settings.warmUp) return true;
    return false;
  }

  /**
   * Takes the next row: a value for each column, or a number if there is one column.
   * @param time of the row: a date, a value of Temporal, text in a form of ISO 8601, or
   * milliseconds since 1970; texts without a zone count as UTC. Stamps add the calendar to the
   * forecast, and show gaps.
   * @throws ArgumentError for a row of another width, a value that is no number, or a time that
   * cannot be read; the state is as before
   */
  update(row: number | ArrayLike<number | null>, time?: TimeLike): AnomalyRow {
    this.#check(row);
    return this.#take(time === undefined ? timeless : momentOf(time), time);
  }

  /**
   * Takes a series of T rows, as one `update` a row does, and gathers the incidents.
   * `times` are those of the rows, as `update` takes them, or as `readTimes` gives them.
   * @throws ArgumentError if all rows so far are no more than `warmUp`; as for `update`
   */
  detect(
    series: MatrixLike | ArrayLike<number>,
    options: { readonly times?: readonly TimeLike[] | TimeColumn | undefined } = {},
  ): { readonly rows: readonly AnomalyRow[]; readonly incidents: readonly Incident[] } {
    const { times } = resolve(detectTable, options, "detect");
    const { length, rowAt } = rowsOf(series);
    const moments = times && momentsOf(times, length);
    const { warmUp, alarmRate } = this.settings;
    if (this.rows + length <= warmUp)
      throw ArgumentError.shape(`series has ${length} rows; alarms are raised from row ${warmUp} on: give more rows, or set warmUp`, {
        field: "series",
      });
    // All are checked before the first changes the state.
    for (let t = 0; t < length; t++) this.#check(rowAt(t), t);
    const incidents = new Incidents(alarmRate);
    const rows: AnomalyRow[] = [];
    let before = this.#last();
    for (let t = 0; moments && this.settings.missing === "error" && t < length; t++) {
      this.#checkOrder(moments[t]!.moment, before, moments[t]!.time);
      before = moments[t]!.moment.instant;
    }
    for (let t = 0; t < length; t++) {
      this.#check(rowAt(t), t);
      const { moment, time } = moments?.[t] ?? untimed;
      const said = this.#take(moment, time);
      incidents.add(said);
      rows.push(said);
    }
    return { rows, incidents: incidents.list };
  }

  /**
   * What a person says of an incident. "normal": its states stay known, and the limit of alarms
   * rises once more. "anomaly": the states of the incident are forgotten, so that it raises an
   * alarm again.
   * @param at a row of the incident by its number, or its time as a date or text
   * @throws ArgumentError if there is no such incident among the last 32 alarms
   */
  feedback(at: number | string | Date, verdict: "normal" | "anomaly"): void {
    if (verdict !== "normal" && verdict !== "anomaly") throw new ArgumentError("verdict", verdict, '"normal" or "anomaly"');
    const byTime = typeof at !== "number";
    const found = this.#exports.model_feedback(
      this.#at.state,
      byTime ? momentOf(at).instant : at,
      Number(byTime),
      Number(verdict === "anomaly"),
    );
    if (found === 0) throw new ArgumentError("at", at, "a row, or its time, of an incident of the last 32 alarms");
  }

  /** The detector as the bytes of a model file, with the state of this call. */
  async toBytes(): Promise<Uint8Array> {
    return encodeModelFile("detector", {
      tensors: { state: floats(this.state) },
      metadata: { anomaly: stableJson(this.settings) },
    });
  }

  /** @internal Bytes of its memory, which does not grow. */
  get bytes(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  /** @internal Everything that changes, as a copy; setting it goes back there. */
  get state(): Float64Array {
    return this.#state.slice();
  }

  /** @internal */
  set state(state: Float64Array) {
    this.#state.set(state);
  }

  /** Writes `toBytes()` to a file, whole or not at all (Node). @throws FileError */
  async save(path: string): Promise<void> {
    await writeFileAtomic(path, await this.toBytes());
  }

  /** Opens what `toBytes` gave. @throws FileError with the reason if it cannot be used */
  static async fromBytes(bytes: Uint8Array, options: LoadOptions = {}): Promise<AnomalyDetector> {
    const { source, ...selection } = resolve(loadTable, options);
    checkHost(selection, "a detector");
    const reader = new TensorReader(await decodeModelFile(bytes, source, "detector"), source);
    const settings = reader.check("anomaly", () => anomalySettings(reader.json("anomaly") as object));
    const layout = layoutOf(settings);
    const state = reader.vector("state", layout.kept, "float64") as Float64Array;
    reader.finish();
    const isWithin = (at: number, most: number) => Number.isInteger(state[at]) && state[at]! >= 0 && state[at]! <= most;
    const bank = layout.banks.find((at) => !isWithin(at, settings.patterns));
    if (bank !== undefined) throw reader.error(`its state has a bank of ${state[bank]} patterns; it takes up to ${settings.patterns}`);
    const wrong = layout.whole.find(([at, most]) => !isWithin(at, most));
    if (wrong) throw reader.error(`number ${wrong[0]} of its state is ${state[wrong[0]]}; it is a whole number from 0 to ${wrong[1]}`);
    return AnomalyDetector.#opened(settings, state);
  }

  /**
   * Opens a file that `save` wrote (Node), to continue with the next row. @throws FileError with
   * the reason if it cannot be used
   */
  static async load(path: string): Promise<AnomalyDetector> {
    return AnomalyDetector.fromBytes(await readBytes(path), { source: path });
  }

  /** The row into the memory of the program. @param t its number in a series */
  #check(row: number | ArrayLike<number | null>, t?: number): void {
    const { columns, missing } = this.settings;
    const name = t === undefined ? `row ${this.rows}` : `series[${t}]`;
    const values = typeof row === "number" ? [row] : row;
    if (!isList(values)) throw new ArgumentError("row", row, columns.length === 1 ? "a number" : `${columns.length} values`, { of: name });
    if (values.length !== columns.length)
      throw ArgumentError.shape(`${name} has ${values.length} values; the columns are ${columns.join(", ")}`, { field: "row", value: row });
    for (let c = 0; c < columns.length; c++) {
      const value = values[c] ?? Number.NaN;
      if (typeof value !== "number")
        throw ArgumentError.because(`${name}, column "${columns[c]}", is ${describe(value)}; it takes ${valueTakes}`, {
          ...{ field: `row[${c}]`, value, expected: valueTakes },
        });
      if (missing === "error" && !(Math.abs(value) <= 1e300))
        throw ArgumentError.because(`${name}, column "${columns[c]}", is ${value}, and missing is "error"; it takes a finite number`, {
          ...{ field: `row[${c}]`, value, expected: "a finite number" },
        });
      if (Math.abs(value) > 1e300)
        warnOnce("SpillwayAnomalyWarning", `${name}, column "${columns[c]}", is ${value}; such values count as missing`);
      this.#row[c] = value;
    }
  }

  /** The instant of the last row; NaN for none. */
  #last(): number {
    return this.#state[shared.timed] ? this.#state[shared.instant]! : Number.NaN;
  }

  #checkOrder({ instant }: Moment, before: number, time: TimeLike | undefined): void {
    if (instant <= before)
      throw ArgumentError.because(
        `time is ${describe(time)}, not later than ${new Date(before).toISOString()} of the row before, and missing is "error"`,
        { field: "time", value: time },
      );
  }

  /** What the program says of the row in its memory. */
  #take(moment: Moment, time: TimeLike | undefined): AnomalyRow {
    const { columns, missing, forecast } = this.settings;
    const row = this.rows;
    if (missing === "error") this.#checkOrder(moment, this.#last(), time);
    this.#exports.model_update(this.#at.state, this.#at.row, moment.instant, moment.wall, this.#at.out);
    const out = this.#out;
    const by = causes[out[2]!];
    const column = out[3]!;
    return {
      row,
      time,
      score: out[0]!,
      pValue: out[1]!,
      alarm: by && { startedAt: time ?? row, by },
      ongoing: out[5] === 1,
      ready: this.ready,
      expected: forecast ? numbersOf(out, 3) : this.#none,
      lower: forecast ? numbersOf(out, 4) : this.#none,
      upper: forecast ? numbersOf(out, 5) : this.#none,
      cause: column < 0 ? undefined : { column: columns[column]!, rows: out[4]! },
    };
  }
}

/** A result of each column; undefined for what is no number. */
function numbersOf(out: Float64Array, field: number): (number | undefined)[] {
  const numbers: (number | undefined)[] = [];
  for (let at = ofRow + field; at < out.length; at += ofColumn) {
    const value = out[at]!;
    numbers.push(Number.isNaN(value) ? undefined : value);
  }
  return numbers;
}

const detectTable = {
  times: optional(checkedLater<readonly TimeLike[] | TimeColumn>("a list of time stamps, one a row"), "Time stamps of the rows."),
};

const momentTakes = "a date, a value of Temporal, text in a form of ISO 8601 such as 2024-01-31T13:00:00Z, or milliseconds since 1970";

/** @throws ArgumentError for what is no time stamp */
function momentOf(time: unknown, field = "time"): Moment {
  const text = typeof time === "object" && !(time instanceof Date) ? textOf(time as TimeLike) : time;
  if (typeof text === "string") {
    const stamp = parseStamp(text);
    if (typeof stamp !== "string") return { instant: stamp.wall - stamp.offset * minuteMs, wall: stamp.wall };
    throw ArgumentError.because(`${field} is ${describe(time)}, which ${stamp}`, { field, value: time, expected: momentTakes });
  }
  const instant = time instanceof Date ? time.getTime() : time;
  if (typeof instant === "number" && instant >= firstTime && instant <= lastTime) return { instant, wall: instant };
  throw new ArgumentError(field, time, momentTakes);
}

/** @throws ArgumentError for another number of times, or what is no time stamp */
function momentsOf(times: readonly TimeLike[] | TimeColumn, length: number): { readonly moment: Moment; readonly time: TimeLike }[] {
  const isColumn = !Array.isArray(times);
  const given = isColumn ? (times as TimeColumn).wall : (times as readonly TimeLike[]);
  if (!isList(given)) throw new ArgumentError("times", times, "a list of time stamps, one a row");
  if (given.length !== length) throw ArgumentError.shape(`times has ${given.length} stamps and series ${length} rows`, { field: "times" });
  if (!isColumn) return Array.from(times as readonly TimeLike[], (time, t) => ({ moment: momentOf(time, `times[${t}]`), time }));
  const { wall, offsets } = times as TimeColumn;
  return Array.from(wall, (at, t) => {
    const instant = at - (offsets?.[t] ?? 0) * minuteMs;
    return { moment: { instant, wall: at }, time: new Date(instant) };
  });
}

/** Rows of a series one by one, as `update` takes them. */
function rowsOf(series: MatrixLike | ArrayLike<number>): {
  readonly length: number;
  rowAt(t: number): number | ArrayLike<number>;
} {
  const table = tableColumns(series, "series");
  const whole = table ? new Matrix(table.rows, table.names.length, tableNumbers(table, table.names, "series")) : series;
  if (whole instanceof Matrix) return { length: whole.rows, rowAt: (t) => whole.row(t) };
  if (!isList(series)) throw new ArgumentError("series", series, "a Matrix, or a list of numbers or rows");
  return { length: series.length, rowAt: (t) => series[t] as number | ArrayLike<number> };
}
