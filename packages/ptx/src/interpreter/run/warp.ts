// What compiled code sees of a warp: register views, thread indices, memory windows, race tags.
// Control flow is kept as groups of lanes that are at one segment; the scheduler moves them.

import type { Collective } from "../compile/collective.js";
import type { CompiledFunction } from "../compile/function.js";
import { type Index3, SimulationError, type SimulationErrorKind } from "../errors.js";
import type { PtxInstruction } from "../types.js";
import { severalLanes } from "./accesses.js";
import type { AsyncCopies } from "./async-copies.js";
import type { AsyncProducts } from "./async-products.js";
import type { BlockState } from "./block.js";
import type { LaunchState } from "./launch-state.js";
import type { Meeting } from "./meetings.js";
import type { UnwrittenRegisters } from "./unwritten.js";

/** The registers of an activation, all zero at first. */
export class Registers {
  readonly words: Int32Array;
  readonly singles: Float32Array;
  readonly doubles: Float64Array;

  private constructor(bytes: number) {
    const buffer = new ArrayBuffer(bytes);
    this.words = new Int32Array(buffer);
    this.singles = new Float32Array(buffer);
    this.doubles = new Float64Array(buffer, 0, bytes >> 3);
  }

  /** Those that an activation of the function has left, or new ones. */
  static of({ registerBytes, spareRegisters }: CompiledFunction): Registers {
    const spare = spareRegisters.pop();
    spare?.words.fill(0);
    return spare ?? new Registers(registerBytes);
  }
}

/** Registers that a function keeps for its next activations. */
const mostSpare = 64;

/** One activation of a function by some lanes: its registers and stack position. */
export class Frame {
  readonly fn: CompiledFunction;
  readonly registers: Registers;
  readonly parent: Frame | undefined;
  /** Segment of the parent to go on with. */
  readonly returnTo: number;
  /** First local byte of this frame; the same for every lane. */
  readonly base: number;
  /** Local offsets of the parameters, results first. */
  readonly parameters: readonly number[];
  readonly depth: number;
  /** Lanes that have not left it. */
  lanes: number;
  /** Local bytes up to which each lane has taken memory with alloca; undefined if none has. */
  private tops: Int32Array | undefined;
  /** Registers that hold what nothing wrote; undefined if there are none. */
  unwritten: UnwrittenRegisters | undefined;

  constructor(
    fn: CompiledFunction,
    parent: Frame | undefined,
    returnTo: number,
    base: number,
    parameters: readonly number[],
    lanes: number,
  ) {
    this.lanes = lanes;
    this.fn = fn;
    this.registers = Registers.of(fn);
    this.parent = parent;
    this.returnTo = returnTo;
    this.base = base;
    this.parameters = parameters;
    this.depth = parent === undefined ? 0 : parent.depth + 1;
  }

  /** After its last lane: leaves its registers to the next activation. */
  giveBack(): void {
    const { spareRegisters } = this.fn;
    if (spareRegisters.length < mostSpare) spareRegisters.push(this.registers);
  }

  /** First local byte beyond what a lane has taken. */
  topOf(lane: number): number {
    return this.tops?.[lane] ?? this.base + this.fn.frameBytes;
  }

  /** First local byte beyond all that some lanes took: where a call's frame begins. */
  topOfAll(lanes: number): number {
    let top = this.base + this.fn.frameBytes;
    if (this.tops !== undefined)
      for (let rest = lanes; rest !== 0; rest &= rest - 1) top = Math.max(top, this.topOf(31 - Math.clz32(rest & -rest)));
    return Math.ceil(top / 16) * 16;
  }

  /** Takes local bytes for a lane until it leaves the frame. @throws SimulationError if too many */
  allocate(warp: Warp, lane: number, low: number, high: number, alignment: number, site: number): number {
    const bytes = (high >>> 0) * 2 ** 32 + (low >>> 0);
    const start = Math.ceil(this.topOf(lane) / alignment) * alignment;
    if (start + bytes > warp.localBytes) {
      const what = `alloca of ${bytes} bytes at byte ${start} of ${warp.localBytes} bytes of local memory; limits.stackBytes sets how many there are`;
      throw warp.error("stackOverflow", what, lane, site);
    }
    this.setTop(lane, start + bytes);
    return start;
  }

  /** Gives back what a lane has taken beyond a byte that stacksave gave. */
  restore(warp: Warp, lane: number, low: number, high: number, site: number): void {
    if (high !== 0 || low < this.base + this.fn.frameBytes || low > this.topOf(lane))
      throw warp.error("illegalInstruction", "stackrestore to an address that stacksave did not give", lane, site);
    this.setTop(lane, low);
  }

  private setTop(lane: number, top: number): void {
    this.tops ??= new Int32Array(32).fill(this.base + this.fn.frameBytes);
    this.tops[lane] = top;
  }
}

/** What a group of lanes waits for. */
export type Wait =
  | { kind: "lanes"; instruction: PtxInstruction; members: number; meetings: readonly Meeting[] }
  | {
      kind: "barrier";
      instruction: PtxInstruction;
      id: number;
      arrived: boolean;
      operation: Collective & { kind: "barrier" };
      threads: number;
    }
  | { kind: "cluster"; instruction: PtxInstruction }
  /** For nothing: the launch ends with an error of these lanes. */
  | { kind: "held"; instruction: PtxInstruction };

/** Lanes of a warp that are at the same segment. */
export interface Group {
  frame: Frame;
  segment: number;
  mask: number;
  wait: Wait | undefined;
  /** The last segment of the outermost function that the lanes ran, not a mere branch; or -1. */
  last: number;
}

export interface WarpThreads {
  readonly x: Int32Array;
  readonly y: Int32Array;
  readonly z: Int32Array;
}

function threadsOf({ x, y }: Index3, warp: number): WarpThreads {
  const along = (axis: (thread: number) => number): Int32Array => Int32Array.from({ length: 32 }, (_, lane) => axis(32 * warp + lane));
  return { x: along((t) => t % x), y: along((t) => Math.floor(t / x) % y), z: along((t) => Math.floor(t / (x * y))) };
}

export class Warp {
  readonly index: number;
  readonly block: BlockState;
  readonly launch: LaunchState;
  readonly thread: WarpThreads;
  readonly sharedBase: number;
  readonly sharedBytes: number;
  readonly localBase: number;
  readonly localBytes: number;
  readonly paramBase: number;
  readonly writers: Int32Array;
  readonly readers: Int32Array;
  readonly tagBase: number;
  /** All lanes that the warp began with, and those that have not exited. */
  readonly lanes: number;
  live: number;
  /** Lanes that have exited, with what they ran last. */
  readonly exits: { lanes: number; last: number }[] = [];
  words!: Int32Array;
  singles!: Float32Array;
  doubles!: Float64Array;
  frameBase = 0;
  parameters: readonly number[] = [];
  groups: Group[];
  running: Group | undefined;
  frame!: Frame;
  /** Whether it ever loaded shared or local bytes that nothing wrote: see unwritten.ts. */
  holdsUnwritten = false;
  /** Set by compiled code that looked at memory another thread may change. */
  polled = 0;
  /** Polls since anything in the launch last changed. */
  idlePolls = 0;
  lastProgress = -1;
  /** Where lanes of a switch go. */
  readonly switchTo: Int32Array = new Int32Array(32);
  /** The warp's time, what it knows of the others' times, and tags of both: see races.ts. */
  time = 1;
  readonly known: Int32Array;
  /** Time of the last instruction that all its lanes did together. */
  met = 0;
  releasesSeen = 0;
  tag = 0;
  /** The tag of several lanes at once. */
  lanesTag = 0;
  ordered = 0;
  /** Copies of cp.async under way; undefined before the first. */
  copies: AsyncCopies | undefined;
  /** Products of wgmma under way; undefined before the first. */
  products: AsyncProducts | undefined;
  /** Phase of the cluster barrier that the warp has arrived at and may wait for. */
  clusterPhase = 0;
  finished = false;
  /** The group that runs first for `turnLeft` segments, and segments since groups last joined. */
  turn: Group | undefined;
  turnLeft = 0;
  streak = 0;

  constructor(index: number, block: BlockState, launch: LaunchState, entry: CompiledFunction) {
    this.index = index;
    this.block = block;
    this.launch = launch;
    const { blockSize, sharedBase, sharedBytes, localBase, tagBase, warpCount } = block.at;
    const { localBytes, paramBase } = launch.setting;
    const { x, y, z } = blockSize;
    const count = Math.min(32, x * y * z - 32 * index);
    this.thread = launch.threads[index] ??= threadsOf(blockSize, index);
    this.lanes = count === 32 ? -1 : (1 << count) - 1;
    this.live = this.lanes;
    this.sharedBase = sharedBase;
    this.sharedBytes = sharedBytes;
    this.localBytes = localBytes;
    this.localBase = localBase + 32 * index * localBytes;
    this.paramBase = paramBase;
    this.writers = launch.races.words.writers;
    this.readers = launch.races.words.readers;
    this.tagBase = tagBase;
    this.known = new Int32Array(warpCount);
    this.retag();
    const frame = new Frame(entry, undefined, -1, 0, [], count);
    launch.keepRegisters(entry.registerBytes);
    this.groups = [{ frame, segment: 0, mask: this.lanes, wait: undefined, last: -1 }];
    this.enter(frame);
  }

  /** Makes the tags of what the warp does from now on. */
  retag(): void {
    this.tag = (this.time << 11) | (32 * this.index);
    this.lanesTag = (this.time << 11) | (severalLanes + this.index);
  }

  /** Makes a frame's registers the ones compiled code works on. */
  enter(frame: Frame): void {
    this.frame = frame;
    const { words, singles, doubles } = frame.registers;
    this.words = words;
    this.singles = singles;
    this.doubles = doubles;
    this.frameBase = frame.base;
    this.parameters = frame.parameters;
  }

  /** Splits lanes off a group; the new group takes `mask`. */
  split(group: Group, mask: number, segment: number): Group {
    group.mask &= ~mask;
    const other: Group = { frame: group.frame, segment, mask, wait: undefined, last: group.last };
    this.groups.push(other);
    return other;
  }

  /** What a lane did wrong, at an instruction or at one by its number. */
  error(kind: SimulationErrorKind, what: string, lane: number, at: number | PtxInstruction): SimulationError {
    const { block, launch, thread } = this;
    const instruction = typeof at === "number" ? launch.kernel.sites[at]! : at;
    return new SimulationError(kind, what, {
      kernel: launch.kernel.name,
      instruction: instruction.text,
      ...launch.lines(instruction),
      block: { ...block.at.index },
      thread: { x: thread.x[lane]!, y: thread.y[lane]!, z: thread.z[lane]! },
    });
  }

  clock(): number {
    return this.launch.steps;
  }

  nanoseconds(): number {
    return this.launch.setting.startNanoseconds + this.launch.steps;
  }

  /** After a strong read others' published accesses are known, beyond the block if it acquires. */
  observe(acquire: boolean): void {
    this.polled = 1;
    this.block.observed = this.block.cluster.publications;
    this.launch.races.acquire(this);
    this.launch.globalRaces?.observe(this.block.order!, acquire);
  }

  /** A strong write publishes the warp's accesses in the block, or beyond it if it releases. */
  publish(release: boolean): void {
    this.block.cluster.publications++;
    this.launch.races.release(this);
    this.launch.globalRaces?.publish(this.block.order!, release);
  }

  /** After a wait, for what was published in the cluster till then. */
  synchronise(publications = this.block.cluster.publications): void {
    this.block.observed = Math.max(this.block.observed, publications);
    this.launch.races.acquire(this);
    this.launch.globalRaces?.observe(this.block.order!, true);
  }

  /** A fence; of the block only if it is not `wide`. */
  fence(wide: boolean): void {
    this.launch.races.release(this);
    this.launch.races.acquire(this);
    if (wide) this.launch.globalRaces?.fence(this.block.order!);
  }

  /** True for a shared address of this block, by its low word. */
  ownShared(low: number): boolean {
    const rank = low >>> 24;
    return rank === 0 || rank === this.block.at.clusterRank + 1;
  }

  mapShared(low: number, rank: number, lane: number, site: number): number {
    if (rank >>> 0 >= this.block.at.clusterBlocks)
      throw this.error("illegalInstruction", `mapa to block ${rank} of a cluster of ${this.block.at.clusterBlocks}`, lane, site);
    return (low & 0xffffff) | ((rank + 1) << 24);
  }

  rankOfShared(low: number): number {
    const rank = low >>> 24;
    return rank === 0 ? this.block.at.clusterRank : rank - 1;
  }
}
