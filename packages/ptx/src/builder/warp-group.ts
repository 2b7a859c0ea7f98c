// Matrix products of a warp group, 128 threads of four warps, on sm_90a: both factors may lie in
// shared memory, and the products go on while the threads do. Layouts and order: PTX ISA 9.0,
// section 9.7.16 (wgmma).
import { type Item, levels } from "./instruction.js";
import { Matrix, type MatrixType } from "./matrix.js";
import type { Pointer, Value, Variable } from "./values.js";

const accelerated = { together: "group", needs: { sm: 90, version: [8, 0], only: "sm_90a" } } as const;

/** How a factor lies in shared memory. */
export interface MatrixLayout {
  /** Bytes of a row within which pieces of 16 are exchanged by its number, or 0. */
  readonly swizzle: 0 | 32 | 64 | 128;
  /** Bytes between repetitions of the layout along elements that lie side by side. */
  readonly leading: number;
  /** Bytes from eight rows of the layout to the next eight. */
  readonly stride: number;
}

/** The choices of `multiplyAsync`. */
export interface AsyncProduct {
  /** Type of the factors; tf32 is given as f32 and uses its upper 19 bits. */
  readonly type: MatrixType;
  /** Columns of the result: a multiple of 8 up to 256. */
  readonly columns: number;
  /** Whether the product is added to what the sums hold, or replaces it. */
  readonly accumulate: Value<"pred">;
  /** Rows of a, not its depth, lie side by side in shared memory; only halves. Default false. */
  readonly transposeA?: boolean;
  /** Columns of b, not its depth, lie side by side in shared memory; only halves. Default false. */
  readonly transposeB?: boolean;
}

const swizzleCodes = { 0: 0, 128: 1, 64: 2, 32: 3 } as const;

export class WarpGroup extends Matrix {
  /** Number of the warp group in its block, of a multiple of 128 threads along x alone. */
  warpGroupIndex(): Value<"u32"> {
    return this.emitValue("shr.u32", "u32", [this.threadIndex(), "7"], { level: levels.group });
  }

  /** The descriptor of a factor in shared memory. Adding n to it is to go 16 n bytes further. */
  matrixDescriptor(pointer: Pointer<"shared">, { swizzle, leading, stride }: MatrixLayout): Value<"u64"> {
    for (const [name, bytes] of Object.entries({ leading, stride }))
      if (!Number.isInteger(bytes) || bytes % 16 !== 0 || bytes < 0 || bytes >= 2 ** 18)
        throw this.fail(`${name} of a descriptor is ${bytes}; it takes a multiple of 16 below ${2 ** 18}`);
    if (!Object.hasOwn(swizzleCodes, swizzle)) throw this.fail(`swizzle of a descriptor is ${swizzle}; it takes 0, 32, 64 or 128`);
    const start = this.and(this.shr(this.add(pointer.base, pointer.bytes), 4), 0x3fff);
    const low = this.or(start, leading * 2 ** 12);
    return this.join("u64", low, this.constant("u32", swizzleCodes[swizzle] * 2 ** 30 + stride / 16));
  }

  /** Orders register use and products: needed before the first, and after sums are touched. */
  fenceProducts(): void {
    this.emit("wgmma.fence.sync.aligned", undefined, [], accelerated);
  }

  /** Makes writes of shared memory known to products and bulk copies; barriers pass it on. */
  fenceShared(): void {
    this.emit("fence.proxy.async.shared::cta", undefined, [], { needs: { sm: 90, version: [8, 0] } });
  }

  /**
   * Starts sums = a b or sums + a b: 64 x depth times depth x columns, the depth 32 bytes, summed
   * in binary32. Factors are descriptors; a may be registers as mma's. Sum 4 j + 2 h + e of lane l
   * of warp w is row 16 w + 8 h + l / 4, column 8 j + 2 (l mod 4) + e. Until `waitProducts` nobody
   * may touch the sums, the registers of a, or what the descriptors name.
   */
  multiplyAsync(
    { type, columns, accumulate, transposeA = false, transposeB = false }: AsyncProduct,
    a: Value<"u64"> | readonly Value<"b32">[],
    b: Value<"u64">,
    sums: readonly Variable<"f32">[],
  ): void {
    if (!["f16", "bf16", "tf32"].includes(type)) throw this.fail(`multiplyAsync of ${type}; it takes f16, bf16 or tf32`);
    if (!Number.isInteger(columns) || columns % 8 !== 0 || columns < 8 || columns > 256)
      throw this.fail(`multiplyAsync for ${columns} columns; it takes a multiple of 8 up to 256`);
    if (sums.length !== columns / 2) throw this.fail(`multiplyAsync got ${sums.length} sums; ${columns} columns take ${columns / 2}`);
    const registers = Array.isArray(a);
    if (registers && a.length !== 4) throw this.fail(`multiplyAsync got ${a.length} registers of a; it takes 4 or a descriptor`);
    if ((type === "tf32" && (transposeA || transposeB)) || (registers && transposeA))
      throw this.fail("multiplyAsync transposes halves in shared memory alone");
    const transposes = type === "tf32" ? [] : [...(registers ? [] : [transposeA]), transposeB];
    const operands: Item[] = [
      registers ? { vector: [...(a as readonly Value<"b32">[])] } : (a as Value<"u64">),
      b,
      accumulate,
      "1",
      "1",
      ...transposes.map((each) => (each ? "1" : "0")),
    ];
    const opcode = `wgmma.mma_async.sync.aligned.m64n${columns}k${type === "tf32" ? 8 : 16}.f32.${type}.${type}`;
    this.emit(opcode, { vector: [...sums] }, operands, { ...accelerated, accumulates: true });
  }

  /** Closes a group of started products. */
  commitProducts(): void {
    this.emit("wgmma.commit_group.sync.aligned", undefined, [], accelerated);
  }

  /** Waits until at most so many of the warp group's groups of products are unfinished. */
  waitProducts(groups: number): void {
    if (!Number.isInteger(groups) || groups < 0 || groups > 7) throw this.fail(`waitProducts for ${groups} groups; it takes 0 to 7`);
    this.emit("wgmma.wait_group.sync.aligned", undefined, [String(groups)], accelerated);
  }

  /** Gives registers to the other warp groups, or takes them: each thread then has so many. */
  setMaxRegisters(how: "inc" | "dec", count: number): void {
    if (!Number.isInteger(count) || count % 8 !== 0 || count < 24 || count > 256)
      throw this.fail(`setMaxRegisters got ${count}; it takes a multiple of 8 from 24 to 256`);
    this.emit(`setmaxnreg.${how}.sync.aligned.u32`, undefined, [String(count)], accelerated);
  }
}
