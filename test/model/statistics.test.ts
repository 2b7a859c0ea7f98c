// The representation "statistics": what its features are, by hand and by plain sums, and a
// classifier of them on awkward cases.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { resolve } from "../../packages/core/src/options.js";
import { RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { Classifier, Matrix, ReservoirComputer, ridge } from "../../src/index.js";
import { classifierTable } from "../../src/model/classifier/options.js";
import { levelsOf, someRows, writeStatistics } from "../../src/model/classifier/statistics.js";
import { loadModel } from "../../src/model/index.js";
import { differencesOf, fitLevels, statisticsCount, statisticsOf } from "../../src/model/views.js";
import { casesOf } from "../exhaustive.js";
import { plainStatistics } from "./plain-statistics.js";

const draws = new RandomStream(seedKeys("statistics").weights, 90);
const noise = (row: number, rows: number, cols = 1) =>
  new Matrix(
    rows,
    cols,
    Float64Array.from({ length: rows * cols }, (_, k) => draws.uniform(row, k) - 0.5),
  );
const column = (...values: number[]) => new Matrix(values.length, 1, Float64Array.from(values));
const settingsOf = (settings: object) => resolve(classifierTable, { representation: "statistics", ...settings });

/** One neuron whose state is its input: W = 0, leak 1, no bias, linear. */
const mirror = { size: 1, activation: "identity", spectralRadius: null, leakRate: 1, bias: 0, precision: "float64" } as const;
const openMirror = () => ReservoirComputer.create(mirror, { matrices: { weights: Matrix.zeros(1, 1), inputWeights: column(1) } });

describe("statistics of states", () => {
  it("are by hand those of the series that a neuron mirrors", async () => {
    await using computer = await openMirror();
    const settings = settingsOf({ differences: false, directions: "forward", thresholds: 2 });
    const levels = { states: [column(0, 1.5)], inputs: [] };
    const features = await statisticsOf([computer], [[column(1, -1, 2, 2)]], settings, levels, {});
    const mean = 4 / 4;
    const deviation = Math.sqrt(10 / 4 - mean * mean);
    const [above, crossings] = [
      [3 / 4, 2 / 4],
      [2 / 4, 1 / 4],
    ];
    expect([...features.data]).toEqual([mean, deviation, 2, -1, 2, (2 + 3 + 0) / 4, ...above!, ...crossings!]);
  });

  it("of the backward view are those of the reversed series, and of differences those of the changes", async () => {
    await using computer = await openMirror();
    const series = noise(0, 30);
    const changes = differencesOf(series);
    const levels = { states: [0, 0.1, -0.1, 0].map((h) => column(h)), inputs: [] };
    const settings = settingsOf({ thresholds: 1 });
    const all = await statisticsOf([computer, computer], [[series], [changes]], settings, levels, {});
    const back = (x: Matrix) => new Matrix(x.rows, 1, x.data.slice().reverse());
    const expected = [series, back(series), changes, back(changes)].flatMap((x, v) => {
      const out = new Float64Array(8);
      writeStatistics(x, levels.states[v]!, out);
      return [...out];
    });
    expect([...all.data]).toEqual(expected);
    expect(all.cols).toBe(statisticsCount(settings, 1, 1));
  });

  it.each(["float32", "float64"] as const)(
    "have the bits of plain loops, in %s, for any number of neurons, rows and levels",
    (precision) => {
      const awkward = [0, -0, 0, 1e-40, -1e30, 0.5, 0.5];
      for (const [size, rows, count] of [
        [1, 1, 0],
        [2, 5, 1],
        [3, 40, 3],
        [4, 17, 2],
        [5, 33, 3],
        [7, 2, 5],
        [9, 64, 3],
        [102, 121, 3],
      ] as const) {
        const values = noise(size, rows, size);
        values.data.forEach((_, i) => {
          if (i % 11 === 3) values.data[i] = awkward[i % awkward.length]!;
        });
        const states = Matrix.from(values, precision);
        const levels = levelsOf([states], count);
        // Some between two binary32 values, on either side of 0.
        levels.data.forEach((level, i) => {
          levels.data[i] = [level, level * (1 + 1e-10), level * (1 - 1e-10), 1e-60, -1e-60, 1e39][i % 6]!;
        });
        const expected = new Float64Array(size * (6 + 2 * count));
        plainStatistics(states, levels, expected);
        const bits = (made: Float64Array) => [...new BigUint64Array(made.buffer)];
        for (const part of [undefined, 1]) {
          const out = new Float64Array(expected.length);
          writeStatistics(states, levels, out, part);
          expect(bits(out), `${size} x ${rows}, ${count} levels`).toEqual(bits(expected));
        }
      }
    },
  );

  it("of one row are its value, and nothing that changes", () => {
    const out = new Float64Array(8);
    writeStatistics(column(0.7), column(0.5), out);
    expect([...out]).toEqual([0.7, 0, 0.7, 0.7, 0.7, 0, 1, 0]);
  });

  it("leave the rows of a washout out at the start of each run", async () => {
    await using computer = await openMirror();
    const run = (settings: object, series: Matrix) =>
      statisticsOf([computer], [[series]], settingsOf({ differences: false, thresholds: 0, ...settings }), noLevels, {});
    const noLevels = { states: [Matrix.zeros(0, 1), Matrix.zeros(0, 1)], inputs: [] };
    const series = noise(1, 12);
    const { data } = await run({ washout: 3 }, series);
    expect(data.subarray(0, 6)).toEqual((await run({ directions: "forward" }, series.subarray(3))).data);
    expect(data.subarray(6)).toEqual((await run({ directions: "forward" }, reversed(series).subarray(3))).data);
  });
});

const reversed = (x: Matrix) => Matrix.from(x.toArrays().reverse());

describe("levels", () => {
  it("are the values at k n / (Q + 1) of the sorted ones", () => {
    const values = Matrix.from([9, 1, 8, 2, 7, 3, 6, 4, 5, 0].map((x) => [x, -x]));
    expect(levelsOf([values.subarray(0, 4), values.subarray(4)], 3).toArrays()).toEqual([
      [2, -7],
      [5, -4],
      [7, -2],
    ]);
  });

  it("come from about a hundred rows of a sequence, evenly spaced", () => {
    const rows = (count: number) =>
      someRows(Matrix.from(Array.from({ length: count }, (_, t) => [t])))
        .toArrays()
        .flat();
    expect(rows(3)).toEqual([0, 1, 2]);
    expect(rows(150)).toHaveLength(150);
    expect(rows(1000)).toEqual(Array.from({ length: 100 }, (_, k) => 10 * k));
  });

  it("come from 24 training cases, drawn by the seed and not by their order in the file", async () => {
    const cases = Array.from({ length: 60 }, (_, b) => column(b, b));
    const levels = async (seed: number) => {
      await using computer = await ReservoirComputer.create(
        { ...mirror, seed },
        { matrices: { weights: Matrix.zeros(1, 1), inputWeights: column(1) } },
      );
      const settings = settingsOf({ differences: false, directions: "forward", input: true, thresholds: 23 });
      const { states, inputs } = await fitLevels([computer], { inputs: cases }, settings, {});
      expect(inputs[0]).toEqual(states[0]);
      return [...states[0]!.data];
    };
    const first = await levels(1);
    expect(new Set(first).size).toBe(23);
    expect(Math.max(...first)).toBeGreaterThan(24);
    expect(await levels(1)).toEqual(first);
    expect(await levels(2)).not.toEqual(first);
  });
});

/** Ragged cases of classes that differ in how quickly they swing. */
function cases(count: number, classes: number, from = 0) {
  const labels = Array.from({ length: count }, (_, b) => `class ${b % classes}`);
  const sequences = labels.map((_, b) => {
    const out = noise(from + b, 20 + ((7 * b) % 15), 2);
    for (let t = 0; t < out.rows; t++) {
      const angle = (0.2 + 0.25 * (b % classes)) * t + b;
      out.row(t).set([0.1 * out.at(t, 0) + Math.sin(angle), 0.1 * out.at(t, 1) + Math.cos(angle)]);
    }
    return out;
  });
  return { sequences, labels };
}

describe("a classifier of statistics", () => {
  const train = cases(40, 4, 100);
  const test = cases(80, 4, 1000);
  const small = { size: 20, seed: 1 };

  it.each(
    casesOf(
      [
        {},
        { input: true },
        { thresholds: 0 },
        { differences: false },
        { directions: "forward", layerNorm: true },
        { members: 2, standardise: false },
        { readout: { type: "softmax" } },
        { readout: { lambda: 1 } },
      ] as const,
      (_, k) => k % 3 === 0,
    ),
  )("tells ragged cases apart, and is the same from its file: %j", async (settings) => {
    await using classifier = await Classifier.fit(train.sequences, train.labels, { reservoir: small, ...settings });
    expect(await classifier.score(test.sequences, test.labels)).toBeGreaterThan(0.9);
    const bytes = await classifier.toBytes();
    await using again = await Classifier.fromBytes(bytes);
    expect(again.settings).toEqual(classifier.settings);
    expect(await again.predictProba(test.sequences)).toEqual(await classifier.predictProba(test.sequences));
    expect(await again.toBytes()).toEqual(bytes);
    await again.fit(train.sequences, train.labels);
    expect(await again.toBytes()).toEqual(bytes);
  });

  it("is opened by loadModel", async () => {
    const folder = await mkdtemp(join(tmpdir(), "spillway-statistics-"));
    try {
      await using classifier = await Classifier.fit(train.sequences, train.labels, { reservoir: small });
      await classifier.save(join(folder, "a.safetensors"));
      const loaded = await loadModel(join(folder, "a.safetensors"));
      if (loaded.kind !== "classifier") throw new Error(loaded.kind);
      await using opened = loaded.classifier;
      expect(await opened.predict(test.sequences)).toEqual(await classifier.predict(test.sequences));
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("chooses lambda relative to the number of features that change, by leaving each case out and training on the others", async () => {
    await using classifier = await Classifier.fit(train.sequences, train.labels, { reservoir: small });
    const { lambda, lambdas, scores, selection } = classifier.readouts[0]!.training!.details as unknown as {
      lambda: number;
      lambdas: number[];
      scores: number[];
      selection: string;
    };
    expect(selection).toBe("leaveOneOut");
    expect(lambda).toBe(lambdas[scores.indexOf(Math.min(...scores))]);
    const features = statisticsCount(classifier.settings, 20, 2);
    expect(lambdas[0]).toBeLessThanOrEqual(1e-4 * features * (1 + 1e-9));
    expect(lambdas[0]).toBeGreaterThan(0.9e-4 * features);
    expect(lambdas.at(-1)! / lambdas[0]!).toBeCloseTo(1e5, 3);
  });

  it("scores lambdas as refits without each case do", () => {
    const x = noise(7, 12, 30);
    const y = noise(8, 12, 3);
    const lambdas = [0.1, 1, 10];
    const { scores } = ridge({ lambdas, selection: "leaveOneOut", solver: "auto" }).fit(x, y).training!.details as unknown as {
      scores: number[];
    };
    for (const [l, lambda] of lambdas.entries()) {
      let sum = 0;
      for (let out = 0; out < 12; out++) {
        const others = (m: Matrix) => Matrix.from(m.toArrays().filter((_, b) => b !== out));
        const said = ridge({ lambda, solver: "dual" })
          .fit(others(x), others(y))
          .predict(x.subarray(out, out + 1));
        said.data.forEach((value, o) => {
          sum += (value - y.at(out, o)) ** 2;
        });
      }
      expect(scores[l]).toBeCloseTo(sum / 36, 9);
    }
  });

  it("takes cases of one row, one case a class, many classes of few cases, and classes of very different sizes", async () => {
    const rows = [0, 1, 2, 3].map((value) => column(value));
    await using one = await Classifier.fit(rows, ["a", "b", "c", "d"], { reservoir: small });
    expect(await one.predict(rows)).toEqual(["a", "b", "c", "d"]);
    const many = cases(36, 12, 5000);
    await using crowded = await Classifier.fit(many.sequences, many.labels, { reservoir: small });
    expect(crowded.classes).toHaveLength(12);
    expect(await crowded.score(many.sequences, many.labels)).toBeGreaterThan(0.9);
    const kept = train.labels.map((label, b) => ({ label, b })).filter(({ label, b }) => label !== "class 3" || b === 3);
    await using uneven = await Classifier.fit(
      kept.map(({ b }) => train.sequences[b]!),
      kept.map(({ label }) => label),
      { reservoir: small },
    );
    expect(await uneven.score(test.sequences, test.labels)).toBeGreaterThan(0.6);
  });

  it("takes channels and series that never change", async () => {
    const flat = train.sequences.map((x, b) => Matrix.from(x.toArrays().map(([u]) => [b % 2 === 0 ? u! : 0.1, 5])));
    const labels = flat.map((_, b) => (b % 2 === 0 ? "moves" : "rests"));
    await using classifier = await Classifier.fit(flat, labels, { reservoir: small });
    expect(await classifier.score(flat, labels)).toBe(1);
  });

  it("says that one class is too few, and how many rows a washout leaves", async () => {
    await expect(
      Classifier.fit(
        train.sequences,
        train.labels.map(() => "same"),
      ),
    ).rejects.toThrow('labels names one class only, "same"; a classifier takes at least two');
    await expect(Classifier.fit(train.sequences, train.labels, { washout: 20 })).rejects.toThrow(
      'sequences[0] has 20 rows; representation "statistics" with washout 20 takes at least 21',
    );
  });

  it("stops when it is told to", async () => {
    const stop = new AbortController();
    const fitting = Classifier.fit(train.sequences, train.labels, {
      reservoir: { size: 200 },
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    await expect(fitting).rejects.toThrow(/stopped after/);
  });

  it("runs a liquid's spike counts in both directions, without differences", async () => {
    const counts = (rate: number, b: number) =>
      new Matrix(
        60,
        3,
        Float64Array.from({ length: 180 }, (_, k) => (draws.uniform(9000 + b, k) < (k < 90 ? rate : 0.3 - rate) ? 1 : 0)),
      );
    const sequences = Array.from({ length: 24 }, (_, b) => counts(b % 2 === 0 ? 0.25 : 0.05, b));
    const labels = sequences.map((_, b) => (b % 2 === 0 ? "first" : "later"));
    const reservoir = { kind: "spiking", size: 30, seed: 1, input: { weight: 20 } } as const;
    await using classifier = await Classifier.fit(sequences, labels, { reservoir, representation: "statistics" });
    expect(classifier.computers).toHaveLength(1);
    expect(await classifier.score(sequences, labels)).toBeGreaterThan(0.9);
    await using again = await Classifier.fromBytes(await classifier.toBytes());
    expect(await again.predictProba(sequences)).toEqual(await classifier.predictProba(sequences));
  });
});
