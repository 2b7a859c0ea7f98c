// `spillway forecast`: what it prints, and the file that it writes.
import "../../src/index.js";
import type { ChildProcess } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { Forecaster } from "../../src/model/index.js";
import { mackeyGlass } from "../../src/tasks/index.js";
import { casesOf } from "../exhaustive.js";
import { spillway } from "./in-process.js";
import { spillway as spillwayProcess } from "./spillway.js";

let cwd: string;
let said: { readonly times: readonly string[]; readonly values: readonly number[]; readonly lower: readonly number[] };
const dayOf = (t: number) => new Date(Date.UTC(2024, 0, 1 + t)).toISOString().slice(0, 10);

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "spillway-forecast-"));
  const series = Matrix.from(mackeyGlass(420, { seed: 2 }));
  const times = Array.from({ length: 420 }, (_, t) => dayOf(t));
  await using forecaster = await Forecaster.fit(
    { series: series.subarray(0, 400), times: times.slice(0, 400) },
    { reservoir: { size: 30 }, members: 1, horizon: 10, table: { columns: ["flow"], time: "day" } },
  );
  await forecaster.save(join(cwd, "model.safetensors"));
  const forecast = await forecaster.forecast(10, { warmup: { series, times }, intervals: [0.9] });
  said = { times: forecast.times!, values: [...forecast.data], lower: [...forecast.bands![0]!.lower.data] };
  await writeFile(join(cwd, "new.csv"), ["flow,day", ...times.map((time, t) => `${series.data[t]},${time}`)].join("\n"));
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

describe("spillway forecast", () => {
  it("prints times, predictions and bands, and writes what a program forecasts from the same rows", async () => {
    // A slow machine would show progress.
    const ended = await spillway(["forecast", ".", "--data", "new.csv", "--out", "f.csv", "--quiet"], { cwd });
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toContain(`model.safetensors: 10 rows after ${dayOf(419)}, bands of 90 %`);
    expect(ended.stdout).toMatch(/time +column +prediction +lower +upper\n2025-02-24 +flow +[\d.]+ +[\d.]+ +[\d.]+\n/);
    expect(ended.stdout).toContain("forecasts: f.csv");
    const [head, ...lines] = (await readFile(join(cwd, "f.csv"), "utf8")).trimEnd().split("\n");
    expect(head).toBe("start,step,time,column,target,prediction,lower,upper,baseline");
    const cells = lines.map((line) => line.split(","));
    expect(cells.map((each) => each[2])).toEqual(said.times);
    expect(cells.map((each) => Number(each[5]))).toEqual(said.values);
    expect(cells.map((each) => Number(each[6]))).toEqual(said.lower);
  });

  it("prints JSON alone, with every band", async () => {
    const { stdout } = await spillway(
      ["forecast", "model.safetensors", "-d", "new.csv", "--steps", "3", "--intervals", "0.8,0.9", "--quantiles", "0.1,0.05", "--json"],
      { cwd },
    );
    const { forecasts, ...rest } = JSON.parse(stdout) as {
      forecasts: { bands: { level: number; lower: number }[]; quantiles: { level: number; value: number }[] }[];
    };
    expect(rest).toEqual({ model: "model.safetensors", kind: "forecaster", steps: 3, after: dayOf(419), unused: [] });
    expect(forecasts[0]).toMatchObject({ step: 1, time: dayOf(420), column: "flow", prediction: said.values[0] });
    expect(forecasts[0]!.bands.map(({ level }) => level)).toEqual([0.8, 0.9]);
    expect(forecasts[0]!.bands[1]!.lower).toBe(said.lower[0]);
    // The ends of the bands are those quantiles.
    const lower = forecasts[0]!.bands.map((band) => band.lower);
    expect(forecasts[0]!.quantiles).toEqual([0.1, 0.05].map((level, k) => ({ level, value: lower[k] })));
  });

  it("says that bands end with the model's horizon, and writes as many decimals in each line", async () => {
    const { stdout } = await spillway(["forecast", ".", "-d", "new.csv", "--steps", "11", "-o", "f.csv"], { cwd });
    expect(stdout).toContain("\nno bands: they reach as far as the model's horizon, 10 steps\n");
    const cells = [...stdout.matchAll(/flow +(\S+)$/gm)].map(([, cell]) => cell!);
    expect(cells.length).toBe(11);
    expect(new Set(cells.map((cell) => cell.split(".")[1]!.length)).size).toBe(1);
    expect(await readFile(join(cwd, "f.csv"), "utf8")).not.toContain("no bands");
  });

  it("names flags in what it says of a table", async () => {
    const lines = (await readFile(join(cwd, "new.csv"), "utf8")).split("\n");
    await writeFile(join(cwd, "gap.csv"), lines.filter((_, t) => t !== 410).join("\n"));
    await writeFile(join(cwd, "blank.csv"), lines.map((line, t) => (t === 410 ? line.replace(/^[^,]*/, "") : line)).join("\n"));
    for (const [args, sentence] of [
      [["-d", "gap.csv"], 'Set --gaps to "interpolate" or "hold"'],
      [["-d", "blank.csv"], 'set --missing to "interpolate" or "hold"'],
      [["-d", "new.csv", "--inputs", "new.csv"], "spillway: --inputs was given; the model takes nothing"],
      [["-d", "new.csv", "--steps", "11", "--intervals", "0.9"], "spillway: --steps is 11; it takes at most 10"],
    ] as const) {
      const { code, stderr } = await spillway(["forecast", ".", ...args], { cwd });
      expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
    }
  });

  it("shows how far a long forecast is, and stops by itself", async () => {
    let stopped = Number.NaN;
    const watch = (stderr: string, child: ChildProcess) => {
      if (!Number.isNaN(stopped) || !/^forecast: [1-9]\d*%$/m.test(stderr)) return;
      stopped = performance.now();
      child.kill("SIGINT");
    };
    const ended = await spillwayProcess(["forecast", ".", "-d", "new.csv", "--steps", "1000000", "-o", "long.csv"], { cwd, watch });
    expect(performance.now() - stopped).toBeLessThan(2000);
    expect(ended).toMatchObject({ code: 130, stderr: expect.not.stringContaining("was ended") });
  });

  it("says how many rows a model with lags needs", async () => {
    const series = Matrix.from(mackeyGlass(300, { seed: 2 }));
    await using forecaster = await Forecaster.fit({ series }, { reservoir: { size: 30 }, lags: 40, table: { columns: ["flow"] } });
    await forecaster.save(join(cwd, "lagged.safetensors"));
    await writeFile(join(cwd, "short.csv"), `flow\n${[...series.data.subarray(0, 39)].join("\n")}`);
    const sentence = "short.csv: this model needs the last 40 rows before the forecast; there are 39";
    const ended = await spillway(["forecast", "lagged.safetensors", "-d", "short.csv", "--steps", "3"], { cwd });
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) });
  });

  it("names the runs of a folder of them", async () => {
    await cp(join(cwd, "model.safetensors"), join(cwd, "runs/second/model.safetensors"));
    await cp(join(cwd, "model.safetensors"), join(cwd, "runs/first/model.safetensors"));
    const sentence = "runs: this folder holds no model.safetensors; take a run inside: runs/first, runs/second";
    expect(await spillway(["forecast", "runs"], { cwd })).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) });
  });

  it.each(
    casesOf(
      [
        [["none"], "none: no such file"],
        [["new.csv"], "new.csv: it is no model; a model is a folder of runs/, or the model.safetensors in it"],
        [["model.safetensors", "--data", "none.csv"], "none.csv: no such file"],
        [["model.safetensors", "--data", "new.csv", "--steps", "0"], "--steps is 0; it takes a whole number of at least 1"],
        [["model.safetensors", "--data", "new.csv", "--intervals", "0.8,2"], "--intervals[1] is 2; it takes a number above 0 and below 1"],
        [
          ["model.safetensors", "--data", "new.csv", "--steps", "11", "--intervals", "0.9"],
          "steps is 11; it takes at most 10 with intervals",
        ],
        [["model.safetensors", "--data", "new.csv", "--missing", "drop"], '--missing is "drop"; it takes "error", "interpolate" or "hold"'],
      ] as const,
      (_, k) => k % 4 === 0,
    ),
  )("refuses %j with a sentence and 2", async (args, sentence) => {
    expect(await spillway(["forecast", ...args], { cwd })).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) });
  });
});
