// C = A B on the tensor cores of sm_90a, whose warp groups multiply straight from shared memory
// (wgmma): one warp group brings tiles, the others multiply, and barrier objects hand the tiles
// from one to the others and back. Which products are done this way gemm-tensor-core.ts says.
import { type Pointer, targetFacts, type Variable } from "../builder/index.js";
import type { GemmShape } from "./gemm-naive.js";
import { ceilDiv, type GeneratedKernel, generate, type KernelGeneratorOptions, range, type TileGrid } from "./generated-kernel.js";
import { TileKernel, type TileLayout, TileStream } from "./matrix-tiles.js";
import type { Condition, Index, Singles, Sum } from "./value-types.js";

const groupThreads = 128;
/** Halves of a swizzled row of 128 bytes: columns of A and rows of B in a tile. */
const tileDepth = 64;
const rowBytes = 128;
/** Cycles that a warp waits before the launch ends with an error: about a second. */
const patience = 2 ** 31;

export interface WarpGroupPlan {
  readonly name: string;
  readonly element: "f16" | "bf16";
  readonly tileM: number;
  readonly tileN: number;
  readonly blocks: TileGrid;
}

/** C = A B as `gemmTensorCore` says, on sm_90a. @throws PtxBuildError, PtxTargetError */
export function gemmWarpGroup(shape: GemmShape, plan: WarpGroupPlan, options: KernelGeneratorOptions): GeneratedKernel {
  const { name, tileM, blocks } = plan;
  const block = [groupThreads * (1 + tileM / 64)] as const;
  return generate({ name, grid: blocks.grid, block, minBlocks: 1 }, options, (k) => new WarpGroupProduct(k, shape, plan, "sm_90a").build());
}

/** A layout in the ring of stages, and the parity of the round that it is in. */
interface Turn {
  readonly stage: Variable<"u32">;
  readonly parity: Variable<"u32">;
}

class WarpGroupProduct extends TileKernel<GemmShape, WarpGroupPlan> {
  private readonly bytesA = this.plan.tileM * rowBytes;
  private readonly bytesB = this.plan.tileN * rowBytes;
  private readonly stages = Math.min(4, Math.floor((targetFacts("sm_90a").sharedBytesPerBlock - 1024) / (this.bytesA + this.bytesB)));
  private readonly count = ceilDiv(this.shape.k, tileDepth);

  build(): void {
    const { k, stages } = this;
    const { blocks, element, tileM, tileN } = this.plan;
    const [a, b, c] = [k.pointer(element, "a"), k.pointer(element, "b"), k.pointer("f32", "c")];
    const sharedA = k.dynamicShared(element, (stages * this.bytesA) / 2, 1024);
    const sharedB = k.dynamicShared(element, (stages * this.bytesB) / 2, 1024);
    const [full, empty] = [k.dynamicShared("b64", stages), k.dynamicShared("b64", stages)];
    const [firstRow, firstColumn] = [k.mul(k.special("ctaid", blocks.row), tileM), k.mul(k.special("ctaid", blocks.column), tileN)];
    k.if(k.compare("eq", k.threadIndex(), 0), () => {
      for (let stage = 0; stage < stages; stage++) {
        k.initBarrierObject(full.plus(stage), groupThreads);
        // One lane of each multiplying warp gives a stage back.
        k.initBarrierObject(empty.plus(stage), (4 * tileM) / 64);
      }
    });
    k.barrier();
    const group = k.warpGroupIndex();
    k.if(
      k.compare("eq", group, 0),
      () => this.produce(a, b, sharedA, sharedB, full, empty, firstRow, firstColumn),
      () => {
        const ownRow = k.mul(k.sub(group, 1), 64);
        const sums = this.consume(k.atBytes(sharedA, k.mul(ownRow, rowBytes)), sharedB, full, empty);
        this.write(c, k.add(firstRow, ownRow), firstColumn, sums);
      },
    );
  }

  private turn(parity: number): Turn {
    return { stage: this.k.variable("u32", 0), parity: this.k.variable("u32", parity) };
  }

  private next({ stage, parity }: Turn): void {
    const { k } = this;
    const following = k.add(stage, 1);
    const wraps = k.compare("eq", following, this.stages);
    k.assign(parity, k.xor(parity, k.select(wraps, k.constant("u32", 1), 0)));
    k.assign(stage, k.select(wraps, k.constant("u32", 0), following));
  }

  /** Brings tile after tile to the stages that are free, and says which have come. */
  private produce(
    a: Pointer<"global", "f16" | "bf16">,
    b: Pointer<"global", "f16" | "bf16">,
    sharedA: Pointer<"shared", "f16" | "bf16">,
    sharedB: Pointer<"shared", "f16" | "bf16">,
    full: Pointer<"shared", "b64">,
    empty: Pointer<"shared", "b64">,
    firstRow: Index,
    firstColumn: Index,
  ): void {
    const { k, stages, count, bytesA, bytesB } = this;
    const { m, n, k: depth } = this.shape;
    const { tileM, tileN } = this.plan;
    const zero = k.constant("u32", 0);
    const layout = (rows: number): TileLayout => ({ rows, rowBytes, pitch: rowBytes });
    const sourceA = { matrix: a, rows: m, columns: depth, pitch: depth, firstRow, firstColumn: zero, inside: m % tileM === 0 } as const;
    const streamA = new TileStream(k, "sm_90a", groupThreads, { ...sourceA, along: "columns" }, sharedA, layout(tileM));
    const sourceB = { matrix: b, rows: depth, columns: n, pitch: n, firstRow: zero, along: "rows", inside: n % tileN === 0 } as const;
    const panels = range(tileN / 64).map((panel) => {
      const source = { ...sourceB, firstColumn: k.add(firstColumn, 64 * panel) };
      return new TileStream(k, "sm_90a", groupThreads, source, sharedB.plusBytes(panel * tileDepth * rowBytes), layout(tileDepth));
    });
    // Stages start out free: the round before the first counts as over.
    const [writing, arriving] = [this.turn(1), this.turn(0)];
    // Copies of so many tiles are under way before the first of them is waited for.
    const ahead = stages - 2;
    k.for("u32", { from: 0, to: count + ahead }, (tile) => {
      k.if(k.compare("lt", tile, count), () => {
        k.trap(k.not(k.waitAt(k.at(empty, writing.stage), writing.parity, patience)));
        streamA.bring(k.mul(writing.stage, bytesA));
        for (const each of panels) each.bring(k.mul(writing.stage, bytesB));
        this.next(writing);
      });
      k.commitCopies();
      k.waitCopies(ahead);
      k.if(k.compare("ge", tile, ahead), () => {
        k.fenceShared();
        k.arriveAt(k.at(full, arriving.stage));
        this.next(arriving);
      });
    });
  }

  /** Multiplies tile after tile; the products of one go on while the next is waited for. */
  private consume(
    tileA: Pointer<"shared">,
    sharedB: Pointer<"shared">,
    full: Pointer<"shared", "b64">,
    empty: Pointer<"shared", "b64">,
  ): Sum[] {
    const { k, count, bytesA, bytesB } = this;
    const { element: type, tileN: columns } = this.plan;
    const sums = range(columns / 2).map(() => k.variable("f32", 0));
    const left = k.matrixDescriptor(tileA, { swizzle: 128, leading: 16, stride: 8 * rowBytes });
    // Rows of B are the depth: 64 columns lie side by side, the next 64 a panel further, and eight
    // rows below the rows before.
    const right = k.matrixDescriptor(sharedB, { swizzle: 128, leading: tileDepth * rowBytes, stride: 8 * rowBytes });
    const accumulate = k.compare("ne", k.constant("u32", 1), 0);
    const leads = k.compare("eq", k.and(k.threadIndex(), 31), 0);
    const [reading, done, complete] = [this.turn(0), k.variable("u32", 0), k.variable("u32", 1)];
    k.for("u32", { from: 0, to: count }, (tile) => {
      const came = k.waitAt(k.at(full, reading.stage), reading.parity, patience);
      k.assign(complete, k.select(came, complete, 0));
      const [a, b] = [k.add(left, k.mulWide(reading.stage, bytesA / 16)), k.add(right, k.mulWide(reading.stage, bytesB / 16))];
      k.fenceProducts();
      for (let step = 0; step < tileDepth / 16; step++)
        k.multiplyAsync({ type, columns, accumulate, transposeB: true }, k.add(a, 2 * step), k.add(b, rowBytes * step), sums);
      k.commitProducts();
      k.waitProducts(1);
      k.if(k.and(leads, k.compare("ne", tile, 0)), () => k.arriveAt(k.at(empty, done)));
      k.assign(done, reading.stage);
      this.next(reading);
    });
    k.waitProducts(0);
    // Not before: an end among the products would have the assembler wait for each of them.
    k.trap(k.compare("eq", complete, 0));
    return sums;
  }

  private write(c: Singles, row: Index, column: Index, sums: readonly Sum[]): void {
    const { k } = this;
    const { m, n } = this.shape;
    const { tileM, tileN } = this.plan;
    const [thread, lane] = [k.threadIndex(), k.and(k.threadIndex(), 31)];
    const ownRow = k.add(k.add(row, k.mul(k.and(k.shr(thread, 5), 3), 16)), k.shr(lane, 2));
    const ownColumn = k.add(column, k.shl(k.and(lane, 3), 1));
    for (const half of [0, 1]) {
      const down = k.add(ownRow, 8 * half);
      const rowExists = m % tileM === 0 ? undefined : k.compare("lt", down, m);
      const to = k.at(k.at(c, down, n), ownColumn);
      const options = (across: number): { where?: Condition } => {
        const exists = n % tileN === 0 ? undefined : k.compare("lt", k.add(ownColumn, across), n);
        const where = rowExists && exists ? k.and(rowExists, exists) : (rowExists ?? exists);
        return where === undefined ? {} : { where };
      };
      for (let j = 0; j < tileN / 8; j++) {
        const pair = sums.slice(4 * j + 2 * half, 4 * j + 2 * half + 2);
        if (n % 2 === 0) k.store(to.plus(8 * j), pair, options(8 * j));
        else for (const [part, value] of pair.entries()) k.store(to.plus(8 * j + part), value, options(8 * j + part));
      }
    }
  }
}
