// C = A W^T with W in four bits. Blocks are unpacked in registers: memory brings no more than their
// bytes. Made for few rows of A. Superblocks on sm_80 and later go to quantized-gemm-tensor.ts.
import { type PtxKernel, targetFacts } from "../builder/index.js";
import type { GemmShape } from "./gemm-naive.js";
import {
  ceilDiv,
  type GeneratedKernel,
  generate,
  type KernelGeneratorOptions,
  range,
  readShape,
  refusal,
  type TileGrid,
  tileGrid,
} from "./generated-kernel.js";
import { loadFour } from "./matrix-tiles.js";
import { type Q4Format, q4Blocks, q4BlocksPerRow } from "./q4k.js";
import { TensorQuantizedProduct, tensorRows, tensorWarps } from "./quantized-gemm-tensor.js";
import { type Shapes, shapeTables } from "./shapes.js";
import type { Bytes, Condition, Index, Single, Singles, Sum, Word } from "./value-types.js";

export const quantizedGemmName = ({ format = "superblock" }: Pick<Shapes["quantizedGemm"], "format">): string =>
  format === "superblock" ? "q4k_gemm_fused" : "q4k_gemm_fused_block32";

const warps = 4;

/**
 * C[i, j] = sum_l A[i, l] W[j, l] in binary32: A is m x k and C m x n by rows, W n rows of blocks
 * of k values as quantizeQ4 gives them. Any sizes. Arguments: a, w, c.
 * @throws ArgumentError, PtxBuildError
 */
export function quantizedGemm(shape: Shapes["quantizedGemm"], options: KernelGeneratorOptions = {}): GeneratedKernel {
  const { m, n, k: depth, format = "superblock" } = readShape("quantizedGemm", "q4k_gemm_fused", shape);
  const name = quantizedGemmName({ format });
  const rowsA = Math.min(m, 4);
  const tensor = format === "superblock" && targetFacts(options.target ?? "sm_75").sm >= 80;
  // With few rows of W, more warps matter more than fewer loads of A.
  const rowsW = shape.rowsPerWarp ?? (tensor ? tensorRows : m > 1 ? 2 : n >= 16384 ? 8 : n >= 8192 ? 4 : n >= 2048 ? 2 : 1);
  if (rowsW === tensorRows && !tensor) throw refusal(name, "rowsPerWarp", rowsW, shapeTables.quantizedGemm.rowsPerWarp.takes);
  if (rowsW === tensorRows) {
    const tiles = tileGrid(name, ceilDiv(m, rowsA), ceilDiv(n, tensorRows));
    return generate({ name, grid: tiles.grid, block: [32 * tensorWarps], minBlocks: rowsA === 1 ? 4 : 2 }, options, (k) =>
      new TensorQuantizedProduct(k, { m, n, k: depth }, rowsA).build(tiles),
    );
  }
  const tiles = tileGrid(name, ceilDiv(m, rowsA), ceilDiv(n, warps * rowsW));
  return generate({ name, grid: tiles.grid, block: [32 * warps] }, options, (k) =>
    new QuantizedProduct(k, { m, n, k: depth, format }, rowsA, rowsW).build(tiles),
  );
}

/** A lane's 16 bytes of nibbles of a row of W, and steps and minima of low and high ones. */
interface Part {
  readonly words: Word[];
  readonly steps: [low: Single, high: Single];
  readonly minima: [low: Single, high: Single];
}

class QuantizedProduct {
  private readonly k: PtxKernel;
  private readonly shape: GemmShape & { readonly format: Q4Format };
  private readonly rowsA: number;
  private readonly rowsW: number;
  private readonly lanes: number;
  private readonly blocks: number;

  constructor(k: PtxKernel, shape: GemmShape & { readonly format: Q4Format }, rowsA: number, rowsW: number) {
    this.k = k;
    this.shape = shape;
    this.rowsA = rowsA;
    this.rowsW = rowsW;
    this.lanes = shape.format === "superblock" ? 8 : 1;
    this.blocks = q4BlocksPerRow(shape.format, shape.k);
  }

  build(tiles: TileGrid): void {
    const { k, rowsA, rowsW, lanes, blocks } = this;
    const { m, n, k: depth, format } = this.shape;
    const { bytes, values } = q4Blocks[format];
    const [a, w, c] = [k.pointer("f32", "a"), k.pointer("b8", "w"), k.pointer("f32", "c")];
    const firstW = k.mul(k.mad(k.special("ctaid", tiles.column), warps, k.warpIndex()), rowsW);
    const firstA = k.mul(k.special("ctaid", tiles.row), rowsA);
    k.if(k.compare("lt", firstW, n), () => {
      const lane = k.and(k.threadIndex(), 31);
      const [own, laneOfBlock] = [k.div(lane, lanes), k.rem(lane, lanes)];
      // Rows past the end are the last row again; their sums are not stored.
      const fromW = range(rowsW).map((r) => k.at(w, k.min(k.add(firstW, r), n - 1), blocks * bytes));
      const fromA = range(rowsA).map((r) => k.at(a, k.min(k.add(firstA, r), m - 1), depth));
      const inBlock = format === "superblock" ? k.mad(k.shr(laneOfBlock, 1), 64, k.mul(k.and(laneOfBlock, 1), 16)) : k.constant("u32", 0);
      const sums = range(rowsA * rowsW).map(() => k.variable("f32", 0));
      k.for("u32", { from: 0, to: blocks, step: 32 / lanes }, (start) => {
        const index = k.add(start, own);
        const exists = blocks % (32 / lanes) === 0 ? undefined : k.compare("lt", index, blocks);
        const parts = fromW.map((row) => this.part(k.at(row, index, bytes), laneOfBlock, exists));
        this.addProducts(parts, fromA, k.mad(index, values, inBlock), sums);
      });
      for (const [at, sum] of sums.entries()) {
        const total = [16, 8, 4, 2, 1].reduce<Single>((all, apart) => k.add(all, k.shuffle("bfly", all, apart)), sum);
        const [row, column] = [k.add(firstA, at % rowsA), k.add(firstW, Math.floor(at / rowsA))];
        const where = k.and(k.compare("eq", lane, 0), k.and(k.compare("lt", row, m), k.compare("lt", column, n)));
        k.store(k.at(k.at(c, row, n), column), total, { where });
      }
    });
  }

  private part(block: Bytes, laneOfBlock: Index, exists: Condition | undefined): Part {
    return this.shape.format === "superblock" ? this.superblockPart(block, laneOfBlock, exists) : this.block32Part(block, exists);
  }

  private block32Part(block: Bytes, exists: Condition | undefined): Part {
    const { k } = this;
    const access = { readOnly: true, ...(exists && { where: exists, otherwise: 0 }) } as const;
    const step = k.convert("f32", k.load(block.as("f16"), access));
    const halves = range(8).map((i) => k.load(block.as("u16").plus(1 + i), access));
    const words = range(4).map((i) => k.reinterpret("b32", k.or(halves[2 * i]!, k.shl(halves[2 * i + 1]!, 16))));
    const minimum = k.mul(step, 8);
    return { words, steps: [step, step], minima: [minimum, minimum] };
  }

  private superblockPart(block: Bytes, laneOfBlock: Index, exists: Condition | undefined): Part {
    const { k } = this;
    const access = { readOnly: true, ...(exists && { where: exists, otherwise: 0 }) } as const;
    const [scales, s, m, both] = k.loadVector(block.as("b32"), 4, access) as [Word, Word, Word, Word];
    const words = k.loadVector(k.at(block, laneOfBlock, 16).as("b32").plus(4), 4, access);
    // The lane has half of a run, groups 2 j and 2 j + 1: neighbouring bytes of the three words.
    const run = k.shr(laneOfBlock, 1);
    const shift = k.shl(k.and(run, 1), 4);
    const pair = (word: Word): Index => k.shr(k.reinterpret("u32", word), shift);
    const [sPair, mPair, bothPair] = [pair(s), pair(m), pair(both)];
    const early = k.compare("lt", run, 2);
    const upper = (low: Index, rest: Index): Index => k.or(k.and(low, 0x0f0f), k.and(k.shr(rest, 2), 0x3030));
    const steps = k.select(early, k.and(sPair, 0x3f3f), upper(bothPair, sPair));
    const minima = k.select(early, k.and(mPair, 0x3f3f), upper(k.shr(bothPair, 4), mPair));
    const [d, dmin] = k.unpack(k.reinterpret("f16x2", scales)).map((half) => k.convert("f32", half)) as [Single, Single];
    const two = (factor: Single, packed: Index): [Single, Single] => [
      k.mul(factor, k.convert("f32", k.and(packed, 63))),
      k.mul(factor, k.convert("f32", k.bitField(packed, 8, 6))),
    ];
    return { words, steps: two(d, steps), minima: two(dmin, minima) };
  }

  /** Adds what the lane's 32 values of each row of W give with those of A that begin at `index`. */
  private addProducts(parts: Part[], fromA: Singles[], index: Index, sums: Sum[]): void {
    const { k, rowsA } = this;
    const { k: depth, format } = this.shape;
    const apart = format === "superblock" ? 32 : 16;
    const inside = depth % q4Blocks[format].values === 0 && this.blocks % (32 / this.lanes) === 0;
    const dots = sums.map(() => [k.variable("f32", 0), k.variable("f32", 0)] as const);
    const totals = fromA.map(() => [k.variable("f32", 0), k.variable("f32", 0)] as const);
    for (let word = 0; word < 4; word++) {
      const inputs = fromA.map((row) => [0, apart].map((more) => loadFour(k, row, k.add(index, 4 * word + more), depth, inside)));
      for (const [r, sides] of inputs.entries())
        for (const [side, four] of sides.entries()) for (const x of four) k.assign(totals[r]![side]!, k.add(totals[r]![side]!, x));
      for (const [row, part] of parts.entries()) {
        const nibbles = this.nibbles(part.words[word]!);
        for (let r = 0; r < rowsA; r++)
          for (const side of [0, 1] as const) {
            const dot = dots[row * rowsA + r]![side];
            for (const [i, q] of nibbles[side].entries()) k.assign(dot, k.fma(q, inputs[r]![side]![i]!, dot));
          }
      }
    }
    for (const [row, { steps, minima }] of parts.entries())
      for (let r = 0; r < rowsA; r++)
        for (const side of [0, 1] as const) {
          const sum = sums[row * rowsA + r]!;
          k.assign(sum, k.fma(steps[side], dots[row * rowsA + r]![side], sum));
          k.assign(sum, k.fma(k.neg(minima[side]), totals[r]![side], sum));
        }
  }

  /** The low and the high nibbles of a word's four bytes as numbers. */
  private nibbles(word: Word): [low: Single[], high: Single[]] {
    const { k } = this;
    const halves = [word, k.reinterpret("b32", k.shr(k.reinterpret("u32", word), 16))];
    // Put into the fraction of 2^23, a nibble at bit b is 2^23 + q 2^b; lop3 table 0xea is (a and
    // b) or c.
    const number = (half: Word, bit: number): Single => {
      const large = k.reinterpret("f32", k.logic(half, 15 << bit, 0x4b000000, 0xea));
      return bit === 0 ? k.sub(large, 2 ** 23) : k.fma(large, 2 ** -bit, -(2 ** (23 - bit)));
    };
    const side = (shift: number): Single[] => halves.flatMap((half) => [number(half, shift), number(half, 8 + shift)]);
    return [side(0), side(4)];
  }
}
