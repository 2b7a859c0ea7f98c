// atom and red: one lane after the other reads, computes and writes, which is what makes them
// atomic here.

import { accessModes, windows } from "../run/memory.js";
import { type PtxOperand, type ScalarType, scalarBytes } from "../types.js";
import type { Emitter } from "./emitter.js";
import { halfKind } from "./float.js";
import { elementsOf, locate, skipHints, spaceOf, vectorLength } from "./memory.js";
import { type Halves, lessThan64 } from "./templates.js";

const bits: readonly ScalarType[] = ["b32", "b64"];
const ordered: readonly ScalarType[] = ["u32", "s32", "u64", "s64"];
const halves: readonly ScalarType[] = ["f16", "f16x2", "bf16", "bf16x2"];

const operations: ReadonlyMap<string, readonly ScalarType[]> = new Map<string, readonly ScalarType[]>([
  ["add", ["u32", "s32", "u64", "f32", "f64", ...halves]],
  ["min", [...ordered, ...halves]],
  ["max", [...ordered, ...halves]],
  ["inc", ["u32"]],
  ["dec", ["u32"]],
  ["and", bits],
  ["or", bits],
  ["xor", bits],
  ["exch", [...bits, "b128"]],
  ["cas", ["b16", ...bits, "b128"]],
]);

interface Update {
  readonly operation: string;
  readonly type: ScalarType;
  readonly b: PtxOperand;
  readonly c: PtxOperand | undefined;
  /** Whether a sum in binary32 flushes subnormals: an expression. */
  readonly flush: string;
}

const wordForms: Readonly<Record<string, (old: string, value: string, unsigned: string) => string>> = {
  add: (old, value) => `(${old}+${value})|0`,
  and: (old, value) => `${old}&${value}`,
  or: (old, value) => `${old}|${value}`,
  xor: (old, value) => `${old}^${value}`,
  exch: (_, value) => value,
  inc: (old, value) => `((${old}>>>0)>=(${value}>>>0)?0:(${old}+1)|0)`,
  dec: (old, value) => `(${old}===0||(${old}>>>0)>(${value}>>>0)?${value}:(${old}-1)|0)`,
  min: (old, value, unsigned) => `((${value}${unsigned})<(${old}${unsigned})?${value}:${old})`,
  max: (old, value, unsigned) => `((${value}${unsigned})>(${old}${unsigned})?${value}:${old})`,
};

function newWord(e: Emitter, { operation, type, b, c, flush }: Update, old: string): string {
  if (type === "f32") {
    const value = e.float(b, type);
    const plain = `singleBits(Math.fround(singleFromBits(${old})+${value}))`;
    const flushed = `singleBits(flush32(Math.fround(flush32(singleFromBits(${old}))+flush32(${value}))))`;
    return flush === "true" ? flushed : flush === "false" ? plain : `(${flush}?${flushed}:${plain})`;
  }
  const value = e.word(b, type);
  if (type.endsWith("x2")) {
    const part = (shift: string): string => `halfOperations.${operation}(${halfKind(type)},${old}${shift}&65535,${value}${shift}&65535,0)`;
    return `(${part("")}|${part(">>>16")}<<16)`;
  }
  if (operation === "cas") return `(${old}===${value}?${e.word(c!, type)}:${old})`;
  return wordForms[operation]!(old, value, type === "s32" ? "" : ">>>0");
}

function newHalf(e: Emitter, { operation, type, b, c }: Update, old: string): string {
  const value = `(${e.word(b, type)}&65535)`;
  if (operation === "cas") return `(${old}===${value}?${e.word(c!, type)}&65535:${old})`;
  return `halfOperations.${operation}(${halfKind(type)},${old},${value},0)`;
}

function newHalves(e: Emitter, { operation, type, b, c }: Update, old: Halves): Halves {
  if (type === "f64" && operation === "add") {
    const sum = e.temporary(`doubleFromBits(${old[0]},${old[1]})+${e.float(b, type)}`);
    return [`doubleLow(${sum})`, `doubleHigh(${sum})`];
  }
  const value = e.halves(b, type);
  const chosen = (test: string, yes: Halves, no: Halves): Halves => {
    const first = e.temporary(test);
    return [`(${first}?${yes[0]}:${no[0]})`, `(${first}?${yes[1]}:${no[1]})`];
  };
  if (operation === "add") {
    const low = e.temporary(`(${old[0]}+${value[0]})|0`);
    return [low, `(${old[1]}+${value[1]}+((${low}>>>0)<(${old[0]}>>>0)?1:0))|0`];
  }
  if (operation === "cas") return chosen(`(${old[0]}===${value[0]}&&${old[1]}===${value[1]})`, e.halves(c!, type), old);
  if (operation === "min") return chosen(lessThan64(value, old, type === "s64"), value, old);
  if (operation === "max") return chosen(lessThan64(old, value, type === "s64"), value, old);
  const form = wordForms[operation]!;
  return [form(old[0], value[0], ""), form(old[1], value[1], "")];
}

/** Updates one element at the heap index `at`, and gives what it was. */
function update(e: Emitter, how: Update, at: string, to: PtxOperand): void {
  const { operation, type, b, c } = how;
  const size = scalarBytes[type];
  const wholeWords =
    size === 16 ? [0, 1, 2, 3].map((k) => `G32[(${at}>>>2)+${k}]`) : [`G32[${at}>>>2]`, `G32[(${at}>>>2)+1]`].slice(0, size / 4);
  const words = size === 2 ? [`G16[${at}>>>1]`] : wholeWords;
  const old = words.map((word) => e.temporary(word));
  const write = (test: string, fresh: readonly string[]): void =>
    e.line(`if(${test}){${words.map((word, k) => `${word}=${fresh[k]};`).join("")}w.launch.progress++;}`);
  if (size === 16) {
    const fresh = e.words(operation === "cas" ? c! : b, type);
    const same = () => e.words(b, type).map((part, k) => `${part}===${old[k]}`);
    write(operation === "cas" ? same().join("&&") : "true", fresh);
    e.setWords(to, old, type);
    return;
  }
  const [first, second] = old as [string, string?];
  const values = second !== undefined ? newHalves(e, how, [first, second]) : [size === 2 ? newHalf(e, how, first) : newWord(e, how, first)];
  const fresh = values.map((value) => e.temporary(value));
  write(fresh.map((word, k) => `${word}!==${old[k]}`).join("||"), fresh);
  e.setWords(to, old, type);
}

export function atomic(e: Emitter): void {
  const reduction = e.instruction.opcode === "red";
  const asynchronous = reduction && e.has("async");
  const operation = e.find([...operations.keys()].filter((word) => !reduction || (word !== "exch" && word !== "cas")));
  if (operation === undefined) throw e.unsupported(`it takes an operation: ${[...operations.keys()].map((word) => `.${word}`).join(", ")}`);
  const type = e.type(operations.get(operation));
  const order = e.find(["relaxed", "acquire", "release", "acq_rel"]);
  e.find(["cta", "cluster", "gpu", "sys"]);
  const first = reduction ? 0 : 1;
  const space = spaceOf(e);
  if (space !== "generic" && space !== "global" && space !== "shared") throw e.unsupported("atomics are of global and shared memory");
  const count = vectorLength(e);
  if (halves.includes(type)) e.one(["noftz"]);
  if (count === 1 && halves.includes(type) && operation !== "add") throw e.unsupported(`.${type} alone takes .add`);
  if (count > 1 && type !== "f32" && !halves.includes(type)) throw e.unsupported(`.v${count} takes floats`);
  if (asynchronous) e.skip(["mbarrier::complete_tx::bytes"]);
  else skipHints(e, "global", e.operandCount - 1);
  const size = scalarBytes[type];
  const address = e.operand(first);
  const at = locate(e, address, space, size * count, accessModes.both | accessModes.strong);
  // The ISA: atom.add.f32 flushes subnormals in global memory and keeps them in shared memory.
  const high = address.kind === "address" && space === "generic" ? e.address(address.base)[1] : "";
  const flush = space === "global" ? "true" : space === "shared" ? "false" : `(${high}===${windows.global})`;
  e.line(`w.observe(${order === "acquire" || order === "acq_rel"});`);
  const results = reduction ? Array.from({ length: count }, (): PtxOperand => ({ kind: "sink" })) : elementsOf(e, e.operand(0), count);
  const b = elementsOf(e, e.operand(first + 1), count);
  const c = operation === "cas" ? e.operand(first + 2) : undefined;
  for (let k = 0; k < count; k++) update(e, { operation, type, b: b[k]!, c, flush }, k === 0 ? at : `(${at}+${k * size})`, results[k]!);
  e.line(`w.publish(${order === "release" || order === "acq_rel"});`);
  if (!asynchronous) return;
  // red.async counts its bytes at a barrier of the block whose memory it updates.
  const barrier = locate(e, e.operand(2), "shared", 8, accessModes.both | accessModes.object);
  e.line(`mbarrierComplete(w,l,${e.site},${barrier},${size});`);
}
