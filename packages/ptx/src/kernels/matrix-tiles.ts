// Tiles of matrices on their way from global to shared memory for the matrix instructions: in
// pieces of 16 bytes, asynchronously if the target and the row length allow it, and placed to avoid
// bank conflicts of stores and ldmatrix.
import { type MemoryType, Pointer, type PtxKernel, type Target, targetFacts, typeBytes, type Variable } from "../builder/index.js";
import { range } from "./generated-kernel.js";
import type { Condition, Index, Single, Singles, Sum, Word } from "./value-types.js";

export interface TileLayout {
  readonly rows: number;
  readonly rowBytes: number;
  /** Bytes from row to row in shared memory: rowBytes if swizzled, more if padded. */
  readonly pitch: number;
}

/** What builds a kernel: for sizes, by a plan of its tiles, for a target. */
export abstract class TileKernel<Shape, Plan> {
  protected readonly k: PtxKernel;
  protected readonly shape: Shape;
  protected readonly plan: Plan;
  protected readonly target: Target;

  constructor(k: PtxKernel, shape: Shape, plan: Plan, target: Target) {
    this.k = k;
    this.shape = shape;
    this.plan = plan;
    this.target = target;
  }

  /** sum += a b of 16 x 16 times 16 x 8 halves, in two steps if the target needs them. */
  protected addProduct(type: "f16" | "bf16", a: Word[], b: Word[], sum: Four): void {
    const { k } = this;
    if (targetFacts(this.target).sm >= 80) k.mma(type, 16, a, b, sum, sum);
    else {
      k.mma(type, 8, a.slice(0, 2), b.slice(0, 1), sum, sum);
      k.mma(type, 8, a.slice(2), b.slice(1), sum, sum);
    }
  }

  /** A stream of tiles of whole rows of `columns` numbers, kept in tiles of `width`. */
  protected rowStream<T extends TileElement>(
    { threads, columns, width }: { readonly threads: number; readonly columns: number; readonly width: number },
    [matrix, rows, firstRow]: readonly [Pointer<"global", T>, rows: number, firstRow: Index],
    firstColumn: Index,
    to: Pointer<"shared", T>,
    layout: TileLayout,
  ): TileStream<T> {
    const from = { matrix, rows, columns, pitch: columns, firstRow, firstColumn } as const;
    return new TileStream(this.k, this.target, threads, { ...from, along: "rows", inside: width === columns }, to, layout);
  }
}

/** Sums of a lane's four elements of a tile. */
export type Four = readonly [Sum, Sum, Sum, Sum];

export function fourZeros(k: PtxKernel): Four {
  const zero = () => k.variable("f32", 0);
  return [zero(), zero(), zero(), zero()];
}

/** Four numbers of a row of `depth` from `index`; zeros past its end unless all are `inside`. */
export function loadFour(k: PtxKernel, row: Singles, index: Index, depth: number, inside: boolean): Single[] {
  const from = k.at(row, index);
  const exists = (more: number): Condition => k.compare("lt", more === 0 ? index : k.add(index, more), depth);
  if (inside) return k.loadVector(from, 4, { readOnly: true });
  if (depth % 4 === 0) return k.loadVector(from, 4, { readOnly: true, where: exists(0), otherwise: 0 });
  return range(4).map((i) => k.load(from.plus(i), { readOnly: true, where: exists(i), otherwise: 0 }));
}

export const layoutBytes = ({ rows, pitch }: TileLayout): number => rows * pitch;

/** Where 16 bytes `chunk` of `row` lie: rows are turned against each other by xor. */
export function swizzled(k: PtxKernel, { rowBytes, pitch }: TileLayout, row: Index, chunk: Index): Index {
  if (pitch !== rowBytes) return chunk;
  // Eight rows that ldmatrix reads at once must fall in eight pieces of a 128-byte line; short rows
  // share a line.
  if (rowBytes === 64) return k.xor(chunk, k.and(k.shr(row, 1), 3));
  if (rowBytes === 32) return k.xor(chunk, k.and(k.shr(row, 2), 1));
  return k.xor(chunk, k.and(row, 7));
}

/** The address of a piece of 16 bytes of a tile. */
export function pieceAt<T extends MemoryType>(
  k: PtxKernel,
  tile: Pointer<"shared", T>,
  layout: TileLayout,
  row: Index,
  chunk: Index,
): Pointer<"shared", T> {
  return k.atBytes(tile, k.mad(row, layout.pitch, k.mul(swizzled(k, layout, row, chunk), 16)));
}

export type TileElement = "f16" | "bf16" | "f32";

export interface TileSource<T extends TileElement> {
  readonly matrix: Pointer<"global", T>;
  /** Rows and columns of the matrix, beyond which there are zeros. */
  readonly rows: number;
  readonly columns: number;
  /** Elements from one row to the next. */
  readonly pitch: number;
  readonly firstRow: Index;
  readonly firstColumn: Index;
  /** Whether tiles follow along rows' or columns' numbers, from a multiple of the tile on. */
  readonly along: "rows" | "columns";
  /** True if the other direction never leaves the matrix. */
  readonly inside: boolean;
}

/** True if pieces of 16 bytes of this matrix are aligned. */
export const alignedRows = (element: MemoryType, columns: number, pitch: number): boolean =>
  (columns * typeBytes(element)) % 16 === 0 && (pitch * typeBytes(element)) % 16 === 0;

interface Unit {
  readonly row: Index;
  readonly column: Index;
  readonly to: Pointer<"shared">;
  /** Bytes from the first unit's offset in the matrix. */
  readonly bytes: number;
  /** Bytes that a copy takes if the tile is inside; undefined if always 16. */
  readonly size: Index | undefined;
}

/**
 * Tiles of one matrix, one after the other, brought to shared memory by all threads of the block.
 * If it is done asynchronously, a tile has arrived when the group that it is committed with is
 * waited for; else after a barrier. A row takes a power of two of bytes, at least 16.
 */
export class TileStream<T extends TileElement> {
  private readonly k: PtxKernel;
  private readonly target: Target;
  private readonly source: TileSource<T>;
  private readonly step: number;
  private readonly partial: Condition | undefined;
  private readonly units: Unit[];
  private readonly next: Variable<"u64">;
  private readonly at: Variable<"u32">;

  constructor(k: PtxKernel, target: Target, threads: number, source: TileSource<T>, tile: Pointer<"shared", T>, layout: TileLayout) {
    this.k = k;
    this.target = target;
    this.source = source;
    const { matrix, pitch, along, firstRow, firstColumn } = source;
    const size = typeBytes(matrix.element);
    const across = layout.rowBytes / 16;
    const pieces = layout.rows * across;
    const rowStep = threads / across;
    this.step = along === "rows" ? layout.rows : layout.rowBytes / size;
    const thread = k.threadIndex();
    this.partial = pieces < threads ? k.compare("lt", thread, pieces) : undefined;
    const [row, chunk] = [k.div(thread, across), k.rem(thread, across)];
    const column = k.add(firstColumn, k.mul(chunk, 16 / size));
    this.next = k.variable("u64", k.at(k.at(matrix, k.add(firstRow, row), pitch), column).base);
    this.at = k.variable("u32", 0);
    // Where the swizzle of a row is that of the rows so many further, only the offset differs.
    const alike = rowStep % 8 === 0 || layout.pitch !== layout.rowBytes;
    const first = pieceAt(k, tile, layout, row, chunk);
    this.units = range(Math.max(1, pieces / threads)).map((unit) => {
      const down = unit * rowStep;
      const ownRow = down === 0 ? row : k.add(row, down);
      const to = alike ? first.plusBytes(down * layout.pitch) : pieceAt(k, tile, layout, ownRow, chunk);
      const [globalRow, bytes] = [k.add(firstRow, ownRow), down * pitch * size];
      const exists = along === "rows" ? k.compare("lt", column, source.columns) : k.compare("lt", globalRow, source.rows);
      return { row: globalRow, column, to, bytes, size: source.inside ? undefined : k.select(exists, k.constant("u32", 16), 0) };
    });
  }

  /** Copies the next tile to `offset` bytes after the position of the first, and advances. */
  bring(offset?: Index): void {
    this.bringUnits(offset, true);
    this.advance();
  }

  /** Copies the first tile to its position; `advance` then moves to the second. */
  bringFirst(): void {
    this.bringUnits(undefined, false);
  }

  advance(): void {
    const { k, source, step } = this;
    const size = typeBytes(source.matrix.element);
    k.assign(this.next, k.add(this.next, source.along === "rows" ? step * source.pitch * size : step * size));
    k.assign(this.at, k.add(this.at, step));
  }

  private bringUnits(offset: Index | undefined, moved: boolean): void {
    const { k, source, step } = this;
    const { along, matrix } = source;
    const limit = along === "rows" ? source.rows : source.columns;
    const shared = limit % step === 0 && along === "columns" ? k.compare("lt", this.at, limit) : undefined;
    const work = (): void => {
      for (const unit of this.units) {
        const own = along === "rows" ? unit.row : unit.column;
        const inside = shared ?? k.compare("lt", moved ? k.add(own, this.at) : own, limit);
        const from = new Pointer("global", matrix.element, this.next, unit.bytes);
        this.bringUnit(offset ? k.atBytes(unit.to, offset) : unit.to, from, unit, inside);
      }
    };
    if (this.partial) k.if(this.partial, work);
    else work();
  }

  private bringUnit(to: Pointer<"shared">, from: Pointer<"global", T>, unit: Unit, inside: Condition): void {
    const { k, source } = this;
    const exists = (): Condition => (unit.size === undefined ? inside : k.and(inside, k.compare("ne", unit.size, 0)));
    if (!alignedRows(from.element, source.columns, source.pitch)) this.bringElements(to, from, unit, exists());
    else if (targetFacts(this.target).sm >= 80) k.copyAsync(to, from, 16, k.select(inside, unit.size ?? k.constant("u32", 16), 0));
    else k.store(to.as("b32"), k.loadVector(from.as("b32"), 4, { readOnly: true, where: exists(), otherwise: 0 }));
  }

  /** Sixteen bytes one by one, for rows that do not begin at 16 bytes or end within a piece. */
  private bringElements(to: Pointer<"shared">, from: Pointer<"global", T>, unit: Unit, exists: Condition): void {
    const { k, source } = this;
    const bits = typeBytes(from.element) === 4 ? "b32" : "b16";
    const column = source.along === "columns" ? k.add(unit.column, this.at) : unit.column;
    const values = range(16 / typeBytes(from.element)).map((e) => {
      const where = k.and(exists, k.compare("lt", k.add(column, e), source.columns));
      return k.load(from.as<"b16" | "b32">(bits).plus(e), { readOnly: true, where, otherwise: 0 });
    });
    for (const [e, value] of values.entries()) k.store(to.as<"b16" | "b32">(bits).plus(e), value);
  }
}

/** Closes a group of copies; nothing if they were not asynchronous. */
export function commitTiles(k: PtxKernel, target: Target): void {
  if (targetFacts(target).sm >= 80) k.commitCopies();
}

/** Waits until at most `groups` groups of copies are under way. */
export function waitTiles(k: PtxKernel, target: Target, groups: number): void {
  if (targetFacts(target).sm >= 80) k.waitCopies(groups);
}

/** The address a lane gives ldmatrix for 16 x 16 halves (16 rows of 32 bytes) from `row`. */
export function matrixAddress<T extends MemoryType>(
  k: PtxKernel,
  tile: Pointer<"shared", T>,
  layout: TileLayout,
  row: Index,
  chunk: number,
): Pointer<"shared", T> {
  const lane = k.and(k.threadIndex(), 31);
  return pieceAt(k, tile, layout, k.add(row, k.and(lane, 15)), k.add(k.shr(lane, 4), chunk));
}
