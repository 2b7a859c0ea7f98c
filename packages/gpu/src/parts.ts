// Device memory and the host arrays that take its parts: which go in one copy, and which blocks of
// page-locked memory the others come through.
import { ArgumentError } from "@spillway/core/errors.js";
import { type HostArray, holds } from "./dtypes.js";
import type { DeviceSlice } from "./slice.js";

/** Elements of device memory from number `start` on, as many as the array has, and that array. */
export interface HostPart {
  readonly start: number;
  readonly array: HostArray;
}

/** Parts at equal distances on both sides: one copy of `rows` rows of `width` bytes. */
export interface PartRows {
  readonly start: number;
  readonly first: HostArray;
  readonly width: number;
  rows: number;
  devicePitch: number;
  hostPitch: number;
}

/** A stretch of device memory that goes through one block, and what of it goes where. */
export interface PartBlock {
  /** In bytes, of the device memory. */
  readonly from: number;
  to: number;
  readonly pieces: { readonly at: number; readonly bytes: Uint8Array }[];
}

/**
 * @throws ArgumentError if a part is of another type, or does not lie behind the one before it and
 * within the memory.
 */
export function checkParts({ dtype, length }: DeviceSlice, parts: readonly HostPart[]): void {
  let end = 0;
  for (const [k, { start, array }] of parts.entries()) {
    if (!holds(dtype, array))
      throw ArgumentError.because(`parts[${k}] is ${array.constructor.name}; memory of ${dtype} takes arrays of that type`, {
        field: `parts[${k}].array`,
        expected: `an array of ${dtype}`,
      });
    if (!Number.isSafeInteger(start) || start < end || start + array.length > length)
      throw ArgumentError.shape(
        `parts[${k}] begins at ${start} and has ${array.length} elements; it lies behind the part before, from ${end} on, and within ${length} elements`,
        { field: `parts[${k}].start`, value: start, expected: `from ${end} to ${length - array.length}` },
      );
    end = start + array.length;
  }
}

/**
 * CU_DEVICE_ATTRIBUTE_MAX_PITCH of every device: a copy of several rows takes no larger distance.
 */
const mostPitch = 2 ** 31 - 1;

/** Parts in few copies: neighbours of equal length at equal distances in one. */
export function rowsOf(parts: readonly HostPart[]): PartRows[] {
  const all: PartRows[] = [];
  for (const { start, array } of parts) {
    const { byteLength: width, BYTES_PER_ELEMENT: element, buffer, byteOffset } = array;
    if (width === 0) continue;
    const last = all.at(-1);
    if (last?.width === width && last.first.buffer === buffer) {
      const there = start * element - last.start - (last.rows - 1) * last.devicePitch;
      const here = byteOffset - last.first.byteOffset - (last.rows - 1) * last.hostPitch;
      const follows = last.rows === 1 ? there >= width && here >= width : there === last.devicePitch && here === last.hostPitch;
      if (follows && Math.max(there, here) <= mostPitch) {
        last.rows++;
        last.devicePitch = there;
        last.hostPitch = here;
        continue;
      }
    }
    all.push({ start: start * element, first: array, width, rows: 1, devicePitch: width, hostPitch: width });
  }
  return all;
}

/**
 * Parts in blocks of up to so many bytes, with up to `between` bytes that lie between two parts.
 */
export function blocksOf(parts: readonly HostPart[], blockBytes: number, between: number): PartBlock[] {
  const blocks: PartBlock[] = [];
  for (const { start, array } of parts) {
    const first = start * array.BYTES_PER_ELEMENT;
    for (let done = 0; done < array.byteLength; ) {
      const at = first + done;
      let block = blocks.at(-1);
      if (!block || at - block.to > between || at - block.from >= blockBytes) {
        block = { from: at, to: at, pieces: [] };
        blocks.push(block);
      }
      const bytes = Math.min(array.byteLength - done, block.from + blockBytes - at);
      block.pieces.push({ at: at - block.from, bytes: new Uint8Array(array.buffer, array.byteOffset + done, bytes) });
      block.to = at + bytes;
      done += bytes;
    }
  }
  return blocks;
}

/** What parts take in all. */
export const bytesOfParts = (parts: readonly HostPart[]): number => parts.reduce((sum, { array }) => sum + array.byteLength, 0);
