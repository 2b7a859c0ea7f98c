// Threads that evaluate trials of a search, from the built package: the same trials each time, the
// same bits as in one thread, and what becomes of threads that end.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import type { searchExperiment as Search, SearchInput } from "../../src/experiment/index.js";
import { studyIn } from "./small-searches.js";

const built = new URL("../../dist/api/experiment.js", import.meta.url).href;
const index = new URL("../../dist/api/reservoir.js", import.meta.url).href;
const { searchExperiment } = (await import(built)) as { searchExperiment: typeof Search };

const folder = mkdtempSync(join(tmpdir(), "spillway-workers-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const base: SearchInput = {
  name: "narma",
  data: { task: "narma" },
  reservoir: { size: 20 },
  task: "predict",
  washout: 30,
  split: { train: 300, test: 100 },
  metrics: ["nrmse"],
  outputs: { report: false },
  search: {
    space: { "reservoir.spectralRadius": { float: [0.1, 1.4] }, "readout.lambda": { float: [1e-8, 1], log: true } },
    seeds: 2,
    budget: { trials: 24 },
  },
};
const withSearch = (search: object, rest: object = {}): SearchInput => ({ ...base, ...rest, search: { ...base.search, ...search } });

const trialsOf = async (out: string) => (await studyIn(join(out, "narma", "journal.log"))).trials;

describe("a search over threads", () => {
  it("gives the same trials and values each time", async () => {
    const told = async (out: string) => {
      await searchExperiment(base, { workers: 3, refit: false, out });
      return (await trialsOf(out)).map(({ parameters, value, attributes }) => [
        [...parameters].map(([name, { value: given }]) => [name, given]),
        value,
        attributes.get("spillway:seeds"),
      ]);
    };
    const first = await told(join(folder, "one"));
    expect(first).toHaveLength(24);
    expect(await told(join(folder, "two"))).toEqual(first);
  });

  it.each([
    ["random trials one by one", { sampler: { type: "random" } }],
    ["batches", { sampler: { type: "tpe", batch: 6 } }],
    ["halving", { halving: { seeds: [1, 2], keep: 0.5 }, sampler: { type: "random", batch: 8 } }],
  ])("gives the bits of one thread: %s", async (_, search) => {
    const one = await searchExperiment(withSearch(search), { refit: false });
    const several = await searchExperiment(withSearch(search), { refit: false, workers: 2 });
    expect({ ...several.result, seconds: 0 }).toEqual({ ...one.result, seconds: 0 });
  });

  it("ends at once if it is stopped, keeps what was evaluated, gives back the rest, and goes on", async () => {
    // Sizes from 14 on are evaluated for as long as a file is not there: a trial that is stopped is
    // in work, however fast or loaded the machine.
    const [module, open] = [join(folder, "gated.mjs"), join(folder, "open")];
    writeFileSync(
      module,
      `import { existsSync } from "node:fs";
       import { registerTopology, sparseFromRows } from ${JSON.stringify(index)};
       const isShut = (size) => size >= 14 && !existsSync(${JSON.stringify(open)});
       const build = (_, { size }) => {
         while (isShut(size)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
         return { matrix: sparseFromRows(size, size, (r) => [(r + size - 1) % size], () => 1), radius: 1 };
       };
       const described = { name: "gated", description: "waits for a file", options: {} };
       registerTopology({ ...described, expectedNonzeros: (_, { size }) => size, build });`,
    );
    const imports = [pathToFileURL(module).href];
    await import(imports[0]!);
    const search = withSearch(
      { sampler: "grid", space: { "reservoir.size": { int: [10, 21] } }, budget: { trials: 12 } },
      { reservoir: { size: 10, topology: { type: "gated" } } },
    );
    const stop = new AbortController();
    const out = join(folder, "stopped");
    const onProgress = (done: number) => void (done === 4 && stop.abort());
    const { result } = await searchExperiment(search, { workers: 2, refit: false, out, signal: stop.signal, onProgress, imports });
    expect(result).toMatchObject({ interrupted: true, trials: { complete: 4, pruned: 0, failed: 0 } });
    const states = async () => (await trialsOf(out)).map(({ state }) => state);
    expect(await states()).toEqual([...Array(4).fill("complete"), ...Array(3).fill("failed"), ...Array(3).fill("waiting")]);
    writeFileSync(open, "");
    const again = await searchExperiment(search, { workers: 2, refit: false, out, imports });
    expect(again.result.trials).toEqual({ complete: 12, pruned: 0, failed: 0 });
    expect((await states()).includes("waiting")).toBe(false);
  });

  it("goes through a grid once, also if it was stopped on the way", async () => {
    const grid = withSearch({ sampler: "grid", space: { "reservoir.size": { int: [10, 21] } }, budget: { trials: 100 } });
    const stop = new AbortController();
    const out = join(folder, "grid");
    const onProgress = (done: number) => void (done === 3 && stop.abort());
    await searchExperiment(grid, { workers: 2, refit: false, out, signal: stop.signal, onProgress });
    await searchExperiment(grid, { workers: 2, refit: false, out });
    const sizes = (await trialsOf(out))
      .filter(({ state }) => state === "complete")
      .map(({ parameters }) => parameters.get("reservoir.size")!.value);
    expect(sizes.sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, k) => 10 + k));
  });

  it("fails the trial whose thread ends, and goes on with another thread", async () => {
    const module = join(folder, "fragile.mjs");
    writeFileSync(
      module,
      `import { registerTopology } from ${JSON.stringify(index)};
       const described = { name: "fragile", description: "ends its thread", options: {} };
       registerTopology({ ...described, expectedNonzeros: () => 100, build: () => process.exit(7) });`,
    );
    const fragile = withSearch({
      space: { "reservoir.size": { int: [10, 19] }, "reservoir.topology.type": { choice: ["ring", "fragile"] } },
      sampler: { type: "random" },
      budget: { trials: 8 },
    });
    await import(pathToFileURL(module).href);
    const out = join(folder, "fragile");
    const imports = [pathToFileURL(module).href];
    const { result } = await searchExperiment(fragile, { workers: 2, refit: false, out, imports });
    expect(result.trials.complete).toBe(8);
    expect(result.trials.failed).toBeGreaterThan(0);
    const failed = (await trialsOf(out)).filter(({ state }) => state === "failed");
    for (const { attributes } of failed)
      expect(attributes.get("spillway:error")).toBe("the thread that evaluated it is gone: it ended with 7");
  });

  it("says why its threads cannot start", async () => {
    const missing = pathToFileURL(join(folder, "missing.mjs")).href;
    await expect(searchExperiment(base, { workers: 2, imports: [missing] })).rejects.toThrow("missing.mjs");
  });
});
