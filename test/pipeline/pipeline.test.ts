import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import "../../src/index.js";
import { writeWav } from "../../packages/io/src/index.js";
import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { Classifier, loadModel } from "../../src/model/index.js";
import {
  crossValidate,
  gridSearch,
  Pipeline,
  type PipelineParameters,
  readUeaFolder,
  readWavFolder,
  withParameter,
} from "../../src/pipeline/index.js";
import { itWithData } from "../data.js";

/** Cases of two classes that swing slowly or quickly, by two speakers of other loudness. */
function cases(count: number, seed: number) {
  const draws = new RandomStream(seedKeys(seed).weights, 40);
  const labels = Array.from({ length: count }, (_, b) => (b % 2 === 0 ? "slow" : "quick"));
  const groups = Array.from({ length: count }, (_, b) => (b % 4 < 2 ? "ann" : "bob"));
  const sequences = labels.map((label, b) => {
    const out = Matrix.zeros(20 + (b % 5), 1);
    const loud = groups[b] === "ann" ? 1 : 1.5;
    for (let t = 0; t < out.rows; t++) out.data[t] = loud * Math.sin((label === "slow" ? 0.3 : 0.7) * t) + 0.2 * draws.uniform(b, t);
    return out;
  });
  return { sequences, labels, groups };
}

const reservoir = { size: 30, inputScaling: 0.5, leakRate: 0.4, seed: 1 };

describe("Pipeline", () => {
  const train = cases(24, 1);
  const test = cases(12, 2);

  it("is the classifier that it describes", async () => {
    await using pipeline = await new Pipeline({ reservoir, readout: { lambda: 0.1 } }).fit(train.sequences, train.labels);
    await using classifier = await Classifier.fit(train.sequences, train.labels, { reservoir, readout: { lambda: 0.1 } });
    expect((await pipeline.predictProba(test.sequences)).data).toEqual((await classifier.predictProba(test.sequences)).data);
    expect(await pipeline.score(test.sequences, test.labels)).toBeGreaterThan(0.9);
    expect((await pipeline.confusion(test.sequences, test.labels)).labels).toEqual(["quick", "slow"]);
  });

  it.each([
    { encoder: { type: "spikes", encoder: "delta", stepMs: 1, threshold: 0.3, binMs: 2 } },
    { encoder: { type: "spikes", encoder: "population", frameMs: 5, neuronsPerChannel: 8, binMs: 5, seed: 3 } },
    { scaler: "unit" },
  ] as const)("puts an encoder before the reservoir, and keeps both in one file: %j", async (front) => {
    const parameters = { ...front, reservoir, readout: { lambda: 0.1 } } as PipelineParameters;
    await using pipeline = await new Pipeline(parameters).fit(train.sequences, train.labels);
    expect(await pipeline.score(test.sequences, test.labels)).toBeGreaterThan(0.8);
    await using again = await Pipeline.fromBytes(await pipeline.toBytes());
    expect(again.parameters).toEqual(parameters);
    expect((await again.predictProba(test.sequences)).data).toEqual((await pipeline.predictProba(test.sequences)).data);
  });

  it("gives the same model again from parameters that went through JSON", async () => {
    const parameters = { reservoir, representation: "mean", readout: { type: "softmax", l2: 0.1 } } as const;
    await using first = await new Pipeline(parameters).fit(train.sequences, train.labels);
    await using second = await new Pipeline(JSON.parse(JSON.stringify(first.parameters))).fit(train.sequences, train.labels);
    expect(await second.toBytes()).toEqual(await first.toBytes());
  });

  it("maps series onto 0 to 1 before a liquid, which takes amplitudes of spikes", async () => {
    const liquid = { kind: "spiking", size: 60, stateTimeConstant: 10, input: { weight: 40, connectivity: 0.5 }, seed: 1 } as const;
    await using plain = await new Pipeline({ reservoir: liquid }).fit(train.sequences, train.labels);
    await using said = await new Pipeline({ reservoir: liquid, scaler: "unit" }).fit(train.sequences, train.labels);
    expect((await plain.predictProba(test.sequences)).data).toEqual((await said.predictProba(test.sequences)).data);
    expect(await plain.score(test.sequences, test.labels)).toBeGreaterThan(0.7);
    expect(() => new Pipeline({ reservoir: liquid, scaler: "standard" })).toThrow('scaler is "standard"; it takes "unit" or "none"');
  });

  it("says what is wrong with its parameters and with the case that an encoder refuses", async () => {
    expect(() => new Pipeline({ reservoir, scaler: "robust" as never })).toThrow(
      'scaler is "robust"; it takes "standard", "unit" or "none"',
    );
    const rate = { type: "spikes", encoder: "rate", frameMs: 5, binMs: 5, seed: 1 } as const;
    expect(() => new Pipeline({ reservoir, encoder: rate, scaler: "standard" })).toThrow('scaler is "standard"');
    const raw = new Pipeline({ reservoir, encoder: rate, scaler: "none" });
    await expect(raw.fit(train.sequences, train.labels)).rejects.toThrow(/^sequences\[0\]: the value at row \d+, channel 0 is/);
    await expect(new Pipeline({ reservoir }).predict(test.sequences)).rejects.toThrow(/pipeline/);
  });

  it.each([
    [{ reservoir: 7 }, "reservoir is 7; it takes an object that describes a reservoir"],
    [{ thresholds: -1 }, "thresholds is -1; it takes a whole number from 0 to 99"],
    [{ directions: "back" }, 'directions is "back"; it takes "both" or "forward"'],
    [{ reservoir: { size: 0 } }, "reservoir.size is 0; it takes"],
    [{ reservoir: { size: 10, leakrate: 0.3 } }, 'unknown field "reservoir.leakrate": did you mean "leakRate"?'],
    [{ reservoir: { kind: "spiking", size: 10, timestep: 1 } }, 'unknown field "reservoir.timestep": did you mean "timeStep"?'],
    [{ reservoir: { size: 10, feedback: { size: 1 } } }, "it takes nothing in a pipeline"],
    [{ reservoir, scalar: "unit" }, 'unknown field "scalar": did you mean "scaler"?'],
    [{ reservoir, representaton: "mean" }, 'unknown field "representaton": did you mean "representation"?'],
    [{ reservoir, washout: -1 }, "washout is -1; it takes a whole number of at least 0"],
    [{ reservoir, standardise: true }, 'standardise is true; it takes scaler: "standard" or "none" in its place'],
    [{ reservoir, readout: { lambda: -1 } }, "lambda is -1"],
    [{ reservoir, encoder: { type: "spikes", encoder: "ratio", binMs: 1 } }, 'encoder.encoder is "ratio"; it takes one of rate, latency'],
    [{ reservoir, encoder: { type: "spikes", encoder: "rate" } }, "encoder.binMs is missing; it takes a number of ms above 0"],
    [{ reservoir, encoder: { type: "cochleagram", sampleRate: 0 } }, "encoder.sampleRate is 0; it takes a number of Hz above 0"],
  ])("checks its parameters when it is made: %j", (parameters, message) => {
    expect(() => new Pipeline(parameters as unknown as PipelineParameters)).toThrow(message);
  });

  it("refuses options that there are not", () => {
    expect(() => new Pipeline({ reservoir }, { egine: "cpu" } as never)).toThrow('unknown field "egine": did you mean "engine"?');
  });

  it("refuses cases that are no list, and labels that it was not trained on", async () => {
    const { sequences, labels } = cases(8, 1);
    await using pipeline = await new Pipeline({ reservoir }).fit(sequences, labels);
    await expect(pipeline.predict(undefined as never)).rejects.toThrow("sequences is missing; it takes a list of series");
    await expect(new Pipeline({ reservoir }).fit(5 as never, labels)).rejects.toThrow("sequences is 5; it takes a list of series");
    await expect(pipeline.score(sequences.slice(0, 1), ["quik"])).rejects.toThrow(
      'labels[0] is "quik", which the classifier was not trained on',
    );
    await expect(pipeline.confusion(sequences.slice(0, 1), labels)).rejects.toThrow("labels holds 8 classes and sequences 1 cases");
  });

  it("is not opened as something else", async () => {
    await using pipeline = await new Pipeline({ reservoir }).fit(train.sequences, train.labels);
    await expect(Classifier.fromBytes(await pipeline.toBytes())).rejects.toThrow("it holds a pipeline, and a classifier was asked for");
    const folder = await mkdtemp(join(tmpdir(), "spillway-pipeline-"));
    await pipeline.save(join(folder, "a.safetensors"));
    await expect(loadModel(join(folder, "a.safetensors"))).rejects.toThrow("Pipeline.load opens it");
    await rm(folder, { recursive: true });
  });
});

describe("crossValidate", () => {
  const all = cases(24, 1);

  it("tests each case once a seed, on folds that keep groups whole", async () => {
    const result = await crossValidate({ reservoir, readout: { lambda: 0.1 } }, all, { folds: 2, seeds: [1, 2] });
    expect(result.folds.map(({ fold, seed, cases: count }) => [seed, fold, count])).toEqual([
      [1, 0, 12],
      [1, 1, 12],
      [2, 0, 12],
      [2, 1, 12],
    ]);
    expect(result.confusion.counts.flat().reduce((sum, count) => sum + count, 0)).toBe(48);
    const errors = result.folds.reduce((sum, fold) => sum + fold.errors, 0);
    expect(result.mean).toBeCloseTo(1 - errors / 48, 12);
    expect(result.interrupted).toBe(false);
  });

  it("keeps the folds that were done when it is stopped", async () => {
    const stop = new AbortController();
    const result = await crossValidate({ reservoir }, all, {
      folds: 2,
      seeds: [1, 2],
      signal: stop.signal,
      onProgress: (done) => done === 2 && stop.abort(),
    });
    expect(result.folds).toHaveLength(2);
    expect(result.interrupted).toBe(true);
    await expect(crossValidate({ reservoir }, all, { signal: AbortSignal.abort(), folds: 2 })).rejects.toThrow(
      "stopped after 0 of 2 steps",
    );
  });

  it("refuses an option that it has not, and cases that are not with their labels", async () => {
    await expect(crossValidate({ reservoir }, all, { fold: 2 } as never)).rejects.toThrow('unknown field "fold": did you mean "folds"?');
    await expect(crossValidate({ reservoir }, all.sequences as never)).rejects.toThrow(
      /^cases is an array of \d+; it takes an object with sequences and labels$/,
    );
  });

  it("refuses cases, labels, seeds and splits that are no lists", async () => {
    const data = cases(8, 1);
    const options = { folds: 2 };
    await expect(crossValidate({ reservoir }, { ...data, sequences: 5 as never }, options)).rejects.toThrow(
      "sequences is 5; it takes a list of series",
    );
    await expect(crossValidate({ reservoir }, { ...data, labels: {} as never }, options)).rejects.toThrow(
      "labels is {}; it takes a list of classes",
    );
    await expect(crossValidate({ reservoir }, data, { ...options, seeds: [] })).rejects.toThrow(
      "seeds is an array of 0; it takes a list of at least one seed",
    );
    await expect(crossValidate({ reservoir }, data, { splits: 3 as never })).rejects.toThrow(
      "splits is 3; it takes a list of {train, test}",
    );
    await expect(crossValidate({ reservoir }, data, { splits: [null as never] })).rejects.toThrow(
      "splits[0] is null; it takes {train, test}",
    );
  });

  it("refuses splits that let a case into both parts", async () => {
    const splits = [{ train: [0, 1, 2], test: [2] }];
    await expect(crossValidate({ reservoir }, all, { splits })).rejects.toThrow("splits[0] has case 2 in train and in test");
  });
});

describe("gridSearch", () => {
  it("ranks every combination, and puts values where their paths lead", async () => {
    const all = cases(24, 1);
    const grid = { "reservoir.leakRate": [0.4, 0.0001], "readout.lambda": [0.1, 1e6] };
    const { points, best } = await gridSearch({ reservoir, scaleFeatures: false }, grid, all, { folds: 2 });
    expect(points).toHaveLength(4);
    expect(best.values).toEqual({ "reservoir.leakRate": 0.4, "readout.lambda": 0.1 });
    expect(best.parameters).toMatchObject({ reservoir: { size: 30, leakRate: 0.4 }, readout: { lambda: 0.1 } });
    expect(points.map(({ validation }) => validation.mean)).toEqual(points.map(({ validation }) => validation.mean).sort((a, b) => b - a));
  });

  it("tells by outer folds how much of the best score is luck", async () => {
    const all = cases(24, 1);
    const coins = all.labels.map((_, b) => ["heads", "tails"][(b * b * 7 + (b >> 2)) % 2]!);
    const tiny = { representation: "mean", reservoir: { size: 3 }, readout: { lambda: 0.1 } } as const;
    const grid = { "reservoir.leakRate": [0.1, 0.3, 0.6, 0.9], "reservoir.inputScaling": [0.1, 1] };
    const progress: number[] = [];
    const { sequences } = all;
    const options = { folds: 2, outer: 3, onProgress: (done: number, total: number) => progress.push(done / total) };
    const guessed = await gridSearch(tiny, grid, { sequences, labels: coins }, options);
    expect(guessed.nested!.chosen).toHaveLength(3);
    expect(guessed.nested!.mean).toBeLessThan(guessed.best.validation.mean);
    expect(guessed.verdict).toMatch(/^the best of 8 settings: .* % on cases that chose nothing; .* points are luck; /);
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    expect(progress.at(-1)).toBe(1);
  });

  it("says that the best score is too good if nothing measured by how much, and keeps quiet about one setting", async () => {
    const all = cases(8, 1);
    const search = (values: number[]) => gridSearch({ reservoir }, { "readout.lambda": values }, all, { folds: 2 });
    expect((await search([0.1, 1])).verdict).toContain("by the folds that chose it, which is too good");
    expect((await search([0.1])).verdict).toMatch(/^one setting: /);
  });

  it("keeps what it found if it is stopped in the outer folds", async () => {
    const stop = new AbortController();
    const { sequences, labels } = cases(24, 1);
    const ungrouped = { sequences, labels };
    const onProgress = (done: number) => done >= 2 && stop.abort();
    const options = { folds: 2, outer: 2, signal: stop.signal, onProgress };
    const { points, nested, interrupted } = await gridSearch({ reservoir }, { washout: [0, 1] }, ungrouped, options);
    expect([points.length, nested, interrupted]).toEqual([2, undefined, true]);
  });

  it("refuses outer folds around splits of one's own, or of one part", async () => {
    const splits = [{ train: [0, 1, 2, 3], test: [4, 5] }];
    const search = (options: object) => gridSearch({ reservoir }, { washout: [0] }, cases(8, 1), options);
    await expect(search({ splits, outer: 2 })).rejects.toThrow("outer is given with splits of your own");
    await expect(search({ folds: 2, outer: 2 })).rejects.toThrow("inside an outer fold: folds is 2 and there are 1 groups");
    await expect(search({ outer: 1 })).rejects.toThrow("outer is 1; it takes 0, or a whole number of at least 2");
  });

  it("refuses a grid and parameters that are none", async () => {
    await expect(gridSearch({ reservoir }, undefined as never, cases(8, 1))).rejects.toThrow(
      "grid is missing; it takes lists of values by path",
    );
    await expect(gridSearch(null as never, { washout: [1] }, cases(8, 1))).rejects.toThrow(
      "base is null; it takes the parameters of a pipeline",
    );
  });

  it("refuses an empty grid and a path through a number", async () => {
    await expect(gridSearch({ reservoir }, {}, cases(8, 1))).rejects.toThrow("the grid is empty");
    expect(() => withParameter({ reservoir }, "reservoir.size.more", 1)).toThrow("size.more is 1; it takes a path through objects");
  });
});

describe("folders of data", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "spillway-sounds-"));
    await mkdir(join(folder, "more"));
    for (const name of ["yes_ann_0", "no_ann_1", "yes_bob_0", "other"]) {
      await writeWav(join(folder, `${name}.wav`), new Matrix(4, 2, Float64Array.of(0.5, 0, 0, 0.5, 0.25, 0.25, -0.5, -0.5)), {
        sampleRate: 8000,
      });
    }
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("reads sounds with the class and the speaker that their names tell, and mixes channels", async () => {
    const sounds = await readWavFolder(folder);
    expect(sounds.labels).toEqual(["no", "yes", "yes"]);
    expect(sounds.groups).toEqual(["ann", "ann", "bob"]);
    expect(sounds.sampleRate).toBe(8000);
    expect([...sounds.sequences[0]!.data]).toEqual([0.25, 0.25, 0.25, -0.5]);
    expect((await readWavFolder(folder, { keep: ({ index }) => Number(index) === 1 })).labels).toEqual(["no"]);
  });

  it("says what it looked for where nothing matches", async () => {
    await expect(readWavFolder(join(folder, "more"))).rejects.toThrow("has no .wav file named {label}_{group}_{index}");
    await expect(readWavFolder(folder, { names: "{name}" })).rejects.toThrow("it takes {label} somewhere");
  });

  itWithData("reads both parts of an archive's data set", "GunPoint", async (data) => {
    const { train, test, classes, channels } = await readUeaFolder(join(data, "uea"), "GunPoint");
    expect([train.sequences.length, test.sequences.length, channels]).toEqual([50, 150, 1]);
    expect(classes).toEqual(["1", "2"]);
    expect(test.sources[0]).toBe("GunPoint_TEST.ts, case 1");
  });
});
