// NumPy's .npz: named .npy arrays in one zip file, packed or not.

import { isObject } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { nearNames } from "@spillway/core/near-names.js";
import { checked, flag, type InputOf, list, option, optional, resolve, type TableOf, text } from "@spillway/core/options.js";
import { quoted } from "@spillway/core/text.js";
import { writeFileAtomic } from "./atomic.js";
import { checkBytes, failing, type SourceOptions } from "./errors.js";
import { readBytes } from "./files.js";
import { decodeNpy, encodeNpy, type NpyArray, type NpySource } from "./npy.js";
import { sourceTable } from "./options.js";
import { listZip, packZip, unpack, type ZipMember } from "./zip.js";

/** What a file may unpack to if nothing is said: it may be a thousand times its size. */
const unpackedLimit = (fileBytes: number) => Math.max(2 ** 26, 100 * fileBytes);
const limitSaid = "left out, 64 MiB, or 100 times the bytes of the file if that is more.";

const bytesKind = checked<number>("a number of bytes of at least 0", (value) => typeof value === "number" && value >= 0);

export const npzTable = {
  /** The arrays to read; default all. One that is not there is an error. */
  names: optional(list(text(), "a list of names"), "The arrays to read; left out, all."),
  /**
   * The most bytes that one deflated array may unpack to; default 64 MiB, or 100 times the bytes of
   * the file if that is more. Arrays that are stored as they are have no limit.
   */
  maxEntryBytes: optional(bytesKind, `The most bytes that one deflated array may unpack to; ${limitSaid}`),
  /** The same of all deflated arrays that are read together; the default is the same. */
  maxTotalBytes: optional(bytesKind, `The most bytes that all deflated arrays that are read may unpack to together; ${limitSaid}`),
};

/** Which arrays of the archive are read. */
export interface NpzOptions extends InputOf<typeof npzTable> {}

const npzBytesTable = { ...npzTable, ...sourceTable } satisfies TableOf<NpzOptions & SourceOptions>;

export const npzWriteTable = {
  /** Whether the arrays are deflated, as by `numpy.savez_compressed`; default true. */
  compress: option(flag, true, "Whether the arrays are deflated."),
};

/** Whether the archive is compressed. */
export interface NpzWriteOptions extends InputOf<typeof npzWriteTable> {}

/** Reads a .npz file: its arrays by name. @throws FileError if it cannot be read. */
export async function readNpz(path: string, options: NpzOptions = {}): Promise<Record<string, NpyArray>> {
  resolve(npzTable, options);
  return decodeNpz(await readBytes(path), { ...options, source: path });
}

/**
 * Decodes a .npz file: its arrays by name, without the ".npy" that their members carry. Other
 * members are skipped.
 * @throws FormatError if the zip or an array in it is truncated or corrupted.
 */
export async function decodeNpz(bytes: Uint8Array, options: NpzOptions & SourceOptions = {}): Promise<Record<string, NpyArray>> {
  const { source = "NPZ data", names, ...limits } = resolve(npzBytesTable, options);
  checkBytes(bytes, source);
  const fail = failing("NPZ", source);
  const { maxEntryBytes = unpackedLimit(bytes.length), maxTotalBytes = unpackedLimit(bytes.length) } = limits;
  const members = new Map<string, ZipMember>();
  const listed = listZip(bytes, source);
  // A zipped folder has members for folders, and other files beside the arrays.
  const files = listed.filter(({ name }) => !name.endsWith("/"));
  const arrayFiles = files.filter(({ name }) => name.endsWith(".npy"));
  if (arrayFiles.length === 0 && files.length > 0) {
    const there = files.slice(0, 5).map(({ name }) => quoted(name));
    throw fail(`it holds no array: none of its members ends in .npy (${there.join(", ")})`);
  }
  for (const member of arrayFiles) {
    const name = member.name.replace(/\.npy$/, "");
    if (members.has(name)) throw fail(`it holds two arrays named "${name}"`);
    members.set(name, member);
  }
  for (const name of names ?? []) {
    if (members.has(name)) continue;
    const near = nearNames(name, [...members.keys()]);
    const there = near.length > 0 ? `did you mean ${near.join(", ")}?` : `it holds ${[...members.keys()].slice(0, 20).join(", ")}`;
    throw fail(`there is no array "${name}" in it; ${there}`);
  }
  const wanted = [...new Set(names ?? members.keys())];
  const packed = wanted.map((name) => members.get(name)!).filter(({ method }) => method !== 0);
  // A small file may unpack to a thousand times its size: what its directory says is looked at first.
  for (const { name, size } of packed)
    if (size > maxEntryBytes)
      throw fail(`${quoted(name)} unpacks to ${size} bytes; maxEntryBytes is ${maxEntryBytes}: raise it if the file is yours`);
  const total = packed.reduce((sum, { size }) => sum + size, 0);
  if (total > maxTotalBytes)
    throw fail(`its arrays unpack to ${total} bytes; maxTotalBytes is ${maxTotalBytes}: read fewer by names, or raise it`);
  const arrays: Record<string, NpyArray> = Object.create(null);
  for (const name of wanted) {
    arrays[name] = decodeNpy(await unpack(members.get(name)!, source), { source: `${source} (${name}.npy)` });
  }
  return arrays;
}

/**
 * Encodes named arrays as .npz. The same arrays give the same bytes. @throws ArgumentError beyond 4
 * GiB.
 */
export async function encodeNpz(arrays: Readonly<Record<string, NpySource>>, options: NpzWriteOptions = {}): Promise<Uint8Array> {
  const { compress } = resolve(npzWriteTable, options);
  if (!isObject(arrays)) throw new ArgumentError("arrays", arrays, "an object of arrays by name");
  const members: Record<string, Uint8Array> = Object.create(null);
  let total = 0;
  for (const [name, array] of Object.entries(arrays)) {
    const bytes = encodeNpy(array);
    members[`${name}.npy`] = bytes;
    total += bytes.length;
  }
  if (total >= 0xffffffff) throw ArgumentError.because(`the arrays take ${total} bytes; one .npz takes up to 4 GiB: write several files`);
  return packZip(members, compress ? 6 : 0);
}

/** Writes {@link encodeNpz} to a file, whole or not at all. @throws FileError. */
export async function writeNpz(path: string, arrays: Readonly<Record<string, NpySource>>, options: NpzWriteOptions = {}): Promise<void> {
  await writeFileAtomic(path, await encodeNpz(arrays, options));
}
