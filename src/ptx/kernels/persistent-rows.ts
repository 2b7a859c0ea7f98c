// The rows of W that a warp holds in registers and their products with x, and what else a neuron's step takes. How states travel is said elsewhere.
import type { Pointer, PtxKernel, Value, Variable } from "../builder/index.js";
import { ceilDiv, range } from "./generated-kernel.js";
import { butterfly, leakyIntegration, portableTanh } from "./portable.js";

type F = Value<"f32">;
type U = Value<"u32">;

/** Rows that stay in a warp's registers. Each lane ends a product with the sum of one row, that of its neuron. */
export interface PersistentRows {
  readonly size: number;
  /** Places for states: N up to a whole number of what is loaded at once. */
  readonly padded: number;
  /** Rows of a warp. */
  readonly perWarp: number;
  /** Declares the parameters that hold W. */
  parameters(k: PtxKernel): Pointer<"global", "f32" | "u32">[];
  /** Loads the rows whose states stand at places `first` and on. */
  load(k: PtxKernel, weights: Pointer<"global", "f32" | "u32">[], first: U): void;
  /** W x for the row of this lane's neuron. */
  dot(k: PtxKernel, x: Pointer<"shared", "f32">): F;
  /** The place of this lane's state, counted from the warp's first, and whether it is the lane that stores it. */
  place(k: PtxKernel): { offset: U; writes: Value<"pred"> };
  /** Where a neuron's state stands among the others, and whose state stands at a place. */
  placeOf(k: PtxKernel, neuron: U): U;
  neuronAt(k: PtxKernel, place: U): U;
}

/** Dense rows: lane l holds columns l, l + 32, ..., whose products it adds in rising order (rule 1). */
export class DenseRows implements PersistentRows {
  readonly size: number;
  readonly padded: number;
  readonly perWarp: number;
  private weights: F[][] = [];

  constructor(size: number, perWarp: number) {
    this.size = size;
    this.padded = 128 * ceilDiv(size, 128);
    this.perWarp = perWarp;
  }

  parameters(k: PtxKernel): Pointer<"global", "f32">[] {
    return [k.pointer("f32", "weights")];
  }

  load(k: PtxKernel, [weights]: Pointer<"global", "f32" | "u32">[], first: U): void {
    const { size, perWarp } = this;
    const lane = k.and(k.threadIndex(), 31);
    this.weights = range(perWarp).map((r) => {
      const row = this.neuronAt(k, k.add(first, r));
      const rowExists = k.compare("lt", row, size);
      const from = k.at(k.at(weights!.as("f32"), row, size), lane);
      return range(ceilDiv(size, 32)).map((j) => {
        const where = 32 * j + 32 <= size ? rowExists : k.and(rowExists, k.compare("lt", k.add(lane, 32 * j), size));
        return k.load(from.plus(32 * j), { readOnly: true, where, otherwise: 0 });
      });
    });
  }

  dot(k: PtxKernel, x: Pointer<"shared", "f32">): F {
    const lane = k.and(k.threadIndex(), 31);
    const own = k.at(x, lane, 4);
    const sums = range(this.perWarp).map(() => k.variable("f32", 0));
    for (let group = 0; group < this.padded / 128; group++) {
      const four = k.loadVector(own.plus(128 * group), 4);
      // Columns that no lane has would add 0, which changes no sum.
      for (const [c, value] of four.slice(0, ceilDiv(this.size, 32) - 4 * group).entries())
        for (const [r, sum] of sums.entries()) k.assign(sum, k.add(sum, k.mul(this.weights[r]![4 * group + c]!, value)));
    }
    return this.scatter(k, lane, sums);
  }

  /**
   * The butterflies of all rows at once: at each distance a lane sends the half of its sums that its partner keeps, until it has one row, then as
   * ever. A sum of two numbers does not depend on their order, so the bits are those of rule 1.
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
   * Columns l, l + 32, l + 64, l + 96 of a group of 128 stand side by side, so that a lane reads four at once. A warp's rows are those of
   * neighbouring places, whose states then travel together.
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
  /** Entries of a row that a lane holds. */
  private readonly entries: number;
  private values: F[][] = [];
  private columns: U[][] = [];

  constructor(size: number, longestRow: number, rounds: number) {
    this.size = size;
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
      const sum = k.variable("f32", 0);
      for (const [e, value] of this.values[round]!.entries())
        k.assign(sum, k.add(sum, k.mul(value, k.load(k.atBytes(x, this.columns[round]![e]!)))));
      return butterfly(k, sum, 8);
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

interface StepMemory {
  readonly leak: Pointer<"global", "f32">;
  readonly drive: Pointer<"global", "f32">;
  readonly state: Pointer<"global", "f32">;
  readonly states: Pointer<"global", "f32">;
}

/** The steps of this lane's neuron. Lanes with the same neuron do the same; one of them stores. */
export class NeuronStep {
  /** Where its state stands among the others; past all places in lanes that are left over. */
  readonly place: U;
  /** The neuron's number; past the last where there are no more. */
  readonly index: U;
  /** Whether this lane fills the neuron's place among the states, be it of a neuron or of none. */
  readonly fills: Value<"pred">;
  private readonly k: PtxKernel;
  private readonly size: number;
  private readonly memory: StepMemory;
  private readonly steps: U;
  private readonly exists: Value<"pred">;
  private readonly stores: Value<"pred">;
  private readonly leak: F;
  private readonly keep: F;
  private readonly x: Variable<"f32">;
  private readonly drive: Variable<"f32">;
  private readonly next: Pointer<"global", "f32">;
  private readonly nextAddress: Variable<"u64">;
  private readonly to: Pointer<"global", "f32">;
  private readonly toAddress: Variable<"u64">;

  constructor(k: PtxKernel, rows: PersistentRows, first: U, memory: StepMemory, steps: U) {
    this.k = k;
    this.size = rows.size;
    this.memory = memory;
    this.steps = steps;
    const { offset, writes } = rows.place(k);
    this.place = k.add(first, offset);
    this.index = rows.neuronAt(k, this.place);
    this.exists = k.compare("lt", this.index, rows.size);
    this.fills = k.and(writes, k.compare("lt", this.place, rows.padded));
    this.stores = k.and(writes, this.exists);
    this.leak = this.first(memory.leak);
    this.keep = k.sub(k.constant("f32", 1), this.leak);
    this.x = k.variable("f32", this.first(memory.state));
    this.drive = k.variable("f32", this.first(memory.drive, k.and(this.exists, k.compare("ne", steps, 0))));
    const [from, to] = [k.at(memory.drive, this.index), k.at(memory.states, this.index)];
    this.nextAddress = k.variable("u64", from.base);
    this.toAddress = k.variable("u64", to.base);
    this.next = k.through(from, this.nextAddress);
    this.to = k.through(to, this.toAddress);
  }

  /** The neuron's number in an array; 0 for no neuron, whose state then stays 0. */
  private first(array: Pointer<"global", "f32">, where = this.exists): F {
    return this.k.load(this.k.at(array, this.index), { where, otherwise: 0 });
  }

  /** x after a step. */
  advance(dot: F): F {
    const { k } = this;
    k.assign(this.x, leakyIntegration(k, this.keep, this.x, this.leak, portableTanh(k, k.add(this.drive, dot))));
    return this.x;
  }

  /** Stores the state, which nobody waits for, and fetches what the next step takes. */
  finish(step: U): void {
    const { k, size } = this;
    k.store(this.to, this.x, { where: this.stores });
    k.assign(this.toAddress, k.add(this.toAddress, 4 * size));
    k.assign(this.nextAddress, k.add(this.nextAddress, 4 * size));
    const more = k.and(this.exists, k.compare("lt", k.add(step, 1), this.steps));
    k.assign(this.drive, k.load(this.next, { where: more, otherwise: 0 }));
  }

  end(): void {
    const { k } = this;
    k.store(k.at(this.memory.state, this.index), this.x, { where: this.stores });
  }
}
