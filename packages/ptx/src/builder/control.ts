// Structured control: if, for, while, and leaving early. Labels are the builder's own affair.
import { Arithmetic } from "./arithmetic.js";
import { type Instruction, type Item, levels } from "./instruction.js";
import type { Operand, Value, Variable } from "./values.js";

/** What the body of a loop may do to its loop. */
export interface Loop {
  /** Leaves the loop if the predicate holds, or always. */
  break(when?: Value<"pred">): void;
  /** Goes on with the next round if the predicate holds, or always. */
  continue(when?: Value<"pred">): void;
}

/** The indices of a counted loop. */
export interface ForOptions<T extends "u32" | "s32"> {
  /** The first index. */
  from: Operand<T>;
  /** The first index that is not visited. */
  to: Operand<T>;
  /** Default 1. */
  step?: number;
  /** Rounds of the body without a jump; what is left is done one by one. Default 1. */
  unroll?: number;
}

type Body<T extends "u32" | "s32"> = (index: Value<T>, loop: Loop) => void;

export class Control extends Arithmetic {
  private branch(target: string, guard?: Instruction["guard"]): void {
    this.emit("bra", undefined, [], { target, ...(guard && { guard }) });
  }

  private loop(breakTo: string, continueTo: string): Loop {
    const jump = (target: string) => (when?: Value<"pred">) => this.branch(target, when && { value: when, negated: false });
    return { break: jump(breakTo), continue: jump(continueTo) };
  }

  /** Runs `then` if the predicate holds and `otherwise` if it does not. */
  if(predicate: Value<"pred">, then: () => void, otherwise?: () => void): void {
    const end = this.newLabel("end");
    const other = otherwise === undefined ? end : this.newLabel("else");
    this.branch(other, { value: predicate, negated: true });
    then();
    if (otherwise !== undefined) {
      this.branch(end);
      this.placeLabel(other);
      otherwise();
    }
    this.placeLabel(end);
  }

  /** Runs the body with an index from `from` up to below `to`. */
  for<T extends "u32" | "s32">(type: T, options: ForOptions<NoInfer<T>>, body: Body<T>): void {
    const { from, to, step = 1, unroll = 1 } = options;
    if (!Number.isInteger(step) || step < 1) throw this.fail(`a loop's step is ${step}; it takes a whole number from 1`);
    if (!Number.isInteger(unroll) || unroll < 1) throw this.fail(`a loop's unroll is ${unroll}; it takes a whole number from 1`);
    const index = this.variable(type, from as Operand<T>);
    const end = this.newLabel("end");
    const known = typeof from === "number" && typeof to === "number" ? Math.ceil((to - from) / step) : undefined;
    const limit = this.item(type, to as Operand<T>, "the end of a loop");
    if (unroll > 1 && (known === undefined || known >= unroll)) this.bundles(index, limit, step, unroll, end, body);
    const nothingLeft = known !== undefined && unroll > 1 && known >= unroll && known % unroll === 0;
    if (!nothingLeft) this.rounds(index, limit, step, known !== undefined && known > 0 && unroll === 1, end, body);
    this.placeLabel(end);
  }

  /** Rounds until the index reaches its limit; tested first unless one is known to run. */
  private rounds<T extends "u32" | "s32">(index: Variable<T>, limit: Item, step: number, runs: boolean, end: string, body: Body<T>): void {
    const [again, next] = [this.newLabel("loop"), this.newLabel("next")];
    if (!runs) this.branch(end, { value: this.emitValue(`setp.ge.${index.type}`, "pred", [index, limit]), negated: false });
    this.placeLabel(again);
    body(index, this.loop(end, next));
    this.placeLabel(next);
    this.emit(`add.${index.type}`, index, [index, String(step)]);
    this.branch(again, { value: this.emitValue(`setp.lt.${index.type}`, "pred", [index, limit]), negated: false });
  }

  /** `unroll` rounds at a time, while so many are left. */
  private bundles<T extends "u32" | "s32">(
    index: Variable<T>,
    limit: Item,
    step: number,
    unroll: number,
    end: string,
    body: Body<T>,
  ): void {
    const [again, rest] = [this.newLabel("loop"), this.newLabel("rest")];
    const { type } = index;
    // A whole bundle is left while limit - index > (unroll - 1) * step; index < limit keeps that
    // difference from wrapping.
    const fits = (): Value<"pred"> => {
      const left = this.emitValue(`sub.${type}`, type, [limit, index]);
      const below = this.emitValue(`setp.lt.${type}`, "pred", [index, limit]);
      return this.and(below, this.emitValue(`setp.gt.${type}`, "pred", [left, String((unroll - 1) * step)]));
    };
    this.branch(rest, { value: fits(), negated: true });
    this.placeLabel(again);
    for (let copy = 0; copy < unroll; copy++) {
      const next = this.newLabel("next");
      body(copy === 0 ? index : this.emitValue(`add.${type}`, type, [index, String(copy * step)]), this.loop(end, next));
      this.placeLabel(next);
    }
    this.emit(`add.${type}`, index, [index, String(unroll * step)]);
    this.branch(again, { value: fits(), negated: false });
    this.placeLabel(rest);
  }

  /** Runs the body for as long as the condition, which is computed anew each time, holds. */
  while(condition: () => Value<"pred">, body: (loop: Loop) => void): void {
    const [again, end] = [this.newLabel("while"), this.newLabel("end")];
    this.placeLabel(again);
    this.branch(end, { value: condition(), negated: true });
    body(this.loop(end, again));
    this.branch(again);
    this.placeLabel(end);
  }

  /** Runs the body once, and again for as long as the predicate that it gives holds. */
  repeatWhile(body: (loop: Loop) => Value<"pred">): void {
    const [again, test, end] = [this.newLabel("repeat"), this.newLabel("test"), this.newLabel("end")];
    this.placeLabel(again);
    const predicate = body(this.loop(end, test));
    this.placeLabel(test);
    this.branch(again, { value: predicate, negated: false });
    this.placeLabel(end);
  }

  /** Ends the thread if the predicate holds, or always; validation refuses later barriers. */
  exit(when?: Value<"pred">): void {
    this.emit("ret", undefined, [], when && { guard: { value: when, negated: false } });
  }

  /** Ends the launch with an error if the predicate holds, or always. */
  trap(when?: Value<"pred">): void {
    this.emit("trap", undefined, [], when && { guard: { value: when, negated: false } });
  }

  /** Index of the thread in its block, of the block in the grid, and their sizes. */
  special(name: "tid" | "ntid" | "ctaid" | "nctaid" | "cluster_ctaid" | "cluster_nctaid", axis: "x" | "y" | "z"): Value<"u32"> {
    return this.emitValue("mov.u32", "u32", [`%${name}.${axis}`], { level: name === "tid" ? levels.lane : levels.block });
  }

  /** %tid.x: the thread's index in its block. */
  threadIndex(): Value<"u32"> {
    return this.special("tid", "x");
  }

  /** %ctaid.x: the block's index in the grid. */
  blockIndex(): Value<"u32"> {
    return this.special("ctaid", "x");
  }

  /** Lane of the thread in its warp, 0 to 31. */
  laneIndex(): Value<"u32"> {
    return this.emitValue("mov.u32", "u32", ["%laneid"], { level: levels.lane });
  }

  /** Number of the warp in its block, if the block is a multiple of 32 threads along x alone. */
  warpIndex(): Value<"u32"> {
    return this.emitValue("shr.u32", "u32", [this.threadIndex(), "5"], { level: levels.warp });
  }

  /** Cycles of the multiprocessor. */
  clock(): Value<"u64"> {
    return this.emitValue("mov.u64", "u64", ["%clock64"], { level: levels.lane });
  }

  /** Nanoseconds since some time in the past. */
  nanoseconds(): Value<"u64"> {
    return this.emitValue("mov.u64", "u64", ["%globaltimer"], { level: levels.lane });
  }
}
