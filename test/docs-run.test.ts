// Every program in the pages of docs/ runs to its end, and prints what it says that it prints.
import { beforeAll, describe, expect, it } from "vitest";
import { type Done, programs, promised, runPrograms } from "./docs-programs.js";

/** Kinds that do not run here: test/browser/docs.test.ts has those that need a Chromium. */
const elsewhere = ["gpu", "chromium"];
// A block that another goes on from is run with it.
const whole = programs.filter(({ kind }, i) => !elsewhere.includes(kind) && programs[i + 1]?.kind !== "continued");

describe("the programs in docs/", () => {
  let done: Done;
  beforeAll(async () => {
    done = await runPrograms(whole);
  }, 300_000);

  it.each(whole.map((block) => [block.name, block] as const))("%s", (name, { program }) => {
    const { printed, error } = done[name]!;
    expect(error).toBeUndefined();
    const lines = printed.split("\n");
    for (const said of promised(program)) expect(lines).toContain(said);
  });

  it("leave out none but those that need a GPU or a Chromium", () => {
    expect(programs.length).toBeGreaterThan(50);
    expect(new Set(programs.map(({ kind }) => kind))).toEqual(new Set(["", "continued", "gpu", "chromium"]));
    const needing = (what: string) => programs.filter(({ kind }) => kind === what).map(({ name }) => name);
    expect(needing("chromium")).toEqual(["plots-3"]);
    expect(needing("gpu")).toEqual([...["cuda-1", "cuda-2", "cuda-4", "cuda-5", "cuda-6", "cuda-7", "ptx-2"], "one-reservoir-1"]);
  });
});
