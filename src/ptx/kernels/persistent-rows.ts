// The rows of W that a warp holds and their products with x. What else a step takes is in
// persistent-neuron.ts, how states travel in persistent-exchange.ts.
import type { Pointer, PtxKernel, Value, Variable } from "../builder/index.js";
import { ceilDiv, range } from "./generated-kernel.js";
import { butterfly } from "./portable.js";

type F = Value<"f32">;
type U = Value<"u32">;

/**
 * How products are added: "portable" by rules 1 and 2, each operation rounded; "fast" fused, in
 * four sums that do not wait for one another.
 */
export type PersistentArithmetic = "portable" | "fast";

/** Sums of the products of one row with x. */
class Sums {
  private readonly k: PtxKernel;
  private readonly fast: boolean;
  private readonly sums: Variable<"f32">[];

  constructor(k: PtxKernel, arithmetic: PersistentArithmetic) {
    this.k = k;
    this.fast = arithmetic === "fast";
    this.sums = range(this.fast ? 4 : 1).map(() => k.variable("f32", 0));
  }

  /** Adds a b, the product with this number. */
  add(product: number, a: F, b: F): void {
    const { k } = this;
    const sum = this.sums[product % this.sums.length]!;
    k.assign(sum, this.fast ? k.fma(a, b, sum) : k.add(sum, k.mul(a, b)));
  }

  total(): F {
    const [first, ...rest] = this.sums;
    return rest.reduce<F>((sum, each) => this.k.add(sum, each), first!);
  }
}

/** Where the columns of dense rows lie, in groups of 128. */
export interface GroupStorage {
  /** Groups in registers; default all. */
  readonly held?: number | undefined;
  /** Groups in shared memory; what is left is read from W in each step. */
  readonly shared?: number | undefined;
}

type Place = "held" | "shared" | "streamed";

/**
 * The place of each group. The kinds take turns: what is read from far away comes while the rest is
 * summed.
 */
function placesOf(groups: number, { held = groups, shared = 0 }: GroupStorage): Place[] {
  const streamed = Math.max(0, groups - held - shared);
  const turn = (g: number, of: number, count: number) => Math.floor(((g + 1) * count) / of) > Math.floor((g * count) / of);
  let other = 0;
  return range(groups).map((g) => {
    if (turn(g, groups, streamed)) return "streamed";
    return turn(other++, groups - streamed, Math.min(shared, groups - streamed)) ? "shared" : "held";
  });
}

/**
 * Rows that stay with a warp. Each lane ends a product with the sum of one row, that of its neuron.
 */
export interface PersistentRows {
  readonly size: number;
  /** Places for states: N up to a whole number of what is loaded at once. */
  readonly padded: number;
  /** Rows of a warp. */
  readonly perWarp: number;
  /** Declares the parameters that hold W. */
  parameters(k: PtxKernel): Pointer<"global", "f32" | "u32">[];
  /** Loads the rows whose states stand at places `first` and on, in blocks of so many warps. */
  load(k: PtxKernel, weights: Pointer<"global", "f32" | "u32">[], first: U, warps: number): void;
  /** W x for the row of this lane's neuron. */
  dot(k: PtxKernel, x: Pointer<"shared", "f32">): F;
  /**
   * The place of this lane's state, counted from the warp's first, and whether it is the lane that
   * stores it.
   */
  place(k: PtxKernel): { offset: U; writes: Value<"pred"> };
  /** Where a neuron's state stands among the others, and whose state stands at a place. */
  placeOf(k: PtxKernel, neuron: U): U;
  neuronAt(k: PtxKernel, place: U): U;
}

/**
 * Dense rows: lane l has columns l, l + 32, ..., whose products it adds in rising order (rule 1).
 */
export class DenseRows implements PersistentRows {
  readonly size: number;
  readonly padded: number;
  readonly perWarp: number;
  private readonly arithmetic: PersistentArithmetic;
  private readonly places: readonly Place[];
  /** By row and column; left out if a column is not held. */
  private weights: (F | undefined)[][] = [];
  /** A lane's part of each row in shared memory, four columns of a group side by side. */
  private tiles: Pointer<"shared", "f32">[] = [];
  /** W from a lane's first column on, and whether there is such a row. */
  private rows: { readonly from: Pointer<"global", "f32">; readonly exists: Value<"pred">; readonly lane: U }[] = [];

  constructor(size: number, perWarp: number, arithmetic: PersistentArithmetic = "portable", storage: GroupStorage = {}) {
    this.size = size;
    this.padded = 128 * ceilDiv(size, 128);
    this.perWarp = perWarp;
    this.arithmetic = arithmetic;
    this.places = placesOf(this.padded / 128, storage);
  }

  parameters(k: PtxKernel): Pointer<"global", "f32">[] {
    return [k.pointer("f32", "weights")];
  }

  load(k: PtxKernel, [weights]: Pointer<"global", "f32" | "u32">[], first: U, warps: number): void {
    const { size, perWarp } = this;
    const lane = k.and(k.threadIndex(), 31);
    const inShared = this.places.flatMap((place, group) => (place === "shared" ? [group] : []));
    const tile = inShared.length > 0 ? k.dynamicShared("f32", warps * perWarp * inShared.length * 128) : undefined;
    const own = tile && k.at(k.at(tile, lane, 4), k.warpIndex(), perWarp * inShared.length * 128);
    this.rows = [];
    this.weights = range(perWarp).map((r) => {
      const row = this.neuronAt(k, k.add(first, r));
      const rowExists = k.compare("lt", row, size);
      const from = k.at(k.at(weights!.as("f32"), row, size), lane);
      this.rows.push({ from, exists: rowExists, lane });
      const held = range(ceilDiv(size, 32)).map((j) => (this.places[j >> 2] === "held" ? this.column(k, r, j) : undefined));
      if (own) this.tiles[r] = own.plus(r * inShared.length * 128);
      for (const [index, group] of inShared.entries()) k.store(this.tiles[r]!.plus(index * 128), this.fourOf(k, r, group));
      return held;
    });
  }

  /** This lane's column 32 j + lane of a row. */
  private column(k: PtxKernel, r: number, j: number): F {
    const { from, exists, lane } = this.rows[r]!;
    const where = 32 * j + 32 <= this.size ? exists : k.and(exists, k.compare("lt", k.add(lane, 32 * j), this.size));
    return k.load(from.plus(32 * j), { readOnly: true, where, otherwise: 0 });
  }

  /** This lane's four columns of a group, zeros if there are none. */
  private fourOf(k: PtxKernel, r: number, group: number): F[] {
    return range(4).map((c) => (32 * (4 * group + c) < this.size ? this.column(k, r, 4 * group + c) : k.constant("f32", 0)));
  }

  dot(k: PtxKernel, x: Pointer<"shared", "f32">): F {
    const lane = k.and(k.threadIndex(), 31);
    const own = k.at(x, lane, 4);
    const sums = range(this.perWarp).map(() => new Sums(k, this.arithmetic));
    let tile = 0;
    for (const [group, place] of this.places.entries()) {
      const four = k.loadVector(own.plus(128 * group), 4);
      const elsewhere =
        place === "held"
          ? undefined
          : range(this.perWarp).map((r) =>
              place === "shared" ? k.loadVector(this.tiles[r]!.plus(128 * tile), 4) : this.fourOf(k, r, group),
            );
      if (place === "shared") tile++;
      // Columns that no lane has would add 0, which changes no sum.
      for (const [c, value] of four.slice(0, ceilDiv(this.size, 32) - 4 * group).entries())
        for (const [r, sum] of sums.entries()) sum.add(c, elsewhere ? elsewhere[r]![c]! : this.weights[r]![4 * group + c]!, value);
    }
    return this.scatter(
      k,
      lane,
      sums.map((sum) => sum.total()),
    );
  }

  /**
   * The butterflies of all rows at once: at each distance a lane sends the half of its sums that
   * its partner keeps, until it has one row, then as ever. A sum of two numbers does not depend on
   * their order, so the bits are those of rule 1.
   */
  private scatter(k: PtxKernel, lane: U, sums: F[]): F {
    let [left, distance] = [sums, 16];
    for (; left.length > 1; distance /= 2) {
      const upper = k.compare("ne", k.and(lane, distance), 0);
      const half = left.length / 2;
      left = range(half).map((r) => {
        const [low, high] = [left[r]!, left[r + half]!];
        const [sent, kept] = [k.select(upper, low, high), k.select(upper, high, low)];
        return k.add(kept, k.shuffle("bfly", sent, distance));
      });
    }
    let sum = left[0]!;
    for (; distance >= 1; distance /= 2) sum = k.add(sum, k.shuffle("bfly", sum, distance));
    return sum;
  }

  place(k: PtxKernel): { offset: U; writes: Value<"pred"> } {
    const [lane, share] = [k.and(k.threadIndex(), 31), 32 / this.perWarp];
    return { offset: k.div(lane, share), writes: k.compare("eq", k.rem(lane, share), 0) };
  }

  /**
   * Columns l, l + 32, l + 64, l + 96 of a group of 128 stand side by side: a lane reads four at
   * once. A warp's rows are those of neighbouring places, whose states then travel together.
   */
  placeOf(k: PtxKernel, neuron: U): U {
    const within = k.or(k.shl(k.and(neuron, 31), 2), k.and(k.shr(neuron, 5), 3));
    return k.or(k.and(neuron, 0xffffffff - 127), within);
  }

  neuronAt(k: PtxKernel, place: U): U {
    const within = k.or(k.shl(k.and(place, 3), 5), k.and(k.shr(place, 2), 31));
    return k.or(k.and(place, 0xffffffff - 127), within);
  }
}

/** Sparse rows: eight lanes a row, lane j of them entries j, j + 8, ... (rule 2). */
export class SparseRows implements PersistentRows {
  readonly size: number;
  readonly padded: number;
  readonly perWarp: number;
  /** Rows that each eight lanes take. */
  private readonly rounds: number;
  private readonly arithmetic: PersistentArithmetic;
  /** Entries of a row that a lane holds. */
  private readonly entries: number;
  private values: F[][] = [];
  private columns: U[][] = [];

  constructor(size: number, longestRow: number, rounds: number, arithmetic: PersistentArithmetic = "portable") {
    this.size = size;
    this.arithmetic = arithmetic;
    this.padded = 4 * ceilDiv(size, 4);
    this.rounds = rounds;
    this.perWarp = 4 * rounds;
    this.entries = ceilDiv(longestRow, 8);
  }

  parameters(k: PtxKernel): Pointer<"global", "f32" | "u32">[] {
    return [k.pointer("f32", "values"), k.pointer("u32", "columns")];
  }

  load(k: PtxKernel, [values, columns]: Pointer<"global", "f32" | "u32">[], first: U): void {
    const lane = k.and(k.threadIndex(), 31);
    for (const round of range(this.rounds)) {
      const row = k.add(k.add(first, k.shr(lane, 3)), 4 * round);
      const where = k.compare("lt", row, this.size);
      const start = k.add(k.mul(row, 8 * this.entries), k.and(lane, 7));
      const [fromValues, fromColumns] = [k.at(values!.as("f32"), start), k.at(columns!.as("u32"), start)];
      this.values.push(range(this.entries).map((e) => k.load(fromValues.plus(8 * e), { readOnly: true, where, otherwise: 0 })));
      // Kept as byte offsets.
      this.columns.push(range(this.entries).map((e) => k.shl(k.load(fromColumns.plus(8 * e), { readOnly: true, where, otherwise: 0 }), 2)));
    }
  }

  dot(k: PtxKernel, x: Pointer<"shared", "f32">): F {
    const own = k.and(k.threadIndex(), 7);
    const sums = range(this.rounds).map((round) => {
      const sums = new Sums(k, this.arithmetic);
      for (const [e, value] of this.values[round]!.entries()) sums.add(e, value, k.load(k.atBytes(x, this.columns[round]![e]!)));
      return butterfly(k, sums.total(), 8);
    });
    return sums.reduce((chosen, sum, round) => k.select(k.compare("eq", own, round), sum, chosen));
  }

  place(k: PtxKernel): { offset: U; writes: Value<"pred"> } {
    const [lane, last] = [k.and(k.threadIndex(), 31), this.rounds - 1];
    const round = k.and(lane, 7);
    return { offset: k.mad(k.min(round, last), 4, k.shr(lane, 3)), writes: k.compare("le", round, last) };
  }

  placeOf(_k: PtxKernel, neuron: U): U {
    return neuron;
  }

  neuronAt(_k: PtxKernel, place: U): U {
    return place;
  }
}
