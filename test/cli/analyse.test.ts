import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { qualityMapFromJson } from "../../src/analysis/index.js";
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
    const { text, interrupted } = await analyseExperiment(file, { out, map: 2, signal }, silent);
    expect(interrupted).toBe(false);
    expect(text).toMatch(/^small: 15 neurons, seed 4/);
    for (const name of ["Lyapunov exponent", "echo state index", "memory capacity", "information capacity", "  degree 3", "kernel rank"])
      expect(text).toMatch(new RegExp(`^${name} +[-\\d.e]+`, "m"));
    expect(text).toContain("map of kernelRank: largest");
    const maps = ["generalisationRank", "kernelRank", "lyapunovExponent", "memoryCapacity"].map((measure) => `map-${measure}.svg`);
    expect((await readdir(out)).sort()).toEqual(["analysis.html", "analysis.json", ...maps]);
    expect(await readFile(join(out, maps[0]!), "utf8")).toMatch(/^<svg/);
    const { measures, map, reservoir } = JSON.parse(await readFile(join(out, "analysis.json"), "utf8"));
    expect(reservoir).toMatchObject({ size: 15, seed: 4, inputSize: 1 });
    expect(measures.memoryCapacity.curve.length).toBe(31);
    expect(map.values.lyapunovExponent).toMatchObject({ rows: 2, cols: 2 });
    const opened = qualityMapFromJson({ measures, map });
    expect(opened.values.lyapunovExponent!.data).toEqual(Float64Array.from(map.values.lyapunovExponent.data));
    const page = await readFile(join(out, "analysis.html"), "utf8");
    for (const title of ["Information processing capacity", "Memory capacity", "Generalisation rank"]) expect(page).toContain(title);
  });

  it("takes the measures that are asked for, of the reservoir that is set, under the experiment's data", async () => {
    const options = { measures: ["lyapunovExponent"], set: ["reservoir.size=7"], json: true, signal };
    const random = JSON.parse((await analyseExperiment(file, options, silent)).text);
    const driven = JSON.parse((await analyseExperiment(file, { ...options, data: true }, silent)).text);
    expect(Object.keys(random.measures)).toEqual(["lyapunovExponent"]);
    expect(random.reservoir.size).toBe(7);
    expect(driven.measures.lyapunovExponent).not.toBe(random.measures.lyapunovExponent);
  });

  it("takes other measures for the map than for the reservoir, by the estimator that the file says", async () => {
    const options = { measures: ["lyapunovExponent"], mapMeasures: ["transfer", "storage"], signal, json: true };
    const axes = ["map.x.values=[0.5,0.9]", "map.y.values=[0.1]", "map.x.parameter=spectralRadius", "map.y.parameter=inputScaling"];
    const set = ["reservoir.size=4", "reservoir.connectionProbability=1", ...axes];
    const gaussian = JSON.parse((await analyseExperiment(file, { ...options, set }, silent)).text);
    const near = JSON.parse((await analyseExperiment(file, { ...options, set: [...set, "map.estimator=nearestNeighbours"] }, silent)).text);
    expect(Object.keys(gaussian.measures)).toEqual(["lyapunovExponent"]);
    expect(Object.keys(near.map.values)).toEqual(["transfer", "storage"]);
    expect(near.map.values.transfer.data).not.toEqual(gaussian.map.values.transfer.data);
    await expect(analyseExperiment(file, options, silent)).rejects.toThrow(
      '--map-measures is "transfer,storage"; it takes --map, or a file with a map',
    );
    await expect(analyseExperiment(file, { ...options, mapMeasures: ["flow"], map: 2 }, silent)).rejects.toThrow(
      '--map-measures is "flow"; it takes some of lyapunovExponent, memoryCapacity,',
    );
  });

  it("draws the map that the file describes, and writes what it has of one that is stopped", async () => {
    const described = join(folder, "map.yaml");
    const axes = `map:
  x: { parameter: spectralRadius, values: { from: 0.5, to: 2, count: 3, scale: log } }
  y: { parameter: bias, values: [0, 0.3] }
  measures: [lyapunovExponent]
`;
    await writeFile(described, experiment + axes);
    const stop = new AbortController();
    const options = { measures: ["echoStateIndex"], json: true, out: join(folder, "map") };
    const { map } = JSON.parse((await analyseExperiment(described, { ...options, measures: ["lyapunovExponent"], signal }, silent)).text);
    expect(map.x).toEqual({ parameter: "spectralRadius", values: [0.5, 1, 2] });
    expect(map.y).toEqual({ parameter: "bias", values: [0, 0.3] });
    expect(Object.keys(map.values)).toEqual(["lyapunovExponent"]);
    const progress = {
      ...silent,
      begin: () => undefined,
      update: (done: number, note?: string) => {
        if (note === undefined && done === 2) stop.abort();
      },
    };
    const found = await analyseExperiment(described, { ...options, measures: ["lyapunovExponent"], signal: stop.signal }, progress);
    expect(found.interrupted).toBe(true);
    const { values } = JSON.parse(found.text).map;
    expect(values.lyapunovExponent.data.map((value: number | null) => value !== null)).toEqual([true, true, false, false, false, false]);
    expect(await readdir(options.out)).toContain("map-lyapunovExponent.svg");
  });

  it("refuses a measure that there is not", async () => {
    await expect(analyseExperiment(file, { measures: ["memory"], signal }, silent)).rejects.toThrow(/measures\[0\] is "memory"/);
  });
});
