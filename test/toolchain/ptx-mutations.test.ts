// A fixed sample of the mutants of generated kernels: at least 95 in 100 must be noticed by a run of the kernel, over all subjects and in each. The
// whole sweep is test/ptx/kernels/mutate.ts; docs/ptx.md lists what lives through it.
import { expect, it } from "vitest";
import { fate, mutantsOf, mutate } from "../ptx/kernels/mutations.js";
import { subjects } from "../ptx/kernels/mutation-subjects.js";

/** Mutants of each subject, taken evenly. */
const sample = 40;

it.each(subjects.map((make) => make()).map((subject) => [subject.name, subject] as const))(
  "%s is right as it is, and its run notices what is changed in it",
  (_, { ptx, check }) => {
    expect(check(ptx)).toBe(true);
    const mutants = mutantsOf(ptx);
    const chosen = mutants.filter((_, k) => Math.floor((k * sample) / mutants.length) !== Math.floor(((k - 1) * sample) / mutants.length));
    const ends = chosen.map((mutant) => ({ mutant, end: fate(check, mutate(ptx, mutant)) }));
    const alive = ends.filter(({ end }) => end === undefined).map(({ mutant }) => `${mutant.before.trim()} -> ${mutant.after.trim()}`);
    const counted = ends.filter(({ end }) => end !== "malformed").length;
    expect(counted).toBeGreaterThanOrEqual(35);
    expect(alive.length, alive.join("\n")).toBeLessThanOrEqual(0.05 * counted);
  },
);
