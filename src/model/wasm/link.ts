// The compiled runtime with the constants of a model in its memory, without the functions that the
// model does not call.

import { ArgumentError } from "@spillway/core/errors.js";
import { toLittleEndian } from "@spillway/io/typed-bytes.js";
import { wasmMemoryLimit } from "@spillway/numerics/wasm/index.js";
import type { Constants, Field } from "../c/constants.js";
import { modules, packedModules } from "../c/runtime.js";
import { unpacked as contentOf } from "../c/source.js";
import { constant, joined, Reader, section, sectionIds, sectionsOf, unsigned } from "./binary.js";

const pageBytes = 65536;

/** What a model puts into a module of the runtime. */
export interface Linked {
  readonly runtime: string;
  readonly constants: Constants;
  /** The fields of the runtime's `model`, in order. */
  readonly model: readonly Field[];
  /** Bytes of the stack. */
  readonly stack: number;
  /** Exported functions that the model has. */
  readonly calls: ReadonlySet<string>;
  /** Functions that the model never calls. */
  readonly without: ReadonlySet<string>;
}

const aligned = (at: number, to = 16): number => Math.ceil(at / to) * to;

interface Exported {
  readonly name: string;
  readonly kind: number;
  readonly index: number;
}

function exportsOf(content: Uint8Array): Exported[] {
  const reader = new Reader(content);
  return Array.from({ length: reader.number() }, () => ({
    name: new TextDecoder().decode(reader.take(reader.number())),
    kind: reader.take(1)[0]!,
    index: reader.number(),
  }));
}

/** The values of the globals; the first is the start of the stack. */
function globalsOf(content: Uint8Array): number[] {
  const reader = new Reader(content);
  return Array.from({ length: reader.number() }, () => {
    reader.take(3);
    const value = reader.number(true);
    reader.take(1);
    return value;
  });
}

/** The functions that are reached from some, by their numbers. */
function reached(functions: readonly string[], roots: readonly number[], without: ReadonlySet<string>): ReadonlySet<number> {
  const out = new Set<number>();
  const open = [...roots];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [name, ...called] = functions[next]!.split(" ");
    if (out.has(next) || without.has(name!)) continue;
    out.add(next);
    open.push(...called.map(Number));
  }
  return out;
}

/** Constants as memory from an address on: their bytes, and where each begins. */
function memoryOf({ arrays, tables }: Constants, first: number) {
  const at = new Map<string, number>();
  let end = first;
  const reserve = (name: string, length: number) => {
    at.set(name, end);
    end = aligned(end + length, length % 16 === 0 ? 16 : 8);
    return at.get(name)!;
  };
  for (const { name, values } of arrays) reserve(name, values.byteLength);
  const rowBytes = new Map(tables.map(({ name, rows }) => [name, 4 * rows[0]!.length]));
  for (const { name, rows } of tables) reserve(name, rows.length * rowBytes.get(name)!);
  const address = (field: Field): number =>
    typeof field === "number" ? field : at.get(field.to)! + (field.row ?? 0) * (rowBytes.get(field.to) ?? 0);
  const bytes = new Uint8Array(end - first);
  for (const { name, values } of arrays) bytes.set(toLittleEndian(values), at.get(name)! - first);
  for (const { name, rows } of tables) bytes.set(words(rows.flat().map(address)), at.get(name)! - first);
  return { bytes, end, address };
}

const words = (values: readonly number[]): Uint8Array => toLittleEndian(Int32Array.from(values, (value) => value | 0));

let unpacked: ReadonlyMap<string, Uint8Array> | undefined;

/** The bytes of a compiled module. */
function moduleBytes(runtime: string): Uint8Array {
  if (unpacked === undefined) {
    const all = contentOf(packedModules);
    const found = new Map<string, Uint8Array>();
    let at = 0;
    for (const [name, { length }] of Object.entries(modules)) {
      found.set(name, all.subarray(at, at + length));
      at += length;
    }
    unpacked = found;
  }
  return unpacked.get(runtime)!;
}

/** A module, the address behind everything that is in its memory, and those of its tables. */
export interface LinkedModule {
  readonly module: Uint8Array;
  readonly end: number;
  address(field: Field): number;
}

/** @throws ArgumentError for a model that no memory holds */
export function link({ runtime, constants, model, stack, calls, without }: Linked): LinkedModule {
  const { functions } = modules[runtime]!;
  const sections = sectionsOf(moduleBytes(runtime));
  const content = (id: number) => sections.find((each) => each.id === id)?.content ?? Uint8Array.of(0);
  const exported = exportsOf(content(sectionIds.exports));
  const globals = globalsOf(content(sectionIds.globals));
  const address = (name: string) => globals[exported.find((each) => each.name === name)!.index]!;
  const memory = memoryOf(constants, aligned(address("__heap_base")));
  const end = aligned(memory.end) + aligned(stack);
  if (end > wasmMemoryLimit - pageBytes)
    throw ArgumentError.because(`the model takes ${end} bytes; a WebAssembly memory takes at most ${wasmMemoryLimit}`, { field: "model" });
  const kept = exported.filter(({ name }) => name === "memory" || calls.has(name));
  const roots = kept.filter(({ kind }) => kind === 0).map(({ index }) => index);
  const needed = reached(functions, roots, without);
  const segment = (at: number, data: Uint8Array) => joined([[0], constant(at), unsigned(data.length), data]);
  const rewritten: Readonly<Record<number, () => Uint8Array>> = {
    [sectionIds.memory]: () => joined([[1, 0], unsigned(Math.ceil(end / pageBytes))]),
    [sectionIds.globals]: () => joined([[1, 0x7f, 1], constant(end)]),
    [sectionIds.exports]: () =>
      joined([
        unsigned(kept.length),
        ...kept.map(({ name, kind, index }) => joined([unsigned(name.length), new TextEncoder().encode(name), [kind], unsigned(index)])),
      ]),
    [sectionIds.code]: () => {
      const reader = new Reader(content(sectionIds.code));
      const bodies = Array.from({ length: reader.number() }, (_, k) => {
        const body = reader.take(reader.number());
        return needed.has(k) ? joined([unsigned(body.length), body]) : [3, 0, 0, 0x0b];
      });
      return joined([unsigned(bodies.length), ...bodies]);
    },
    [sectionIds.data]: () => {
      const reader = new Reader(content(sectionIds.data));
      const count = reader.number();
      const there = content(sectionIds.data).subarray(reader.at);
      const own = [segment(address("model"), words(model.map(memory.address))), segment(aligned(address("__heap_base")), memory.bytes)];
      return joined([unsigned(count + own.length), there, ...own]);
    },
  };
  const all = sections.filter(({ id }) => id !== sectionIds.custom);
  if (!all.some(({ id }) => id === sectionIds.data)) all.push({ id: sectionIds.data, content: Uint8Array.of(0) });
  const written = all.map(({ id, content: there }) => section(id, rewritten[id]?.() ?? there));
  return { module: joined([[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0], ...written]), end, address: memory.address };
}
