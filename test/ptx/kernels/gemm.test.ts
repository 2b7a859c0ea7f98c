// Matrix products made by the builder, run in the interpreter against double precision at sizes
// that no tile divides.
import { describe, expect, it } from "vitest";
import { SimulationError } from "../../../packages/ptx/src/interpreter/index.js";
import { gemmNaive } from "../../../packages/ptx/src/kernels/gemm-naive.js";
import { gemmTensorCore, type TensorCoreType } from "../../../packages/ptx/src/kernels/gemm-tensor-core.js";
import { gemmTiled } from "../../../packages/ptx/src/kernels/gemm-tiled.js";
import { dequantizeQ4, quantizeQ4 } from "../../../packages/ptx/src/kernels/q4k.js";
import { quantizedGemm } from "../../../packages/ptx/src/kernels/quantized-gemm.js";
import { casesOf } from "../../exhaustive.js";
import { input, output } from "../device.js";
import { fromHalves, toHalves } from "./halves.js";
import { product, runKernel, uniform, worst } from "./run.js";

const sizes = [
  [1, 1, 1],
  [3, 5, 7],
  [33, 31, 29],
  [17, 64, 40],
  [70, 36, 52],
] as const;

function errorOf(kernel: ReturnType<typeof gemmNaive>, m: number, n: number, k: number): number {
  const [a, b, c] = [uniform(m * k, 1), uniform(k * n, 2), new Float32Array(m * n)];
  runKernel(kernel, [input(a), input(b), output(c)]);
  const { value, size } = product(a, b, m, n, k);
  return worst(c, value, size);
}

describe("gemmNaive", () => {
  it.each(sizes)("%i x %i x %i is the product to 1e-6 of |A||B|", (m, n, k) => {
    expect(errorOf(gemmNaive({ m, n, k }), m, n, k)).toBeLessThan(1e-6);
  });
});

describe("gemmTiled", () => {
  it.each(casesOf([16, 32, 64, 128] as const, (tile) => tile < 64))("in tiles of %i is the product to 1e-6 of |A||B|", (tileSize) => {
    for (const [m, n, k] of sizes) expect(errorOf(gemmTiled({ m, n, k, tileSize }), m, n, k), `${m} x ${n} x ${k}`).toBeLessThan(1e-6);
  });

  it("over several tiles in every direction", () => {
    expect(errorOf(gemmTiled({ m: 66, n: 135, k: 37, tileSize: 64 }), 66, 135, 37)).toBeLessThan(1e-6);
    expect(errorOf(gemmTiled({ m: 130, n: 132, k: 19, tileSize: 128 }), 130, 132, 19)).toBeLessThan(1e-6);
  });

  it("refuses sizes and tiles that it does not have", () => {
    expect(() => gemmTiled({ m: 0, n: 1, k: 1 })).toThrow("kernel gemm_tiled: m is 0; it takes a whole number from 1 to 1073741824");
    expect(() => gemmTiled({ m: 1, n: 1, k: 1, tileSize: 48 as 64 })).toThrow("tileSize is 48; it takes 16, 32, 64 or 128");
  });
});

describe("more rows of tiles than a grid's 65535 blocks along y", () => {
  const [n, k] = [5, 8];
  it.each([
    ["gemmNaive", 16, (m: number) => gemmNaive({ m, n, k })],
    ["gemmTiled", 32, (m: number) => gemmTiled({ m, n, k, tileSize: 32 })],
    ["gemmTensorCore", 64, (m: number) => gemmTensorCore({ m, n, k, tile: [64, 64] }, { target: "sm_80" })],
    ["gemmTensorCore by warp groups", 64, (m: number) => gemmTensorCore({ m, n, k, tile: [64, 64] }, { target: "sm_90a" })],
    ["quantizedGemm", 4, (m: number) => quantizedGemm({ m, n, k })],
    ["quantizedGemm on tensor cores", 4, (m: number) => quantizedGemm({ m, n, k }, { target: "sm_80" })],
  ] as const)("%s has along x: its first two blocks there make the first two tiles", (name, tile, make) => {
    const blocks = 65536;
    const kernel = make(tile * blocks);
    expect(kernel.grid[0]).toBe(blocks);
    const rows = 2 * tile;
    const [a, b, c] = [uniform(rows * k, 1), uniform(k * n, 2), new Float32Array(rows * n)];
    const turned = Float32Array.from({ length: n * k }, (_, at) => b[(at % k) * n + Math.floor(at / k)]!);
    const [weights, halves] = [quantizeQ4(turned, n, k), name.startsWith("gemmTensorCore")];
    const quantized = name.startsWith("quantized");
    const given = halves ? [toHalves(a, "f16"), toHalves(b, "f16")] : [a, quantized ? weights.data : b];
    runKernel({ ...kernel, grid: [2, 1, 1] }, [input(given[0]!), input(given[1]!), output(c)]);
    const back = dequantizeQ4(weights);
    const right = quantized ? b.map((_, at) => back[(at % n) * k + Math.floor(at / n)]!) : b;
    const { value, size } = halves
      ? product(fromHalves(given[0] as Uint16Array, "f16"), fromHalves(given[1] as Uint16Array, "f16"), rows, n, k)
      : product(a, right, rows, n, k);
    expect(worst(c, value, size)).toBeLessThan(3e-6);
  });

  it("and of columns too are refused", () => {
    const m = 16 * 65536;
    expect(() => gemmNaive({ m, n: m, k: 1 })).toThrow(
      "65536 x 65536 tiles of the result; it takes at most 65535 in one of the two directions",
    );
  });
});

describe("gemmTensorCore", () => {
  /**
   * Error against the product of the factors as given: what remains is the rounding of tf32 and of
   * sums.
   */
  function tensorError(
    type: TensorCoreType,
    target: "sm_75" | "sm_80" | "sm_90a",
    m: number,
    n: number,
    k: number,
    tile: readonly [64 | 128, 64 | 128 | 256],
  ) {
    const [a, b, c] = [uniform(m * k, 1), uniform(k * n, 2), new Float32Array(m * n)];
    const kernel = gemmTensorCore({ m, n, k, type, tile }, { target });
    expect(kernel.name).toBe(`gemm_tensor_core_${type}`);
    const given = type === "tf32" ? [a, b] : [toHalves(a, type), toHalves(b, type)];
    runKernel(kernel, [input(given[0]!), input(given[1]!), output(c)]);
    const exact = type === "tf32" ? [a, b] : given.map((bits) => fromHalves(bits as Uint16Array, type));
    const { value, size } = product(exact[0]!, exact[1]!, m, n, k);
    return worst(c, value, size);
  }

  it.each([
    ["f16", "sm_75"],
    ["f16", "sm_80"],
    ["bf16", "sm_80"],
  ] as const)("of %s for %s, with rows of whole 16 bytes and others, is the product of the halves to 1e-6", (type, target) => {
    for (const [m, n, k] of [
      [1, 1, 1],
      [17, 24, 40],
      [70, 66, 37],
      [65, 72, 136],
    ] as const)
      expect(tensorError(type, target, m, n, k, [64, 64]), `${m} x ${n} x ${k}`).toBeLessThan(1e-6);
  });

  it("of tf32 is the product to the 11 significant bits that each factor keeps", () => {
    for (const [m, n, k] of [
      [1, 1, 1],
      [17, 24, 20],
      [70, 66, 37],
    ] as const)
      expect(tensorError("tf32", "sm_80", m, n, k, [64, 64]), `${m} x ${n} x ${k}`).toBeLessThan(2 * 2 ** -11);
  });

  it.each(
    casesOf(
      [
        [64, 128],
        [128, 128],
        [128, 256],
      ] as const,
      ([rows]) => rows === 64,
    ),
  )("in tiles of %i x %i", (rows, columns) => {
    expect(tensorError("bf16", "sm_80", 131, 264, 72, [rows, columns])).toBeLessThan(1e-6);
    expect(tensorError("tf32", "sm_80", 50, 264, 36, [rows, columns])).toBeLessThan(2 * 2 ** -11);
  });

  it.each(["f16", "bf16"] as const)("of %s for sm_90a by warp groups, more tiles of depth than stages or fewer, any rows", (type) => {
    const shapes = [
      [1, 1, 1, 64, 64],
      [17, 24, 40, 64, 128],
      [70, 66, 37, 64, 64],
      [65, 72, 330, 64, 64],
      [131, 136, 200, 128, 128],
      [130, 264, 72, 128, 256],
    ] as const;
    for (const [m, n, k, ...tile] of casesOf(shapes, ([rows]) => rows < (type === "f16" ? 60 : 70)))
      expect(tensorError(type, "sm_90a", m, n, k, tile), `${m} x ${n} x ${k}`).toBeLessThan(1e-6);
  });

  it("is by warp groups for sm_90a alone, and not of tf32", () => {
    const uses = (type: TensorCoreType, target: "sm_90" | "sm_90a" | "sm_100") =>
      gemmTensorCore({ m: 64, n: 64, k: 64, type }, { target }).ptx.includes("wgmma.mma_async");
    expect((["sm_90", "sm_90a", "sm_100"] as const).map((target) => uses("bf16", target))).toEqual([false, true, false]);
    expect(uses("tf32", "sm_90a")).toBe(false);
  });

  it.each([
    ["the fence after the copies of a tile", /fence\.proxy\.async\.shared::cta;/],
    ["the wait for the copies of a tile", /cp\.async\.wait_group 2;/],
    ["the wait for the products of the tile before", /wgmma\.wait_group\.sync\.aligned 1;/],
    ["the wait for a free stage", /mbarrier\.try_wait[^;]*;(?=\n.*\n.*\n[\s\S]*cp\.async\.cg)/],
  ])("by warp groups is told of when %s is missing", (_, line) => {
    const [m, n, k] = [64, 64, 400];
    const kernel = gemmTensorCore({ m, n, k, type: "bf16" }, { target: "sm_90a" });
    expect(kernel.ptx).toMatch(line);
    const [a, b] = [toHalves(uniform(m * k, 1), "bf16"), toHalves(uniform(k * n, 2), "bf16")];
    const without = () => runKernel(kernel, [input(a), input(b), output(new Float32Array(m * n))], kernel.ptx.replace(line, ""));
    expect(without).toThrow(SimulationError);
  });

  it("refuses bf16 and tf32 where there is none", () => {
    expect(() => gemmTensorCore({ m: 16, n: 16, k: 16, type: "bf16" })).toThrow("takes sm_80 or later; the target is sm_75");
    expect(() => gemmTensorCore({ m: 16, n: 16, k: 16, type: "f64" as "f16" })).toThrow('type is "f64"; it takes "f16", "bf16" or "tf32"');
    expect(() => gemmTensorCore({ m: 16, n: 16, k: 16, tile: [64, 256] })).toThrow(
      'tile is "64 x 256"; it takes 128 x 256, 128 x 128, 64 x 128, 64 x 64',
    );
  });
});
