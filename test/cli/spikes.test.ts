// Experiments on spikes: recordings and series encoded, liquids, classes and templates.
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import "../../src/index.js";
import { writeNpy, writeWav } from "../../packages/io/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { compareEngines } from "../../src/cli/commands/compare.js";
import { silent } from "../../src/cli/progress.js";
import { loadExperiment, parseExperimentText } from "../../src/experiment/description/file.js";
import type { TypesFound } from "../../src/experiment/description/pattern-types.js";
import { reportSection } from "../../src/experiment/report/report-section.js";
import { runExperiment } from "../../src/experiment/runs/run.js";
import { PatternTemplates, patternMeasures, patternTypes, writeSpikePattern } from "../../src/spikes/index.js";
import { exhaustive } from "../exhaustive.js";

/** A folder with ten vowels of two kinds, 0.1 s each at 8 kHz. */
async function vowels(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "spillway-vowels-"));
  for (const [name, formants] of Object.entries({ a: [730, 1090], i: [270, 2290] })) {
    for (let k = 0; k < 10; k++) {
      const samples = Float64Array.from({ length: 800 }, (_, n) =>
        formants.reduce((sum, hertz) => sum + 0.3 * Math.sin((2 * Math.PI * hertz * (1 + 0.02 * Math.sin(k)) * n) / 8000), 0),
      );
      await writeWav(join(folder, `${name}_me_${k}.wav`), new Matrix(800, 1, samples), { sampleRate: 8000 });
    }
  }
  return folder;
}

const optionsIn = async (folder: string) => ({
  out: join(folder, "out"),
  engine: "cpu",
});

async function run(folder: string, task: string, liquid = "{ size: 60, stateTimeConstant: 100 }") {
  const path = join(folder, "vowels.yaml");
  await writeFile(
    path,
    `
name: vowels
data: { sounds: ., test: { index: [0, 1, 2, 3] } }
encode: { encoder: cochlea, channels: 20 }
liquid: ${liquid}
task: ${task}
baselines: [majority]
`,
  );
  return runExperiment(await loadExperiment(path), await optionsIn(folder));
}

describe("an experiment on recordings", () => {
  it("encodes them, runs a liquid and names their classes", async () => {
    const { result, folder } = await run(await vowels(), "{ type: classify, representation: mean }");
    expect(result.scores[0]).toMatchObject({ metric: "accuracy", value: 1 });
    expect(result.data["summary"]).toContain("12 + 8 recordings, 2 classes, 8000 Hz");
    expect(result.config.reservoir).toMatchObject({ kind: "spiking", size: 60, inputSize: 20, neuron: { type: "leakyIntegrateAndFire" } });
    expect(existsSync(join(folder, "model.safetensors"))).toBe(true);
  });

  it("detects what each is most like, and keeps the templates", async () => {
    const { result, folder } = await run(await vowels(), "{ type: detect, state: mean }");
    expect(result.scores.map(({ metric, value }) => [metric, value])).toEqual([
      ["accuracy", 1],
      ["errors", 0],
      ["missed", 0],
    ]);
    expect(result.files).toContain("templates.safetensors");
    const templates = PatternTemplates.decode(await readFile(join(folder, "templates.safetensors")));
    expect(templates.labels).toEqual(["a", "i"]);
    expect(templates.channels).toBe(60);
  });

  it("replaces the templates of the run before, and leaves none beside them", async () => {
    const folder = await vowels();
    await run(folder, "{ type: detect, state: mean }");
    const again = await run(folder, "{ type: detect, state: mean }");
    expect(again.replaced).toBe(true);
    expect((await readdir(again.folder)).sort()).toEqual([...again.result.files].sort());
  });

  it("looks for types of pattern in what the liquid fires, and counts them by class", async () => {
    const { result } = await run(
      await vowels(),
      "{ type: detect, state: mean, types: true }",
      "{ size: 60, stateTimeConstant: 100, input: { weight: 18 } }",
    );
    const { details } = result.seeds[0]!.readout as { details: { types: TypesFound } };
    const { silent, statistics, classes } = details.types;
    expect([silent, statistics.patterns, statistics.failures]).toEqual([0, 8, 0]);
    expect(Object.keys(classes)).toEqual(["a", "i"]);
    for (const type of patternTypes) expect(classes["a"]![type] + classes["i"]![type]).toBe(statistics.types[type].count);
    // Every vowel begins with a volley, and drives the same few neurons from then on.
    expect([statistics.types.synchronous.count, statistics.types.sparse.count]).toEqual([8, 8]);
    expect(result.data["task"]).toContain("types in the spikes: ");
    expect(result.timing["types"]).toBeGreaterThan(0);
    // The report has the same by class, types that were not found left out.
    const facts = Object.fromEntries(reportSection(result, [], "").facts);
    for (const label of ["a", "i"]) {
      const found = patternTypes.filter((type) => classes[label]![type] > 0).map((type) => `${type} in ${classes[label]![type]}`);
      expect(facts[`types of pattern, ${label}`]).toBe(found.join(", "));
      expect(found).toEqual(expect.arrayContaining(["synchronous in 4", "sparse in 4"]));
    }
  });

  it("says of silence that it is silent", async () => {
    const quiet = "{ size: 9, input: { weight: 0 } }";
    const { result } = await run(await vowels(), "{ type: detect, types: true }", quiet);
    const { details } = result.seeds[0]!.readout as { details: { types: TypesFound } };
    expect(details.types).toMatchObject({ silent: 8, statistics: { patterns: 0, failures: 0, refused: 0 } });
    expect(result.data["task"]).toContain("types in the spikes: none, 8 silent");
  });

  it("gives its scores again from the config in its result", async () => {
    const folder = await vowels();
    const { result } = await run(folder, "{ type: detect, state: mean, types: true }");
    expect(result.config.encode).toEqual({ encoder: "cochlea", channels: 20 });
    const path = join(folder, "again.yaml");
    await writeFile(path, JSON.stringify(result.config));
    const again = await runExperiment(await loadExperiment(path), await optionsIn(folder));
    expect(again.result.seeds[0]!.scores).toEqual(result.seeds[0]!.scores);
    expect(again.result.config).toEqual(result.config);
  });

  it("gives no label where nothing is similar enough", async () => {
    const { result } = await run(await vowels(), "{ type: detect, threshold: 1 }");
    expect(result.scores.find(({ metric }) => metric === "missed")!.value).toBeGreaterThan(0);
  });
});

/** Bursts and rhythms of 6 neurons in CSV files, and two waves of 20 rows in NPY and CSV files. */
async function filesOf(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "spillway-spikes-"));
  await mkdir(join(folder, "spikes"));
  await mkdir(join(folder, "waves"));
  for (let k = 0; k < 6; k++) {
    for (const type of ["burst", "rhythmic"] as const) {
      const pattern = patternMeasures[type].generate({ seed: k, neuronCount: 6, durationMs: 150, rateHz: 40 });
      await writeSpikePattern(join(folder, "spikes", `${type}_${k}.csv`), pattern);
    }
    const wave = (form: (t: number) => number) => Float64Array.from({ length: 20 }, (_, t) => form(t + k));
    await writeNpy(
      join(folder, "waves", `sine_${k}.npy`),
      new Matrix(
        20,
        1,
        wave((t) => Math.sin(t / 2)),
      ),
    );
    await writeFile(join(folder, "waves", `square_${k}.csv`), `x\n${[...wave((t) => Math.sign(Math.sin(t / 2)))].join("\n")}\n`);
  }
  return folder;
}

async function runText(folder: string, text: string) {
  const path = join(folder, "x.yaml");
  await writeFile(path, `name: x\nbaselines: [majority]\n${text}`);
  return runExperiment(await loadExperiment(path), await optionsIn(folder));
}

const liquid = "liquid: { size: 60, stateTimeConstant: 50, input: { weight: 20, connectivity: 0.4 } }";
const ofFiles = 'names: "{label}_{index}", test: { index: [0, 1] }';

describe("an experiment on files of cases", () => {
  it.each([
    ["classify", "{ type: classify, representation: mean }"],
    ["detect", "{ type: detect, state: mean }"],
  ])("takes a folder of spike patterns: %s", async (_, task) => {
    const { result } = await runText(await filesOf(), `data: { spikes: spikes, ${ofFiles} }\n${liquid}\ntask: ${task}`);
    // Chance is 0.5.
    expect(result.scores[0]!.value).toBeGreaterThanOrEqual(0.75);
    expect(result.data["summary"]).toBe("spikes: 8 + 4 spike patterns, 2 classes, 6 neurons, bins of 1 ms");
    expect(result.config.reservoir).toMatchObject({ inputSize: 6 });
  });

  it("counts spikes in bins of any width for a rate reservoir", async () => {
    const text = `data: { spikes: spikes, ${ofFiles}, binMs: 5 }\nreservoir: { size: 40 }\ntask: classify`;
    const { result } = await runText(await filesOf(), text);
    expect(result.data["summary"]).toContain("bins of 5 ms");
  });

  it("takes a folder of CSV and NPY series for a rate reservoir", async () => {
    const text = `data: { cases: waves, ${ofFiles} }\nreservoir: { size: 40, leakRate: 0.5 }\ntask: classify`;
    const { result } = await runText(await filesOf(), text);
    expect(result.scores[0]).toMatchObject({ metric: "accuracy", value: 1 });
    expect(result.data["summary"]).toBe("waves: 8 + 4 series, 2 classes, 1 channel");
  });

  it("generates spike patterns, the same ones each time", async () => {
    const folder = await filesOf();
    const patterns = "patterns: { types: [synchronous, poisson], count: 10, neuronCount: 10, durationMs: 200 }";
    const text = `data: { ${patterns} }\n${liquid}\ntask: classify`;
    const { result } = await runText(folder, text);
    expect(result.data["summary"]).toBe("20 generated spike patterns, 2 types, 10 neurons, bins of 1 ms");
    expect((await runText(folder, text)).result.seeds[0]!.scores).toEqual(result.seeds[0]!.scores);
    const path = join(folder, "again.yaml");
    await writeFile(path, JSON.stringify(result.config));
    expect((await runExperiment(await loadExperiment(path), await optionsIn(folder))).result.config).toEqual(result.config);
  });

  it.runIf(exhaustive)("compares engines on spikes", async () => {
    const folder = await filesOf();
    const path = join(folder, "x.yaml");
    await writeFile(path, `name: x\ndata: { spikes: spikes, ${ofFiles} }\n${liquid}\ntask: classify\n`);
    const { signal } = new AbortController();
    const { equal, text } = await compareEngines(path, { engines: ["cpu", "reference"], steps: 60, signal }, silent);
    expect(equal).toBe(true);
    expect(text).toContain("60 steps");
  });

  it("names the file whose header does not say the unit of its times", async () => {
    const folder = await filesOf();
    await writeFile(join(folder, "spikes", "burst_9.csv"), "time,neuron\n1,0\n");
    await expect(runText(folder, `data: { spikes: spikes, ${ofFiles} }\n${liquid}\ntask: classify`)).rejects.toThrow(
      /burst_9\.csv.*its column "time" says no unit; name it time_ms/,
    );
  });
});

describe("an experiment file on spikes", () => {
  const parse = (text: string) => () => parseExperimentText(`name: x\ntask: classify\n${text}`, "x.yaml");

  it("may describe its spiking reservoir as liquid, or as a reservoir of that kind", () => {
    const liquid = parse("data: { sounds: . }\nliquid: { size: 9 }")().experiment;
    const reservoir = parse("data: { sounds: . }\nreservoir: { kind: spiking, size: 9 }")().experiment;
    expect(liquid).toEqual(reservoir);
  });

  it.each([
    ["liquid: { size: 9 }\nreservoir: { size: 9 }\ndata: { sounds: . }", "nothing if reservoir is given: one of the two"],
    ["liquid: { size: 0 }\ndata: { sounds: . }", "liquid.size is 0; it takes a whole number of at least 1"],
    ["liquid: { sise: 9, size: 9 }\ndata: { sounds: . }", 'unknown field "liquid.sise": did you mean "size"?'],
    [
      "reservoir: { kind: wet, size: 9 }\ndata: { sounds: . }",
      'reservoir.kind is "wet"; it takes one of "spiking", "oscillator", "stateAffine", "network", or nothing for a rate reservoir',
    ],
    ["liquid: { size: 9 }\ndata: { sounds: ., file: x }", "file or sounds, not both"],
    ["liquid: { size: 9 }\ndata: { sounds: . }\nencode: { encoder: morse }", 'encode.encoder is "morse"; it takes one of rate, latency'],
    [
      "liquid: { size: 9 }\ndata: { sounds: . }\nencode: { encoder: cochlea }\ntransforms: [standardise]",
      "none if encode turns the cases into spikes",
    ],
  ])("is refused: %s", (text, sentence) => {
    expect(parse(text)).toThrow(sentence);
  });

  it.each([
    [
      "data: { patterns: { types: [burst], count: 5 } }\nliquid: { size: 9 }",
      "data.patterns.types is an array of 1; it takes a list of at least two types",
    ],
    [
      "data: { patterns: { types: [burst, brust], count: 5 } }\nliquid: { size: 9 }",
      'data.patterns.types[1] is "brust"; it takes "synchronous", "travelling"',
    ],
    [
      "data: { patterns: { types: [burst, sparse], count: 1 } }\nliquid: { size: 9 }",
      "data.patterns.count is 1; it takes a whole number from 2 to 10000",
    ],
    ["data: { spikes: ., cases: . }\nliquid: { size: 9 }", "cases or spikes, not both"],
    ["data: { spikes: . }\nencode: { encoder: delta }\nliquid: { size: 9 }", "nothing for spike patterns, which are spikes already"],
    ["data: { spikes: ., binMs: 2 }\nliquid: { size: 9, timeStep: 0.5 }", "data.binMs is 2; it takes 0.5 ms, the liquid's timeStep"],
    ["data: { spikes: ., binMS: 2 }\nliquid: { size: 9 }", 'unknown field "data.binMS": did you mean "binMs"?'],
  ])("is refused: %s", (text, sentence) => {
    expect(parse(text)).toThrow(sentence);
  });

  it("looks for types of pattern only where neurons fire spikes", () => {
    const text = "name: x\ndata: { sounds: . }\nreservoir: { size: 9 }\ntask: { type: detect, types: true }";
    expect(() => parseExperimentText(text, "x.yaml")).toThrow(
      "task.types is true; it takes false for a rate reservoir, whose neurons fire no spikes",
    );
  });

  it("is refused where recordings are not encoded", async () => {
    const folder = await vowels();
    const path = join(folder, "raw.yaml");
    await writeFile(path, "name: raw\ndata: { sounds: . }\nliquid: { size: 9 }\ntask: classify\n");
    await expect(runExperiment(await loadExperiment(path), await optionsIn(folder))).rejects.toThrow(
      "encode is missing; recordings are encoded",
    );
  });
});
