// Kernels that spillway/ptx makes, launched by what it says of them.
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Context, Stream } from "../../../packages/gpu/src/index.js";
import { generateKernel, PtxModule } from "../../../packages/ptx/src/index.js";
import { openTestDevice } from "./device.js";

let context: Context;
let stream: Stream;

beforeAll(() => {
  context = openTestDevice();
  stream = context.stream();
});
afterAll(() => context?.dispose());

it("a kernel of the catalogue takes its own parameters and launch", () => {
  const made = generateKernel({ kind: "gemmNaive", m: 3, n: 4, k: 5 });
  using module = context.load(made.ptx, { label: made.name });
  const kernel = module.kernel(made.name, made.parameters);
  using a = context.upload(Float32Array.from({ length: 15 }, (_, i) => i));
  using b = context.upload(new Float32Array(20).fill(1));
  using c = context.zeros("f32", 12);
  stream.launch(kernel, made.launch, a, b, c);
  const sums = [10, 35, 60];
  expect([...context.read(c)]).toEqual(sums.flatMap((sum) => [sum, sum, sum, sum]));
  using whole = context.zeros("i32", 12);
  expect(() => stream.launch(kernel, made.launch, a, b, whole)).toThrow('argument 2 holds i32; the parameter is "f32*"');
});

it("a kernel of the builder takes its parameters, halves and bits among them", () => {
  const module = new PtxModule();
  const built = module.kernel("store", { block: [32] }, (k) => {
    const [words, halves, n] = [k.pointer("b32", "words"), k.pointer("f16x2", "halves"), k.parameter("u32", "n")];
    const i = k.threadIndex();
    k.if(k.compare("lt", i, n), () => k.store(k.at(words, i), k.reinterpret("b32", k.load(k.at(halves, i)))));
  });
  using loaded = context.load(module.emit());
  const kernel = loaded.kernel("store", built.parameters);
  using words = context.zeros("u32", 2);
  using halves = context.upload(Uint16Array.of(1, 2, 3, 4), { dtype: "f16" });
  stream.launch(kernel, { grid: 1, block: 32 }, words, halves, 2);
  expect([...context.read(words)]).toEqual([0x20001, 0x40003]);
});
