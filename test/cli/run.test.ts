import { promises } from "node:fs";
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type RunCommandOptions, run } from "../../src/cli/commands/run.js";
import { silent } from "../../src/cli/progress.js";
import type { ExperimentResult } from "../../src/experiment/result.js";
import { readNpy } from "../../src/io/index.js";
import { rmse } from "../../src/metrics/index.js";
import { Classifier, Forecaster } from "../../src/model/index.js";
import { mackeyGlass, narma } from "../../src/tasks/index.js";

const predict = `name: small
data: { task: narma, length: 700, options: { seed: 3 } }
transforms: []
reservoir: { size: 40, spectralRadius: 0.95, leakRate: 1, inputScaling: 0.1, bias: 0.2 }
readout: { type: ridge, lambda: 1.0e-8 }
task: predict
split: { train: 500, test: 200 }
seeds: [1, 2]
baselines: []
outputs: { report: false }
`;
const forecast = `name: small
data: { task: mackeyGlass }
reservoir: { size: 60, leakRate: 0.5 }
readout: { type: ridge, lambda: 1.0e-6 }
task: { type: forecast, horizon: 20, starts: 3, warmup: 100 }
split: { train: 600, test: 200 }
seed: 1
baselines: [persistence, mean]
outputs: { report: false }
`;

let out: string;
beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), "spillway-"));
});

/** Runs the text of an experiment file; gives result.json and the command's text. */
async function runText(
  text: string,
  more: Partial<RunCommandOptions> = {},
): Promise<{ result: ExperimentResult; text: string; folder: string }> {
  const file = join(out, "small.yaml");
  await writeFile(file, text);
  const outcome = await run([file], { out, signal: new AbortController().signal, progress: silent, ...more });
  const folder = join(out, "small");
  return { result: JSON.parse(await readFile(join(folder, "result.json"), "utf8")) as ExperimentResult, text: outcome.text, folder };
}
/** Numbers from 0 to 1, written with ten digits. */
const uniform = (count: number): number[] => [...narma(count, { seed: 1 }).inputs.data].map((value) => Number((2 * value).toFixed(10)));
const scoresOf = (result: ExperimentResult) => result.seeds.map(({ scores }) => scores);

describe("a run", () => {
  it("with --profile prints the phases of all seeds, and keeps them in the result", async () => {
    const { result, text } = await runText(predict, { profile: true, engine: "cpu" });
    // Two seeds of 500 rows to train on and 200 to test; only those tested are kept.
    const run = result.profile!.phases.find(({ phase }) => phase === "run")!;
    expect(run).toMatchObject({ clock: "host", steps: 2 * 700 });
    expect(result.seeds.map(({ profile }) => profile!.calls)).toEqual([2, 2]);
    expect(text).toMatch(/phase +clock +ms +pieces +steps/);
    expect(text).toMatch(/run +clock +[\d.]+ +\d+ +1400/);
    expect((await runText(predict)).result.profile).toBeUndefined();
  });

  it("predicts a target of its inputs' own row, or `ahead` rows later", async () => {
    // What comes out is what went in three rows before: known from the input at three rows ahead,
    // and not known yet at four.
    const u = uniform(903);
    const rows = Array.from({ length: 900 }, (_, t) => `${u[t + 3]},${u[t]}`);
    await writeFile(join(out, "delayed.csv"), ["u,y", ...rows].join("\n"));
    const text = `name: small
data: { file: delayed.csv, inputs: [u], targets: [y] }
reservoir: { size: 30, inputScaling: 0.1, leakRate: 1 }
readout: { lambda: 1.0e-8 }
task: { type: predict }
split: { train: 600, test: 200 }
metrics: [rmse]
baselines: [persistence]
`;
    const runAt = async (ahead?: number) => {
      const { result } = await runText(text, ahead === undefined ? {} : { set: [`task.ahead=${ahead}`] });
      return {
        rmse: result.seeds[0]!.scores["rmse"]!,
        persistence: result.scores[0]!.baselines.find(({ name }) => name === "persistence")!.value,
        task: result.data.task,
      };
    };
    const [same, three, four] = [await runAt(), await runAt(3), await runAt(4)];
    expect(same.task).toContain("prediction of targets from inputs; trained on 600 rows");
    expect(three.task).toContain("prediction of targets 3 rows ahead from inputs; trained on 600 rows");
    expect(three.rmse).toBeLessThan(0.01);
    expect(four.rmse).toBeGreaterThan(0.25); // a uniform number that nothing tells of deviates by 1 / sqrt(12) = 0.29
    // The last target that is known: one row before, or as many as the prediction looks ahead.
    const persistence = (from: number, lag: number) => rmse(u.slice(from, from + 200), u.slice(from - lag, from - lag + 200));
    expect(same.persistence).toBeCloseTo(persistence(600, 1), 12);
    expect(three.persistence).toBeCloseTo(persistence(603, 3), 12);
  });

  it("looks ahead within a test file of its own, and refuses one that has no row left then", async () => {
    const u = uniform(803);
    const rows = Array.from({ length: 800 }, (_, t) => `${u[t + 3]},${u[t]}`);
    await writeFile(join(out, "known.csv"), ["u,y", ...rows.slice(0, 600)].join("\n"));
    await writeFile(join(out, "asked.csv"), ["u,y", ...rows.slice(600)].join("\n"));
    const text = `name: small
data: { file: known.csv, test: asked.csv, inputs: [u], targets: [y] }
reservoir: { size: 30, inputScaling: 0.1, leakRate: 1 }
readout: { lambda: 1.0e-8 }
task: { type: predict, ahead: 3 }
split: { train: 590 }
washout: 50
metrics: [rmse]
`;
    const { result } = await runText(text);
    // 200 rows: 3 have no target and 50 settle the state.
    expect(result.data.task).toContain("tested on 147");
    expect(result.seeds[0]!.scores["rmse"]).toBeLessThan(0.02);
    await writeFile(join(out, "asked.csv"), "u,y\n1,1\n2,2\n");
    await expect(runText(text)).rejects.toThrow("the test file has 2 rows and task.ahead is 3, which leaves none to test");
  });

  it("writes scores of every seed and over the seeds, config, engine and why, data, timing and versions", async () => {
    const { result, folder } = await runText(predict);
    expect((await readdir(folder)).sort()).toEqual(["model.safetensors", "result.json"]);
    expect(result).toMatchObject({
      format: "spillway-result",
      name: "small",
      interrupted: false,
      engine: { name: "cpu", reason: expect.stringContaining("auto"), plan: { engine: "cpu" } },
      data: {
        summary: "narma, 700 rows",
        task: "prediction of targets from inputs; trained on 500 rows (100 of them washout), tested on 200",
      },
      config: { name: "small", reservoir: { size: 40, spectralRadius: 0.95, activation: "tanh" }, seeds: [1, 2] },
      versions: { node: process.versions.node },
    });
    const [first, second] = scoresOf(result).map((scores) => scores["nrmse"]!);
    expect(result.scores[0]).toMatchObject({ metric: "nrmse", seeds: 2, mean: (first! + second!) / 2 });
    expect(first).toBeLessThan(0.6);
    expect(Object.keys(result.timing).sort()).toEqual(["data", "test", "total", "train"]);
  });

  it("gives the same scores again, on every engine, and from the config in its own result", async () => {
    const { result } = await runText(predict);
    expect(scoresOf((await runText(predict)).result)).toEqual(scoresOf(result));
    expect(scoresOf((await runText(predict, { engine: "reference" })).result)).toEqual(scoresOf(result));
    expect(scoresOf((await runText(JSON.stringify(result.config))).result)).toEqual(scoresOf(result));
  });

  it("a forecast's config gives its scores again too, with feedback", async () => {
    const text = forecast.replace("leakRate: 0.5", "leakRate: 0.5, feedback: { scaling: 0.5 }, bias: 0.1");
    const { result } = await runText(text);
    expect(result.config.reservoir).toMatchObject({ inputSize: 0, feedback: { size: 1 } });
    expect(scoresOf((await runText(JSON.stringify(result.config))).result)).toEqual(scoresOf(result));
  });

  it("prints a table of scores and where the files are", async () => {
    const { text, folder } = await runText(predict);
    expect(text).toMatch(
      /^small: cpu engine \(auto: .*\), \d+\.\d\d s\n\nscore +value +over seeds\nnrmse +0\.\d+ +median of 2 seeds, quartiles 0\.\d+ and 0\.\d+\n/,
    );
    expect(text).toContain(`results: ${join(folder, "result.json")}`);
  });

  it("says below the table how far the scores are from the best baseline", async () => {
    const { text } = await runText(predict, { set: ["baselines=[persistence, mean]", "metrics=[rmse]", "seed=1"] });
    expect(text).toMatch(/\n\nBetter than every baseline: rmse 0\.\d+ times persistence\.\n/);
    const chaos = ["data={ task: logistic, length: 900 }", "task.ahead=30", "baselines=[mean]", "metrics=[rmse]", "seed=1"];
    expect((await runText(predict, { set: chaos })).text).toMatch(/\n\nNot better than a baseline: rmse 1\.?\d* times mean\.\n/);
  });

  it("gives the runs that were finished before one that fails, and why that failed", async () => {
    const [first, second] = [join(out, "first.yaml"), join(out, "second.yaml")];
    await writeFile(first, predict.replace("seeds: [1, 2]", "seed: 1"));
    await writeFile(second, "name: other\ndata: { file: none.csv }\nreservoir: { size: 5 }\ntask: predict\n");
    const options = { out, signal: new AbortController().signal, progress: silent };
    const { text, failure } = await run([first, second], options);
    expect(text).toContain("small: cpu engine");
    expect(String(failure)).toContain(`${join(out, "none.csv")}: no such file`);
    expect(JSON.parse((await run([first, second], { ...options, json: true })).text)).toMatchObject([{ name: "small" }]);
    await expect(run([second, first], options)).rejects.toThrow("no such file");
  });

  it("prints result.json and nothing else with --json", async () => {
    const { text, result } = await runText(predict, { json: true });
    expect(JSON.parse(text)).toEqual(result);
  });

  it("writes a report that opens without a network", async () => {
    const { folder } = await runText(predict, { set: ["outputs.report=true", "seed=1"] });
    const html = await readFile(join(folder, "report.html"), "utf8");
    expect(html).toContain("Prediction against target");
    expect(html).toContain("States around their means, driven by the data");
    expect(html).not.toMatch(/<(script|link|img)[^>]*(src|href)=/);
    expect(html.length).toBeLessThan(6_000_000);
  });

  it("replaces an earlier run and says so", async () => {
    const notes: string[] = [];
    const progress = { ...silent, note: (line: string) => notes.push(line) };
    await runText(predict, { progress });
    expect(notes).toEqual([]);
    const { folder } = await runText(predict, { progress });
    expect(notes).toEqual([`${folder}: the run that was there is replaced`]);
  });

  it("leaves nothing behind where the experiment cannot run", async () => {
    await expect(runText(predict, { set: ["washout=500"] })).rejects.toThrow(
      "small.yaml: with --set, washout is 500; it takes fewer than the 500 rows of the training part",
    );
    await expect(runText(predict, { set: ["reservoir.inputSize=2"] })).rejects.toThrow(/small\.yaml.*inputSize/);
    await expect(runText(predict, { set: ["readout.solver=lu"] })).rejects.toThrow(
      /small\.yaml: with --set, ridge: readout\.solver is "lu"/,
    );
    expect(await readdir(out)).toEqual(["small.yaml"]);
  });

  it("checks every file before it runs the first", async () => {
    const good = join(out, "good.yaml");
    const bad = join(out, "bad.yaml");
    await writeFile(good, predict);
    await writeFile(bad, predict.replace("size: 40", "sice: 40").replace("name: small", "name: other"));
    const options = { out, signal: new AbortController().signal, progress: silent };
    await expect(run([good, bad], options)).rejects.toThrow("bad.yaml:4: reservoir.size is missing");
    await writeFile(bad, predict);
    await expect(run([good, bad], options)).rejects.toThrow('its name is "small", as that of');
    expect((await readdir(out)).sort()).toEqual(["bad.yaml", "good.yaml"]);
  });

  it("stopped in the middle, keeps the seeds that are finished", async () => {
    const stop = new AbortController();
    const progress = { ...silent, update: (_: number, label = "") => void (label.startsWith("small, seed 2") && stop.abort()) };
    const { result, text } = await runText(predict, { set: ["seeds=[0, 1, 2, 3]"], signal: stop.signal, progress });
    expect(result).toMatchObject({ interrupted: true, seeds: [{ seed: 0 }, { seed: 1 }], scores: [{ seeds: 2 }, {}, {}, {}] });
    expect(text).toContain("interrupted");
  });

  it("stopped before a seed is finished, leaves an earlier run as it was", async () => {
    await runText(predict);
    const stop = new AbortController();
    const progress = { ...silent, begin: () => stop.abort() };
    const { result, text } = await runText(predict, { signal: stop.signal, progress });
    expect(text).toContain("No seed was finished, so there are no scores.");
    expect(result.interrupted).toBe(false);
    expect((await readdir(out)).sort()).toEqual(["small", "small.interrupted", "small.yaml"]);
  });
});

describe("what a run leaves behind", () => {
  it("the model of the first seed predicts what the run scored", async () => {
    const { folder, result } = await runText(predict);
    const { inputs, targets } = narma(700, { seed: 3 });
    await using forecaster = await Forecaster.load(join(folder, "model.safetensors"));
    const prediction = await forecaster.predict(inputs.subarray(500));
    const errors = prediction.data.map((value, t) => (value - targets.data[500 + t]!) ** 2);
    const rmse = Math.sqrt(errors.reduce((sum, value) => sum + value, 0) / 200);
    expect(rmse).toBeCloseTo(result.seeds[0]!.scores["rmse"]!, 12);
  });

  it("the model of a forecast goes on from the end of the training part", async () => {
    const { folder } = await runText(forecast);
    const series = mackeyGlass(800);
    await using forecaster = await Forecaster.load(join(folder, "model.safetensors"));
    const next = await forecaster.forecast(5);
    next.data.forEach((value, k) => {
      expect(value).toBeCloseTo(series.data[600 + k]!, 1);
    });
  });

  it("the model of a readout that learns row by row is a forecaster", async () => {
    for (const readout of ["{ type: rls, alpha: 1.0e-6 }", "{ type: lms, normalised: true }"]) {
      const { folder } = await runText(predict.replace("{ type: ridge, lambda: 1.0e-8 }", readout));
      await using forecaster = await Forecaster.load(join(folder, "model.safetensors"));
      expect(forecaster.readout.training?.rows).toBe(400);
    }
  });

  it("recursive least squares without forgetting agrees with ridge regression", async () => {
    const scoreOf = async (readout: string) =>
      scoresOf((await runText(predict.replace("{ type: ridge, lambda: 1.0e-8 }", readout))).result)[0]!["nrmse"]!;
    expect(await scoreOf("{ type: rls, alpha: 1.0e-4, intercept: false }")).toBeCloseTo(
      await scoreOf("{ type: ridge, lambda: 1.0e-4, intercept: false }"),
      4,
    );
  });

  it("the states are an NPY file of every k-th row", async () => {
    const { folder } = await runText(predict, { set: ["outputs.states=npy", "outputs.every=10", "seed=1"] });
    expect(await readNpy(join(folder, "states.npy"))).toMatchObject({ shape: [70, 40], dtype: "float32" });
  });
});

describe("the states that are written", () => {
  /** The last row of states.npy. */
  async function lastState(folder: string): Promise<number[]> {
    const { data, shape } = await readNpy(join(folder, "states.npy"));
    return Array.from(data as Float32Array).slice((shape[0]! - 1) * shape[1]!);
  }
  const set = ["outputs.states=npy", "transforms=[standardise]", "seed=1"];

  it("of a prediction are those the model has when it has seen training and test part", async () => {
    const { folder } = await runText(predict, { set });
    await using forecaster = await Forecaster.load(join(folder, "model.safetensors"));
    forecaster.reset();
    await forecaster.predict(narma(700, { seed: 3 }).inputs);
    expect(await lastState(folder)).toEqual(Array.from(forecaster.computer.state.values));
  });

  it("of a forecast are those the model has when it has seen the whole series", async () => {
    const { folder } = await runText(forecast, { set });
    await using forecaster = await Forecaster.load(join(folder, "model.safetensors"));
    forecaster.reset();
    await forecaster.predict(mackeyGlass(800));
    expect(await lastState(folder)).toEqual(Array.from(forecaster.computer.state.values));
  });

  it("with feedback are those of the true series, forced", async () => {
    const { folder } = await runText(forecast.replace("leakRate: 0.5", "leakRate: 0.5, bias: 0.1, feedback: {}"), { set });
    await using forecaster = await Forecaster.load(join(folder, "model.safetensors"));
    forecaster.reset();
    await forecaster.predict({ steps: 800 }, { teacher: mackeyGlass(800) });
    expect(await lastState(folder)).toEqual(Array.from(forecaster.computer.state.values));
  });
});

describe("a forecast", () => {
  it("is better than its baselines, and says from where it started", async () => {
    const { result } = await runText(forecast);
    const [nrmse] = result.scores;
    expect(nrmse!.metric).toBe("nrmse");
    for (const { value } of nrmse!.baselines) expect(nrmse!.value).toBeLessThan(value / 4);
    expect(nrmse!.baselines.map(({ name }) => name)).toEqual(["persistence", "mean"]);
    expect(result.data["task"]).toBe(
      "closed-loop forecast of 20 steps from 3 starts, each after 100 rows; trained on 600 rows (100 of them washout)",
    );
  });

  it("may start on series of their own, drawn from the seed of the data", async () => {
    const text = forecast.replace("starts: 3", "starts: 3, independent: true").replace("{ train: 600, test: 200 }", "{ train: 600 }");
    const { result } = await runText(text);
    expect(result.scores[0]!.value).toBeLessThan(0.3);
    expect(scoresOf((await runText(text)).result)).toEqual(scoresOf(result));
    await expect(runText(text.replace("mackeyGlass", "mso"))).rejects.toThrow(
      "small.yaml:5: task.independent is true; it takes false for mso, which draws nothing",
    );
  });

  it("of transformed data saves a model that forecasts from raw values", async () => {
    const text = forecast.replace("task: {", "transforms: [squash, { difference: 1 }, standardise]\ntask: {");
    const { folder } = await runText(text, { set: ["data.length=801"] });
    await using forecaster = await Forecaster.load(join(folder, "model.safetensors"));
    const series = mackeyGlass(801);
    const ahead = await forecaster.forecast(10);
    expect(rmse(series.subarray(601, 611), ahead)).toBeLessThan(0.05);
    expect(await forecaster.forecast(10, { warmup: series.subarray(0, 601) })).toEqual(ahead);
  });

  it("of transformed data is scored in the units of the data", async () => {
    const transformed = (await runText(forecast.replace("task: {", "transforms: [squash, { difference: 1 }, standardise]\ntask: {")))
      .result;
    // The persistence baseline does not know of transforms: one row fewer to train on changes
    // nothing but its starts.
    const plain = (await runText(forecast)).result;
    const persistence = (result: ExperimentResult) => result.scores[0]!.baselines[0]!.value;
    expect(persistence(transformed)).toBeCloseTo(persistence(plain), 1);
    expect(transformed.scores[0]!.value).toBeLessThan(0.5);
  });

  it("that leaves for infinity is scored as worst, and said to have done so", async () => {
    // Outputs are held near the training rows, the states of a linear reservoir of radius 1.25 are
    // not: 1.25^300 is 1e29, and 1.25^400 is beyond binary32.
    const rows = Array.from({ length: 1400 }, (_, t) => Math.sin(t / 5));
    await writeFile(join(out, "wave.csv"), `${rows.join("\n")}\n`);
    const text = forecast
      .replace("{ task: mackeyGlass }", "{ file: wave.csv, header: false }")
      .replace("leakRate: 0.5", "leakRate: 1, activation: identity, spectralRadius: 1.25")
      .replace("lambda: 1.0e-6", "solver: qr, lambda: 1.0e-6")
      .replace("horizon: 20, starts: 3", "horizon: 1000, starts: 1")
      .replace("{ train: 600, test: 200 }", "{ train: 300 }");
    const { result, text: printed } = await runText(text, { set: ["outputs.report=true"] });
    expect(result.scores[0]).toMatchObject({ metric: "nrmse", value: null });
    expect(printed).toContain("infinite");
    expect(await readFile(join(out, "small", "report.html"), "utf8")).toContain("Of 1 of 1 seeds a prediction left for infinity");
  });

  it("whose training states leave for infinity is an error that names step and neuron", async () => {
    const text = forecast.replace("leakRate: 0.5", "leakRate: 1, activation: identity, spectralRadius: 8");
    await expect(runText(text)).rejects.toThrow(/the state is not finite after step \d+ at neuron \d+/);
    expect(await readdir(out)).toEqual(["small.yaml"]);
  });
});

describe("classification", () => {
  const cases = (shift: number) => {
    const lines = Array.from({ length: 12 }, (_, k) => {
      const values = Array.from({ length: 15 + (k % 3) }, (_, t) => (Math.sin(t + k + shift) + (k % 2 === 0 ? 1 : -1)).toFixed(4));
      return `${values.join(",")}:${k % 2 === 0 ? "high" : "low"}`;
    });
    return `@problemName waves\n@univariate true\n@equalLength false\n@classLabel true high low\n@data\n${lines.join("\n")}\n`;
  };
  const classify = `name: small
data: { file: train.ts, test: test.ts }
transforms: [standardise]
reservoir: { size: 30 }
task: { type: classify, representation: mean }
baselines: [majority]
seed: 4
outputs: { states: npy }
`;

  it("scores errors and accuracy, and writes model, states and a confusion matrix", async () => {
    await writeFile(join(out, "train.ts"), cases(0));
    await writeFile(join(out, "test.ts"), cases(0.5));
    const { result, folder } = await runText(classify);
    expect(result.seeds[0]!.scores).toEqual({ accuracy: 1, errors: 0 });
    expect(result.seeds[0]!.baselines).toEqual({ majority: { accuracy: 0.5, errors: 6 } });
    expect((await readdir(folder)).sort()).toEqual(["lengths.npy", "model.safetensors", "report.html", "result.json", "states.npy"]);
    expect((await readNpy(join(folder, "lengths.npy"))).data).toEqual(Int32Array.from({ length: 12 }, (_, k) => 15 + (k % 3)));
    expect((await readNpy(join(folder, "states.npy"))).shape).toEqual([12 * 16, 30]);
    expect(await readFile(join(folder, "report.html"), "utf8")).toContain("12 of 12 cases are classified rightly");
    await using classifier = await Classifier.load(join(folder, "model.safetensors"));
    expect(classifier.classes).toEqual(["high", "low"]);
  });

  it("may split one file, by class and by seed", async () => {
    await writeFile(join(out, "train.ts"), cases(0));
    const text = classify.replace(", test: test.ts", "").replace("seed: 4", "seed: 4\nsplit: { train: 0.5 }");
    const { result } = await runText(text);
    expect(result.data["task"]).toContain("classification of 6 sequences, trained on 6");
    expect(result.seeds[0]!.baselines["majority"]).toEqual({ accuracy: 0.5, errors: 3 });
  });

  it("lets several reservoirs vote", async () => {
    await writeFile(join(out, "train.ts"), cases(0));
    await writeFile(join(out, "test.ts"), cases(0.5));
    const { result } = await runText(classify, { set: ["task.members=3", "readout=softmax"] });
    expect(result.data["task"]).toContain("vote of 3 reservoirs");
    expect(result.seeds[0]!.scores["accuracy"]).toBe(1);
  });
});

describe("on a full disk", () => {
  /** Lets no byte be written to files whose names match. */
  function fill(name: RegExp): Disposable {
    const { open } = promises;
    const spy = vi.spyOn(promises, "open").mockImplementation(async (path, ...rest) => {
      const handle = await open(path, ...rest);
      if (name.test(String(path)))
        handle.write = async () => {
          throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
        };
      return handle;
    });
    return { [Symbol.dispose]: () => spy.mockRestore() };
  }

  it("keeps the run whose report does not fit, and says so", async () => {
    using _ = fill(/report\.html/);
    await expect(runText(predict.replace("report: false", "report: true"))).rejects.toThrow(
      `${join(out, "small", "report.html")}: the file cannot be written: the disk is full; free some space or choose another disk`,
    );
    const result = JSON.parse(await readFile(join(out, "small", "result.json"), "utf8")) as ExperimentResult;
    expect(result).toMatchObject({ interrupted: false, files: ["result.json", "model.safetensors"], seeds: [{ seed: 1 }, { seed: 2 }] });
    expect((await readdir(out)).sort()).toEqual(["small", "small.yaml"]);
  });

  it("leaves an earlier run and nothing else if the model does not fit", async () => {
    const { result } = await runText(predict);
    using _ = fill(/model\.safetensors/);
    await expect(runText(predict)).rejects.toThrow(
      `${join(out, "small", "model.safetensors")}: the file cannot be written: the disk is full`,
    );
    expect(JSON.parse(await readFile(join(out, "small", "result.json"), "utf8"))).toEqual(JSON.parse(JSON.stringify(result)));
    expect((await readdir(out)).sort()).toEqual(["small", "small.yaml"]);
  });
});
