// What a generator of kernels gives: PTX with all that a launch needs to know. It launches nothing.
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, type OptionTable, resolve } from "@spillway/core/options.js";
import {
  type BuiltKernelResources,
  type DeclaredParameter,
  PtxBuildError,
  type PtxKernel,
  PtxModule,
  type Target,
} from "../builder/index.js";
import { targetOption } from "../builder/targets.js";
import { type KernelKind, type Shapes, shapeTables } from "./shapes.js";

/** A size in three directions. */
export type Size3 = readonly [x: number, y: number, z: number];

/** A kernel as text, with the launch it is for. */
export interface GeneratedKernel {
  /** The `.entry`. */
  readonly name: string;
  readonly ptx: string;
  readonly target: Target;
  /**
   * In the order of the launch's arguments, as `Module.kernel` of spillway/gpu takes them. A
   * pointer's type is "u64" and names its element; it is aligned to 16 bytes.
   */
  readonly parameters: readonly DeclaredParameter[];
  readonly grid: Size3;
  readonly block: Size3;
  readonly dynamicSharedBytes: number;
  /** Grid, block and shared memory, as `Stream.launch` of spillway/gpu takes them. */
  readonly launch: GeneratedLaunch;
  readonly resources: BuiltKernelResources;
}

/** The launch that a kernel is for. */
export interface GeneratedLaunch {
  readonly grid: [x: number, y: number, z: number];
  readonly block: [x: number, y: number, z: number];
  readonly shared: number;
}

export const generatorTable = {
  /** Default "sm_75". */
  target: targetOption,
};

/** The target that a kernel is generated for. */
export interface KernelGeneratorOptions extends InputOf<typeof generatorTable> {}

interface Shape {
  readonly name: string;
  readonly grid: readonly [number, number?, number?];
  readonly block: readonly [number, number?, number?];
  readonly minBlocks?: number;
}

/** Builds, checks and prints one kernel. @throws ArgumentError, PtxBuildError, PtxTargetError */
export function generate(shape: Shape, options: KernelGeneratorOptions, body: (k: PtxKernel) => void): GeneratedKernel {
  const { target } = resolve(generatorTable, options, "generateKernel");
  const { name, grid, block, minBlocks } = shape;
  const module = new PtxModule({ target });
  const kernel = module.kernel(name, { block, ...(minBlocks === undefined ? {} : { minBlocks }) }, body);
  const { ptx, resources } = module.compile();
  const launch: GeneratedLaunch = {
    grid: [grid[0], grid[1] ?? 1, grid[2] ?? 1],
    block: [block[0], block[1] ?? 1, block[2] ?? 1],
    shared: kernel.dynamicSharedBytes,
  };
  return {
    name,
    ptx,
    target,
    parameters: kernel.parameters,
    grid: launch.grid,
    block: launch.block,
    dynamicSharedBytes: kernel.dynamicSharedBytes,
    launch,
    resources: resources.get(name)!,
  };
}

/** What a kernel of this name does not take. */
export const refusal = (kernel: string, field: string, value: unknown, expected: string): ArgumentError =>
  new ArgumentError(field, value, expected, { of: `kernel ${kernel}` });

/** Checks the sizes and choices of a kernel against the table of its kind. @throws ArgumentError */
export function readShape<K extends KernelKind>(kind: K, kernel: string, shape: Shapes[K]): Shapes[K] {
  return resolve<OptionTable>(shapeTables[kind], shape, `kernel ${kernel}`) as Shapes[K];
}

/** A grid over the tiles of a matrix, and the axes that count rows and columns of tiles. */
export interface TileGrid {
  readonly grid: readonly [x: number, y: number];
  readonly row: "x" | "y";
  readonly column: "x" | "y";
}

/** Rows of tiles are along y, or x if above 65535. @throws ArgumentError, PtxBuildError */
export function tileGrid(kernel: string, rows: number, columns: number): TileGrid {
  const most = 65535;
  if (rows <= most) return { grid: [columns, rows], row: "y", column: "x" };
  if (columns <= most) return { grid: [rows, columns], row: "x", column: "y" };
  throw new PtxBuildError(`${rows} x ${columns} tiles of the result; it takes at most ${most} in one of the two directions`, kernel);
}

export const ceilDiv = (a: number, b: number): number => Math.ceil(a / b);
export const range = (count: number): number[] => Array.from({ length: count }, (_, k) => k);
