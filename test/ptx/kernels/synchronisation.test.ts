// Every barrier and every wait for copies of the generated kernels is needed: with one of them left
// out, the interpreter tells of a race.
import { expect, it } from "vitest";
import { attention } from "../../../packages/ptx/src/kernels/attention.js";
import { gemmTensorCore } from "../../../packages/ptx/src/kernels/gemm-tensor-core.js";
import { gemmTiled } from "../../../packages/ptx/src/kernels/gemm-tiled.js";
import type { GeneratedKernel } from "../../../packages/ptx/src/kernels/generated-kernel.js";
import { rowSoftmax } from "../../../packages/ptx/src/kernels/softmax.js";
import { casesOf } from "../../exhaustive.js";
import { input, output, simulationError } from "../device.js";
import { toHalves } from "./halves.js";
import { runKernel, uniform } from "./run.js";

type Arguments = Parameters<typeof runKernel>[1];

const halves = (count: number, seed: number) => input(toHalves(uniform(count, seed), "f16"));
const floats = (count: number, seed: number) => input(uniform(count, seed));
const results = (count: number) => output(new Float32Array(count));

const tensorCore = (target: "sm_75" | "sm_80"): [GeneratedKernel, Arguments] => [
  gemmTensorCore({ m: 70, n: 72, k: 136, type: "f16", tile: [64, 64] }, { target }),
  [halves(70 * 136, 1), halves(136 * 72, 2), results(70 * 72)],
];
const attended = (target: "sm_75" | "sm_80"): [GeneratedKernel, Arguments] => [
  attention({ heads: 1, seqLen: 140, headDim: 16 }, { target }),
  [halves(140 * 16, 1), halves(140 * 16, 2), halves(140 * 16, 3), results(140 * 8)],
];

it.each<[name: string, waitCount: number, kernel: GeneratedKernel, args: Arguments]>(
  casesOf(
    [
      ["gemmTiled", 2, gemmTiled({ m: 40, n: 36, k: 70, tileSize: 32 }), [floats(40 * 70, 1), floats(70 * 36, 2), results(40 * 36)]],
      ["softmax by a block", 2, rowSoftmax({ rows: 2, dim: 300, form: "block" }), [floats(600, 1), results(600), 2]],
      ["gemmTensorCore without asynchronous copies", 1, ...tensorCore("sm_75")],
      ["gemmTensorCore with them", 4, ...tensorCore("sm_80")],
      ["attention without asynchronous copies", 2, ...attended("sm_75")],
      ["attention with them", 4, ...attended("sm_80")],
    ],
    ([name]) => !name.includes("tension") && !name.startsWith("attention") && !name.endsWith("with them"),
  ),
)("of %s, which waits at %i points", (_, waitCount, kernel, args) => {
  runKernel(kernel, args);
  const lines = kernel.ptx.split("\n");
  const waits = lines.flatMap((line, at) => (/^\t(cp\.async\.(commit|wait)_group|bar\.sync)/.test(line) ? [at] : []));
  expect(waits).toHaveLength(waitCount);
  for (const at of waits) {
    const shorter = lines.toSpliced(at, 1).join("\n");
    expect(simulationError(() => runKernel(kernel, args, shorter)).kind, lines[at]).toMatch(/^(race|uninitialised)$/);
  }
});
