// The whole way on a device, batched: series are encoded, their spikes looked at for types and run
// through a reservoir or a liquid, and its states classified and matched where they lie.
import { afterAll, describe, expect, it, vi } from "vitest";
import { StreamMeter } from "../../../packages/gpu/src/index.js";
import { RandomStream, seedKeys } from "../../../packages/numerics/src/index.js";
import { contextEngine } from "../../../src/engine/cuda/index.js";
import { type AnyReservoirOptions, Classifier, type ClassifierOptions, Matrix } from "../../../src/index.js";
import { DeviceSequences } from "../../../src/reservoir/index.js";
import { binPatternsOnDevice, DeviceDetector, DeviceTemplates, encodeOnDevice } from "../../../src/spikes/gpu/index.js";
import { binSpikes, encodeSpikes, PatternDetector, PatternTemplates } from "../../../src/spikes/index.js";
import { casesOf } from "../../exhaustive.js";
import { openTestDevice } from "../../gpu/device/device.js";

const context = openTestDevice();
afterAll(() => context.dispose());

const [frames, features, classes] = [3, 2, ["low", "middle", "high"]];
const labels = Array.from({ length: 6 }, (_, b) => classes[b % 3]!);
const draws = new RandomStream(seedKeys(1).weights, 78);
const series = labels.map(
  (_, b) =>
    new Matrix(
      frames,
      features,
      Float64Array.from({ length: frames * features }, (_, i) => 0.2 + 0.3 * (b % 3) + 0.1 * draws.uniform(b, i)),
    ),
);
const code = { encoder: "population", code: "latency", frameMs: 8, neuronsPerChannel: 4 } as const;
const look = { oscillators: { count: 5 }, minDurationMs: 10 } as const;
const withoutTime = ({ detections, scores, coherence }: ReturnType<PatternDetector["detect"]>) => ({ detections, scores, coherence });

/**
 * Counts bytes that come to the host by streams that are made from now on. The state that a liquid
 * had before a batch, which is put back after it, is read beside them.
 */
function meterOf(work: typeof context) {
  const meter = new StreamMeter();
  const make = work.stream.bind(work);
  vi.spyOn(work, "stream").mockImplementation((options) => {
    const stream = make(options);
    stream.meter ??= meter;
    return stream;
  });
  return meter;
}

describe.each<[string, AnyReservoirOptions]>([
  ["a reservoir", { size: 60, seed: 3, inputScaling: 0.5 }],
  ["a liquid", { kind: "spiking", size: 60, seed: 1, background: { current: 14, deviation: 0 } }],
])("from series to classes through %s", (_, reservoir) => {
  it("has the host's types, classes and matches, and brings neither bins nor states to the host", async () => {
    const spikes = series.map((one) => encodeSpikes(one, code));
    const bins = spikes.map((pattern) => binSpikes(pattern, { binMs: 1 }));
    const settings = { reservoir, standardise: false, representation: "last" } as const;
    await using here = await Classifier.fit(bins, labels, { ...settings, engine: "cpu" });
    const states = Matrix.from(
      (await here.computers[0]!.batch(bins, { keep: "last" })).map(({ data }) => data),
      "float32",
    );
    const templates = new PatternTemplates(classes, states.subarray(0, 3), { bins: 1, channels: states.cols });
    const detector = new PatternDetector(look);
    const expected = {
      types: spikes.map((pattern) => withoutTime(detector.detect(pattern))),
      classes: await here.predict(bins),
      matches: labels.map((_, b) => templates.matchVector(states.row(b) as Float32Array)),
    };

    const all = Float64Array.from(series.flatMap(({ data }) => Array.from(data)));
    using values = context.upload(all);
    const given = new DeviceSequences(context, values, { rows: series.map(({ rows }) => rows), cols: features });
    const meter = meterOf(context);
    try {
      using there = await encodeOnDevice(context, given, code);
      using finder = new DeviceDetector(context, new PatternDetector(look));
      const types = (await finder.detectAll(there)).map(withoutTime);
      using inputs = await binPatternsOnDevice(context, there, { binMs: 1 });
      await using classifier = await Classifier.fit(inputs.sequences, labels, { ...settings, context });
      meter.bytesToHost = 0;
      const found = await classifier.predict(inputs.sequences);
      using last = await classifier.computers[0]!.batch(inputs.sequences, { keep: "deviceLast" });
      using matcher = new DeviceTemplates(context, templates);
      expect({ types, classes: found, matches: await matcher.matchVectors(last) }).toEqual(expected);
      await finder.detectAll(there);
      // The scores of types, the shares of classes and the scores of templates; and up to a hundred
      // bytes for each sequence that say whether all went well.
      const results = 8 * 24 + 8 + 8 * 3 + (3 * 4 + 2 * 4);
      expect(meter.bytesToHost).toBeGreaterThan(labels.length * 8 * 24);
      expect(meter.bytesToHost).toBeLessThan(labels.length * (results + 2 * 100));
    } finally {
      vi.restoreAllMocks();
    }
  });
});

describe("from patterns of the host to classes by a reservoir of rates", () => {
  const patterns = series.map((one) => encodeSpikes(one, code));
  const others = [2, 5, 1, 0].map((b) => patterns[b]!);

  it.each<Partial<ClassifierOptions>>(
    casesOf(
      [
        {},
        { standardise: false, members: 2 },
        { reservoir: { size: 20, seed: 3, noiseLevel: 0.01 }, directions: "forward", layerNorm: true },
        { representation: "last+mean" },
        { representation: "last", members: 2 },
        { representation: "mean", standardise: false },
      ],
      (_, k) => k === 0,
    ),
  )("has the host's bits, and brings only classes to the host: %j", async (given) => {
    const settings = { reservoir: { size: 20, seed: 3 }, ...given };
    await using here = await Classifier.fit(patterns, labels, { ...settings, engine: "cpu" });
    const meter = meterOf(context);
    try {
      await using there = await Classifier.fit(patterns, labels, { ...settings, context });
      expect(await there.toBytes()).toEqual(await here.toBytes());
      meter.bytesToHost = 0;
      meter.kernels.clear();
      expect((await there.predictProba(others)).data).toEqual((await here.predictProba(others)).data);
      const runs = there.computers.length * 2;
      // Shares of classes, and words that say whether binning and each run of a sequence went well.
      const shares = others.length * 8 * there.readouts.length * classes.length;
      expect(meter.bytesToHost).toBeGreaterThanOrEqual(shares);
      expect(meter.bytesToHost).toBeLessThanOrEqual(shares + 32 + others.length * 8 * runs);
      expect([...meter.kernels.keys()]).toContain("spike_encoding_counts");
      expect(there.predictedOn).toEqual(there.readouts.map(() => contextEngine(context).name));
    } finally {
      vi.restoreAllMocks();
    }
  });
});
