// atom and red: one lane after the other reads, computes and writes, which is what makes them
// atomic here.
import { type PtxOperand, type ScalarType, scalarBytes } from "../types.js";
import { halfKind } from "./emit-half.js";
import { lessThan64 } from "./emit-integer.js";
import { accessModes, elementsOf, locate, skipHints, spaceOf, vectorLength } from "./emit-memory.js";
import { windows } from "./emit-move.js";
import type { Emitter } from "./emitter.js";

const bits: readonly ScalarType[] = ["b32", "b64"];
const ordered: readonly ScalarType[] = ["u32", "s32", "u64", "s64"];
const halves: readonly ScalarType[] = ["f16", "f16x2", "bf16", "bf16x2"];

/** The types that each operation takes. */
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

function newWord(
  e: Emitter,
  operation: string,
  type: ScalarType,
  old: string,
  b: PtxOperand,
  c: PtxOperand | undefined,
  flush: string,
): string {
  if (type === "f32") {
    const value = e.single(b);
    const plain = `singleBits(Math.fround(singleFromBits(${old})+${value}))`;
    const flushed = `singleBits(flush32(Math.fround(flush32(singleFromBits(${old}))+flush32(${value}))))`;
    return flush === "true" ? flushed : flush === "false" ? plain : `(${flush}?${flushed}:${plain})`;
  }
  if (type === "f16x2" || type === "bf16x2") {
    const kind = halfKind(type);
    const word = e.word(b, type);
    const part = (shift: string): string => `halfOperations.${operation}(${kind},${old}${shift}&65535,${word}${shift}&65535,0)`;
    return `(${part("")}|${part(">>>16")}<<16)`;
  }
  const value = e.word(b, type);
  switch (operation) {
    case "add":
      return `(${old}+${value})|0`;
    case "and":
      return `${old}&${value}`;
    case "or":
      return `${old}|${value}`;
    case "xor":
      return `${old}^${value}`;
    case "exch":
      return value;
    case "cas":
      return `(${old}===${value}?${e.word(c!, type)}:${old})`;
    case "inc":
      return `((${old}>>>0)>=(${value}>>>0)?0:(${old}+1)|0)`;
    case "dec":
      return `(${old}===0||(${old}>>>0)>(${value}>>>0)?${value}:(${old}-1)|0)`;
    default: {
      const unsigned = type === "s32" ? "" : ">>>0";
      const better = operation === "min" ? "<" : ">";
      return `((${value}${unsigned})${better}(${old}${unsigned})?${value}:${old})`;
    }
  }
}

function atomicWord(
  e: Emitter,
  operation: string,
  type: ScalarType,
  at: string,
  to: PtxOperand,
  b: PtxOperand,
  c: PtxOperand | undefined,
  flush: string,
): void {
  const old = e.temporary(`G32[${at}>>>2]`);
  const fresh = e.temporary(newWord(e, operation, type, old, b, c, flush));
  e.line(`if(${fresh}!==${old}){G32[${at}>>>2]=${fresh};w.launch.progress++;}`);
  e.setWord(to, old, type);
}

function atomicHalf(
  e: Emitter,
  operation: string,
  type: ScalarType,
  at: string,
  to: PtxOperand,
  b: PtxOperand,
  c: PtxOperand | undefined,
): void {
  const old = e.temporary(`G16[${at}>>>1]`);
  const value = `(${e.word(b, type)}&65535)`;
  const fresh = e.temporary(
    operation === "cas"
      ? `(${old}===${value}?${e.word(c!, type)}&65535:${old})`
      : `halfOperations.${operation}(${halfKind(type)},${old},${value},0)`,
  );
  e.line(`if(${fresh}!==${old}){G16[${at}>>>1]=${fresh};w.launch.progress++;}`);
  e.setWord(to, old, type);
}

function newHalves(
  e: Emitter,
  operation: string,
  type: ScalarType,
  old: [string, string],
  b: PtxOperand,
  c: PtxOperand | undefined,
): [string, string] {
  if (type === "f64" && operation === "add") {
    const sum = e.temporary(`doubleFromBits(${old[0]},${old[1]})+${e.double(b)}`);
    return [`doubleLow(${sum})`, `doubleHigh(${sum})`];
  }
  const value = e.halves(b, type);
  const chosen = (test: string, yes: [string, string], no: [string, string]): [string, string] => {
    const first = e.temporary(test);
    return [`(${first}?${yes[0]}:${no[0]})`, `(${first}?${yes[1]}:${no[1]})`];
  };
  switch (operation) {
    case "add": {
      const low = e.temporary(`(${old[0]}+${value[0]})|0`);
      return [low, `(${old[1]}+${value[1]}+((${low}>>>0)<(${old[0]}>>>0)?1:0))|0`];
    }
    case "and":
      return [`${old[0]}&${value[0]}`, `${old[1]}&${value[1]}`];
    case "or":
      return [`${old[0]}|${value[0]}`, `${old[1]}|${value[1]}`];
    case "xor":
      return [`${old[0]}^${value[0]}`, `${old[1]}^${value[1]}`];
    case "exch":
      return value;
    case "cas":
      return chosen(`(${old[0]}===${value[0]}&&${old[1]}===${value[1]})`, e.halves(c!, type), old);
    case "min":
      return chosen(lessThan64(value, old, type === "s64"), value, old);
    case "max":
      return chosen(lessThan64(old, value, type === "s64"), value, old);
    default:
      throw e.unsupported("no such 64-bit atomic");
  }
}

function atomicWide(
  e: Emitter,
  operation: string,
  type: ScalarType,
  at: string,
  to: PtxOperand,
  b: PtxOperand,
  c: PtxOperand | undefined,
): void {
  const old: [string, string] = [e.temporary(`G32[${at}>>>2]`), e.temporary(`G32[(${at}>>>2)+1]`)];
  const [low, high] = newHalves(e, operation, type, old, b, c);
  const fresh = [e.temporary(low), e.temporary(high)];
  e.line(
    `if(${fresh[0]}!==${old[0]}||${fresh[1]}!==${old[1]}){G32[${at}>>>2]=${fresh[0]};G32[(${at}>>>2)+1]=${fresh[1]};w.launch.progress++;}`,
  );
  e.setHalves(to, old[0], old[1], type);
}

function atomicQuad(e: Emitter, operation: string, at: string, to: PtxOperand, b: PtxOperand, c: PtxOperand | undefined): void {
  const old = [0, 1, 2, 3].map((k) => e.temporary(`G32[(${at}>>>2)+${k}]`));
  const fresh = e.quarters(operation === "cas" ? c! : b);
  const matches =
    operation === "cas"
      ? e
          .quarters(b)
          .map((part, k) => `${part}===${old[k]}`)
          .join("&&")
      : "true";
  e.line(`if(${matches}){${fresh.map((part, k) => `G32[(${at}>>>2)+${k}]=${part};`).join("")}w.launch.progress++;}`);
  e.setQuarters(to, old);
}

export function atomic(e: Emitter): void {
  const reduction = e.instruction.opcode === "red";
  const asynchronous = reduction && e.has("async");
  const operation = e.reading.find([...operations.keys()].filter((word) => !reduction || (word !== "exch" && word !== "cas")));
  if (operation === undefined) throw e.unsupported(`it takes an operation: ${[...operations.keys()].map((word) => `.${word}`).join(", ")}`);
  const type = e.type(operations.get(operation));
  const order = e.reading.find(["relaxed", "acquire", "release", "acq_rel"]);
  e.reading.find(["cta", "cluster", "gpu", "sys"]);
  const first = reduction ? 0 : 1;
  const space = spaceOf(e);
  if (space !== "generic" && space !== "global" && space !== "shared") throw e.unsupported("atomics are of global and shared memory");
  const count = vectorLength(e);
  if (halves.includes(type) && !e.has("noftz")) throw e.unsupported("it takes .noftz");
  if (count === 1 && halves.includes(type) && operation !== "add") throw e.unsupported(`.${type} alone takes .add`);
  if (count > 1 && type !== "f32" && !halves.includes(type)) throw e.unsupported(`.v${count} takes floats`);
  if (asynchronous) e.reading.skip(["mbarrier::complete_tx::bytes"]);
  else skipHints(e, "global", e.reading.operandCount - 1);
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
  for (let k = 0; k < count; k++) {
    const place = k === 0 ? at : `(${at}+${k * size})`;
    if (size === 2) atomicHalf(e, operation, type, place, results[k]!, b[k]!, c);
    else if (size === 4) atomicWord(e, operation, type, place, results[k]!, b[k]!, c, flush);
    else if (size === 8) atomicWide(e, operation, type, place, results[k]!, b[k]!, c);
    else atomicQuad(e, operation, place, results[k]!, b[k]!, c);
  }
  e.line(`w.publish(${order === "release" || order === "acq_rel"});`);
  if (!asynchronous) return;
  // red.async counts its bytes at a barrier of the block whose memory it updates.
  const barrier = locate(e, e.operand(2), "shared", 8, accessModes.both | accessModes.object);
  e.line(`mbarrierComplete(w,l,${e.site},${barrier},${size});`);
}
