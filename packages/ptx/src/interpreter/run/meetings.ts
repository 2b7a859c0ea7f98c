// Where lanes of a warp meet for an instruction that they do together, once for each member mask,
// and what it means that a lane which is waited for goes past it. Barriers of a block use
// the latter as well; see barriers.ts.
import type { Collective } from "../compile/collective.js";
import type { PtxInstruction } from "../types.js";
import { firstLane } from "./lanes.js";
import type { Group, Warp } from "./warp.js";

type LaneOperation = Collective & { kind: "lanes" };

export interface Meeting {
  readonly members: number;
  readonly lanes: number;
}

export const hexadecimal = (mask: number): string => `0x${(mask >>> 0).toString(16)}`;

/** True if all lanes of a group give one member mask, and the mask holds them and no other lane. */
function allHere(warp: Warp, { mask }: Group, { members }: LaneOperation): boolean {
  if (typeof members !== "function") return members === "here" || mask === -1;
  const first = members(warp, firstLane(mask));
  if ((first & warp.lanes) !== mask) return false;
  for (let rest = mask & (mask - 1); rest !== 0; rest &= rest - 1) if (members(warp, firstLane(rest)) !== first) return false;
  return true;
}

/** The lanes of a group by member masks. @throws SimulationError if these overlap */
function meetings(warp: Warp, group: Group, operation: LaneOperation, instruction: PtxInstruction): Meeting[] {
  const { launch } = warp;
  if (typeof operation.members !== "function") return [{ members: operation.members === "all" ? -1 : group.mask, lanes: group.mask }];
  const found: Meeting[] = [];
  for (let rest = group.mask; rest !== 0; ) {
    const first = firstLane(rest);
    const members = operation.members(warp, first);
    let lanes = 0;
    for (let others = rest; others !== 0; others &= others - 1) {
      const lane = firstLane(others);
      const own = operation.members(warp, lane);
      if (own === members) lanes |= 1 << lane;
      else if (launch.checks.shuffles && (own & members) !== 0) {
        const what = `lanes give member masks that overlap, ${hexadecimal(own)} and ${hexadecimal(members)}`;
        throw warp.error("warpDivergence", what, lane, instruction);
      }
    }
    const outside = lanes & ~members;
    if (launch.checks.shuffles && outside !== 0) {
      const lane = firstLane(outside);
      throw warp.error("warpDivergence", `lane ${lane} is not in its member mask ${hexadecimal(members)}`, lane, instruction);
    }
    found.push({ members, lanes });
    rest &= ~lanes;
  }
  return found;
}

/** Sends lanes of a group that waits on to the next segment. */
function release(warp: Warp, group: Group, lanes: number): void {
  const going = lanes === group.mask ? group : warp.split(group, lanes, group.segment);
  going.wait = undefined;
  going.segment++;
}

/** `here`: lanes that arrived, here or elsewhere. A wgmma may read its operands later. */
function run(warp: Warp, operation: LaneOperation, { opcode }: PtxInstruction, lanes: number, here: number): void {
  if (here === warp.live && opcode !== "wgmma") warp.launch.races.meet(warp);
  operation.run(warp, lanes);
}

/** A group reaches an instruction that lanes do together. True if some lanes continue at once. */
export function meet(warp: Warp, group: Group, operation: LaneOperation, instruction: PtxInstruction): boolean {
  if (allHere(warp, group, operation)) {
    run(warp, operation, instruction, group.mask, group.mask);
    group.segment++;
    return true;
  }
  let done = 0;
  let awaited = 0;
  const waiting: Meeting[] = [];
  for (const meeting of meetings(warp, group, operation, instruction)) {
    const { members, lanes } = meeting;
    const gone = members & warp.lanes & ~warp.live;
    if (gone !== 0) refuseGone(warp, group, gone, instruction);
    const needed = members & warp.live;
    const others = operation.anywhere ? elsewhere(warp, group, members) : [];
    const here = others.reduce((mask, each) => mask | each.lanes, lanes);
    if ((needed & ~here) === 0) {
      run(warp, operation, instruction, lanes, here);
      done |= lanes;
      for (const each of others) release(warp, each.group, each.lanes);
    } else {
      awaited |= needed;
      waiting.push(meeting);
    }
  }
  if (done === group.mask) {
    group.segment++;
    return true;
  }
  const stays = done === 0 ? group : warp.split(group, group.mask & ~done, group.segment);
  stays.wait = { kind: "lanes", instruction, members: awaited, meetings: operation.anywhere ? waiting : [] };
  if (done !== 0) group.segment++;
  return done !== 0;
}

/** Lanes that wait at other segments for the same members, for an operation that takes that. */
function elsewhere(warp: Warp, group: Group, members: number): { group: Group; lanes: number }[] {
  return warp.groups.flatMap((each) => {
    if (each === group || each.wait?.kind !== "lanes") return [];
    return each.wait.meetings
      .filter((meeting) => meeting.members === members)
      .map(({ lanes }) => ({ group: each, lanes: lanes & each.mask }));
  });
}

/** Lanes that have exited are not waited for; those that passed this segment are refused. */
function refuseGone(warp: Warp, group: Group, gone: number, instruction: PtxInstruction): void {
  if (!warp.launch.checks.shuffles) return;
  const { fn, segment } = outermost(group);
  for (const { lanes, last } of warp.exits)
    if ((lanes & gone) !== 0 && last >= 0 && fn.paths.passed(segment, last))
      throw pastBy(warp, group, lanes & gone, fn.segments[last]!.instructions[0]!, instruction, "have exited by way of");
}

/** A group's segment in the function that its warp began with, or the call that it is in. */
export function outermost(group: Group) {
  let { frame } = group;
  let segment = group.segment;
  for (; frame.parent !== undefined; frame = frame.parent) segment = frame.returnTo - 1;
  return { fn: frame.fn, segment };
}

/** Refuses that a group passes a segment where others wait for it. @throws SimulationError */
export function refusePassing(warp: Warp, group: Group): void {
  const { fn } = group.frame;
  const segment = fn.segments[group.segment]!;
  for (const other of warp.groups) {
    const { wait } = other;
    if (wait === undefined || wait.kind === "cluster" || wait.kind === "held" || segment.idle) continue;
    const { barriers, shuffles } = warp.launch.checks;
    if (!(wait.kind === "lanes" ? shuffles : barriers)) continue;
    const awaited = group.mask & (wait.kind === "lanes" ? wait.members : -1);
    if (awaited === 0) continue;
    let { frame } = other;
    let at = other.segment;
    while (frame !== group.frame && frame.parent !== undefined) {
      at = frame.returnTo - 1;
      frame = frame.parent;
    }
    if (frame === group.frame && fn.paths.passed(at, group.segment))
      throw pastBy(warp, other, awaited, segment.instructions[0]!, wait.instruction, "have gone on to");
  }
}

function pastBy(warp: Warp, waiting: Group, lanes: number, to: PtxInstruction, instruction: PtxInstruction, how: string): Error {
  const atBarrier = waiting.wait?.kind === "barrier";
  const what = `lanes ${hexadecimal(waiting.mask)} are here for lanes ${hexadecimal(lanes)}, which ${how} ${warp.launch.describe(to)}`;
  return warp.error(atBarrier ? "barrierDivergence" : "warpDivergence", what, firstLane(waiting.mask), instruction);
}
