// Changes of one instruction of a generated kernel, 95 in 100 of which its run must notice: all of
// them, or a fixed part. test/ptx/kernels/mutate.ts runs all of them; docs/ptx.md lists those that
// no run notices. A seed in SPILLWAY_SAMPLE takes a quarter of the kernels.
import { expect, it } from "vitest";
import { sampled } from "../exhaustive.js";
import { subjects } from "../ptx/kernels/mutation-subjects.js";
import { described, sweep } from "../ptx/kernels/mutations.js";

const cases = [
  ["gemmTiled", 2],
  ["softmax by a warp", 1],
  ["softmax by a block", 1],
  ["attention in f32", 2],
  ["quantizedGemm", 8],
  ["quantizedGemm on tensor cores", 8],
  ["attention", 8],
] as const;

it.each(sampled(cases, 0.25, "mutations"))("of %s, one mutant in %i: the kernel is right, and 95 in 100 are noticed", (name, every) => {
  const { noticed, survivors, share } = sweep(subjects[name](), every);
  expect(noticed).toBeGreaterThan(80);
  expect(share, survivors.map(described).join("\n")).toBeGreaterThanOrEqual(0.95);
});
