// Which registers an instruction reads and writes, which are alive between segments, which hold floats only, and where each is kept.
import type { PtxFunction, PtxInstruction, PtxOperand, PtxRegister, ScalarType } from "../types.js";
import { scalarBytes } from "../types.js";
import type { Segment } from "./segments.js";

/** Opcodes whose first operand is read, not written. */
const withoutResult = new Set([
  "st",
  "red",
  "bra",
  "brx",
  "bar",
  "barrier",
  "call",
  "ret",
  "exit",
  "trap",
  "brkpt",
  "membar",
  "fence",
  "prefetch",
  "prefetchu",
  "applypriority",
  "discard",
  "cp",
  "nanosleep",
  "griddepcontrol",
  "stmatrix",
  "setmaxnreg",
  "pmevent",
]);

export interface Touched {
  reads: PtxRegister[];
  writes: PtxRegister[];
}

function collect(operand: PtxOperand, into: PtxRegister[]): void {
  switch (operand.kind) {
    case "register":
      into.push(operand.register);
      break;
    case "address":
      collect(operand.base, into);
      break;
    case "not":
      collect(operand.operand, into);
      break;
    case "vector":
    case "list":
      for (const element of operand.elements) collect(element, into);
      break;
    case "pair":
      collect(operand.first, into);
      collect(operand.second, into);
      break;
    default:
  }
}

export function hasResult({ opcode, modifiers, operands }: PtxInstruction): boolean {
  if (withoutResult.has(opcode)) return (opcode === "barrier" || opcode === "bar") && modifiers.includes("red");
  if (opcode === "wmma" && modifiers[0] === "store") return false;
  if (opcode === "wgmma" && modifiers[0] !== "mma_async") return false;
  return operands[0] !== undefined && operands[0].kind !== "address";
}

export function touched(instruction: PtxInstruction): Touched {
  const reads: PtxRegister[] = [];
  const writes: PtxRegister[] = [];
  const result = hasResult(instruction);
  for (const [k, operand] of instruction.operands.entries()) collect(operand, k === 0 && result ? writes : reads);
  // Its sums are added to.
  if (instruction.opcode === "wgmma") reads.push(...writes);
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

/** Registers alive at the end of each segment, as sets of register indices. */
export function liveAtEnd(fn: PtxFunction, segments: readonly Segment[]): Set<number>[] {
  const words = (fn.registers.length + 31) >> 5;
  const reads = segments.map(() => new Uint32Array(words));
  const writes = segments.map(() => new Uint32Array(words));
  const has = (set: Uint32Array, index: number): boolean => ((set[index >> 5]! >>> (index & 31)) & 1) === 1;
  const put = (set: Uint32Array, index: number): void => {
    set[index >> 5] = set[index >> 5]! | (1 << (index & 31));
  };
  for (const [k, segment] of segments.entries()) {
    for (const instruction of allInstructions(segment)) {
      const use = touched(instruction);
      for (const { index } of use.reads) if (!has(writes[k]!, index)) put(reads[k]!, index);
      for (const { index } of use.writes) put(writes[k]!, index);
    }
    if (segment.guard !== undefined && !has(writes[k]!, segment.guard.register.index)) put(reads[k]!, segment.guard.register.index);
  }
  const entering = segments.map((_, k) => reads[k]!.slice());
  const leaving = segments.map(() => new Uint32Array(words));
  for (let changed = true; changed; ) {
    changed = false;
    for (let k = segments.length - 1; k >= 0; k--) {
      const out = leaving[k]!;
      for (const next of successors(segments, k)) {
        const from = entering[next]!;
        for (let j = 0; j < words; j++) out[j] = out[j]! | from[j]!;
      }
      const into = entering[k]!;
      for (let j = 0; j < words; j++) {
        const value = reads[k]![j]! | (out[j]! & ~writes[k]![j]!);
        if (value >>> 0 !== into[j]) {
          into[j] = value;
          changed = true;
        }
      }
    }
  }
  return leaving.map((set) => new Set(fn.registers.filter(({ index }) => has(set, index)).map(({ index }) => index)));
}

const arithmetic = new Set([
  "add",
  "sub",
  "mul",
  "fma",
  "mad",
  "div",
  "rcp",
  "sqrt",
  "rsqrt",
  "neg",
  "abs",
  "min",
  "max",
  "setp",
  "ex2",
  "lg2",
  "sin",
  "cos",
  "tanh",
]);
const copying = new Set(["mov", "selp"]);

const isFloat = (modifiers: readonly string[]): boolean => modifiers.includes("f32") || modifiers.includes("f64");

/**
 * Registers of 32 or 64 bits that are only ever read as floats, directly or through copies. They may be kept as JavaScript numbers from the
 * moment they are loaded; every other register keeps its bits, so that no NaN loses its payload on the way from memory to memory.
 */
export function floatOnly(fn: PtxFunction, segments: readonly Segment[]): Set<number> {
  const excluded = new Set<number>();
  const copies: [from: number, to: number][] = [];
  for (const segment of segments) {
    for (const instruction of allInstructions(segment)) {
      const { opcode, modifiers } = instruction;
      const { reads, writes } = touched({ ...instruction, guard: undefined } as unknown as PtxInstruction);
      if (arithmetic.has(opcode) && isFloat(modifiers)) continue;
      const single = copying.has(opcode) && writes.length === 1 && instruction.operands.every((operand) => operand.kind !== "vector");
      for (const { index } of reads) {
        if (single) copies.push([index, writes[0]!.index]);
        else excluded.add(index);
      }
    }
  }
  for (let changed = true; changed; ) {
    changed = false;
    for (const [from, to] of copies) {
      if (excluded.has(to) && !excluded.has(from)) {
        excluded.add(from);
        changed = true;
      }
    }
  }
  const wide = (type: ScalarType): boolean => type !== "pred" && (scalarBytes[type] === 4 || scalarBytes[type] === 8);
  return new Set(fn.registers.filter(({ index, type }) => wide(type) && !excluded.has(index)).map(({ index }) => index));
}

/** Where a register lies in the file of a warp: the first of its 32 lanes, counted in 4-byte words (8-byte ones for `double`). */
export interface RegisterPlace {
  kind: "word" | "double" | "quad";
  /** Index of lane 0 in words. A double's lane l is at `word + 2 l`; a quad's at `word + 4 l`. */
  word: number;
}

export interface RegisterFile {
  places: Map<number, RegisterPlace>;
  bytes: number;
}

/** Places for the registers that live between segments; the others exist only inside compiled code. */
export function layOut(fn: PtxFunction, kept: ReadonlySet<number>): RegisterFile {
  const places = new Map<number, RegisterPlace>();
  const registers = fn.registers.filter(({ index }) => kept.has(index));
  let word = 0;
  for (const [bytes, kind, words] of [
    [16, "quad", 4],
    [8, "double", 2],
    [4, "word", 1],
  ] as const) {
    for (const { index, type } of registers) {
      const size = scalarBytes[type] === 16 || scalarBytes[type] === 8 ? scalarBytes[type] : 4;
      if (size !== bytes) continue;
      places.set(index, { kind, word });
      word += 32 * words;
    }
  }
  return { places, bytes: Math.max(8, word * 4) };
}
