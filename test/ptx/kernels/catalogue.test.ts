// The list of generated kernels: names, presets, and that making one twice gives the same bytes.
import { describe, expect, it } from "vitest";
import type { OptionTable } from "../../../packages/core/src/options.js";
import { type Target, targets } from "../../../packages/ptx/src/builder/index.js";
import { parsePtx } from "../../../packages/ptx/src/interpreter/index.js";
import { generateKernel, type KernelType, kernelKinds, kernelName, presets } from "../../../packages/ptx/src/kernels/catalogue.js";
import { shapeTables } from "../../../packages/ptx/src/kernels/shapes.js";
import { casesOf } from "../../exhaustive.js";
import { catalogueCases } from "./cases.js";

const entry = (ptx: string): string => [...parsePtx(ptx).functions.keys()].join();

describe("every kernel", () => {
  it.each(catalogueCases)("%j has the name that kernelName says, and the same bytes each time", (type, target) => {
    const made = generateKernel(type, { target });
    expect(made.name).toBe(kernelName(type));
    expect(entry(made.ptx)).toBe(kernelName(type));
    expect(generateKernel(type, { target }).ptx).toBe(made.ptx);
    expect(made.ptx).toContain(`.target ${target}\n`);
  });

  it("is among the cases of these tests", () => {
    expect([...new Set(catalogueCases.map(([{ kind }]) => kind))].sort()).toEqual([...kernelKinds].sort());
  });

  it("is made for every target that is later than the one it takes", () => {
    const sms = casesOf(Object.entries(targets), ([target]) => target === "sm_90a" || target === "sm_121");
    for (const [type, first] of catalogueCases)
      for (const [target, { sm }] of sms)
        if (sm > targets[first].sm)
          expect(() => generateKernel(type, { target: target as Target }), `${type.kind} for ${target}`).not.toThrow();
  });
});

it("rows and heads are one where none are said", () => {
  const pairs: [KernelType, KernelType][] = [
    [
      { kind: "softmax", dim: 64 },
      { kind: "softmax", dim: 64, rows: 1 },
    ],
    [
      { kind: "layerNorm", hiddenSize: 64 },
      { kind: "layerNorm", hiddenSize: 64, rows: 1 },
    ],
    [
      { kind: "rmsNorm", hiddenSize: 64 },
      { kind: "rmsNorm", hiddenSize: 64, rows: 1 },
    ],
    [
      { kind: "attention", seqLen: 64, headDim: 32 },
      { kind: "attention", seqLen: 64, headDim: 32, heads: 1 },
    ],
  ];
  for (const [short, full] of pairs) expect(generateKernel(short, { target: "sm_80" })).toEqual(generateKernel(full, { target: "sm_80" }));
});

describe("presets", () => {
  it("state the fields they stand for", () => {
    expect(presets.llamaAttention(2048, 128)).toEqual({ kind: "attention", heads: 1, seqLen: 2048, headDim: 128, causal: true });
    expect(presets.ffnGemm(32, 4096, 11008)).toEqual({ kind: "gemmTiled", m: 32, n: 11008, k: 4096, tileSize: 32 });
    expect(presets.ffnGemmHalf(32, 4096, 11008)).toEqual({ kind: "gemmTensorCore", m: 32, n: 11008, k: 4096, type: "bf16" });
    expect(presets.q4kInference(1, 4096, 4096)).toEqual({ kind: "quantizedGemm", m: 1, n: 4096, k: 4096, format: "superblock" });
    expect(presets.rmsNorm(4096)).toEqual({ kind: "rmsNorm", rows: 1, hiddenSize: 4096, epsilon: 1e-6, affine: true });
  });

  it.each([
    [presets.llamaAttention(100, 64), "flash_attention_causal_f16"],
    [presets.ffnGemm(8, 64, 96), "gemm_tiled"],
    [presets.ffnGemmHalf(8, 64, 96, "f16"), "gemm_tensor_core_f16"],
    [presets.q4kInference(1, 64, 256), "q4k_gemm_fused"],
    [presets.rmsNorm(512), "rmsnorm"],
  ] as [KernelType, string][])("%j makes %s", (type, name) => {
    expect(generateKernel(type, { target: "sm_90" }).name).toBe(name);
  });
});

describe("the table of a kind", () => {
  const first = kernelKinds.map((kind) => [kind, catalogueCases.find(([type]) => type.kind === kind)!] as const);

  it.each(first)("refuses a misspelt field of %s, naming what was meant", (_, [type, target]) => {
    const [field, value] = Object.entries(type).find(([name]) => name !== "kind" && name.length > 3) ?? ["operation", 1];
    const misspelt = `${field}s`;
    const wrong = { ...type, [misspelt]: value } as KernelType;
    expect(() => generateKernel(wrong, { target })).toThrow(expect.objectContaining({ code: "unknown-field", field: misspelt }));
  });

  it.each(first)("refuses %s without each field that it needs, and with a value of no such kind", (kind, [type, target]) => {
    for (const [field, { required }] of Object.entries(shapeTables[kind] as OptionTable)) {
      const { [field]: _, ...rest } = type as Record<string, unknown>;
      const without = () => generateKernel(rest as KernelType, { target });
      if (required) expect(without, field).toThrow(expect.objectContaining({ name: "ArgumentError", field }));
      else expect(without, field).not.toThrow();
      const wrong = { ...type, [field]: {} } as KernelType;
      expect(() => generateKernel(wrong, { target }), field).toThrow(expect.objectContaining({ name: "ArgumentError", field }));
    }
  });
});

it("an unknown kind is refused by name", () => {
  expect(() => kernelName({ kind: "fft" } as never)).toThrow('kind is "fft"; it takes one of gemmNaive, gemmTiled, gemmTensorCore');
});
