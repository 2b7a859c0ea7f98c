// Experiments from a program: run without a file and without a folder, stopped, written and read
// again.
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import "../../src/index.js";
import { FileError } from "../../packages/io/src/index.js";
import { type ExperimentInput, loadExperiment, readRun, runExperiment } from "../../src/experiment/index.js";

const sine: ExperimentInput = {
  name: "short",
  data: { task: "mackeyGlass" },
  reservoir: { size: 20 },
  task: { type: "forecast", horizon: 5, members: 1, lags: 0 },
  split: { train: 300, test: 50 },
  outputs: { report: false },
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-program-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("an experiment in a program", () => {
  it("runs as an object, writes nothing without out, and scores as its file does", async () => {
    const run = await runExperiment(sine, { engine: "cpu" });
    expect(run.folder).toBeUndefined();
    expect(run.result.files).toEqual([]);
    const path = join(folder, "short.json");
    await writeFile(path, JSON.stringify(sine));
    const fromFile = await runExperiment(path, { engine: "cpu" });
    const fromLoaded = await runExperiment(await loadExperiment(path), { engine: "cpu" });
    expect(fromFile.result.scores).toEqual(run.result.scores);
    expect(fromLoaded.result.scores).toEqual(run.result.scores);
  });

  it("tells how far it is, over all seeds", async () => {
    const reported: (readonly [number, number, string])[] = [];
    await runExperiment({ ...sine, seeds: 2 }, { onProgress: (...step) => reported.push(step) });
    expect(reported[0]).toEqual([0, 2000, "short, seed 0 (1 of 2)"]);
    expect(reported.at(-1)).toEqual([2000, 2000, "short, seed 1 (2 of 2)"]);
  });

  it("keeps the finished seeds if it is stopped", async () => {
    const stop = new AbortController();
    const { result } = await runExperiment(
      { ...sine, seeds: 3 },
      { signal: stop.signal, onProgress: (done) => done >= 1000 && stop.abort() },
    );
    expect(result.interrupted).toBe(true);
    expect(result.seeds.length).toBeLessThan(3);
  });

  it("writes a folder that can be read again", async () => {
    const run = await runExperiment(sine, { out: folder });
    expect(existsSync(join(run.folder, "model.safetensors"))).toBe(true);
    expect(await readRun(run.folder)).toEqual(JSON.parse(JSON.stringify(run.result)));
    const again = await runExperiment((await readRun(run.folder)).config as ExperimentInput);
    expect(again.result.scores).toEqual(run.result.scores);
  });

  it.each([
    ["a field that is not known", { ...sine, wahsout: 3 }, {}, 'unknown field "wahsout": did you mean "washout"?'],
    ["a value", { ...sine, washout: -1 }, {}, "washout is -1"],
    ["data that does not fit", { ...sine, washout: 900 }, {}, "washout is 900"],
    ["an option of the run", sine, { singal: undefined }, 'did you mean "signal"?'],
  ])("says what is wrong: %s", async (_, experiment, options, sentence) => {
    await expect(runExperiment(experiment as ExperimentInput, options as object)).rejects.toThrow(sentence);
  });
});

describe("the folder of a run", () => {
  const change = async (edit: (result: { scores: { value: unknown }[]; format: unknown }) => void) => {
    const run = await runExperiment({ ...sine, name: "changed" }, { out: folder });
    const path = join(run.folder, "result.json");
    const result = JSON.parse(await readFile(path, "utf8"));
    edit(result);
    await writeFile(path, JSON.stringify(result));
    return readRun(run.folder);
  };

  it("gives NaN for a score that was not finite", async () => {
    expect((await change(({ scores }) => (scores[0]!.value = null))).scores[0]!.value).toBeNaN();
  });

  it.each([
    ["no result", (result: { format: unknown }) => (result.format = "else"), `result.format is "else"; it takes "spillway-result"`],
    ["a score that is a text", (result: { scores: { value: unknown }[] }) => (result.scores[0]!.value = "1"), "result.scores[0].value"],
  ])("is refused if it holds %s", async (_, edit, sentence) => {
    await expect(change(edit)).rejects.toThrow(sentence);
    await expect(readRun(folder)).rejects.toThrow(FileError);
  });
});
