// Attention in binary32 throughout: the streaming of attention.ts with fused multiply-adds. 256
// threads are 16 rows of 16; a row shares queries, and its threads have their own keys and columns.
import { type PtxKernel, type Target, targetFacts } from "../builder/index.js";
import { ceilDiv, type GeneratedKernel, generate, type KernelGeneratorOptions, range } from "./generated-kernel.js";
import { commitTiles, layoutBytes, TileKernel, type TileLayout, type TileStream, waitTiles } from "./matrix-tiles.js";
import type { Shapes } from "./shapes.js";
import type { Condition, Index, SharedSingles, Single, Singles, Sum } from "./value-types.js";

const side = 16;
const threads = side * side;
/** Shared memory that lets a second block run on a multiprocessor with 227 KiB. */
const ampleBytes = 112 * 1024;

interface Plan {
  /** headDim with zeros up to a power of two. */
  readonly width: number;
  readonly rows: number;
  readonly keys: number;
  readonly layoutQ: TileLayout;
  readonly layoutK: TileLayout;
  /** Bytes from one query's probabilities to the next's. */
  readonly pitchP: number;
}

function plan({ heads, seqLen, headDim }: Required<Shapes["attention"]>, target: Target): Plan {
  const width = paddedWidth(headDim);
  const plans = [
    [8, 64],
    [8, 32],
    [4, 32],
    [4, 16],
    [2, 16],
    [1, 16],
  ].map(([rows = 1, keys = 16]): Plan => {
    // Padding by 16 bytes puts eight rows that are read at once in different banks.
    const layout = (count: number): TileLayout => ({ rows: count, rowBytes: 4 * width, pitch: 4 * width + 16 });
    return { width, rows, keys, layoutQ: layout(side * rows), layoutK: layout(keys), pitchP: 4 * keys + 16 };
  });
  const available = Math.min(targetFacts(target).sharedBytesPerBlock, ampleBytes);
  const fitting = plans.filter(
    ({ rows, layoutQ, layoutK, pitchP }) => layoutBytes(layoutQ) + 2 * layoutBytes(layoutK) + side * rows * pitchP <= available,
  );
  return fitting.find(({ rows }) => heads * ceilDiv(seqLen, side * rows) >= 128) ?? fitting.at(-1)!;
}

/** `attention` of type "f32", its shape checked. @throws PtxBuildError, PtxTargetError */
export function attentionSingle(name: string, shape: Required<Shapes["attention"]>, options: KernelGeneratorOptions): GeneratedKernel {
  const { target = "sm_75" } = options;
  const tiles = plan(shape, target);
  const grid = [ceilDiv(shape.seqLen, side * tiles.rows), shape.heads] as const;
  return generate({ name, grid, block: [threads] }, options, (k) => new SingleAttention(k, shape, tiles, target).build());
}

/** The softmax of a query so far. */
export interface RowState {
  readonly largest: Sum;
  readonly sum: Sum;
}

export const emptyRow = (k: PtxKernel): RowState => ({ largest: k.variable("f32", Number.NEGATIVE_INFINITY), sum: k.variable("f32", 0) });

/** Length of a head with zeros up to a power of two. */
export const paddedWidth = (headDim: number): number => [16, 32, 64, 128, 256].find((size) => size >= headDim)!;

class SingleAttention extends TileKernel<Required<Shapes["attention"]>, Plan> {
  /** Keys of a thread in a tile; columns of a thread, in groups that one vector load brings. */
  private readonly ownKeys = this.plan.keys / side;
  private readonly vector = Math.min(4, this.plan.width / side) as 1 | 2 | 4;
  private readonly groups = this.plan.width / side / this.vector;

  build(): void {
    const { k, target } = this;
    const { seqLen, headDim, keyLength, causal } = this.shape;
    const { width, rows, keys, layoutQ, layoutK, pitchP } = this.plan;
    const pointers = ["q", "k", "v", "o"].map((name) => k.pointer("f32", name));
    const head = k.special("ctaid", "y");
    const [q, keyRows, valueRows, o] = pointers.map((each, index) =>
      k.at(each, head, (index === 1 || index === 2 ? keyLength : seqLen) * headDim),
    );
    const shared = (bytes: number): SharedSingles => k.dynamicShared("f32", bytes / 4);
    const [sharedQ, sharedK, sharedV] = [layoutQ, layoutK, layoutK].map((layout) => shared(layoutBytes(layout)));
    const sharedP = shared(side * rows * pitchP);
    // Late queries see more keys, so their blocks go first.
    const last = ceilDiv(seqLen, side * rows) - 1;
    const block = causal ? k.sub(k.constant("u32", last), k.special("ctaid", "x")) : k.special("ctaid", "x");
    const firstQuery = k.mul(block, side * rows);
    const zero = k.constant("u32", 0);
    const how = { threads, columns: headDim, width };
    const streamQ = this.rowStream(how, [q!, seqLen, firstQuery], zero, sharedQ!, layoutQ);
    const streamK = this.rowStream(how, [keyRows!, keyLength, zero], zero, sharedK!, layoutK);
    const streamV = this.rowStream(how, [valueRows!, keyLength, zero], zero, sharedV!, layoutK);
    const keysUsed = causal ? k.min(k.add(firstQuery, side * rows + keyLength - seqLen), keyLength) : k.constant("u32", keyLength);
    const tileCount = k.div(k.add(keysUsed, keys - 1), keys);

    const [row, column] = [k.shr(k.threadIndex(), 4), k.and(k.threadIndex(), side - 1)];
    const states = range(rows).map(() => emptyRow(k));
    const outputs = range(rows).map(() => range(this.groups * this.vector).map(() => k.variable("f32", 0)));
    const ownQ = k.atBytes(sharedQ!, k.mul(row, layoutQ.pitch));
    const ownK = k.atBytes(sharedK!, k.mul(column, layoutK.pitch));
    const ownV = k.atBytes(sharedV!, k.mul(column, 4 * this.vector));
    const ownP = k.atBytes(sharedP, k.mul(row, pitchP));
    const step = (each: TileStream<"f32">): void => {
      each.bring();
      commitTiles(k, target);
    };
    const arrived = (): void => {
      waitTiles(k, target, 0);
      k.barrier();
    };
    streamQ.bringFirst();
    streamK.bringFirst();
    streamK.advance();
    commitTiles(k, target);
    // Values come while scores are computed, and the next keys while values are added.
    k.for("u32", { from: 0, to: tileCount }, (tile) => {
      arrived();
      step(streamV);
      const scores = this.scores(ownQ, ownK);
      this.mask(scores, k.mul(tile, keys), firstQuery, row, column);
      for (const [r, own] of scores.entries()) this.chances(own, outputs[r]!, states[r]!);
      for (const [r, own] of scores.entries())
        for (const [j, chance] of own.entries()) k.store(k.at(ownP, column).plusBytes(side * r * pitchP + 4 * side * j), chance);
      // A row's probabilities are its own warp's affair.
      k.warpSync();
      arrived();
      step(streamK);
      this.addValues(ownP, ownV, outputs);
    });
    this.write(o!, k.add(firstQuery, row), column, outputs, states);
  }

  private scores(ownQ: SharedSingles, ownK: SharedSingles): Sum[][] {
    const { k, ownKeys } = this;
    const { rows, layoutQ, layoutK } = this.plan;
    const sums = range(rows).map(() => range(ownKeys).map(() => k.variable("f32", 0)));
    // Eight numbers a round; what the last one has beyond headDim is zeros.
    k.for("u32", { from: 0, to: ceilDiv(this.shape.headDim, 8) }, (piece) => {
      const offset = k.mul(piece, 32);
      for (const half of [0, 16]) {
        const [left, right] = [k.atBytes(ownQ, offset), k.atBytes(ownK, offset)].map((each) => each.plusBytes(half));
        const queries = range(rows).map((r) => k.loadVector(left!.plusBytes(side * r * layoutQ.pitch), 4));
        for (let j = 0; j < ownKeys; j++)
          for (const [e, x] of k.loadVector(right!.plusBytes(side * j * layoutK.pitch), 4).entries())
            for (const [r, query] of queries.entries()) k.assign(sums[r]![j]!, k.fma(query[e]!, x, sums[r]![j]!));
      }
    });
    return sums;
  }

  /** Leaves out scores of keys that a query does not see, in tiles with such keys. */
  private mask(scores: Sum[][], firstKey: Index, firstQuery: Index, row: Index, column: Index): void {
    const { k } = this;
    const { causal, keyLength, seqLen, scale } = this.shape;
    const { keys } = this.plan;
    if (!causal && keyLength % keys === 0) return;
    // What scale makes -infinity of.
    const never = k.constant("f32", scale < 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY);
    // A causal tile is cut if its last key is one that the block's first query does not see;
    // queries past the end may see what they like.
    const whole = causal ? k.add(firstQuery, 1 + keyLength - seqLen) : keyLength;
    k.if(k.compare("gt", k.add(firstKey, keys), whole), () => {
      const key = k.add(firstKey, column);
      for (const [r, own] of scores.entries()) {
        const visible = causal ? k.add(k.add(firstQuery, row), side * r + 1 + keyLength - seqLen) : k.constant("u32", keyLength);
        for (const [j, score] of own.entries()) k.assign(score, k.select(k.compare("ge", k.add(key, side * j), visible), never, score));
      }
    });
  }

  /** Scores of a query to probabilities relative to the largest so far; sums are rescaled. */
  private chances(scores: Sum[], output: Sum[], { largest, sum }: RowState): void {
    const { k } = this;
    const factor = this.shape.scale * Math.LOG2E;
    // With a negative scale the least score is the largest once it is scaled.
    const best = (a: Single, b: Single): Single => (factor > 0 ? k.max(a, b) : k.min(a, b));
    const own = k.max(largest, k.mul(scores.slice(1).reduce<Single>(best, scores[0]!), factor));
    const top = [1, 2, 4, 8].reduce((most, apart) => k.max(most, k.shuffle("bfly", most, apart)), own);
    const shrink = k.approximate("ex2", k.sub(largest, top));
    k.assign(largest, top);
    k.assign(sum, k.mul(sum, shrink));
    const negative = k.neg(top);
    for (const score of scores) {
      k.assign(score, k.approximate("ex2", k.fma(score, factor, negative)));
      k.assign(sum, k.add(sum, score));
    }
    for (const value of output) k.assign(value, k.mul(value, shrink));
  }

  private addValues(ownP: SharedSingles, ownV: SharedSingles, outputs: Sum[][]): void {
    const { k, vector, groups } = this;
    const { rows, keys, layoutK, pitchP } = this.plan;
    k.for("u32", { from: 0, to: keys / 8 }, (piece) => {
      const from = k.atBytes(ownP, k.mul(piece, 32));
      const values = k.atBytes(ownV, k.mul(piece, 8 * layoutK.pitch));
      for (const first of [0, 4]) {
        const chances = range(rows).map((r) => k.loadVector(from.plusBytes(4 * first + side * r * pitchP), 4));
        for (let e = 0; e < 4; e++)
          for (let g = 0; g < groups; g++) {
            const at = values.plusBytes((first + e) * layoutK.pitch + 4 * side * vector * g);
            const row = vector === 1 ? [k.load(at)] : k.loadVector(at, vector);
            for (const [part, value] of row.entries())
              for (const [r, own] of outputs.entries()) {
                const output = own[vector * g + part]!;
                k.assign(output, k.fma(chances[r]![e]!, value, output));
              }
          }
      }
    });
  }

  private write(o: Singles, row: Index, column: Index, outputs: Sum[][], states: readonly RowState[]): void {
    const { k, vector, groups } = this;
    const { seqLen, headDim } = this.shape;
    const first = k.mul(column, vector);
    for (const [r, { sum }] of states.entries()) {
      const total = [1, 2, 4, 8].reduce<Single>((all, apart) => k.add(all, k.shuffle("bfly", all, apart)), sum);
      const share = k.rcp(total);
      const at = k.add(row, side * r);
      const exists = k.compare("lt", at, seqLen);
      const to = k.at(k.at(o, at, headDim), first);
      for (let g = 0; g < groups; g++) {
        const across = side * vector * g;
        const values = outputs[r]!.slice(vector * g, vector * (g + 1)).map((each) => k.mul(each, share));
        const where = (part: number): Condition =>
          headDim >= side * vector * (g + 1) ? exists : k.and(exists, k.compare("lt", k.add(first, across + part), headDim));
        if (headDim % vector === 0) k.store(to.plus(across), values, { where: where(0) });
        else for (const [part, value] of values.entries()) k.store(to.plus(across + part), value, { where: where(part) });
      }
    }
  }
}
