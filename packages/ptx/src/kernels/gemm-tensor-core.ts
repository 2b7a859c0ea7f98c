// C = A B on the tensor cores by mma.sync: f16, bf16 or tf32 factors, sums in binary32; tiles
// stream through shared memory in several stages. Halves on sm_90a are left to gemm-warp-group.ts.
import { type Pointer, type Target, targetFacts, typeBytes, type Variable } from "../builder/index.js";
import type { GemmShape } from "./gemm-naive.js";
import { gemmWarpGroup } from "./gemm-warp-group.js";
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
import {
  commitTiles,
  type Four,
  fourZeros,
  layoutBytes,
  matrixAddress,
  pieceAt,
  TileKernel,
  type TileLayout,
  TileStream,
  waitTiles,
} from "./matrix-tiles.js";
import { type Shapes, tensorTiles } from "./shapes.js";
import type { Index, Singles, Word } from "./value-types.js";

/** Element types that tensor cores multiply here. */
export type TensorCoreType = "f16" | "bf16" | "tf32";

export const gemmTensorCoreName = ({ type = "f16" }: Pick<Shapes["gemmTensorCore"], "type">): string => `gemm_tensor_core_${type}`;

const threads = 256;
/** Bytes of a row of the tile of A: 32 halves or 16 single numbers. */
const depthBytes = 64;

interface Plan {
  readonly type: TensorCoreType;
  readonly element: "f16" | "bf16" | "f32";
  readonly tileM: number;
  readonly tileN: number;
  /** Columns of A and rows of B in a tile. */
  readonly tileK: number;
  readonly stages: number;
  readonly layoutA: TileLayout;
  readonly layoutB: TileLayout;
}

function plan(shape: Shapes["gemmTensorCore"], target: Target): Plan {
  const { m, n, type = "f16" } = shape;
  const blocks = ([rows, columns]: readonly [number, number]): number => ceilDiv(m, rows) * ceilDiv(n, columns);
  const [tileM, tileN] = shape.tile ?? tensorTiles.find((size) => blocks(size) >= 128) ?? [64, 64];
  const element = type === "tf32" ? "f32" : type;
  const tileK = depthBytes / typeBytes(element);
  const layoutA = { rows: tileM, rowBytes: depthBytes, pitch: depthBytes };
  const rowBytes = tileN * typeBytes(element);
  // Single numbers of B are read one by one, four rows at a time: 8 words of padding keep these
  // rows in different banks.
  const layoutB = { rows: tileK, rowBytes, pitch: type === "tf32" ? rowBytes + 32 : rowBytes };
  const available = Math.min(targetFacts(target).sharedBytesPerBlock, 96 * 1024);
  const stages = Math.min(4, Math.floor(available / (layoutBytes(layoutA) + layoutBytes(layoutB))));
  return { type, element, tileM, tileN, tileK, stages, layoutA, layoutB };
}

/**
 * C = A B: A is m x k, B k x n, both f16 or bf16 (or f32, rounded to tf32), C m x n in f32, all by
 * rows. Any sizes; rows whose length is no multiple of 16 bytes are read element by element. f16
 * takes sm_75 and later, bf16 and tf32 sm_80; for sm_90a, f16 and bf16 are multiplied by warp
 * groups. Arguments: a, b, c.
 * @throws ArgumentError, PtxBuildError, PtxTargetError
 */
export function gemmTensorCore(shape: Shapes["gemmTensorCore"], options: KernelGeneratorOptions = {}): GeneratedKernel {
  const { m, n, type = "f16" } = readShape("gemmTensorCore", "gemm_tensor_core", shape);
  const { target = "sm_75" } = options;
  const name = gemmTensorCoreName({ type });
  const tiles = plan(shape, target);
  const blocks = tileGrid(name, ceilDiv(m, tiles.tileM), ceilDiv(n, tiles.tileN));
  // wgmma takes tf32 only by depth, which the rows of B are not.
  if (target === "sm_90a" && type !== "tf32") return gemmWarpGroup(shape, { ...tiles, blocks, name, element: type }, options);
  const bounds = { name, grid: blocks.grid, block: [threads], minBlocks: 1 } as const;
  return generate(bounds, options, (k) => new TensorProduct(k, shape, tiles, target).build(blocks));
}

class TensorProduct extends TileKernel<GemmShape, Plan> {
  /** Tiles of 16 rows and of 8 columns that a warp computes; warps are 2 x 4. */
  private readonly rowTiles = this.plan.tileM / 2 / 16;
  private readonly columnTiles = this.plan.tileN / 4 / 8;

  build(blocks: TileGrid): void {
    const { k, rowTiles, columnTiles } = this;
    const { m, n, k: depth } = this.shape;
    const { element, tileM, tileN, tileK, stages, layoutA, layoutB } = this.plan;
    const [a, b, c] = [k.pointer(element, "a"), k.pointer(element, "b"), k.pointer("f32", "c")];
    const [bytesA, bytesB] = [layoutBytes(layoutA), layoutBytes(layoutB)];
    const sharedA = k.dynamicShared(element, (stages * bytesA) / typeBytes(element), 128);
    const sharedB = k.dynamicShared(element, (stages * bytesB) / typeBytes(element), 128);
    const [firstRow, firstColumn] = [k.mul(k.special("ctaid", blocks.row), tileM), k.mul(k.special("ctaid", blocks.column), tileN)];
    const warp = k.warpIndex();
    const [warpRow, warpColumn] = [k.mul(k.shr(warp, 2), tileM / 2), k.mul(k.and(warp, 3), tileN / 4)];
    const sums = range(rowTiles * columnTiles).map(() => fourZeros(k));
    const zero = k.constant("u32", 0);
    const sourceA = { matrix: a, rows: m, columns: depth, pitch: depth, firstRow, firstColumn: zero, inside: m % tileM === 0 } as const;
    const sourceB = { matrix: b, rows: depth, columns: n, pitch: n, firstRow: zero, firstColumn, inside: n % tileN === 0 } as const;
    const streamA = new TileStream(k, this.target, threads, { ...sourceA, along: "columns" }, sharedA, layoutA);
    const streamB = new TileStream(k, this.target, threads, { ...sourceB, along: "rows" }, sharedB, layoutB);
    const bring = (stage: Index): void => {
      streamA.bring(k.mul(stage, bytesA));
      streamB.bring(k.mul(stage, bytesB));
      commitTiles(k, this.target);
    };
    const count = ceilDiv(depth, tileK);
    // Every stage but one is filled before the first product. A tile past the depth is zeros, and
    // is loaded to keep the count of groups.
    k.for("u32", { from: 0, to: stages - 1 }, (stage) => bring(stage));
    const [reading, writing] = [k.variable("u32", 0), k.variable("u32", stages - 1)];
    const nextStage = (stage: Variable<"u32">): void => {
      const next = k.add(stage, 1);
      k.assign(stage, k.select(k.compare("eq", next, stages), k.constant("u32", 0), next));
    };
    k.for("u32", { from: 0, to: count }, () => {
      waitTiles(k, this.target, stages - 2);
      k.barrier();
      bring(writing);
      this.multiply(k.atBytes(sharedA, k.mul(reading, bytesA)), k.atBytes(sharedB, k.mul(reading, bytesB)), warpRow, warpColumn, sums);
      nextStage(reading);
      nextStage(writing);
    });
    this.write(c, k.add(firstRow, warpRow), k.add(firstColumn, warpColumn), sums);
  }

  private multiply(tileA: Pointer<"shared">, tileB: Pointer<"shared">, warpRow: Index, warpColumn: Index, sums: readonly Four[]): void {
    const { k, rowTiles, columnTiles } = this;
    const { type } = this.plan;
    // Each step takes 32 bytes of depth: 16 halves, or 8 single numbers.
    for (let step = 0; step < depthBytes / 32; step++) {
      const left = range(rowTiles).map((r) => this.leftFragment(tileA, k.add(warpRow, 16 * r), 2 * step));
      const right = type === "tf32" ? this.rightSingles(tileB, warpColumn, step) : this.rightHalves(tileB, warpColumn, step);
      for (let r = 0; r < rowTiles; r++)
        for (let s = 0; s < columnTiles; s++) this.product(left[r]!, right[s]!, sums[r * columnTiles + s]!);
    }
  }

  private product(a: Word[], b: Word[], sum: Four): void {
    const { type } = this.plan;
    if (type === "tf32") this.k.mma("tf32", 8, a, b, sum, sum);
    else this.addProduct(type, a, b, sum);
  }

  private leftFragment(tileA: Pointer<"shared">, row: Index, chunk: number): Word[] {
    const { k } = this;
    const words = k.loadMatrices(matrixAddress(k, tileA, this.plan.layoutA, row, chunk), 4);
    return this.plan.type === "tf32" ? words.map((word) => this.rounded(word)) : words;
  }

  private rounded(word: Word): Word {
    const { k } = this;
    return k.reinterpret("b32", k.convert("tf32", k.reinterpret("f32", word)));
  }

  /** Fragments of B for 16 halves of depth: ldmatrix makes rows of the tile columns for mma. */
  private rightHalves(tileB: Pointer<"shared">, column: Index, step: number): Word[][] {
    const { k } = this;
    const lane = k.and(k.threadIndex(), 31);
    const row = k.add(k.and(lane, 15), 16 * step);
    return range(this.columnTiles / 2).flatMap((pair) => {
      const chunk = k.add(k.shr(k.add(column, 16 * pair), 3), k.shr(lane, 4));
      const four = k.loadMatrices(pieceAt(k, tileB, this.plan.layoutB, row, chunk), 4, true);
      return [four.slice(0, 2), four.slice(2)];
    });
  }

  /** Fragments of B for 8 numbers of depth: lane 4 g + t has rows t, t + 4 of column g. */
  private rightSingles(tileB: Pointer<"shared">, column: Index, step: number): Word[][] {
    const { k } = this;
    const { pitch } = this.plan.layoutB;
    const lane = k.and(k.threadIndex(), 31);
    const start = k.at(k.atBytes(tileB.as("b32"), k.mul(k.add(k.and(lane, 3), 8 * step), pitch)), k.add(column, k.shr(lane, 2)));
    return range(this.columnTiles).map((s) => [0, 4].map((down) => this.rounded(k.load(start.plusBytes(32 * s + down * pitch)))));
  }

  private write(c: Singles, row: Index, column: Index, sums: readonly Four[]): void {
    const { k, columnTiles } = this;
    const { m, n } = this.shape;
    const lane = k.and(k.threadIndex(), 31);
    const [ownRow, ownColumn] = [k.add(row, k.shr(lane, 2)), k.add(column, k.shl(k.and(lane, 3), 1))];
    for (const [index, four] of sums.entries()) {
      const [r, s] = [Math.floor(index / columnTiles), index % columnTiles];
      const at = k.add(ownColumn, 8 * s);
      for (const half of [0, 1]) {
        const down = k.add(ownRow, 16 * r + 8 * half);
        const exists = k.compare("lt", down, m);
        const to = k.at(k.at(c, down, n), at);
        const pair = [four[2 * half]!, four[2 * half + 1]!];
        if (n % 2 === 0) k.store(to, pair, { where: k.and(exists, k.compare("lt", at, n)) });
        else for (const part of [0, 1]) k.store(to.plus(part), pair[part]!, { where: k.and(exists, k.compare("lt", k.add(at, part), n)) });
      }
    }
  }
}
