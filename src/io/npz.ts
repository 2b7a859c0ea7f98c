// NumPy's .npz: named .npy arrays in one zip file, packed or not.

import { nearNames } from "../core/near-names.js";
import { describe } from "../numerics/index.js";
import { writeFileAtomic } from "./atomic.js";
import { checkBytes, FormatError, type SourceOptions } from "./errors.js";
import { readBytes } from "./files.js";
import { decodeNpy, encodeNpy, type NpyArray, type NpySource } from "./npy.js";
import { listZip, packZip, unpack, type ZipMember } from "./zip.js";

/** Which arrays of the archive are read. */
export interface NpzOptions {
  /** The arrays to read; default all. One that is not there is an error. */
  readonly names?: readonly string[] | undefined;
}

/** Whether the archive is compressed. */
export interface NpzWriteOptions {
  /** Whether the arrays are deflated, as by `numpy.savez_compressed`; default true. */
  readonly compress?: boolean | undefined;
}

/** Reads a .npz file: its arrays by name. @throws FileError where it cannot be read. */
export async function readNpz(path: string, options: NpzOptions = {}): Promise<Record<string, NpyArray>> {
  return decodeNpz(await readBytes(path), { ...options, source: path });
}

/**
 * Decodes a .npz file: its arrays by name, without the ".npy" that their members carry.
 * @throws FormatError where the zip or an array in it is truncated or corrupted.
 */
export async function decodeNpz(bytes: Uint8Array, options: NpzOptions & SourceOptions = {}): Promise<Record<string, NpyArray>> {
  const source = options.source ?? "NPZ data";
  checkBytes(bytes, source);
  const members = new Map<string, ZipMember>();
  for (const member of listZip(bytes, source)) {
    const name = member.name.replace(/\.npy$/, "");
    if (members.has(name)) throw new FormatError("NPZ", source, `it holds two arrays named "${name}"`);
    members.set(name, member);
  }
  for (const name of options.names ?? []) {
    if (members.has(name)) continue;
    const near = nearNames(name, [...members.keys()]);
    const there = near.length > 0 ? `did you mean ${near.join(", ")}?` : `it holds ${[...members.keys()].slice(0, 20).join(", ")}`;
    throw new FormatError("NPZ", source, `there is no array "${name}" in it; ${there}`);
  }
  const arrays: Record<string, NpyArray> = Object.create(null);
  for (const name of options.names ?? members.keys()) {
    arrays[name] = decodeNpy(await unpack(members.get(name)!, source), { source: `${source} (${name}.npy)` });
  }
  return arrays;
}

/** Encodes named arrays as .npz. The same arrays give the same bytes. @throws RangeError beyond 4 GiB. */
export async function encodeNpz(
  arrays: Readonly<Record<string, NpySource>>,
  { compress = true }: NpzWriteOptions = {},
): Promise<Uint8Array> {
  if (typeof arrays !== "object" || arrays === null || Array.isArray(arrays))
    throw new TypeError(`arrays is ${describe(arrays)}; it takes an object of arrays by name`);
  const members: Record<string, Uint8Array> = Object.create(null);
  let total = 0;
  for (const [name, array] of Object.entries(arrays)) {
    const bytes = encodeNpy(array);
    members[`${name}.npy`] = bytes;
    total += bytes.length;
  }
  if (total >= 0xffffffff) throw new RangeError(`the arrays take ${total} bytes; one .npz takes up to 4 GiB: write several files`);
  return packZip(members, compress ? 6 : 0);
}

/** Writes {@link encodeNpz} to a file, whole or not at all. @throws FileError. */
export async function writeNpz(path: string, arrays: Readonly<Record<string, NpySource>>, options: NpzWriteOptions = {}): Promise<void> {
  await writeFileAtomic(path, await encodeNpz(arrays, options));
}
