// One pattern in one file: JSON, CSV or NPZ. Files of many patterns are in hdf5.ts.
import { writeFileAtomic } from "../../io/atomic.js";
import { parseCsv } from "../../io/csv.js";
import { formatCsv } from "../../io/csv-writer.js";
import { FormatError } from "../../io/errors.js";
import { decodeText, readBytes } from "../../io/files.js";
import { decodeNpz, encodeNpz } from "../../io/npz.js";
import { Matrix } from "../../numerics/index.js";
import { checkFields } from "../../reservoir/validate.js";
import { SpikeError } from "../errors.js";
import { checkPattern, type SpikeColumns, type SpikeMetadata, SpikePattern, type SpikePatternOptions } from "./pattern.js";

/** What reading takes where a file does not say it, as CSV written elsewhere does not. */
export interface PatternReadOptions {
  /** Default what the file says, or the last spike's time. */
  readonly durationMs?: number | undefined;
  /** Default what the file says, or one more than the largest neuron. */
  readonly neuronCount?: number | undefined;
  /** The name that errors call the data by. */
  readonly source?: string | undefined;
}

const readFields: readonly (keyof PatternReadOptions)[] = ["durationMs", "neuronCount", "source"];

/** The formats of one pattern, by the ending of the file's name. */
export type PatternFormat = "json" | "csv" | "npz";

interface Frame {
  readonly durationMs?: number | undefined;
  readonly neuronCount?: number | undefined;
  readonly metadata?: SpikeMetadata | undefined;
}

/**
 * A pattern as JSON text: durationMs, neuronCount, metadata, times, neurons, and amplitudes where it has them. Every number reads back as
 * it was.
 */
export function patternToJson(pattern: SpikePattern): string {
  const { durationMs, neuronCount, metadata, times, neurons, amplitudes } = checkPattern(pattern);
  const columns = { times: [...times], neurons: [...neurons], ...(amplitudes ? { amplitudes: [...amplitudes] } : {}) };
  return JSON.stringify({ durationMs, neuronCount, metadata, ...columns });
}

/** The pattern of {@link patternToJson}; spikes may stand in any order. @throws FormatError */
export function patternFromJson(text: string, options: PatternReadOptions = {}): SpikePattern {
  checkFields(options, readFields);
  checkText(text);
  const source = options.source ?? "JSON text";
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
  return made("text", source, { times: fields.times, neurons: fields.neurons, amplitudes: fields.amplitudes }, fields, options);
}

/**
 * A pattern as CSV text: a line "# " with durationMs, neuronCount and metadata as JSON, a header, and a row a spike: time_ms, neuron, and
 * amplitude where the pattern has them.
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
 * The pattern of a CSV text with columns time_ms, neuron and perhaps amplitude, by name or, without a header, in this order; rows in any
 * order. The first line of {@link patternToCsv} may be missing.
 * @throws FormatError
 */
export async function patternFromCsv(text: string, options: PatternReadOptions = {}): Promise<SpikePattern> {
  checkFields(options, readFields);
  checkText(text);
  const source = options.source ?? "CSV text";
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
  if (body.trim() === "" || body.trim() === "time_ms,neuron" || body.trim() === "time_ms,neuron,amplitude") {
    return made("CSV", source, { times: [], neurons: [] }, frame, options);
  }
  const { matrix, columns } = await parseCsv(body, { comment: "#", source });
  const named = columns.includes("time_ms");
  const column = (name: string, index: number): Float64Array | undefined => {
    const at = named ? columns.indexOf(name) : index < matrix.cols ? index : -1;
    return at < 0 ? undefined : matrix.column(at);
  };
  const times = column("time_ms", 0);
  const neurons = column("neuron", 1);
  if (!times || !neurons) throw new FormatError("CSV", source, "it takes columns time_ms and neuron, and perhaps amplitude");
  return made("CSV", source, { times, neurons, amplitudes: column("amplitude", 2) }, frame, options);
}

/**
 * A pattern as NPZ bytes: times_ms (float64), neurons (uint32), amplitudes (float32), duration_ms, neuron_count, metadata (JSON as bytes).
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

/** The pattern of {@link encodePatternNpz}; only times_ms and neurons have to be there, of any type of number. @throws FormatError */
export async function decodePatternNpz(bytes: Uint8Array, options: PatternReadOptions = {}): Promise<SpikePattern> {
  checkFields(options, readFields);
  const source = options.source ?? "NPZ data";
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
  return made("NPZ", source, { times, neurons, amplitudes: numbers("amplitudes") }, frame, options);
}

/**
 * Writes a pattern to a file, whole or not at all, in the format of its ending: .json, .csv or .npz (Node). @throws SpikeError, FileError
 */
export async function writeSpikePattern(path: string, pattern: SpikePattern): Promise<void> {
  const format = formatOf(path);
  const data = format === "json" ? patternToJson(pattern) : format === "csv" ? patternToCsv(pattern) : await encodePatternNpz(pattern);
  await writeFileAtomic(path, data);
}

/** Reads a pattern from a file of those three formats (Node). @throws SpikeError, FileError */
export async function readSpikePattern(path: string, options: Omit<PatternReadOptions, "source"> = {}): Promise<SpikePattern> {
  checkFields(options, ["durationMs", "neuronCount"] satisfies (keyof PatternReadOptions)[]);
  const format = formatOf(path);
  const bytes = await readBytes(path);
  const named = { ...options, source: path };
  if (format === "npz") return decodePatternNpz(bytes, named);
  const text = decodeText(bytes, path);
  return format === "json" ? patternFromJson(text, named) : patternFromCsv(text, named);
}

function checkText(text: string): void {
  if (typeof text !== "string") throw new SpikeError("the text of a pattern", text, "a text: bytes are read by decodePatternNpz");
}

function formatOf(path: string): PatternFormat {
  const ending = /\.(json|csv|npz)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending === undefined) {
    throw new SpikeError(
      "the name of the file",
      path,
      "the ending .json, .csv or .npz (event lists in HDF5: SpikeEventFile.open and writeSpikeHdf5)",
    );
  }
  return ending as PatternFormat;
}

/** Puts a pattern together from what a file says and what the caller does; the caller has the last word. */
function made(
  format: "text" | "CSV" | "NPZ",
  source: string,
  columns: SpikeColumns,
  frame: Frame,
  options: PatternReadOptions,
): SpikePattern {
  const largest = (values: ArrayLike<number>, least: number): number => Array.from(values).reduce((a, b) => (b > a ? b : a), least);
  const settings: SpikePatternOptions = {
    durationMs: options.durationMs ?? frame.durationMs ?? largest(columns.times, 0),
    neuronCount: options.neuronCount ?? frame.neuronCount ?? largest(columns.neurons, 0) + 1,
    metadata: frame.metadata,
  } as SpikePatternOptions;
  try {
    return SpikePattern.from(columns, settings);
  } catch (error) {
    throw new FormatError(format, source, (error as Error).message, {}, error);
  }
}
