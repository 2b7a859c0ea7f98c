// Structures of Thrift's compact protocol, in which Parquet writes footers and headers of pages:
// read within bounds that the bytes themselves set, and the two headers that are written again.
// Source: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md

import { SpillwayError } from "@spillway/core/errors.js";

/** A value of a field. Texts and bytes are views of the memory that was read. */
export type ThriftValue = number | bigint | boolean | Uint8Array | readonly ThriftValue[] | ThriftStruct;

/** The fields of a structure by their numbers. */
export interface ThriftStruct extends ReadonlyMap<number, ThriftValue> {}

/** The bytes are no such structure. */
export class ThriftError extends SpillwayError {
  constructor(reason: string) {
    super("format", reason);
  }
}

/** Structures and lists within one another; Parquet needs seven. */
const mostDepth = 16;

/**
 * The structure that begins at `start`, and where it ends. A list has no more members than bytes
 * follow it, so memory is bounded by the length. @throws ThriftError
 */
export function readThrift(bytes: Uint8Array, start: number): { readonly fields: ThriftStruct; readonly end: number } {
  const reader = new Reader(bytes, start);
  return { fields: reader.struct(0), end: reader.at };
}

class Reader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  struct(depth: number): ThriftStruct {
    if (depth > mostDepth) throw new ThriftError("structures lie too deep in one another");
    const fields = new Map<number, ThriftValue>();
    let id = 0;
    for (;;) {
      const head = this.#byte();
      const type = head & 15;
      if (type === 0) return fields;
      id = head >> 4 ? id + (head >> 4) : Number(this.#signed());
      fields.set(id, type <= 2 ? type === 1 : this.#value(type, depth));
    }
  }

  #value(type: number, depth: number): ThriftValue {
    switch (type) {
      case 1:
      case 2:
        return this.#byte() === 1;
      case 3:
        return (this.#byte() << 24) >> 24;
      case 4:
      case 5:
        return Number(this.#signed());
      case 6:
        return this.#signed();
      case 7:
        return new DataView(this.#take(8).slice().buffer).getFloat64(0, true);
      case 8:
        return this.#take(Number(this.#unsigned()));
      case 9:
        return this.#list(depth + 1);
      case 12:
        return this.struct(depth + 1);
      default:
        throw new ThriftError(`there is no type ${type} in it`);
    }
  }

  #list(depth: number): readonly ThriftValue[] {
    if (depth > mostDepth) throw new ThriftError("lists lie too deep in one another");
    const head = this.#byte();
    const length = head >> 4 === 15 ? Number(this.#unsigned()) : head >> 4;
    // Each member takes a byte or more.
    if (length > this.#bytes.length - this.at) throw new ThriftError(`a list says that it has ${length} members, more than bytes follow`);
    const values: ThriftValue[] = [];
    for (let i = 0; i < length; i++) values.push(this.#value(head & 15, depth));
    return values;
  }

  #take(length: number): Uint8Array {
    if (length > this.#bytes.length - this.at) throw new ThriftError("it ends early");
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }

  #byte(): number {
    if (this.at >= this.#bytes.length) throw new ThriftError("it ends early");
    return this.#bytes[this.at++]!;
  }

  #unsigned(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw new ThriftError("a number takes more than ten bytes");
  }

  #signed(): bigint {
    const value = this.#unsigned();
    return (value >> 1n) ^ -(value & 1n);
  }
}

/** The header of a page of values or, with `dictionary`, of a dictionary, uncompressed. */
export function pageHeader(length: number, values: number, encoding: number, dictionary: boolean): Uint8Array {
  const bytes: number[] = [];
  const number = (value: number): void => {
    bytes.push(0x15);
    let rest = value * 2;
    for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
    bytes.push(rest);
  };
  number(dictionary ? 2 : 0);
  number(length);
  number(length);
  bytes.push(dictionary ? 0x4c : 0x2c);
  number(values);
  number(encoding);
  // Levels, which there are none of, are run-length encoded.
  if (!dictionary) [3, 3].forEach(number);
  bytes.push(0, 0);
  return Uint8Array.from(bytes);
}
