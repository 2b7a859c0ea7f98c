// A block that is on the device: its indices, shared memory, warps and named barriers. Also the
// cluster it belongs to.
import type { CompiledFunction } from "../compile/function.js";
import type { Index3 } from "../errors.js";
import type { BlockOrder } from "./global-races.js";
import type { LaunchState } from "./launch-state.js";
import { type Group, Warp } from "./warp.js";

/** One of the 16 named barriers of a block. */
export interface NamedBarrier {
  /** Warps that have arrived, waiting or not. */
  arrived: number;
  /** Threads it takes; 0 for all of the block. */
  expected: number;
  waiting: { warp: Warp; groups: Group[] }[];
  known: Int32Array;
  /** Predicates of a reduction so far. */
  all: boolean;
  any: boolean;
  count: number;
}

/** Blocks that run together and reach each other's shared memory. */
export interface Cluster {
  blocks: BlockState[];
  phase: number;
  arrived: number;
  /** Strong stores and arrivals so far. */
  publications: number;
  /** How many there were as its barrier was passed last. */
  passed: number;
}

export interface BlockShape {
  blockSize: Index3;
  gridSize: Index3;
  clusterSize: Index3;
  clusterIndex: Index3;
  clusterCount: Index3;
  inCluster: Index3;
  clusterRank: number;
  clusterBlocks: number;
  explicitCluster: number;
}

export interface BlockMemory {
  slot: number;
  slots: number;
  sharedBase: number;
  sharedBytes: number;
  dynamicSharedBytes: number;
  localBase: number;
  tagBase: number;
}

export class BlockState implements BlockShape, BlockMemory {
  readonly index: Index3;
  readonly blockSize!: Index3;
  readonly gridSize!: Index3;
  readonly clusterSize!: Index3;
  readonly clusterIndex!: Index3;
  readonly clusterCount!: Index3;
  readonly inCluster!: Index3;
  readonly clusterRank!: number;
  readonly clusterBlocks!: number;
  readonly explicitCluster!: number;
  readonly slot!: number;
  readonly slots!: number;
  readonly sharedBase!: number;
  readonly sharedBytes!: number;
  readonly dynamicSharedBytes!: number;
  readonly localBase!: number;
  readonly tagBase!: number;
  readonly gridId: number;
  readonly warpCount: number;
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
  /**
   * The last access of another block to this block's shared memory, and the publications before it.
   */
  remote: { warp: Warp; lane: number; site: number; words: () => string; publications: number } | undefined;
  running: number;

  constructor(index: Index3, shape: BlockShape, memory: BlockMemory, cluster: Cluster, launch: LaunchState, entry: CompiledFunction) {
    Object.assign(this, shape, memory);
    this.index = index;
    this.gridId = launch.gridId;
    this.cluster = cluster;
    const { x, y } = shape.gridSize;
    this.order = launch.globalRaces?.enter(index.x + x * (index.y + y * index.z));
    this.warpCount = Math.ceil((shape.blockSize.x * shape.blockSize.y * shape.blockSize.z) / 32);
    this.running = this.warpCount;
    this.released = new Int32Array(this.warpCount);
    this.proxied = new Int32Array(this.warpCount);
    this.barriers = Array.from({ length: 16 }, () => this.emptyBarrier());
    this.warps = [];
    for (let k = 0; k < this.warpCount; k++) this.warps.push(new Warp(k, this, launch, entry));
  }

  emptyBarrier(): NamedBarrier {
    return { arrived: 0, expected: 0, waiting: [], known: new Int32Array(this.warpCount), all: true, any: false, count: 0 };
  }

  /** A thread's index as people write it, from its number in the block. */
  threadName(thread: number): string {
    const { x, y } = this.blockSize;
    return `(${thread % x},${Math.floor(thread / x) % y},${Math.floor(thread / (x * y))})`;
  }
}
