// Loads and stores. All memory of the device is one heap with a shadow byte for each byte. One
// comparison checks the common access for bounds, life and initialisation; `resolve` looks closely
// at whatever fails it.

import { accessModes, spaceCodes, windows } from "../run/memory.js";
import { type PtxOperand, type ScalarType, scalarBytes } from "../types.js";
import type { Emitter } from "./emitter.js";

export type SpaceName = keyof typeof spaceCodes;

const spaceWords = /^(global|local|const|shared(::(cta|cluster))?|param(::(entry|func))?)$/;
const spaceName = (word: string | undefined): SpaceName => (word?.split("::")[0] ?? "generic") as SpaceName;

/** The state space that an instruction names; generic if it names none. */
export function spaceOf(e: Emitter): SpaceName {
  return spaceName(e.find(spaceWords));
}

/** The same of modifiers that were read before. */
export const spaceIn = (modifiers: readonly string[]): SpaceName => spaceName(modifiers.find((word) => spaceWords.test(word)));

/** What a load or store promises about order. Strong ones do not race with one another. */
interface Order {
  strong: boolean;
  acquires: boolean;
  releases: boolean;
}

/** Reads the words of the memory model; an access of a space takes one of `words`. */
function orderOf(e: Emitter, space: SpaceName, words: readonly string[]): Order {
  const found = e.find(words);
  const scoped = found !== undefined && found !== "volatile" && found !== "weak";
  const strong = scoped || found === "volatile";
  if (strong && (space === "local" || space === "const" || space === "param")) throw e.unsupported(`.${found} is not for ${space} memory`);
  if (found === "relaxed" && space !== "shared") e.skip(["mmio"]);
  if (scoped && !e.has("cta", "cluster", "gpu", "sys")) throw e.unsupported(`.${found} takes a scope, as .gpu`);
  return { strong, acquires: found === "acquire", releases: found === "release" };
}

const prefetches = ["L2::64B", "L2::128B", "L2::256B"];

/**
 * Hints about caches, which change no result here: one operator of `cache`, one size of `prefetch`,
 * or how to evict. Only memory that is cached in two levels has the latter. A policy is one operand
 * more, at `index`.
 */
export function skipHints(
  e: Emitter,
  space: SpaceName,
  index: number,
  cache: readonly string[] = [],
  prefetch: readonly string[] = [],
): void {
  const operator = e.find(cache);
  if (space !== "generic" && space !== "global") return;
  e.find(prefetch);
  if (operator === undefined) {
    e.find(/^L1::(evict_(normal|unchanged|first|last)|no_allocate)$/);
    e.find(/^L2::evict_(normal|first|last)$/);
  }
  if (e.has("L2::cache_hint")) e.halves(e.operand(index), "b64");
}

function shadowMismatch(index: string, bytes: number, constant: boolean): string {
  const word = constant ? 50529027 : 33686018;
  if (bytes === 1) return `S8[${index}]!==${constant ? 3 : 2}`;
  if (bytes === 2) return `${index}&1||S16[${index}>>>1]!==${word & 0xffff}`;
  if (bytes === 4) return `${index}&3||S32[${index}>>>2]!==${word}`;
  const eight = constant ? "constant8" : "written8";
  const tests = [`${index}&${bytes - 1}`];
  for (let k = 0; k < bytes / 8; k++) tests.push(`SD[(${index}>>>3)+${k}]!==${eight}`);
  return tests.join("||");
}

const verbs = ["loads", "stores", "updates"];

/** What is wrong with an access of a variable by name; undefined if nothing, or not known here. */
function outsideVariable({ base, offset }: PtxOperand & { kind: "address" }, bytes: number, mode: number): string | undefined {
  if (base.kind !== "variable" || base.variable.bytes === 0) return undefined;
  const { name, bytes: size, space } = base.variable;
  const first = base.offset + offset;
  if (first >= 0 && first + bytes <= size) return undefined;
  return `${verbs[mode & 3]} ${bytes} bytes at byte ${first} of "${name}" in ${space} memory, which has ${size} bytes`;
}

const fitsWord = (offset: number): boolean => offset === (offset | 0);

/** The base of an address with so much of its offset that what is left is a word. */
function displaced(e: Emitter, base: PtxOperand, offset: number): { low: string; high: string; rest: number } {
  const [low, high] = e.address(base);
  if (fitsWord(offset)) return { low, high, rest: offset };
  const sum = e.temporary(`(${low}>>>0)+${offset >>> 0}`);
  const carried = e.temporary(`(${high}+${Math.floor(offset / 2 ** 32)}+(${sum}>4294967295?1:0))|0`);
  return { low: e.temporary(`${sum}|0`), high: carried, rest: 0 };
}

/** Emits an access's address and checks; gives the heap index. `added` joins the mode. */
export function locate(e: Emitter, operand: PtxOperand, space: SpaceName, bytes: number, mode: number, added = 0): string {
  if (operand.kind !== "address") throw e.unsupported("expected an address in brackets");
  const { base, offset } = operand;
  if (base.kind === "variable" && space !== "generic" && base.variable.space !== space)
    throw e.unsupported(`"${base.variable.name}" is in ${base.variable.space} memory`);
  const site = e.site;
  const outside = outsideVariable(operand, bytes, mode);
  if (outside !== undefined) return e.temporary(`outside(w,l,${site},${JSON.stringify(outside)},${bytes})`);
  const index = e.temporary();
  const local = space === "local" || (space === "param" && base.kind === "variable" && e.context.isLocal(base.variable));
  if ((local || space === "shared") && !fitsWord(offset)) {
    const what = `${verbs[mode & 3]} ${bytes} bytes at an offset of ${offset}, beyond all ${local ? "local" : "shared"} memory`;
    return e.temporary(`outside(w,l,${site},${JSON.stringify(what)},${bytes})`);
  }
  if (local || space === "shared") {
    const [low] = e.address(base);
    e.line(`${index}=(${low}+${offset})|0;`);
    const start = e.uniform(`${local ? "local" : "shared"}Base`, `w.${local ? "local" : "shared"}Base`);
    const size = e.uniform(`${local ? "local" : "shared"}Bytes`, `w.${local ? "local" : "shared"}Bytes`);
    const at = e.temporary(`(${index}+${local ? `(${start}+l*${size})` : start})|0`);
    const code = spaceCodes[local ? "local" : "shared"];
    e.line(
      `if((${index}>>>0)>=${size}||${shadowMismatch(at, bytes, false)})${at}=resolve(w,l,${site},${code},0,${low},${offset},${bytes},${mode | added});`,
    );
    if (!local && e.context.checks.races && mode < accessModes.object) e.line(`else{${raceCheck(e, index, bytes, mode)}}`);
    return at;
  }
  const { low, high, rest } = displaced(e, base, offset);
  const readOnly = (space === "const" || space === "param") && mode === accessModes.read;
  e.line(`${index}=(${low}+${rest})|0;`);
  const wrong = high === String(windows.global) ? "" : `${high}!==${windows.global}||`;
  e.line(
    `if(${wrong}${shadowMismatch(index, bytes, readOnly)})${index}=resolve(w,l,${site},${spaceCodes[space]},${high},${low},${rest},${bytes},${mode | added});`,
  );
  if (e.context.checks.globalRaces && mode < accessModes.object && (space === "global" || space === "generic")) {
    const here = space === "global" ? "" : `if(${high}===${windows.global})`;
    const name = mode < accessModes.strong ? "globalTouch" : "globalStrong";
    e.line(`${here}${name}(w,l,${site},${index},${bytes},${(mode & 3) !== accessModes.read});`);
  }
  return index;
}

/** Calls the race detector, unless the last writer or reader is known to be harmless. */
function raceCheck(e: Emitter, address: string, bytes: number, mode: number): string {
  const site = e.site;
  e.uniform("writers", "w.writers");
  e.uniform("readers", "w.readers");
  e.uniform("ordered", "w.ordered");
  e.uniform("tag", "w.tag");
  e.uniform("tagBase", "w.tagBase");
  const strong = mode >= accessModes.strong;
  const stores = (mode & 3) !== accessModes.read;
  if (bytes < 4 || (strong && stores)) return `${strong ? "raceStrong" : "raceBytes"}(w,l,${site},${address},${bytes},${stores});`;
  const word = e.temporary();
  const words = Array.from({ length: bytes / 4 }, (_, k) => (k === 0 ? word : `${word}+${k}`));
  let check: string;
  if (strong) check = words.map((at, k) => `if(writers[${at}]>=ordered)raceStrong(w,l,${site},${address}+${4 * k},4,false);`).join("");
  else if (stores) check = words.map((at) => `if(writers[${at}]!==tag+l||readers[${at}]>=ordered)raceWrite(w,l,${site},${at});`).join("");
  else {
    const reader = e.temporary();
    const news = words.map((at) => `writers[${at}]>=ordered||((${reader}=readers[${at}])!==tag+l&&${reader}!==w.lanesTag)`);
    check = `if(${news.join("||")})${words.length === 1 ? `raceRead(w,l,${site},${word})` : `raceReads(w,l,${site},${word},${words.length})`};`;
  }
  return `${word}=(${address}>>>2)+tagBase;${check}`;
}

/** Puts a loaded value into a register that may be wider. `at`: the byte index. */
function put(e: Emitter, to: PtxOperand, type: ScalarType, at: string): void {
  if (to.kind === "sink") return;
  if (to.kind !== "register") throw e.unsupported("a load gives to registers");
  const { register } = to;
  e.checkRegister(register, type, true);
  const signed = type.startsWith("s");
  const bytes = scalarBytes[type];
  const width = scalarBytes[register.type];
  const float = width === bytes && e.context.floatOnly.has(register.index);
  if (bytes === 16)
    e.setWords(
      to,
      [0, 1, 2, 3].map((k) => e.temporary(`G32[(${at}>>>2)+${k}]`)),
      type,
    );
  else if (float) e.setFloat(to, bytes === 8 ? `GD[${at}>>>3]` : `GF[${at}>>>2]`, type);
  else if (bytes === 8) e.setHalves(to, `G32[${at}>>>2]`, `G32[(${at}>>>2)+1]`, type);
  else {
    const value =
      bytes === 4 ? `G32[${at}>>>2]` : bytes === 2 ? (signed ? `GI16[${at}>>>1]` : `G16[${at}>>>1]`) : signed ? `GI8[${at}]` : `G8[${at}]`;
    if (width === 8) {
      const low = e.temporary(value);
      e.setHalves(to, low, signed ? `${low}>>31` : "0", type, true);
    } else e.setWord(to, width === 2 && signed ? `${value}&65535` : value, type, true);
  }
}

function take(e: Emitter, from: PtxOperand, type: ScalarType, at: string): void {
  const bytes = scalarBytes[type];
  const float = from.kind === "register" && scalarBytes[from.register.type] === bytes && e.holdsFloat(from);
  const put = (words: readonly unknown[]): string =>
    words.map((word, k) => (k === 0 && bytes < 16 ? `G32[${at}>>>2]=${word};` : `G32[(${at}>>>2)+${k}]=${word};`)).join("");
  if (float) {
    const value = e.float(from, type);
    const number = bytes === 8 ? `GD[${at}>>>3]` : `GF[${at}>>>2]`;
    e.line(`if(${value}===${value})${number}=${value};else{${put(bytes === 8 ? [0, -524288] : [2147483647])}}`);
  } else if (bytes >= 4) e.line(put(bytes === 4 ? [e.word(from, type, true)] : e.words(from, type)));
  else if (bytes === 2) e.line(`G16[${at}>>>1]=${e.word(from, type, true)};`);
  else e.line(`G8[${at}]=${e.word(from, type, true)};`);
}

export function vectorLength(e: Emitter): number {
  return Number(e.find(["v2", "v4", "v8"])?.slice(1) ?? 1);
}

/** The elements of a vector operand, or the one operand of an access without. */
export function elementsOf(e: Emitter, operand: PtxOperand, count: number): PtxOperand[] {
  if (count === 1) return [operand];
  if (operand.kind !== "vector" || operand.elements.length !== count) throw e.unsupported(`.v${count} takes ${count} registers in braces`);
  return operand.elements;
}

const stored: readonly ScalarType[] = [
  "b8",
  "u8",
  "s8",
  "b16",
  "u16",
  "s16",
  "b32",
  "u32",
  "s32",
  "f32",
  "b64",
  "u64",
  "s64",
  "f64",
  "b128",
];

/** The type of an access, its elements and the bytes of all of them. */
function accessShape(e: Emitter): { type: ScalarType; count: number; size: number; bytes: number } {
  const type = e.type(stored);
  const count = vectorLength(e);
  const size = scalarBytes[type];
  if (size * count > 32) throw e.unsupported(`${size * count} bytes at once; it takes at most 32`);
  return { type, count, size, bytes: size * count };
}

export function load(e: Emitter): void {
  const { type, count, size, bytes } = accessShape(e);
  const space = spaceOf(e);
  const order = e.instruction.opcode === "ld" ? orderOf(e, space, ["weak", "volatile", "relaxed", "acquire"]) : undefined;
  if (order !== undefined) {
    const cached = !order.strong;
    const readOnly = cached && space === "global" && e.has("nc");
    skipHints(e, space, 2, cached ? ["ca", "cg", "cs", ...(readOnly ? [] : ["lu", "cv"])] : [], prefetches);
  }
  const [to, from] = [e.operand(0), e.operand(1)];
  const results = elementsOf(e, to, count);
  const strong = order?.strong === true;
  const at =
    (space === "param" ? entryParameter(e, from, bytes) : undefined) ??
    locate(e, from, space, bytes, strong ? accessModes.read | accessModes.strong : accessModes.read, accessModes.followed);
  if (strong) e.line(`w.observe(${order.acquires});`);
  for (const [k, element] of results.entries()) put(e, element, type, k === 0 ? at : `(${at}+${k * size})`);
}

/** The index of a kernel's parameter; its errors come when it loads. Undefined for others. */
function entryParameter(e: Emitter, from: PtxOperand, bytes: number): string | undefined {
  if (from.kind !== "address" || from.base.kind !== "variable") return undefined;
  const entry = e.context.entryParameter(from.base.variable);
  if (entry === undefined) return undefined;
  const offset = entry + from.base.offset + from.offset;
  const at = `(${e.uniform("paramBase", "w.paramBase")}+${offset})`;
  const outside = outsideVariable(from, bytes, accessModes.read);
  if (outside !== undefined) return e.temporary(`outside(w,l,${e.site},${JSON.stringify(outside)},${bytes})`);
  if (offset % bytes === 0) return at;
  return e.temporary(`resolve(w,l,${e.site},${spaceCodes.param},${windows.global},paramBase,${offset},${bytes},0)`);
}

export function store(e: Emitter): void {
  const { type, count, size, bytes } = accessShape(e);
  const space = spaceOf(e);
  if (space === "const") throw e.unsupported("constant memory is not stored to");
  const order = orderOf(e, space, ["weak", "volatile", "relaxed", "release"]);
  skipHints(e, space, 2, order.strong ? [] : ["wb", "cg", "cs", "wt"]);
  const values = elementsOf(e, e.operand(1), count);
  // Conversions come first: a store that fails then leaves nothing half done.
  const at = locate(e, e.operand(0), space, bytes, order.strong ? accessModes.write | accessModes.strong : accessModes.write);
  for (const [k, value] of values.entries()) take(e, value, type, k === 0 ? at : `(${at}+${k * size})`);
  if (space === "shared" || space === "local") e.line(`if(w.holdsUnwritten)noteStore(w,l,${e.site},${at});`);
  if (order.strong) e.line(`w.publish(${order.releases});`);
  e.uniform("wrote", "w.launch.progress++");
}

const completes = "mbarrier::complete_tx::bytes";

/** st.async: stores to shared memory of the cluster and counts the bytes at a barrier there. */
export function storeAsync(e: Emitter): void {
  e.skip(["async", "weak", completes]);
  const { type, count, size, bytes } = accessShape(e);
  if (spaceOf(e) !== "shared") throw e.unsupported("it takes .shared::cluster");
  const at = locate(e, e.operand(0), "shared", bytes, accessModes.write | accessModes.object);
  for (const [k, value] of elementsOf(e, e.operand(1), count).entries()) take(e, value, type, k === 0 ? at : `(${at}+${k * size})`);
  const barrier = locate(e, e.operand(2), "shared", 8, accessModes.both | accessModes.object);
  e.line(`w.publish(true);mbarrierComplete(w,l,${e.site},${barrier},${bytes});`);
}

/** What a group of asynchronous copies is waited for with. */
function waitForCopies(e: Emitter, bulk: boolean): boolean {
  if (e.has("commit_group")) {
    if (!bulk) e.line("w.copies?.commit(l);");
    return true;
  }
  if (!bulk && e.has("wait_all")) {
    e.line("w.copies?.waitForAll(l);");
    return true;
  }
  if (!e.has("wait_group")) return false;
  if (bulk) e.skip(["read"]);
  const pending = e.operand(0);
  if (pending.kind !== "integer" || pending.value < 0n) throw e.unsupported("it takes a number of groups");
  if (!bulk) e.line(`w.copies?.wait(l,${e.word(pending, "u32")});`);
  return true;
}

/**
 * cp.async, whose bytes arrive when they are waited for, cp.async.bulk to shared memory, whose
 * bytes arrive when a thread waits at its barrier object, and from it, which is done at once: its
 * commits and waits have nothing to do.
 */
export function copyAsync(e: Emitter): void {
  if (!e.has("async")) throw e.unsupported("only cp.async is modelled");
  const bulk = e.has("bulk");
  if (waitForCopies(e, bulk)) return;
  if (bulk) copyBulk(e);
  else if (e.has("mbarrier")) arriveAfterCopies(e);
  else copySmall(e);
}

function arriveAfterCopies(e: Emitter): void {
  e.type(["b64"]);
  e.one(["arrive"]);
  e.line("w.copies?.waitForAll(l);");
  const space = spaceOf(e);
  const counts = e.has("noinc");
  const barrier = locate(e, e.operand(0), space, 8, accessModes.both | accessModes.object);
  if (counts) e.line(`mbarrierArrive(w,l,${e.site},${barrier},1,0,false);`);
}

/** Where a copy goes or comes from. */
const isShared = (e: Emitter): boolean => e.has("shared", "shared::cta", "shared::cluster");

function copySmall(e: Emitter): void {
  const cached = e.find(["ca", "cg"]);
  if (cached === undefined || !isShared(e) || !e.has("global")) throw e.unsupported("it takes .ca or .cg, .shared and .global");
  const [size, source] = [e.operand(2), e.optional(3)];
  const sizes = cached === "cg" ? [16n] : [4n, 8n, 16n];
  if (size.kind !== "integer" || !sizes.includes(size.value)) throw e.unsupported(`it copies ${sizes.join(", ")} bytes`);
  skipHints(e, "global", e.operandCount - 1, [], prefetches);
  const bytes = String(size.value);
  let used = bytes;
  if (source !== undefined && (source.kind === "not" || (source.kind === "register" && source.register.type === "pred")))
    used = `(${e.predicate(source)}?0:${bytes})`;
  else if (source !== undefined && e.operandCount - (e.has("L2::cache_hint") ? 1 : 0) > 3) used = e.word(source, "u32");
  e.line(`copyLater(w,l,${e.site},${wholeAddress(e, e.operand(0))},${wholeAddress(e, e.operand(1))},${bytes},${used});`);
}

function copyBulk(e: Emitter): void {
  const spaces = e.instruction.modifiers.filter((word) => word === "global" || word.startsWith("shared"));
  const toShared = spaces[0] !== "global";
  if (!isShared(e) || !e.has("global") || spaces.length !== 2)
    throw e.unsupported("only copies between shared and global memory are modelled");
  if (!e.has(toShared ? completes : "bulk_group")) throw e.unsupported(`it takes .${toShared ? completes : "bulk_group"}`);
  skipHints(e, "global", toShared ? 4 : 3);
  const bytes = e.word(e.operand(2), "u32");
  const [to, from] = [wholeAddress(e, e.operand(0)), wholeAddress(e, e.operand(1))];
  if (toShared) {
    const at = locate(e, e.operand(3), "shared", 8, accessModes.both | accessModes.object);
    e.line(`copyBulk(w,l,${e.site},${to},${from},${bytes},${at});`);
  } else e.line(`copyOut(w,l,${e.site},${to},${from},${bytes});`);
}

function wholeAddress(e: Emitter, operand: PtxOperand): string {
  if (operand.kind !== "address") throw e.unsupported("expected an address in brackets");
  const { low, high, rest } = displaced(e, operand.base, operand.offset);
  return `(${high}>>>0)*4294967296+(${rest === 0 ? low : `(${low}+${rest}|0)`}>>>0)`;
}
