// Moves: mov with packing and unpacking, address conversions, questions about addresses, and the
// stack: alloca, stacksave, stackrestore.
import { windows } from "../run/memory.js";
import { type PtxOperand, type ScalarType, scalarBytes } from "../types.js";
import type { Emitter } from "./emitter.js";
import type { Handler } from "./templates.js";

const bitsOf = new Map<number, ScalarType>([
  [1, "b8"],
  [2, "b16"],
  [4, "b32"],
  [8, "b64"],
]);

type Vector = PtxOperand & { kind: "vector" };

/** The type of each of the parts that a move puts together or takes apart. */
function partType(e: Emitter, { elements }: Vector, bytes: number): ScalarType {
  const type = [1, 2, 4].includes(elements.length) ? bitsOf.get(bytes / elements.length) : undefined;
  if (type === undefined) throw e.unsupported(`${bytes} bytes are not ${elements.length} parts`);
  const held = elements.flatMap((element) => (element.kind === "register" ? [element.register.type] : []));
  if (held.some((each) => /^[us]/.test(each)) && held.some((each) => each.startsWith("f")))
    throw e.unsupported("its parts are integers or floats, not both");
  checkElements(e, elements);
  return type;
}

function checkElements(e: Emitter, elements: readonly PtxOperand[]): void {
  if (elements.every(({ kind }) => kind === "sink")) throw e.unsupported("nothing would be moved");
  if (elements.some(({ kind }) => kind === "variable")) throw e.unsupported("an address is no part of a vector");
}

function pieces(e: Emitter, operand: Vector, bytes: number): string[] {
  const type = partType(e, operand, bytes);
  const size = scalarBytes[type];
  if (size >= 4) return operand.elements.flatMap((element) => e.words(element, type));
  const words: string[] = [];
  for (let at = 0; at < bytes; at += 4) {
    const parts = operand.elements.slice(at / size, (at + 4) / size).map((element, k) => {
      const value = `(${e.word(element, type)}&${2 ** (8 * size) - 1})`;
      return k === 0 ? value : `${value}<<${8 * size * k}`;
    });
    words.push(`(${parts.join("|")})`);
  }
  return words;
}

/** mov {a, b}, c: the fields of c from the lowest up. */
function unpack(e: Emitter, to: Vector, words: string[], bytes: number): void {
  const type = partType(e, to, bytes);
  const size = scalarBytes[type];
  const kept = words.map((word) => e.temporary(word));
  for (const [k, element] of to.elements.entries()) {
    if (element.kind === "sink") continue;
    const at = k * size;
    if (size >= 4) e.setWords(element, kept.slice(at / 4, (at + size) / 4), type);
    else e.setWord(element, `(${kept[at >> 2]}>>>${8 * (at & 3)})&${2 ** (8 * size) - 1}`, type);
  }
}

const whole: readonly ScalarType[] = ["b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"];

/** mov.v2 and mov.v4: element by element, all of them read before one is written. */
function moveElements(e: Emitter, count: number): void {
  const type = e.type(whole);
  const bytes = scalarBytes[type];
  const [to, from] = [e.operand(0), e.operand(1)];
  if (to.kind !== "vector" || from.kind !== "vector" || to.elements.length !== count || from.elements.length !== count)
    throw e.unsupported(`.v${count} takes two vectors of ${count}`);
  if (bytes * count > 16) throw e.unsupported(`${count} of .${type} are more than 128 bits`);
  checkElements(e, to.elements);
  checkElements(e, from.elements);
  const values = from.elements.map((element) => e.words(element, type).map((word) => e.temporary(word)));
  for (const [k, element] of to.elements.entries())
    if (element.kind !== "sink") e.setWords(element, bytes === 2 ? [`${values[k]![0]}&65535`] : values[k]!, type);
}

export function move(e: Emitter): void {
  const vector = e.find(["v2", "v4"]);
  if (vector !== undefined) {
    moveElements(e, Number(vector.slice(1)));
    return;
  }
  const type = e.type(["pred", ...whole, "b128"]);
  const bytes = scalarBytes[type];
  const [to, from] = [e.operand(0), e.operand(1)];
  if (to.kind === "vector" || from.kind === "vector") e.type(["b16", "b32", "b64", "b128"]);
  if (to.kind === "vector") {
    if (from.kind === "vector") throw e.unsupported("of two vectors, .v2 or .v4 says how many they hold");
    unpack(e, to, e.words(from, type), bytes);
  } else if (from.kind === "vector") {
    const words = pieces(e, from, bytes);
    e.setWords(to, [...words.slice(0, -1).map((word) => e.temporary(word)), words.at(-1)!], type);
  } else if (type === "pred") e.setPredicate(to, e.predicate(from));
  else if (to.kind === "register" && e.prefersFloat(from, to.register, type)) e.setFloat(to, e.float(from, type), type);
  else e.setWords(to, bytes === 2 ? [`${e.word(from, type)}&65535`] : e.words(from, type), type);
}

/** The state space that is named, and the whole word, which may say it is of the cluster. */
function spaceNamed(e: Emitter): { space: string; whole: string } {
  const found = e.find(/^(const|global|local|param|shared)(::\w+)?$/);
  if (found === undefined) throw e.unsupported("it takes a state space");
  return { space: found.split("::")[0]!, whole: found };
}

/** cvta.space: an address of a space as a generic one; cvta.to.space: back. */
export function convertAddress(e: Emitter): void {
  const type = e.type(["u32", "u64"]);
  if (type === "u32") throw e.unsupported("addresses of 32 bits are not modelled");
  const back = e.has("to");
  const { space } = spaceNamed(e);
  const [to, from] = [e.operand(0), e.operand(1)];
  const [low, high] = e.halves(from, type);
  const windowed = space === "shared" ? windows.shared : space === "local" ? windows.local : undefined;
  // A variable's own address is generic already if its space is a part of global memory.
  if (windowed === undefined) e.setHalves(to, low, high, type);
  else if (back) e.setHalves(to, low, "0", type);
  else e.setHalves(to, low, String(windowed), type);
}

export function isSpace(e: Emitter): void {
  const { space, whole: named } = spaceNamed(e);
  const [low, high] = e.halves(e.operand(1), "u64");
  const to = e.operand(0);
  if (space === "shared" && named !== "shared::cluster") e.setPredicate(to, `${high}===${windows.shared}&&w.ownShared(${low})?1:0`);
  else if (space === "shared") e.setPredicate(to, `${high}===${windows.shared}?1:0`);
  else if (space === "local") e.setPredicate(to, `${high}===${windows.local}?1:0`);
  else e.setPredicate(to, `${high}===${windows.global}&&${space === "global" ? "!" : ""}isReadOnly(${low})?1:0`);
}

/** mapa: the address of the same shared byte in another block of the cluster. */
export function mapAddress(e: Emitter): void {
  const type = e.type(["u32", "u64"]);
  const inSpace = e.has("shared::cluster");
  const [to, from] = [e.operand(0), e.operand(1)];
  const rank = e.word(e.operand(2), "u32");
  const mapped = e.temporary(`w.mapShared(${e.word(from, type)},${rank},l,${e.site})`);
  e.setWords(to, type === "u32" ? [mapped] : [mapped, inSpace ? "0" : String(windows.shared)], type);
}

/** getctarank: which block of the cluster a shared address belongs to. */
export function addressRank(e: Emitter): void {
  const type = e.type(["u32", "u64"]);
  e.skip(["shared::cluster"]);
  e.setWord(e.operand(0), `w.rankOfShared(${e.word(e.operand(1), type)})`, "u32");
}

/** Alignment of what alloca gives if none is asked for, PTX ISA 9.0, section 9.7.14. */
const usualAlignment = 8;

function setPointer(e: Emitter, expression: string): void {
  const type = e.type(["u32", "u64"]);
  const to = e.operand(0);
  if (to.kind !== "register") throw e.unsupported("the result must go to a register");
  const low = e.temporary(expression);
  e.setWords(to, type === "u64" ? [low, "0"] : [low], type);
}

function allocate(e: Emitter): void {
  const type = e.type(["u32", "u64"]);
  const alignment = e.optional(2);
  if (alignment !== undefined && alignment.kind !== "integer") throw e.unsupported("an alignment is a constant");
  const bytes = alignment === undefined ? usualAlignment : Number(alignment.value);
  if (!(bytes > 0 && bytes <= 2 ** 30) || (bytes & (bytes - 1)) !== 0) throw e.unsupported("an alignment is a power of two");
  const [low, high = "0"] = e.words(e.operand(1), type);
  setPointer(e, `w.frame.allocate(w,l,${low},${high},${bytes},${e.site})`);
}

function restore(e: Emitter): void {
  const type = e.type(["u32", "u64"]);
  if (e.operand(0).kind !== "register") throw e.unsupported("it takes a register");
  const [low, high = "0"] = e.words(e.operand(0), type);
  e.line(`w.frame.restore(w,l,${low},${high},${e.site});`);
}

/** The stack of a function's activation in local memory, which grows in each lane on its own. */
export const stackForms = {
  alloca: allocate,
  stacksave: (e) => setPointer(e, "w.frame.topOf(l)"),
  stackrestore: restore,
} satisfies Readonly<Record<string, Handler>>;
