import { describe, expect, it } from "vitest";
import { RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { Classifier, Matrix, NotFittedError, ReservoirComputer, ridge, softmaxRegression, TrainedReadout } from "../../src/index.js";
import { classShares } from "../../src/model/classifier/class-readout.js";

const draws = new RandomStream(seedKeys("sequences").weights, 90);

/** Two noisy channels, 8 to 20 rows: "chirp" speeds up, "sine" does not, "flat" hardly moves. */
function cases(count: number, from = 0): { sequences: Matrix[]; labels: string[] } {
  const names = ["sine", "chirp", "flat"];
  const labels = Array.from({ length: count }, (_, b) => names[b % 3]!);
  const sequences = labels.map((label, b) => {
    const row = from + b;
    const rows = 8 + draws.integer(row, 0, 13);
    const out = Matrix.zeros(rows, 2);
    for (let t = 0; t < rows; t++) {
      const angle = label === "chirp" ? 0.04 * t * t : 0.4 * t;
      const noise = (c: number) => 0.1 * draws.normal(row, 1 + 2 * t + c);
      out.data[2 * t] = (label === "flat" ? 0.1 : 1) * Math.sin(angle) + noise(0);
      out.data[2 * t + 1] = (label === "flat" ? 0.1 : 1) * Math.cos(angle) + noise(1);
    }
    return out;
  });
  return { sequences, labels };
}

const train = cases(60);
const test = cases(60, 1000);
const reservoir = { size: 50, bias: 0, seed: 5 };
const raw = { reservoir, standardise: false, scaleFeatures: false } as const;
const summed = { ...raw, representation: "last+mean" } as const;

/** 1 for the class of each case, classes in rising order. */
function oneHot(labels: readonly string[]): Matrix {
  const classes = [...new Set(labels)].sort();
  return Matrix.from(labels.map((label) => classes.map((name) => (name === label ? 1 : 0))));
}

async function statesOf(sequences: readonly Matrix[]): Promise<Matrix[]> {
  await using computer = await ReservoirComputer.create({ ...reservoir, inputSize: 2 });
  return await computer.batch(sequences);
}

const last = (x: Matrix): number[] => Array.from(x.row(x.rows - 1));
const mean = (x: Matrix): number[] =>
  Array.from({ length: x.cols }, (_, c) => {
    let sum = 0;
    for (let t = 0; t < x.rows; t++) sum += x.at(t, c);
    return sum / x.rows;
  });

describe("a classifier", () => {
  it.each(["statistics", "last", "mean", "last+mean", "output"] as const)("tells the classes apart by %s", async (representation) => {
    await using classifier = await Classifier.fit(train.sequences, train.labels, { reservoir, representation });
    expect(await classifier.score(test.sequences, test.labels)).toBeGreaterThan(0.9);
  });

  it("says which option was meant to be the reservoir", async () => {
    await expect(Classifier.create({ reservor: { size: 5 } } as never)).rejects.toThrow(
      'unknown field "reservor": did you mean "reservoir"?',
    );
  });

  it("tells the classes apart by softmax regression", async () => {
    await using classifier = await Classifier.fit(train.sequences, train.labels, { reservoir, readout: { type: "softmax" } });
    expect(await classifier.score(test.sequences, test.labels)).toBeGreaterThan(0.9);
  });

  it("has classes in rising order, and counts confusions in that order", async () => {
    await using classifier = await Classifier.fit(train.sequences, train.labels, { reservoir });
    expect(classifier.classes).toEqual(["chirp", "flat", "sine"]);
    const { labels, counts } = await classifier.confusion(test.sequences, test.labels);
    expect(labels).toEqual(classifier.classes);
    expect(counts.map((row) => row.reduce((a, b) => a + b))).toEqual([20, 20, 20]);
    const right = counts.reduce((sum, row, k) => sum + row[k]!, 0);
    expect(await classifier.score(test.sequences, test.labels)).toBe(right / 60);
  });

  it("takes numbers as labels", async () => {
    const numbers = train.labels.map((label) => ({ sine: 10, chirp: 9, flat: -1 })[label]!);
    await using classifier = await Classifier.fit(train.sequences, numbers, { reservoir });
    expect(classifier.classes).toEqual([-1, 9, 10]);
    expect(numbers).toContain((await classifier.predict(test.sequences.slice(0, 1)))[0]);
  });

  it("predicts the same for a case alone and among others", async () => {
    await using classifier = await Classifier.fit(train.sequences, train.labels, { reservoir });
    const together = await classifier.predictProba(test.sequences.slice(0, 5));
    for (let b = 0; b < 5; b++) expect((await classifier.predictProba([test.sequences[b]!])).data).toEqual(together.row(b));
  });

  it("does not depend on the units of a channel, which are standardised", async () => {
    const far = (sequence: Matrix): number[][] => sequence.toArrays().map(([a, b]) => [4096 * a!, 0.125 * b!]);
    await using near = await Classifier.fit(train.sequences, train.labels, { reservoir });
    await using scaled = await Classifier.fit(train.sequences.map(far), train.labels, { reservoir });
    expect(await scaled.predictProba(test.sequences.map(far))).toEqual(await near.predictProba(test.sequences));
  });
});

describe("representations", () => {
  const features = {
    last: (x: Matrix, u: Matrix, input: boolean) => [...last(x), ...(input ? last(u) : [])],
    mean: (x: Matrix, u: Matrix, input: boolean) => [...mean(x), ...(input ? mean(u) : [])],
    "last+mean": (x: Matrix, u: Matrix, input: boolean) => [...last(x), ...mean(x), ...(input ? [...last(u), ...mean(u)] : [])],
    output: (x: Matrix, u: Matrix, input: boolean) => {
      const inputs = u.subarray(0, -1);
      const { weights, intercept } = ridge({ lambda: 1, solver: "auto", input }).fit(x.subarray(0, -1), u.subarray(1), { inputs });
      return [...weights.data, ...intercept];
    },
  };

  it.each(
    (["last", "mean", "last+mean", "output"] as const).flatMap((name) => [
      { name, input: false },
      { name, input: true },
    ]),
  )("$name, input $input: the readout is ridge regression on exactly these features", async ({ name, input }) => {
    await using classifier = await Classifier.fit(train.sequences, train.labels, {
      ...raw,
      representation: name,
      input,
      readout: { lambda: 0.5 },
    });
    const states = await statesOf(train.sequences);
    const rows = states.map((x, b) => features[name](x, train.sequences[b]!, input));
    const readout = ridge({ lambda: 0.5, solver: "auto" }).fit(Matrix.from(rows), oneHot(train.labels));
    expect(classifier.readouts[0]!.weights.data).toEqual(readout.weights.data);
    expect(classifier.readouts[0]!.intercept).toEqual(readout.intercept);
  });

  it("leave the washout out of the mean", async () => {
    await using classifier = await Classifier.fit(train.sequences, train.labels, {
      ...raw,
      representation: "mean",
      washout: 5,
      readout: { lambda: 1 },
    });
    const rows = (await statesOf(train.sequences)).map((x) => mean(x.subarray(5)));
    const readout = ridge({ lambda: 1, solver: "auto" }).fit(Matrix.from(rows), oneHot(train.labels));
    expect(classifier.readouts[0]!.weights.data).toEqual(readout.weights.data);
  });

  it("may be normalised row by row: mean 0, and deviation 1 but for the 1e-5 that its variance gets", async () => {
    await using classifier = await Classifier.fit(train.sequences, train.labels, {
      ...raw,
      representation: "last",
      layerNorm: true,
      readout: { lambda: 1 },
    });
    const rows = (await statesOf(train.sequences)).map((x) => {
      const row = last(x);
      const mu = row.reduce((a, b) => a + b) / row.length;
      const variance = row.reduce((a, b) => a + (b - mu) ** 2, 0) / row.length;
      return row.map((value) => (value - mu) / Math.sqrt(variance + 1e-5));
    });
    const readout = ridge({ lambda: 1, solver: "auto" }).fit(Matrix.from(rows), oneHot(train.labels));
    classifier.readouts[0]!.weights.data.forEach((weight, k) => {
      expect(weight).toBeCloseTo(readout.weights.data[k]!, 10);
    });
    const reopened = await Classifier.fromBytes(await classifier.toBytes());
    expect(reopened.settings.layerNorm).toBe(true);
    expect(await reopened.predictProba(test.sequences)).toEqual(await classifier.predictProba(test.sequences));
    await reopened.dispose();
  });

  it.each([
    ["plain", (row: number[]) => row],
    ["squareHalf", (row: number[]) => row.map((value, f) => (f % 2 === 1 ? value * value : value))],
    ["squares", (row: number[]) => [...row, ...row.map((value) => value * value)]],
  ] as const)("are scaled as the readout sees them, which is folded into it: %s", async (transform, scaled) => {
    await using classifier = await Classifier.fit(train.sequences, train.labels, {
      ...raw,
      representation: "last",
      scaleFeatures: true,
      readout: { lambda: 1, transform },
    });
    const rows = Matrix.from((await statesOf(train.sequences)).map((x) => scaled(last(x))));
    const moments = Array.from({ length: rows.cols }, (_, f) => {
      const column = Array.from(rows.column(f));
      const mu = column.reduce((a, b) => a + b) / 60;
      return { mu, sigma: Math.sqrt(column.reduce((a, b) => a + (b - mu) ** 2, 0) / 60) };
    });
    const scale = (row: ArrayLike<number>) => Array.from(row, (value, f) => (value - moments[f]!.mu) / moments[f]!.sigma);
    const readout = ridge({ lambda: 1, solver: "auto" }).fit(
      rows.toArrays().map((row) => scale(row)),
      oneHot(train.labels),
    );
    const x = (await statesOf(test.sequences.slice(0, 1))).map(last);
    const outputs = classifier.readouts[0]!.predict(Matrix.from(x));
    readout.predict(Matrix.from(x.map((row) => scale(scaled(row))))).data.forEach((value, k) => {
      expect(outputs.data[k]).toBeCloseTo(value, 10);
    });
  });
});

it("says where it predicted: on the host, where the states are", async () => {
  await using classifier = await Classifier.fit(train.sequences, train.labels, { reservoir, engine: "cpu", members: 2 });
  expect(classifier.predictedOn).toBeUndefined();
  await classifier.predict(test.sequences.slice(0, 2));
  expect(classifier.predictedOn).toEqual(["host", "host"]);
});

describe("scores", () => {
  it("of a ridge readout are its outputs, cut at 0 and divided by their sum", async () => {
    await using classifier = await Classifier.fit(train.sequences, train.labels, { ...raw, representation: "last", vote: "mean" });
    const rows = Matrix.from((await statesOf(test.sequences)).map(last));
    const outputs = classifier.readouts[0]!.predict(rows);
    const shares = await classifier.predictProba(test.sequences);
    const labels = await classifier.predict(test.sequences);
    for (let b = 0; b < 60; b++) {
      const positive = Array.from(outputs.row(b), (value) => Math.max(value, 0));
      const sum = positive.reduce((a, c) => a + c);
      expect(Array.from(shares.row(b))).toEqual(positive.map((value) => value / sum));
      expect(labels[b]).toBe(classifier.classes[shares.row(b).indexOf(Math.max(...shares.row(b)))]);
    }
  });

  it("of a ridge readout none of whose outputs is above 0 are 1 for the largest", () => {
    const features = { state: "plain", input: false, squares: false } as const;
    const readout = new TrainedReadout({
      features,
      stateSize: 1,
      inputSize: 0,
      weights: new Matrix(3, 1, Float64Array.of(0.5, -1, 0)),
      intercept: Float64Array.of(-3, -3, -3),
    });
    expect(classShares(readout, new Matrix(2, 1, Float64Array.of(2, -2))).toArrays()).toEqual([
      [1, 0, 0],
      [0, 1, 0],
    ]);
  });

  it("of a softmax readout are its probabilities", async () => {
    const readout = { type: "softmax", l2: 0.1 } as const;
    await using classifier = await Classifier.fit(train.sequences, train.labels, { ...raw, representation: "last", readout });
    const states = Matrix.from((await statesOf(train.sequences)).map(last));
    const plain = softmaxRegression({ l2: 0.1 }).fit(states, oneHot(train.labels));
    const others = Matrix.from((await statesOf(test.sequences)).map(last));
    expect(await classifier.predictProba(test.sequences)).toEqual(plain.predictProba(others));
  });

  it.each([
    [{ ...summed, scaleFeatures: true }, 100],
    [summed, undefined],
  ])("take a lambda of 0.003 times the mean squared length of the centred features: %o", async (settings, count) => {
    await using classifier = await Classifier.fit(train.sequences, train.labels, settings);
    const rows = Matrix.from((await statesOf(train.sequences)).map((x) => [...last(x), ...mean(x)]));
    const variance = (column: readonly number[]): number => {
      const mu = column.reduce((a, b) => a + b) / column.length;
      return column.reduce((a, b) => a + (b - mu) ** 2, 0) / column.length;
    };
    const length = count ?? Array.from({ length: 100 }, (_, f) => variance(Array.from(rows.column(f)))).reduce((a, b) => a + b);
    expect(classifier.readouts[0]!.training!.details["lambda"]).toBeCloseTo(0.003 * length, 10);
  });
});

describe("members", () => {
  const weak = { reservoir: { size: 6 }, representation: "last+mean", readout: { lambda: 1 } } as const;

  it("with seeds of their own predict as classifiers of those seeds do, and the majority wins", async () => {
    const seeds = [0, "one", 2];
    await using ensemble = await Classifier.fit(train.sequences, train.labels, { ...weak, members: seeds });
    const votes: (string | number)[][] = [];
    for (const seed of seeds) {
      await using single = await Classifier.fit(train.sequences, train.labels, { ...weak, reservoir: { size: 6, seed } });
      votes.push(await single.predict(test.sequences));
    }
    const predicted = await ensemble.predict(test.sequences);
    let disagreements = 0;
    for (let b = 0; b < 60; b++) {
      const cast = votes.map((member) => member[b]!);
      const majority = cast.find((label, i) => cast.indexOf(label) !== i);
      if (majority !== undefined) expect(predicted[b]).toBe(majority);
      if (new Set(cast).size > 1) disagreements++;
    }
    expect(disagreements).toBeGreaterThan(0);
  });

  it("give the mean of their scores", async () => {
    const seeds = [0, 1];
    await using ensemble = await Classifier.fit(train.sequences, train.labels, { ...weak, members: seeds, vote: "mean" });
    const singles: Matrix[] = [];
    for (const seed of seeds) {
      await using single = await Classifier.fit(train.sequences, train.labels, { ...weak, reservoir: { size: 6, seed } });
      singles.push(await single.predictProba(test.sequences));
    }
    const shares = await ensemble.predictProba(test.sequences);
    expect(Array.from(shares.data)).toEqual(Array.from(shares.data, (_, i) => (singles[0]!.data[i]! + singles[1]!.data[i]!) / 2));
    const labels = await ensemble.predict(test.sequences);
    expect(labels).toEqual(labels.map((_, b) => ensemble.classes[shares.row(b).indexOf(Math.max(...shares.row(b)))]));
  });

  it("given as a number, have the description's seed and numbered ones after it", async () => {
    await using ensemble = await Classifier.fit(train.sequences, train.labels, { reservoir: { size: 6, seed: "a" }, members: 3 });
    expect(ensemble.computers.map(({ config }) => config.seed)).toEqual([
      ...["a", "a/differences", "a/1"],
      ...["a/1/differences", "a/2", "a/2/differences"],
    ]);
  });

  it.each(["last+mean", "statistics"] as const)("report their progress as one: %s", async (representation) => {
    const reported: number[] = [];
    await using ensemble = await Classifier.fit(train.sequences, train.labels, {
      ...weak,
      representation,
      members: 2,
      onProgress: (done, total) => reported.push(done / total),
    });
    expect(reported).toEqual([...reported].sort((a, b) => a - b));
    expect(reported.at(-1)).toBe(1);
    expect(reported).toContain(0.5);
    expect(ensemble.readouts.length).toBe(2);
  });
});

describe("a classifier again", () => {
  it("keeps its reservoirs when it is trained on the same channels, and makes others for other channels", async () => {
    const classifier = await Classifier.create({ reservoir });
    await classifier.fit(train.sequences, train.labels);
    const [computer] = classifier.computers;
    await classifier.fit(test.sequences, test.labels);
    expect(classifier.computers[0]).toBe(computer);
    await classifier.fit(
      train.sequences.map((sequence) => sequence.column(0)),
      train.labels,
    );
    expect(classifier.computers[0]!.model.inputSize).toBe(1);
    await classifier.dispose();
  });

  it("has nothing to say before it is trained", async () => {
    const classifier = await Classifier.create({ reservoir });
    await expect(classifier.predict(test.sequences)).rejects.toThrow(NotFittedError);
    await expect(classifier.score(test.sequences, test.labels)).rejects.toThrow("this classifier is not trained yet; call fit first");
  });
});
