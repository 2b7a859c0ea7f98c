// The shape of a launch, and its CUlaunchConfig in host memory (cuda.h): seven 32-bit sizes, the
// stream at byte 32, the address of the attributes at 40, their count at 48; an attribute is 72
// bytes, its id at 0 and its value at 8.
import { ArgumentError, LaunchError } from "@spillway/core/errors.js";
import { checked, flag, given, type InputOf, option, optional, whole } from "@spillway/core/options.js";
import { describe } from "@spillway/core/text.js";

/** A size in up to three dimensions; those left out are 1. */
export type Dimensions = number | readonly [x: number, y?: number, z?: number];

const takesDimensions = "a number, or a list of up to three";
const isDimensions = (size: unknown): size is Dimensions => typeof size === "number" || Array.isArray(size);
const dimensions = checked<Dimensions>(takesDimensions, isDimensions);

export const launchTable = {
  /** Blocks. */
  grid: given(dimensions, "Blocks."),
  /** Threads of a block. */
  block: given(dimensions, "Threads of a block."),
  /** Dynamic shared memory of a block, in bytes; default 0. */
  shared: option(whole({ atLeast: 0, unit: "bytes" }), 0, "Dynamic shared memory of a block."),
  /** Whether all blocks run at once and may wait for one another; default false. */
  cooperative: option(flag, false, "Whether all blocks run at once and may wait for one another."),
  /** Blocks of a cluster; default: no clusters. The grid is a multiple of it. */
  cluster: optional(dimensions, "Blocks of a cluster; left out, no clusters. The grid is a multiple of it."),
  /**
   * Whether its blocks may start while the launch before it in the stream still runs (programmatic
   * dependent launch, CUDA C++ Programming Guide), which hides what a start costs; in a graph too.
   * The kernel waits by `griddepcontrol.wait` before it touches what earlier launches touch, and
   * one that gives `griddepcontrol.launch_dependents` lets the next start before its own end.
   * Default false.
   */
  overlap: option(flag, false, "Whether its blocks may start while the launch before it in the stream still runs."),
};

/** How a kernel is launched. */
export interface LaunchConfig extends InputOf<typeof launchTable> {}

const launchFields = Object.keys(launchTable);

/** What a launch may ask of a kernel on a device. */
export interface LaunchLimits {
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  readonly threads: number;
  readonly clusters: boolean;
  readonly cooperative: boolean;
  readonly overlap: boolean;
}

/** Byte offsets in CUlaunchConfig, and size and value offset of a CUlaunchAttribute, cuda.h. */
export const launchConfigLayout = { streamAt: 32, attributesAt: 40, countAt: 48, attributeBytes: 72, valueAt: 8 } as const;

/** CUlaunchAttributeID, cuda.h. */
export const launchAttribute = { cooperative: 2, cluster: 4, overlap: 6 } as const;

const attributesAt = 64;

/** Bytes of a CUlaunchConfig and its three attributes. */
export const launchConfigBytes: number = attributesAt + 3 * launchConfigLayout.attributeBytes;

const axes = ["x", "y", "z"] as const;

/** A CUlaunchConfig that is filled again for each launch, in memory that does not move. */
export class LaunchConfigMemory {
  readonly address: bigint;
  /** Grid, block and shared memory of the last `fill`. */
  readonly sizes: Uint32Array;
  readonly #kernel: string;
  readonly #limits: LaunchLimits;
  readonly #words: Uint32Array;
  readonly #handles: BigUint64Array;

  /** Fills the first `launchConfigBytes` of `memory`, which is at `address`. */
  constructor(kernel: string, memory: ArrayBuffer, address: bigint, limits: LaunchLimits) {
    this.address = address;
    this.#kernel = kernel;
    this.#limits = limits;
    this.#words = new Uint32Array(memory, 0, launchConfigBytes / 4);
    this.#handles = new BigUint64Array(memory, 0, launchConfigBytes / 8);
    this.#handles[launchConfigLayout.attributesAt / 8] = address + BigInt(attributesAt);
    this.sizes = this.#words.subarray(0, 7);
  }

  /** Writes a launch's shape. @throws LaunchError if the device cannot have it. */
  fill(config: LaunchConfig, stream: bigint): void {
    const words = this.#words;
    for (const field in config)
      if (!launchFields.includes(field))
        throw ArgumentError.unknownField(field, config[field as keyof LaunchConfig], launchFields, `kernel ${this.#kernel}`);
    this.#dimensions("grid", config.grid, 0, this.#limits.grid);
    this.#dimensions("block", config.block, 3, this.#limits.block);
    const threads = words[3]! * words[4]! * words[5]!;
    if (threads > this.#limits.threads)
      throw new LaunchError(
        this.#kernel,
        `a block of ${threads} threads is too large: this kernel takes at most ${this.#limits.threads} here`,
        { field: "block", value: config.block, expected: `at most ${this.#limits.threads} threads` },
      );
    const shared = config.shared ?? 0;
    if (shared >>> 0 !== shared) throw this.#refusal("shared", shared, launchTable.shared.takes);
    words[6] = shared;
    this.#handles[launchConfigLayout.streamAt / 8] = stream;
    let count = 0;
    if (config.cooperative === true) {
      this.#require(this.#limits.cooperative, "cooperative", true, "cooperative launches");
      this.#flag(count++, launchAttribute.cooperative);
    }
    if (config.overlap === true) {
      this.#require(this.#limits.overlap, "overlap", true, "launches that overlap: they need compute capability 9.0");
      this.#flag(count++, launchAttribute.overlap);
    }
    if (config.cluster !== undefined) {
      this.#require(this.#limits.clusters, "cluster", config.cluster, "clusters: they need compute capability 9.0");
      const at = (attributesAt + count++ * launchConfigLayout.attributeBytes) / 4;
      words[at] = launchAttribute.cluster;
      this.#dimensions("cluster", config.cluster, at + launchConfigLayout.valueAt / 4, this.#limits.grid);
      for (let axis = 0; axis < 3; axis++) {
        const blocks = words[at + launchConfigLayout.valueAt / 4 + axis]!;
        if (words[axis]! % blocks !== 0)
          throw new LaunchError(
            this.#kernel,
            `grid.${axes[axis]} is ${words[axis]}, which is no multiple of cluster.${axes[axis]}, ${blocks}`,
            { field: "grid", value: config.grid, expected: "a multiple of cluster" },
          );
      }
    }
    words[launchConfigLayout.countAt / 4] = count;
  }

  #refusal(field: string, value: unknown, expected: string): LaunchError {
    return new LaunchError(this.#kernel, `${field} is ${describe(value)}; it takes ${expected}`, { field, value, expected });
  }

  /** @throws LaunchError if the device has not what a field asks for. */
  #require(has: boolean, field: string, value: unknown, what: string): void {
    if (!has) throw new LaunchError(this.#kernel, `this device has no ${what}`, { field, value });
  }

  #flag(index: number, attribute: number): void {
    const at = (attributesAt + index * launchConfigLayout.attributeBytes) / 4;
    this.#words[at] = attribute;
    this.#words[at + launchConfigLayout.valueAt / 4] = 1;
  }

  #dimensions(what: string, size: Dimensions, at: number, limits: readonly [number, number, number]): void {
    const words = this.#words;
    if (!isDimensions(size)) throw this.#refusal(what, size, takesDimensions);
    for (let axis = 0; axis < 3; axis++) {
      const length = typeof size === "number" ? (axis === 0 ? size : 1) : ((size as readonly number[])[axis] ?? 1);
      if (!(length >= 1 && length <= limits[axis]! && length >>> 0 === length))
        throw this.#refusal(`${what}.${axes[axis]}`, length, `a whole number from 1 to ${limits[axis]}`);
      words[at + axis] = length;
    }
  }
}
