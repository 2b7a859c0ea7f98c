// Tensors by name and metadata in one file: safetensors,
// https://github.com/huggingface/safetensors. The same content gives the same bytes, and reading
// one never executes anything.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { writeFileAtomic } from "./atomic.js";
import { checkBytes, failing, type SourceOptions } from "./errors.js";
import { readBytes } from "./files.js";
import { cutHeader, parseSafetensorsHeader } from "./safetensors-header.js";
import { metadataKey, type SafetensorsFile, type SafetensorsTensor, safetensorsArrays } from "./safetensors-types.js";
import { elementCount, fromBytes, isLengths, oddBool, toLittleEndian } from "./typed-bytes.js";

/**
 * Encodes tensors and metadata. Keys are sorted by code unit, and the header is padded with blanks
 * to a multiple of 8 bytes. The data stand by falling element size and then by name, which aligns
 * each tensor to its elements.
 * @throws ArgumentError if a shape and its data do not fit, or if a typed array is not the one of
 * its dtype.
 */
export function encodeSafetensors(
  tensors: Readonly<Record<string, SafetensorsTensor>>,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  checkHas("tensors", tensors, "an object of tensors by their names");
  const names = Object.keys(tensors).sort(byCodeUnit);
  for (const name of names) check(name, tensors[name]!);
  const width = (name: string): number => tensors[name]!.data.BYTES_PER_ELEMENT;
  const order = [...names].sort((a, b) => width(b) - width(a) || byCodeUnit(a, b));
  const offsets = new Map<string, number>();
  let length = 0;
  for (const name of order) {
    offsets.set(name, length);
    length += tensors[name]!.data.byteLength;
  }
  const items = names.map((name) => {
    const { dtype, shape, data } = tensors[name]!;
    const begin = offsets.get(name)!;
    return `${JSON.stringify(name)}:${JSON.stringify({ dtype, shape, data_offsets: [begin, begin + data.byteLength] })}`;
  });
  const notes = Object.keys(metadata).sort(byCodeUnit);
  for (const key of notes) {
    if (typeof metadata[key] !== "string") throw new ArgumentError(`metadata "${key}"`, metadata[key], "text");
  }
  if (notes.length > 0) {
    const texts = notes.map((key) => `${JSON.stringify(key)}:${JSON.stringify(metadata[key])}`);
    items.unshift(`${JSON.stringify(metadataKey)}:{${texts.join(",")}}`);
  }
  const header = new TextEncoder().encode(`{${items.join(",")}}`);
  const dataOffset = 8 + Math.ceil(header.length / 8) * 8;
  const bytes = new Uint8Array(dataOffset + length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(dataOffset - 8), true);
  bytes.set(header, 8);
  bytes.fill(0x20, 8 + header.length, dataOffset);
  for (const name of order) bytes.set(toLittleEndian(tensors[name]!.data), dataOffset + offsets.get(name)!);
  return bytes;
}

/**
 * Decodes a file; the tensors are copies.
 * @throws FormatError with a reason if it is truncated or goes on, if the header is no JSON
 * or says something twice, and if a tensor has an unknown dtype, a length that is not its
 * shape's, or bytes that overlap another's, leave a gap or are not there.
 */
export function decodeSafetensors(bytes: Uint8Array, { source = "safetensors data" }: SourceOptions = {}): SafetensorsFile {
  checkBytes(bytes, source);
  const fail = failing("safetensors", source);
  const { header, dataOffset } = cutHeader(bytes, source);
  const { entries, metadata } = parseSafetensorsHeader(header, bytes.length - dataOffset, source);
  const tensors: Record<string, SafetensorsTensor> = Object.create(null);
  for (const { name, dtype, shape, count, begin } of entries) {
    const data = fromBytes(safetensorsArrays[dtype], bytes, dataOffset + begin, count);
    const odd = dtype === "BOOL" ? oddBool(data as Uint8Array) : -1;
    if (odd >= 0) throw fail(`the tensor "${name}" has the BOOL ${data[odd]} at ${odd}; it takes 0 or 1`, { tensor: name });
    tensors[name] = { dtype, shape, data };
  }
  return { tensors, metadata };
}

/**
 * Reads a safetensors file. @throws FileError if it cannot be read; see {@link decodeSafetensors}.
 */
export async function readSafetensors(path: string): Promise<SafetensorsFile> {
  return decodeSafetensors(await readBytes(path), { source: path });
}

/** Writes {@link encodeSafetensors} to a file, whole or not at all. @throws FileError. */
export async function writeSafetensors(
  path: string,
  tensors: Readonly<Record<string, SafetensorsTensor>>,
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  await writeFileAtomic(path, encodeSafetensors(tensors, metadata));
}

function check(name: string, { dtype, shape, data }: SafetensorsTensor): void {
  if (name === metadataKey) throw ArgumentError.because(`a tensor cannot be named "${metadataKey}": that entry holds the metadata`);
  if (!Object.hasOwn(safetensorsArrays, dtype)) {
    throw ArgumentError.because(
      `tensor "${name}" has the dtype ${JSON.stringify(dtype)}; it takes ${Object.keys(safetensorsArrays).join(", ")}`,
    );
  }
  const Type = safetensorsArrays[dtype];
  if (!(data instanceof Type))
    throw ArgumentError.because(`tensor "${name}" holds a ${data.constructor.name}; ${dtype} takes a ${Type.name}`);
  if (!isLengths(shape) || elementCount(shape) !== data.length) {
    throw ArgumentError.shape(
      `tensor "${name}" has the shape [${shape.join(", ")}] and ${data.length} values; the lengths multiply to that number`,
    );
  }
  const odd = dtype === "BOOL" ? oddBool(data as Uint8Array) : -1;
  if (odd >= 0) throw ArgumentError.because(`tensor "${name}" has the BOOL ${data[odd]} at ${odd}; it takes 0 or 1`);
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
