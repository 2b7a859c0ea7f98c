// Which registers an instruction reads and writes, which are alive between segments, which hold
// floats only, and where each is kept.
import { getOrMake } from "@spillway/core/maps.js";
import type { PtxFunction, PtxInstruction, PtxOperand, PtxRegister, ScalarType } from "../types.js";
import { scalarBytes } from "../types.js";
import type { Segment } from "./segments.js";

/** Opcodes whose first operand is read, not written. */
const withoutResult = new Set(
  `st red bra brx bar barrier call ret exit trap brkpt membar fence prefetch prefetchu applypriority discard cp nanosleep
  griddepcontrol stmatrix setmaxnreg pmevent stackrestore`.split(/\s+/),
);

export interface Touched {
  reads: PtxRegister[];
  writes: PtxRegister[];
}

export function registersOf(operand: PtxOperand): PtxRegister[] {
  switch (operand.kind) {
    case "register":
      return [operand.register];
    case "address":
      return registersOf(operand.base);
    case "not":
    case "minus":
    case "part":
      return registersOf(operand.operand);
    case "vector":
    case "list":
      return operand.elements.flatMap(registersOf);
    case "pair":
      return [...registersOf(operand.first), ...registersOf(operand.second)];
    default:
      return [];
  }
}

export function hasResult({ opcode, modifiers, operands }: PtxInstruction): boolean {
  if (withoutResult.has(opcode)) return (opcode === "barrier" || opcode === "bar") && modifiers.includes("red");
  if (opcode === "wmma" && modifiers[0] === "store") return false;
  if (opcode === "wgmma" && modifiers[0] !== "mma_async") return false;
  return operands[0] !== undefined && operands[0].kind !== "address";
}

function touchedWithoutGuard(instruction: PtxInstruction): Touched {
  const reads: PtxRegister[] = [];
  const writes: PtxRegister[] = [];
  const result = hasResult(instruction);
  for (const [k, operand] of instruction.operands.entries()) (k === 0 && result ? writes : reads).push(...registersOf(operand));
  // Its sums are added to.
  if (instruction.opcode === "wgmma") reads.push(...writes);
  return { reads, writes };
}

export function touched(instruction: PtxInstruction): Touched {
  const { reads, writes } = touchedWithoutGuard(instruction);
  if (instruction.guard !== undefined) {
    reads.push(instruction.guard.register);
    // What a lane does not overwrite it keeps.
    reads.push(...writes);
  }
  return { reads, writes };
}

/** The instructions of a segment with the one that ends it. */
export function allInstructions(segment: Segment): PtxInstruction[] {
  const { end } = segment;
  const last = end.kind === "next" || end.instruction === undefined ? [] : [end.instruction];
  return [...segment.instructions, ...last];
}

export function successors(segments: readonly Segment[], index: number): number[] {
  const { end, guard } = segments[index]!;
  if (end.kind === "leave") return guard === undefined ? [] : [index + 1];
  if (end.kind === "switch") return end.targets;
  if (end.kind === "branch") return guard === undefined ? [end.target] : [index + 1, end.target];
  return [index + 1];
}

/** Words of the tables below, and steps over them, beyond which all registers count as alive. */
const mostWords = 2 ** 23;
const mostSteps = 2 ** 28;

/** Registers that a later segment may read: `alive` at the end of a segment, and `kept` by any. */
export interface Liveness {
  alive(segment: number, index: number): boolean;
  kept: Set<number>;
}

/** Registers that a segment reads before it writes them, and those that it writes. */
interface Use {
  reads: Set<number>;
  writes: Set<number>;
}

function useOf(segment: Segment): Use {
  const reads = new Set<number>();
  const writes = new Set<number>();
  const read = ({ index }: PtxRegister): void => {
    if (!writes.has(index)) reads.add(index);
  };
  for (const instruction of allInstructions(segment)) {
    const use = touched(instruction);
    use.reads.forEach(read);
    for (const { index } of use.writes) writes.add(index);
  }
  if (segment.guard !== undefined) read(segment.guard.register);
  return { reads, writes };
}

/**
 * Which registers are alive where, by the usual equations. Only registers that some segment reads
 * before it writes them can be alive between segments. If tables take more than `limit` words they
 * all count as alive everywhere, which is right and slower to run.
 */
export function liveness(segments: readonly Segment[], limit = mostWords): Liveness {
  const uses = segments.map(useOf);
  const numbers = new Map<number, number>();
  for (const { reads } of uses) for (const index of reads) if (!numbers.has(index)) numbers.set(index, numbers.size);
  const leaving = bitsLeaving(segments, uses, numbers, limit);
  if (leaving === undefined) return { alive: (_, index) => numbers.has(index), kept: new Set(numbers.keys()) };
  const words = (numbers.size + 31) >> 5;
  const alive = (segment: number, index: number): boolean => {
    const number = numbers.get(index);
    return number !== undefined && ((leaving[segment * words + (number >> 5)]! >>> (number & 31)) & 1) === 1;
  };
  const some = new Uint32Array(words);
  for (let at = 0; at < leaving.length; at++) some[at % words] = some[at % words]! | leaving[at]!;
  const kept = [...numbers].filter(([, number]) => ((some[number >> 5]! >>> (number & 31)) & 1) === 1);
  return { alive, kept: new Set(kept.map(([index]) => index)) };
}

/** A row of bits for each segment; undefined if that would take too much memory or time. */
function bitsLeaving(
  segments: readonly Segment[],
  uses: readonly Use[],
  numbers: ReadonlyMap<number, number>,
  limit: number,
): Uint32Array<ArrayBuffer> | undefined {
  const words = (numbers.size + 31) >> 5;
  const size = segments.length * words;
  if (size > limit) return undefined;
  const [leaving, entering] = [new Uint32Array(size), new Uint32Array(size)];
  const into = new Uint32Array(words);
  const next = segments.map((_, k) => successors(segments, k));
  let steps = 0;
  for (let changed = true; changed; ) {
    changed = false;
    for (let k = segments.length - 1; k >= 0; k--) {
      const row = k * words;
      for (const other of next[k]!) for (let j = 0; j < words; j++) leaving[row + j] = leaving[row + j]! | entering[other * words + j]!;
      into.set(leaving.subarray(row, row + words));
      for (const index of uses[k]!.writes) {
        const number = numbers.get(index);
        if (number !== undefined) into[number >> 5] = into[number >> 5]! & ~(1 << (number & 31));
      }
      for (const index of uses[k]!.reads) {
        const number = numbers.get(index)!;
        into[number >> 5] = into[number >> 5]! | (1 << (number & 31));
      }
      for (let j = 0; j < words; j++) {
        if (into[j] === entering[row + j]) continue;
        entering[row + j] = into[j]!;
        changed = true;
      }
      steps += words * (next[k]!.length + 2) + uses[k]!.reads.size + uses[k]!.writes.size;
      if (steps > mostSteps) return undefined;
    }
  }
  return leaving;
}

const arithmetic = new Set("add sub mul fma mad div rcp sqrt rsqrt neg abs min max setp ex2 lg2 sin cos tanh".split(" "));
const copying = new Set(["mov", "selp"]);

const isFloat = (modifiers: readonly string[]): boolean => modifiers.includes("f32") || modifiers.includes("f64");

/**
 * Registers of 32 or 64 bits that are only ever read as floats, directly or through copies. They
 * may be kept as JavaScript numbers from the moment they are loaded. Every other register keeps its
 * bits: no NaN loses its payload on the way from memory to memory.
 */
export function floatOnly(fn: PtxFunction, segments: readonly Segment[]): Set<number> {
  const excluded = new Set<number>();
  const copies: [from: number, to: number][] = [];
  for (const segment of segments) {
    for (const instruction of allInstructions(segment)) {
      const { opcode, modifiers } = instruction;
      const { reads, writes } = touchedWithoutGuard(instruction);
      if (arithmetic.has(opcode) && isFloat(modifiers)) continue;
      const single = copying.has(opcode) && writes.length === 1 && instruction.operands.every((operand) => operand.kind !== "vector");
      for (const { index } of reads) {
        if (single) copies.push([index, writes[0]!.index]);
        else excluded.add(index);
      }
    }
  }
  // What is copied to a register that is not only a float is not only a float.
  const sources = new Map<number, number[]>();
  for (const [from, to] of copies) getOrMake(sources, to, () => []).push(from);
  const found = [...excluded];
  for (let to = found.pop(); to !== undefined; to = found.pop())
    for (const from of sources.get(to) ?? []) {
      if (excluded.has(from)) continue;
      excluded.add(from);
      found.push(from);
    }
  const wide = (type: ScalarType): boolean => type !== "pred" && (scalarBytes[type] === 4 || scalarBytes[type] === 8);
  return new Set(fn.registers.filter(({ index, type }) => wide(type) && !excluded.has(index)).map(({ index }) => index));
}

/** Where a register's lane 0 lies in the file of a warp, in 4-byte words. */
export interface RegisterSlot {
  kind: "word" | "double" | "quad";
  /** Index of lane 0 in words. A double's lane l is at `word + 2 l`; a quad's at `word + 4 l`. */
  word: number;
}

export interface RegisterFile {
  slots: Map<number, RegisterSlot>;
  bytes: number;
}

/** Slots for registers that live between segments; others are local to compiled code. */
export function layOut(all: readonly PtxRegister[], kept: ReadonlySet<number>): RegisterFile {
  const slots = new Map<number, RegisterSlot>();
  const registers = all.filter(({ index }) => kept.has(index));
  let word = 0;
  for (const [bytes, kind, words] of [
    [16, "quad", 4],
    [8, "double", 2],
    [4, "word", 1],
  ] as const) {
    for (const { index, type } of registers) {
      const size = scalarBytes[type] === 16 || scalarBytes[type] === 8 ? scalarBytes[type] : 4;
      if (size !== bytes) continue;
      slots.set(index, { kind, word });
      word += 32 * words;
    }
  }
  return { slots, bytes: Math.max(8, word * 4) };
}

/** Where control can go in a function: which segments can come after which. */
export class Paths {
  private readonly segments: readonly Segment[];
  private readonly found = new Map<number, Uint8Array>();

  constructor(segments: readonly Segment[]) {
    this.segments = segments;
  }

  /** True if a lane that is at segment `from` can come to segment `to` later on. */
  reaches(from: number, to: number): boolean {
    let reached = this.found.get(from);
    if (reached === undefined) {
      reached = new Uint8Array(this.segments.length);
      const open = [from];
      for (let at = open.pop(); at !== undefined; at = open.pop())
        for (const next of successors(this.segments, at)) {
          if (reached[next] === 1) continue;
          reached[next] = 1;
          open.push(next);
        }
      this.found.set(from, reached);
    }
    return reached[to] === 1;
  }

  /** Whether a lane at `now` can no longer reach `missed`, though it may have come from there. */
  passed(missed: number, now: number): boolean {
    return now !== missed && this.reaches(missed, now) && !this.reaches(now, missed);
  }
}
