// Classification on the device: statistics of states and shares of classes are made where the
// states are, with the host's bits, in each of the ways that sequences are run.
import { afterAll, describe, expect, it } from "vitest";
import { DenseBatchRun } from "../../../src/engine/cuda/batch/dense.js";
import { batchKernels, planBatch } from "../../../src/engine/cuda/batch/shapes.js";
import { DeviceSummary } from "../../../src/engine/cuda/summary.js";
import { referenceEngine } from "../../../src/engine/reference/index.js";
import { Classifier, type ClassifierOptions, Matrix, NonFiniteStateError, ReservoirComputer } from "../../../src/index.js";
import type { ReservoirModel, SequenceInput } from "../../../src/reservoir/index.js";
import { plainFeatures, type SummaryWork } from "../../../src/reservoir/index.js";
import { casesOf } from "../../exhaustive.js";
import { openTestDevice, size } from "../../gpu/device/device.js";
import { plainStatistics } from "../../model/plain-statistics.js";
import { model, randomMatrix } from "../contract.js";
import { device, name } from "./engines.js";

const context = openTestDevice();
afterAll(() => context.dispose());

const lengths = [21, 3, 40, 17, 3];
const washout = 2;

const sequencesFor = (of: ReservoirModel, count = lengths.length): SequenceInput[] =>
  lengths.slice(0, count).map((steps, b) => ({ inputs: randomMatrix(steps, of.inputSize, of.precision, b) }));

const everything = (count = lengths.length): SummaryWork => ({
  ...{ last: true, mean: true, washout },
  given: randomMatrix(count, 3, "float64", 7) as Matrix<Float64Array>,
});

/** All statistics, by five levels. */
const byLevels = ({ size }: ReservoirModel, count = lengths.length): SummaryWork => ({
  ...everything(count),
  levels: randomMatrix(5, size, "float64", 8, 0.3) as Matrix<Float64Array>,
});

/** Last and mean state, or all statistics, of each sequence by the reference engine, and what is given. */
async function expected(of: ReservoirModel, sequences: readonly SequenceInput[], { given, levels }: SummaryWork): Promise<Float64Array> {
  const session = await referenceEngine.open(of);
  const states = await session.batch(sequences, {});
  await session.dispose();
  const rows = states.map((x, b) => {
    if (levels) {
      const all = new Float64Array(16 * of.size);
      plainStatistics(x.subarray(washout), levels, all);
      return [...all, ...given.row(b)];
    }
    const means = new Float64Array(of.size);
    for (let t = washout; t < x.rows; t++) for (let i = 0; i < of.size; i++) means[i] = means[i]! + x.at(t, i);
    return [...x.row(x.rows - 1), ...means.map((sum) => sum / (x.rows - washout)), ...given.row(b)];
  });
  return Float64Array.from(rows.flat());
}

describe("statistics of states", () => {
  it.each([
    ["each sequence on a multiprocessor", { size: 40, storage: "dense" }, "batch"],
    ["each sparse one", { size: 70, storage: "sparse", connectionProbability: 0.1, noiseLevel: 0.01 }, "batch"],
    ["one after the other, in chunks", { size: size(300, 140), storage: "dense", precision: "float64", noiseLevel: 0.01 }, "run"],
  ] as const)("are the reference's: %s", async (_, options, phase) => {
    const of = model({ inputSize: 2, seed: 3, bias: 0.2, ...options });
    const count = phase === "run" ? 1 : lengths.length;
    const [sequences, work] = [sequencesFor(of, count), everything(count)];
    const session = await device.open(of, { profile: true });
    try {
      expect((await session.summarise!(sequences, work)).data).toEqual(await expected(of, sequences, work));
      const all = byLevels(of, count);
      expect((await session.summarise!(sequences, all)).data).toEqual(await expected(of, sequences, all));
      const phases = session.profile!()!.phases.map((each) => each.phase);
      expect(phases).toContain(phase);
      expect(phases).toContain("summarise");
      expect(phases).not.toContain("keep");
    } finally {
      await session.dispose();
    }
  });

  it.each(
    casesOf(
      batchKernels.filter(({ portable }) => portable),
      (_, k) => k === 0,
    ),
  )("are the reference's: in step by $name, in chunks", async (kernel) => {
    const of = model({ size: 70, inputSize: 2, storage: "dense", seed: 3, noiseLevel: 0.05 });
    const sequences = sequencesFor(of);
    const plan = planBatch(context.info, of, sequences.length, { kernels: [kernel] })!;
    for (const work of [everything(), byLevels(of)]) {
      const summary = new DeviceSummary(context, of, sequences, work);
      const stream = context.stream();
      const run = new DenseBatchRun(context, of, plan, sequences, { taker: summary }, 16 * 5 * 70 * 4 * 5);
      try {
        expect(await run.run()).toEqual([]);
        expect((await summary.finish(stream)).data).toEqual(await expected(of, sequences, work));
      } finally {
        for (const each of [run, summary, stream]) each.dispose();
      }
    }
  });

  it("of a state that is not finite are an error that names step and neuron", async () => {
    const of = model({ size: 20, inputSize: 1, activation: "identity", spectralRadius: 1e30, storage: "dense", seed: 3 });
    const session = await device.open(of);
    await expect(session.summarise!(sequencesFor(of, 2), everything(2))).rejects.toThrow(NonFiniteStateError);
    await session.dispose();
  });
});

it("a summary that does not go with its sequences is refused", async () => {
  await using computer = await ReservoirComputer.create({ size: 5, inputSize: 2, seed: 1 }, { engine: name });
  const sequences = [3, 2].map((rows) => randomMatrix(rows, 2, "float64", rows));
  const refused = (work: Partial<SummaryWork>, list = sequences) => expect(() => computer.summarise(list, { ...everything(2), ...work }));
  refused({}, []).toThrow("sequences is empty");
  refused({}).toThrow("washout is 2 and sequences[1] has 2 rows; a mean takes a whole number from 0 to 1");
  refused({ washout: 0.5 }).toThrow("washout is 0.5");
  refused({ last: false, mean: false }).toThrow("last and mean are false");
  const levels = Matrix.zeros(2, 4);
  refused({ washout: 0, levels }).toThrow("levels has 4 columns and the reservoir 5 neurons; it takes one a neuron");
  refused({ given: everything(3).given }).toThrow("given has 3 rows and there are 2 sequences");
  const readout = {
    features: plainFeatures,
    stateSize: 4,
    inputSize: 0,
    weights: randomMatrix(2, 4, "float64", 1),
    intercept: new Float64Array(2),
  };
  const classes = { readout, layerNorm: false, shares: "softmax" } as SummaryWork["classes"];
  refused({ washout: 0, classes }).toThrow("the readout of classes takes 4 features; these sequences have 13");
});

describe("a classifier", () => {
  const names = ["sine", "flat", "ramp"];
  const cases = (count: number, from: number) => ({
    labels: Array.from({ length: count }, (_, b) => names[b % 3]!),
    sequences: Array.from({ length: count }, (_, b) => {
      const noise = randomMatrix(6 + ((b * 5) % 9), 2, "float64", from + b, 0.2);
      for (let t = 0; t < noise.rows; t++) noise.row(t)[0]! += [Math.sin(0.7 * t), 0, 0.1 * t][b % 3]!;
      return noise;
    }),
  });
  const [train, test] = [cases(18, 100), cases(12, 500)];

  async function predicted(engine: string, options: Partial<ClassifierOptions>) {
    const reservoir = { size: 33, seed: 5, noiseLevel: 0.01 };
    const settings = { reservoir, representation: "last+mean", ...options, engine } as const;
    await using classifier = await Classifier.fit(train.sequences, train.labels, settings);
    const weights = classifier.readouts.map((readout) => readout.weights.data);
    const shares = (await classifier.predictProba(test.sequences)).data;
    return { weights, shares, labels: await classifier.predict(test.sequences), on: classifier.predictedOn };
  }

  it.each<Partial<ClassifierOptions>>(
    casesOf(
      [
        { readout: { type: "softmax" } },
        { readout: { type: "ridge", lambda: 0.1 }, representation: "mean", washout: 2 },
        { readout: { type: "softmax", transform: "squares" }, representation: "last", layerNorm: true, input: true },
        { readout: { type: "ridge", transform: "squareHalf" }, layerNorm: true, scaleFeatures: true, members: 2 },
      ],
      (_, k) => k >= 2,
    ),
  )("%j trains and predicts on the device, with the bits of the host", async (options) => {
    const [here, there] = [await predicted("reference", options), await predicted(name, options)];
    const members = here.weights.length;
    expect(here.on).toEqual(Array.from({ length: members }, () => "host"));
    expect(there.on).toEqual(Array.from({ length: members }, () => name));
    expect(there.weights).toEqual(here.weights);
    expect(there.shares).toEqual(here.shares);
    expect(there.labels).toEqual(here.labels);
  });

  const statistics = { representation: "statistics" } as const;
  it.each<Partial<ClassifierOptions>>(
    casesOf(
      [
        {},
        { reservoir: { size: 21, seed: 5, precision: "float64" }, standardise: false },
        { differences: false, thresholds: 5, washout: 3, layerNorm: true, members: 2 },
        { directions: "forward", input: true, thresholds: 0, readout: { type: "softmax" }, members: 2, vote: "mean" },
        { reservoir: { size: 21, seed: 5, noiseLevel: 0 }, input: true, readout: { type: "ridge", lambda: 0.1, transform: "squares" } },
        { reservoir: { size: 40, seed: 5, topology: "erdosRenyi", connectionProbability: 0.1 }, directions: "forward" },
      ],
      (_, k) => k === 3,
    ),
  )("by statistics and %j trains and predicts on the device, with the bits of the host", async (options) => {
    const [here, there] = [
      await predicted("reference", { ...statistics, ...options }),
      await predicted(name, { ...statistics, ...options }),
    ];
    expect(there.on).toEqual(here.weights.map(() => name));
    expect(there.weights).toEqual(here.weights);
    expect(there.shares).toEqual(here.shares);
    expect(there.labels).toEqual(here.labels);
  });

  it("by statistics has no states and no features come to the host, but the shares", async () => {
    const size = 40;
    const long = train.sequences.map((_, b) => randomMatrix(500, 2, "float64", b));
    const options = { reservoir: { size, seed: 5 }, ...statistics, engine: name, profile: true };
    await using classifier = await Classifier.fit(train.sequences, train.labels, options);
    const bytes = () => classifier.computers.reduce((sum, { profile }) => sum + profile!.device!.bytesToHost, 0);
    const before = bytes();
    await classifier.predictProba(long.slice(0, 3));
    expect(bytes() - before).toBeLessThan(8 * size);
    expect(bytes() - before).toBeGreaterThanOrEqual(8 * 3 * 3);
    const launched = classifier.computers.map(({ profile }) => profile!.device!.kernels);
    // Fitting makes features of both directions; so does predicting, which ends with the shares.
    expect(launched.map((kernels) => kernels["all_statistics_f32"]! >= 4)).toEqual([true, true]);
    expect(launched.map((kernels) => kernels["class_shares_softmax"])).toEqual([undefined, 1]);
  });

  it("has no states come to the host, but the shares", async () => {
    const [size, rows] = [40, 500];
    const long = train.sequences.map((_, b) => randomMatrix(rows, 2, "float64", b));
    await using classifier = await Classifier.fit(train.sequences, train.labels, {
      reservoir: { size, seed: 5 },
      representation: "last+mean",
      engine: name,
      profile: true,
    });
    const before = classifier.computers[0]!.profile!.device!.bytesToHost;
    await classifier.predictProba(long.slice(0, 3));
    const { bytesToHost, kernels } = classifier.computers[0]!.profile!.device!;
    expect(bytesToHost - before).toBeLessThan(4 * size);
    expect(bytesToHost - before).toBeGreaterThanOrEqual(8 * 3 * 3);
    expect(kernels["class_shares_positive"]).toBe(1);
  });

  it("says that the representation output is read on the host", async () => {
    const options = { representation: "output" } as const;
    const [here, there] = [await predicted("reference", options), await predicted(name, options)];
    expect(there.on).toEqual(["host"]);
    expect(there.shares).toEqual(here.shares);
  });
});
