// Single products of a warp group with factors in every layout of shared memory, as kernels and the
// images that they copy there. The layouts are written down from the PTX ISA (9.0, section
// 9.7.16.5.1); factors are small whole numbers: every sum is exact.
import { type MatrixType, PtxModule, type Value } from "../../packages/ptx/src/builder/index.js";
import { words } from "./device.js";
import { toHalves } from "./kernels/halves.js";

export interface ProductCase {
  readonly type: MatrixType;
  readonly columns: number;
  readonly swizzle: 0 | 32 | 64 | 128;
  readonly transposeA?: boolean;
  readonly transposeB?: boolean;
  /** The left factor is in registers. */
  readonly held?: boolean;
}

export const productCases: readonly ProductCase[] = [
  ...([0, 32, 64, 128] as const).flatMap((swizzle): ProductCase[] => [
    { type: "bf16", columns: 72, swizzle },
    { type: "f16", columns: 256, swizzle, transposeB: true },
    { type: "bf16", columns: 128, swizzle, transposeA: true, transposeB: true },
    { type: "tf32", columns: 40, swizzle },
  ]),
  { type: "f16", columns: 8, swizzle: 0, held: true },
  { type: "bf16", columns: 64, swizzle: 128, held: true, transposeB: true },
  { type: "tf32", columns: 16, swizzle: 32, held: true },
];

export const depthOf = ({ type }: ProductCase): number => (type === "tf32" ? 8 : 16);
const sizeOf = ({ type }: ProductCase): number => (type === "tf32" ? 4 : 2);

interface Layout {
  readonly leading: number;
  readonly stride: number;
  readonly bytes: number;
  /** Byte of row (of A) or column (of B) i at depth k. */
  at(i: number, k: number): number;
}

function layoutOf(given: ProductCase, count: number, transposed: boolean): Layout {
  const { swizzle } = given;
  const size = sizeOf(given);
  const exchange = (byte: number): number => byte ^ (((byte >> 7) & (swizzle / 16 - 1)) << 4);
  // Core matrices of 8 rows of 16 bytes, the two along the depth side by side.
  if (swizzle === 0)
    return {
      leading: 128,
      stride: 256,
      bytes: 32 * count,
      at: (i, k) => {
        const [row, column] = transposed ? [k, i] : [i, k];
        const [group, piece] = transposed ? [i >> 3, k >> 3] : [i >> 3, (k * size) >> 4];
        return 256 * group + 128 * piece + 16 * (row % 8) + ((column * size) % 16);
      },
    };
  if (!transposed)
    return { leading: 16, stride: 8 * swizzle, bytes: swizzle * 8 * Math.ceil(count / 8), at: (i, k) => exchange(swizzle * i + size * k) };
  const wide = swizzle / size;
  return {
    leading: 16 * swizzle,
    stride: 8 * swizzle,
    bytes: 16 * swizzle * Math.ceil(count / wide),
    at: (i, k) => exchange(16 * swizzle * Math.floor(i / wide) + 8 * swizzle * (k >> 3) + swizzle * (k % 8) + size * (i % wide)),
  };
}

/** A kernel of one block: out[thread][r] = sum r of 2 A B, from the images a and b. */
export function productKernel(given: ProductCase): string {
  const { type, columns, swizzle, transposeA = false, transposeB = false, held = false } = given;
  const [left, right] = [layoutOf(given, 64, transposeA), layoutOf(given, columns, transposeB)];
  const module = new PtxModule({ target: "sm_90a" });
  module.kernel("product", { block: [128] }, (k) => {
    const [a, b, out] = [k.pointer("b32", "a"), k.pointer("b32", "b"), k.pointer("f32", "out")];
    const sharedA = k.dynamicShared("b32", left.bytes / 4, 1024);
    const sharedB = k.dynamicShared("b32", right.bytes / 4, 1024);
    const barrier = k.shared("b64", 1);
    const leader = k.compare("eq", k.threadIndex(), 0);
    k.if(leader, () => k.initBarrierObject(barrier, 1));
    k.barrier();
    k.if(leader, () => {
      k.expectBytes(barrier, (held ? 0 : left.bytes) + right.bytes);
      if (!held) k.copyBulk(sharedA, a, left.bytes, barrier);
      k.copyBulk(sharedB, b, right.bytes, barrier);
    });
    const thread = k.threadIndex();
    const registers: Value<"b32">[] = [];
    if (held) {
      const [lane, warp] = [k.and(thread, 31), k.shr(thread, 5)];
      for (let r = 0; r < 4; r++) {
        const row = k.add(k.mad(warp, 16, k.shr(lane, 2)), 8 * (r & 1));
        registers.push(k.load(k.at(k.at(a, row, 8), k.add(k.and(lane, 3), 4 * (r >> 1)))));
      }
    }
    k.trap(k.not(k.waitAt(barrier, 0, 2 ** 30)));
    const sums = Array.from({ length: columns / 2 }, () => k.variable("f32", Number.NaN));
    const [yes, no] = [k.compare("eq", k.mul(thread, 0), 0), k.compare("ne", k.mul(thread, 0), 0)];
    const [layoutA, layoutB] = [
      { swizzle, ...left },
      { swizzle, ...right },
    ];
    const factorA = held ? registers : k.matrixDescriptor(sharedA, layoutA);
    const factorB = k.matrixDescriptor(sharedB, layoutB);
    k.fenceProducts();
    for (const accumulate of [no, yes]) k.multiplyAsync({ type, columns, accumulate, transposeA, transposeB }, factorA, factorB, sums);
    k.commitProducts();
    k.waitProducts(0);
    const to = k.at(out, thread, columns / 2);
    for (const [r, sum] of sums.entries()) k.store(to.plus(r), sum);
  });
  return module.emit();
}

export interface ProductData {
  readonly a: Uint8Array;
  readonly b: Uint8Array;
  /** What out holds then. */
  readonly expected: Float32Array;
  readonly dynamicSharedBytes: number;
}

/**
 * Random factors, their images, and the doubled product in the order of the sums. Bytes between the
 * factors' are those of a NaN.
 */
export function productData(given: ProductCase, seed: number): ProductData {
  const { type, columns, transposeA = false, transposeB = false, held = false } = given;
  const depth = depthOf(given);
  const random = words(seed);
  const whole = (count: number) => Float32Array.from({ length: count }, () => random() % 5);
  const [a, b] = [whole(64 * depth), whole(columns * depth)];
  const image = (values: Float32Array, count: number, layout: Layout): Uint8Array => {
    const bytes = new Uint8Array(layout.bytes).fill(0xff);
    const bits = new Uint8Array(type === "tf32" ? values.buffer : toHalves(values, type).buffer);
    const size = sizeOf(given);
    for (let i = 0; i < count; i++)
      for (let k = 0; k < depth; k++) {
        const from = size * (i * depth + k);
        bytes.set(bits.subarray(from, from + size), layout.at(i, k));
      }
    return bytes;
  };
  const [left, right] = [layoutOf(given, 64, transposeA), layoutOf(given, columns, transposeB)];
  const plain: Layout = { leading: 0, stride: 0, bytes: 64 * 32, at: (i, k) => 32 * i + sizeOf(given) * k };
  const expected = Float32Array.from({ length: 64 * columns }, (_, index) => {
    const [thread, r] = [Math.floor(index / (columns / 2)), index % (columns / 2)];
    const [warp, lane] = [thread >> 5, thread & 31];
    const row = 16 * warp + (lane >> 2) + 8 * ((r >> 1) % 2);
    const column = 8 * (r >> 2) + 2 * (lane % 4) + (r % 2);
    let sum = 0;
    for (let k = 0; k < depth; k++) sum += a[row * depth + k]! * b[column * depth + k]!;
    return 2 * sum;
  });
  const aligned = Math.ceil(left.bytes / 1024) * 1024;
  return {
    a: image(a, 64, held ? plain : left),
    b: image(b, columns, right),
    expected,
    dynamicSharedBytes: aligned + right.bytes,
  };
}
