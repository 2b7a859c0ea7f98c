// A row of numbers shared out over a warp or a block: held in registers if it fits, read anew
// for each pass if it does not. Softmax and the norms are passes over it.
import type { PtxKernel } from "../builder/index.js";
import { ceilDiv, range } from "./generated-kernel.js";
import type { Condition, Index, Single, Singles } from "./value-types.js";

export interface RowPlan {
  readonly form: "warp" | "block";
  readonly dim: number;
  readonly team: number;
  readonly threads: number;
  readonly rowsPerBlock: number;
  readonly vector: 1 | 2 | 4;
  /** Vectors of a thread: all of them if they are held, else those it reads at a time. */
  readonly pieces: number;
  readonly held: boolean;
}

/** The most numbers of a row that a thread holds. */
const heldLimit = 32;

export function planRow(dim: number, form?: "warp" | "block"): RowPlan {
  const chosen = form ?? (dim <= 1024 ? "warp" : "block");
  const vector = dim % 4 === 0 ? 4 : dim % 2 === 0 ? 2 : 1;
  const team = chosen === "warp" ? 32 : Math.min(1024, Math.max(64, 32 * ceilDiv(dim, 32 * 16)));
  const threads = chosen === "warp" ? 256 : team;
  const all = ceilDiv(dim, vector * team);
  const held = all * vector <= heldLimit;
  return { form: chosen, dim, team, threads, rowsPerBlock: threads / team, vector, pieces: held ? all : 4, held };
}

interface Piece {
  readonly values: Single[];
  /** False if the row has ended; undefined if it cannot have. */
  readonly exists: Condition | undefined;
  readonly index: Index;
}

export class Row {
  private readonly k: PtxKernel;
  private readonly plan: RowPlan;
  private readonly from: Singles;
  private readonly first: Index;
  private held: Piece[] | undefined;
  private view: (x: Single) => Single = (x) => x;

  /** @internal Made by eachRow. */
  constructor(k: PtxKernel, plan: RowPlan, from: Singles) {
    this.k = k;
    this.plan = plan;
    this.from = from;
    const lane = plan.form === "warp" ? k.and(k.threadIndex(), 31) : k.threadIndex();
    this.first = k.mul(lane, plan.vector);
  }

  private load(start: Index): Piece[] {
    const { k, from } = this;
    const { vector, team, dim, pieces, held } = this.plan;
    return range(pieces).map((p) => {
      const step = p * vector * team;
      const index = step === 0 ? start : k.add(start, step);
      const ends = held ? step + vector * team > dim : true;
      const exists = ends ? k.compare("lt", index, dim) : undefined;
      const access = { readOnly: true, ...(exists && { where: exists, otherwise: 0 }) } as const;
      const pointer = held ? k.at(from, start).plus(step) : k.at(from, index);
      return { values: vector === 1 ? [k.load(pointer, access)] : k.loadVector(pointer, vector, access), exists, index };
    });
  }

  /** Runs over all pieces of this thread: those it holds, or in a loop that reads them. */
  private each(visit: (piece: Piece) => void): void {
    const { k } = this;
    const { dim, vector, team, pieces, held } = this.plan;
    if (held) {
      this.held ??= this.load(this.first);
      this.held.forEach(visit);
      return;
    }
    k.for("u32", { from: 0, to: dim, step: pieces * vector * team }, (at) => {
      for (const piece of this.load(k.add(this.first, at))) visit({ ...piece, values: piece.values.map((x) => this.view(x)) });
    });
  }

  /** Every number of the row becomes `change` of it, for the passes that follow. */
  update(change: (x: Single) => Single): void {
    if (this.plan.held) {
      this.each(() => {});
      this.held = this.held!.map((piece) => ({ ...piece, values: piece.values.map(change) }));
    } else {
      const before = this.view;
      this.view = (x) => change(before(x));
    }
  }

  /** The sum or the largest of `of` over the row, the same in all of its threads. */
  reduce(how: "sum" | "max", of: (x: Single) => Single): Single {
    const { k } = this;
    const neutral = how === "sum" ? 0 : Number.NEGATIVE_INFINITY;
    const combine = (a: Single, b: Single): Single => (how === "sum" ? k.add(a, b) : k.max(a, b));
    const total = k.variable("f32", neutral);
    this.each(({ values, exists }) => {
      for (const x of values) {
        const value = of(x);
        k.assign(total, combine(total, exists ? k.select(exists, value, neutral) : value));
      }
    });
    const inWarp = this.acrossLanes(total, combine);
    if (this.plan.form === "warp") return inWarp;
    const warps = this.plan.team / 32;
    const shared = k.shared("f32", warps);
    const lane = k.and(k.threadIndex(), 31);
    k.if(k.compare("eq", lane, 0), () => k.store(k.at(shared, k.warpIndex()), inWarp));
    k.barrier();
    const others = k.load(k.at(shared, lane), { where: k.compare("lt", lane, warps), otherwise: neutral });
    return this.acrossLanes(others, combine);
  }

  private acrossLanes(value: Single, combine: (a: Single, b: Single) => Single): Single {
    return [16, 8, 4, 2, 1].reduce((sum, apart) => combine(sum, this.k.shuffle("bfly", sum, apart)), value);
  }

  /** Writes `of` every number, with its index in the row, to another row. */
  write(to: Singles, of: (x: Single, part: number, piece: { index: Index }) => Single): void {
    this.each((piece) => {
      const where = piece.exists ? { where: piece.exists } : {};
      this.k.store(
        this.k.at(to, piece.index),
        piece.values.map((x, part) => of(x, part, piece)),
        where,
      );
    });
  }

  /** The numbers of another row, as of weights, at the columns of a piece. */
  alike(other: Singles, piece: { index: Index }): Single[] {
    const { k } = this;
    const { vector, dim, team, pieces, held } = this.plan;
    const whole = held && dim === pieces * vector * team;
    const access = { readOnly: true, ...(whole ? {} : { where: k.compare("lt", piece.index, dim), otherwise: 0 }) } as const;
    const pointer = k.at(other, piece.index);
    return vector === 1 ? [k.load(pointer, access)] : k.loadVector(pointer, vector, access);
  }
}

/** Runs `body` for each of `rows` rows of x, with the row of the output that belongs to it. */
export function eachRow(k: PtxKernel, plan: RowPlan, rows: Index, x: Singles, y: Singles, body: (row: Row, to: Singles) => void): void {
  const block = k.blockIndex();
  const index = plan.form === "warp" ? k.mad(block, plan.rowsPerBlock, k.warpIndex()) : block;
  k.if(k.compare("lt", index, rows), () => body(new Row(k, plan, k.at(x, index, plan.dim)), k.at(y, index, plan.dim)));
}
