// A block that is on the device: its indices, shared memory, warps and named barriers. Also the
// cluster it belongs to.
import type { CompiledFunction } from "../compile/function.js";
import type { Index3 } from "../errors.js";
import type { BlockOrder } from "./global-races.js";
import type { LaunchState } from "./launch-state.js";
import { type Group, Warp } from "./warp.js";

export interface NamedBarrier {
  arrived: number;
  /** Threads it takes; 0 for all of the block. */
  expected: number;
  waiting: { warp: Warp; groups: Group[] }[];
  known: Int32Array;
  all: boolean;
  any: boolean;
  count: number;
}

/** Blocks that run together and reach each other's shared memory. */
export interface Cluster {
  blocks: BlockState[];
  phase: number;
  arrived: number;
  publications: number;
  /** How many there were as its barrier was passed last. */
  passed: number;
}

/** Where a block is: in its grid and its cluster, and on the device. */
export type BlockPosition = Readonly<
  Record<"index" | "blockSize" | "gridSize" | "clusterSize" | "clusterIndex" | "clusterCount" | "inCluster", Index3> &
    Record<"gridId" | "warpCount" | "clusterRank" | "clusterBlocks" | "explicitCluster" | "slot" | "slots", number> &
    Record<"sharedBase" | "sharedBytes" | "dynamicSharedBytes" | "localBase" | "tagBase", number>
>;

export class BlockState {
  readonly at: BlockPosition;
  readonly warps: Warp[];
  readonly barriers: NamedBarrier[];
  readonly cluster: Cluster;
  /** What it knows of other blocks; undefined if no races on global memory are looked for. */
  readonly order: BlockOrder | undefined;
  /** What strong writes have made known, and how many there were. */
  readonly released: Int32Array;
  /** Times of each warp up to which its writes were fenced for products. */
  readonly proxied: Int32Array;
  releases = 0;
  /** How many of the cluster's publications this block has looked for. */
  observed = 0;
  /** Another block's last access to this shared memory, and publications before it. */
  remote: { warp: Warp; lane: number; site: number; words: () => string; publications: number } | undefined;
  running: number;

  constructor(at: BlockPosition, cluster: Cluster, launch: LaunchState, entry: CompiledFunction) {
    this.at = at;
    this.cluster = cluster;
    const { index, gridSize, warpCount } = at;
    this.order = launch.globalRaces?.enter(index.x + gridSize.x * (index.y + gridSize.y * index.z));
    this.running = warpCount;
    this.released = new Int32Array(warpCount);
    this.proxied = new Int32Array(warpCount);
    this.barriers = Array.from({ length: 16 }, () => this.emptyBarrier());
    this.warps = [];
    for (let k = 0; k < warpCount; k++) this.warps.push(new Warp(k, this, launch, entry));
  }

  emptyBarrier(): NamedBarrier {
    return { arrived: 0, expected: 0, waiting: [], known: new Int32Array(this.at.warpCount), all: true, any: false, count: 0 };
  }

  /** A thread's index as people write it, from its number in the block. */
  threadName(thread: number): string {
    const { x, y } = this.at.blockSize;
    return `(${thread % x},${Math.floor(thread / x) % y},${Math.floor(thread / (x * y))})`;
  }
}
