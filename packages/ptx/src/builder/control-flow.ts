// The control-flow graph of a kernel: basic blocks, their successors, and which branches decide
// whether a block runs; and sets of small whole numbers as bits, which are kept for each block.
import { type Instruction, registersRead, registersWritten, type Statement } from "./instruction.js";

/** A set that numbers below `count` fit in, with none of them or with all. */
function bitSet(count: number, full = false): Int32Array {
  return new Int32Array((count + 31) >> 5).fill(full ? -1 : 0);
}

export const has = (set: Int32Array, k: number): boolean => ((set[k >> 5]! >>> (k & 31)) & 1) === 1;

export function add(set: Int32Array, k: number): void {
  set[k >> 5]! |= 1 << (k & 31);
}

export function remove(set: Int32Array, k: number): void {
  set[k >> 5]! &= ~(1 << (k & 31));
}

/** Makes `set` what `other` is; true if that changes it. */
function become(set: Int32Array, other: Int32Array): boolean {
  let changed = false;
  for (let w = 0; w < set.length; w++) {
    if (set[w] === other[w]) continue;
    set[w] = other[w]!;
    changed = true;
  }
  return changed;
}

/** An instruction with the numbers of the registers that it reads and writes. */
export interface Step {
  readonly instruction: Instruction;
  readonly reads: readonly number[];
  readonly writes: readonly number[];
}

export interface BasicBlock {
  readonly steps: Step[];
  readonly successors: number[];
  readonly predecessors: number[];
  branch?: Instruction;
}

/** Blocks in the order of the text; the last one is the end, which every exit leads to. */
export interface ControlFlow {
  readonly blocks: readonly BasicBlock[];
  /** Per block, its control dependences (Ferrante, Ottenstein and Warren 1987). */
  readonly deciders: readonly ReadonlySet<number>[];
}

/** True for what ends a block; not a guarded trap, which ends the whole launch. */
const leaves = ({ opcode, guard }: Instruction): boolean =>
  opcode === "bra" || opcode === "ret" || (opcode === "trap" && guard === undefined);

function splitBlocks(statements: readonly Statement[]): { blocks: BasicBlock[]; labels: Map<string, number> } {
  const blocks: BasicBlock[] = [];
  const labels = new Map<string, number>();
  let current: BasicBlock | undefined;
  const open = (): BasicBlock => {
    if (current === undefined) {
      current = { steps: [], successors: [], predecessors: [] };
      blocks.push(current);
    }
    return current;
  };
  for (const statement of statements) {
    if (statement.kind === "label") {
      if (current !== undefined && current.steps.length > 0) current = undefined;
      open();
      labels.set(statement.name, blocks.length - 1);
    } else {
      open().steps.push({ instruction: statement, reads: registersRead(statement), writes: registersWritten(statement) });
      if (leaves(statement)) current = undefined;
    }
  }
  blocks.push({ steps: [], successors: [], predecessors: [] });
  return { blocks, labels };
}

/**
 * The fixed point of sets of `count` numbers: that of a block is what `pass` makes of what those of
 * its neighbours have in `common`, all of them or any; with `all`, of blocks that are not `first`.
 * `enter` gives what a block begins with, in one array for all.
 */
export function dataFlow(
  blocks: readonly BasicBlock[],
  count: number,
  neighbours: "predecessors" | "successors",
  common: "all" | "any",
  isFirst: (block: number) => boolean,
  pass: (set: Int32Array, block: number) => void,
) {
  const sets = blocks.map(() => bitSet(count, common === "all"));
  const begun = bitSet(count);
  const enter = (k: number): Int32Array => {
    begun.fill(common === "all" && !isFirst(k) ? -1 : 0);
    for (const other of blocks[k]![neighbours])
      for (let w = 0; w < begun.length; w++) begun[w] = common === "all" ? begun[w]! & sets[other]![w]! : begun[w]! | sets[other]![w]!;
    return begun;
  };
  const order = [...blocks.keys()];
  if (neighbours === "successors") order.reverse();
  for (let changed = true; changed; ) {
    changed = false;
    for (const k of order) {
      pass(enter(k), k);
      if (become(sets[k]!, begun)) changed = true;
    }
  }
  return { sets, enter };
}

export function controlFlow(statements: readonly Statement[]): ControlFlow {
  const { blocks, labels } = splitBlocks(statements);
  const end = blocks.length - 1;
  const link = (from: number, to: number): void => {
    if (blocks[from]!.successors.includes(to)) return;
    blocks[from]!.successors.push(to);
    blocks[to]!.predecessors.push(from);
  };
  for (const [k, block] of blocks.entries()) {
    if (k === end) break;
    const last = block.steps.at(-1)?.instruction;
    const left = last !== undefined && leaves(last);
    if (left) link(k, last.opcode === "bra" ? labels.get(last.target!)! : end);
    if (!left || last.guard !== undefined) link(k, k + 1);
    if (left && last.guard !== undefined) block.branch = last;
  }
  // For each block, those on every way from it to the end.
  const { sets: after } = dataFlow(blocks, blocks.length, "successors", "all", (k) => blocks[k]!.successors.length === 0, add);
  const deciders = blocks.map(() => new Set<number>());
  for (const [k, { successors }] of blocks.entries()) {
    if (successors.length < 2) continue;
    for (let b = 0; b < blocks.length; b++) {
      const decided = successors.some((next) => has(after[next]!, b)) && !(b !== k && has(after[k]!, b));
      if (decided) deciders[b]!.add(k);
    }
  }
  return { blocks, deciders };
}
