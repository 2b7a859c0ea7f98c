import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { analyseExperiment } from "../../src/cli/commands/analyse.js";
import { silent } from "../../src/cli/progress.js";

const experiment = `
name: small
data: { task: narma, length: 400 }
task: { type: predict }
reservoir: { size: 15, leakRate: 1 }
split: { train: 250, test: 100 }
washout: 20
seeds: [4]
`;

describe("spillway analyse", () => {
  let folder: string;
  let file: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "spillway-analyse-"));
    file = join(folder, "small.yaml");
    await writeFile(file, experiment);
  });
  afterAll(() => rm(folder, { recursive: true }));
  const signal = new AbortController().signal;

  it("prints every measure, and writes them as data and as a page with figures and a map", async () => {
    const out = join(folder, "analysed");
    const text = await analyseExperiment(file, { out, map: 2, signal }, silent);
    expect(text).toMatch(/^small: 15 neurons, seed 4/);
    for (const name of ["Lyapunov exponent", "echo state index", "memory capacity", "information capacity", "  degree 3", "kernel rank"])
      expect(text).toMatch(new RegExp(`^${name} +[-\\d.e]+`, "m"));
    expect(text).toContain("map of kernelRank: largest");
    expect((await readdir(out)).sort()).toEqual(["analysis.html", "analysis.json"]);
    const { measures, map, reservoir } = JSON.parse(await readFile(join(out, "analysis.json"), "utf8"));
    expect(reservoir).toMatchObject({ size: 15, seed: 4, inputSize: 1 });
    expect(measures.memoryCapacity.curve.length).toBe(31);
    expect(map.values.lyapunovExponent).toMatchObject({ rows: 2, cols: 2 });
    const page = await readFile(join(out, "analysis.html"), "utf8");
    for (const title of ["Information processing capacity", "Memory capacity", "Generalisation rank"]) expect(page).toContain(title);
  });

  it("takes the measures that are asked for, of the reservoir that is set, under the experiment's data", async () => {
    const options = { measures: ["lyapunovExponent"], set: ["reservoir.size=7"], json: true, signal };
    const random = JSON.parse(await analyseExperiment(file, options, silent));
    const driven = JSON.parse(await analyseExperiment(file, { ...options, data: true }, silent));
    expect(Object.keys(random.measures)).toEqual(["lyapunovExponent"]);
    expect(random.reservoir.size).toBe(7);
    expect(driven.measures.lyapunovExponent).not.toBe(random.measures.lyapunovExponent);
  });

  it("refuses a measure that there is not", async () => {
    await expect(analyseExperiment(file, { measures: ["memory"], signal }, silent)).rejects.toThrow(/measures\[0\] is "memory"/);
  });
});
