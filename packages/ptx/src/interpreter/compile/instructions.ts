// The table of instructions: what writes each, by opcode and type. Others are not modelled.
import { isScalarType, type PtxInstruction, type ScalarType } from "../types.js";
import { atomic } from "./atomic.js";
import { barrierObject } from "./barrier-object.js";
import { select, selectBySign, setPredicate, setValue } from "./compare.js";
import { convert } from "./convert.js";
import type { Emitter } from "./emitter.js";
import { floatForms, halfForms, pairForms } from "./float.js";
import { integerForms } from "./integer.js";
import { copyAsync, load, store, storeAsync } from "./memory.js";
import { addressRank, convertAddress, isSpace, mapAddress, move, stackForms } from "./move.js";
import type { Handler } from "./templates.js";
import { videoForms } from "./video.js";

/** An instruction that changes no result: the modifiers and operands that it may have. */
function nothing(modifiers: RegExp, operands: number): Handler {
  return (e) => {
    e.skip(modifiers);
    for (let k = 0; k < operands; k++) e.operand(k);
  };
}

/** A fence of proxies orders no threads. */
const fence: Handler = (e) => {
  if (e.has("proxy")) {
    e.skip(
      /^(alias|async|async::generic|tensormap::generic|global|shared::(cta|cluster)|acquire|release|sync_restrict::.*|cta|cluster|gpu|sys)$/,
    );
    e.line("w.launch.races.fenceProxy(w);");
    return;
  }
  e.skip(["mbarrier_init"]);
  e.find(["sc", "acq_rel", "acquire", "release"]);
  const scopes = e.instruction.opcode === "membar" ? ["cta", "gl", "sys"] : ["cta", "cluster", "gpu", "sys"];
  e.line(`w.fence(${e.one(scopes, "it takes a scope:") !== "cta"});`);
};

const hints = /^(global|local|generic|L1|L2|L2::evict_(last|normal|first|unchanged))$/;

/** Instructions whose form depends on the type: integers, f32 and f64, pairs of f32, or halves. */
const formsByType = { integer: integerForms, float: floatForms, pair: pairForms, half: halfForms } as const;

const instructions: Readonly<Record<string, Handler>> = {
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
  st: (e) => (e.instruction.modifiers.includes("async") ? storeAsync(e) : store(e)),
  atom: atomic,
  red: atomic,
  cp: copyAsync,
  fence: fence,
  membar: fence,
  mbarrier: barrierObject,
  activemask: (e) => {
    e.type(["b32"]);
    e.setWord(e.operand(0), "m");
  },
  trap: (e) => e.line(`throw w.error("trap","trap",l,${e.site});`),
  brkpt: (e) => e.line(`throw w.error("breakpoint","breakpoint",l,${e.site});`),
  createpolicy: (e) => {
    e.type(["b64"]);
    e.skip(/^(global|fractional|range|cvt|L2|L2::evict_(last|normal|first|unchanged))$/);
    for (let k = 1; k < e.operandCount; k++) e.operand(k);
    e.setHalves(e.operand(0), "0", "0");
  },
  prefetch: nothing(hints, 1),
  prefetchu: nothing(hints, 1),
  applypriority: nothing(hints, 2),
  discard: nothing(hints, 2),
  griddepcontrol: nothing(/^(launch_dependents|wait)$/, 0),
  setmaxnreg: nothing(/^(inc|dec|sync|aligned|u32)$/, 1),
  pmevent: nothing(/^mask$/, 1),
  ...stackForms,
  ...videoForms,
};

function lastType(modifiers: readonly string[]): ScalarType | undefined {
  for (let k = modifiers.length - 1; k >= 0; k--) if (isScalarType(modifiers[k]!)) return modifiers[k] as ScalarType;
  return undefined;
}

function classOf(type: ScalarType | undefined): keyof typeof formsByType {
  if (!type?.includes("f")) return "integer";
  if (type === "f32" || type === "f64") return "float";
  return type === "f32x2" ? "pair" : "half";
}

/** What writes an instruction. @throws UnsupportedPtxError if it is not modelled */
export function handlerOf(e: Emitter, instruction: PtxInstruction): Handler {
  const { opcode, modifiers } = instruction;
  if (Object.hasOwn(instructions, opcode)) return instructions[opcode]!;
  const forms: Readonly<Record<string, Handler>> = formsByType[classOf(lastType(modifiers))];
  if (Object.hasOwn(forms, opcode)) return forms[opcode]!;
  e.begin(instruction);
  throw e.unsupported("this instruction is not modelled");
}
