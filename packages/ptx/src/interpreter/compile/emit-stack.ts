// The stack of a function's activation, which grows in each lane on its own: alloca, stacksave,
// stackrestore. Pointers are to local memory.

import { scalarBytes } from "../types.js";
import type { Handler } from "./emit-integer.js";
import type { Emitter } from "./emitter.js";

/** Alignment of what alloca gives if none is asked for, PTX ISA 9.0, section 9.7.14. */
const usualAlignment = 8;

function setPointer(e: Emitter, place: string): void {
  const type = e.type(["u32", "u64"]);
  const to = e.operand(0);
  if (to.kind !== "register") throw e.unsupported("the result must go to a register");
  const low = e.temporary(place);
  if (scalarBytes[type] === 8) e.setHalves(to, low, "0", type);
  else e.setWord(to, low, type);
}

function allocate(e: Emitter): void {
  const type = e.type(["u32", "u64"]);
  const alignment = e.reading.optional(2);
  if (alignment !== undefined && alignment.kind !== "integer") throw e.unsupported("an alignment is a constant");
  const bytes = alignment === undefined ? usualAlignment : Number(alignment.value);
  if (!(bytes > 0 && bytes <= 2 ** 30) || (bytes & (bytes - 1)) !== 0) throw e.unsupported("an alignment is a power of two");
  const [low, high] = type === "u64" ? e.halves(e.operand(1), type) : [e.word(e.operand(1), type), "0"];
  setPointer(e, `w.frame.allocate(w,l,${low},${high},${bytes},${e.site})`);
}

function restore(e: Emitter): void {
  const type = e.type(["u32", "u64"]);
  if (e.operand(0).kind !== "register") throw e.unsupported("it takes a register");
  const [low, high] = type === "u64" ? e.halves(e.operand(0), type) : [e.word(e.operand(0), type), "0"];
  e.line(`w.frame.restore(w,l,${low},${high},${e.site});`);
}

export const stackHandlers: readonly (readonly [opcode: string, handler: Handler])[] = [
  ["alloca", allocate],
  ["stacksave", (e) => setPointer(e, "w.frame.topOf(l)")],
  ["stackrestore", restore],
];
