// Spike experiments and pipelines on the simulated device: patterns are binned, encoded and looked
// at there, results are those of the host, and states stay there.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { StreamMeter } from "../../../packages/gpu/src/index.js";
import { type ExperimentInput, runExperiment } from "../../../src/experiment/index.js";
import { Classifier, Matrix, ReservoirComputer } from "../../../src/index.js";
import { Pipeline } from "../../../src/pipeline/index.js";
import { EncodedCases } from "../../../src/spikes/drive.js";
import { type EncoderConfig, poissonPattern, processPatterns, SpikePattern } from "../../../src/spikes/index.js";
import { bits } from "../../engine/contract.js";
import { casesOf } from "../../exhaustive.js";
import { onHardware, openTestDevice } from "../../gpu/device/device.js";

const context = openTestDevice();
afterAll(() => context.dispose());

const size = 24;
const durationMs = 120;
const liquid = { size, timeStep: 1, background: { current: 15 }, seed: 2 } as const;
const data = { patterns: { types: ["burst", "sparse"], count: 6, seed: 5, neuronCount: 10, durationMs } } as const;
const common = { name: "spikes", data, liquid, split: { train: 0.5 }, outputs: { report: false, refit: false } } as const;
const binning = ["spike_encoding_count_each", "spike_encoding_counts"];
const step = "leaky_integrate_fire_f32";
const matching = ["pattern_detection_scores", "pattern_detection_best"];

const noisy = { ...liquid, background: { current: 14, deviation: 4 } } as const;
const quiet = { ...liquid, background: { current: 0 }, input: { weight: 0 } } as const;

const experiments: readonly (readonly [string, ExperimentInput, readonly string[]])[] = [
  ["classify, ridge", { ...common, task: "classify" }, [...binning, step]],
  ["classify, softmax", { ...common, task: "classify", readout: "softmax" }, [...binning, step]],
  [
    "detect by last states",
    { ...common, task: { type: "detect", state: "last" } },
    [...binning, step, "pattern_detection_means", ...matching],
  ],
  ["detect by mean states", { ...common, task: { type: "detect", state: "mean" } }, [...binning, step, ...matching]],
  [
    "detect by means with noise and types",
    { ...common, liquid: noisy, task: { type: "detect", state: "mean", types: true } },
    [...binning, step, ...matching, "spike_encoding_fired_f32", "pattern_measures_sparse"],
  ],
  ["silence", { ...common, liquid: quiet, task: { type: "detect", types: true } }, [...binning, step, "spike_encoding_fired_f32"]],
  [
    "detect with types",
    { ...common, task: { type: "detect", types: true } },
    [...binning, step, ...matching, "spike_encoding_fired_f32", "pattern_measures_sort", "pattern_measures_burst"],
  ],
];

const { liquid: _, ...ofRates } = common;
const rates = { ...ofRates, data: { ...data, binMs: 2 }, reservoir: { size, seed: 2 } } as const;
const whole = [...binning, "all_statistics_f32", "class_shares_softmax"];
const scores = ["standardisation_moments_f32", "standardisation_scores_f32"];
const changes = ["standardisation_differences_f32", "standardisation_moments_f64", "standardisation_scores_f64_f32"];

describe("an experiment of spikes and rates on a device", () => {
  it.each<[string, object, readonly string[]]>(
    casesOf(
      [
        ["statistics", {}, whole],
        ["z-scores", { transforms: ["standardise"] }, [...whole, ...scores, ...changes, "standardisation_reversed_f32"]],
        ["members, forwards", { task: { type: "classify", members: 2, directions: "forward" } }, [...whole, ...changes]],
        ["last and mean", { task: { type: "classify", representation: "last+mean" } }, [...binning, "state_statistics_f32"]],
      ],
      ([name]) => name === "z-scores",
    ),
  )("has the host's result, and its profile the kernels from spikes to classes: %s", async (_, given, kernels) => {
    const experiment = { ...rates, task: "classify", ...given } as ExperimentInput;
    const found = async (on: Parameters<typeof runExperiment>[1]) => (await runExperiment(experiment, on)).result;
    const [here, there] = [await found({ engine: "cpu" }), await found({ context, profile: true })];
    expect(there.seeds.map((each) => each.scores)).toEqual(here.seeds.map((each) => each.scores));
    expect(there.classes).toEqual(here.classes);
    const ran = Object.keys(there.profile!.device!.kernels);
    expect(ran).toEqual(expect.arrayContaining([...kernels]));
    expect(there.profile!.phases.map(({ phase }) => phase)).toContain("summarise");
  });
});

describe("an experiment of spikes on a device", () => {
  it.each(casesOf(experiments, ([name]) => name === "classify, ridge" || name === "detect with types"))(
    "has the host's result, and its profile the kernels of the whole way: %s",
    async (_, experiment, kernels) => {
      const found = async (on: Parameters<typeof runExperiment>[1]) => (await runExperiment(experiment, on)).result;
      const [here, there] = [await found({ engine: "cpu" }), await found({ context, profile: true })];
      const { device } = there.profile!;
      expect(Object.keys(device!.kernels)).toEqual(expect.arrayContaining([...kernels]));
      const compared = ({ seeds, classes }: typeof here) => ({
        classes,
        seeds: seeds.map(({ scores, readout: { seconds: _, ...readout } }) => ({ scores, types: typesOf(readout) })),
      });
      expect(compared(there)).toEqual(compared(here));
      // The states of all steps of all cases would be 12 times 120 rows; features of training cases,
      // templates, scores and classes are a small part of that.
      expect(device!.bytesToHost).toBeLessThan(0.1 * 12 * durationMs * size * 4);
    },
  );
});

it("encodes the series of an experiment on the device", async () => {
  const folder = mkdtempSync(join(tmpdir(), "spillway-series-"));
  try {
    for (const label of ["low", "high"])
      for (let k = 0; k < 4; k++) {
        const rows = Array.from({ length: 5 }, (_, t) => `${(label === "low" ? 0.1 : 0.7) + 0.05 * Math.sin(t + k)},${t / 10}`);
        writeFileSync(join(folder, `${label}_${k}.csv`), `a,b\n${rows.join("\n")}\n`);
      }
    const given = { cases: folder, names: "{label}_{index}", test: { index: [2, 3] } } as const;
    for (const encoder of ["rate", "latency"]) {
      const encode = { encoder, frameMs: 20, binMs: 1, neuronsPerChannel: 3, ...(encoder === "rate" && { seed: 1, maxRateHz: 300 }) };
      const experiment = { name: "series", data: given, encode, liquid, outputs: common.outputs, task: { type: "detect", state: "mean" } };
      const found = async (on: Parameters<typeof runExperiment>[1]) => (await runExperiment(experiment as ExperimentInput, on)).result;
      const [here, there] = [await found({ engine: "cpu" }), await found({ context, profile: true })];
      expect(there.seeds[0]!.scores).toEqual(here.seeds[0]!.scores);
      expect(there.classes).toEqual(here.classes);
      const kernels = [`spike_encoders_${encoder}_f64`, ...binning, step, ...matching];
      expect(Object.keys(there.profile!.device!.kernels)).toEqual(expect.arrayContaining(kernels));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it("changes patterns as its file says, on every engine alike", async () => {
  const edits = { schedule: { startMs: 10, durationMs: 150 }, jitter: { standardDeviationMs: 3 }, noise: { rateHz: 20 } } as const;
  const scored = async (changes: object, on: Parameters<typeof runExperiment>[1]) =>
    (await runExperiment({ ...common, data: { ...data, ...changes }, task: "classify" } as ExperimentInput, on)).result.seeds[0]!.readout[
      "rows"
    ];
  expect(await scored(edits, { context })).toEqual(await scored(edits, { engine: "cpu" }));
  await expect(scored({ schedule: { durationMs: 100 } }, { engine: "cpu" })).rejects.toMatchObject({ field: "data.schedule.durationMs" });
  await expect(scored({ thin: { dropProbability: 2 } }, { engine: "cpu" })).rejects.toMatchObject({ field: "data.thin.dropProbability" });
});

/** What was found of the types, without how long it took. */
function typesOf(readout: Readonly<Record<string, unknown>>): unknown {
  const { types } = (readout["details"] ?? {}) as { readonly types?: { readonly silent: number; readonly classes: unknown } };
  return types && { silent: types.silent, classes: types.classes };
}

const series = [0, 1, 2, 3].map((k) => Matrix.from(Array.from({ length: 6 }, (_, t) => [0.5 + 0.4 * Math.sin(t + k), (t + k) / 10])));
const labels = ["a", "b", "a", "b"];
const encoders: readonly EncoderConfig[] = [
  { encoder: "rate", frameMs: 10, maxRateHz: 200, seed: 3 },
  { encoder: "rate", frameMs: 10, maxRateHz: 150, process: "regular", neuronsPerChannel: 3 },
  { encoder: "latency", frameMs: 10, neuronsPerChannel: 2 },
  { encoder: "population", frameMs: 10, code: "latency", neuronsPerChannel: 4 },
  { encoder: "phase", frameMs: 30, jitterMs: 0 },
  { encoder: "delta", stepMs: 5, threshold: 0.1 },
];

describe("a pipeline on a device", () => {
  it.each(casesOf(encoders, ({ encoder }) => encoder === "population" || encoder === "delta"))(
    "encodes there, with the classes and probabilities of the host: %j",
    async ({ encoder, ...options }) => {
      const parameters = {
        scaler: encoder === "delta" ? "none" : "unit",
        encoder: { type: "spikes", encoder, binMs: 1, ...options },
        reservoir: { ...liquid, kind: "spiking" },
        readout: { type: "softmax" },
      } as never;
      await using here = await new Pipeline(parameters, { engine: "cpu" }).fit(series, labels);
      await using there = await new Pipeline(parameters, { context }).fit(series, labels);
      const stream = there.classifier.computers[0]!.deviceStream!;
      const meter = new StreamMeter();
      stream.meter = meter;
      const shares = await there.predictProba(series);
      expect(bits(shares.data)).toEqual(bits((await here.predictProba(series)).data));
      expect([...meter.kernels.keys()]).toEqual(expect.arrayContaining([`spike_encoders_${encoder}_f64`, "spike_encoding_counts", step]));
      // States would be 30 to 180 rows a case.
      expect(meter.bytesToHost).toBeLessThan(0.5 * series.length * 30 * size * 4);
    },
  );

  it("leaves what only the host encodes to it, and has the host say what it refuses", async () => {
    const sounds = series.map((one) => Matrix.from(one.toArrays().map(([x]) => [x!])));
    const parameters = { encoder: { type: "cochleagram", sampleRate: 8000, channels: 3, frameMs: 1 }, reservoir: { size: 20 } } as never;
    await using pipeline = await new Pipeline(parameters, { context }).fit(sounds, labels);
    expect(await pipeline.predict(sounds)).toHaveLength(4);
    const parametersOf = {
      scaler: "none",
      encoder: { type: "spikes", encoder: "latency", frameMs: 10, binMs: 1 },
      reservoir: { size: 20 },
    } as never;
    const refusal = async (on: object) =>
      new Pipeline(parametersOf, on).fit([series[0]!, Matrix.from([[2, 0]])], ["a", "b"]).catch((error) => String(error));
    expect(await refusal({ context })).toBe(await refusal({ engine: "cpu" }));
  });
});

describe("patterns of the host", () => {
  const patterns = [1, 2, 3].map((seed) => poissonPattern({ neuronCount: 4, durationMs: 50, rateHz: 60, seed }));
  const weighted = new SpikePattern(
    { times: patterns[0]!.times, neurons: patterns[0]!.neurons, amplitudes: patterns[0]!.times.map((_, i) => 0.5 + (i % 3)) as never },
    { durationMs: 50, neuronCount: 4 },
  );

  it.each(
    casesOf(
      [
        ["a reservoir", { size: 30, inputSize: 4, seed: 1 }, { stepMs: 2 }],
        ["a reservoir with noise", { size: 30, inputSize: 4, seed: 1, noiseLevel: 0.1 }, { stepMs: 2 }],
        ["a reservoir in binary64", { size: 30, inputSize: 4, seed: 1, precision: "float64" }, { stepMs: 2 }],
        ["a liquid", { ...liquid, kind: "spiking", inputSize: 4 }, {}],
        ["layers", { inputSize: 4, seed: 1, layers: [{ size: 20 }, { size: 10 }] }, { stepMs: 2 }],
        ["oscillators", { kind: "oscillator", size: 8, inputSize: 4, seed: 1 }, { stepMs: 2 }],
      ] as const,
      (_, k) => k === 0,
    ),
  )("give the states of the host through %s", async (_, options, given) => {
    await using here = await ReservoirComputer.create(options as never, { engine: "cpu" });
    await using there = await ReservoirComputer.create(options as never, { context, profile: true });
    const all = [...patterns, weighted];
    for (const state of ["last", "mean", "all"] as const) {
      const of = async (computer: typeof here) => {
        const found = await processPatterns(computer, all, { ...given, state });
        return [found].flat().map((each) => bits((each as Matrix).data));
      };
      expect(await of(there), state).toEqual(await of(here));
    }
    const kernels = Object.keys(there.profile?.device?.kernels ?? {});
    const binned = there.model.precision === "float32" && "device" in (there.profile ?? {}) && there.deviceStream !== undefined;
    expect(kernels.includes("spike_encoding_sums")).toBe(binned);
  });

  it("train a classifier in one call, which names the classes of others", async () => {
    const rates = { slow: 15, fast: 150 };
    const of = (seed: number) => Object.values(rates).map((rateHz) => poissonPattern({ neuronCount: 10, durationMs, rateHz, seed }));
    const cases = [1, 2, 3, 4].flatMap(of);
    const names = cases.map((_, b) => Object.keys(rates)[b % 2]!);
    const reservoir = { ...liquid, kind: "spiking" } as const;
    await using here = await Classifier.fit(cases, names, { reservoir, readout: { type: "softmax" }, engine: "cpu" });
    await using there = await Classifier.fit(cases, names, { reservoir, readout: { type: "softmax" }, context });
    expect(await there.predictProba(of(9))).toEqual(await here.predictProba(of(9)));
    expect(await there.predict(of(9))).toEqual(["slow", "fast"]);
    expect(there.predictedOn).toEqual([onHardware ? "cuda" : "sim"]);
    expect(await there.score(of(9), ["slow", "fast"])).toBe(1);
  });
});

it("rows of cases are those of the host, on the device of the reservoir", async () => {
  await using computer = await ReservoirComputer.create({ size: 10, inputSize: 2, seed: 1 }, { context });
  const cases = new EncodedCases(series, { encoder: { encoder: "latency", frameMs: 10 }, bins: { binMs: 2 } });
  using rows = await cases.rows(computer);
  expect(rows.sequences.map((one) => ("toMatrix" in one ? one.toMatrix().data : one))).toEqual(cases.matrices().map(({ data }) => data));
});
