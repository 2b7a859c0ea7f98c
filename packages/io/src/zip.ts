// The zip container as .npz uses it: members stored or deflated, in one file. No encryption, no
// volumes, nothing is unpacked to disk.

import { quoted } from "@spillway/core/text.js";
import { crc32 } from "./crc32.js";
import { FormatError, failing } from "./errors.js";

export interface ZipMember {
  readonly name: string;
  /** 0 stored, 8 deflated. */
  readonly method: number;
  readonly packed: Uint8Array;
  /** Bytes when unpacked, as the directory says. */
  readonly size: number;
  readonly crc: number;
}

const endSignature = 0x06054b50;
const end64LocatorSignature = 0x07064b50;
const end64Signature = 0x06064b50;
const memberSignature = 0x02014b50;
const localSignature = 0x04034b50;

/** Deflate cannot pack tighter than this: a larger promise is a broken directory or a trap. */
const deflateLimit = 1032;

/**
 * Lists a zip's members without unpacking any. @throws FormatError if directory and file do not
 * agree.
 */
export function listZip(bytes: Uint8Array, source: string): ZipMember[] {
  const fail = failing("NPZ", source);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { count, start, end } = findDirectory(bytes, view, fail);
  const members: ZipMember[] = [];
  const spans: { from: number; to: number; name: string }[] = [];
  let position = start;
  for (let k = 0; k < count; k++) {
    if (position + 46 > end || view.getUint32(position, true) !== memberSignature) {
      throw fail(`its directory is broken at member ${k + 1} of ${count}`);
    }
    const flags = view.getUint16(position + 8, true);
    const method = view.getUint16(position + 10, true);
    const crc = view.getUint32(position + 16, true);
    const nameLength = view.getUint16(position + 28, true);
    const extraLength = view.getUint16(position + 30, true);
    const commentLength = view.getUint16(position + 32, true);
    const extraStart = position + 46 + nameLength;
    const following = extraStart + extraLength + commentLength;
    if (following > end) throw fail(`its directory is broken at member ${k + 1} of ${count}`);
    const name = new TextDecoder().decode(bytes.subarray(position + 46, extraStart));
    const sizes = memberSizes(view, position, extraStart, extraStart + extraLength);
    if (!sizes) throw fail(`its directory gives no sizes for ${quoted(name)}`);
    if ((flags & 1) !== 0) throw fail(`${quoted(name)} is encrypted; members are read plain`);
    if (method !== 0 && method !== 8) throw fail(`${quoted(name)} is packed by method ${method}; 0 (stored) and 8 (deflate) are read`);
    const { size, packedSize, offset } = sizes;
    if (offset + 30 > start || view.getUint32(offset, true) !== localSignature)
      throw fail(`${quoted(name)} is not where the directory says`);
    const from = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
    if (from + packedSize > start) {
      throw fail(`${quoted(name)} is truncated: it takes bytes ${from} to ${from + packedSize} and the members end at ${start}`);
    }
    if (method === 0 ? size !== packedSize : size > packedSize * deflateLimit) {
      throw fail(`${quoted(name)} is said to hold ${size} bytes and cannot in ${packedSize} packed ones`);
    }
    spans.push({ from: offset, to: from + packedSize, name });
    members.push({ name, method, packed: bytes.subarray(from, from + packedSize), size, crc });
    position = following;
  }
  spans.sort((a, b) => a.from - b.from);
  spans.forEach((span, k) => {
    if (k > 0 && span.from < spans[k - 1]!.to) throw fail(`${quoted(span.name)} and ${quoted(spans[k - 1]!.name)} overlap`);
  });
  return members;
}

/** Packed bytes that are unpacked at once: at most 17 MiB come of them. */
const pieceBytes = 16_384;

/** Unpacks a deflated member; undefined if it has more bytes than the directory says. */
async function inflated({ packed, size }: ZipMember): Promise<Uint8Array | undefined> {
  const { Inflate } = await import("fflate");
  const out = new Uint8Array(size);
  let at = 0;
  const stream = new Inflate((piece) => {
    if (at + piece.length <= size) out.set(piece, at);
    at += piece.length;
  });
  for (let from = 0; from < packed.length; from += pieceBytes) {
    stream.push(packed.subarray(from, from + pieceBytes), from + pieceBytes >= packed.length);
    if (at > size) return undefined;
  }
  return out.subarray(0, at);
}

/** Unpacks one member and checks its length and checksum. @throws FormatError. */
export async function unpack(member: ZipMember, source: string): Promise<Uint8Array> {
  const fail = (reason: string, cause?: unknown): FormatError =>
    new FormatError("NPZ", source, `${quoted(member.name)} ${reason}`, {}, cause);
  let bytes: Uint8Array | undefined = member.packed;
  if (member.method === 8) {
    try {
      bytes = await inflated(member);
    } catch (error) {
      throw fail(`cannot be unpacked: ${error instanceof Error ? error.message : String(error)}`, error);
    }
  }
  if (bytes === undefined) throw fail(`cannot be unpacked: it unpacks to more than the ${member.size} bytes that the directory says`);
  if (bytes.length !== member.size) throw fail(`unpacks to ${bytes.length} bytes; the directory says ${member.size}`);
  if (crc32(bytes) !== member.crc) throw fail("is corrupted: its checksum is not the one in the directory");
  return bytes;
}

/** Packs members into a zip. The same members give the same bytes. */
export async function packZip(members: Readonly<Record<string, Uint8Array>>, level: 0 | 6): Promise<Uint8Array> {
  const { zipSync } = await import("fflate");
  // The first date a zip can hold, in local time, as zip dates are.
  return zipSync({ ...members }, { level, mtime: new Date(1980, 0, 1) });
}

function findDirectory(
  bytes: Uint8Array,
  view: DataView,
  fail: (reason: string) => FormatError,
): { count: number; start: number; end: number } {
  let at = bytes.length - 22;
  const first = Math.max(0, at - 0xffff);
  while (at >= first && !(view.getUint32(at, true) === endSignature && at + 22 + view.getUint16(at + 20, true) === bytes.length)) at--;
  if (at < first || at < 0) throw fail(`it has no zip directory at its end: it is truncated (${bytes.length} bytes), or no .npz file`);
  let count = view.getUint16(at + 10, true);
  let length = view.getUint32(at + 12, true);
  let start = view.getUint32(at + 16, true);
  let end = at;
  if (count === 0xffff || length === 0xffffffff || start === 0xffffffff) {
    const locator = at - 20;
    const at64 =
      locator >= 0 && view.getUint32(locator, true) === end64LocatorSignature ? Number(view.getBigUint64(locator + 8, true)) : -1;
    if (at64 < 0 || at64 + 56 > locator || view.getUint32(at64, true) !== end64Signature) throw fail("its zip64 directory is broken");
    count = Number(view.getBigUint64(at64 + 32, true));
    length = Number(view.getBigUint64(at64 + 40, true));
    start = Number(view.getBigUint64(at64 + 48, true));
    end = at64;
  }
  if (start + length > end) throw fail("its zip directory reaches beyond the end of the file");
  return { count, start, end: start + length };
}

/**
 * Sizes and offset of a member, from the zip64 extra field if the plain ones are full; undefined
 * if that is broken.
 */
function memberSizes(
  view: DataView,
  position: number,
  extraStart: number,
  extraEnd: number,
): { size: number; packedSize: number; offset: number } | undefined {
  const plain = {
    packedSize: view.getUint32(position + 20, true),
    size: view.getUint32(position + 24, true),
    offset: view.getUint32(position + 42, true),
  };
  // The order of the extra field: size, packed size, offset, each only if the plain one is full.
  const wide = (["size", "packedSize", "offset"] as const).filter((field) => plain[field] === 0xffffffff);
  if (wide.length === 0) return plain;
  for (let at = extraStart; at + 4 <= extraEnd; ) {
    const length = view.getUint16(at + 2, true);
    if (view.getUint16(at, true) === 1) {
      if (length < wide.length * 8 || at + 4 + length > extraEnd) return undefined;
      wide.forEach((field, k) => {
        plain[field] = Number(view.getBigUint64(at + 4 + k * 8, true));
      });
      return plain;
    }
    at += 4 + length;
  }
  return undefined;
}
