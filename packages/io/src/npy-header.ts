// The header of a NumPy .npy file (NEP 1): a magic word, a version, and a Python dictionary of
// three entries. No data is read here.

import { ArgumentError } from "@spillway/core/errors.js";
import { quoted } from "@spillway/core/text.js";
import { type FormatError, failing } from "./errors.js";

export interface NpyHeader {
  /** For example "<f8". */
  readonly descr: string;
  readonly fortranOrder: boolean;
  readonly shape: readonly number[];
  /** Where the data begins, in bytes. */
  readonly dataOffset: number;
}

const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];

/** @throws FormatError on anything that is not a whole header of version 1.0, 2.0 or 3.0. */
export function parseNpyHeader(bytes: Uint8Array, source: string): NpyHeader {
  const fail = failing("NPY", source);
  if (bytes.length < 10) throw fail(`it is truncated: it holds ${bytes.length} bytes and a header takes at least 10`);
  if (magic.some((byte, i) => bytes[i] !== byte)) throw fail("it does not begin with the NPY magic word; it is no .npy file");
  const major = bytes[6]!;
  const minor = bytes[7]!;
  if (major < 1 || major > 3 || minor !== 0) throw fail(`its format version is ${major}.${minor}; 1.0, 2.0 and 3.0 are read`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const prefix = major === 1 ? 10 : 12;
  if (bytes.length < prefix) throw fail(`it is truncated: it holds ${bytes.length} bytes and a header of this version takes at least 12`);
  const length = major === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  const dataOffset = prefix + length;
  if (dataOffset > bytes.length) {
    throw fail(`it is truncated: the header takes ${dataOffset} bytes and the file holds ${bytes.length}`);
  }
  let text: string;
  try {
    text = new TextDecoder(major === 3 ? "utf-8" : "windows-1252", { fatal: true }).decode(bytes.subarray(prefix, dataOffset));
  } catch (error) {
    throw fail("its header is not text", {}, error);
  }
  return { ...parseDictionary(text, fail), dataOffset };
}

/**
 * The header of version 1.0 for C-order data, padded with blanks: as in NumPy, the data begins at a
 * multiple of 64.
 */
export function formatNpyHeader(descr: string, shape: readonly number[], totalBytes?: number): Uint8Array {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${tuple}, }`;
  const least = Math.ceil((10 + text.length + 1) / 64) * 64;
  const total = totalBytes ?? least;
  if (total < least || total > 10 + 0xffff)
    throw ArgumentError.because(`an array of ${shape.length} dimensions does not fit a header of version 1.0`);
  const bytes = new Uint8Array(total).fill(0x20);
  bytes.set(magic);
  bytes.set([1, 0], 6);
  new DataView(bytes.buffer).setUint16(8, total - 10, true);
  bytes.set(new TextEncoder().encode(text), 10);
  bytes[total - 1] = 0x0a;
  return bytes;
}

/**
 * An entry of a Python dictionary with what ends it: a text as the key, and a text, True, False, or
 * a tuple of at most 64 whole numbers as the value. Of a list, only its beginning.
 */
const entryPattern =
  /\s*('[^'\\]*'|"[^"\\]*")\s*:\s*('[^'\\]*'|"[^"\\]*"|True|False|\((?:\s*\d+L?\s*(?:,|(?=\)))){0,64}\s*\)|\[)(?:\s*(?:,|$)|(?<=\[))/gy;

/** Reads the one form of Python literal that a header has. */
function parseDictionary(text: string, fail: (reason: string) => FormatError): Omit<NpyHeader, "dataOffset"> {
  const strange = (): FormatError => fail(`its header is not the dictionary that NumPy writes: ${quoted(text.trim())}`);
  const body = /^\s*\{(.*)\}\s*$/s.exec(text)?.[1];
  if (body === undefined) throw strange();
  const entries = new Map<string, string | boolean | number[]>();
  let length = 0;
  for (const [entry, key, value] of body.matchAll(entryPattern)) {
    const name = key!.slice(1, -1);
    if (entries.has(name)) throw strange();
    if (value === "[") throw fail("it holds a structured array (records with named fields); plain numbers are read");
    if (value === "True" || value === "False") entries.set(name, value === "True");
    else entries.set(name, value!.startsWith("(") ? (value!.match(/\d+/g) ?? []).map(Number) : value!.slice(1, -1));
    length += entry.length;
  }
  const descr = entries.get("descr");
  const fortranOrder = entries.get("fortran_order");
  const shape = entries.get("shape");
  const whole = entries.size === 3 && body.slice(length).trim() === "";
  if (!whole || typeof descr !== "string" || typeof fortranOrder !== "boolean" || !Array.isArray(shape)) throw strange();
  if (!shape.every(Number.isSafeInteger)) throw strange();
  return { descr, fortranOrder, shape };
}
