// Instructions that the lanes of a warp do together: shuffles, votes, matches, reductions, warp
// barriers. Barriers of a block or a cluster are only described here; the scheduler keeps them.
import { singleBits, singleFromBits } from "../arithmetic/bits.js";
import { maximum, minimum } from "../arithmetic/float.js";
import { firstLane, forEachLane } from "../run/lanes.js";
import type { Warp } from "../run/warp.js";
import type { PtxInstruction } from "../types.js";
import { LaneAccess, type ReadLane } from "./lane-access.js";
import { matrixForms } from "./matrix.js";
import type { RegisterFile } from "./registers.js";
import type { Support } from "./support.js";
import { compileWarpGroup } from "./warp-group.js";

export type Collective =
  /**
   * Done when all lanes of the member mask are here; once for each mask that lanes give. Without an
   * operand the members are all lanes, or those that are here. `anywhere`: the members may be at
   * different instructions of the kind.
   */
  | { kind: "lanes"; members: "all" | "here" | ReadLane; anywhere?: boolean; run: (warp: Warp, mask: number) => void }
  | {
      kind: "barrier";
      how: "sync" | "arrive" | "red";
      /** All lanes of a warp come to it at one instruction. */
      aligned: boolean;
      id: ReadLane;
      threads: ReadLane | undefined;
      reduction: "and" | "or" | "popc" | undefined;
      predicate: ReadLane | undefined;
      deliver: ((warp: Warp, lane: number, value: number) => void) | undefined;
    }
  | { kind: "cluster"; how: "arrive" | "wait" }
  | { kind: "yield" };

/** The member mask of an instruction with `.sync`; without, the lanes that are here take part. */
function membersOf(access: LaneAccess, index: number): "here" | ReadLane {
  return access.has("sync") ? access.read(access.operand(index)) : "here";
}

/** The member mask of an instruction that has no form without. */
function membersRequired(access: LaneAccess, index: number): ReadLane {
  access.one(["sync"]);
  return access.read(access.operand(index));
}

function shuffle(access: LaneAccess): Collective {
  const { instruction } = access;
  const mode = access.one(["up", "down", "bfly", "idx"]);
  access.type(["b32"]);
  const to = access.operand(0);
  const write = access.write(to.kind === "pair" ? to.first : to);
  const writeFound = to.kind === "pair" ? access.write(to.second, 0, "pred") : undefined;
  const [a, b, c] = [1, 2, 3].map((k) => access.read(access.operand(k))) as [ReadLane, ReadLane, ReadLane];
  const held = new Int32Array(32);
  const from = new Int32Array(32);
  const run = (warp: Warp, mask: number): void => {
    forEachLane(mask, (lane) => {
      held[lane] = a(warp, lane);
    });
    for (let rest = mask; rest !== 0; rest &= rest - 1) {
      const lane = firstLane(rest);
      const shift = b(warp, lane) & 31;
      const clamp = c(warp, lane);
      const segment = (clamp >> 8) & 31;
      const last = (lane & segment) | (clamp & 31 & ~segment);
      let other: number;
      let found: boolean;
      if (mode === "up") {
        other = lane - shift;
        found = other >= last;
      } else {
        other = mode === "down" ? lane + shift : mode === "bfly" ? lane ^ shift : (lane & segment) | (shift & ~segment);
        found = other <= last;
      }
      if (!found) other = lane;
      else if (((mask >>> other) & 1) === 0) {
        if (warp.launch.checks.shuffles) {
          const state =
            (warp.live >>> other) & 1 ? "is not in the member mask" : (warp.lanes >>> other) & 1 ? "has exited" : "does not exist";
          throw warp.error("inactiveLane", `lane ${lane} reads lane ${other}, which ${state}`, lane, instruction);
        }
        other = lane;
      }
      write(warp, lane, held[other]!);
      from[lane] = other;
      writeFound?.(warp, lane, found ? 1 : 0);
    }
    if (warp.frame.unwritten !== undefined)
      warp.launch.values.shuffle(warp.frame, access.operand(1), to.kind === "pair" ? to.first : to, mask, from);
  };
  return { kind: "lanes", members: membersOf(access, 4), run };
}

function vote(access: LaneAccess): Collective {
  const how = access.one(["all", "any", "uni", "ballot"]);
  const type = access.type([how === "ballot" ? "b32" : "pred"]);
  const predicate = access.predicate(access.operand(1));
  const write = access.write(access.operand(0), 0, type);
  const run = (warp: Warp, mask: number): void => {
    let ballot = 0;
    forEachLane(mask, (lane) => {
      if (predicate(warp, lane)) ballot |= 1 << lane;
    });
    const all = ballot === mask;
    const value = how === "ballot" ? ballot : Number(how === "all" ? all : how === "any" ? ballot !== 0 : all || ballot === 0);
    forEachLane(mask, (lane) => write(warp, lane, value));
  };
  return { kind: "lanes", members: membersOf(access, 2), run };
}

function match(access: LaneAccess): Collective {
  const how = access.one(["any", "all"]);
  const type = access.type(["b32", "b64"]);
  const source = access.operand(1);
  const [low, high] = [access.read(source, 0, type), type === "b64" ? access.read(source, 1, type) : () => 0];
  const to = access.operand(0);
  if (to.kind === "pair" && how === "any") throw access.unsupported(".any gives one result");
  const write = access.write(to.kind === "pair" ? to.first : to);
  const writeAll = to.kind === "pair" ? access.write(to.second, 0, "pred") : undefined;
  const run = (warp: Warp, mask: number): void => {
    const results: number[] = [];
    forEachLane(mask, (lane) => {
      let same = 0;
      forEachLane(mask, (other) => {
        if (low(warp, other) === low(warp, lane) && high(warp, other) === high(warp, lane)) same |= 1 << other;
      });
      results[lane] = same;
    });
    forEachLane(mask, (lane) => {
      const all = results[lane] === mask;
      write(warp, lane, how === "all" && !all ? 0 : results[lane]!);
      writeAll?.(warp, lane, all ? 1 : 0);
    });
  };
  return { kind: "lanes", members: membersRequired(access, 2), run };
}

const reductions = {
  add: ["u32", "s32"],
  min: ["u32", "s32", "f32"],
  max: ["u32", "s32", "f32"],
  and: ["b32"],
  or: ["b32"],
  xor: ["b32"],
} as const;

function reduce(access: LaneAccess): Collective {
  const operation = access.one(Object.keys(reductions) as (keyof typeof reductions)[]);
  const type = access.type(reductions[operation]);
  const source = access.read(access.operand(1), 0, type);
  const write = access.write(access.operand(0), 0, type);
  const unsigned = type === "u32";
  const float = type === "f32";
  const absolute = float && access.has("abs");
  const nan = float && access.has("NaN");
  const combine = (x: number, y: number): number => {
    if (float) {
      const [p, q] = [singleFromBits(x), singleFromBits(y)];
      if (nan && (Number.isNaN(p) || Number.isNaN(q))) return singleBits(NaN);
      return singleBits(operation === "min" ? minimum(p, q) : maximum(p, q));
    }
    if (operation === "add") return (x + y) | 0;
    if (operation === "and") return x & y;
    if (operation === "or") return x | y;
    if (operation === "xor") return x ^ y;
    const [p, q] = unsigned ? [x >>> 0, y >>> 0] : [x, y];
    return (operation === "min" ? Math.min(p, q) : Math.max(p, q)) | 0;
  };
  const run = (warp: Warp, mask: number): void => {
    const read = (lane: number): number => (absolute ? source(warp, lane) & 0x7fffffff : source(warp, lane));
    let result = read(firstLane(mask));
    forEachLane(mask & (mask - 1), (lane) => {
      result = combine(result, read(lane));
    });
    forEachLane(mask, (lane) => write(warp, lane, result));
  };
  return { kind: "lanes", members: membersRequired(access, 2), run };
}

function elect(access: LaneAccess): Collective {
  const to = access.operand(0);
  const leader = to.kind === "pair" ? access.write(to.first) : () => {};
  const chosen = access.write(to.kind === "pair" ? to.second : to, 0, "pred");
  const run = (warp: Warp, mask: number): void => {
    const first = firstLane(mask);
    forEachLane(mask, (lane) => {
      leader(warp, lane, first);
      chosen(warp, lane, lane === first ? 1 : 0);
    });
  };
  return { kind: "lanes", members: membersRequired(access, 1), run };
}

/** bar and barrier in all their spellings; bar.warp.sync is a matter of lanes. */
function barrier(access: LaneAccess): Collective {
  const { opcode } = access.instruction;
  if (access.has("warp")) {
    const run = (warp: Warp): void => warp.launch.races.warpBarrier(warp);
    return { kind: "lanes", members: membersRequired(access, 0), anywhere: true, run };
  }
  if (access.has("cluster")) {
    const how = access.one(["arrive", "wait"]);
    // An arrival that releases nothing is taken for one that does.
    access.skip(how === "wait" ? ["aligned", "acquire"] : ["aligned", "release", "relaxed"]);
    return { kind: "cluster", how };
  }
  access.skip(["cta"]);
  const how = access.one(["sync", "arrive", "red"]);
  const aligned = opcode === "bar" || access.has("aligned");
  if (how !== "red") {
    const [id, threads] = [access.optional(0), access.optional(1)];
    if (how === "arrive" && threads === undefined) throw access.unsupported("it takes a barrier and a number of threads");
    return {
      ...{ kind: "barrier", how, aligned, reduction: undefined, predicate: undefined, deliver: undefined },
      id: id === undefined ? () => 0 : access.read(id),
      threads: threads === undefined ? undefined : access.read(threads),
    };
  }
  const reduction = access.one(["and", "or", "popc"]);
  const type = access.type([reduction === "popc" ? "u32" : "pred"]);
  const counted = access.operandCount > 3;
  return {
    kind: "barrier",
    how,
    aligned,
    id: access.read(access.operand(1)),
    threads: counted ? access.read(access.operand(2)) : undefined,
    reduction,
    predicate: access.predicate(access.operand(counted ? 3 : 2)),
    deliver: access.write(access.operand(0), 0, type),
  };
}

/** nanosleep, which lets others go first. */
function sleep(access: LaneAccess): Collective {
  access.type(["u32"]);
  access.read(access.operand(0), 0, "u32");
  return { kind: "yield" };
}

export function compileCollective(instruction: PtxInstruction, file: RegisterFile, support: Support, target: number): Collective {
  const access = new LaneAccess(instruction, file, target);
  const compiled = compilers[instruction.opcode]!(access, support);
  access.refuseUnread();
  return compiled;
}

const compilers: Readonly<Record<string, (access: LaneAccess, support: Support) => Collective>> = {
  ...{ shfl: shuffle, vote, match, redux: reduce, elect, bar: barrier, barrier, nanosleep: sleep, wgmma: compileWarpGroup },
  ...matrixForms,
};
