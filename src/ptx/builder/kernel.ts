// A kernel under construction: everything the classes below offer, with the directives of an entry.
// It becomes text in a PtxModule.
import { checkFields } from "../../core/errors.js";
import { WarpGroup } from "./warp-group.js";

/** Threads of a block in each direction; 1 if left out. */
export type Threads = readonly [x: number, y?: number, z?: number];

/** What every launch of a kernel has, for the assembler and the driver to hold it to. */
export interface LaunchBounds {
  /** The block that a launch must have, in threads. */
  readonly block?: Threads;
  /** The most threads that a block may have, if it is not fixed. */
  readonly maxThreads?: number;
  /** Blocks that should fit on a multiprocessor at once; the assembler limits registers for it. */
  readonly minBlocks?: number;
  /** Blocks of a cluster that a launch must have. */
  readonly cluster?: number;
}

/** Where the builder's methods are: arithmetic, control, memory, warp and matrix instructions. */
export class PtxKernel extends WarpGroup {
  readonly bounds: LaunchBounds;

  /** Made by `PtxModule.kernel`. @throws PtxBuildError on bounds that no device takes */
  constructor(name: string, bounds: LaunchBounds = {}) {
    super(name);
    checkFields(bounds, ["block", "maxThreads", "minBlocks", "cluster"], `kernel ${name}`);
    this.bounds = bounds;
    const threads = this.threads;
    if (threads !== undefined && (!Number.isInteger(threads) || threads < 1 || threads > 1024))
      throw this.fail(`a block of ${threads} threads; it takes 1 to 1024`);
    const { cluster = 1, minBlocks = 1 } = bounds;
    if (!Number.isInteger(cluster) || cluster < 1 || cluster > 16) throw this.fail(`a cluster of ${cluster} blocks; it takes 1 to 16`);
    if (!Number.isInteger(minBlocks) || minBlocks < 1 || minBlocks > 32) throw this.fail(`minBlocks is ${minBlocks}; it takes 1 to 32`);
  }

  /** Threads of a block if the bounds say so. */
  get threads(): number | undefined {
    const { block, maxThreads } = this.bounds;
    return block === undefined ? maxThreads : block.reduce<number>((product, size) => product * (size ?? 1), 1);
  }
}
