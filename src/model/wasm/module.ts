// A WebAssembly module with a model in its memory: the module of assembly/exported.ts, whose memory
// is made large enough and begins with the model's numbers.
import { ArgumentError } from "../../core/errors.js";
import { wasmMemoryLimit } from "../../numerics/wasm/index.js";
import type { ModelMemory } from "./memory.js";

const sections = { custom: 0, memory: 5, data: 11 } as const;

const pageBytes = 65536;

/** A whole number in LEB128, of 32 bits without a sign. */
function unsigned(value: number): number[] {
  const out: number[] = [];
  let rest = value >>> 0;
  do {
    const byte = rest & 127;
    rest >>>= 7;
    out.push(rest === 0 ? byte : byte | 128);
  } while (rest !== 0);
  return out;
}

/** The same with a sign, as constants of 32 bits are written. */
function signed(value: number): number[] {
  const out: number[] = [];
  let rest = value | 0;
  for (;;) {
    const byte = rest & 127;
    rest >>= 7;
    const isLast = (rest === 0 && (byte & 64) === 0) || (rest === -1 && (byte & 64) !== 0);
    out.push(isLast ? byte : byte | 128);
    if (isLast) return out;
  }
}

function joined(parts: readonly ArrayLike<number>[]): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

const section = (id: number, content: Uint8Array): Uint8Array => joined([[id], unsigned(content.length), content]);

/** The sections of a module, each with its bytes from its id on. */
function sectionsOf(module: Uint8Array): { readonly id: number; readonly bytes: Uint8Array }[] {
  const out: { id: number; bytes: Uint8Array }[] = [];
  for (let at = 8; at < module.length; ) {
    let size = 0;
    let from = at + 1;
    for (let shift = 0; ; shift += 7) {
      const byte = module[from++]!;
      size |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    out.push({ id: module[at]!, bytes: module.subarray(at, from + size) });
    at = from + size;
  }
  return out;
}

/**
 * The module with the model, and what a host has to know of it in a section of its own, "spillway".
 * @throws ArgumentError for a model beyond a memory of 4 GiB
 */
export function moduleWith(module: Uint8Array, { segments, end }: ModelMemory, about: object): Uint8Array<ArrayBuffer> {
  if (end > wasmMemoryLimit - pageBytes)
    throw ArgumentError.because(`the model takes ${end} bytes; a WebAssembly memory takes at most ${wasmMemoryLimit}`, { field: "model" });
  const memory = section(sections.memory, joined([[1, 0], unsigned(Math.ceil(end / pageBytes))]));
  const data = segments.map(({ at, bytes }) => joined([[0, 0x41], signed(at), [0x0b], unsigned(bytes.length), bytes]));
  const name = new TextEncoder().encode("spillway");
  const note = joined([unsigned(name.length), name, new TextEncoder().encode(JSON.stringify(about))]);
  return joined([
    module.subarray(0, 8),
    ...sectionsOf(module).map(({ id, bytes }) => (id === sections.memory ? memory : bytes)),
    section(sections.data, joined([unsigned(segments.length), ...data])),
    section(sections.custom, note),
  ]);
}
