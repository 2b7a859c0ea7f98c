// C = A B through tiles in shared memory: blocks of 256 threads, a square of results a thread, two tiles of each factor in turn.
import { Pointer, PtxBuildError, type PtxKernel, type Value, type Variable } from "../builder/index.js";
import type { GemmShape } from "./gemm-naive.js";
import { ceilDiv, checkSizes, generate, type GeneratedKernel, type GeneratorOptions, range } from "./generated-kernel.js";

export interface GemmTiledShape extends GemmShape {
  /** Rows and columns of C a block; by default the largest that still gives work to 128 blocks, or 32. */
  readonly tileSize?: 16 | 32 | 64 | 128;
}

export const gemmTiledName = "gemm_tiled";

const threads = 256;
/** Columns of A and rows of B in a tile. */
const tileDepth = 16;

export function gemmTiledSize({ m, n, tileSize }: GemmTiledShape): number {
  return tileSize ?? [128, 64].find((size) => ceilDiv(m, size) * ceilDiv(n, size) >= 128) ?? 32;
}

/** How a tile of rows x columns is brought from global memory: `vector` elements at a time, `units` of them a thread. */
interface TilePlan {
  readonly rows: number;
  readonly columns: number;
  readonly vector: 1 | 2 | 4;
  readonly units: number;
}

function tilePlan(rows: number, columns: number, pitch: number): TilePlan {
  const each = (rows * columns) / threads;
  const vector = ([4, 2, 1] as const).find((width) => width <= each && columns % width === 0 && pitch % width === 0)!;
  return { rows, columns, vector, units: each / vector };
}

/** The part of a tile that one thread brings: its place in the matrix, where it is read, and where it is put. */
interface TileUnit {
  readonly row: Value<"u32">;
  readonly column: Value<"u32">;
  readonly from: Pointer<"global", "f32">;
  readonly next: Variable<"u64">;
  readonly to: Pointer<"shared", "f32">;
}

/**
 * C = A B in binary32: A is m x k, B k x n, C m x n, all by rows; products are fused and added in rising k. Any sizes; where k or n is no
 * multiple of 4 the loads are narrower. Arguments: a, b, c.
 * @throws PtxBuildError
 */
export function gemmTiled(shape: GemmTiledShape, options: GeneratorOptions = {}): GeneratedKernel {
  const { m, n, k: depth } = shape;
  checkSizes(gemmTiledName, { m, n, k: depth });
  const tile = gemmTiledSize(shape);
  if (![16, 32, 64, 128].includes(tile)) throw new PtxBuildError(`tileSize is ${tile}; it takes 16, 32, 64 or 128`, gemmTiledName);
  const grid = [ceilDiv(n, tile), ceilDiv(m, tile)] as const;
  return generate({ name: gemmTiledName, grid, block: [threads], minBlocks: 2 }, options, (k) => {
    new TiledProduct(k, m, n, depth, tile).build();
  });
}

class TiledProduct {
  private readonly k: PtxKernel;
  private readonly m: number;
  private readonly n: number;
  private readonly depth: number;
  private readonly tile: number;
  /** Results of a thread in each direction, in groups that one vector load feeds. */
  private readonly each: number;
  private readonly group: number;
  /** Row length of the tile of A, which lies transposed; the padding keeps its columns out of one another's banks. */
  private readonly pitchA: number;

  constructor(k: PtxKernel, m: number, n: number, depth: number, tile: number) {
    this.k = k;
    this.m = m;
    this.n = n;
    this.depth = depth;
    this.tile = tile;
    this.each = tile / 16;
    this.group = Math.min(this.each, 4);
    this.pitchA = tile + 4;
  }

  build(): void {
    const { k, tile, depth } = this;
    const [a, b, c] = [k.pointer("f32", "a"), k.pointer("f32", "b"), k.pointer("f32", "c")];
    const [sizeA, sizeB] = [tileDepth * this.pitchA, tileDepth * tile];
    const [sharedA, sharedB] = [k.shared("f32", 2 * sizeA), k.shared("f32", 2 * sizeB)];
    const [firstRow, firstColumn] = [k.mul(k.special("ctaid", "y"), tile), k.mul(k.special("ctaid", "x"), tile)];
    const [planA, planB] = [tilePlan(tile, tileDepth, depth), tilePlan(tileDepth, tile, this.n)];
    const unitsA = this.units(planA, a, depth, [firstRow, undefined], (row, column) => k.at(k.at(sharedA, column, this.pitchA), row));
    const unitsB = this.units(planB, b, this.n, [undefined, firstColumn], (row, column) => k.at(k.at(sharedB, row, tile), column));
    const [thread, warp] = [k.threadIndex(), k.warpIndex()];
    const lane = k.and(thread, 31);
    // Warps are 4 x 2, lanes 4 x 8: a warp's vector loads from either tile then touch every bank once.
    const ownRow = k.mad(k.shr(warp, 1), 4 * this.each, k.mul(k.shr(lane, 3), this.group));
    const ownColumn = k.mad(k.and(warp, 1), 8 * this.each, k.mul(k.and(lane, 7), this.group));
    const sums = range(this.each * this.each).map(() => k.variable("f32", 0));
    const readA = k.at(sharedA, ownRow);
    const readB = k.at(sharedB, ownColumn);
    // Offsets of the half of shared memory that is read, and of the one that is written; they change places after each tile.
    const [offsetA, offsetB] = [k.variable("u32", 0), k.variable("u32", 0)];

    const put = (fetched: Value<"f32">[][]): void => {
      for (const [unit, { to }] of unitsA.entries())
        for (const [v, value] of fetched[unit]!.entries()) k.store(k.atBytes(to, offsetA).plus(v * this.pitchA), value);
      for (const [unit, { to }] of unitsB.entries()) k.store(k.atBytes(to, offsetB), fetched[unitsA.length + unit]!);
    };

    put(this.fetch(planA, unitsA, planB, unitsB, k.constant("u32", 0)));
    k.barrier();
    k.for("u32", { from: tileDepth, to: tileDepth * (ceilDiv(depth, tileDepth) - 1) + 1, step: tileDepth }, (at) => {
      const next = this.fetch(planA, unitsA, planB, unitsB, at);
      this.multiply(k.atBytes(readA, offsetA), k.atBytes(readB, offsetB), sums);
      k.assign(offsetA, k.sub(k.constant("u32", 4 * sizeA), offsetA));
      k.assign(offsetB, k.sub(k.constant("u32", 4 * sizeB), offsetB));
      put(next);
      k.barrier();
    });
    this.multiply(k.atBytes(readA, offsetA), k.atBytes(readB, offsetB), sums);
    this.write(c, k.add(firstRow, ownRow), k.add(firstColumn, ownColumn), sums);
  }

  private units(
    plan: TilePlan,
    matrix: Pointer<"global", "f32">,
    pitch: number,
    [firstRow, firstColumn]: readonly [Value<"u32"> | undefined, Value<"u32"> | undefined],
    place: (row: Value<"u32">, column: Value<"u32">) => Pointer<"shared", "f32">,
  ): TileUnit[] {
    const { k } = this;
    const across = plan.columns / plan.vector;
    return range(plan.units).map((unit) => {
      const index = k.add(k.threadIndex(), unit * threads);
      const [ownRow, ownColumn] = [k.div(index, across), k.mul(k.rem(index, across), plan.vector)];
      const [row, column] = [firstRow ? k.add(firstRow, ownRow) : ownRow, firstColumn ? k.add(firstColumn, ownColumn) : ownColumn];
      const next = k.variable("u64", k.at(k.at(matrix, row, pitch), column).base);
      return { row, column, next, from: new Pointer("global", "f32", next), to: place(ownRow, ownColumn) };
    });
  }

  /** Loads this thread's part of the tiles that begin at depth `at` into registers, zeros where the matrices end. */
  private fetch(planA: TilePlan, unitsA: TileUnit[], planB: TilePlan, unitsB: TileUnit[], at: Value<"u32">): Value<"f32">[][] {
    const { k, m, n, depth } = this;
    const all = (tests: (Value<"pred"> | undefined)[]): Value<"pred"> | undefined =>
      tests.reduce((both, test) => (both && test ? k.and(both, test) : (both ?? test)), undefined);
    const load = (plan: TilePlan, { from, next }: TileUnit, where: Value<"pred"> | undefined, advance: number): Value<"f32">[] => {
      const access = where === undefined ? { readOnly: true } : { readOnly: true, where, otherwise: 0 };
      const values = plan.vector === 1 ? [k.load(from, access)] : k.loadVector(from, plan.vector, access);
      k.assign(next, k.add(next, advance));
      return values;
    };
    const depthEnds = depth % tileDepth !== 0;
    return [
      ...unitsA.map((unit) => {
        const rowExists = m % this.tile === 0 ? undefined : k.compare("lt", unit.row, m);
        const depthExists = depthEnds ? k.compare("lt", k.add(at, unit.column), depth) : undefined;
        return load(planA, unit, all([rowExists, depthExists]), 4 * tileDepth);
      }),
      ...unitsB.map((unit) => {
        const columnExists = n % this.tile === 0 ? undefined : k.compare("lt", unit.column, n);
        const depthExists = depthEnds ? k.compare("lt", k.add(at, unit.row), depth) : undefined;
        return load(planB, unit, all([columnExists, depthExists]), 4 * tileDepth * n);
      }),
    ];
  }

  /** Adds the product of the two tiles to the sums. */
  private multiply(readA: Pointer<"shared", "f32">, readB: Pointer<"shared", "f32">, sums: Variable<"f32">[]): void {
    const { k, each, group } = this;
    const some = (from: Pointer<"shared", "f32">, apart: number): Value<"f32">[] =>
      range(each / group).flatMap((g) => (group === 1 ? [k.load(from)] : k.loadVector(from.plus(g * apart), group as 2 | 4)));
    for (let j = 0; j < tileDepth; j++) {
      const left = some(readA.plus(j * this.pitchA), 4 * group);
      const right = some(readB.plus(j * this.tile), 8 * group);
      for (const [r, a] of left.entries())
        for (const [s, b] of right.entries()) k.assign(sums[r * each + s]!, k.fma(a, b, sums[r * each + s]!));
    }
  }

  private write(c: Pointer<"global", "f32">, row: Value<"u32">, column: Value<"u32">, sums: Variable<"f32">[]): void {
    const { k, m, n, each, group, tile } = this;
    const vector = n % group === 0 ? group : 1;
    const place = (index: number, apart: number): number => Math.floor(index / group) * apart + (index % group);
    for (let r = 0; r < each; r++) {
      const at = k.add(row, place(r, 4 * group));
      const rowExists = m % tile === 0 ? undefined : k.compare("lt", at, m);
      const start = k.at(k.at(c, at, n), column);
      for (let s = 0; s < each; s += vector) {
        const from = place(s, 8 * group);
        const columnExists = n % tile === 0 ? undefined : k.compare("lt", k.add(column, from), n);
        const where = rowExists && columnExists ? k.and(rowExists, columnExists) : (rowExists ?? columnExists);
        const values = range(vector).map((v) => sums[r * each + s + v]!);
        k.store(start.plus(from), values, where === undefined ? {} : { where });
      }
    }
  }
}
