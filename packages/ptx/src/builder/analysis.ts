// What can be said of a kernel without running it: which values are the same across a block or a
// warp, which are undefined, and how many are alive at once. Facts only; validate.ts says what is
// refused.
import { add, become, bitSet, has, remove } from "./bit-set.js";
import type { ControlFlow, Step } from "./control-flow.js";
import { type Instruction, type Level, levels } from "./instruction.js";
import { typeBytes } from "./types.js";
import type { Value } from "./values.js";

export interface Uniformity {
  /** For each block: the threads that come to it together. */
  readonly blockLevels: readonly Level[];
  readonly valueLevels: readonly Level[];
}

const larger = (a: Level, b: Level): Level => (a > b ? a : b);

/**
 * The least fixed point of: a result is as uniform as its operands and as the branches that decide
 * whether it is computed.
 */
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
  const { blocks } = flow;
  // A guarded write may not happen, so it defines nothing; guarded loads are into variables that
  // hold something already.
  const pass = (defined: Int32Array, { instruction, writes }: Step): void => {
    if (instruction.guard === undefined) for (const id of writes) add(defined, id);
  };
  const given = blocks.map(({ steps }) => {
    const set = bitSet(registers.length);
    for (const step of steps) pass(set, step);
    return set;
  });
  const outs = blocks.map(() => bitSet(registers.length, true));
  const defined = bitSet(registers.length);
  const enter = (k: number): void => {
    defined.fill(k === 0 ? 0 : -1);
    for (const from of blocks[k]!.predecessors) for (let w = 0; w < defined.length; w++) defined[w]! &= outs[from]![w]!;
  };
  for (let changed = true; changed; ) {
    changed = false;
    for (let k = 0; k < blocks.length; k++) {
      enter(k);
      for (let w = 0; w < defined.length; w++) defined[w]! |= given[k]![w]!;
      if (become(outs[k]!, defined)) changed = true;
    }
  }
  for (const [k, block] of blocks.entries()) {
    if (k > 0 && block.predecessors.length === 0) continue;
    enter(k);
    for (const step of block.steps) {
      for (const id of step.reads) if (!has(defined, id)) return { value: registers[id]!, instruction: step.instruction };
      pass(defined, step);
    }
  }
  return undefined;
}

/**
 * The most 32-bit registers that hold something still needed at one instruction. An assembler needs some
 * more, or fewer if it computes anew.
 */
export function registerPressure(flow: ControlFlow, registers: readonly Value[]): number {
  const { blocks } = flow;
  // What a block reads before it writes it, and what it always writes.
  const [used, given] = [blocks.map(() => bitSet(registers.length)), blocks.map(() => bitSet(registers.length))];
  for (const [k, { steps }] of blocks.entries())
    for (let at = steps.length - 1; at >= 0; at--) {
      const { instruction, reads, writes } = steps[at]!;
      if (instruction.guard === undefined)
        for (const id of writes) {
          remove(used[k]!, id);
          add(given[k]!, id);
        }
      for (const id of reads) add(used[k]!, id);
    }
  const ins = blocks.map(() => bitSet(registers.length));
  const live = bitSet(registers.length);
  const leave = (k: number): void => {
    live.fill(0);
    for (const next of blocks[k]!.successors) for (let w = 0; w < live.length; w++) live[w]! |= ins[next]![w]!;
  };
  for (let changed = true; changed; ) {
    changed = false;
    for (let k = blocks.length - 1; k >= 0; k--) {
      leave(k);
      for (let w = 0; w < live.length; w++) live[w] = used[k]![w]! | (live[w]! & ~given[k]![w]!);
      if (become(ins[k]!, live)) changed = true;
    }
  }
  const weight = registers.map(({ type }) => (type === "pred" ? 0 : typeBytes(type) === 8 ? 2 : 1));
  let most = 0;
  for (const [k, { steps }] of blocks.entries()) {
    leave(k);
    let count = 0;
    for (let id = 0; id < weight.length; id++) if (has(live, id)) count += weight[id]!;
    for (let at = steps.length - 1; at >= 0; at--) {
      const { instruction, reads, writes } = steps[at]!;
      most = Math.max(most, count);
      if (instruction.guard === undefined)
        for (const id of writes) {
          if (has(live, id)) count -= weight[id]!;
          remove(live, id);
        }
      for (const id of reads) {
        if (!has(live, id)) count += weight[id]!;
        add(live, id);
      }
    }
    most = Math.max(most, count);
  }
  return most;
}
