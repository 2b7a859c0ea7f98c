// Moves: mov with packing and unpacking, address conversions, and questions about addresses.
import { type PtxOperand, scalarBytes } from "../types.js";
import { isWideInteger } from "./emit-integer.js";
import { type Emitter, typeOf } from "./emitter.js";

/** High words of generic addresses, by which a space is told: see memory.ts. */
export const windows = { shared: 1, local: 2, function: 3, global: 7 } as const;

function pieces(e: Emitter, operand: PtxOperand & { kind: "vector" }, bytes: number): string[] {
  const words: string[] = [];
  const size = bytes / operand.elements.length;
  if (size >= 4) {
    for (const element of operand.elements) words.push(...(size === 8 ? e.halves(element) : [e.word(element)]));
    return words;
  }
  for (let at = 0; at < bytes; at += 4) {
    const parts = operand.elements.slice(at / size, (at + 4) / size).map((element, k) => {
      const value = `(${e.word(element)}&${2 ** (8 * size) - 1})`;
      return k === 0 ? value : `${value}<<${8 * size * k}`;
    });
    words.push(`(${parts.join("|")})`);
  }
  return words;
}

/** mov {a, b}, c: the fields of c from the lowest up. */
function unpack(e: Emitter, to: PtxOperand & { kind: "vector" }, words: string[], bytes: number): void {
  const size = bytes / to.elements.length;
  const kept = words.map((word) => e.temporary(word));
  for (const [k, element] of to.elements.entries()) {
    if (element.kind === "sink") continue;
    if (size === 8) e.setHalves(element, kept[2 * k]!, kept[2 * k + 1]!);
    else if (size === 4) e.setWord(element, kept[k]!);
    else {
      const at = k * size;
      e.setWord(element, `(${kept[at >> 2]}>>>${8 * (at & 3)})&${2 ** (8 * size) - 1}`);
    }
  }
}

export function move(e: Emitter): void {
  const type = typeOf(e.instruction);
  const bytes = scalarBytes[type];
  const [to, from] = [e.operand(0), e.operand(1)];
  if (to.kind === "vector") {
    const words = bytes === 16 ? e.quarters(from) : bytes === 8 ? e.halves(from) : [e.word(from)];
    unpack(e, to, words, bytes);
  } else if (from.kind === "vector") {
    const words = pieces(e, from, bytes);
    if (bytes === 16)
      e.setQuarters(
        to,
        words.map((word) => e.temporary(word)),
      );
    else if (bytes === 8) {
      const low = e.temporary(words[0]!);
      e.setHalves(to, low, words[1]!);
    } else e.setWord(to, words[0]!);
  } else if (type === "pred") e.setWord(to, e.predicate(from));
  else if (bytes === 16) e.setQuarters(to, e.quarters(from));
  else if (to.kind === "register" && e.prefersFloat(from, to.register)) {
    if (e.isWide(to.register)) e.setDouble(to, e.double(from));
    else e.setSingle(to, e.single(from));
  } else if (bytes === 8) {
    const [low, high] = e.halves(from);
    e.setHalves(to, low, high);
  } else e.setWord(to, bytes === 2 ? `${e.word(from)}&65535` : e.word(from));
}

/** cvta.space: an address of a space as a generic one; cvta.to.space: back. */
export function convertAddress(e: Emitter): void {
  const [to, from] = [e.operand(0), e.operand(1)];
  const [low, high] = e.halves(from);
  const shared = e.instruction.modifiers.some((word) => word.startsWith("shared"));
  const windowed = shared ? windows.shared : e.has("local") ? windows.local : undefined;
  // A variable's own address is generic already where its space is a part of global memory.
  if (windowed === undefined) e.setHalves(to, low, high);
  else if (e.has("to")) e.setHalves(to, low, "0");
  else e.setHalves(to, low, String(windowed));
}

export function isSpace(e: Emitter): void {
  const [, high] = e.halves(e.operand(1));
  const shared = e.instruction.modifiers.find((word) => word.startsWith("shared"));
  const from = e.operand(1);
  if (shared === "shared::cta" || shared === "shared") {
    const [low] = e.halves(from);
    e.setWord(e.operand(0), `${high}===${windows.shared}&&w.ownShared(${low})?1:0`);
  } else if (shared !== undefined) e.setWord(e.operand(0), `${high}===${windows.shared}?1:0`);
  else if (e.has("local")) e.setWord(e.operand(0), `${high}===${windows.local}?1:0`);
  else {
    const [low] = e.halves(from);
    const readOnly = `isReadOnly(${low})`;
    if (e.has("global")) e.setWord(e.operand(0), `${high}===${windows.global}&&!${readOnly}?1:0`);
    else e.setWord(e.operand(0), `${high}===${windows.global}&&${readOnly}?1:0`);
  }
}

/** mapa: the address of the same shared byte in another block of the cluster. */
export function mapAddress(e: Emitter): void {
  const [to, from] = [e.operand(0), e.operand(1)];
  const rank = e.word(e.operand(2));
  const wide = isWideInteger(typeOf(e.instruction));
  const [low] = e.halves(from);
  const mapped = e.temporary(`w.mapShared(${low},${rank},l,${e.site})`);
  if (!wide) e.setWord(to, mapped);
  else e.setHalves(to, mapped, e.has("shared::cluster") ? "0" : String(windows.shared));
}

/** getctarank: which block of the cluster a shared address belongs to. */
export function addressRank(e: Emitter): void {
  const [low] = e.halves(e.operand(1));
  e.setWord(e.operand(0), `w.rankOfShared(${low})`);
}
