// What can be said of a kernel without running it: which values are the same across a block or a warp, which are undefined, and how many are
// alive at once. Facts only; validate.ts says what is refused.
import type { ControlFlow, Step } from "./control-flow.js";
import { type Instruction, type Level, levels } from "./instruction.js";
import { bytesOf } from "./types.js";
import type { Value } from "./values.js";

export interface Uniformity {
  /** For each block: the threads that come to it together. */
  readonly blockLevels: readonly Level[];
  readonly valueLevels: readonly Level[];
}

const larger = (a: Level, b: Level): Level => (a > b ? a : b);

/** The least fixed point of: a result is as uniform as its operands and as the branches that decide whether it is computed. */
export function uniformity(flow: ControlFlow, registers: number): Uniformity {
  const valueLevels = new Array<Level>(registers).fill(levels.block);
  const blockLevels = flow.blocks.map((): Level => levels.block);
  for (let changed = true; changed; ) {
    changed = false;
    for (const [k, block] of flow.blocks.entries()) {
      let level = blockLevels[k]!;
      for (const decider of flow.deciders[k]!) {
        const guard = flow.blocks[decider]!.branch?.guard;
        if (guard) level = larger(level, larger(valueLevels[guard.value.id]!, blockLevels[decider]!));
      }
      if (level !== blockLevels[k]) {
        blockLevels[k] = level;
        changed = true;
      }
      for (const { instruction, reads, writes } of block.steps) {
        let given: Level = level;
        if (instruction.level === undefined) for (const id of reads) given = larger(given, valueLevels[id]!);
        else given = larger(given, instruction.level);
        if (instruction.guard) given = larger(given, valueLevels[instruction.guard.value.id]!);
        for (const id of writes) {
          if (given <= valueLevels[id]!) continue;
          valueLevels[id] = given;
          changed = true;
        }
      }
    }
  }
  return { blockLevels, valueLevels };
}

/** The first read of a register that some way through the kernel has not written. */
export function undefinedRead(flow: ControlFlow, registers: readonly Value[]): { value: Value; instruction: Instruction } | undefined {
  const words = (registers.length + 31) >> 5;
  const outs = flow.blocks.map(() => new Int32Array(words).fill(-1));
  const defined = new Int32Array(words);
  const enter = (k: number): void => {
    defined.fill(k === 0 ? 0 : -1);
    for (const from of flow.blocks[k]!.predecessors) for (let w = 0; w < words; w++) defined[w]! &= outs[from]![w]!;
  };
  const isDefined = (id: number): boolean => ((defined[id >> 5]! >>> (id & 31)) & 1) === 1;
  // A guarded write may not happen, so it defines nothing; guarded loads are into variables that hold something already.
  const pass = ({ instruction, writes }: Step): void => {
    if (instruction.guard === undefined) for (const id of writes) defined[id >> 5]! |= 1 << (id & 31);
  };
  for (let changed = true; changed; ) {
    changed = false;
    for (const [k, block] of flow.blocks.entries()) {
      enter(k);
      block.steps.forEach(pass);
      if (outs[k]!.every((word, w) => word === defined[w])) continue;
      outs[k]!.set(defined);
      changed = true;
    }
  }
  for (const [k, block] of flow.blocks.entries()) {
    if (k > 0 && block.predecessors.length === 0) continue;
    enter(k);
    for (const step of block.steps) {
      const missing = step.reads.find((id) => !isDefined(id));
      if (missing !== undefined) return { value: registers[missing]!, instruction: step.instruction };
      pass(step);
    }
  }
  return undefined;
}

/** The most 32-bit registers that hold something still needed at one place. An assembler needs some more, or fewer where it computes anew. */
export function registerPressure(flow: ControlFlow, registers: readonly Value[]): number {
  const words = (registers.length + 31) >> 5;
  const weight = registers.map(({ type }) => (type === "pred" ? 0 : bytesOf(type) === 8 ? 2 : 1));
  const ins = flow.blocks.map(() => new Int32Array(words));
  const live = new Int32Array(words);
  let most = 0;
  const set = (id: number, on: boolean): number => {
    const [word, bit] = [id >> 5, 1 << (id & 31)];
    const was = (live[word]! & bit) !== 0;
    if (was === on) return 0;
    live[word]! ^= bit;
    return on ? weight[id]! : -weight[id]!;
  };
  const walk = (k: number, measure: boolean): void => {
    const { successors, steps } = flow.blocks[k]!;
    live.fill(0);
    for (const next of successors) for (let w = 0; w < words; w++) live[w]! |= ins[next]![w]!;
    let count = 0;
    if (measure) for (const { id } of registers) if ((live[id >> 5]! >>> (id & 31)) & 1) count += weight[id]!;
    for (let at = steps.length - 1; at >= 0; at--) {
      const { instruction, reads, writes } = steps[at]!;
      if (measure && count > most) most = count;
      if (instruction.guard === undefined) for (const id of writes) count += set(id, false);
      for (const id of reads) count += set(id, true);
    }
    most = measure ? Math.max(most, count) : most;
  };
  for (let changed = true; changed; ) {
    changed = false;
    for (let k = flow.blocks.length - 1; k >= 0; k--) {
      walk(k, false);
      if (ins[k]!.every((word, w) => word === live[w])) continue;
      ins[k]!.set(live);
      changed = true;
    }
  }
  for (let k = 0; k < flow.blocks.length; k++) walk(k, true);
  return most;
}
