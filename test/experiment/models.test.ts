// `model` of an experiment: what forecasts in place of one reservoir, by the same run.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inputsOf } from "../../src/experiment/data/inputs.js";
import { asExperiment, loadData, parseExperiment, readRun, runExperiment, searchExperiment } from "../../src/experiment/index.js";
import { forecastAhead } from "../../src/experiment/runs/ahead.js";
import { loadModel } from "../../src/model/index.js";
import { runsInFolder } from "./run-text.js";

const runs = runsInFolder();
const ring = { task: "lorenz96", length: 400, options: { N: 8, dt: 0.05 } } as const;
const task = { type: "forecast", horizon: 10, starts: 4 } as const;
const experiment = {
  name: "ring",
  data: ring,
  task,
  outputs: { report: false },
} as const;
const nvar = { ...experiment, model: { type: "nvar", delays: 2, neighbours: 2 } } as const;
const field = { ...experiment, model: { type: "field", groups: 4, halo: 2 }, reservoir: { size: 40 } } as const;

describe.each([
  ["nvar", nvar, 1],
  ["field", field, 64],
] as const)("model %s", (kind, described, washout) => {
  let out: string;
  let first: Awaited<ReturnType<typeof runExperiment>>;
  beforeAll(async () => {
    out = await mkdtemp(join(tmpdir(), "spillway-models-"));
    first = await runExperiment(described, { out });
  });
  afterAll(() => rm(out, { recursive: true, force: true }));

  it("is trained and scored beside the baselines of any forecast", () => {
    const { result } = first;
    const [score] = result.scores;
    // Those of the file, and the strongest.
    expect(score!.baselines.map(({ name }) => name)).toEqual(["persistence", "mean", "ridge AR(24)"]);
    expect(result.verdict?.against).toBe("ridge AR(24)");
    expect(score!.value).toBeLessThan(score!.baselines[0]!.value);
    expect(result.verdict?.baselines.map(({ name }) => name)).toContain("ridge AR(24)");
    expect(result.choice?.sentence).toContain("by 25 forecasts of 10 steps inside the training part");
    expect(result.bands?.calibratedOn).toBe(25);
    expect(result.config).toMatchObject({ washout, model: { type: kind } });
  });

  it("is saved, and goes on from the end of the table as the run did", async () => {
    const folder = first.folder!;
    expect(first.result.files).toContain("forecasts.csv");
    const loaded = await loadModel(join(folder, "model.safetensors"));
    expect(loaded.kind).toBe(kind);
    const series = await loadData(parseExperiment(described));
    const [head, ...lines] = (await readFile(join(folder, "forecasts.csv"), "utf8")).trimEnd().split("\n");
    const column = head!.split(",").indexOf("prediction");
    const written = lines.filter((line) => line.startsWith("last,"));
    const rows = series.kind === "series" ? series.series.subarray(-100) : undefined;
    const model = loaded.kind === "nvar" || loaded.kind === "field" ? loaded.forecaster : undefined;
    const said = await model!.forecast(10, { warmup: rows! });
    await model!.dispose();
    expect(written.map((line) => Number(line.split(",")[column]))).toEqual([...said.data]);
    const ahead = await forecastAhead(folder, { steps: 3 });
    expect(ahead.forecasts[0]!.prediction.rows).toBe(3);
    expect(ahead.levels).toEqual([0.9]);
  });

  it("has a configuration in its result that gives the same again", async () => {
    const { config } = await readRun(first.folder!);
    const again = await runExperiment({ ...config, name: "again" } as never);
    expect(again.result.scores).toEqual(first.result.scores);
  });

  it("is searched over by its options and by those of its parts", async () => {
    const own = kind === "nvar" ? { model: { ...nvar.model, lambda: 0.1 } } : { readout: { type: "ridge" as const, lambda: 0.1 } };
    const space = kind === "nvar" ? { "model.delays": { choice: [1, 3] } } : { "model.halo": { choice: [0, 2] } };
    const search = { space, seeds: 1, budget: { trials: 2 }, sampler: { type: "grid" }, refit: { seeds: 1 } };
    const { result } = await searchExperiment({ ...described, ...own, search }, { out: runs.out });
    expect(result.trials).toEqual({ complete: 2, pruned: 0, failed: 0 });
    expect(result.test).toBeGreaterThan(0);
  });

  it("has bands if its penalty is named, of forecasts by a model of fewer rows", async () => {
    const own = kind === "nvar" ? { model: { ...nvar.model, lambda: 0.1 } } : { readout: { type: "ridge" as const, lambda: 0.1 } };
    const { result } = await runExperiment({ ...described, ...own });
    expect(result.choice).toBeUndefined();
    expect(result.bands?.covered).toBeGreaterThan(0.5);
    expect(result.seeds[0]!.readout).toMatchObject({ details: { lambda: 0.1 } });
  });

  it("is refused for tasks of other types, and where one reservoir is asked for", async () => {
    const reservoir = { size: 5 };
    const predict = kind === "nvar" ? { ...nvar, task: "predict" } : { ...field, task: "predict", reservoir };
    expect(() => parseExperiment(predict)).toThrow(`model.type is "${kind}"; it takes "forecaster" for predict`);
    const loaded = asExperiment(described).experiment;
    const data = await loadData(loaded);
    expect(() => inputsOf(loaded, data)).toThrow(`model.type is "${kind}"; it takes "forecaster" here`);
  });

  it("learns several series of one table", async () => {
    const rows = Array.from({ length: 240 }, (_, t) => {
      const values = [0, 1, 2, 3].map((c) => Math.sin(0.3 * t + c + (t % 2)));
      return `${t % 2 === 0 ? "a" : "b"},${Math.floor(t / 2)},${values.join(",")}`;
    });
    const file = join(runs.out, "two.csv");
    await writeFile(file, `which,time,p,q,r,s\n${rows.join("\n")}\n`);
    const data = { file, group: "which", time: "time", timeUnit: "s" } as const;
    const model = kind === "nvar" ? ({ type: "nvar" } as const) : ({ type: "field", groups: 2 } as const);
    const { result } = await runExperiment({ ...described, model, data });
    expect(result.data["task"]).toContain("rows of 2 series");
    expect(result.scores.every(({ value }) => Number.isFinite(value))).toBe(true);
  });

  it("sees what is known beforehand, the calendar, and where a value is missing", async () => {
    const lines = Array.from({ length: 300 }, (_, t) => {
      const known = Math.sin(t * t);
      const values = [0, 1, 2, 3].map((c) => (t === 100 ? "" : Math.sin(0.3 * t + c) + known));
      return `${new Date(Date.UTC(2024, 0, 1, t)).toISOString()},${known},${values.join(",")}`;
    });
    const file = join(runs.out, "hours.csv");
    await writeFile(file, `time,k,p,q,r,s\n${lines.join("\n")}\n`);
    const columns = ["p", "q", "r", "s"];
    const model = kind === "nvar" ? ({ type: "nvar" } as const) : ({ type: "field", groups: 2 } as const);
    const plain = { ...described, model, task: { ...task, horizon: 3 } };
    const rmse = async (data: object) => {
      const { result } = await runExperiment({ ...plain, data: { file, columns, time: "time", ...data } });
      return result.scores.find(({ metric }) => metric === "rmse")!.value;
    };
    const unknown = await rmse({ missing: "hold" });
    expect(await rmse({ missing: "hold", known: ["k"] })).toBeLessThan(unknown / 4);
    expect(await rmse({ missing: "mask", calendar: ["hour"] })).not.toBe(unknown);
  });
});

describe("model forecaster", () => {
  it("is what forecasts if nothing is said", async () => {
    const plain = { ...experiment, reservoir: { size: 20 }, task: { ...task, members: 1 } } as const;
    const [said, unsaid] = [await runExperiment({ ...plain, model: "forecaster" }), await runExperiment(plain)];
    expect(said.result.scores).toEqual(unsaid.result.scores);
  });
});

describe("the washout of model nvar", () => {
  it("is what its delays reach over, and may be more", async () => {
    const rows = async (washout: number | "auto") => {
      const { result } = await runExperiment({ ...nvar, model: { type: "nvar", delays: 4, stride: 3, lambda: 1, degrees: [] }, washout });
      return [result.config.washout, result.seeds[0]!.readout["rows"]];
    };
    expect(await rows("auto")).toEqual([9, 310]);
    expect(await rows(59)).toEqual([59, 260]);
    await expect(rows(8)).rejects.toThrow('washout is 8; it takes "auto", or at least 9');
  });
});

it("forecasts by the median of several fields", async () => {
  const { result } = await runExperiment({ ...field, task: { ...task, members: 3 } });
  expect(result.choice?.sentence).toContain("the median of 3 reservoirs forecasts");
  const [alone] = (await runExperiment(field)).result.scores;
  expect(result.scores[0]!.value).not.toBe(alone!.value);
  expect(result.scores[0]!.value).toBeLessThan(result.scores[0]!.baselines[0]!.value);
});

describe("what does not go with a model", () => {
  it.each([
    [{ model: "nvr" }, 'model.type is "nvr"; it takes forecaster, nvar, field (did you mean nvar?)'],
    [{ model: 5 }, "model is 5; it takes forecaster, nvar or field"],
    [{ model: { type: "nvar", halo: 3 } }, 'unknown field "model.halo"'],
    [{ model: "field" }, "model.groups is missing"],
    [{ ...nvar, reservoir: { size: 5 } }, 'reservoir is {"size":5}; it takes nothing for model nvar, which has none'],
    [{ ...nvar, readout: { lambda: 1 } }, "it takes nothing for model nvar; its penalty is model.lambda"],
    [{ ...nvar, transforms: ["log"] }, 'transforms is "log"; it takes only standardise for model nvar'],
    [{ ...nvar, task: { ...task, lags: 3 } }, "task.lags is 3; it takes nothing for model nvar; model.delays says"],
    [{ ...nvar, task: { ...task, members: 3 } }, "task.members is 3; it takes nothing for model nvar, which has one"],
    [{ ...field, outputs: { states: "npy" } }, 'outputs.states is "npy"; it takes "none" for model field'],
    [{ ...field, readout: "rls" }, 'readout.type is "rls"; it takes "ridge" for model field'],
    [{ ...field, reservoir: { kind: "spiking", size: 5 } }, "it takes one rate reservoir, that of a group, for model field"],
  ])("%j", (more, sentence) => {
    expect(() => parseExperiment({ ...experiment, ...more })).toThrow(sentence);
  });

  it.each([
    [{ ...field, model: { type: "field", groups: 3 } }, "model.groups is 3 and the field has 8 sites"],
    [{ ...nvar, model: { type: "nvar", neighbours: 9 } }, "model.neighbours is 9"],
    [
      { ...nvar, model: { type: "nvar", delays: 900 } },
      "model.delays is 900; it takes fewer, or more rows: with stride 1 they reach over 900 rows, and 320 train",
    ],
  ] as const)("to the data: %j", async (described, sentence) => {
    await expect(runExperiment(described as never)).rejects.toThrow(sentence);
  });

  it("to how it is run", async () => {
    await expect(runExperiment(nvar, { engine: "sim" })).rejects.toThrow('engine is "sim"; it takes "auto" or "cpu" for model nvar');
    await expect(runExperiment(field, { profile: true })).rejects.toThrow("profile is true; it takes false for model field");
  });
});
