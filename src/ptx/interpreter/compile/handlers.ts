// Which emitter an instruction goes to, by opcode and type. An opcode that is not here is not modelled, and saying so names it.
import { isScalarType, type PtxInstruction, type ScalarType } from "../types.js";
import { atomic } from "./emit-atomic.js";
import { barrierObjectHandlers } from "./emit-barrier-object.js";
import { select, selectBySign, setPredicate, setValue } from "./emit-compare.js";
import { convert } from "./emit-convert.js";
import { floatHandlers } from "./emit-float.js";
import { halfHandlers } from "./emit-half.js";
import { type Handler, integerHandlers } from "./emit-integer.js";
import { copyAsync, load, store, storeAsync } from "./emit-memory.js";
import { addressRank, convertAddress, isSpace, mapAddress, move } from "./emit-move.js";
import type { Emitter } from "./emitter.js";

const nothing: Handler = () => {};

/** A fence of proxies orders no threads. */
const fence: Handler = (e) => e.line(e.has("proxy") ? "w.launch.races.fenceProxy(w);" : `w.fence(${!e.has("cta")});`);

const special: Readonly<Record<string, Handler>> = {
  mov: move,
  cvta: convertAddress,
  isspacep: isSpace,
  mapa: mapAddress,
  getctarank: addressRank,
  cvt: convert,
  setp: setPredicate,
  set: setValue,
  selp: select,
  slct: selectBySign,
  ld: load,
  ldu: load,
  st: (e) => (e.has("async") ? storeAsync(e) : store(e)),
  atom: atomic,
  red: atomic,
  cp: copyAsync,
  fence,
  membar: fence,
  mbarrier: (e) => {
    const handler = barrierObjectHandlers[e.instruction.modifiers[0] ?? ""];
    if (handler === undefined) throw e.unsupported("no such mbarrier operation");
    handler(e);
  },
  activemask: (e) => e.setWord(e.operand(0), "m"),
  trap: (e) => e.line(`throw w.launch.error("trap","trap",w,l,${e.site});`),
  brkpt: (e) => e.line(`throw w.launch.error("breakpoint","breakpoint",w,l,${e.site});`),
  createpolicy: (e) => e.setHalves(e.operand(0), "0", "0"),
  prefetch: nothing,
  prefetchu: nothing,
  applypriority: nothing,
  discard: nothing,
  griddepcontrol: nothing,
  setmaxnreg: nothing,
  pmevent: nothing,
};

function lastType(modifiers: readonly string[]): ScalarType | undefined {
  for (let k = modifiers.length - 1; k >= 0; k--) if (isScalarType(modifiers[k]!)) return modifiers[k] as ScalarType;
  return undefined;
}

export function handlerOf(e: Emitter, instruction: PtxInstruction): Handler {
  const { opcode, modifiers } = instruction;
  const known = special[opcode];
  if (known !== undefined) return known;
  const type = lastType(modifiers);
  const table = type === "f32" || type === "f64" ? floatHandlers : type?.includes("f") ? halfHandlers : integerHandlers;
  const handler = table[opcode];
  if (handler !== undefined) return handler;
  e.instruction = instruction;
  throw e.unsupported("this instruction is not modelled");
}
