// C = A B through tiles in shared memory: blocks of 256 threads, a square of results a thread, two
// tiles of each factor in turn.
import { Pointer, type PtxKernel } from "../builder/index.js";
import {
  ceilDiv,
  type GeneratedKernel,
  generate,
  type KernelGeneratorOptions,
  range,
  readShape,
  type TileGrid,
  tileGrid,
} from "./generated-kernel.js";
import type { Shapes } from "./shapes.js";
import type { Condition, Index, SharedSingles, Single, Singles, Sum } from "./value-types.js";

export const gemmTiledName = "gemm_tiled";

const threads = 256;
/** Columns of A and rows of B in a tile. */
const tileDepth = 16;

export function gemmTiledSize({ m, n, tileSize }: Shapes["gemmTiled"]): number {
  return tileSize ?? [128, 64].find((size) => ceilDiv(m, size) * ceilDiv(n, size) >= 128) ?? 32;
}

/**
 * C = A B in binary32: A is m x k, B k x n, C m x n, all by rows; products are fused and added in
 * rising k. Any sizes; if k or n is no multiple of 4 the loads are narrower. Arguments: a, b, c.
 * @throws ArgumentError, PtxBuildError
 */
export function gemmTiled(shape: Shapes["gemmTiled"], options: KernelGeneratorOptions = {}): GeneratedKernel {
  const { m, n, k: depth } = readShape("gemmTiled", gemmTiledName, shape);
  const tile = gemmTiledSize(shape);
  const tiles = tileGrid(gemmTiledName, ceilDiv(m, tile), ceilDiv(n, tile));
  return generate({ name: gemmTiledName, grid: tiles.grid, block: [threads], minBlocks: 2 }, options, (k) =>
    new TiledProduct(k, m, n, depth, tile).build(tiles),
  );
}

/** A tile on its way to shared memory: a thread brings `units` vectors, `rowStep` apart. */
interface Tile {
  readonly vector: 1 | 2 | 4;
  readonly units: number;
  readonly rowStep: number;
  /** This thread's first row and column in the tile. */
  readonly row: Index;
  readonly column: Index;
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
  /** Row length of A's transposed tile, padded to keep its columns out of each other's banks. */
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

  build(tiles: TileGrid): void {
    const { k, tile, depth, n } = this;
    const [a, b, c] = [k.pointer("f32", "a"), k.pointer("f32", "b"), k.pointer("f32", "c")];
    const [sizeA, sizeB] = [tileDepth * this.pitchA, tileDepth * tile];
    const [sharedA, sharedB] = [k.shared("f32", 2 * sizeA), k.shared("f32", 2 * sizeB)];
    const [firstRow, firstColumn] = [k.mul(k.special("ctaid", tiles.row), tile), k.mul(k.special("ctaid", tiles.column), tile)];
    const [tileA, tileB] = [this.plan(tile, tileDepth, depth), this.plan(tileDepth, tile, n)];
    const [rowA, columnB] = [k.add(firstRow, tileA.row), k.add(firstColumn, tileB.column)];
    const fromA = k.variable("u64", k.at(k.at(a, rowA, depth), tileA.column).base);
    const fromB = k.variable("u64", k.at(k.at(b, tileB.row, n), columnB).base);
    const putA = k.at(k.at(sharedA, tileA.column, this.pitchA), tileA.row);
    const putB = k.at(k.at(sharedB, tileB.row, tile), tileB.column);
    const [thread, warp] = [k.threadIndex(), k.warpIndex()];
    const lane = k.and(thread, 31);
    // Warps are 4 x 2, lanes 4 x 8: a warp's vector loads from either tile then touch every bank
    // once.
    const ownRow = k.mad(k.shr(warp, 1), 4 * this.each, k.mul(k.shr(lane, 3), this.group));
    const ownColumn = k.mad(k.and(warp, 1), 8 * this.each, k.mul(k.and(lane, 7), this.group));
    const sums = range(this.each * this.each).map(() => k.variable("f32", 0));
    const [readA, readB] = [k.at(sharedA, ownRow), k.at(sharedB, ownColumn)];
    // Offsets of the half of shared memory that is read, and of the one that is written; they
    // are exchanged after each tile.
    const [offsetA, offsetB] = [k.variable("u32", 0), k.variable("u32", 0)];

    // Loads this thread's part of the tiles that begin at depth `at` into registers, zeros where
    // the matrices end.
    const fetch = (at: Index | 0): Single[][] => {
      const inA = this.inDepth(at, tileA.column);
      const parts = [
        ...range(tileA.units).map((unit) => {
          const exists = this.exists(rowA, unit * tileA.rowStep, this.m, tile);
          return this.fetchUnit(
            new Pointer("global", "f32", fromA, 4 * unit * tileA.rowStep * depth),
            tileA.vector,
            this.both(exists, inA),
          );
        }),
        ...range(tileB.units).map((unit) => {
          const inB = this.inDepth(at, tileB.row, unit * tileB.rowStep);
          const from = new Pointer("global", "f32", fromB, 4 * unit * tileB.rowStep * n);
          return this.fetchUnit(from, tileB.vector, this.both(this.exists(columnB, 0, n, tile), inB));
        }),
      ];
      k.assign(fromA, k.add(fromA, 4 * tileDepth));
      k.assign(fromB, k.add(fromB, 4 * tileDepth * n));
      return parts;
    };
    const put = (fetched: Single[][], toA: typeof putA, toB: typeof putB): void => {
      for (const [unit, values] of fetched.slice(0, tileA.units).entries())
        for (const [v, value] of values.entries()) k.store(toA.plus(v * this.pitchA + unit * tileA.rowStep), value);
      for (const [unit, values] of fetched.slice(tileA.units).entries()) k.store(toB.plus(unit * tileB.rowStep * tile), values);
    };

    put(fetch(0), putA, putB);
    k.barrier();
    // The last round fetches past the depth, which is zeros, and stores them where nobody reads.
    k.for("u32", { from: tileDepth, to: tileDepth * (ceilDiv(depth, tileDepth) + 1), step: tileDepth }, (at) => {
      const next = fetch(at);
      this.multiply(k.atBytes(readA, offsetA), k.atBytes(readB, offsetB), sums);
      k.assign(offsetA, k.sub(k.constant("u32", 4 * sizeA), offsetA));
      k.assign(offsetB, k.sub(k.constant("u32", 4 * sizeB), offsetB));
      put(next, k.atBytes(putA, offsetA), k.atBytes(putB, offsetB));
      k.barrier();
    });
    this.write(c, k.add(firstRow, ownRow), k.add(firstColumn, ownColumn), sums);
  }

  private plan(rows: number, columns: number, pitch: number): Tile {
    const { k } = this;
    const each = (rows * columns) / threads;
    const vector = ([4, 2, 1] as const).find((width) => width <= each && pitch % width === 0)!;
    const across = columns / vector;
    const [row, column] = [k.div(k.threadIndex(), across), k.mul(k.rem(k.threadIndex(), across), vector)];
    return { vector, units: each / vector, rowStep: threads / across, row, column };
  }

  private both(a: Condition | undefined, b: Condition | undefined): Condition | undefined {
    return a === undefined || b === undefined ? (a ?? b) : this.k.and(a, b);
  }

  private plus(index: Index, more: number): Index {
    return more === 0 ? index : this.k.add(index, more);
  }

  /** Whether index + more is below a size; undefined if tiles divide the size, and it always is. */
  private exists(index: Index, more: number, size: number, tile: number): Condition | undefined {
    return size % tile === 0 ? undefined : this.k.compare("lt", this.plus(index, more), size);
  }

  /** Whether a tile's element is inside at a depth; undefined if it always is. */
  private inDepth(at: Index | 0, index: Index, more = 0): Condition | undefined {
    const { k, depth } = this;
    if (at === 0) return depth >= tileDepth ? undefined : k.compare("lt", this.plus(index, more), depth);
    if (depth % tileDepth === 0) return k.compare("lt", at, depth);
    return k.compare("lt", this.plus(k.add(at, index), more), depth);
  }

  private fetchUnit(from: Singles, vector: 1 | 2 | 4, where: Condition | undefined): Single[] {
    const access = where === undefined ? { readOnly: true } : { readOnly: true, where, otherwise: 0 };
    return vector === 1 ? [this.k.load(from, access)] : this.k.loadVector(from, vector, access);
  }

  private multiply(readA: SharedSingles, readB: SharedSingles, sums: Sum[]): void {
    const { k, each, group } = this;
    const some = (from: SharedSingles, apart: number): Single[] =>
      range(each / group).flatMap((g) => (group === 1 ? [k.load(from)] : k.loadVector(from.plus(g * apart), group as 2 | 4)));
    for (let j = 0; j < tileDepth; j++) {
      const left = some(readA.plus(j * this.pitchA), 4 * group);
      const right = some(readB.plus(j * this.tile), 8 * group);
      for (const [r, a] of left.entries())
        for (const [s, b] of right.entries()) k.assign(sums[r * each + s]!, k.fma(a, b, sums[r * each + s]!));
    }
  }

  private write(c: Singles, row: Index, column: Index, sums: Sum[]): void {
    const { k, m, n, each, group, tile } = this;
    const vector = n % group === 0 ? group : 1;
    const spread = (index: number, apart: number): number => Math.floor(index / group) * apart + (index % group);
    for (let r = 0; r < each; r++) {
      const down = spread(r, 4 * group);
      const rowExists = this.exists(row, down, m, tile);
      const start = k.at(k.at(c, this.plus(row, down), n), column);
      for (let s = 0; s < each; s += vector) {
        const right = spread(s, 8 * group);
        const columnExists = this.exists(column, right, n, tile);
        const where = this.both(rowExists, columnExists);
        const values = range(vector).map((v) => sums[r * each + s + v]!);
        k.store(start.plus(right), values, where === undefined ? {} : { where });
      }
    }
  }
}
