// The JSON header of a safetensors file, checked entry by entry against the length of the data. It
// is parsed as data, never run.

import { isObject } from "@spillway/core/checks.js";
import { quoted } from "@spillway/core/text.js";
import { FormatError, failing } from "./errors.js";
import { metadataKey, type SafetensorsType, safetensorsArrays } from "./safetensors-types.js";
import { elementCount, isLengths } from "./typed-bytes.js";

export interface TensorEntry {
  readonly name: string;
  readonly dtype: SafetensorsType;
  readonly shape: readonly number[];
  readonly count: number;
  /** From the start of the data. */
  readonly begin: number;
  readonly end: number;
}

export interface SafetensorsHeader {
  /** In the order of the data, which they fill without a gap. */
  readonly entries: readonly TensorEntry[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** The bound of the reference implementation. */
const longestHeader = 100_000_000;

/** The header's bytes, cut out of a file, and where the data begins. @throws FormatError. */
export function cutHeader(bytes: Uint8Array, source: string): { header: Uint8Array; dataOffset: number } {
  const fail = failing("safetensors", source);
  if (bytes.length < 8)
    throw fail(`it is truncated: it holds ${bytes.length} bytes and begins with the length of its header, which takes 8`);
  const length = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
  if (length > BigInt(longestHeader))
    throw fail(`its header is said to take ${length} bytes; it takes up to ${longestHeader}: this is no safetensors file`);
  const dataOffset = 8 + Number(length);
  if (dataOffset > bytes.length) throw fail(`it is truncated: its header takes ${dataOffset} bytes and the file holds ${bytes.length}`);
  return { header: bytes.subarray(8, dataOffset), dataOffset };
}

/** @throws FormatError naming the tensor and what is wrong with its entry. */
export function parseSafetensorsHeader(header: Uint8Array, dataLength: number, source: string): SafetensorsHeader {
  const fail = (reason: string, tensor?: string, cause?: unknown): FormatError =>
    new FormatError("safetensors", source, reason, tensor === undefined ? {} : { tensor }, cause);
  let text: string;
  let json: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(header);
    json = JSON.parse(text);
  } catch (error) {
    throw fail("its header is not JSON", undefined, error);
  }
  if (!isObject(json)) throw fail("its header is no JSON object");
  const twice = repeatedKey(text);
  if (twice !== undefined) throw fail(`its header names ${quoted(twice)} twice`);
  const metadata: Record<string, string> = Object.create(null);
  const entries: TensorEntry[] = [];
  for (const [name, value] of Object.entries(json)) {
    if (name === metadataKey) {
      if (!isObject(value)) throw fail(`its ${metadataKey} is no JSON object`);
      for (const [key, item] of Object.entries(value)) {
        if (typeof item !== "string") throw fail(`its metadata ${quoted(key)} is ${shown(item)}; it takes text`);
        metadata[key] = item;
      }
    } else entries.push(parseEntry(name, value, dataLength, (reason) => fail(`the tensor ${quoted(name)} ${reason}`, name)));
  }
  entries.sort((a, b) => a.begin - b.begin || a.end - b.end);
  let filled = 0;
  for (const { name, begin, end } of entries) {
    if (begin < filled)
      throw fail(`the tensor ${quoted(name)} begins at byte ${begin} and overlaps the one before it, which ends at ${filled}`, name);
    if (begin > filled) throw fail(`bytes ${filled} to ${begin}, before the tensor ${quoted(name)}, belong to no tensor`, name);
    filled = end;
  }
  if (filled !== dataLength) throw fail(`its tensors take ${filled} bytes and it holds ${dataLength} of data`);
  return { entries, metadata };
}

function parseEntry(name: string, value: unknown, dataLength: number, fail: (reason: string) => FormatError): TensorEntry {
  if (!isObject(value)) throw fail("is no JSON object");
  const unknown = Object.keys(value).find((key) => key !== "dtype" && key !== "shape" && key !== "data_offsets");
  if (unknown !== undefined) throw fail(`has a field ${quoted(unknown)}; it takes dtype, shape and data_offsets`);
  const { dtype, shape, data_offsets: offsets } = value;
  if (typeof dtype !== "string" || !Object.hasOwn(safetensorsArrays, dtype)) {
    throw fail(`has the dtype ${shown(dtype)}; ${Object.keys(safetensorsArrays).join(", ")} are read`);
  }
  if (!isLengths(shape)) throw fail(`has the shape ${shown(shape)}; it takes whole numbers of at least 0`);
  if (!isLengths(offsets) || offsets.length !== 2) {
    throw fail(`has the data_offsets ${shown(offsets)}; it takes two whole numbers, begin and end`);
  }
  const [begin, end] = offsets as [number, number];
  if (end < begin) throw fail(`ends at byte ${end}, before it begins (${begin})`);
  if (end > dataLength) throw fail(`ends at byte ${end} and the data at ${dataLength}: the file is truncated, or corrupted`);
  const type = dtype as SafetensorsType;
  const count = elementCount(shape);
  const size = count === undefined ? undefined : count * safetensorsArrays[type].BYTES_PER_ELEMENT;
  if (count === undefined || size !== end - begin) {
    throw fail(
      `has the shape [${shape.join(", ")}] of ${type}, which takes ${size ?? "more than 2^53"} bytes, and is given ${end - begin}`,
    );
  }
  return { name, dtype: type, shape, count, begin, end };
}

/** A value of the header for a message; it may be nested deeper than JSON.stringify goes. */
function shown(value: unknown): string {
  if (value === undefined) return "missing";
  try {
    const text = JSON.stringify(value);
    return text.length > 60 ? `${text.slice(0, 60)}...` : text;
  } catch {
    return "a value of many levels";
  }
}

/**
 * The first key that stands twice in one object of a valid JSON text: JSON.parse would keep the
 * last and say nothing. By hand, because a regular expression runs out of stack on the long texts
 * that metadata may hold.
 */
function repeatedKey(text: string): string | undefined {
  const objects: (Set<string> | undefined)[] = [];
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === "{") objects.push(new Set());
    else if (character === "[") objects.push(undefined);
    else if (character === "}" || character === "]") objects.pop();
    if (character !== '"') continue;
    const start = i++;
    while (i < text.length && text[i] !== '"') i += text[i] === "\\" ? 2 : 1;
    const end = i + 1;
    while (blank(text[i + 1])) i++;
    if (text[i + 1] !== ":") continue;
    const key: string = JSON.parse(text.slice(start, end));
    const keys = objects.at(-1);
    if (keys?.has(key)) return key;
    keys?.add(key);
  }
  return undefined;
}

function blank(character: string | undefined): boolean {
  return character === " " || character === "\n" || character === "\t" || character === "\r";
}
