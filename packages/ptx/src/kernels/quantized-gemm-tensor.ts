// C = A W^T with W in superblocks of four bits, on tensor cores: a nibble times its scale is a
// whole number that binary16 holds, and a number of A is the sum of two binary16 numbers, so
// products are exact and sums are those of binary32. For sm_80; the form for others is in
// quantized-gemm.ts.
import type { Pointer, PtxKernel, Value } from "../builder/index.js";
import type { GemmShape } from "./gemm-naive.js";
import { range, type TileGrid } from "./generated-kernel.js";
import { fourZeros, loadFour } from "./matrix-tiles.js";
import { q4Blocks, q4BlocksPerRow } from "./q4k.js";
import type { Bytes, Index, Single, Singles, Sum, Word } from "./value-types.js";

/** Rows of W that a block makes, and the warps that share each row's superblocks. */
export const tensorRows = 16;
export const tensorWarps = 8;

const { bytes: blockBytes, values: blockValues } = q4Blocks.superblock;

/** Bytes between runs of 64 inputs, and between planes: lanes read different banks at once. */
const runBytes = 160;
const planeBytes = 4 * runBytes + 16;
/** Where a plane has the sums of its eight groups. */
const sumsAt = 3 * runBytes + 128;
/** The second part of a number of A is kept times this, to be no subnormal. */
const lowFactor = 2048;

/** A row's part of a superblock for one lane: 32 bytes of a run, and two groups' scales. */
interface Part {
  readonly words: readonly Word[];
  /** The scales of the low and the high nibbles, in both halves. */
  readonly scales: readonly [low: Value<"f16x2">, high: Value<"f16x2">];
  readonly minima: Word;
  readonly d: Single;
  readonly dmin: Single;
}

/**
 * The fragments of mma.m16n8k16 are laid out so that nothing moves between lanes: lane 4 g + t has
 * rows g and g + 8, and of their columns those of run t; the inputs stand in shared memory in the
 * same order. Columns 2 r and 2 r + 1 of the product are those with the two parts of row r of A.
 */
export class TensorQuantizedProduct {
  private readonly k: PtxKernel;
  private readonly shape: GemmShape;
  private readonly rowsA: number;
  private readonly blocks: number;

  constructor(k: PtxKernel, shape: GemmShape, rowsA: number) {
    this.k = k;
    this.shape = shape;
    this.rowsA = rowsA;
    this.blocks = q4BlocksPerRow("superblock", shape.k);
  }

  build(tiles: TileGrid): void {
    const { k, rowsA, blocks } = this;
    const { m, n, k: depth } = this.shape;
    const [a, w, c] = [k.pointer("f32", "a"), k.pointer("b8", "w"), k.pointer("f32", "c")];
    const firstW = k.mul(k.special("ctaid", tiles.column), tensorRows);
    const firstA = k.mul(k.special("ctaid", tiles.row), rowsA);
    const [lane, warp] = [k.and(k.threadIndex(), 31), k.warpIndex()];
    const [g, t] = [k.shr(lane, 2), k.and(lane, 3)];
    const planes = k.at(k.shared("b8", tensorWarps * 2 * rowsA * planeBytes), warp, 2 * rowsA * planeBytes);
    // Rows past the end are the last row again; their sums are not stored.
    const fromA = range(rowsA).map((r) => k.at(a, k.min(k.add(firstA, r), m - 1), depth));
    const fromW = [0, 8].map((down) => k.at(w, k.min(k.add(firstW, k.add(g, down)), n - 1), blocks * blockBytes));
    const plane = k.at(planes, k.min(g, 2 * rowsA - 1), planeBytes);
    const sums = [k.variable("f32", 0), k.variable("f32", 0)];
    k.for("u32", { from: warp, to: blocks, step: tensorWarps }, (block) => {
      const raw = fromW.map((row) => this.fetch(k.at(row, block, blockBytes), t));
      const scales = fromA.map((row, r) => this.stage(row, k.mul(block, blockValues), lane, planes.plusBytes(2 * r * planeBytes)));
      k.warpSync();
      const scale = scales.reduce((before, each, r) => k.select(k.compare("ge", t, r), each, before));
      const parts = raw.map((words) => this.part(words, t));
      this.multiply(parts, plane, t, scale, sums);
      k.warpSync();
    });
    this.finish(c, firstW, firstA, warp, g, t, sums);
  }

  /** The header of a superblock, and the 32 bytes of run t. */
  private fetch(block: Bytes, t: Index): Word[] {
    const { k } = this;
    const run = k.at(block, t, 32).as("b32");
    return [block.as("b32"), run.plus(4), run.plus(8)].flatMap((from) => k.loadVector(from, 4, { readOnly: true }));
  }

  /**
   * Puts 256 numbers of a row of A into two planes as x = (h + l / 2048) 2^e, e of the largest, and
   * the sums of each 32 of them likewise. Each four stand in the order 0, 2, 1, 3, in which nibbles
   * come. Gives 2^e.
   */
  private stage(row: Singles, first: Index, lane: Index, planes: Pointer<"shared", "b8">): Single {
    const { k } = this;
    const { k: depth } = this.shape;
    const index = k.add(first, k.shl(lane, 3));
    const values = [0, 4].flatMap((more) => loadFour(k, row, k.add(index, more), depth, depth % blockValues === 0));
    const magnitude = (x: Single): Index => k.and(k.reinterpret("u32", x), 0x7fffffff);
    const own = values.map(magnitude).reduce((most, each) => k.max(most, each));
    const largest = k.reduceLanes("max", own);
    const exponent = k.min(k.max(k.shr(largest, 23), 2), 252);
    const factor = k.reinterpret("f32", k.shl(k.sub(k.constant("u32", 254), exponent), 23));
    const scaled = values.map((x) => k.mul(x, factor));
    const parts = [0, 4].flatMap((four) => [
      this.split(scaled[four]!, scaled[four + 2]!),
      this.split(scaled[four + 1]!, scaled[four + 3]!),
    ]);
    const to = k.at(k.at(planes, k.shr(lane, 3), runBytes), k.and(lane, 7), 16).as("b32");
    const store = (which: 0 | 1, values: readonly Word[]): void => k.store(to.plusBytes(which * planeBytes), values);
    for (const which of [0, 1] as const)
      store(
        which,
        parts.map((part) => part[which]),
      );
    const total = scaled.reduce((sum, x) => k.add(sum, x));
    const group = [1, 2].reduce((sum, apart) => k.add(sum, k.shuffle("bfly", sum, apart)), total);
    const [high, low] = this.split(group, k.constant("f32", 0));
    const sumsTo = k.at(planes.plusBytes(sumsAt).as("u16"), k.shr(lane, 2));
    const where = k.compare("eq", k.and(lane, 3), 0);
    k.store(sumsTo, k.reinterpret("u32", high), { where });
    k.store(sumsTo.plusBytes(planeBytes), k.reinterpret("u32", low), { where });
    return k.reinterpret("f32", k.shl(exponent, 23));
  }

  /** Two numbers as pairs of halves: their first 11 bits, and 2048 times what is left. */
  private split(x: Single, y: Single): [high: Word, low: Word] {
    const { k } = this;
    const high = k.convertPair("f16x2", x, y);
    const [highX, highY] = k.unpack(high).map((half) => k.convert("f32", half)) as [Single, Single];
    const rest = (value: Single, part: Single): Single => k.mul(k.sub(value, part), lowFactor);
    const low = k.convertPair("f16x2", rest(x, highX), rest(y, highY));
    return [k.reinterpret("b32", high), k.reinterpret("b32", low)];
  }

  private part(fetched: readonly Word[], t: Index): Part {
    const { k } = this;
    const [factors, s, m, both, ...words] = fetched as [Word, Word, Word, Word, ...Word[]];
    // Run t is groups 2 t and 2 t + 1: two neighbouring bytes of each of the three words of scales.
    const shift = k.shl(k.and(t, 1), 4);
    const early = k.compare("lt", t, 2);
    const [sPair, mPair, bothPair] = [s, m, both].map((word) => k.shr(k.reinterpret("u32", word), shift)) as [Index, Index, Index];
    const upper = (low: Index, rest: Index): Index => k.or(k.and(low, 0x0f0f), k.and(k.shr(rest, 2), 0x3030));
    const steps = k.select(early, k.and(sPair, 0x3f3f), upper(bothPair, sPair));
    const minima = k.select(early, k.and(mPair, 0x3f3f), upper(k.shr(bothPair, 4), mPair));
    // A byte beside 0x64 is binary16 for 1024 and the byte.
    const halves = (bytes: Index, choice: number): Value<"f16x2"> => {
      const large = k.bytePermute(k.reinterpret("b32", bytes), 0x64646464, choice);
      return k.sub(k.reinterpret("f16x2", large), k.constant("f16x2", 1024));
    };
    const [d, dmin] = k.unpack(k.reinterpret("f16x2", factors)).map((half) => k.convert("f32", half)) as [Single, Single];
    return {
      words,
      scales: [halves(steps, 0x4040), k.mul(halves(steps, 0x4141), k.constant("f16x2", 1 / 16))],
      minima: k.reinterpret("b32", halves(minima, 0x4140)),
      d,
      dmin,
    };
  }

  /** The nibbles at bits 0 and 16 (4 and 20 with `side` 1) times their scale, at most 945. */
  private weights(word: Word, side: 0 | 1, { scales }: Part, offsets: readonly Value<"f16x2">[]): Word {
    const { k } = this;
    // lop3 table 0xea is (a and b) or c.
    const large = k.reinterpret("f16x2", k.logic(word, side === 0 ? 0x000f000f : 0x00f000f0, 0x64006400, 0xea));
    return k.reinterpret("b32", k.fma(large, scales[side], offsets[side]!));
  }

  /** Adds the products of 16 rows with a superblock's 256 inputs. */
  private multiply(parts: readonly Part[], plane: Pointer<"shared", "b8">, t: Index, scale: Single, sums: Sum[]): void {
    const { k } = this;
    const [dots, subtracted] = [[fourZeros(k), fourZeros(k)] as const, fourZeros(k)];
    const offsets = parts.map(({ scales }) => scales.map((each) => k.mul(each, k.constant("f16x2", -1024))));
    const run = k.at(plane, t, runBytes).as("b32");
    for (const side of [0, 1] as const)
      for (let pair = 0; pair < 4; pair++) {
        const inputs = k.loadVector(run.plusBytes(64 * side + 16 * pair), 4);
        for (const word of [0, 1]) {
          const of = parts.map(({ words }) => words[2 * pair + word]!);
          const later = of.map((each) => k.reinterpret("b32", k.shr(k.reinterpret("u32", each), 8)));
          const left = [...of, ...later].map((each, at) => this.weights(each, side, parts[at & 1]!, offsets[at & 1]!));
          k.mma("f16", 16, left, inputs.slice(2 * word, 2 * word + 2), dots[side], dots[side]);
        }
      }
    const groups = k.load(k.at(plane.plusBytes(sumsAt).as("b32"), t));
    const minima = parts.map((part) => part.minima);
    k.mma("f16", 8, minima, [groups], subtracted, subtracted);
    for (const [row, { d, dmin }] of parts.entries()) {
      const whole = (high: Single, low: Single): Single => k.fma(low, 1 / lowFactor, high);
      const [high, low] = [0, 1].map((part) => k.add(dots[0][2 * row + part]!, dots[1][2 * row + part]!)) as [Single, Single];
      const minimum = k.mul(dmin, whole(subtracted[2 * row]!, subtracted[2 * row + 1]!));
      k.assign(sums[row]!, k.fma(scale, k.sub(k.mul(d, whole(high, low)), minimum), sums[row]!));
    }
  }

  private finish(c: Singles, firstW: Index, firstA: Index, warp: Index, g: Index, t: Index, sums: readonly Sum[]): void {
    const { k, rowsA } = this;
    const { m, n } = this.shape;
    const partial = k.shared("f32", tensorWarps * rowsA * tensorRows);
    const target = k.at(partial, k.add(k.mul(k.add(k.mul(warp, rowsA), t), tensorRows), g));
    const where = k.compare("lt", t, rowsA);
    for (const [row, sum] of sums.entries()) k.store(target.plus(8 * row), sum, { where });
    k.barrier();
    const thread = k.threadIndex();
    k.if(k.compare("lt", thread, rowsA * tensorRows), () => {
      const own = k.at(partial, thread);
      const total = range(tensorWarps)
        .map((each) => k.load(own.plus(each * rowsA * tensorRows)))
        .reduce((sum, each) => k.add(sum, each));
      const [row, column] = [k.add(firstA, k.div(thread, tensorRows)), k.add(firstW, k.rem(thread, tensorRows))];
      const exists = k.and(k.compare("lt", row, m), k.compare("lt", column, n));
      k.store(k.at(k.at(c, row, n), column), total, { where: exists });
    });
  }
}
