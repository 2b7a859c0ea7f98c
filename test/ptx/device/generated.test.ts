// Generated kernels on the device of the tests, the simulated one or a GPU: products of warp groups
// in every layout of shared memory, matrix products of halves, and attention in f32.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Context, Dtype, HostArray, Parameter } from "../../../packages/gpu/src/index.js";
import type { Target } from "../../../packages/ptx/src/builder/index.js";
import { attention } from "../../../packages/ptx/src/kernels/attention.js";
import { gemmTensorCore } from "../../../packages/ptx/src/kernels/gemm-tensor-core.js";
import { casesOf } from "../../exhaustive.js";
import { onHardware, openTestDevice } from "../../gpu/device/device.js";
import { attentionOf } from "../kernels/attention-reference.js";
import { fromHalves, toHalves } from "../kernels/halves.js";
import { product, uniform, worst } from "../kernels/run.js";
import { productCases, productData, productKernel } from "../warp-group-products.js";

interface Launchable {
  readonly name: string;
  readonly ptx: string;
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  readonly dynamicSharedBytes: number;
}

let context: Context;
beforeAll(() => {
  context = openTestDevice();
});
afterAll(() => context?.dispose());

/** Launches a kernel on inputs of one type; the result, in f32, is poisoned first. */
function launch(kernel: Launchable, type: Dtype, inputs: readonly HostArray[], length: number): Float32Array {
  const { name, ptx, grid, block, dynamicSharedBytes } = kernel;
  using module = context.load(ptx);
  using stream = context.stream();
  const signature: Parameter[] = [...inputs.map((): Parameter => `${type}*`), "f32*"];
  const handle = module.kernel(name, signature);
  const buffers = inputs.map((each) => context.upload(each, { dtype: type as "f32" }));
  using out = context.alloc("f32", length);
  stream.fill(out, 0xff);
  stream.launch(handle, { grid, block, shared: dynamicSharedBytes }, ...([...buffers, out] as never[]));
  stream.sync();
  for (const each of buffers) each.dispose();
  return context.read(out);
}

const isHopper = (): boolean => context.info.computeCapability[0] === 9;

describe("a product of a warp group", () => {
  it.each(productCases)("of %j is exact on small whole numbers, or refused where the device has no warp groups", (given) => {
    const { a, b, expected, dynamicSharedBytes } = productData(given, 11);
    const kernel = { name: "product", ptx: productKernel(given), grid: [1, 1, 1], block: [128, 1, 1], dynamicSharedBytes } as const;
    const run = () => launch(kernel, "u8", [a, b], expected.length);
    if (isHopper()) expect(run()).toEqual(expected);
    else expect(run).toThrow();
  });
});

describe("gemmTensorCore", () => {
  const products = [
    ["bf16", 130, 264, 200],
    ["f16", 65, 72, 330],
    ["bf16", 70, 67, 93],
  ] as const;

  it.each(casesOf(products, ([, m]) => m === 70))("of %s, %i x %i x %i, is the product of the halves to 1e-6", (type, m, n, k) => {
    const [a, b] = [toHalves(uniform(m * k, 1), type), toHalves(uniform(k * n, 2), type)];
    const { value, size } = product(fromHalves(a, type), fromHalves(b, type), m, n, k);
    const targets: Target[] = isHopper() ? ["sm_80", "sm_90a"] : ["sm_80"];
    const tiles = onHardware
      ? ([
          [64, 64],
          [128, 256],
        ] as const)
      : ([[64, 64]] as const);
    for (const target of targets)
      for (const tile of tiles) {
        const kernel = gemmTensorCore({ m, n, k, type, tile }, { target });
        expect(worst(launch(kernel, type, [a, b], m * n), value, size), `${target}, ${tile}`).toBeLessThan(1e-6);
      }
  });
});

describe("attention in f32", () => {
  it.each([
    { heads: 2, seqLen: 70, headDim: 64, causal: true },
    { heads: 1, seqLen: 35, headDim: 77, keyLength: 50 },
    { heads: 1, seqLen: 20, headDim: 256, causal: true },
  ])("of %j keeps to 1e-6", (shape) => {
    const { heads, seqLen, headDim, keyLength = seqLen } = shape;
    const [q, k, v] = [seqLen, keyLength, keyLength].map((rows, s) => uniform(heads * rows * headDim, 20 + s, 2));
    const kernel = attention({ ...shape, type: "f32" }, { target: "sm_80" });
    const o = launch(kernel, "f32", [q!, k!, v!], heads * seqLen * headDim);
    const [exactQ, exactK, exactV] = [q, k, v].map((each) => Float64Array.from(each!));
    expect(worst(o, attentionOf(shape, exactQ!, exactK!, exactV!), 2)).toBeLessThan(1e-6);
  });
});
