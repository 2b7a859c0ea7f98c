// The binary format of WebAssembly modules: numbers of any length, and sections.

/** What a section is known by. */
export const sectionIds = { custom: 0, types: 1, memory: 5, globals: 6, exports: 7, code: 10, data: 11 } as const;

/** A whole number in LEB128, of 32 bits without a sign. */
export function unsigned(value: number): number[] {
  const out: number[] = [];
  let rest = value >>> 0;
  do {
    const byte = rest & 127;
    rest >>>= 7;
    out.push(rest === 0 ? byte : byte | 128);
  } while (rest !== 0);
  return out;
}

/** A constant expression of 32 bits. */
export function constant(value: number): number[] {
  const out = [0x41];
  for (let rest = value | 0; ; rest >>= 7) {
    const isLast = (rest >> 6 === 0 || rest >> 6 === -1) && (rest >> 7 === 0 || rest >> 7 === -1);
    out.push(isLast ? rest & 127 : (rest & 127) | 128);
    if (isLast) return [...out, 0x0b];
  }
}

/** Reads numbers of a module in turn. */
export class Reader {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  /** A number in LEB128; with a sign if so asked. */
  number(isSigned = false): number {
    let out = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.at++]!;
      out |= (byte & 127) << shift;
      if (byte < 128) return isSigned && byte & 64 && shift < 25 ? out | (-1 << (shift + 7)) : isSigned ? out : out >>> 0;
    }
  }

  take(length: number): Uint8Array {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}

/** The sections of a module, in order. */
export function sectionsOf(bytes: Uint8Array): { readonly id: number; readonly content: Uint8Array }[] {
  const reader = new Reader(bytes, 8);
  const out = [];
  while (reader.at < bytes.length) {
    const id = reader.take(1)[0]!;
    out.push({ id, content: reader.take(reader.number()) });
  }
  return out;
}

export function joined(parts: readonly ArrayLike<number>[]): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

export const section = (id: number, content: Uint8Array): Uint8Array => joined([[id], unsigned(content.length), content]);

/** A section of a name of its own, which WebAssembly does not read. */
export function customSection(name: string, text: string): Uint8Array {
  const bytes = new TextEncoder().encode(name);
  return section(sectionIds.custom, joined([unsigned(bytes.length), bytes, new TextEncoder().encode(text)]));
}
