import { promises } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { run } from "../../src/cli/commands/run.js";
import { silent } from "../../src/cli/progress.js";
import type { ExperimentResult } from "../../src/experiment/runs/result.js";
import { rmse } from "../../src/metrics/index.js";
import { narma } from "../../src/tasks/index.js";
import { forecast, predict, runsInFolder, scoresOf } from "../experiment/run-text.js";

const runs = runsInFolder();
const { runText } = runs;
/** Numbers from 0 to 1, written with ten digits. */
const uniform = (count: number): number[] => [...narma(count, { seed: 1 }).inputs.data].map((value) => Number((2 * value).toFixed(10)));

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
    await writeFile(join(runs.out, "delayed.csv"), ["u,y", ...rows].join("\n"));
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
    await writeFile(join(runs.out, "known.csv"), ["u,y", ...rows.slice(0, 600)].join("\n"));
    await writeFile(join(runs.out, "asked.csv"), ["u,y", ...rows.slice(600)].join("\n"));
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
    await writeFile(join(runs.out, "asked.csv"), "u,y\n1,1\n2,2\n");
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
    const [first, second] = [join(runs.out, "first.yaml"), join(runs.out, "second.yaml")];
    await writeFile(first, predict.replace("seeds: [1, 2]", "seed: 1"));
    await writeFile(second, "name: other\ndata: { file: none.csv }\nreservoir: { size: 5 }\ntask: predict\n");
    const options = { out: runs.out, signal: new AbortController().signal, progress: silent };
    const { text, failure } = await run([first, second], options);
    expect(text).toContain("small: cpu engine");
    expect(String(failure)).toContain(`${join(runs.out, "none.csv")}: no such file`);
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
    expect(await readdir(runs.out)).toEqual(["small.yaml"]);
  });

  it("checks every file before it runs the first", async () => {
    const good = join(runs.out, "good.yaml");
    const bad = join(runs.out, "bad.yaml");
    await writeFile(good, predict);
    await writeFile(bad, predict.replace("size: 40", "sice: 40").replace("name: small", "name: other"));
    const options = { out: runs.out, signal: new AbortController().signal, progress: silent };
    await expect(run([good, bad], options)).rejects.toThrow('bad.yaml:4: unknown field "reservoir.sice": did you mean "size"?');
    await writeFile(bad, predict);
    await expect(run([good, bad], options)).rejects.toThrow('its name is "small", as that of');
    expect((await readdir(runs.out)).sort()).toEqual(["bad.yaml", "good.yaml"]);
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
    expect((await readdir(runs.out)).sort()).toEqual(["small", "small.interrupted", "small.yaml"]);
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
      `${join(runs.out, "small", "report.html")}: the file cannot be written: the disk is full; free some space or choose another disk`,
    );
    const result = JSON.parse(await readFile(join(runs.out, "small", "result.json"), "utf8")) as ExperimentResult;
    expect(result).toMatchObject({ interrupted: false, files: ["result.json", "model.safetensors"], seeds: [{ seed: 1 }, { seed: 2 }] });
    expect((await readdir(runs.out)).sort()).toEqual(["small", "small.yaml"]);
  });

  it("leaves an earlier run and nothing else if the model does not fit", async () => {
    const { result } = await runText(predict);
    using _ = fill(/model\.safetensors/);
    await expect(runText(predict)).rejects.toThrow(
      `${join(runs.out, "small", "model.safetensors")}: the file cannot be written: the disk is full`,
    );
    expect(JSON.parse(await readFile(join(runs.out, "small", "result.json"), "utf8"))).toEqual(JSON.parse(JSON.stringify(result)));
    expect((await readdir(runs.out)).sort()).toEqual(["small", "small.yaml"]);
  });
});
