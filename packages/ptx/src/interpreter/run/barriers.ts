// Barriers of a block (bar, barrier.cta, sixteen of them) and of a cluster: who has arrived, who
// waits, and what it means that a thread has exited. A warp arrives when all its lanes that have
// not exited are there.
import type { Collective } from "../compile/collective.js";
import type { PtxInstruction } from "../types.js";
import type { BlockState, Cluster, NamedBarrier } from "./block.js";
import { firstLane, forEachLane } from "./lanes.js";
import { hexadecimal, outermost } from "./meetings.js";
import type { Group, Warp } from "./warp.js";

type BarrierOperation = Collective & { kind: "barrier" };

interface Waiting {
  readonly group: Group;
  readonly wait: NonNullable<Group["wait"]> & { kind: "barrier" };
}

/** Groups of a warp that wait at a barrier and have not been counted yet. */
function uncounted(warp: Warp, id: number): Waiting[] {
  const found: Waiting[] = [];
  for (const group of warp.groups) {
    const { wait } = group;
    if (wait?.kind === "barrier" && wait.id === id && !wait.arrived) found.push({ group, wait });
  }
  return found;
}

/** A group comes to a barrier. True if it goes on at once. */
export function arriveAtBarrier(warp: Warp, group: Group, operation: BarrierOperation, instruction: PtxInstruction): boolean {
  const lane = firstLane(group.mask);
  const id = operation.id(warp, lane);
  if (id >>> 0 > 15) throw warp.error("illegalInstruction", `barrier ${id}: a block has barriers 0 to 15`, lane, instruction);
  const threads = operation.threads?.(warp, lane) ?? 0;
  if (operation.threads !== undefined && (threads <= 0 || threads % 32 !== 0))
    throw warp.error("illegalInstruction", `a barrier of ${threads} threads: it takes a positive multiple of 32`, lane, instruction);
  group.wait = { kind: "barrier", instruction, id, arrived: false, operation, threads };
  countWarp(warp, id);
  return group.wait === undefined;
}

/** Counts a warp as arrived once all its live lanes are at the barrier. */
function countWarp(warp: Warp, id: number): void {
  const groups = uncounted(warp, id);
  if (groups.length === 0 || groups.reduce((mask, { group }) => mask | group.mask, 0) !== warp.live) return;
  const { block, launch } = warp;
  const barrier = block.barriers[id]!;
  const [{ group, wait }] = groups as [Waiting, ...Waiting[]];
  const refuse = (what: string): never => {
    throw warp.error("barrierDivergence", what, firstLane(group.mask), wait.instruction);
  };
  const threads = (count: number): number => count || 32 * block.at.warpCount;
  if (barrier.arrived > 0 && threads(barrier.expected) !== threads(wait.threads))
    refuse(`barrier ${id} is entered for ${wait.threads || "all"} threads by this warp and for ${barrier.expected || "all"} by another`);
  const other = groups.find((each) => each.wait.instruction !== wait.instruction);
  if (other !== undefined && launch.checks.barriers && (wait.operation.aligned || other.wait.operation.aligned))
    refuse(
      `lanes ${hexadecimal(group.mask)} are at this barrier and lanes ${hexadecimal(other.group.mask)} of the same warp at that of ${launch.describe(other.wait.instruction)}: all lanes of a warp take one`,
    );
  barrier.expected = wait.threads;
  barrier.arrived++;
  launch.races.contribute(warp, barrier.known);
  launch.progress++;
  const staying: Group[] = [];
  for (const each of groups) {
    const { operation } = each.wait;
    const { predicate } = operation;
    warp.enter(each.group.frame);
    if (predicate !== undefined) {
      forEachLane(each.group.mask, (lane) => {
        const value = predicate(warp, lane) !== 0;
        barrier.all &&= value;
        barrier.any ||= value;
        if (value) barrier.count++;
      });
    }
    each.wait.arrived = true;
    if (operation.how === "arrive") pass(each.group);
    else staying.push(each.group);
  }
  if (staying.length > 0) barrier.waiting.push({ warp, groups: staying });
  completeIfReady(block, id);
}

function pass(group: Group): void {
  group.wait = undefined;
  group.segment++;
}

function completeIfReady(block: BlockState, id: number): void {
  const barrier = block.barriers[id]!;
  if (barrier.arrived === 0) return;
  if (barrier.expected > 0) {
    if (barrier.arrived * 32 < barrier.expected) return;
  } else {
    if (barrier.arrived < block.running) return;
    for (const warp of block.warps) if (warp.exits.length > 0) refusePassed(warp, id, barrier);
  }
  complete(block, id, barrier);
}

/** Exited threads are not waited for; those that passed the barrier first should have come. */
function refusePassed(gone: Warp, id: number, { waiting }: NamedBarrier): void {
  const { block, launch } = gone;
  if (!launch.checks.barriers) return;
  for (const { warp, groups } of waiting)
    for (const group of groups) {
      const { fn, segment } = outermost(group);
      const exit = gone.exits.find(({ last }) => last >= 0 && fn.paths.passed(segment, last));
      if (exit === undefined) continue;
      const to = launch.describe(fn.segments[exit.last]!.instructions[0]!);
      const what = `this thread waits at barrier ${id} for all threads of the block, but thread ${block.threadName(32 * gone.index + firstLane(exit.lanes))} went past it to ${to} and has exited`;
      throw warp.error("barrierDivergence", what, firstLane(group.mask), group.wait!.instruction);
    }
}

function complete(block: BlockState, id: number, barrier: NamedBarrier): void {
  const warps = barrier.waiting.map(({ warp }) => warp);
  const { launch } = block.warps[0]!;
  launch.races.join(warps, barrier.known);
  launch.counters.barriers++;
  launch.progress++;
  for (const { warp, groups } of barrier.waiting) {
    for (const group of groups) {
      const { operation } = group.wait as Group["wait"] & { kind: "barrier" };
      if (operation.deliver !== undefined) {
        const value = operation.reduction === "popc" ? barrier.count : Number(operation.reduction === "and" ? barrier.all : barrier.any);
        warp.enter(group.frame);
        forEachLane(group.mask, (lane) => operation.deliver!(warp, lane, value));
      }
      pass(group);
    }
  }
  block.barriers[id] = block.emptyBarrier();
}

function advanceIfReady(cluster: Cluster): void {
  const running = cluster.blocks.reduce((sum, block) => sum + block.running, 0);
  if (cluster.arrived === 0 || cluster.arrived < running) return;
  cluster.phase++;
  cluster.passed = cluster.publications;
  cluster.arrived = 0;
  const { launch } = cluster.blocks[0]!.warps[0]!;
  launch.progress++;
  launch.counters.clusterBarriers++;
}

/** True if the phase of the cluster barrier that a warp arrived at is over. */
export function clusterPassed(warp: Warp): boolean {
  return warp.block.cluster.phase >= warp.clusterPhase;
}

export function arriveAtCluster(warp: Warp, group: Group, how: "arrive" | "wait", instruction: PtxInstruction): boolean {
  const { cluster } = warp.block;
  if (group.mask !== warp.live) {
    group.wait = { kind: "lanes", instruction, members: warp.live, meetings: [] };
    return false;
  }
  if (how === "wait") {
    if (!clusterPassed(warp)) {
      group.wait = { kind: "cluster", instruction };
      return false;
    }
    warp.synchronise(cluster.passed);
  } else {
    if (!clusterPassed(warp))
      throw warp.error("barrierDivergence", "barrier.cluster.arrive twice without a wait between", firstLane(group.mask), instruction);
    warp.publish(true);
    warp.clusterPhase = cluster.phase + 1;
    cluster.arrived++;
    advanceIfReady(cluster);
  }
  pass(group);
  return true;
}

/** Looks again at everything that waits, after lanes of a warp have exited. */
export function recheckAfterExit(warp: Warp): void {
  const { block } = warp;
  for (const group of warp.groups) if (group.wait?.kind === "lanes") group.wait = undefined;
  for (let id = 0; id < 16; id++) {
    if (!warp.finished) countWarp(warp, id);
    if (block.running > 0) completeIfReady(block, id);
  }
  if (warp.finished) advanceIfReady(block.cluster);
}
