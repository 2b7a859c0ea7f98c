// A search over an experiment: what a trial may see, what is kept, and what the best one gives.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { SpillwayError } from "../../packages/core/src/errors.js";
import "../../src/index.js";
import { writeCsv } from "../../packages/io/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import type { StudyTrial } from "../../packages/search/src/index.js";
import {
  type FinishedSearch,
  loadData,
  parseExperiment,
  readSearch,
  runExperiment,
  type SearchInput,
  searchExperiment,
} from "../../src/experiment/index.js";
import { objectiveOf, SettingEvaluator } from "../../src/experiment/search/search-objective.js";
import { refitBest } from "../../src/experiment/search/search-refit.js";
import { packageVersion } from "../../src/model/version.js";

const folder = mkdtempSync(join(tmpdir(), "spillway-search-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const space = { "reservoir.spectralRadius": { float: [0.1, 1.4] }, "readout.lambda": { float: [1e-8, 1], log: true } } as const;
const predict: SearchInput = {
  name: "narma",
  data: { task: "narma" },
  reservoir: { size: 20 },
  task: "predict",
  washout: 30,
  split: { train: 300, test: 100 },
  metrics: ["nrmse"],
  outputs: { report: false },
  search: { space, seeds: 2, budget: { trials: 6 }, refit: { seeds: 2 } },
};
const withSearch = (search: object, rest: object = {}): SearchInput => ({ ...predict, ...rest, search: { ...predict.search, ...search } });

describe("a search over an experiment", () => {
  it("finds a setting, and says its score by which it was chosen, with fresh seeds, and on the test part", async () => {
    const { result, best, refit } = await searchExperiment(predict);
    expect(result.trials).toEqual({ complete: 6, pruned: 0, failed: 0 });
    expect(Object.keys(result.best!.values)).toEqual(Object.keys(space));
    for (const figure of [result.validation, result.freshSeeds, result.test]) expect(figure).toBeGreaterThan(0);
    expect(refit!.seeds.map(({ seed }) => seed)).toEqual([2, 3]);
    expect(best!.seeds).toEqual([2, 3]);
    expect((await runExperiment(best!)).result.scores).toEqual(refit!.scores);
  });

  it("writes a page with its three figures side by side and its trials drawn", async () => {
    const { folder: runFolder } = await searchExperiment({ ...predict, name: "drawn", outputs: {} }, { out: folder });
    const page = readFileSync(join(runFolder!, "report.html"), "utf8");
    const rows = ["of the trial that was chosen by it", "with seeds that no trial had", "on the test part"];
    for (const row of rows) expect(page).toContain(`nrmse ${row}</th>`);
    for (const title of ["Values by trial", "Trials across all parameters", "Values by parameter", "Importance of the parameters"])
      expect(page).toContain(`${title}</figcaption>`);
  });

  it("passes over a setting that cannot be trained with a fresh seed, says why, and takes the next best", async () => {
    const plan = await readSearch(predict);
    const trial = (number: number, value: number, state = "complete") =>
      ({ number, value, state, params: { "reservoir.spectralRadius": number / 10 }, attributes: {} }) as unknown as StudyTrial;
    const tried: unknown[] = [];
    const train = async (values: object): Promise<[number, never]> => {
      tried.push(values);
      if (tried.length === 1) throw new SpillwayError("numeric", "lambda is too small");
      return [0.5, { scores: [] } as never];
    };
    const trials = [trial(1, 3), trial(2, 1), trial(3, 2), trial(4, 0, "pruned")];
    const found = await refitBest(plan, trials, true, train);
    expect(found).toMatchObject({ trial: { number: 3 }, freshSeeds: 0.5, passedOver: [{ trial: 2, reason: "lambda is too small" }] });
    expect(tried).toEqual([{ "reservoir.spectralRadius": 0.2 }, { "reservoir.spectralRadius": 0.3 }]);
    const none = await refitBest(plan, trials, true, () => Promise.reject(new SpillwayError("numeric", "no")));
    expect(none).toMatchObject({ trial: { number: 2 }, freshSeeds: undefined, result: undefined });
    expect(none!.passedOver.map((passed) => passed.trial)).toEqual([2, 3, 1]);
    const other = new SpillwayError("value", "another mistake");
    await expect(refitBest(plan, trials, true, () => Promise.reject(other))).rejects.toBe(other);
  });

  it("shows no trial a row of the test part", async () => {
    const rows = Array.from({ length: 300 }, (_, t) => Math.sin(t / 5) + 0.1 * Math.sin(t * t));
    const path = (name: string) => join(folder, `${name}.csv`);
    const broken = rows.map((value, t) => (t < 240 ? value : value + 1000 * t));
    for (const [name, values] of [
      ["whole", rows],
      ["broken", broken],
    ] as const)
      await writeCsv(path(name), Matrix.from(values.map((value) => [value])), { columns: ["x"] });
    const scores = async (name: string, task: SearchInput["task"]) => {
      const source = { ...predict, data: { file: path(name) }, task, washout: 20, split: { train: 239, test: 40 }, metrics: undefined };
      const { result } = await searchExperiment({ ...source, search: predict.search }, { refit: false });
      return [result.validation, result.best];
    };
    for (const task of ["predict", { type: "forecast", horizon: 5, warmup: 20 }] as const)
      expect(await scores("broken", task)).toEqual(await scores("whole", task));
  });

  it("scores a setting as an experiment does that is cut by hand", async () => {
    const { search: _, ...source } = predict;
    const experiment = parseExperiment(source);
    const objective = objectiveOf(experiment, { rows: 60 });
    const signal = new AbortController().signal;
    const evaluator = new SettingEvaluator({ source, path: undefined, objective, statistic: "median", run: { signal } });
    const { seeds } = await evaluator.evaluate({ "reservoir.spectralRadius": 0.7 }, [5]);
    const data = await loadData(experiment);
    if (data.kind !== "driven") throw new Error("NARMA has inputs");
    const path = join(folder, "cut.csv");
    const cut = Array.from({ length: 300 }, (__, t) => [data.inputs.at(t, 0), data.targets.at(t, 0)]);
    await writeCsv(path, Matrix.from(cut), { columns: ["u", "y"] });
    const byHand = { ...source, reservoir: { size: 20, spectralRadius: 0.7 }, data: { file: path, inputs: ["u"], targets: ["y"] } };
    const { result } = await runExperiment({ ...byHand, split: { train: 240, test: 60 }, seeds: [5] });
    expect(seeds).toEqual([result.scores[0]!.value]);
  });

  it("goes on where it stopped, and refuses to mix with another search", async () => {
    const out = join(folder, "runs");
    const options = { out, refit: false };
    const params = (search: FinishedSearch) => [search.result.best, search.result.trials];
    const whole = await searchExperiment(withSearch({ budget: { trials: 9 } }), { refit: false });
    await searchExperiment(predict, { ...options, trials: 4 });
    const resumed = await searchExperiment(predict, { ...options, trials: 9 });
    expect(params(resumed)).toEqual(params(whole));
    expect(JSON.parse(readFileSync(join(out, "narma", "search.json"), "utf8"))).toMatchObject({
      ...{ format: "spillway-search", name: "narma" },
      ...{ versions: { spillway: packageVersion, node: process.versions.node }, machine: { architecture: process.arch } },
    });
    await expect(searchExperiment(withSearch({ seeds: 4 }), options)).rejects.toThrow("holds trials of another experiment");
    await expect(searchExperiment(withSearch({ space: { washout: { int: [20, 40] } } }), options)).rejects.toThrow("is of another space");
  });

  it("says what its data lack before it keeps anything, and goes on once a setting is mended that failed", async () => {
    const out = join(folder, "mended");
    const noFile = { ...predict, data: { file: join(folder, "nowhere.csv") } };
    await expect(searchExperiment(noFile, { out })).rejects.toThrow(/nowhere\.csv: no such file/);
    expect(existsSync(out)).toBe(false);
    // More lags than rows that train are found by a trial.
    const withLags = (lags: number): SearchInput => ({
      ...{ ...predict, data: { task: "mackeyGlass" }, split: { train: 90, test: 20 }, washout: 0 },
      task: { type: "forecast", horizon: 2, lags },
    });
    await expect(searchExperiment(withLags(80), { out })).rejects.toThrow("trials failed");
    const { result } = await searchExperiment(withLags(5), { out, refit: false });
    expect(result.trials.complete).toBe(6);
    await expect(searchExperiment(withLags(4), { out })).rejects.toThrow("another experiment");
  });

  it("keeps what it had if it is stopped", async () => {
    const stop = new AbortController();
    const out = join(folder, "stopped");
    const onProgress = (done: number) => void (done === 3 && stop.abort());
    const { result } = await searchExperiment(predict, { out, signal: stop.signal, onProgress });
    expect(result.interrupted).toBe(true);
    expect(result.trials.complete).toBe(3);
    const again = await searchExperiment(predict, { out, refit: false });
    expect(again.result.trials.complete).toBe(6);
  });

  it("stops bad trials at the stages of halving", async () => {
    const halving = withSearch({ halving: { rows: [60, 120, 200], keep: 0.34 }, sampler: { type: "random", batch: 6 } });
    const { result } = await searchExperiment(halving, { refit: false });
    expect(result.trials).toEqual({ complete: 2, pruned: 4, failed: 0 });
  });

  it("tries every value of a sweep in each trial", async () => {
    const sweep = { "reservoir.spectralRadius": { float: [0.1, 1.4] }, "readout.lambda": { sweep: [1e-8, 1e4], points: 3 } };
    const { result } = await searchExperiment(withSearch({ space: sweep, budget: { trials: 3 } }), { refit: false });
    expect(result.best!.values["readout.lambda"]).toBeLessThan(1e4);
  });

  it.each<[string, object]>([
    ["a driven reservoir", {}],
    ["a series with squares and inputs in the readout", { data: { task: "mackeyGlass" }, readout: { input: true, transform: "squares" } }],
    ["outputs that are fed back", { data: { task: "mackeyGlass" }, reservoir: { size: 20, feedback: {} } }],
    ["centred features and no intercept", { readout: { subtractMean: true, intercept: false } }],
  ])("gives a path of lambdas from one training the bits of one by one: %s", async (_, rest) => {
    const { search: __, ...source } = { ...predict, transforms: ["standardise"], ...rest };
    const objective = objectiveOf(parseExperiment(source), {});
    const signal = new AbortController().signal;
    const evaluator = new SettingEvaluator({ source, path: undefined, objective, statistic: "median", run: { signal } });
    // The first is too small to be solved.
    const lambdas = [1e-300, 1e-9, 1e-4, 10];
    const values = { "reservoir.spectralRadius": 0.8 };
    const work = (await evaluator.lambdaPathWork({ values, seeds: [3, 4] }, lambdas))!;
    expect(work.jobs).toHaveLength(2);
    const along = work.combine([await evaluator.score(work.jobs[0]!), await evaluator.score(work.jobs[1]!)]);
    const each = [];
    for (const lambda of lambdas) each.push(await evaluator.evaluate({ ...values, "readout.lambda": lambda }, [3, 4]));
    expect(along).toEqual(each);
    expect(new Set(each.map(({ value }) => value)).size).toBeGreaterThan(2);
  });

  it("counts a setting whose forecasts leave for infinity as the worst, and goes on", async () => {
    const wild = { space: { "reservoir.spectralRadius": { choice: [1e30, 0.9] } }, sampler: "grid", seeds: 1 };
    const activation = { reservoir: { size: 8, activation: "identity" } };
    const { result } = await searchExperiment(withSearch(wild, activation), { refit: false });
    expect(result.trials).toEqual({ complete: 2, pruned: 0, failed: 0 });
    expect(result.best!.values["reservoir.spectralRadius"]).toBe(0.9);
  });

  it("fails the trials that cannot be evaluated, and goes on, also if those at the lower ends cannot", async () => {
    const rows = { space: { ...space, washout: { choice: [260, 30] } }, sampler: "random", budget: { trials: 3 }, seeds: 1 };
    const { result } = await searchExperiment(withSearch(rows, { split: { train: 300, test: 20 } }), { refit: false });
    expect(result.trials.complete).toBe(3);
    expect(result.trials.failed).toBeGreaterThan(0);
  });

  it("cross-validates cases on the training part", async () => {
    const patterns = { types: ["poisson", "synchronous"], count: 10, neuronCount: 6, durationMs: 100 };
    const classify = {
      name: "c",
      data: { patterns },
      reservoir: { size: 15 },
      task: "classify",
      metrics: undefined,
      split: { train: 0.7 },
    } as never;
    const search = { space: { "reservoir.leakRate": { float: [0.1, 1] } }, seeds: 1, budget: { trials: 2 }, objective: { folds: 2 } };
    const { result } = await searchExperiment({ ...(classify as SearchInput), outputs: { report: false }, search });
    expect(result).toMatchObject({ score: "accuracy", better: "higher" });
    expect(result.validation).toBeGreaterThan(0.3);
  });

  it.each<[object, string]>([
    [{ space: {} }, "search.space is empty"],
    [{ space: { "reservoir.spectralRadios": { float: [0, 1] } } }, 'search.space: unknown field "reservoir.spectralRadios": did you mean'],
    [{ space: { "reservoir.leakRate": { float: [0.1, 3] } } }, "search.space: reservoir.leakRate is 3"],
    [
      { space: { "split.train": { int: [200, 300] } } },
      "search.space.split.train: every trial has the same rows, so that none sees the test",
    ],
    [{ space: { "data.rows": { int: [300, 400] } } }, "search.space.data.rows: every trial has the same rows"],
    [{ space: { "reservoir.seed": { int: [0, 5] } } }, "search.space.reservoir.seed: the seeds of every trial are search.seeds"],
    [{ space: { seeds: { sweep: [1, 5], points: 2 } } }, "search.space.seeds: the seeds of every trial are search.seeds"],
    [{ space: { name: { choice: ["a", "b"] } } }, "search.space.name: no trial depends on it"],
    [{ objective: { score: "rmse" } }, 'search.objective.score is "rmse"; it takes one of the experiment\'s metrics: nrmse'],
    [{ objective: { on: "folds" } }, 'search.objective.on is "folds"; it takes "validation" for predict'],
    [{ budget: { time: "soon" } }, 'search.budget.time is "soon"; it takes seconds, or a text such as "90s", "10m" or "2h"'],
    [{ sampler: "tpo" }, 'search.sampler is "tpo"; it takes one of tpe, random, sobol, cmaes, grid'],
    [{ halving: { rows: [200, 100] } }, "search.halving.rows is an array of 2; it takes numbers that rise"],
    [{ halving: { rows: [200, 226] } }, "search.halving.rows is 226; it takes at most 225: of 300 training rows the last 75 score"],
    [{ halving: { rows: [30, 225] } }, "search.halving.rows is 30; it takes more than the 30 rows of the washout"],
    [{ objective: { rows: 270 } }, "search.objective.rows is 270; it takes fewer: of 300 training rows 30 are left, and 30 are washout"],
    [{ objective: { rows: 400 } }, "search.objective.rows is 400; it takes fewer: of 300 training rows 0 are left, and 30 are washout"],
  ])("refuses %j before the first trial", async (search, sentence) => {
    await expect(searchExperiment(withSearch(search))).rejects.toThrow(sentence);
  });

  it("says what runs a file with a search, and what one without takes", async () => {
    await expect(runExperiment(predict as never)).rejects.toThrow("`spillway search` runs a file with a search");
    await expect(searchExperiment({ ...predict, search: undefined as never })).rejects.toThrow(
      "search is missing; it takes a block such as",
    );
  });
});
