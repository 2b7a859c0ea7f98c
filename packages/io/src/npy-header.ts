// The header of a NumPy .npy file (NEP 1): a magic word, a version, and a Python dictionary of
// three entries. No data is read here.

import { ArgumentError } from "@spillway/core/errors.js";
import { quoted } from "@spillway/core/text.js";
import { FormatError } from "./errors.js";

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
  const fail = (reason: string, cause?: unknown): FormatError => new FormatError("NPY", source, reason, {}, cause);
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
    throw fail("its header is not text", error);
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

/** One word of a Python literal: a text, a whole number, or a mark that stands for itself. */
interface Token {
  readonly kind: "text" | "number" | "mark";
  readonly value: string;
}

const tokenPattern = /\s*(?:'([^'\\]*)'|"([^"\\]*)"|(\d+)L?|(True|False|[{}()[\]:,]))/y;

/**
 * Reads the one form of Python literal that a header has: texts, True, False, and a tuple of whole
 * numbers.
 */
function parseDictionary(text: string, fail: (reason: string) => FormatError): Omit<NpyHeader, "dataOffset"> {
  const strange = (): FormatError => fail(`its header is not the dictionary that NumPy writes: ${quoted(text.trim())}`);
  const end = text.trimEnd().length;
  let position = 0;
  const next = (): Token => {
    tokenPattern.lastIndex = position;
    const match = tokenPattern.exec(text);
    if (!match) throw strange();
    position = tokenPattern.lastIndex;
    const [, single, double, digits, mark] = match;
    const string = single ?? double;
    if (string !== undefined) return { kind: "text", value: string };
    return digits !== undefined ? { kind: "number", value: digits } : { kind: "mark", value: mark! };
  };
  /** Reads items, with commas between them, up to a closing mark. */
  const list = (closing: string, item: (first: Token) => void): void => {
    for (let token = next(); !isMark(token, closing); ) {
      item(token);
      token = next();
      if (isMark(token, ",")) token = next();
      else if (!isMark(token, closing)) throw strange();
    }
  };
  const tuple = (): number[] => {
    const lengths: number[] = [];
    list(")", (token) => {
      const length = Number(token.value);
      if (token.kind !== "number" || !Number.isSafeInteger(length) || lengths.length === 64) throw strange();
      lengths.push(length);
    });
    return lengths;
  };
  const entries = new Map<string, string | boolean | number[]>();
  if (!isMark(next(), "{")) throw strange();
  list("}", (key) => {
    if (key.kind !== "text" || entries.has(key.value) || !isMark(next(), ":")) throw strange();
    const token = next();
    if (token.kind === "text") entries.set(key.value, token.value);
    else if (isMark(token, "True") || isMark(token, "False")) entries.set(key.value, token.value === "True");
    else if (isMark(token, "(")) entries.set(key.value, tuple());
    else if (isMark(token, "[")) throw fail("it holds a structured array (records with named fields); plain numbers are read");
    else throw strange();
  });
  const descr = entries.get("descr");
  const fortranOrder = entries.get("fortran_order");
  const shape = entries.get("shape");
  const whole = entries.size === 3 && position === end;
  if (!whole || typeof descr !== "string" || typeof fortranOrder !== "boolean" || !Array.isArray(shape)) throw strange();
  return { descr, fortranOrder, shape };
}

function isMark(token: Token, mark: string): boolean {
  return token.kind === "mark" && token.value === mark;
}
