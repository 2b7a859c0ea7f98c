// A fixed sample of the mutants of generated kernels: at least 95 in 100 must be noticed by a run of the kernel. The whole sweep is
// test/ptx/kernels/mutate.ts; docs/ptx.md says what lives through it.
import { expect, it } from "vitest";
import { fate, mutantsOf, mutate } from "../ptx/kernels/mutations.js";
import { subjects } from "../ptx/kernels/mutation-subjects.js";

/** Mutants of each subject, taken evenly. */
const sample = 40;

it("runs of generated kernels are right, and notice 95 in 100 changes of an instruction", () => {
  let counted = 0;
  const alive: string[] = [];
  for (const make of subjects) {
    const { name, ptx, check } = make();
    expect(check(ptx), name).toBe(true);
    const mutants = mutantsOf(ptx);
    const chosen = mutants.filter((_, k) => Math.floor((k * sample) / mutants.length) !== Math.floor(((k - 1) * sample) / mutants.length));
    for (const mutant of chosen) {
      const end = fate(check, mutate(ptx, mutant));
      if (end !== "malformed") counted++;
      if (end === undefined) alive.push(`${name}: ${mutant.before.trim()} -> ${mutant.after.trim()}`);
    }
  }
  expect(counted).toBeGreaterThan(200);
  expect(alive.length, alive.join("\n")).toBeLessThanOrEqual(0.05 * counted);
});
