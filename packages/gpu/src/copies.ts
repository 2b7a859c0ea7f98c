// Copies with rows and pitches, as CUDA_MEMCPY2D (cuda.h), 128 bytes: for each side x in bytes, y,
// memory type, host address, device address, array and pitch, then the width in bytes and the
// height.
import { ArgumentError } from "@spillway/core/errors.js";
import { given, type InputOf, optional, whole } from "@spillway/core/options.js";
import type { Driver } from "./driver.js";

const memoryType = { host: 1, device: 2 } as const;

/** One side of a 2-D copy: where its first row begins, and the bytes from one row to the next. */
export interface CopySide {
  readonly host: boolean;
  readonly address: bigint;
  readonly pitchBytes: number;
}

/** A CUDA_MEMCPY2D. */
export function describeCopy2D(source: CopySide, destination: CopySide, widthBytes: number, rows: number): BigUint64Array {
  const words = new BigUint64Array(16);
  const types = new Uint32Array(words.buffer);
  for (const [side, at] of [
    [source, 0],
    [destination, 7],
  ] as const) {
    types[(at + 2) * 2] = side.host ? memoryType.host : memoryType.device;
    words[at + (side.host ? 3 : 4)] = side.address;
    words[at + 6] = BigInt(side.pitchBytes);
  }
  words[14] = BigInt(widthBytes);
  words[15] = BigInt(rows);
  return words;
}

const elements = whole({ atLeast: 1 });
export const rectangleTable = {
  /** Elements of a row. */
  columns: given(elements, "Elements of a row."),
  rows: given(elements, "Rows."),
  /** Elements from one row's begin to the next in the source; default `columns`. */
  sourcePitch: optional(elements, "Elements from one row's begin to the next in the source; left out, columns."),
  /** Elements from one row's begin to the next in the destination; default `columns`. */
  destinationPitch: optional(elements, "The same in the destination."),
};

/** A rectangle of elements in memory: each row begins `pitch` elements after the one before. */
export interface Rectangle extends InputOf<typeof rectangleTable> {}

/** @throws ArgumentError if a rectangle does not lie within memory of `length` elements. */
export function checkRectangle(side: string, columns: number, rows: number, pitch: number, length: number): void {
  if (pitch < columns)
    throw ArgumentError.shape(`the ${side}'s pitch is a whole number of elements, at least the ${columns} columns; got ${pitch}`, {
      field: `${side}Pitch`,
      value: pitch,
      expected: `at least ${columns}`,
    });
  const needed = (rows - 1) * pitch + columns;
  if (needed > length)
    throw ArgumentError.shape(`the ${side} has ${length} elements; ${rows} rows of ${columns} at pitch ${pitch} need ${needed}`, {
      field: side,
      expected: `at least ${needed} elements`,
    });
}

/** A side of a copy that is host memory. */
export function hostSide(driver: Driver, view: ArrayBufferView, pitchBytes: number): CopySide {
  return { host: true, address: driver.addressOf(view), pitchBytes };
}
