// mbarrier: the barrier objects of sm_80 and later, 64 bits in shared memory. The counting is done by the runtime; see run/barrier-object.ts.
import type { Handler } from "./emit-integer.js";
import type { PtxOperand } from "../types.js";
import { accessModes, locate } from "./emit-memory.js";
import type { Emitter } from "./emitter.js";

function object(e: Emitter, operand: PtxOperand, mode: number): string {
  const shared = e.instruction.modifiers.some((word) => word.startsWith("shared"));
  return locate(e, operand, shared ? "shared" : "generic", 8, mode | accessModes.strong);
}

function arrive(e: Emitter, drop: boolean): void {
  const { operands } = e.instruction;
  const first = operands[0]?.kind === "address" ? 0 : 1;
  const at = object(e, e.operand(first), accessModes.both);
  const extra = operands[first + 1] === undefined ? undefined : e.word(operands[first + 1]!);
  const expects = e.has("expect_tx");
  const count = expects ? "1" : (extra ?? "1");
  const bytes = expects ? (extra ?? "0") : "0";
  e.line("w.publish(true);");
  const low = e.temporary(`mbarrierArrive(w,l,${e.site},${at},${count},${bytes},${drop})`);
  if (first === 1) e.setHalves(e.operand(0), low, "wide.high");
}

function wait(e: Emitter): void {
  const at = object(e, e.operand(1), accessModes.read);
  const parity = e.has("parity");
  const which = parity ? `${e.word(e.operand(2))}&1` : `mbarrierParity(${e.halves(e.operand(2)).join(",")})`;
  const done = e.temporary(`mbarrierDone(${at},${which})`);
  e.line(`if(${done}===1)w.synchronise();else w.polled=1;`);
  e.setWord(e.operand(0), done);
}

export const barrierObjectHandlers: Readonly<Record<string, Handler>> = {
  init: (e) => {
    const at = object(e, e.operand(0), accessModes.write);
    e.line(`mbarrierInit(w,l,${e.site},${at},${e.word(e.operand(1))});`);
  },
  inval: (e) => {
    const at = object(e, e.operand(0), accessModes.both);
    e.line(`mbarrierInvalidate(${at});`);
  },
  arrive: (e) => arrive(e, false),
  arrive_drop: (e) => arrive(e, true),
  expect_tx: (e) => {
    const at = object(e, e.operand(0), accessModes.both);
    e.line(`mbarrierExpect(w,l,${e.site},${at},${e.word(e.operand(1))});`);
  },
  complete_tx: (e) => {
    const at = object(e, e.operand(0), accessModes.both);
    e.line(`mbarrierComplete(w,l,${e.site},${at},${e.word(e.operand(1))});`);
  },
  test_wait: wait,
  try_wait: wait,
  pending_count: (e) => e.setWord(e.operand(0), `(${e.halves(e.operand(1))[0]}&1048575)`),
};
