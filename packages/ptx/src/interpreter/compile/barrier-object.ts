// mbarrier: the barrier objects of sm_80 and later, 64 bits in shared memory. The counting is done
// by the runtime; see run/barrier-object.ts.

import { accessModes } from "../run/memory.js";
import type { PtxOperand } from "../types.js";
import type { Emitter } from "./emitter.js";
import { locate, spaceOf } from "./memory.js";
import type { Handler } from "./templates.js";

function object(e: Emitter, operand: PtxOperand, mode: number): string {
  e.type(["b64"]);
  const space = spaceOf(e);
  if (space !== "shared" && space !== "generic") throw e.unsupported("barrier objects are in shared memory");
  return locate(e, operand, space, 8, mode | accessModes.object);
}

/** The words of the memory model, which are so in any case if they are not said. */
function skipOrder(e: Emitter, word: string): void {
  if (e.has(word) && !e.has("cta", "cluster")) throw e.unsupported(`.${word} takes .cta or .cluster`);
}

function arrive(e: Emitter, drop: boolean): void {
  const expects = e.has("expect_tx");
  const relaxed = e.has("relaxed");
  skipOrder(e, relaxed ? "relaxed" : "release");
  // That the phase does not end is the program's promise.
  if (!expects) e.skip(["noComplete"]);
  const first = e.operand(0).kind === "address" ? 0 : 1;
  const at = object(e, e.operand(first), accessModes.both);
  const more = e.optional(first + 1);
  const extra = more === undefined ? undefined : e.word(more, "u32");
  if (expects && extra === undefined) throw e.unsupported("it takes a number of bytes");
  const count = expects ? "1" : (extra ?? "1");
  e.line(`w.publish(${!relaxed});`);
  const low = e.temporary(`mbarrierArrive(w,l,${e.site},${at},${count},${expects ? extra : "0"},${drop})`);
  if (first === 1) e.setHalves(e.operand(0), low, "wide.high");
}

function wait(e: Emitter): void {
  skipOrder(e, "acquire");
  const at = object(e, e.operand(1), accessModes.read);
  const parity = e.has("parity");
  const which = parity ? `${e.word(e.operand(2))}&1` : `mbarrierParity(${e.halves(e.operand(2)).join(",")})`;
  // How long a waiting thread may sleep is no matter here.
  const hint = e.instruction.modifiers[0] === "try_wait" ? e.optional(3) : undefined;
  if (hint !== undefined) e.word(hint, "u32");
  const done = e.temporary(`mbarrierDone(${at},${which})`);
  e.line(`if(${done}===1)w.synchronise();else w.polled=1;`);
  e.setPredicate(e.operand(0), done);
}

/** An operation on the bytes that a phase waits for. */
function bytesOf(name: string): Handler {
  return (e) => {
    skipOrder(e, "relaxed");
    const at = object(e, e.operand(0), accessModes.both);
    e.line(`${name}(w,l,${e.site},${at},${e.word(e.operand(1), "u32")});`);
  };
}

const handlers: Readonly<Record<string, Handler>> = {
  init: (e) => {
    const at = object(e, e.operand(0), accessModes.write);
    e.line(`mbarrierInit(w,l,${e.site},${at},${e.word(e.operand(1), "u32")});`);
  },
  inval: (e) => e.line(`mbarrierInvalidate(${object(e, e.operand(0), accessModes.both)});`),
  arrive: (e) => arrive(e, false),
  arrive_drop: (e) => arrive(e, true),
  expect_tx: bytesOf("mbarrierExpect"),
  complete_tx: bytesOf("mbarrierComplete"),
  test_wait: wait,
  try_wait: wait,
  pending_count: (e) => {
    e.type(["b64"]);
    e.setWord(e.operand(0), `(${e.halves(e.operand(1))[0]}&1048575)`, "u32");
  },
};

export function barrierObject(e: Emitter): void {
  const name = e.at(0) ?? "";
  if (!Object.hasOwn(handlers, name)) throw e.unsupported("no such mbarrier operation");
  handlers[name]!(e);
}
