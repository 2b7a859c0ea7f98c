// One pattern in one file: JSON, CSV or NPZ. Files of many patterns are in hdf5.ts.

import { ArgumentError } from "@spillway/core/errors.js";
import { text as anyText, choice, type InputOf, optional, resolve } from "@spillway/core/options.js";
import { describe } from "@spillway/core/text.js";
import { writeFileAtomic } from "@spillway/io/atomic.js";
import { parseCsv } from "@spillway/io/csv.js";
import { detectDelimiter } from "@spillway/io/csv-delimiter.js";
import { formatCsv } from "@spillway/io/csv-writer.js";
import { FormatError } from "@spillway/io/errors.js";
import { decodeText, readBytes } from "@spillway/io/files.js";
import { parseNumber } from "@spillway/io/missing.js";
import { decodeNpz, encodeNpz } from "@spillway/io/npz.js";
import { Matrix } from "@spillway/numerics";
import { neurons, notNegative } from "../options.js";
import { spikeColumnsIn, spikeTimeUnits } from "./csv-columns.js";
import { checkPattern, type SpikeColumns, type SpikeMetadata, SpikePattern, type SpikePatternOptions } from "./pattern.js";

const fileTable = {
  /** Default what the file says, or the last spike's time. */
  durationMs: optional(notNegative("ms"), "How long the pattern lasts; left out, what the file says, or its last spike's time."),
  /** Default what the file says, or one more than the largest neuron. */
  neuronCount: optional(neurons, "Neurons; left out, what the file says, or one more than the largest."),
};
const readTable = {
  ...fileTable,
  /** The name that errors call the data by. */
  source: optional(anyText(), "The name that errors call the data by."),
};
const unitTable = {
  /**
   * The unit of times whose column does not say it, and of a table without a header, which is in ms
   * if it is left out.
   */
  timeUnit: optional(choice(...spikeTimeUnits), "The unit of times whose column does not say it."),
};
const csvTable = { ...readTable, ...unitTable };

/** What reading takes if a file does not say it, as CSV written elsewhere does not. */
export interface PatternReadOptions extends InputOf<typeof readTable> {}

/** What reading a CSV takes besides. */
export interface SpikeCsvOptions extends InputOf<typeof csvTable> {}

/** The options of `readSpikePattern`. */
export const readPatternTable = { ...fileTable, ...unitTable };

/** The formats of one pattern, by the ending of the file's name. */
export type PatternFormat = "json" | "csv" | "npz";

interface Frame {
  readonly durationMs?: number | undefined;
  readonly neuronCount?: number | undefined;
  readonly metadata?: SpikeMetadata | undefined;
}

/**
 * A pattern as JSON text: durationMs, neuronCount, metadata, times, neurons, and amplitudes if
 * it has them. Every number reads back as it was.
 */
export function patternToJson(pattern: SpikePattern): string {
  const { durationMs, neuronCount, metadata, times, neurons, amplitudes } = checkPattern(pattern);
  const columns = { times: [...times], neurons: [...neurons], ...(amplitudes ? { amplitudes: [...amplitudes] } : {}) };
  return JSON.stringify({ durationMs, neuronCount, metadata, ...columns });
}

/** The pattern of {@link patternToJson}; spikes may be in any order. @throws FormatError */
export function patternFromJson(text: string, options: PatternReadOptions = {}): SpikePattern {
  const { source = "JSON text", ...said } = resolve(readTable, options);
  checkText(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new FormatError("text", source, `it is no JSON: ${(error as Error).message}`, {}, error);
  }
  const fields = (typeof value === "object" ? value : null) as (Frame & Partial<SpikeColumns>) | null;
  if (!Array.isArray(fields?.times) || !Array.isArray(fields.neurons)) {
    throw new FormatError("text", source, "it is no spike pattern: it has no lists times and neurons");
  }
  return made("text", source, { times: fields.times, neurons: fields.neurons, amplitudes: fields.amplitudes }, fields, said);
}

/**
 * A pattern as CSV text: a line "# " with durationMs, neuronCount and metadata as JSON, a header,
 * and a row a spike: time_ms, neuron, and amplitude if the pattern has them.
 */
export function patternToCsv(pattern: SpikePattern): string {
  const { durationMs, neuronCount, metadata, times, neurons, amplitudes } = checkPattern(pattern);
  const columns = ["time_ms", "neuron", ...(amplitudes ? ["amplitude"] : [])];
  const table = Matrix.zeros(times.length, columns.length);
  for (let i = 0; i < times.length; i++) {
    table.row(i).set([times[i]!, neurons[i]!, ...(amplitudes ? [amplitudes[i]!] : [])]);
  }
  return `# ${JSON.stringify({ durationMs, neuronCount, metadata })}\n${formatCsv(table, { columns })}`;
}

/**
 * The pattern of a CSV text with columns time_ms, neuron and perhaps amplitude, by name or, without
 * a header, in this order; rows in any order. Times may also be time_s or time_us, or time or t if
 * `timeUnit` says their unit; neurons may be named id, i, unit, sender or channel. The first line
 * of {@link patternToCsv} may be missing.
 * @throws FormatError, also for a column of another name, and for a file without spikes that does
 * not say its duration and neurons
 */
export async function patternFromCsv(text: string, options: SpikeCsvOptions = {}): Promise<SpikePattern> {
  const { timeUnit, source = "CSV text", ...said } = resolve(csvTable, options);
  checkText(text);
  const [first = ""] = text.split("\n", 1);
  let frame: Frame = {};
  if (first.startsWith("# {")) {
    try {
      frame = JSON.parse(first.slice(2)) as Frame;
    } catch (error) {
      throw new FormatError("CSV", source, `its first line is no JSON: ${(error as Error).message}`, { row: 1 }, error);
    }
  }
  const body = text.startsWith("#") ? text.slice(first.length + 1) : text;
  const fail = (reason: string): FormatError => new FormatError("CSV", source, reason);
  const rows = body.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
  if (rows.length === 0 && frame.durationMs === undefined) throw fail("it is empty; a pattern without spikes has at least a header");
  const [header = ""] = rows;
  const names = header.split(detectDelimiter(header)).map((name) => name.trim().replace(/^"(.*)"$/, "$1"));
  if (rows.length === 0 || (rows.length === 1 && names.every((name) => parseNumber(name) === undefined))) {
    if (rows.length > 0) spikeColumnsIn(names, timeUnit ?? "ms", fail);
    return made("CSV", source, { times: [], neurons: [] }, frame, said);
  }
  const { matrix, columns } = await parseCsv(body, { comment: "#", source });
  const { time, neuron, amplitude, msPerUnit } = spikeColumnsIn(columns, timeUnit, fail);
  const spikes = {
    times: matrix.column(time).map((value) => value * msPerUnit),
    neurons: matrix.column(neuron),
    amplitudes: amplitude === undefined ? undefined : matrix.column(amplitude),
  };
  return made("CSV", source, spikes, frame, said);
}

/**
 * A pattern as NPZ bytes: times_ms (float64), neurons (uint32), amplitudes (float32), duration_ms,
 * neuron_count, metadata (JSON as bytes).
 */
export async function encodePatternNpz(pattern: SpikePattern): Promise<Uint8Array> {
  const { times, neurons, amplitudes, durationMs, neuronCount, metadata } = checkPattern(pattern);
  return encodeNpz({
    times_ms: times,
    neurons,
    ...(amplitudes ? { amplitudes } : {}),
    duration_ms: { shape: [], data: Float64Array.of(durationMs) },
    neuron_count: { shape: [], data: Uint32Array.of(neuronCount) },
    metadata: new TextEncoder().encode(JSON.stringify(metadata)),
  });
}

/**
 * The pattern of {@link encodePatternNpz}; only times_ms and neurons have to be there, of any type
 * of number. @throws FormatError
 */
export async function decodePatternNpz(bytes: Uint8Array, options: PatternReadOptions = {}): Promise<SpikePattern> {
  const { source = "NPZ data", ...said } = resolve(readTable, options);
  const arrays = await decodeNpz(bytes, { source });
  const numbers = (name: string): Float64Array | undefined => {
    const data = arrays[name]?.data;
    return data && Float64Array.from(data as ArrayLike<number | bigint>, Number);
  };
  const times = numbers("times_ms");
  const neurons = numbers("neurons");
  if (!times || !neurons) throw new FormatError("NPZ", source, "it is no spike pattern: it has no arrays times_ms and neurons");
  const note = arrays["metadata"]?.data;
  let metadata: SpikeMetadata = {};
  try {
    if (note instanceof Uint8Array) metadata = JSON.parse(new TextDecoder().decode(note)) as SpikeMetadata;
  } catch (error) {
    throw new FormatError("NPZ", source, `its metadata is no JSON: ${(error as Error).message}`, {}, error);
  }
  const frame = { durationMs: numbers("duration_ms")?.[0], neuronCount: numbers("neuron_count")?.[0], metadata };
  return made("NPZ", source, { times, neurons, amplitudes: numbers("amplitudes") }, frame, said);
}

/**
 * Writes a pattern to a file, whole or not at all, in the format of its ending: .json, .csv or .npz
 * (Node). @throws ArgumentError, FileError
 */
export async function writeSpikePattern(path: string, pattern: SpikePattern): Promise<void> {
  const format = formatOf(path);
  const data = format === "json" ? patternToJson(pattern) : format === "csv" ? patternToCsv(pattern) : await encodePatternNpz(pattern);
  await writeFileAtomic(path, data);
}

/** Reads a pattern from a file of those three formats (Node). @throws ArgumentError, FileError */
export async function readSpikePattern(path: string, options: Omit<SpikeCsvOptions, "source"> = {}): Promise<SpikePattern> {
  const format = formatOf(path);
  const { timeUnit, ...others } = resolve(readPatternTable, options);
  if (timeUnit !== undefined && format !== "csv")
    throw new ArgumentError("timeUnit", timeUnit, `nothing for .${format}, whose times are in ms`);
  const bytes = await readBytes(path);
  const named = { ...others, source: path };
  if (format === "npz") return decodePatternNpz(bytes, named);
  const text = decodeText(bytes, path);
  return format === "json" ? patternFromJson(text, named) : patternFromCsv(text, { ...named, timeUnit });
}

function checkText(text: string): void {
  if (typeof text !== "string") throw new ArgumentError("the text of a pattern", text, "a text: bytes are read by decodePatternNpz");
}

function formatOf(path: string): PatternFormat {
  const ending = /\.(json|csv|npz)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending === undefined) {
    throw new ArgumentError(
      "the name of the file",
      path,
      "the ending .json, .csv or .npz (event lists in HDF5: SpikeEventFile.open and writeSpikeHdf5)",
    );
  }
  return ending as PatternFormat;
}

/**
 * Puts a pattern together from what a file says and what the caller does; the caller has the last
 * word.
 */
function made(
  format: "text" | "CSV" | "NPZ",
  source: string,
  columns: SpikeColumns,
  frame: Frame,
  said: Pick<PatternReadOptions, "durationMs" | "neuronCount">,
): SpikePattern {
  const largest = (values: ArrayLike<number>, least: number): number =>
    Array.from(values).reduce((a, b) => (typeof b === "number" && b > a ? b : a), least);
  const { durationMs = frame.durationMs, neuronCount = frame.neuronCount } = said;
  if (columns.times.length === 0 && (durationMs === undefined || neuronCount === undefined))
    throw new FormatError(
      format,
      source,
      "it holds no spikes and does not say of how many ms and neurons: give durationMs and neuronCount",
    );
  const { metadata } = frame;
  if (metadata !== undefined && (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)))
    throw new FormatError(format, source, `its metadata is ${describe(metadata)}; it takes an object`);
  const settings: SpikePatternOptions = {
    durationMs: durationMs ?? largest(columns.times, 0),
    neuronCount: neuronCount ?? Math.floor(largest(columns.neurons, 0)) + 1,
    metadata,
  } as SpikePatternOptions;
  try {
    return SpikePattern.from(columns, settings);
  } catch (error) {
    throw new FormatError(format, source, (error as Error).message, {}, error);
  }
}
