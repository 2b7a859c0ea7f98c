// Which emitter an instruction goes to, by opcode and type. An opcode that is not here is not
// modelled, and saying so names it.
import { isScalarType, type PtxInstruction, type ScalarType } from "../types.js";
import { atomic } from "./emit-atomic.js";
import { barrierObject } from "./emit-barrier-object.js";
import { select, selectBySign, setPredicate, setValue } from "./emit-compare.js";
import { convert } from "./emit-convert.js";
import { floatHandlers, pairHandlers } from "./emit-float.js";
import { halfHandlers } from "./emit-half.js";
import { type Handler, integerHandlers } from "./emit-integer.js";
import { copyAsync, load, store, storeAsync } from "./emit-memory.js";
import { addressRank, convertAddress, isSpace, mapAddress, move } from "./emit-move.js";
import { stackHandlers } from "./emit-stack.js";
import { videoHandlers } from "./emit-video.js";
import type { Emitter } from "./emitter.js";

/**
 * An instruction that changes no result: its modifiers are those that it may have, and its operands
 * are addresses and numbers.
 */
function nothing(modifiers: RegExp, operands: number): Handler {
  return (e) => {
    e.reading.skip(modifiers);
    for (let k = 0; k < operands; k++) e.operand(k);
  };
}

/** A fence of proxies orders no threads. */
const fence: Handler = (e) => {
  if (e.has("proxy")) {
    e.reading.skip(
      /^(alias|async|async::generic|tensormap::generic|global|shared::(cta|cluster)|acquire|release|sync_restrict::.*|cta|cluster|gpu|sys)$/,
    );
    e.line("w.launch.races.fenceProxy(w);");
    return;
  }
  e.reading.skip(["mbarrier_init"]);
  e.reading.find(["sc", "acq_rel", "acquire", "release"]);
  const scopes = e.instruction.opcode === "membar" ? ["cta", "gl", "sys"] : ["cta", "cluster", "gpu", "sys"];
  const scope = e.reading.find(scopes);
  if (scope === undefined) throw e.unsupported(`it takes a scope: ${scopes.map((word) => `.${word}`).join(", ")}`);
  e.line(`w.fence(${scope !== "cta"});`);
};

const hints = /^(global|local|generic|L1|L2|L2::evict_(last|normal|first|unchanged))$/;

const special: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ["mov", move],
  ["cvta", convertAddress],
  ["isspacep", isSpace],
  ["mapa", mapAddress],
  ["getctarank", addressRank],
  ["cvt", convert],
  ["setp", setPredicate],
  ["set", setValue],
  ["selp", select],
  ["slct", selectBySign],
  ["ld", load],
  ["ldu", load],
  ["st", (e) => (e.instruction.modifiers.includes("async") ? storeAsync(e) : store(e))],
  ["atom", atomic],
  ["red", atomic],
  ["cp", copyAsync],
  ["fence", fence],
  ["membar", fence],
  ["mbarrier", barrierObject],
  [
    "activemask",
    (e) => {
      e.type(["b32"]);
      e.setWord(e.operand(0), "m");
    },
  ],
  ["trap", (e) => e.line(`throw w.launch.error("trap","trap",w,l,${e.site});`)],
  ["brkpt", (e) => e.line(`throw w.launch.error("breakpoint","breakpoint",w,l,${e.site});`)],
  [
    "createpolicy",
    (e) => {
      e.type(["b64"]);
      e.reading.skip(/^(global|fractional|range|cvt|L2|L2::evict_(last|normal|first|unchanged))$/);
      for (let k = 1; k < e.reading.operandCount; k++) e.operand(k);
      e.setHalves(e.operand(0), "0", "0");
    },
  ],
  ["prefetch", nothing(hints, 1)],
  ["prefetchu", nothing(hints, 1)],
  ["applypriority", nothing(hints, 2)],
  ["discard", nothing(hints, 2)],
  ["griddepcontrol", nothing(/^(launch_dependents|wait)$/, 0)],
  ["setmaxnreg", nothing(/^(inc|dec|sync|aligned|u32)$/, 1)],
  ["pmevent", nothing(/^mask$/, 1)],
  ...stackHandlers,
  ...videoHandlers,
]);

function lastType(modifiers: readonly string[]): ScalarType | undefined {
  for (let k = modifiers.length - 1; k >= 0; k--) if (isScalarType(modifiers[k]!)) return modifiers[k] as ScalarType;
  return undefined;
}

export function handlerOf(e: Emitter, instruction: PtxInstruction): Handler {
  const { opcode, modifiers } = instruction;
  const known = special.get(opcode);
  if (known !== undefined) return known;
  const type = lastType(modifiers);
  const floats = type === "f32" || type === "f64" ? floatHandlers : type === "f32x2" ? pairHandlers : halfHandlers;
  const table = type?.includes("f") ? floats : integerHandlers;
  const handler = table.get(opcode);
  if (handler !== undefined) return handler;
  e.begin(instruction);
  throw e.unsupported("this instruction is not modelled");
}
