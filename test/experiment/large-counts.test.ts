// Counts that no machine holds are refused before any work, in experiment files and on the command
// line: no data are made, nothing is trained and no list of so many is made.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createProgram } from "../../src/cli/program.js";
import { withFields } from "../../src/experiment/description/overrides.js";
import { runExperiment, searchExperiment } from "../../src/experiment/index.js";
import { tasks } from "../../src/tasks/index.js";
import "../../src/index.js";

const billion = 1e9;
const series = { name: "s", data: { task: "lorenz", length: 400 }, reservoir: { size: 20 }, outputs: { report: false } };
const predict = { ...series, task: { type: "predict" } };
const forecast = { ...series, task: { type: "forecast", horizon: 5, starts: 2 } };
const patterns = { name: "p", data: { patterns: { types: ["rhythmic", "poisson"], count: 4 } }, reservoir: { size: 20 } };
const classify = { ...patterns, task: { type: "classify" } };
const search = { ...predict, search: { space: { "reservoir.leakRate": { low: 0.1, high: 1 } }, budget: { trials: 2 } } };

/** Paths of counts, and the experiment that has them. */
const counts: readonly (readonly [string, object])[] = [
  ...["seeds", "data.length", "split.train", "split.test", "washout", "task.ahead", "reservoir.size", "readout.folds"].map(
    (path) => [path, predict] as const,
  ),
  ...["horizon", "starts", "warmup", "stride", "season", "lags", "members"].map((field) => [`task.${field}`, forecast] as const),
  ...["count", "neuronCount", "durationMs", "rateHz"].map((field) => [`data.patterns.${field}`, classify] as const),
  ["task.members", classify],
  ["washout", forecast],
  ["split.test", forecast],
];

/** The memory that work takes at most. */
async function growth(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage().rss;
  await work();
  return process.memoryUsage().rss - before;
}
const mostBytes = 200e6;

describe("a count of a billion in an experiment", () => {
  it.each(counts)(
    "is refused as %s",
    async (path, base) => {
      const { data } = base as { data: { length?: number } };
      // Without a length, it follows from split.
      const source = path.startsWith("split") ? { ...base, data: { ...data, length: undefined }, split: { train: 300, test: 100 } } : base;
      const grown = await growth(() => expect(runExperiment(withFields(source, { [path]: billion }) as never)).rejects.toThrow());
      expect(grown).toBeLessThan(mostBytes);
    },
    5000,
  );

  it.each(["search.seeds", "search.budget.trials", "search.objective.rows", "search.refit.seeds"])(
    "is refused as %s",
    async (path) => {
      const grown = await growth(() => expect(searchExperiment(withFields(search, { [path]: billion }) as never)).rejects.toThrow());
      expect(grown).toBeLessThan(mostBytes);
    },
    5000,
  );

  const generators = tasks.all().flatMap(({ name, options }) =>
    Object.entries(options)
      .filter(([option, { schema }]) => option !== "seed" && schema["type"] === "integer")
      .map(([option]) => [name, option] as const),
  );
  it.each(generators)(
    "is refused by the generator %s as %s",
    async (task, option) => {
      const source = { ...predict, data: { task, length: 400, options: { [option]: billion } } };
      expect(await growth(() => expect(runExperiment(source as never)).rejects.toThrow())).toBeLessThan(mostBytes);
    },
    5000,
  );
});

describe("a count of a billion on the command line", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "spillway-counts-"));
    await writeFile(join(folder, "s.json"), JSON.stringify(predict));
    await writeFile(join(folder, "search.json"), JSON.stringify(search));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each([
    [["search", "search.json", "--trials"]],
    [["search", "search.json", "--workers"]],
    [["search", "search.json", "--threads"]],
    [["run", "s.json", "--threads"]],
    [["forecast", "model.safetensors", "--steps"]],
    [["analyse", "s.json", "--map"]],
    [["compare", "s.json", "--sequences"]],
    [["bench", "--sizes"]],
    [["lab", "--port"]],
  ])(
    "is refused behind %j",
    async ([command, ...args]) => {
      const paths = args.map((arg) => (arg.endsWith(".json") ? join(folder, arg) : arg));
      const { run } = createProgram(new AbortController().signal);
      const grown = await growth(() =>
        expect(run([command!, ...paths, String(billion), ...(command === "compare" ? ["--quiet"] : [])])).rejects.toThrow(),
      );
      expect(grown).toBeLessThan(mostBytes);
    },
    5000,
  );
});
