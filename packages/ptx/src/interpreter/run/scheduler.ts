// Runs a block's warps. The lanes of a warp go in lock step. If they part, each group of lanes at
// one segment runs in turn, the deepest call and earliest segment first: they meet again where the
// paths join. Once one of them polls or goes on for long they run in rotation, and every thread
// gets on. Barriers of the block and the cluster are kept here.
import { popcount } from "../arithmetic/integer.js";
import type { CompiledFunction, CompiledSegment } from "../compile/function.js";
import type { PtxInstruction } from "../types.js";
import { arriveAtBarrier, arriveAtCluster, clusterPassed, recheckAfterExit } from "./barriers.js";
import type { BlockState } from "./block.js";
import { callFunction, leaveFrame, leaveFrames } from "./calls.js";
import { firstLane, forEachLane } from "./lanes.js";
import { meet, refusePassing } from "./meetings.js";
import type { Group, Warp } from "./warp.js";

/** Segments a warp runs before another gets its turn. */
const slice = 512;
/** Segments a group of lanes runs while others of its warp could, before they do. */
const patience = 2048;
/** Polls after which a group of lanes lets the others go first. */
const pollPatience = 4;
/** What a poll takes from a warp's slice: the one it waits for gets on. */
const pollCost = 64;

const canRun = (warp: Warp, group: Group): boolean => group.wait === undefined || (group.wait.kind === "cluster" && clusterPassed(warp));

/** The group to run next: the one whose turn it is, or the deepest and earliest. */
function choose(warp: Warp): Group | undefined {
  const { turn } = warp;
  if (warp.turnLeft > 0 && turn !== undefined && canRun(warp, turn) && warp.groups.includes(turn)) {
    warp.turnLeft--;
    return turn;
  }
  let best: Group | undefined;
  for (const group of warp.groups) {
    if (!canRun(warp, group)) continue;
    const depth = best === undefined ? 1 : group.frame.depth - best.frame.depth;
    if (best === undefined || depth > 0 || (depth === 0 && group.segment < best.segment)) best = group;
  }
  return best;
}

function rotate(warp: Warp, group: Group): void {
  const at = warp.groups.indexOf(group);
  for (let k = 1; k < warp.groups.length; k++) {
    const other = warp.groups[(at + k) % warp.groups.length]!;
    if (!canRun(warp, other)) continue;
    warp.turn = other;
    warp.turnLeft = patience;
    return;
  }
}

/** Joins a group with one that is at the same segment; gives the group that continues. */
function merge(warp: Warp, group: Group): Group {
  for (const other of warp.groups) {
    if (other === group || other.segment !== group.segment || other.frame !== group.frame) continue;
    if (other.wait !== undefined && other.wait.kind !== "lanes") continue;
    other.mask |= group.mask;
    if (other.last !== group.last) other.last = -1;
    other.wait = undefined;
    warp.groups.splice(warp.groups.indexOf(group), 1);
    warp.streak = 0;
    if (warp.turn === group) warp.turn = other;
    return other;
  }
  return group;
}

/** Runs a warp for a slice, or until all its lanes wait or have exited. True if anything ran. */
export function runWarp(warp: Warp): boolean {
  const { launch } = warp;
  let budget = slice;
  let group = choose(warp);
  const ran = group !== undefined;
  warp.polled = 0;
  while (group !== undefined && budget > 0) {
    if (warp.groups.length > 1) {
      group = merge(warp, group);
      refusePassing(warp, group);
    }
    budget--;
    launch.steps++;
    const segment = group.frame.fn.segments[group.segment]!;
    warp.running = group;
    warp.enter(group.frame);
    warp.products?.pass(warp, segment);
    segment.lanes += popcount(group.mask);
    const taken = segment.run === undefined ? 0 : segment.run(warp, group.mask);
    if (launch.values.pending || group.frame.unwritten !== undefined) launch.values.follow(warp, group);
    if (!segment.idle && group.frame.parent === undefined) group.last = group.segment;
    const goesOn = finishSegment(warp, group, segment, taken);
    launch.stores.check();
    if (warp.polled !== 0) {
      warp.polled = 0;
      budget -= pollCost;
      warp.streak += patience / pollPatience;
      if (launch.progress !== warp.lastProgress) {
        warp.lastProgress = launch.progress;
        warp.idlePolls = 0;
      } else if (++warp.idlePolls > launch.limits.idlePolls && launch.checks.spins) throw stuck(warp, group, segment);
    }
    if (launch.steps > launch.limits.steps) throw tooLong(warp, group, segment);
    if (goesOn && warp.groups.length === 1) continue;
    if (warp.streak++ >= patience) {
      warp.streak = 0;
      rotate(warp, group);
    }
    group = choose(warp);
  }
  return ran;
}

/** The jump back that closes the innermost loop around a segment; undefined if there is none. */
function loopEnd({ segments }: CompiledFunction, index: number): PtxInstruction | undefined {
  let shortest = Infinity;
  let found: PtxInstruction | undefined;
  for (const [k, { end }] of segments.entries()) {
    if (end.kind !== "branch" && end.kind !== "switch") continue;
    const first = end.kind === "branch" ? end.target : end.targets.reduce((least, target) => Math.min(least, target), Infinity);
    if (k < index || first > index || k - first >= shortest) continue;
    shortest = k - first;
    found = end.instruction;
  }
  return found;
}

function tooLong(warp: Warp, group: Group, segment: CompiledSegment): Error {
  const loop = loopEnd(group.frame.fn, group.frame.fn.segments.indexOf(segment));
  const where = loop === undefined ? "" : `, in the loop that ends here`;
  const what = `the launch went past its limit of ${warp.launch.limits.steps} steps${where}; limits.steps (SPILLWAY_SIM_STEPS) sets how many it has`;
  return warp.error("spin", what, firstLane(warp.lanes), loop ?? segment.instructions[0] ?? warp.launch.kernel.sites[0]!);
}

/** The error for a launch in which nothing changed for too long, by a running warp. */
export function idle(warp: Warp): Error {
  const group = warp.groups.find((each) => each.wait === undefined) ?? warp.groups[0]!;
  const [instruction] = group.frame.fn.segments[group.segment]!.instructions;
  const what = `${warp.launch.limits.idleSteps} steps in which no thread of the launch changed anything: this loop does not end, at step ${warp.launch.steps}`;
  return warp.error("spin", what, firstLane(group.mask), instruction ?? warp.launch.kernel.sites[0]!);
}

function stuck(warp: Warp, group: Group, segment: CompiledSegment): Error {
  const polled = segment.instructions.findLast((each) => /^(ld|atom|red|mbarrier)$/.test(each.opcode)) ?? segment.instructions.at(-1)!;
  const what = `polled ${warp.idlePolls} times while no thread of the launch changed anything: nothing can end this loop, at step ${warp.launch.steps}`;
  return warp.error("spin", what, firstLane(group.mask), polled);
}

/** Does what a segment ends with. True if the group can go on at once. */
function finishSegment(warp: Warp, group: Group, segment: CompiledSegment, taken: number): boolean {
  const { end } = segment;
  switch (end.kind) {
    case "next":
      group.segment++;
      return true;
    case "branch": {
      const mask = segment.guarded ? taken : group.mask;
      if (mask === group.mask) group.segment = end.target;
      else {
        if (mask !== 0) warp.split(group, mask, end.target);
        group.segment++;
      }
      return true;
    }
    case "switch":
      return branchByIndex(warp, group, end.targets, end.instruction);
    case "leave": {
      const mask = segment.guarded ? taken : group.mask;
      if (mask === 0) {
        group.segment++;
        return true;
      }
      const leaving = mask === group.mask ? group : warp.split(group, mask, group.segment);
      if (leaving !== group) group.segment++;
      return leave(warp, leaving, end.how) || leaving !== group;
    }
    case "call":
      return callFunction(warp, group, end.instruction);
    default:
      return collective(warp, group, segment);
  }
}

function branchByIndex(warp: Warp, group: Group, targets: readonly number[], instruction: PtxInstruction): boolean {
  const byTarget = new Map<number, number>();
  forEachLane(group.mask, (lane) => {
    const index = warp.switchTo[lane]! >>> 0;
    const target = targets[index];
    if (target === undefined) {
      throw warp.error("illegalInstruction", `brx.idx with index ${index} of ${targets.length} targets`, lane, instruction);
    }
    byTarget.set(target, (byTarget.get(target) ?? 0) | (1 << lane));
  });
  let first = true;
  for (const [target, mask] of byTarget) {
    if (first) group.segment = target;
    else warp.split(group, mask, target);
    first = false;
  }
  return true;
}

/** A block whose shared memory another has touched must know that this is over before it exits. */
function refuseLateAccess({ at, remote, observed }: BlockState): void {
  if (remote === undefined || remote.publications < observed) return;
  const { warp, lane, site, words } = remote;
  const what = `${words()}; block of rank ${at.clusterRank} of the cluster exits and has not waited for this`;
  throw warp.error("useAfterFree", what, lane, site);
}

/** Ends lanes, or takes them back to the caller. True if they go on. */
function leave(warp: Warp, group: Group, how: "exit" | "ret"): boolean {
  if (how === "ret" && group.frame.parent !== undefined) {
    leaveFrame(warp, group);
    return true;
  }
  leaveFrames(warp, group);
  warp.live &= ~group.mask;
  warp.exits.push({ lanes: group.mask, last: group.last });
  warp.groups.splice(warp.groups.indexOf(group), 1);
  warp.launch.progress++;
  if (warp.live === 0) {
    warp.finished = true;
    if (--warp.block.running === 0) refuseLateAccess(warp.block);
  }
  recheckAfterExit(warp);
  return false;
}

function collective(warp: Warp, group: Group, segment: CompiledSegment): boolean {
  const operation = segment.collective!;
  const instruction = segment.instructions.at(-1)!;
  switch (operation.kind) {
    case "yield":
      warp.polled = 1;
      group.segment++;
      return true;
    case "lanes":
      return meet(warp, group, operation, instruction);
    case "barrier":
      return arriveAtBarrier(warp, group, operation, instruction);
    default:
      return arriveAtCluster(warp, group, operation.how, instruction);
  }
}
