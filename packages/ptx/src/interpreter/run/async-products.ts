// Products that wgmma.mma_async began and that nothing has waited for yet. They are done at the
// wait; touching their registers earlier is an error. Shared memory is read when they begin and
// again when they end, so the race checks see both.

import type { CompiledSegment } from "../compile/function.js";
import { touched } from "../compile/registers.js";
import { firstLane } from "./lanes.js";
import type { Warp } from "./warp.js";

export interface Product {
  /** Indices of the registers of the sums, and of the left factor if it is in registers. */
  readonly registers: ReadonlySet<number>;
  readonly words: Int32Array;
  readonly finish: () => void;
}

/** The products of one warp, in the groups that they were committed in. */
export class AsyncProducts {
  /** Oldest first; the last is not committed. */
  private readonly groups: Product[][] = [[]];
  /** Segments that ran since the last wgmma.fence; undefined before the first. */
  private sinceFence: Set<CompiledSegment> | undefined;

  fence(): void {
    this.sinceFence = new Set();
  }

  /** What is wrong with a product on these registers now; undefined if nothing is. */
  problem(registers: ReadonlySet<number>): string | undefined {
    if (this.sinceFence === undefined) return "no wgmma.fence comes before it";
    for (const segment of this.sinceFence) {
      const found = firstTouch(segment, registers);
      if (found !== undefined) return `"${found.instruction.text}" touches ${found.name}, and no wgmma.fence comes after that`;
    }
    return undefined;
  }

  begin(product: Product): void {
    this.groups.at(-1)!.push(product);
  }

  commit(): void {
    this.groups.push([]);
  }

  /** Ends all but the last `pending` committed groups. */
  wait(pending: number): void {
    while (this.groups.length - 1 > pending) for (const product of this.groups.shift()!) product.finish();
  }

  /** Refuses a segment that touches registers of running products. @throws SimulationError */
  pass(warp: Warp, segment: CompiledSegment): void {
    this.sinceFence?.add(segment);
    for (const group of this.groups)
      for (const { registers, words } of group) {
        const found = words === warp.words ? firstTouch(segment, registers) : undefined;
        if (found === undefined) continue;
        const what = `touches ${found.name}, which a wgmma.mma_async still works on: nothing waited for it`;
        throw warp.error("race", what, firstLane(warp.live), found.instruction);
      }
  }
}

function firstTouch({ instructions }: CompiledSegment, registers: ReadonlySet<number>) {
  for (const instruction of instructions) {
    if (instruction.opcode === "wgmma") continue;
    const { reads, writes } = touched(instruction);
    const found = [...reads, ...writes].find(({ index }) => registers.has(index));
    if (found !== undefined) return { instruction, name: found.name };
  }
  return undefined;
}
