// Pipelines whose cases are spike patterns: from a folder, and into a liquid or a rate reservoir.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import "../../src/index.js";
import { writeNpy } from "../../packages/io/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { Classifier } from "../../src/model/index.js";
import { crossValidate, Pipeline, type PipelineParameters, readSeriesFolder, readSpikeFolder } from "../../src/pipeline/index.js";
import { binSpikes, jitterPattern, rateEncode, SpikePattern, writeSpikeHdf5, writeSpikePattern } from "../../src/spikes/index.js";

/** Jittered copies of two templates of 10 neurons over 100 ms, by two speakers. */
function cases(count: number, seed: string) {
  const rates = new Matrix(20, 10, new Float64Array(200).fill(1));
  const labels = Array.from({ length: count }, (_, b) => ["left", "right"][b % 2]!);
  const groups = labels.map((_, b) => (b % 4 < 2 ? "ann" : "bob"));
  const sequences = labels.map((label, b) => {
    const template = rateEncode(rates, { frameMs: 5, minRateHz: 0, maxRateHz: 40, process: "poisson", seed: label });
    return jitterPattern(template, { standardDeviationMs: 2, seed: `${seed} ${b}` });
  });
  return { sequences, labels, groups };
}

const train = cases(16, "train");
const test = cases(12, "test");
const rate = { size: 50, inputScaling: 0.5, leakRate: 0.3, seed: 1 };
const liquid = { kind: "spiking", size: 80, stateTimeConstant: 30, input: { weight: 20, connectivity: 0.3 }, seed: 1 } as const;

describe("a Pipeline of spike patterns", () => {
  it.each([
    ["a rate reservoir", rate, { type: "pattern", binMs: 5 }],
    ["a liquid", liquid, { type: "pattern" }],
  ] as const)("tells templates apart by %s, and keeps how in its file", async (_, reservoir, encoder) => {
    const parameters: PipelineParameters = { encoder, reservoir, readout: { lambda: 0.1 } };
    await using pipeline = await new Pipeline(parameters).fit(train.sequences, train.labels);
    expect(await pipeline.score(test.sequences, test.labels)).toBeGreaterThan(0.9);
    await using again = await Pipeline.fromBytes(await pipeline.toBytes());
    expect((await again.predictProba(test.sequences)).data).toEqual((await pipeline.predictProba(test.sequences)).data);
  });

  it("is a classifier of the spikes counted in bins, for a liquid those of its time step", async () => {
    const reservoir = { ...liquid, timeStep: 2 };
    await using pipeline = await new Pipeline({ encoder: { type: "pattern" }, reservoir, readout: { lambda: 0.1 } }).fit(
      train.sequences,
      train.labels,
    );
    const counted = (patterns: typeof test.sequences) => patterns.map((pattern) => binSpikes(pattern, { binMs: 2 }));
    const options = { reservoir, standardise: false, readout: { lambda: 0.1 } };
    await using classifier = await Classifier.fit(counted(train.sequences), train.labels, options);
    expect((await pipeline.predictProba(test.sequences)).data).toEqual((await classifier.predictProba(counted(test.sequences))).data);
  });

  it("is validated as any other", async () => {
    const { mean } = await crossValidate({ encoder: { type: "pattern", binMs: 5 }, reservoir: rate, readout: { lambda: 0.1 } }, train, {
      folds: 2,
    });
    expect(mean).toBeGreaterThan(0.9);
  });

  it("says which case is of the wrong kind", async () => {
    const pattern = new Pipeline({ encoder: { type: "pattern", binMs: 5 }, reservoir: rate });
    const series = [Matrix.zeros(5, 10), Matrix.zeros(5, 10)];
    await expect(pattern.fit(series, ["a", "b"])).rejects.toThrow('sequences[0] is a series; the encoder "pattern" takes spike patterns');
    await expect(new Pipeline({ reservoir: rate }).fit(train.sequences, train.labels)).rejects.toThrow(
      'sequences[0] is a spike pattern; patterns take the encoder { type: "pattern" }',
    );
    expect(() => new Pipeline({ encoder: { type: "pattern" }, scaler: "unit", reservoir: rate })).toThrow(
      'it takes "none" before the encoder',
    );
    expect(() => new Pipeline({ encoder: { type: "image" } as never, reservoir: rate })).toThrow('"spikes", "cochleagram" or "pattern"');
  });
});

describe("readSpikeFolder", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "spillway-spikes-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.each(["json", "csv", "npz"])("reads patterns in %s with the class and the speaker that their names tell", async (format) => {
    const here = join(folder, format);
    await mkdir(here);
    for (const b of [0, 1, 2])
      await writeSpikePattern(join(here, `${test.labels[b]}_${test.groups[b]}_${b}.${format}`), test.sequences[b]!);
    const read = await readSpikeFolder(here);
    expect(read.labels).toEqual(["left", "left", "right"]);
    expect(read.groups).toEqual(["ann", "bob", "ann"]);
    expect(read.neuronCount).toBe(10);
    expect(read.sequences.map(({ times }) => times)).toEqual([0, 2, 1].map((b) => test.sequences[b]!.times));
    await expect(readSpikeFolder(here, { pattern: "{label}_{index}" } as never)).rejects.toThrow('unknown field "pattern"');
    await expect(readSpikeFolder(here, { names: "{label}_{label}" })).rejects.toThrow("it takes {label} once");
    await expect(readSpikeFolder(here, { names: "{label}_{1}" })).rejects.toThrow("{1} takes a name that begins with a letter");
    expect((await readSpikeFolder(here, { keep: ({ group }) => group === "bob" })).labels).toEqual(["left"]);
  });

  it("asks for the number of neurons where the files differ in it", async () => {
    const here = await mkdtemp(join(folder, "bare-"));
    await writeFile(join(here, "left_ann_0.csv"), "time_ms,neuron\n1,3\n2,4\n");
    await writeFile(join(here, "right_ann_0.csv"), "time_ms,neuron\n1,7\n");
    await expect(readSpikeFolder(here)).rejects.toThrow(
      "has 8 neurons and the files before 5; a data set takes one number: give neuronCount",
    );
    expect((await readSpikeFolder(here, { neuronCount: 10, durationMs: 50 })).sequences.map(({ durationMs }) => durationMs)).toEqual([
      50, 50,
    ]);
  });

  it("reads an HDF5 file of event lists, whose labels it holds itself", async () => {
    const path = join(folder, "digits.h5");
    const labelled = test.sequences.slice(0, 3).map((pattern, b) => {
      const { durationMs, neuronCount } = pattern;
      return new SpikePattern(pattern, { durationMs, neuronCount, metadata: { label: test.labels[b]! } });
    });
    await writeSpikeHdf5(path, labelled);
    const read = await readSpikeFolder(path, { neuronCount: 10, durationMs: 100, keep: ({ index }) => index !== "1" });
    expect(read.labels).toEqual(["left", "left"]);
    expect(read.groups).toBeUndefined();
    expect(read.sequences.map(({ spikeCount }) => spikeCount)).toEqual([0, 2].map((b) => test.sequences[b]!.spikeCount));
    expect(read.sources[1]).toBe(`${path}, pattern 2`);
    const bare = join(folder, "bare.h5");
    await writeSpikeHdf5(bare, test.sequences.slice(0, 2));
    await expect(readSpikeFolder(bare)).rejects.toThrow("bare.h5 has no labels");
    await expect(readSpikeFolder(path, { neuronCount: 10, keep: () => false })).rejects.toThrow(
      "digits.h5 has 3 patterns, none that `keep` takes",
    );
  });

  it("says what it looked for where nothing matches", async () => {
    const empty = await mkdtemp(join(folder, "empty-"));
    await expect(readSpikeFolder(empty)).rejects.toThrow("has no .json or .csv or .npz file named {label}_{group}_{index}");
  });
});

describe("readSeriesFolder", () => {
  it("reads the CSV and NPY files of a folder, whose names tell their classes", async () => {
    const folder = await mkdtemp(join(tmpdir(), "spillway-series-"));
    await writeFile(join(folder, "up_1.csv"), "a,b\n1,2\n3,4\n");
    await writeNpy(join(folder, "down_1.npy"), new Matrix(3, 2, Float64Array.of(6, 5, 4, 3, 2, 1)));
    const { labels, channels, sequences } = await readSeriesFolder(folder, { names: "{label}_{index}" });
    expect([labels, channels]).toEqual([["down", "up"], 2]);
    expect(sequences.map(({ data }) => [...data])).toEqual([
      [6, 5, 4, 3, 2, 1],
      [1, 2, 3, 4],
    ]);
    await writeFile(join(folder, "up_2.csv"), "1\n2\n");
    await expect(readSeriesFolder(folder, { names: "{label}_{index}" })).rejects.toThrow(
      /up_2\.csv has 1 columns and the files before 2; a data set takes one number/,
    );
    await expect(readSeriesFolder(folder)).rejects.toThrow("has no .csv or .parquet or .npy file named {label}_{group}_{index}");
  });
});
