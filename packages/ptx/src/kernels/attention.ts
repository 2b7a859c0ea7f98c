// Attention without the matrix of scores in memory (Dao 2023, FlashAttention-2, algorithm 1):
// blocks of queries stay on the chip, keys and values stream by, and the softmax is corrected as
// larger scores appear.
import { type Pointer, type Target, targetFacts } from "../builder/index.js";
import { attentionSingle, emptyRow, paddedWidth, type RowState } from "./attention-single.js";
import { ceilDiv, type GeneratedKernel, generate, type KernelGeneratorOptions, range, readShape, refusal } from "./generated-kernel.js";
import {
  commitTiles,
  type Four,
  fourZeros,
  layoutBytes,
  matrixAddress,
  pieceAt,
  TileKernel,
  type TileLayout,
  waitTiles,
} from "./matrix-tiles.js";
import type { Shapes } from "./shapes.js";
import type { Condition, Index, Single, Sum, Word } from "./value-types.js";

/** Sizes of an attention. */
export type AttentionShape = Shapes["attention"];

export const attentionName = ({ causal = false, type = "f16" }: Pick<AttentionShape, "causal" | "type">): string =>
  `flash_attention${causal ? "_causal" : ""}_${type}`;

const warps = 4;
const threads = 32 * warps;

interface Plan {
  readonly type: "f16" | "bf16";
  /** headDim with zeros up to a power of two. */
  readonly width: number;
  /** Tiles of 16 queries a warp. */
  readonly rowTiles: number;
  readonly keys: number;
  readonly stages: number;
  readonly layoutQ: TileLayout;
  readonly layoutK: TileLayout;
}

type HalfShape = Required<AttentionShape> & { readonly type: "f16" | "bf16" };

function plan({ headDim, type }: HalfShape, target: Target): Plan {
  const width = paddedWidth(headDim);
  const rowTiles = width <= 64 ? 2 : 1;
  const keys = width <= 128 ? 64 : 32;
  const layout = (rows: number): TileLayout => ({ rows, rowBytes: 2 * width, pitch: 2 * width });
  // Without asynchronous copies there is nothing to hide behind the arithmetic, and shared memory
  // is small.
  const stages = targetFacts(target).sm >= 80 ? 2 : 1;
  return { type, width, rowTiles, keys, stages, layoutQ: layout(16 * rowTiles * warps), layoutK: layout(keys) };
}

/**
 * O = softmax(scale Q K^T) V for each head: Q and O are heads x seqLen x headDim, K and V heads x
 * keyLength x headDim, by rows, all of one type; scores and sums are binary32. Of halves the
 * products are the tensor cores', and probabilities are rounded to the half type before they meet
 * V; of f32 all is binary32. f16 and f32 take sm_75 and later, bf16 sm_80. Arguments: q, k, v, o.
 * @throws ArgumentError, PtxBuildError, PtxTargetError
 */
export function attention(shape: AttentionShape, options: KernelGeneratorOptions = {}): GeneratedKernel {
  const given = readShape("attention", "flash_attention", shape);
  const { heads = 1, seqLen, headDim, keyLength = seqLen, causal = false, type = "f16", scale = 1 / Math.sqrt(headDim) } = given;
  const { target = "sm_75" } = options;
  const name = attentionName({ causal, type });
  const most = Math.floor(2 ** 31 / (2 * headDim)) - 1;
  for (const [field, length] of Object.entries({ seqLen, keyLength }))
    if (length > most) throw refusal(name, field, length, `a whole number from 1 to ${most}`);
  if (causal && keyLength < seqLen) throw refusal(name, "keyLength", keyLength, `at least seqLen, ${seqLen}, since it is causal`);
  const sizes = { heads, seqLen, headDim, keyLength, causal, scale };
  if (type === "f32") return attentionSingle(name, { ...sizes, type }, options);
  const whole = { ...sizes, type };
  const tiles = plan(whole, target);
  const grid = [ceilDiv(seqLen, tiles.layoutQ.rows), heads] as const;
  return generate({ name, grid, block: [threads] }, options, (k) => new FlashAttention(k, whole, tiles, target).build());
}

class FlashAttention extends TileKernel<HalfShape, Plan> {
  build(): void {
    const { k, target } = this;
    const { seqLen, headDim, keyLength, causal } = this.shape;
    const { type, width, rowTiles, keys, stages, layoutQ, layoutK } = this.plan;
    const pointers = ["q", "k", "v", "o"].map((name) => k.pointer(type, name));
    const head = k.special("ctaid", "y");
    const queriesOf = (pointer: Pointer<"global", "f16" | "bf16">) => k.at(pointer, head, seqLen * headDim);
    const keysOf = (pointer: Pointer<"global", "f16" | "bf16">) => k.at(pointer, head, keyLength * headDim);
    const bytes = layoutBytes(layoutK);
    const sharedQ = k.dynamicShared(type, layoutBytes(layoutQ) / 2, 128);
    const sharedK = k.dynamicShared(type, (stages * bytes) / 2, 128);
    const sharedV = k.dynamicShared(type, (stages * bytes) / 2, 128);
    // Late queries see more keys, so their blocks go first.
    const block = causal ? k.sub(k.constant("u32", ceilDiv(seqLen, layoutQ.rows) - 1), k.special("ctaid", "x")) : k.special("ctaid", "x");
    const firstQuery = k.mul(block, layoutQ.rows);
    const zero = k.constant("u32", 0);
    const how = { threads, columns: headDim, width };
    const streamQ = this.rowStream(how, [queriesOf(pointers[0]!), seqLen, firstQuery], zero, sharedQ, layoutQ);
    const streamK = this.rowStream(how, [keysOf(pointers[1]!), keyLength, zero], zero, sharedK, layoutK);
    const streamV = this.rowStream(how, [keysOf(pointers[2]!), keyLength, zero], zero, sharedV, layoutK);
    const bring = (offset?: Index): void => {
      streamK.bring(offset);
      streamV.bring(offset);
      commitTiles(k, target);
    };
    const keysUsed = causal ? k.min(k.add(firstQuery, layoutQ.rows + keyLength - seqLen), keyLength) : k.constant("u32", keyLength);
    const tileCount = k.div(k.add(keysUsed, keys - 1), keys);

    streamQ.bringFirst();
    if (stages > 1)
      for (const each of [streamK, streamV]) {
        each.bringFirst();
        each.advance();
      }
    commitTiles(k, target);
    const ownRow = k.mul(k.warpIndex(), 16 * rowTiles);
    const outputs = range(rowTiles).map(() => range(ceilDiv(headDim, 8)).map(() => fourZeros(k)));
    // Of two rows of a lane, 8 apart in a tile of 16.
    const states = range(2 * rowTiles).map(() => emptyRow(k));
    const offset = k.variable("u32", 0);
    k.for("u32", { from: 0, to: tileCount }, (tile) => {
      if (stages > 1) {
        waitTiles(k, target, 0);
        k.barrier();
        bring(k.sub(k.constant("u32", bytes), offset));
      } else {
        k.barrier();
        bring();
        k.barrier();
      }
      const scores = this.scores(sharedQ, k.atBytes(sharedK, offset), ownRow);
      this.mask(scores, k.mul(tile, keys), firstQuery, ownRow);
      const chances = scores.map((row, r) => this.chances(row, outputs[r]!, states.slice(2 * r, 2 * r + 2)));
      this.addValues(k.atBytes(sharedV, offset), chances, outputs);
      if (stages > 1) k.assign(offset, k.sub(k.constant("u32", bytes), offset));
    });
    this.write(queriesOf(pointers[3]!), k.add(firstQuery, ownRow), outputs, states);
  }

  /** Q K^T of this warp's queries and the keys of a tile: one accumulator for 16 x 8 scores. */
  private scores(sharedQ: Pointer<"shared">, tileK: Pointer<"shared">, ownRow: Index): Four[][] {
    const { k } = this;
    const { rowTiles, keys, layoutQ, layoutK } = this.plan;
    const lane = k.and(k.threadIndex(), 31);
    const sums = range(rowTiles).map(() => range(keys / 8).map(() => fourZeros(k)));
    // Lanes 0 to 7 address 8 keys at the first 8 numbers, 8 to 15 the same keys at the next 8, the
    // others the 8 keys that follow.
    const keyRow = k.add(k.and(lane, 7), k.and(k.shr(lane, 1), 8));
    const half = k.and(k.shr(lane, 3), 1);
    for (let step = 0; step < ceilDiv(this.shape.headDim, 16); step++) {
      const left = range(rowTiles).map((r) => k.loadMatrices(matrixAddress(k, sharedQ, layoutQ, k.add(ownRow, 16 * r), 2 * step), 4));
      for (let pair = 0; pair < keys / 16; pair++) {
        const right = k.loadMatrices(pieceAt(k, tileK, layoutK, k.add(keyRow, 16 * pair), k.add(half, 2 * step)), 4);
        for (const [r, a] of left.entries())
          for (const side of [0, 1]) this.addProduct(this.plan.type, a, right.slice(2 * side, 2 * side + 2), sums[r]![2 * pair + side]!);
      }
    }
    return sums;
  }

  /** Leaves out scores of keys that a query does not see, in tiles with such keys. */
  private mask(scores: Four[][], firstKey: Index, firstQuery: Index, ownRow: Index): void {
    const { k } = this;
    const { causal, keyLength, seqLen, scale } = this.shape;
    const { keys } = this.plan;
    // What scale makes -infinity of.
    const never = k.constant("f32", scale < 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY);
    if (!causal && keyLength % keys === 0) return;
    // A causal tile is cut if its last key is one that the block's first query does not see.
    const whole = causal ? k.add(firstQuery, 1 + keyLength - seqLen) : keyLength;
    k.if(k.compare("gt", k.add(firstKey, keys), whole), () => {
      const lane = k.and(k.threadIndex(), 31);
      const key = k.add(firstKey, k.shl(k.and(lane, 3), 1));
      const hide = (hidden: Condition, score: Sum): void => k.assign(score, k.select(hidden, never, score));
      if (!causal) {
        for (const s of range(keys / 8))
          for (const part of [0, 1]) {
            const hidden = k.compare("ge", k.add(key, 8 * s + part), keyLength);
            for (const four of scores.map((row) => row[s]!)) for (const half of [0, 1]) hide(hidden, four[2 * half + part]!);
          }
        return;
      }
      // How far a key is ahead of a query decides, and tiles of 8 x 8 on one diagonal of the scores
      // are equally far.
      const query = k.add(k.add(firstQuery, ownRow), k.shr(lane, 2));
      const ahead = k.reinterpret("s32", k.sub(key, query));
      const rowsOf8 = range(2 * scores.length);
      for (let diagonal = 1 - keys / 8; diagonal < rowsOf8.length; diagonal++)
        for (const part of [0, 1]) {
          const hidden = k.compare("gt", ahead, keyLength - seqLen + 8 * diagonal - part);
          for (const down of rowsOf8) {
            const four = scores[down >> 1]![down - diagonal];
            if (four) hide(hidden, four[2 * (down & 1) + part]!);
          }
        }
    });
  }

  /** Scores of 16 queries to probabilities relative to the largest so far; sums are rescaled. */
  private chances(row: Four[], output: Four[], states: RowState[]): Word[] {
    const { k } = this;
    const factor = this.shape.scale * Math.LOG2E;
    // With a negative scale the least score is the largest once it is scaled.
    const best = (a: Single, b: Single): Single => (factor > 0 ? k.max(a, b) : k.min(a, b));
    for (const [half, { largest, sum }] of states.entries()) {
      const own = row.flatMap((four) => [four[2 * half]!, four[2 * half + 1]!]);
      const top = k.max(largest, k.mul(own.slice(1).reduce<Single>(best, own[0]!), factor));
      const across = [1, 2].reduce((most, apart) => k.max(most, k.shuffle("bfly", most, apart)), top);
      const shrink = k.approximate("ex2", k.sub(largest, across));
      k.assign(largest, across);
      const negative = k.neg(across);
      const total = own.reduce<Single | undefined>((running, score) => {
        k.assign(score, k.approximate("ex2", k.fma(score, factor, negative)));
        return running === undefined ? score : k.add(running, score);
      }, undefined)!;
      k.assign(sum, k.fma(sum, shrink, total));
      for (const four of output) for (const part of [0, 1]) k.assign(four[2 * half + part]!, k.mul(four[2 * half + part]!, shrink));
    }
    // The accumulators of two neighbouring tiles are, as halves, the left factor of the next
    // product.
    return row.flatMap(([a, b, c, d]) => [this.pair(a, b), this.pair(c, d)]);
  }

  private pair(low: Single, high: Single): Word {
    const { k } = this;
    const { type } = this.plan;
    if (targetFacts(this.target).sm >= 80) return k.reinterpret("b32", k.convertPair(`${type}x2`, low, high));
    return k.reinterpret("b32", k.pack("f16x2", k.convert("f16", low), k.convert("f16", high)));
  }

  private addValues(tileV: Pointer<"shared">, chances: Word[][], outputs: Four[][]): void {
    const { k } = this;
    const { keys, layoutK } = this.plan;
    const lane = k.and(k.threadIndex(), 31);
    const [valueRow, half] = [k.and(lane, 15), k.shr(lane, 4)];
    for (let step = 0; step < keys / 16; step++)
      for (let pair = 0; pair < ceilDiv(this.shape.headDim, 16); pair++) {
        const right = k.loadMatrices(pieceAt(k, tileV, layoutK, k.add(valueRow, 16 * step), k.add(half, 2 * pair)), 4, true);
        for (const [r, row] of chances.entries())
          for (const side of [0, 1]) {
            const output = outputs[r]![2 * pair + side];
            if (output) this.addProduct(this.plan.type, row.slice(4 * step, 4 * step + 4), right.slice(2 * side, 2 * side + 2), output);
          }
      }
  }

  private write(o: Pointer<"global", "f16" | "bf16">, row: Index, outputs: Four[][], states: RowState[]): void {
    const { k } = this;
    const { seqLen, headDim } = this.shape;
    const { type } = this.plan;
    const lane = k.and(k.threadIndex(), 31);
    const column = k.shl(k.and(lane, 3), 1);
    for (const [index, { sum }] of states.entries()) {
      const total = [1, 2].reduce<Single>((all, apart) => k.add(all, k.shuffle("bfly", all, apart)), sum);
      const share = k.rcp(total);
      const [r, half] = [index >> 1, index & 1];
      const at = k.add(k.add(row, k.shr(lane, 2)), 16 * r + 8 * half);
      const exists = k.compare("lt", at, seqLen);
      const to = k.at(k.at(o, at, headDim), column);
      for (const [s, four] of outputs[r]!.entries()) {
        const [low, high] = [k.mul(four[2 * half]!, share), k.mul(four[2 * half + 1]!, share)];
        const inside = (part: number): Condition =>
          8 * s + 8 <= headDim ? exists : k.and(exists, k.compare("lt", k.add(column, 8 * s + part), headDim));
        if (headDim % 2 === 0) k.store(to.as("b32").plus(4 * s), this.pair(low, high), { where: inside(0) });
        else
          for (const [part, value] of [low, high].entries())
            k.store(to.plus(8 * s + part), k.convert(type, value), { where: inside(part) });
      }
    }
  }
}
