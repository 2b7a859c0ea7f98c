// Generated kernels of every kind that no other test of the device launches: there they give what
// the interpreter gives, whose results test/ptx/kernels holds to double precision. Products of
// halves and attention in f32 are in generated.test.ts; persistent kernels and classifiers in
// test/engine/device.
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Context, Dtype, HostArray, Parameter } from "../../../packages/gpu/src/index.js";
import { generateKernel, type KernelType } from "../../../packages/ptx/src/kernels/catalogue.js";
import type { GeneratedKernel } from "../../../packages/ptx/src/kernels/generated-kernel.js";
import { quantizeQ4 } from "../../../packages/ptx/src/kernels/q4k.js";
import { elementwiseNames } from "../../../packages/ptx/src/kernels/shapes.js";
import { casesOf } from "../../exhaustive.js";
import { openTestDevice } from "../../gpu/device/device.js";
import { fromHalves, toHalves } from "../kernels/halves.js";
import { runKernel, uniform } from "../kernels/run.js";

let context: Context;
beforeAll(() => {
  context = openTestDevice();
});
afterAll(() => context?.dispose());

/**
 * What a kernel is given, in the order of its parameters; the one array that it writes holds
 * something before.
 */
type Given = readonly (number | HostArray)[];

function poisoned<T extends HostArray>(array: T): T {
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength).fill(0xff);
  return array;
}

/** Launches on the device; the array at `written` as it is afterwards. */
function onDevice({ name, ptx, parameters, grid, block, dynamicSharedBytes }: GeneratedKernel, given: Given, written: number): HostArray {
  using module = context.load(ptx);
  using stream = context.stream();
  const signature = parameters.map(({ type, element }) => (element === undefined ? type : `${element === "b8" ? "u8" : element}*`));
  const handle = module.kernel(name, signature as Parameter[]);
  const uploads = given.map((each, at) =>
    typeof each === "number" ? each : context.upload(each, { dtype: signature[at]!.slice(0, -1) as Dtype as "f32" }),
  );
  stream.launch(handle, { grid, block, shared: dynamicSharedBytes }, ...(uploads as never[]));
  stream.sync();
  const result = context.read(uploads[written] as ReturnType<Context["upload"]>);
  for (const each of uploads) if (typeof each !== "number") each.dispose();
  return result;
}

function inInterpreter(kernel: GeneratedKernel, given: Given, written: number): HostArray {
  const own = given.map((each) => (typeof each === "number" ? each : each.slice()));
  runKernel(
    kernel,
    own.map((each) => (typeof each === "number" ? each : { changed: each as Float32Array })),
  );
  return own[written] as HostArray;
}

function both(
  type: KernelType,
  given: Given,
  written: number,
  target: "sm_75" | "sm_80" = "sm_75",
): [device: HostArray, interpreter: HostArray] {
  const kernel = generateKernel(type, { target });
  return [onDevice(kernel, given, written), inInterpreter(kernel, given, written)];
}

const [m, n, k] = [37, 45, 39];
const count = 1000;
const [first, second] = [uniform(count, 1, 3), uniform(count, 2, 3)];
const elementwiseGiven: Record<string, readonly [Given, written: number]> = {
  vector_add: [[first, second, poisoned(new Float32Array(count)), count], 2],
  elementwise_multiply: [[first, second, poisoned(new Float32Array(count)), count], 2],
  relu: [[first, count], 0],
  sigmoid: [[first, count], 0],
  tanh_activation: [[first, count], 0],
  broadcast_add: [[first, second.subarray(0, 40), 25, 40], 0],
  batch_norm: [[first, ...[3, 4, 5].map((seed) => uniform(40, seed)), uniform(40, 6).map(Math.abs), 25, 40, 1e-5], 0],
};

it.each([
  [{ kind: "gemmNaive", m, n, k }, [uniform(m * k, 1), uniform(k * n, 2), poisoned(new Float32Array(m * n))], 2],
  ...casesOf([16, 32, 64, 128] as const, (tileSize) => tileSize === 32).map((tileSize) => [
    { kind: "gemmTiled", m, n, k, tileSize },
    [uniform(m * k, 1), uniform(k * n, 2), poisoned(new Float32Array(m * n))],
    2,
  ]),
  [{ kind: "gemv", m, n: 333 }, [uniform(m * 333, 3), uniform(333, 4), uniform(m, 5), 1.5, -0.25], 2],
  [{ kind: "leakyStep", size: count }, [first.map((x) => x / 3), second, poisoned(new Float32Array(count)), 0.3], 2],
  ...Object.entries(elementwiseGiven).map(([operation, [given, written]]) => [{ kind: "elementwise", operation, count }, given, written]),
] as [KernelType, Given, number][])("%j gives the interpreter's bits", (type, given, written) => {
  const [device, interpreter] = both(type, given, written);
  expect(device).toEqual(interpreter);
});

it("every element-wise kernel but the exponential, which is approximate, is among them", () => {
  expect([...Object.keys(elementwiseGiven), "elementwise_exp"].sort()).toEqual([...elementwiseNames].sort());
});

/** The largest |device - interpreter|, in parts of the interpreter's largest number. */
function difference(device: ArrayLike<number>, interpreter: ArrayLike<number>): number {
  const all = Array.from(interpreter);
  const size = all.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  return all.reduce((most, x, at) => Math.max(most, Math.abs(device[at]! - x)), 0) / size;
}

const rows = 3;
const rowCases = casesOf([77, 4096, 50001], (length) => length < 10_000).flatMap((length): [KernelType, Given, number][] => {
  const [x, y] = [uniform(rows * length, 6, 4), poisoned(new Float32Array(rows * length))];
  const [gamma, beta] = [uniform(length, 7), uniform(length, 8)];
  return [
    [{ kind: "softmax", rows, dim: length }, [x, y, rows], 1],
    [{ kind: "layerNorm", rows, hiddenSize: length }, [x, y, gamma, beta, rows], 1],
    [{ kind: "rmsNorm", rows, hiddenSize: length }, [x, y, gamma, rows], 1],
  ];
});

it.each([
  ...rowCases,
  [{ kind: "elementwise", operation: "elementwise_exp", count }, [first, poisoned(new Float32Array(count)), count], 1],
] as [KernelType, Given, number][])("%j keeps to 1e-6 of the interpreter's largest number", (type, given, written) => {
  const [device, interpreter] = both(type, given, written);
  expect(difference(device as Float32Array, interpreter as Float32Array)).toBeLessThan(1e-6);
});

it.each(
  casesOf(
    [
      ["superblock", "sm_75"],
      ["superblock", "sm_80"],
      ["block32", "sm_75"],
    ] as const,
    ([format]) => format === "block32",
  ),
)("quantizedGemm of %s for %s keeps to 1e-6 of the interpreter's largest number", (format, target) => {
  const depth = 1300;
  const { data } = quantizeQ4(uniform(13 * depth, 9), 13, depth, format);
  const [device, interpreter] = both(
    { kind: "quantizedGemm", m: 5, n: 13, k: depth, format },
    [uniform(5 * depth, 10), data, poisoned(new Float32Array(5 * 13))],
    2,
    target,
  );
  expect(difference(device as Float32Array, interpreter as Float32Array)).toBeLessThan(1e-6);
});

const attentions = [
  ["f16", "sm_75", 1e-3],
  ["f16", "sm_80", 1e-3],
  ["bf16", "sm_80", 8e-3],
] as const;

it.each(casesOf(attentions, ([type]) => type === "bf16"))(
  "attention of %s for %s keeps to %d of the interpreter's largest number",
  (type, target, limit) => {
    const [seqLen, headDim, heads] = [70, 77, 1];
    const given = [11, 12, 13].map((seed) => toHalves(uniform(heads * seqLen * headDim, seed, 2), type));
    const [device, interpreter] = both(
      { kind: "attention", heads, seqLen, headDim, causal: true, type },
      [...given, poisoned(new Uint16Array(heads * seqLen * headDim))],
      3,
      target,
    ).map((each) => fromHalves(each as Uint16Array, type));
    expect(difference(device!, interpreter!)).toBeLessThan(limit);
  },
);
