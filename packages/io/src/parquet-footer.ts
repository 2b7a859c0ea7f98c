// What the footer of a Parquet file says: its columns, and where their pages lie. Everything is
// checked against the length of the file before anything is allocated for it.
// Source: https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
import { quoted } from "@spillway/core/text.js";
import type { ParquetType, SchemaElement } from "hyparquet";
import { FormatError, failing } from "./errors.js";
import { readThrift, type ThriftStruct, type ThriftValue } from "./parquet-thrift.js";

/** Bytes of a file, read by ranges. */
export interface ByteRanges {
  readonly length: number;
  /** @throws FileError */
  read(from: number, to: number): Promise<Uint8Array>;
}

/** What the values of a column are here. */
export type ParquetKind = "number" | "text" | "time" | "other";

/** A column of the file. */
export interface ParquetColumn {
  readonly name: string;
  readonly kind: ParquetKind;
  /** What the file calls its type, in words. */
  readonly said: string;
  readonly nullable: boolean;
  /** The column as hyparquet takes it, without levels: nulls are taken out before. */
  readonly element: SchemaElement;
  /** Of time stamps: what they count from 1970. */
  readonly unit: "days" | "ms" | "us" | "ns";
  /** Of time stamps: whether they are instants, which are written in UTC. */
  readonly instant: boolean;
}

/** Where the pages of a column lie in a group of rows. */
export interface ColumnChunk {
  readonly codec: string;
  readonly from: number;
  readonly to: number;
}

/** A group of rows. */
export interface RowGroup {
  readonly rows: number;
  /** By the index of the column. @throws FormatError if it lies outside the file */
  readonly chunk: (index: number) => ColumnChunk;
}

export interface ParquetFooter {
  readonly rows: number;
  readonly columns: readonly ParquetColumn[];
  readonly groups: readonly RowGroup[];
}

export const physicalTypes: readonly ParquetType[] = [
  ...(["BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"] as const),
];
const codecs = ["UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"];
const convertedTypes = [
  ...["UTF8", "MAP", "MAP_KEY_VALUE", "LIST", "ENUM", "DECIMAL", "DATE", "TIME_MILLIS", "TIME_MICROS", "TIMESTAMP_MILLIS"],
  ...["TIMESTAMP_MICROS", "UINT_8", "UINT_16", "UINT_32", "UINT_64", "INT_8", "INT_16", "INT_32", "INT_64", "JSON", "BSON", "INTERVAL"],
];
const logicalTypes: Readonly<Record<number, string>> = {
  ...{ 1: "STRING", 2: "MAP", 3: "LIST", 4: "ENUM", 5: "DECIMAL", 6: "DATE", 7: "TIME", 8: "TIMESTAMP", 10: "INTEGER", 11: "UNKNOWN" },
  ...{ 12: "JSON", 13: "BSON", 14: "UUID", 15: "FLOAT16", 16: "VARIANT", 17: "GEOMETRY", 18: "GEOGRAPHY" },
};

/** The largest footer that is read; those of tables with ten thousands of columns are smaller. */
const mostFooter = 2 ** 26;
/** Values of a file that says little: so many at least, and so many more for each of its bytes. */
const leastValues = 2 ** 24;
const valuesPerByte = 4096;
/** The most values of one table: 8 GiB. */
const mostValues = 2 ** 30;

/** @throws FormatError if the file is no Parquet file, or is damaged */
export async function readFooter(file: ByteRanges, source: string): Promise<ParquetFooter> {
  const fail = (reason: string, cause?: unknown) => new FormatError("Parquet", source, reason, {}, cause);
  const tail = file.length < 12 ? new Uint8Array(8) : await file.read(file.length - 8, file.length);
  const mark = String.fromCharCode(...tail.subarray(4));
  if (mark === "PARE") throw fail("it is encrypted; it takes a file without encryption");
  if (mark !== "PAR1") throw fail("it is no Parquet file, or its end is missing: it does not end with PAR1");
  const length = new DataView(tail.buffer, tail.byteOffset).getUint32(0, true);
  if (length > Math.min(mostFooter, file.length - 12))
    throw fail(`its footer is said to have ${length} bytes, and the file has ${file.length}; it is damaged`);
  const bytes = await file.read(file.length - 8 - length, file.length - 8);
  try {
    const { fields } = readThrift(bytes, 0);
    return footerOf(fields, file.length - 8 - length, fail);
  } catch (error) {
    if (error instanceof FormatError) throw error;
    throw fail("its footer is damaged", error);
  }
}

/** @throws FormatError if so many values are more than a file of that length can be meant to have */
export function checkValues(rows: number, columns: number, file: ByteRanges, source: string): void {
  const most = Math.min(mostValues, leastValues + valuesPerByte * file.length);
  if (rows * columns <= most) return;
  const said = `it says that it has ${rows} rows, and ${columns} columns are read`;
  throw failing("Parquet", source)(`${said}; a file of ${file.length} bytes takes at most ${most} values: name fewer columns`);
}

type Fail = (reason: string, cause?: unknown) => FormatError;

const text = (value: ThriftValue | undefined): string => (value instanceof Uint8Array ? new TextDecoder().decode(value) : "");
const number = (value: ThriftValue | undefined): number => (typeof value === "bigint" || typeof value === "number" ? Number(value) : -1);
const struct = (value: ThriftValue | undefined): ThriftStruct => (value instanceof Map ? value : new Map());
const list = (value: ThriftValue | undefined): readonly ThriftValue[] => (Array.isArray(value) ? value : []);

function footerOf(fields: ThriftStruct, end: number, fail: Fail): ParquetFooter {
  const { columns, leaves } = columnsOf(list(fields.get(2)).map(struct), fail);
  const rows = number(fields.get(3));
  const groups = list(fields.get(4)).map((value): RowGroup => {
    const group = struct(value);
    const chunks = list(group.get(1));
    if (chunks.length !== leaves.total) throw fail("its footer is damaged: a group of rows has another number of columns than the file");
    const own = number(group.get(3));
    if (!Number.isSafeInteger(own) || own < 0) throw fail(`its footer is damaged: a group has ${own} rows`);
    return { rows: own, chunk: (index) => chunkOf(struct(chunks[leaves.of[index]!]), own, { end, fail, name: columns[index]!.name }) };
  });
  const sum = groups.reduce((total, group) => total + group.rows, 0);
  if (sum !== rows) throw fail(`its footer is damaged: it says that there are ${rows} rows, and its groups have ${sum}`);
  return { rows, columns, groups };
}

/** The columns at the top, and the leaf of each among all leaves. */
function columnsOf(schema: readonly ThriftStruct[], fail: Fail) {
  const columns: ParquetColumn[] = [];
  const of: number[] = [];
  let total = 0;
  // How many children each structure that is open still takes.
  const open = [number(schema[0]?.get(5))];
  for (const element of schema.slice(1)) {
    while (open.length > 1 && open.at(-1) === 0) open.pop();
    if (!open.at(-1) || open.at(-1)! < 0 || open.length > 64) throw fail("its footer is damaged: its columns are not a tree");
    open[open.length - 1]!--;
    const children = number(element.get(5));
    if (open.length === 1) {
      columns.push(columnOf(element, children > 0));
      of.push(total);
    }
    if (children > 0) open.push(children);
    else total++;
  }
  if (open.some((left) => left !== 0)) throw fail("its footer is damaged: columns are missing in it");
  return { columns, leaves: { of, total } };
}

function columnOf(element: ThriftStruct, nested: boolean): ParquetColumn {
  const type = physicalTypes[number(element.get(1))];
  const converted = convertedTypes[number(element.get(6))];
  const [logicalId, logicalFields] = [...struct(element.get(10))][0] ?? [];
  const logical = logicalTypes[logicalId ?? 0];
  const detail = struct(logicalFields);
  const repeated = number(element.get(3)) === 2;
  const width = number(element.get(2));
  const unit =
    converted === "DATE" || logical === "DATE"
      ? "days"
      : type === "INT96" || struct(detail.get(2)).has(3)
        ? "ns"
        : converted === "TIMESTAMP_MICROS" || struct(detail.get(2)).has(2)
          ? "us"
          : "ms";
  const kind = nested || repeated || type === undefined ? "other" : kindOf(type, converted, logical, width);
  // Numbers and time stamps are taken as they are stored, but for what only hyparquet decodes.
  const keeps = kind !== "time";
  return {
    name: text(element.get(4)),
    kind,
    said: nested || repeated ? "lists or structures" : (logical ?? converted ?? type ?? "values of an unknown type"),
    nullable: number(element.get(3)) === 1,
    unit,
    instant: logical === "TIMESTAMP" ? detail.get(1) === true : type !== "INT96",
    element: {
      name: "column",
      type: type as ParquetType,
      repetition_type: "REQUIRED",
      ...(width > 0 && { type_length: width }),
      ...(keeps &&
        converted !== undefined &&
        converted !== "JSON" && { converted_type: converted as SchemaElement["converted_type"] & string }),
      ...(keeps && element.has(7) && { scale: Math.max(0, number(element.get(7))) }),
      ...(keeps && logical === "DECIMAL" && converted === undefined
        ? { converted_type: "DECIMAL" as const, scale: Math.max(0, number(detail.get(1))) }
        : undefined),
      ...(keeps && logical === "FLOAT16" && { logical_type: { type: "FLOAT16" as const } }),
      ...(keeps && logical === "UUID" && { logical_type: { type: "UUID" as const } }),
      ...(keeps &&
        logical === "INTEGER" && {
          logical_type: { type: "INTEGER" as const, bitWidth: number(detail.get(1)), isSigned: detail.get(2) === true },
        }),
    },
  };
}

/** The widest number of fixed length that is read: 32 bytes hold any decimal number in use. */
const widestDecimal = 32;

function kindOf(type: ParquetType, converted: string | undefined, logical: string | undefined, width: number): ParquetKind {
  const is = logical ?? converted ?? "";
  if (type === "BYTE_ARRAY") return ["", "STRING", "UTF8", "ENUM", "JSON"].includes(is) ? "text" : "other";
  if (type === "FIXED_LEN_BYTE_ARRAY") {
    if (is === "UUID" && width === 16) return "text";
    if (is === "FLOAT16" && width === 2) return "number";
    return is === "DECIMAL" && width > 0 && width <= widestDecimal ? "number" : "other";
  }
  if (type === "INT96" || (type === "INT64" && is.startsWith("TIMESTAMP")) || (type === "INT32" && is === "DATE")) return "time";
  return ["", "DECIMAL", "INTEGER", "UNKNOWN"].includes(is) || /^U?INT_/.test(is) ? "number" : "other";
}

function chunkOf(
  column: ThriftStruct,
  rows: number,
  { end, fail, name }: { readonly end: number; readonly fail: Fail; readonly name: string },
) {
  const meta = struct(column.get(3));
  const damaged = (what: string) => fail(`its footer is damaged: column ${quoted(name)} ${what}`);
  if (column.has(1)) throw fail(`column ${quoted(name)} lies in another file, which is not read`);
  if (meta.size === 0) throw fail(`column ${quoted(name)} is encrypted or not described; it takes a column without encryption`);
  if (number(meta.get(5)) !== rows) throw damaged(`has ${number(meta.get(5))} values in a group of ${rows} rows`);
  const first = number(meta.get(9));
  const dictionary = number(meta.get(11));
  const from = dictionary > 0 && dictionary < first ? dictionary : first;
  const to = from + number(meta.get(7));
  if (!(from >= 4 && to >= from && to <= end)) throw damaged(`lies at bytes ${from} to ${to}, and pages end at ${end}`);
  return { codec: codecs[number(meta.get(4))] ?? "unknown", from, to };
}
