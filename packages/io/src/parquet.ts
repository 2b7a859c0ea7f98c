// Reads Parquet files into a matrix of numbers, with chosen columns kept aside as text: the columns
// that are asked for alone, by ranges of bytes, a group of rows at a time.
import { SpillwayError } from "@spillway/core/errors.js";
import { type InputOf, resolve, type TableOf } from "@spillway/core/options.js";
import { quoted } from "@spillway/core/text.js";
import { Matrix } from "@spillway/numerics";
import type { DecodedArray, FileMetaData } from "hyparquet";
import { csvTable } from "./csv-options.js";
import { checkBytes, FileError, FormatError, failing, type SourceOptions } from "./errors.js";
import { withOpenFile } from "./files.js";
import { missingTable, sourceTable } from "./options.js";
import { type ByteRanges, type ColumnChunk, checkValues, type ParquetColumn, type ParquetFooter, readFooter } from "./parquet-footer.js";
import { ChunkPages, type Decompress, type PageBatch } from "./parquet-pages.js";
import { ThriftError } from "./parquet-thrift.js";
import { type CsvTable, chooseColumns, type TableColumn, tableOf } from "./table-columns.js";

export const parquetTable = {
  /**
   * The columns that become the matrix, in this order, by name or by index from 0. Default: all
   * that `text` does not list.
   */
  columns: csvTable.columns,
  /** Columns kept as text, such as time stamps; by name or by index from 0. */
  text: csvTable.text,
  ...missingTable,
};

/** What is read of a Parquet file. */
export interface ParquetOptions extends InputOf<typeof missingTable>, InputOf<typeof parquetTable> {}

const parquetSourceTable = { ...parquetTable, ...sourceTable } satisfies TableOf<ParquetOptions & SourceOptions>;

/** Whether a file is one of Parquet by its name. */
export function isParquet(path: string): boolean {
  return /\.parquet$/i.test(path);
}

/** The names of all columns of a Parquet file. @throws FileError, FormatError */
export async function parquetColumns(path: string): Promise<readonly string[]> {
  return withFile(path, async (file) => (await readFooter(file, path)).columns.map(({ name }) => name));
}

/**
 * The table of a Parquet file, of whose path the columns that are asked for are read by ranges, or
 * of its bytes. Numbers of any type become binary64, and `true` and `false` 1 and 0; null and NaN
 * are missing values; in columns of text null is an empty text. Time stamps are columns of text in
 * the forms of ISO 8601, in UTC with a Z if the file says instants, without a zone if it does not.
 * Snappy and gzip are read; zstd on Node below 22.15, and LZ4, take the package
 * hyparquet-compressors, brotli Node. Columns of lists and structures are refused if they are asked
 * for. `source` is what errors call bytes; left out, "Parquet data".
 * @throws FormatError naming the column, and the row from 1, for bytes that are no Parquet file or
 * damaged, and for columns that hold no numbers, with the options that read them in `settings`;
 * FileError if the file cannot be read, or the package hyparquet is not installed
 */
export async function readParquet(from: string | Uint8Array, options: ParquetOptions & SourceOptions = {}): Promise<CsvTable> {
  const { source = typeof from === "string" ? from : "Parquet data", ...settings } = resolve(parquetSourceTable, options);
  if (typeof from === "string") return withFile(from, (file) => readTable(file, source, settings));
  checkBytes(from, source);
  return readTable({ length: from.length, read: async (first, end) => from.subarray(first, end) }, source, settings);
}

async function withFile<Value>(path: string, use: (file: ByteRanges) => Promise<Value>): Promise<Value> {
  return withOpenFile(path, (file, stat) => {
    if (!stat.isFile())
      throw new FileError(path, "that is no file but a pipe or a device; Parquet takes a file, whose end is read first", "other");
    return use({
      length: stat.size,
      read: async (from, to) => {
        const bytes = new Uint8Array(to - from);
        for (let at = 0; at < bytes.length; ) {
          const { bytesRead } = await file.read(bytes, at, Math.min(bytes.length - at, 2 ** 30), from + at);
          if (bytesRead === 0) throw new FormatError("Parquet", path, "it became shorter while it was read");
          at += bytesRead;
        }
        return bytes;
      },
    });
  });
}

/** The optional packages of this module. @internal */
interface Libraries {
  readonly hyparquet: typeof import("hyparquet");
  readonly "hyparquet-compressors": typeof import("hyparquet-compressors");
  readonly "hyparquet-writer": typeof import("hyparquet-writer");
}

/**
 * A package that is loaded when it is needed. @throws FileError that says how it is installed
 * @internal
 */
export async function library<Name extends keyof Libraries>(name: Name, use: string): Promise<Libraries[Name]> {
  try {
    // By a name that bundlers do not follow: to users without the package it would be missing.
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as Libraries[Name];
  } catch (error) {
    throw new FileError("Parquet", `${use} takes the package ${name}, which is not installed: npm install ${name}`, "unavailable", error);
  }
}

interface Source {
  readonly file: ByteRanges;
  readonly source: string;
  readonly footer: ParquetFooter;
}

async function readTable(
  file: ByteRanges,
  source: string,
  options: Pick<ReturnType<typeof resolve<typeof parquetTable>>, "columns" | "text" | "missing">,
): Promise<CsvTable> {
  const footer = await readFooter(file, source);
  const { rows, columns } = footer;
  const header = columns.map(({ name }) => name);
  const fail = failing("Parquet", source);
  const { numeric, textual } = chooseColumns(header, options, fail);
  checkKinds(columns, numeric, textual, source);
  if (rows === 0) throw fail("there is no row in it; it takes at least one row of numbers");
  checkValues(rows, numeric.length + textual.length, file, source);
  const from = { file, source, footer };
  const matrix = Matrix.zeros(rows, numeric.length);
  for (const [c, column] of numeric.entries()) await readColumn(from, column, intoMatrix(matrix, c));
  const cells: string[][] = [];
  for (const column of textual) cells.push(await readTexts(from, column));
  const words = ({ name }: TableColumn) => `column ${quoted(name)}`;
  return tableOf({ format: "Parquet", source, header, numeric, textual, matrix, cells, line: (row) => row + 1, words }, options.missing);
}

/** @throws FormatError for columns that are not what they are read as, with options that read them */
function checkKinds(
  columns: readonly ParquetColumn[],
  numeric: readonly TableColumn[],
  textual: readonly TableColumn[],
  source: string,
): void {
  const wrong = [...numeric, ...textual].filter(({ index }, k) => {
    const { kind } = columns[index]!;
    return kind === "other" || (k < numeric.length && kind !== "number");
  });
  if (wrong.length === 0) return;
  const sentences = wrong.slice(0, 10).map(({ name, index }) => {
    const { kind, said } = columns[index]!;
    const cure = kind === "other" ? "leave it out of `columns` and `text`" : "list it under `text`, or leave it out of `columns`";
    return `column ${quoted(name)} holds ${kind === "time" ? "time stamps" : kind === "text" ? "texts" : said}, and no numbers; ${cure}`;
  });
  const text = wrong.filter(({ index }) => columns[index]!.kind !== "other").map(({ name }) => name);
  const more = wrong.length > 10 ? `; and so in ${wrong.length - 10} more columns` : "";
  const left = numeric.filter((column) => !wrong.includes(column)).map(({ name }) => name);
  const settings = text.length === wrong.length ? { text } : { text, columns: left };
  throw new FormatError("Parquet", source, sentences.join(". ") + more, { column: wrong[0]!.name }, undefined, settings);
}

/** What becomes of a value, and of a row without one. */
interface Sink {
  readonly set: (row: number, value: unknown) => void;
  readonly empty: (row: number) => void;
  /** The same as `set` for rows from `first` on, faster. */
  readonly setAll?: (values: DecodedArray, first: number) => void;
}

/** An index past the end of a dictionary has none. */
const noValue = "a value is missing";

function intoMatrix({ data, cols }: Matrix<Float64Array>, c: number): Sink {
  return {
    set: (row, value) => {
      data[row * cols + c] = Number(value);
    },
    empty: (row) => {
      data[row * cols + c] = Number.NaN;
    },
    setAll: (values, first) => {
      let at = first * cols + c;
      // A loop of its own for what plain pages hold: it takes a third of the time.
      if (values instanceof Float64Array) for (let k = 0; k < values.length; k++, at += cols) data[at] = values[k]!;
      else
        for (let k = 0; k < values.length; k++, at += cols) {
          const value: unknown = values[k];
          if (value === undefined) throw new ThriftError(noValue);
          data[at] = Number(value);
        }
    },
  };
}

async function readTexts(from: Source, column: TableColumn): Promise<string[]> {
  const described = from.footer.columns[column.index]!;
  if (described.kind === "time") return readTimes(from, column, described);
  const cells = new Array<string>(from.footer.rows);
  await readColumn(from, column, {
    set: (row, value) => {
      cells[row] = String(value);
    },
    empty: (row) => {
      cells[row] = "";
    },
  });
  return cells;
}

const perMs = { days: 1n, ms: 1n, us: 1_000n, ns: 1_000_000n };
const dayMs = 86_400_000;
/** The years 0 to 9999. */
const [firstMs, lastMs] = [-62_167_219_200_000, 253_402_300_799_999];

/** Time stamps as texts of one form: dates, or with the time, to the millisecond if one needs it. */
async function readTimes(from: Source, column: TableColumn, { unit, instant }: ParquetColumn): Promise<string[]> {
  const { rows } = from.footer;
  const times = new Float64Array(rows);
  const fail = failing("Parquet", from.source);
  const wrong = (row: number, reason: string) =>
    fail(`row ${row + 1}, column ${quoted(column.name)}: ${reason}`, { row: row + 1, column: column.name });
  let isWhole = true;
  await readColumn(from, column, {
    set: (row, value) => {
      let ms: number;
      if (unit === "days") ms = Number(value) * dayMs;
      else {
        const count = BigInt(value as bigint);
        const whole = count / perMs[unit];
        if (whole * perMs[unit] !== count) throw wrong(row, "the time stamp is finer than a millisecond, which is the shortest time here");
        ms = Number(whole);
      }
      if (!(ms >= firstMs && ms <= lastMs)) throw wrong(row, "the time stamp lies outside the years 0 to 9999");
      if (ms % 1000 !== 0) isWhole = false;
      times[row] = ms;
    },
    empty: (row) => {
      times[row] = Number.NaN;
    },
  });
  const length = unit === "days" ? 10 : isWhole ? 19 : 23;
  const zone = instant && unit !== "days" ? "Z" : "";
  const date = new Date(0);
  return Array.from(times, (ms) => {
    if (Number.isNaN(ms)) return "";
    date.setTime(ms);
    return date.toISOString().slice(0, length) + zone;
  });
}

/** Reads all values of a column. @throws FormatError, FileError */
async function readColumn({ file, source, footer }: Source, { index, name }: TableColumn, sink: Sink): Promise<void> {
  const column = footer.columns[index]!;
  const fail = (reason: string, cause?: unknown) =>
    new FormatError("Parquet", source, `column ${quoted(name)} ${reason}`, { column: name }, cause);
  const { parquetRead } = await library("hyparquet", "Parquet");
  let first = 0;
  for (const group of footer.groups) {
    if (group.rows === 0) continue;
    const chunk = group.chunk(index);
    const decompress = await decompressorOf(chunk, name, fail);
    try {
      const pages = new ChunkPages(await file.read(chunk.from, chunk.to), column, decompress, fail);
      for (const batch of pages.batches(group.rows)) {
        const values = batch.values > 0 ? await decoded(batch, column, parquetRead) : [];
        scatter(values, batch, first, sink);
        first += batch.rows;
      }
    } catch (error) {
      throw error instanceof SpillwayError && !(error instanceof ThriftError) ? error : fail("is damaged", error);
    }
  }
}

async function decoded(
  batch: PageBatch,
  { element }: ParquetColumn,
  parquetRead: typeof import("hyparquet").parquetRead,
): Promise<DecodedArray[]> {
  const { buffer } = batch.bytes;
  const [size, values] = [BigInt(buffer.byteLength), BigInt(batch.values)];
  const described = { type: element.type!, path_in_schema: ["column"], codec: "UNCOMPRESSED" as const, encodings: [] };
  const sizes = { num_values: values, total_uncompressed_size: size, total_compressed_size: size, data_page_offset: 0n };
  const group = { columns: [{ file_offset: 0n, meta_data: { ...described, ...sizes } }], total_byte_size: size, num_rows: values };
  const schema = [{ name: "table", num_children: 1 }, element];
  const metadata: FileMetaData = { version: 2, schema, num_rows: values, row_groups: [group], metadata_length: 0 };
  const pieces: DecodedArray[] = [];
  const file = { byteLength: buffer.byteLength, slice: () => buffer as ArrayBuffer };
  const parsers = { timestampFromNanoseconds: (count: bigint) => count };
  const columns = ["column"];
  await parquetRead({ file, metadata, columns, parsers, onPage: ({ columnData }) => pieces.push(columnData) });
  return pieces;
}

/** Gives each row of a batch its value. @throws ThriftError if values are missing or too many */
function scatter(pieces: readonly DecodedArray[], { present, rows, values }: PageBatch, first: number, sink: Sink): void {
  const { set, empty, setAll } = sink;
  if (pieces.reduce((sum, { length }) => sum + length, 0) !== values) throw new ThriftError("values are missing");
  let row = 0;
  for (const piece of pieces) {
    if (!present && setAll) {
      setAll(piece, first + row);
      row += piece.length;
      continue;
    }
    for (let k = 0; k < piece.length; k++, row++) {
      if (present) for (; present[row] === 0; row++) empty(first + row);
      const value: unknown = piece[k];
      if (value === undefined) throw new ThriftError(noValue);
      set(first + row, value);
    }
  }
  for (; row < rows; row++) empty(first + row);
}

/** What makes the pages of a chunk readable; undefined if they are. */
async function decompressorOf(
  { codec }: ColumnChunk,
  name: string,
  fail: (reason: string) => FormatError,
): Promise<Decompress | undefined> {
  if (codec === "UNCOMPRESSED") return undefined;
  const zlib = globalThis.process?.getBuiltinModule?.("node:zlib");
  const bounded = (length: number) => ({ maxOutputLength: length });
  if (zlib && codec === "GZIP") return (bytes, length) => zlib.gunzipSync(bytes, bounded(length));
  if (zlib && codec === "BROTLI") return (bytes, length) => zlib.brotliDecompressSync(bytes, bounded(length));
  const { zstdDecompressSync: zstd } = (zlib ?? {}) as { zstdDecompressSync?: typeof import("node:zlib").gunzipSync };
  if (zstd && codec === "ZSTD") return (bytes, length) => zstd(bytes, bounded(length));
  if (codec === "SNAPPY") {
    const { snappyUncompress } = await library("hyparquet", "Parquet");
    // The same in WebAssembly, if it is there.
    const fast = await library("hyparquet-compressors", "").then(
      ({ compressors }) => compressors.SNAPPY,
      () => undefined,
    );
    return (bytes, length) => {
      if (fast) return fast(bytes, length);
      const out = new Uint8Array(length);
      snappyUncompress(bytes, out);
      return out;
    };
  }
  if (!["GZIP", "BROTLI", "ZSTD", "LZ4", "LZ4_RAW"].includes(codec))
    throw fail(`is compressed with ${codec}, which is not read; write it with snappy, gzip or zstd`);
  const use = `column ${quoted(name)} is compressed with ${codec}, which`;
  const { compressors, decompressZstd } = await library("hyparquet-compressors", use);
  if (codec === "ZSTD") return (bytes, length) => decompressZstd(bytes, new Uint8Array(length));
  return compressors[codec as "GZIP"];
}
