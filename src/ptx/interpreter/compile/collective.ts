// Instructions that the lanes of a warp do together: shuffles, votes, matches, reductions, warp barriers. Barriers of a block or a cluster are
// only described here; the scheduler keeps them.
import { popcount } from "../arithmetic/integer.js";
import { singleBits, singleFromBits } from "../arithmetic/bits.js";
import { maximum, minimum } from "../arithmetic/float.js";
import type { Warp } from "../run/warp.js";
import type { PtxInstruction } from "../types.js";
import { LaneAccess, type ReadLane } from "./lane-access.js";
import { compileMatrix, type Heap } from "./matrix.js";
import type { RegisterFile } from "./registers.js";
import type { Support } from "./support.js";
import { compileWarpGroup } from "./warp-group.js";

export type Collective =
  /**
   * Done when all lanes of the member mask are here; once for each mask that lanes give. Without an operand the members are all lanes, or those
   * that are here. `anywhere`: the members may be at different instructions of the kind.
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

export const firstLane = (mask: number): number => 31 - Math.clz32(mask & -mask);

export function forEachLane(mask: number, visit: (lane: number) => void): void {
  for (let rest = mask; rest !== 0; rest &= rest - 1) visit(firstLane(rest));
}

function shuffle(access: LaneAccess): Collective {
  const { instruction } = access;
  const sync = instruction.modifiers.includes("sync");
  const mode = instruction.modifiers.find((word) => ["up", "down", "bfly", "idx"].includes(word));
  const to = access.operand(0);
  const write = access.write(to.kind === "pair" ? to.first : to);
  const writeFound = to.kind === "pair" ? access.write(to.second) : undefined;
  const [source, second, control] = [access.operand(1), access.operand(2), access.operand(3)];
  const [a, b, c] = [access.read(source), access.read(second), access.read(control)];
  const held = new Int32Array(32);
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
      let from: number;
      let found: boolean;
      if (mode === "up") {
        from = lane - shift;
        found = from >= last;
      } else {
        from = mode === "down" ? lane + shift : mode === "bfly" ? lane ^ shift : (lane & segment) | (shift & ~segment);
        found = from <= last;
      }
      if (!found) from = lane;
      else if (((mask >>> from) & 1) === 0) {
        if (warp.launch.checks.shuffles) {
          const state =
            (warp.live >>> from) & 1 ? "is not in the member mask" : (warp.lanes >>> from) & 1 ? "has exited" : "does not exist";
          throw warp.launch.error("inactiveLane", `lane ${lane} reads lane ${from}, which ${state}`, warp, lane, instruction);
        }
        from = lane;
      }
      write(warp, lane, held[from]!);
      writeFound?.(warp, lane, found ? 1 : 0);
    }
  };
  return { kind: "lanes", members: sync ? access.read(access.operand(4)) : "here", run };
}

function vote(access: LaneAccess): Collective {
  const { modifiers } = access.instruction;
  const predicate = access.read(access.operand(1));
  const write = access.write(access.operand(0));
  const run = (warp: Warp, mask: number): void => {
    let ballot = 0;
    forEachLane(mask, (lane) => {
      if (predicate(warp, lane)) ballot |= 1 << lane;
    });
    const all = ballot === mask;
    const value = modifiers.includes("ballot")
      ? ballot
      : Number(modifiers.includes("all") ? all : modifiers.includes("any") ? ballot !== 0 : all || ballot === 0);
    forEachLane(mask, (lane) => write(warp, lane, value));
  };
  return { kind: "lanes", members: modifiers.includes("sync") ? access.read(access.operand(2)) : "here", run };
}

function match(access: LaneAccess): Collective {
  const { modifiers } = access.instruction;
  const source = access.operand(1);
  const [low, high] = [access.read(source), modifiers.includes("b64") ? access.read(source, 1) : () => 0];
  const to = access.operand(0);
  const write = access.write(to.kind === "pair" ? to.first : to);
  const writeAll = to.kind === "pair" ? access.write(to.second) : undefined;
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
      write(warp, lane, modifiers.includes("all") && !all ? 0 : results[lane]!);
      writeAll?.(warp, lane, all ? 1 : 0);
    });
  };
  return { kind: "lanes", members: access.read(access.operand(2)), run };
}

function reduce(access: LaneAccess): Collective {
  const { modifiers } = access.instruction;
  const source = access.read(access.operand(1));
  const write = access.write(access.operand(0));
  const operation = modifiers[1]!;
  const unsigned = modifiers.includes("u32");
  const float = modifiers.includes("f32");
  const absolute = modifiers.includes("abs");
  const combine = (x: number, y: number): number => {
    if (float) {
      const [p, q] = [singleFromBits(x), singleFromBits(y)];
      if (modifiers.includes("NaN") && (Number.isNaN(p) || Number.isNaN(q))) return singleBits(NaN);
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
    const read = (lane: number): number => (float && absolute ? source(warp, lane) & 0x7fffffff : source(warp, lane));
    let result = read(firstLane(mask));
    forEachLane(mask & (mask - 1), (lane) => {
      result = combine(result, read(lane));
    });
    forEachLane(mask, (lane) => write(warp, lane, result));
  };
  return { kind: "lanes", members: access.read(access.operand(2)), run };
}

function elect(access: LaneAccess): Collective {
  const to = access.operand(0);
  const leader = to.kind === "pair" ? access.write(to.first) : () => {};
  const chosen = access.write(to.kind === "pair" ? to.second : to);
  const run = (warp: Warp, mask: number): void => {
    const first = firstLane(mask);
    forEachLane(mask, (lane) => {
      leader(warp, lane, first);
      chosen(warp, lane, lane === first ? 1 : 0);
    });
  };
  return { kind: "lanes", members: access.read(access.operand(1)), run };
}

/** bar and barrier in all their spellings; bar.warp.sync is a matter of lanes. */
function barrier(access: LaneAccess): Collective {
  const { modifiers, operands, opcode } = access.instruction;
  if (modifiers.includes("warp")) {
    const run = (warp: Warp): void => warp.launch.races.warpBarrier(warp);
    return { kind: "lanes", members: access.read(access.operand(0)), anywhere: true, run };
  }
  if (modifiers[0] === "cluster") return { kind: "cluster", how: modifiers[1] === "wait" ? "wait" : "arrive" };
  const how = modifiers.includes("arrive") ? "arrive" : modifiers.includes("red") ? "red" : "sync";
  const aligned = opcode === "bar" || modifiers.includes("aligned");
  if (how !== "red") {
    const id = operands[0] === undefined ? () => 0 : access.read(operands[0]);
    const threads = operands[1] === undefined ? undefined : access.read(operands[1]);
    return { kind: "barrier", how, aligned, id, threads, reduction: undefined, predicate: undefined, deliver: undefined };
  }
  const reduction = (["and", "or", "popc"] as const).find((word) => modifiers.includes(word));
  if (reduction === undefined) throw access.unsupported(`${opcode}.red takes .and, .or or .popc`);
  const counted = operands.length > 3;
  return {
    kind: "barrier",
    how,
    aligned,
    id: access.read(access.operand(1)),
    threads: counted ? access.read(access.operand(2)) : undefined,
    reduction,
    predicate: access.read(access.operand(counted ? 3 : 2)),
    deliver: access.write(access.operand(0)),
  };
}

export function compileCollective(instruction: PtxInstruction, file: RegisterFile, support: Support): Collective {
  const access = new LaneAccess(instruction, file);
  switch (instruction.opcode) {
    case "shfl":
      return shuffle(access);
    case "vote":
      return vote(access);
    case "match":
      return match(access);
    case "redux":
      return reduce(access);
    case "elect":
      return elect(access);
    case "bar":
    case "barrier":
      return barrier(access);
    case "wgmma":
      return compileWarpGroup(access, support as unknown as Heap);
    case "nanosleep":
      return { kind: "yield" };
    default:
      return compileMatrix(access, support);
  }
}

/** How many lanes a mask has. */
export const laneCount = popcount;
