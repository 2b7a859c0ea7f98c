// The binary format of WebAssembly modules: numbers of any length, and sections.

/** What a section is known by. */
export const sectionIds = { custom: 0, types: 1, imports: 2, functions: 3, memory: 5, globals: 6, exports: 7, code: 10, data: 11 } as const;

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

/** The same with a sign, as constants are written. */
export function signed(value: bigint): number[] {
  const out: number[] = [];
  let rest = value;
  for (;;) {
    const byte = Number(rest & 127n);
    rest >>= 7n;
    const isLast = (rest === 0n && (byte & 64) === 0) || (rest === -1n && (byte & 64) !== 0);
    out.push(isLast ? byte : byte | 128);
    if (isLast) return out;
  }
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
