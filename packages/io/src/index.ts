/**
 * Files: series in (CSV, Parquet, .ts, NPY, NPZ, WAV), results out (CSV, Parquet, NPY, NPZ, WAV), models both ways
 * (safetensors). Parsers take bytes or text and run in a browser; functions that take a path need
 * Node and load it when they are called.
 */

export { AtomicFile, writeFileAtomic, writeInto } from "./atomic.js";
export { parseCsv, readCsv } from "./csv.js";
export { type CsvColumn, csvColumns } from "./csv-columns.js";
export { type CsvOptions, missingMarkers } from "./csv-options.js";
export { formatCsv, writeCsv } from "./csv-writer.js";
export { FileError, FormatError } from "./errors.js";
export { ensureFolder, listFiles, readBytes, readText } from "./files.js";
export { bfloat16ToFloat32, float16ToFloat32 } from "./half.js";
export type { MissingPolicy } from "./missing.js";
export { decodeNpy, encodeNpy, type NpyArray, type NpySource, npyToMatrix, readNpy, writeNpy } from "./npy.js";
export { NpyWriter } from "./npy-writer.js";
export { decodeNpz, encodeNpz, readNpz, writeNpz } from "./npz.js";
export { isParquet, parquetColumns, readParquet } from "./parquet.js";
export { encodeParquet, writeParquet } from "./parquet-writer.js";
export { decodeSafetensors, encodeSafetensors, readSafetensors, writeSafetensors } from "./safetensors.js";
export type { SafetensorsTensor } from "./safetensors-types.js";
export type { CsvTable } from "./table-columns.js";
export { tableFrom } from "./table-from.js";
export type { NumberArray } from "./typed-bytes.js";
export { parseUea, readUea, type UeaOptions } from "./uea.js";
export { decodeWav, readWav, type WavSound } from "./wav.js";
export { encodeWav, writeWav } from "./wav-writer.js";
