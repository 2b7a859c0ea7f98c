// Changes of one instruction of a generated kernel, of which its run must notice 95 in 100: all of
// them, or a fixed sample. The whole sweep is test/ptx/kernels/mutate.ts; docs/ptx.md says what
// lives through it. Attention of halves is in a file of its own, so that both run at once.
import { expect, it } from "vitest";
import { subjects } from "../ptx/kernels/mutation-subjects.js";
import { described, sweep } from "../ptx/kernels/mutations.js";

it.each([
  ["gemmTiled", 2],
  ["softmax by a warp", 1],
  ["softmax by a block", 1],
  ["attention in f32", 2],
  ["quantizedGemm", 8],
  ["quantizedGemm on tensor cores", 8],
  ["persistent step", 4],
] as const)("of %s, one mutant in %i: the kernel is right, and 95 in 100 are noticed", (name, every) => {
  const { noticed, survivors, share } = sweep(subjects[name](), every);
  expect(noticed).toBeGreaterThan(80);
  expect(share, survivors.map(described).join("\n")).toBeGreaterThanOrEqual(0.95);
});
