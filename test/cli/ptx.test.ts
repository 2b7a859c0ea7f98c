// spillway ptx and spillway ptx run: text in, text out, and what they refuse.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { classShares, elementwise, gemmTiled, generateKernel, PtxModule, presets } from "../../packages/ptx/src/index.js";
import { ptxOfKernel } from "../../src/cli/commands/ptx.js";
import { presetSizes } from "../../src/cli/commands/ptx-options.js";
import { runPtxFile } from "../../src/cli/commands/ptx-run.js";

describe("spillway ptx", () => {
  it("prints the kernel for the sizes and the target, however its name is written", () => {
    const expected = gemmTiled({ m: 64, n: 32, k: 48 }, { target: "sm_90" }).ptx.trimEnd();
    for (const name of ["gemmTiled", "gemm-tiled", "gemm_tiled"])
      expect(ptxOfKernel(name, { target: "sm_90", m: "64", n: "32", k: "48" })).toBe(expected);
  });

  it("gives as JSON what a launch needs", () => {
    const made = JSON.parse(ptxOfKernel("attention", { target: "sm_80", seqLen: "100", headDim: "64", causal: true, json: true }));
    expect(made).toMatchObject({
      name: "flash_attention_causal_f16",
      grid: [1, 1, 1],
      block: [128, 1, 1],
      dynamicSharedBytes: 49152,
    });
    expect(made.parameters.map(({ name }: { name: string }) => name)).toEqual(["q", "k", "v", "o"]);
  });

  it("takes what else a kernel has to choose", () => {
    const { ptx } = elementwise({ operation: "broadcast_add", count: 200 }, { target: "sm_90" });
    expect(ptxOfKernel("elementwise", { target: "sm_90", operation: "broadcast_add", count: "200" })).toBe(ptx.trimEnd());
    const shares = JSON.parse(ptxOfKernel("classShares", { target: "sm_90", features: "20", classes: "3", layerNorm: true, json: true }));
    expect(shares.ptx).toBe(classShares({ features: 20, classes: 3, layerNorm: true }, { target: "sm_90" }).ptx);
  });

  it("makes presets, with what else is said of them", () => {
    const llama = generateKernel(presets.llamaAttention(100, 64, 8), { target: "sm_80" }).ptx.trimEnd();
    expect(ptxOfKernel("llama-attention", { target: "sm_80", seqLen: "100", headDim: "64", heads: "8" })).toBe(llama);
    const half = generateKernel(presets.ffnGemmHalf(8, 64, 96, "f16"), { target: "sm_80" }).ptx.trimEnd();
    expect(ptxOfKernel("ffnGemmHalf", { target: "sm_80", batch: "8", hidden: "64", intermediate: "96", type: "f16" })).toBe(half);
    const sizes: Record<string, string> = {
      seqLen: "64",
      headDim: "32",
      batch: "8",
      hidden: "64",
      intermediate: "96",
      m: "4",
      n: "32",
      k: "256",
    };
    const all = { ...sizes, hiddenSize: "64" };
    for (const [name, taken] of Object.entries(presetSizes)) {
      const flags = Object.fromEntries(taken.flatMap((size) => (size in all ? [[size, all[size as keyof typeof all]]] : [])));
      expect(ptxOfKernel(name, { target: "sm_90", ...flags }), name).toContain(".entry");
    }
    expect(() => ptxOfKernel("ffnGemm", { target: "sm_80", batch: "8" })).toThrow(
      "ffnGemm takes batch, hidden, intermediate; hidden is missing",
    );
  });

  it("takes one row and one head where none are said", () => {
    expect(ptxOfKernel("softmax", { target: "sm_80", dim: "5" })).toContain(".entry");
    for (const name of ["layerNorm", "rmsNorm"]) expect(ptxOfKernel(name, { target: "sm_80", hiddenSize: "5" })).toContain(".entry");
  });

  it("refuses an option that the kernel does not have, and takes the switches of every kernel where they are not given", () => {
    expect(() => ptxOfKernel("softmax", { target: "sm_80", dim: "5", heads: "4" })).toThrow(
      expect.objectContaining({
        name: "UsageError",
        code: "unknown-field",
        message: 'kernel softmax: unknown field "heads"; known fields are rows, dim, form',
      }),
    );
    expect(ptxOfKernel("softmax", { target: "sm_80", dim: "5", affine: true })).toContain(".entry");
  });

  it("refuses unknown kernels and targets, and sizes that are missing or no numbers", () => {
    expect(() => ptxOfKernel("softmx", { target: "sm_80" })).toThrow('there is no kernel "softmx"; did you mean "softmax"?');
    expect(() => ptxOfKernel("softmax", { target: "sm_70", dim: "5" })).toThrow('target is "sm_70"; it takes "sm_75"');
    expect(() => ptxOfKernel("gemmNaive", { target: "sm_80", m: "5", n: "6" })).toThrow("k is missing; it takes a whole number from 1");
    expect(() => ptxOfKernel("gemmNaive", { target: "sm_80", m: "five" })).toThrow('m is "five"; it takes a number');
  });
});

describe("spillway ptx run", () => {
  const folder = mkdtempSync(join(tmpdir(), "spillway-ptx-run-"));
  const module = new PtxModule();
  module.kernel("scale", {}, (k) => {
    const [x, n, factor] = [k.pointer("f32", "x"), k.parameter("u32", "n"), k.parameter("f32", "factor")];
    const i = k.mad(k.blockIndex(), k.special("ntid", "x"), k.threadIndex());
    k.if(k.compare("lt", i, n), () => k.store(k.at(x, i), k.mul(k.load(k.at(x, i)), factor)));
  });
  module.kernel("count", {}, (k) => k.atomic("add", k.pointer("u64", "total"), k.parameter("u64", "step")));
  const path = join(folder, "two.ptx");
  writeFileSync(path, module.emit());
  const flags = { grid: "1", block: "32", shared: 0, device: "sim", show: 16 };

  it("launches on the simulated device and prints the buffers", async () => {
    const text = await runPtxFile(path, { ...flags, entry: "scale", args: ["f32[5]=range", "4", "0.5"] });
    expect(text).toBe("scale on Spillway simulated device\nargument 1, f32[5], 20 bytes: 0, 0.5, 1, 1.5, 4");
    const json = await runPtxFile(path, {
      ...flags,
      entry: "count",
      grid: "2",
      block: "8x4",
      args: ["u64[1]=5", "0x100000000"],
      json: true,
    });
    expect(JSON.parse(json).buffers).toEqual([{ argument: 1, type: "u64", values: [String(5n + 64n * 2n ** 32n)] }]);
  });

  it("shows so many elements", async () => {
    const text = await runPtxFile(path, { ...flags, entry: "scale", block: "64", show: 2, args: ["f32[40]=2", "40", "3"] });
    expect(text).toContain("160 bytes: 6, 6, ... 38 more");
  });

  it("says where a kernel goes wrong", async () => {
    await expect(runPtxFile(path, { ...flags, entry: "scale", args: ["f32[4]", "9", "1"] })).rejects.toThrow(/scale.*ld\.global\.f32/s);
  });

  it("refuses files, kernels and arguments that are not there or do not fit", async () => {
    await expect(runPtxFile(join(folder, "none.ptx"), flags)).rejects.toThrow("none.ptx: no such file in");
    await expect(runPtxFile(folder, flags)).rejects.toThrow(`${folder}: that is a folder; give the name of a file in it`);
    const source = join(folder, "scale.cu");
    writeFileSync(source, "__global__ void scale(float *x) { x[threadIdx.x] *= 2; }");
    await expect(runPtxFile(source, flags)).rejects.toThrow(`${source} is no PTX: it has no .version; CUDA C++ becomes PTX by nvcc -ptx`);
    await expect(runPtxFile(path, flags)).rejects.toThrow("has the kernels scale, count: --entry chooses one");
    await expect(runPtxFile(path, { ...flags, entry: "sum" })).rejects.toThrow('has no kernel "sum"; it has scale, count');
    await expect(runPtxFile(path, { ...flags, entry: "scale", args: ["1"] })).rejects.toThrow(
      "scale takes 3 arguments (.u64, .u32, .f32), got 1",
    );
    await expect(runPtxFile(path, { ...flags, entry: "count", args: ["u64[2]=1,2,3", "1"] })).rejects.toThrow(
      "it takes one number for all elements, or 2",
    );
    await expect(runPtxFile(path, { ...flags, entry: "count", args: ["u64[1]=1.5", "1"] })).rejects.toThrow("u64 takes whole numbers");
    await expect(runPtxFile(path, { ...flags, entry: "count", args: ["u64[1]", "1.5"] })).rejects.toThrow('"1.5" is no whole number');
    await expect(runPtxFile(path, { ...flags, entry: "scale", args: ["f32[4]", "f32[4]", "1"] })).rejects.toThrow(
      "argument 2 is a buffer; the parameter is .u32",
    );
    await expect(runPtxFile(path, { ...flags, entry: "count", args: ["x", "1"] })).rejects.toThrow(
      'argument 1 is "x"; an argument is a number, a buffer',
    );
    await expect(runPtxFile(path, { ...flags, entry: "count", device: "tpu", args: ["u64[1]", "1"] })).rejects.toThrow(
      'device is "tpu"; it takes sim, cuda, or cuda:1',
    );
  });

  describe("with structs by value", () => {
    const structs = "test/gpu/fixtures/structs.ptx";

    it("takes vectors and buffers within functors", async () => {
      const args = ["{f32=1; f32=0; f32=0; f32=0.5; align=16}", "f32[4]=range", "f32[4]", "4"];
      expect(await runPtxFile(structs, { ...flags, entry: "cubic", args })).toContain("argument 3, f32[4], 16 bytes: 0.5, 1.5, 8.5, 27.5");
      const functor = ["f32[2]=range", "f32[2]", "2", "{f32=10; *f32[2]=5,6}"];
      const json = await runPtxFile(structs, { ...flags, entry: "_Z9transformI6AffineEvPKfPfiT_", args: functor, json: true });
      expect(JSON.parse(json).buffers).toEqual([
        { argument: 1, type: "f32", values: [0, 1] },
        { argument: 2, type: "f32", values: [5, 16] },
        { argument: 4, field: "2", type: "f32", values: [5, 6] },
      ]);
    });

    it("takes arrays and structs within structs, and bytes", async () => {
      const color = "{f32=1; f32=2; f32=3; f32=4; align=16}";
      const all = `{i8=-7; f64=0.5; i16[3]=1,2,3; {bytes[1]=01; i8=-5}; bytes[2]=0006; i64=-9; f16=1.5; ${color}; *u32[1]}`;
      const text = await runPtxFile(structs, { ...flags, entry: "fields", args: [all, "f64[15]"] });
      expect(text).toContain("argument 1, field 9, u32[1], 4 bytes: 80");
      expect(text).toContain("-7, 0.5, 1, 2, 3, 1, -5, 0, 6, -9, 1.5, 1, 2, 3, 4");
      expect(await runPtxFile(structs, { ...flags, entry: "volume", args: ["bytes[12]=020000000300000004000000", "u32[1]"] })).toMatch(
        /24$/,
      );
    });

    it.each([
      ["{f32=1; f32=2}", 'was declared "{f32=1; f32=2}", 8 bytes aligned to 4'],
      ["{f32=1; f32", "its braces do not match"],
      ["{float=1}", 'has a field "float=1"'],
      ["{f32=one}", 'is "one"; it takes a number'],
      ["{i64=1.5}", '"1.5" is no whole number'],
      ["{f32=1; align=3}", "align is 3; it takes a power of two"],
      ["bytes[2]=123", "it takes 4 hexadecimal digits"],
      ["5", "parameter 1 is .b8 of 12 bytes, which has no number"],
    ])("refuses %s", async (argument, sentence) => {
      await expect(runPtxFile(structs, { ...flags, entry: "volume", args: [argument, "u32[1]"] })).rejects.toThrow(sentence);
    });
  });
});
