// A fixed sample of the changes of one instruction of attention, of which its run must notice 95 in
// 100; the others are in ptx-mutations.test.ts.
import { expect, it } from "vitest";
import { subjects } from "../ptx/kernels/mutation-subjects.js";
import { described, sweep } from "../ptx/kernels/mutations.js";

it("of attention, one mutant in 8: the kernel is right, and 95 in 100 are noticed", () => {
  const { noticed, survivors, share } = sweep(subjects.attention(), 8);
  expect(noticed).toBeGreaterThan(80);
  expect(share, survivors.map(described).join("\n")).toBeGreaterThanOrEqual(0.95);
});
