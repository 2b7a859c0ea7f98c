// What can be said of a kernel without running it: which values are the same across a block or a
// warp, which are undefined, and how many are alive at once. Facts only; validate.ts says what is
// refused.
import { add, type ControlFlow, dataFlow, has, remove, type Step } from "./control-flow.js";
import { type Instruction, type Level, levels } from "./instruction.js";
import { typeBytes } from "./types.js";
import type { Value } from "./values.js";

export interface Uniformity {
  /** For each block: the threads that come to it together. */
  readonly blockLevels: readonly Level[];
  readonly valueLevels: readonly Level[];
}

const larger = (a: Level, b: Level): Level => (a > b ? a : b);

/** The least fixed point: a result is as uniform as its operands and deciding branches. */
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
  const { enter } = dataFlow(
    blocks,
    registers.length,
    "predecessors",
    "all",
    (k) => k === 0,
    (defined, k) => {
      for (const step of blocks[k]!.steps) pass(defined, step);
    },
  );
  for (const [k, block] of blocks.entries()) {
    if (k > 0 && block.predecessors.length === 0) continue;
    const defined = enter(k);
    for (const step of block.steps) {
      for (const id of step.reads) if (!has(defined, id)) return { value: registers[id]!, instruction: step.instruction };
      pass(defined, step);
    }
  }
  return undefined;
}

/** The most 32-bit registers alive at one instruction; an assembler needs more or fewer. */
export function registerPressure(flow: ControlFlow, registers: readonly Value[]): number {
  const { blocks } = flow;
  const { enter } = dataFlow(
    blocks,
    registers.length,
    "successors",
    "any",
    () => false,
    (live, k) => {
      for (const step of blocks[k]!.steps.toReversed()) passBack(live, step);
    },
  );
  const weight = registers.map(({ type }) => (type === "pred" ? 0 : typeBytes(type) === 8 ? 2 : 1));
  let most = 0;
  for (const [k, { steps }] of blocks.entries()) {
    const live = enter(k);
    let count = 0;
    for (let id = 0; id < weight.length; id++) if (has(live, id)) count += weight[id]!;
    for (let at = steps.length - 1; at >= 0; at--) {
      most = Math.max(most, count);
      passBack(live, steps[at]!, (id, comes) => {
        count += comes ? weight[id]! : -weight[id]!;
      });
    }
    most = Math.max(most, count);
  }
  return most;
}

/** From what is alive after a step to what is before it; tells which registers come and go. */
function passBack(live: Int32Array, { instruction, reads, writes }: Step, tell?: (id: number, comes: boolean) => void): void {
  if (instruction.guard === undefined)
    for (const id of writes) {
      if (has(live, id)) tell?.(id, false);
      remove(live, id);
    }
  for (const id of reads) {
    if (!has(live, id)) tell?.(id, true);
    add(live, id);
  }
}
