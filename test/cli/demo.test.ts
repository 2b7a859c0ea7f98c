import { mkdtemp, readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { demo } from "../../src/cli/commands/demo.js";
import { run } from "../../src/cli/commands/run.js";
import { silent } from "../../src/cli/progress.js";
import type { ExperimentResult } from "../../src/experiment/runs/result.js";
import { itWithData } from "../data.js";

let out: string;
beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), "spillway-"));
});
const signal = new AbortController().signal;

/** An example with fewer seeds. */
async function example(name: string, ...set: string[]): Promise<ExperimentResult> {
  const file = fileURLToPath(new URL(`../../examples/experiments/${name}.yaml`, import.meta.url));
  const { text } = await run([file], { out, signal, progress: silent, json: true, set: ["outputs.report=false", ...set] });
  return JSON.parse(text) as ExperimentResult;
}

describe("spillway demo", () => {
  it("runs three experiments, each beside a published figure or a baseline, onto one page", async () => {
    const { text, interrupted } = await demo({ out, signal, progress: silent, set: ["seeds=2", "outputs.report=true"] });
    expect(interrupted).toBe(false);
    // The published figures: Jaeger 2001, section 6; Appeltant et al. 2011 (NMSE 0.16).
    expect(text).toMatch(/^nrmseAtHorizon +\S+ +median of 2 seeds.* 2\.8e-4 \(Jaeger 2001, section 6\)$/m);
    expect(text).toMatch(/^nrmse +\S+ +mean of 2 seeds.* 0\.4 \(best linear shift register, NMSE 0\.16: Appeltant et al\. 2011\)$/m);
    expect(text).toMatch(/^rmse +\S+ +median of 2 seeds.* seasonal naive \(12\) 2\.73, seasonal naive with drift \(12\) 0\.99(, |$)/m);
    const page = join(out, "demo", "report.html");
    expect(text).toContain(`report to open in a browser: ${page}`);
    expect((await readdir(join(out, "demo"))).sort()).toEqual(["co2", "mackey-glass", "narma10", "report.html"]);
    const html = await readFile(page, "utf8");
    for (const name of ["mackey-glass", "narma10", "co2"]) expect(html).toContain(`<h2>${name}</h2>`);
    expect(html).toContain("Forecast from 2015-05-01");
  });
});

describe("the examples", () => {
  it("mackey-glass reaches the figure of Jaeger 2001 as an order of magnitude with every seed", async () => {
    const { seeds } = await example("mackey-glass", "seeds=3");
    for (const { scores } of seeds) expect(scores["nrmseAtHorizon"]).toBeLessThan(1e-3);
  });

  it("narma10 beats the best linear shift register with every seed", async () => {
    const { seeds } = await example("narma10", "seeds=3");
    for (const { scores } of seeds) expect(scores["nrmse"]).toBeLessThan(0.3);
  });

  it("co2 beats the seasonal naive forecast, with and without drift, with every seed", async () => {
    const { seeds } = await example("co2", "seeds=3");
    for (const { scores, baselines } of seeds)
      for (const baseline of Object.values(baselines)) expect(scores["rmse"]).toBeLessThan(baseline["rmse"]!);
  });

  it("lorenz stays valid for several Lyapunov times", async () => {
    const { scores } = await example("lorenz", "seeds=1", "task.starts=10");
    expect(scores[0]).toMatchObject({ metric: "validPredictionTime", unit: "Lyapunov times" });
    expect(scores[0]!.value).toBeGreaterThan(6);
  });

  itWithData("japanese-vowels tells nearly all speakers", "JapaneseVowels", async (folder) => {
    process.env["SPILLWAY_DATA"] = folder;
    const { seeds } = await example("japanese-vowels", "seeds=1");
    expect(seeds[0]!.scores["errors"]).toBeLessThanOrEqual(10);
  });
});
