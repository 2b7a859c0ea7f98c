// What the tasks of an experiment come to: forecasts and classes.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readNpy } from "../../packages/io/src/index.js";
import type { ExperimentResult } from "../../src/experiment/runs/result.js";
import { rmse } from "../../src/metrics/index.js";
import { Classifier, Forecaster } from "../../src/model/index.js";
import { mackeyGlass } from "../../src/tasks/index.js";
import { forecast, runsInFolder, scoresOf } from "./run-text.js";

const runs = runsInFolder();
const { runText } = runs;

describe("a forecast", () => {
  it("is better than its baselines, and says from where it started", async () => {
    const { result } = await runText(forecast);
    const [nrmse] = result.scores;
    expect(nrmse!.metric).toBe("nrmse");
    for (const { value } of nrmse!.baselines.slice(0, 2)) expect(nrmse!.value).toBeLessThan(value / 4);
    // Those of the file, and the strongest, which the verdict names.
    expect(nrmse!.baselines.map(({ name }) => name)).toEqual(["persistence", "mean", result.verdict!.against]);
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
    await writeFile(join(runs.out, "wave.csv"), `${rows.join("\n")}\n`);
    const text = forecast
      .replace("{ task: mackeyGlass }", "{ file: wave.csv, header: false }")
      .replace("leakRate: 0.5", "leakRate: 1, activation: identity, spectralRadius: 1.25")
      .replace("lambda: 1.0e-6", "solver: qr, lambda: 1.0e-6")
      .replace("horizon: 20, starts: 3", "horizon: 1000, starts: 1")
      .replace("{ train: 600, test: 200 }", "{ train: 300 }");
    const { result, text: printed } = await runText(text, { set: ["outputs.report=true"] });
    expect(result.scores[0]).toMatchObject({ metric: "nrmse", value: null });
    expect(printed).toContain("infinite");
    expect(await readFile(join(runs.out, "small", "report.html"), "utf8")).toContain("Of 1 of 1 seeds a prediction left for infinity");
  });

  it("whose training states leave for infinity is an error that names step and neuron", async () => {
    const text = forecast.replace("leakRate: 0.5", "leakRate: 1, activation: identity, spectralRadius: 8");
    await expect(runText(text)).rejects.toThrow(/the state is not finite after step \d+ at neuron \d+/);
    expect(await readdir(runs.out)).toEqual(["small.yaml"]);
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
    await writeFile(join(runs.out, "train.ts"), cases(0));
    await writeFile(join(runs.out, "test.ts"), cases(0.5));
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
    await writeFile(join(runs.out, "train.ts"), cases(0));
    const text = classify.replace(", test: test.ts", "").replace("seed: 4", "seed: 4\nsplit: { train: 0.5 }");
    const { result } = await runText(text);
    expect(result.data["task"]).toContain("classification of 6 sequences, trained on 6");
    expect(result.seeds[0]!.baselines["majority"]).toEqual({ accuracy: 0.5, errors: 3 });
  });

  it("lets several reservoirs vote", async () => {
    await writeFile(join(runs.out, "train.ts"), cases(0));
    await writeFile(join(runs.out, "test.ts"), cases(0.5));
    const { result } = await runText(classify, { set: ["task.members=3", "readout=softmax"] });
    expect(result.data["task"]).toContain("vote of 3 reservoirs");
    expect(result.seeds[0]!.scores["accuracy"]).toBe(1);
  });
});
