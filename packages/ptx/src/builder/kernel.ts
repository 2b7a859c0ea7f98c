// A kernel under construction: everything the classes below offer, with the directives of an entry.
// It becomes text in a PtxModule.
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, type InputOf, optional, resolve, whole } from "@spillway/core/options.js";
import { WarpGroup } from "./warp-group.js";

/** Threads of a block in each direction; 1 if left out. */
export type Threads = readonly [x: number, y?: number, z?: number];

const isBlock = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length >= 1 &&
  value.length <= 3 &&
  value.every((size) => size === undefined || (Number.isInteger(size) && size >= 1));

export const boundsTable = {
  /** The block that a launch must have, in threads. */
  block: optional(
    checked<Threads>("a list of one to three whole numbers of at least 1", isBlock),
    "The block that a launch must have, in threads.",
  ),
  /** The most threads that a block may have, if it is not fixed. */
  maxThreads: optional(whole({ atLeast: 1, atMost: 1024 }), "The most threads that a block may have, if it is not fixed."),
  /** Blocks that should fit on a multiprocessor at once; the assembler limits registers for it. */
  minBlocks: optional(whole({ atLeast: 1, atMost: 32 }), "Blocks that should fit on a multiprocessor at once."),
  /** Blocks of a cluster that a launch must have. */
  cluster: optional(whole({ atLeast: 1, atMost: 16 }), "Blocks of a cluster that a launch must have."),
};

/** What every launch of a kernel has, for the assembler and the driver to hold it to. */
export interface LaunchBounds extends InputOf<typeof boundsTable> {}

/** Where the builder's methods are: arithmetic, control, memory, warp and matrix instructions. */
export class PtxKernel extends WarpGroup {
  readonly bounds: LaunchBounds;

  /** Made by `PtxModule.kernel`. @throws ArgumentError on bounds that no device takes */
  constructor(name: string, bounds: LaunchBounds = {}) {
    super(name);
    resolve(boundsTable, bounds, `kernel ${name}`);
    this.bounds = bounds;
    const { threads = 1 } = this;
    if (threads > 1024)
      throw ArgumentError.because(`kernel ${name}: a block of ${threads} threads; it takes 1 to 1024`, {
        field: "block",
        value: bounds.block,
        expected: "1 to 1024 threads",
      });
  }

  /** Threads of a block if the bounds say so. */
  get threads(): number | undefined {
    const { block, maxThreads } = this.bounds;
    return block === undefined ? maxThreads : block.reduce<number>((product, size) => product * (size ?? 1), 1);
  }
}
