// Runs a grid: puts clusters of blocks on the device as they fit, gives every warp its slices in
// turn, and tells a deadlock from waiting.

import { type Index3, SimulationError, type SimulationErrorKind } from "../errors.js";
import { type BlockPosition, BlockState, type Cluster } from "./block.js";
import { firstLane } from "./lanes.js";
import type { LaunchState } from "./launch-state.js";
import { type DeviceMemory, shadow } from "./memory.js";
import { idle, runWarp } from "./scheduler.js";
import type { Group, Warp } from "./warp.js";

export interface GridShape {
  grid: Index3;
  block: Index3;
  cluster: Index3;
  explicitCluster: boolean;
  sharedBytes: number;
  dynamicSharedBytes: number;
}

export interface Slot {
  sharedBase: number;
  localBase: number;
}

/** Turns that every warp gets to write what another has read. */
const lookingOn = 32;

const volume = ({ x, y, z }: Index3): number => x * y * z;
const unfold = (linear: number, { x, y }: Index3): Index3 => ({
  x: linear % x,
  y: Math.floor(linear / x) % y,
  z: Math.floor(linear / (x * y)),
});

export class GridRun {
  private readonly launch: LaunchState;
  private readonly shape: GridShape;
  private readonly slots: readonly Slot[];
  private readonly memory: DeviceMemory;
  private readonly clusterCount: Index3;
  private readonly free: number[];
  private resident: Cluster[] = [];
  private next = 0;
  private lastProgress = 0;
  private lastSteps = 0;

  constructor(launch: LaunchState, shape: GridShape, slots: readonly Slot[], memory: DeviceMemory) {
    this.launch = launch;
    this.shape = shape;
    this.slots = slots;
    this.memory = memory;
    const { grid, cluster } = shape;
    this.clusterCount = { x: grid.x / cluster.x, y: grid.y / cluster.y, z: grid.z / cluster.z };
    launch.writtenLater = (warp, offset) => this.writtenLater(warp, offset);
    this.free = slots.map((_, k) => k).reverse();
  }

  /** True once the grid is over; false if all threads had a turn and changed nothing. */
  advance(): boolean {
    const clusters = volume(this.clusterCount);
    const size = volume(this.shape.cluster);
    for (;;) {
      const before = this.launch.progress;
      while (this.next < clusters && this.free.length >= size) this.resident.push(this.start(this.next++));
      if (this.resident.length === 0) return true;
      let ran = false;
      let ended = false;
      for (const { blocks } of this.resident) {
        for (const block of blocks) for (const warp of block.warps) if (!warp.finished && this.runs(warp)) ran = true;
        if (blocks.every(({ running }) => running === 0)) ended = true;
      }
      if (ended) {
        for (const cluster of this.resident) if (cluster.blocks.every(({ running }) => running === 0)) this.end(cluster);
        this.resident = this.resident.filter(({ blocks }) => blocks.some(({ running }) => running > 0));
      } else if (!ran) throw this.deadlock();
      this.refuseIdling();
      if (!ended && this.launch.progress === before) return false;
    }
  }

  private runs(warp: Warp): boolean {
    try {
      return runWarp(warp);
    } catch (error) {
      // What failed may come of what nothing wrote.
      const { running } = warp;
      if (running !== undefined && this.launch.values.pending) this.launch.values.follow(warp, running);
      throw error;
    }
  }

  /** After a failure, runs the other threads to find out whether a byte was read too early. */
  private writtenLater(warp: Warp, offset: number): boolean | SimulationError {
    this.launch.writtenLater = undefined;
    if (this.memory.liveAround(offset)?.kind === "local") return false;
    const { running } = warp;
    if (running !== undefined) running.wait = { kind: "held", instruction: running.frame.fn.segments[running.segment]!.instructions[0]! };
    const failed = new Set<Warp>();
    for (let turn = 0, ran = true; ran && turn < lookingOn; turn++) {
      ran = false;
      for (const block of this.resident.flatMap(({ blocks }) => blocks))
        for (const other of block.warps) {
          if (other.finished || failed.has(other)) continue;
          try {
            if (runWarp(other)) ran = true;
          } catch (error) {
            if (!(error instanceof SimulationError)) throw error;
            if (error.kind === "race") return error;
            failed.add(other);
          }
          if (this.memory.shadowBytes[offset] !== shadow.unwritten) return true;
        }
    }
    return false;
  }

  private start(number: number): Cluster {
    const { shape, launch, slots } = this;
    const clusterIndex = unfold(number, this.clusterCount);
    const cluster: Cluster = { blocks: [], phase: 0, arrived: 0, publications: 0, passed: 0 };
    const clusterBlocks = volume(shape.cluster);
    const words = (shape.sharedBytes + 3) >> 2;
    for (let rank = 0; rank < clusterBlocks; rank++) {
      const inCluster = unfold(rank, shape.cluster);
      const index = {
        x: clusterIndex.x * shape.cluster.x + inCluster.x,
        y: clusterIndex.y * shape.cluster.y + inCluster.y,
        z: clusterIndex.z * shape.cluster.z + inCluster.z,
      };
      const slot = this.free.pop()!;
      const { sharedBase, localBase } = slots[slot]!;
      const warpCount = Math.ceil(volume(shape.block) / 32);
      this.memory.forget(sharedBase, shape.sharedBytes);
      this.memory.write(sharedBase, new Uint8Array(launch.kernel.reservedSharedBytes));
      this.memory.forget(localBase, launch.setting.localBytes * 32 * warpCount);
      const tagBase = slot * words;
      launch.races.forget(tagBase, words);
      const position: BlockPosition = {
        ...{ index, blockSize: shape.block, gridSize: shape.grid, clusterSize: shape.cluster, clusterIndex, inCluster },
        ...{ clusterCount: this.clusterCount, clusterRank: rank, clusterBlocks, explicitCluster: shape.explicitCluster ? 1 : 0 },
        ...{ gridId: launch.setting.gridId, warpCount, slot, slots: slots.length, sharedBase, localBase, tagBase },
        ...{ sharedBytes: shape.sharedBytes, dynamicSharedBytes: shape.dynamicSharedBytes },
      };
      cluster.blocks.push(new BlockState(position, cluster, launch, launch.kernel.entry));
    }
    return cluster;
  }

  private refuseIdling(): void {
    const { launch } = this;
    if (launch.progress !== this.lastProgress) {
      this.lastProgress = launch.progress;
      this.lastSteps = launch.steps;
    } else if (launch.checks.spins && launch.steps - this.lastSteps > launch.limits.idleSteps) {
      const warps = this.resident.flatMap(({ blocks }) => blocks.flatMap((block) => block.warps));
      const running = warps.find((warp) => !warp.finished);
      if (running !== undefined) throw idle(running);
    }
  }

  private end(cluster: Cluster): void {
    for (const { at } of cluster.blocks) this.free.push(at.slot);
  }

  /** All lanes wait and none can continue: says what the first waits for, and who is missing. */
  private deadlock(): SimulationError {
    const waiting: { warp: Warp; group: Group }[] = [];
    for (const { blocks } of this.resident)
      for (const block of blocks)
        for (const warp of block.warps) for (const group of warp.groups) if (group.wait !== undefined) waiting.push({ warp, group });
    const first = waiting[0]!;
    const wait = first.group.wait!;
    const lane = firstLane(first.group.mask);
    const kind: SimulationErrorKind = wait.kind === "lanes" ? "warpDivergence" : "barrierDivergence";
    const other = waiting.find(({ group }) => group.wait!.instruction !== wait.instruction);
    const elsewhere =
      other === undefined ? "" : `; others wait at PTX line ${other.group.wait!.instruction.line} "${other.group.wait!.instruction.text}"`;
    const gone = first.warp.block.warps.filter(({ finished }) => finished).length;
    const exited = gone === 0 ? "" : `; ${gone} of ${first.warp.block.at.warpCount} warps of the block have exited`;
    const what =
      wait.kind === "lanes"
        ? `lanes 0x${(first.group.mask >>> 0).toString(16)} wait for lanes 0x${((wait.members & ~first.group.mask) >>> 0).toString(16)}, which never come`
        : wait.kind === "barrier"
          ? `waits for ever at barrier ${wait.id}`
          : "waits for ever at the barrier of its cluster";
    return first.warp.error(kind, what + elsewhere + exited, lane, wait.instruction);
  }
}
