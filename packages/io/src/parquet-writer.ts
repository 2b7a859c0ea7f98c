// Writes a matrix as a Parquet file, with columns of text beside it.
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, resolve } from "@spillway/core/options.js";
import { quoted } from "@spillway/core/text.js";
import { asMatrix, type MatrixLike } from "@spillway/numerics";
import { writeFileAtomic } from "./atomic.js";
import { checkWritten, csvWriteTable } from "./csv-writer.js";
import { library } from "./parquet.js";

export const parquetWriteTable = {
  /** One name a column; left out, their indices from 0. */
  columns: csvWriteTable.columns,
  /** Text columns by name, T cells each; they stand before the numbers. */
  text: csvWriteTable.text,
};

/** Names and text columns of what is written. */
export interface ParquetWriteOptions extends InputOf<typeof parquetWriteTable> {}

/**
 * A T x C matrix as the bytes of a Parquet file, compressed by Snappy: columns of binary64, or of
 * binary32 if the matrix is, null where a value is NaN.
 * @throws ArgumentError if names or texts do not fit; FileError if the package hyparquet-writer is
 * not installed
 */
export async function encodeParquet(matrix: MatrixLike, options: ParquetWriteOptions = {}): Promise<Uint8Array> {
  const { rows, cols, data } = asMatrix(matrix);
  const { columns = Array.from({ length: cols }, (_, c) => String(c)), text } = resolve(parquetWriteTable, options);
  checkWritten({ rows, cols }, columns, text);
  const names = [...Object.keys(text), ...columns];
  const twice = names.find((name, k) => names.indexOf(name) !== k);
  if (twice !== undefined)
    throw ArgumentError.because(`two columns are called ${quoted(twice)}; each takes a name of its own`, { field: "columns" });
  const { parquetWriteBuffer } = await library("hyparquet-writer", "writing Parquet");
  const type = data instanceof Float32Array ? ("FLOAT" as const) : ("DOUBLE" as const);
  const numbers = columns.map((name, c) => {
    const values = Float64Array.from({ length: rows }, (_, r) => data[r * cols + c]!);
    const nullable = values.some(Number.isNaN);
    // A dictionary of hyparquet-writer has one entry for 0 and -0.
    const encoding = values.some((value) => Object.is(value, -0)) ? { encoding: "PLAIN" as const } : undefined;
    const cells = nullable ? Array.from(values, (value) => (Number.isNaN(value) ? null : value)) : values;
    return { name, type, nullable, data: cells, ...encoding };
  });
  const texts = Object.entries(text).map(([name, cells]) => ({ name, type: "STRING" as const, nullable: false, data: [...cells] }));
  return new Uint8Array(parquetWriteBuffer({ columnData: [...texts, ...numbers], createdBy: "spillway" }));
}

/** Writes {@link encodeParquet} to a file, whole or not at all. @throws FileError. */
export async function writeParquet(path: string, matrix: MatrixLike, options: ParquetWriteOptions = {}): Promise<void> {
  await writeFileAtomic(path, await encodeParquet(matrix, options));
}
