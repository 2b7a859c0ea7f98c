// Loads and stores. All memory of the device is one heap with a shadow byte for each byte, so that the common access is checked for bounds,
// life and initialisation by one comparison; whatever fails it is looked at closely by `resolve`.
import { type PtxOperand, type PtxRegister, type ScalarType, scalarBytes } from "../types.js";
import { windows } from "./emit-move.js";
import { type Emitter, typeOf } from "./emitter.js";

/** Numbers of the state spaces in calls of `resolve`. */
export const spaceCodes = { generic: 0, global: 1, shared: 2, local: 3, const: 4, param: 5 } as const;
export type SpaceName = keyof typeof spaceCodes;

/** What an access does, for `resolve`; `strong` accesses are those that no race is reported for. */
export const accessModes = { read: 0, write: 1, both: 2, strong: 4 } as const;

export function spaceOf(e: Emitter): SpaceName {
  for (const word of e.instruction.modifiers) {
    const name = word.split("::")[0]!;
    if (name !== "generic" && name in spaceCodes && (name === word || /^(shared|param)::/.test(word))) return name as SpaceName;
  }
  return "generic";
}

const strongWords = ["volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"];

export function isStrong(e: Emitter): boolean {
  return e.has(...strongWords) || ["atom", "red", "mbarrier"].includes(e.instruction.opcode);
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

/** Emits the address of an access and its checks; gives the name of the heap index. */
export function locate(e: Emitter, operand: PtxOperand, space: SpaceName, bytes: number, mode: number): string {
  if (operand.kind !== "address") throw e.unsupported("expected an address in brackets");
  const { base, offset } = operand;
  const site = e.site;
  const index = e.temporary();
  if (space === "local" || (space === "param" && base.kind === "variable" && e.context.isLocal(base.variable))) {
    const low = e.word(base);
    e.line(`${index}=(${low}+${offset})|0;`);
    const lanes = `(${e.uniform("localBase", "w.localBase")}+l*${e.uniform("localBytes", "w.localBytes")})`;
    const at = e.temporary(`(${index}+${lanes})|0`);
    e.line(
      `if((${index}>>>0)>=localBytes||${shadowMismatch(at, bytes, false)})${at}=resolve(w,l,${site},3,0,${low},${offset},${bytes},${mode});`,
    );
    return at;
  }
  const [low, high] = e.halves(base);
  if (space === "shared") {
    e.line(`${index}=(${low}+${offset})|0;`);
    const at = e.temporary(`(${index}+${e.uniform("sharedBase", "w.sharedBase")})|0`);
    const size = e.uniform("sharedBytes", "w.sharedBytes");
    e.line(
      `if((${index}>>>0)>=${size}||${shadowMismatch(at, bytes, false)})${at}=resolve(w,l,${site},2,0,${low},${offset},${bytes},${mode});`,
    );
    if (e.context.checks.races && mode < accessModes.strong) e.line(`else{${raceCheck(e, index, bytes, mode)}}`);
    return at;
  }
  const readOnly = (space === "const" || space === "param") && mode === accessModes.read;
  e.line(`${index}=(${low}+${offset})|0;`);
  const wrong = high === String(windows.global) ? "" : `${high}!==${windows.global}||`;
  e.line(
    `if(${wrong}${shadowMismatch(index, bytes, readOnly)})${index}=resolve(w,l,${site},${spaceCodes[space]},${high},${low},${offset},${bytes},${mode});`,
  );
  if (e.context.checks.globalRaces && mode < accessModes.strong && (space === "global" || space === "generic")) {
    const here = space === "global" ? "" : `if(${high}===${windows.global})`;
    e.line(`${here}globalTouch(w,l,${site},${index},${bytes},${mode !== accessModes.read});`);
  }
  return index;
}

/** Asks the race detector only where the last writer or reader of a word is not already known to be harmless. */
function raceCheck(e: Emitter, address: string, bytes: number, mode: number): string {
  const site = e.site;
  e.uniform("writers", "w.writers");
  e.uniform("readers", "w.readers");
  e.uniform("ordered", "w.ordered");
  e.uniform("tag", "w.tag");
  e.uniform("tagBase", "w.tagBase");
  if (bytes < 4) return `raceBytes(w,l,${site},${address},${bytes},${mode});`;
  const word = e.temporary();
  const checks: string[] = [`${word}=(${address}>>>2)+tagBase;`];
  for (let k = 0; k < bytes / 4; k++) {
    const at = k === 0 ? word : `${word}+${k}`;
    if (mode === accessModes.read) checks.push(`if(writers[${at}]>=ordered||readers[${at}]!==tag+l)raceRead(w,l,${site},${at});`);
    else checks.push(`if(writers[${at}]!==tag+l||readers[${at}]>=ordered)raceWrite(w,l,${site},${at});`);
  }
  return checks.join("");
}

/** Puts a loaded value of a type into a register that may be wider. `at` is an expression of the byte index. */
function put(e: Emitter, to: PtxOperand, type: ScalarType, at: string): void {
  if (to.kind === "sink") return;
  if (to.kind !== "register") throw e.unsupported("a load gives to registers");
  const { register } = to;
  const signed = type.startsWith("s");
  const bytes = scalarBytes[type];
  if (bytes === 16)
    e.setQuarters(
      to,
      [0, 1, 2, 3].map((k) => e.temporary(`G32[(${at}>>>2)+${k}]`)),
    );
  else if (bytes === 8) {
    if (e.context.floatOnly.has(register.index)) e.setDouble(to, `GD[${at}>>>3]`);
    else e.setHalves(to, `G32[${at}>>>2]`, `G32[(${at}>>>2)+1]`);
  } else if (bytes === 4 && scalarBytes[register.type] === 4 && e.context.floatOnly.has(register.index)) e.setSingle(to, `GF[${at}>>>2]`);
  else {
    const value =
      bytes === 4 ? `G32[${at}>>>2]` : bytes === 2 ? (signed ? `GI16[${at}>>>1]` : `G16[${at}>>>1]`) : signed ? `GI8[${at}]` : `G8[${at}]`;
    putNarrow(e, to, register, value, signed, bytes);
  }
}

function putNarrow(e: Emitter, to: PtxOperand, register: PtxRegister, value: string, signed: boolean, bytes: number): void {
  const width = scalarBytes[register.type];
  if (width === 8) {
    const low = e.temporary(value);
    e.setHalves(to, low, signed ? `${low}>>31` : "0");
  } else e.setWord(to, width === 2 && (signed || bytes > 2) ? `${value}&65535` : value);
}

/** Writes a register's low bytes to the heap. */
function take(e: Emitter, from: PtxOperand, type: ScalarType, at: string): void {
  const bytes = scalarBytes[type];
  if (bytes === 16) for (const [k, part] of e.quarters(from).entries()) e.line(`G32[(${at}>>>2)+${k}]=${part};`);
  else if (bytes === 8) {
    if (e.holdsFloat(from)) {
      const value = e.double(from);
      e.line(`if(${value}===${value})GD[${at}>>>3]=${value};else{G32[${at}>>>2]=0;G32[(${at}>>>2)+1]=-524288;}`);
    } else {
      const [low, high] = e.halves(from);
      e.line(`G32[${at}>>>2]=${low};G32[(${at}>>>2)+1]=${high};`);
    }
  } else if (bytes === 4) {
    if (e.holdsFloat(from)) {
      const value = e.single(from);
      e.line(`if(${value}===${value})GF[${at}>>>2]=${value};else G32[${at}>>>2]=2147483647;`);
    } else e.line(`G32[${at}>>>2]=${e.word(from)};`);
  } else if (bytes === 2) e.line(`G16[${at}>>>1]=${e.word(from)};`);
  else e.line(`G8[${at}]=${e.word(from)};`);
}

function vectorLength(e: Emitter): number {
  const word = e.instruction.modifiers.find((each) => /^v[248]$/.test(each));
  return word === undefined ? 1 : Number(word.slice(1));
}

function elements(operand: PtxOperand, count: number): PtxOperand[] {
  return operand.kind === "vector" && count > 1 ? operand.elements : [operand];
}

export function load(e: Emitter): void {
  const type = typeOf(e.instruction);
  const space = spaceOf(e);
  const [to, from] = [e.operand(0), e.operand(1)];
  const count = vectorLength(e);
  const size = scalarBytes[type];
  const entry = from.kind === "address" && from.base.kind === "variable" ? e.context.entryParameter(from.base.variable) : undefined;
  if (space === "param" && entry !== undefined && from.kind === "address" && from.base.kind === "variable") {
    const offset = entry + from.base.offset + from.offset;
    const base = e.uniform("paramBase", "w.paramBase");
    for (const [k, element] of elements(to, count).entries()) put(e, element, type, `(${base}+${offset + k * size})`);
    return;
  }
  const strong = isStrong(e);
  const at = locate(e, from, space, size * count, strong ? accessModes.read | accessModes.strong : accessModes.read);
  if (strong) e.line(`w.observe(${e.has("acquire")});`);
  for (const [k, element] of elements(to, count).entries()) put(e, element, type, k === 0 ? at : `(${at}+${k * size})`);
}

export function store(e: Emitter): void {
  const type = typeOf(e.instruction);
  const count = vectorLength(e);
  const size = scalarBytes[type];
  const strong = isStrong(e);
  const values = elements(e.operand(1), count);
  // Conversions come first, so that a store that fails leaves nothing half done.
  const at = locate(e, e.operand(0), spaceOf(e), size * count, strong ? accessModes.write | accessModes.strong : accessModes.write);
  for (const [k, value] of values.entries()) take(e, value, type, k === 0 ? at : `(${at}+${k * size})`);
  if (strong) e.line(`w.publish(${e.has("release")});`);
  e.uniform("wrote", "w.launch.progress++");
}

/** st.async: stores to the shared memory of a block of the cluster and counts the bytes at a barrier there. */
export function storeAsync(e: Emitter): void {
  const type = typeOf(e.instruction);
  const count = vectorLength(e);
  const size = scalarBytes[type];
  const at = locate(e, e.operand(0), "shared", size * count, accessModes.write | accessModes.strong);
  for (const [k, value] of elements(e.operand(1), count).entries()) take(e, value, type, k === 0 ? at : `(${at}+${k * size})`);
  const barrier = locate(e, e.operand(2), "shared", 8, accessModes.both | accessModes.strong);
  e.line(`w.publish(true);mbarrierComplete(w,l,${e.site},${barrier},${size * count});`);
}

/**
 * cp.async, whose bytes arrive when they are waited for, cp.async.bulk to shared memory, whose bytes arrive when somebody waits at its barrier
 * object, and from it, which is done at once: its commits and waits have nothing to do.
 */
export function copyAsync(e: Emitter): void {
  const { modifiers, operands } = e.instruction;
  const bulk = e.has("bulk");
  if (e.has("commit_group")) {
    if (!bulk) e.line("w.copies?.commit(l);");
    return;
  }
  if (e.has("wait_all")) {
    e.line("w.copies?.waitForAll(l);");
    return;
  }
  if (modifiers.some((word) => /^wait_group/.test(word))) {
    if (!bulk) e.line(`w.copies?.wait(l,${e.word(e.operand(0))});`);
    return;
  }
  if (e.has("mbarrier") && e.has("arrive")) {
    e.line("w.copies?.waitForAll(l);");
    if (!e.has("noinc")) return;
    const barrier = locate(e, e.operand(0), "shared", 8, accessModes.both | accessModes.strong);
    e.line(`mbarrierArrive(w,l,${e.site},${barrier},1,0,false);`);
    return;
  }
  if (e.has("tensor") || e.has("reduce") || e.has("prefetch")) throw e.unsupported("only plain copies are modelled");
  const toShared = modifiers.findIndex((word) => word.startsWith("shared")) < modifiers.indexOf("global");
  const bytes = e.word(e.operand(2));
  const used = !bulk && operands[3] !== undefined ? e.word(operands[3]) : bytes;
  const [toLow, toHigh] = addressHalves(e, e.operand(0));
  const [fromLow, fromHigh] = addressHalves(e, e.operand(1));
  if (!bulk) {
    e.line(`copyLater(w,l,${e.site},${toHigh},${toLow},${fromHigh},${fromLow},${bytes},${used});`);
    return;
  }
  const barrier = operands[3];
  if (toShared && barrier?.kind === "address") {
    const at = locate(e, barrier, "shared", 8, accessModes.both | accessModes.strong);
    e.line(`copyBulk(w,l,${e.site},${toHigh},${toLow},${fromHigh},${fromLow},${bytes},${at});`);
    return;
  }
  const spaces = toShared ? [spaceCodes.shared, spaceCodes.global] : [spaceCodes.global, spaceCodes.shared];
  e.line(`copyBytes(w,l,${e.site},${spaces[0]},${toHigh},${toLow},${spaces[1]},${fromHigh},${fromLow},${bytes},${used});`);
}

function addressHalves(e: Emitter, operand: PtxOperand): [string, string] {
  if (operand.kind !== "address") throw e.unsupported("expected an address in brackets");
  const [low, high] = e.halves(operand.base);
  return operand.offset === 0 ? [low, high] : [`(${low}+${operand.offset}|0)`, high];
}
