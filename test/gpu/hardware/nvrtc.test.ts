// NVRTC on a real GPU: what it compiles runs, and is kept.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CompileError, type Context, loadNvrtc, type Nvrtc, struct } from "../../../packages/gpu/src/index.js";
import { Matrix, ReservoirComputer } from "../../../src/index.js";
import { openHardware } from "../device/device.js";

const source = `#include "step.h"
template <typename T> __global__ void add_step(T* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += STEP;
}`;
const options = {
  name: "add_step.cu",
  headers: { "step.h": "#define STEP 2\n" },
  nameExpressions: ["add_step<float>", "add_step<double>"],
};

let context: Context;
let nvrtc: Nvrtc;
let cache: string;

beforeAll(() => {
  cache = mkdtempSync(join(tmpdir(), "spillway-nvrtc-"));
  nvrtc = loadNvrtc({ cache });
  context = openHardware({ nvrtc });
});

afterAll(() => {
  context?.dispose();
  if (cache) rmSync(cache, { recursive: true, force: true });
});

describe("run-time compilation", () => {
  it("runs templates by their name expressions, with a header in memory", () => {
    using module = context.compile(source, options);
    expect(module.kind).toBe("cubin");
    const kernel = module.kernel("add_step<double>", ["f64*", "i32"]);
    expect(kernel.checkedBy).toBe("ptx");
    using stream = context.stream();
    using x = context.upload(Float64Array.of(1, 2, 3));
    stream.launch(kernel, { grid: 1, block: 32 }, x, 3);
    expect([...context.read(x)]).toEqual([3, 4, 5]);
  });

  it("runs a functor by value, whose size the driver tells of machine code alone", () => {
    const scale = struct({ factor: "f64", offsets: "const f64*" });
    const functor = `struct Scale { double factor; const double *offsets; __device__ double operator()(double x, int i) const { return factor * x + offsets[i]; } };
template <typename F> __global__ void apply(double *x, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = f(x[i], i);
}`;
    const [major, minor] = context.info.computeCapability;
    const name = "apply<Scale>";
    const made = nvrtc.compile(functor, { name: "functor.cu", nameExpressions: [name], architecture: `sm_${major}${minor}` });
    using module = context.load(made.image);
    const symbol = made.loweredNames[name]!;
    const kernel = module.kernel(symbol, ["f64*", "i32", scale]);
    if (kernel.checkedBy === "driver")
      expect(() => module.kernel(symbol, ["f64*", "i32", "bytes[8]"])).toThrow('parameter 2 takes 16 bytes; "bytes[8]" has 8');
    using stream = context.stream();
    using offsets = context.upload(Float64Array.of(10, 20, 30));
    using x = context.upload(Float64Array.of(1, 2, 3));
    stream.launch(kernel, { grid: 1, block: 32 }, x, 3, { factor: 2, offsets });
    expect([...context.read(x)]).toEqual([12, 24, 36]);
  });

  it("gives the same from the cache, and PTX that runs as well", () => {
    const [major, minor] = context.info.computeCapability;
    const again = nvrtc.compile(source, { ...options, architecture: `sm_${major}${minor}` });
    expect(again.cache).toBe("hit");
    using module = context.compile(source, { ...options, architecture: "compute_75" });
    expect(module.kind).toBe("ptx");
    expect(() => module.kernel("add_step<float>", ["f64*", "f32"])).toThrow("parameter 1 is .u32 of 4 bytes in the PTX");
  });

  it("compiles on another thread", async () => {
    using module = await context.compileAsync('extern "C" __global__ void nothing() {}', { cache: false });
    using stream = context.stream();
    stream.launch(module.kernel("nothing", []), { grid: 1, block: 1 });
    await stream.done();
  });

  it("says what is wrong with a source", () => {
    let thrown: unknown;
    try {
      context.compile('extern "C" __global__ void k(float* p) { p[0] = undefined_fn(1); }', { name: "bad.cu" });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(CompileError);
    expect((thrown as CompileError).log).toContain('bad.cu(1): error: identifier "undefined_fn" is undefined');
  });
});

describe("the named kernels, compiled for a reservoir", () => {
  it.each(["dense", "sparse"] as const)("have the bits of the shipped ones: %s", async (storage) => {
    const states = async (kernelSource: "shipped" | "nvrtc") => {
      const options = { size: 130, inputSize: 2, storage, connectionProbability: 0.3, noiseLevel: 0.01, seed: 1 } as const;
      await using computer = await ReservoirComputer.create(options, { context, plan: "named", kernelSource });
      const inputs = new Matrix(
        40,
        2,
        Float32Array.from({ length: 80 }, (_, i) => ((i * 37) % 19) / 19 - 0.5),
      );
      return (await computer.run(inputs)).data;
    };
    expect(await states("nvrtc")).toEqual(await states("shipped"));
  });
});
