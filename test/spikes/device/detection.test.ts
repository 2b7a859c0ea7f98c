// The types of patterns on a device: the scores, features and coherence of PatternDetector, to the
// last bit.
import { afterAll, describe, expect, it } from "vitest";
import { Held } from "../../../packages/core/src/disposal.js";
import { RandomStream, seedKeys } from "../../../packages/numerics/src/index.js";
import { DeviceDetector, DeviceSpikePattern, DeviceSpikePatterns } from "../../../src/spikes/gpu/index.js";
import {
  type DetectionResult,
  PatternDetector,
  type PatternDetectorOptions,
  patternMeasures,
  patternTypes,
  poissonPattern,
  SpikePattern,
} from "../../../src/spikes/index.js";
import { exhaustive } from "../../exhaustive.js";
import { openTestDevice, size } from "../../gpu/device/device.js";

const context = openTestDevice();
const held = new Held();
afterAll(() => {
  held.dispose();
  context.dispose();
});

const upload = <A extends Float64Array | Float32Array | Uint32Array>(array: A) => held.own(context.upload(array));

const durationMs = size(1000, 420);
const small = { neuronCount: 18, durationMs, rateHz: 25 };
const types = patternTypes.map((type) => patternMeasures[type].generate({ seed: 2, ...small }));
const noise = poissonPattern({ seed: "noise", ...small });

const timeless = ({ latencyMs: _, ...result }: DetectionResult) => result;

/** The same spikes in another order, on the device, whose memory is the test's. */
function shuffled(pattern: SpikePattern): DeviceSpikePattern {
  const draws = new RandomStream(seedKeys(1).weights, 80);
  const order = Array.from(pattern.times, (_, i) => i).sort((a, b) => draws.uniform(0, a) - draws.uniform(0, b));
  const times = upload(Float64Array.from(order, (i) => pattern.times[i]!));
  const neurons = upload(Uint32Array.from(order, (i) => pattern.neurons[i]!));
  return new DeviceSpikePattern({ times, neurons }, pattern);
}

/** What a detector and one on the device find in patterns, one by one and all at once. */
async function both(patterns: readonly SpikePattern[], options: PatternDetectorOptions) {
  const here = new PatternDetector(options);
  using there = new DeviceDetector(context, new PatternDetector(options));
  using spikes = DeviceSpikePatterns.upload(context, patterns);
  return { here: patterns.map((pattern) => timeless(here.detect(pattern))), there: (await there.detectAll(spikes)).map(timeless) };
}

describe("types on a device", () => {
  it("have the host's scores and features to the last bit, in patterns of each type, batched", async () => {
    const found = await both([...types, noise], { oscillators: false });
    expect(found.there).toEqual(found.here);
    for (const [k, type] of patternTypes.entries()) expect(found.there[k]!.scores[type]!.score, type).toBeGreaterThan(0);
  });

  it("have the host's coherence, of banks in shared memory and in memory of the device", async () => {
    const patterns = [types[0]!, noise].map((pattern) => patternOf(pattern, 60));
    for (const oscillators of [
      { count: 40, seed: 1 },
      { count: 7, stepMs: 2.5, drive: 300, coupling: 40, phases: "aligned", rangeHz: [0, 30] },
      { count: 1600, drive: 100, stepMs: 20 },
    ] as const) {
      const found = await both(patterns, { types: [], oscillators });
      expect(found.there).toEqual(found.here);
      expect(found.there[0]!.coherence).toBeGreaterThan(0);
    }
  });

  it("are the same for spikes in any order", async () => {
    using there = new DeviceDetector(context, new PatternDetector({ oscillators: { count: 8 } }));
    const pattern = patternOf(types[5]!, 200);
    const found = await there.detect(shuffled(pattern));
    expect(timeless(found)).toEqual(timeless(new PatternDetector({ oscillators: { count: 8 } }).detect(pattern)));
  });

  it("are the same where little is there to tell by", async () => {
    const options = { durationMs: 300, neuronCount: 5 };
    const few = [
      [{ neuron: 0, timeMs: 0 }],
      [0, 1, 2, 3].map((neuron) => ({ neuron, timeMs: 300 })),
      [0, 0, 0, 10, 10, 12].map((timeMs) => ({ neuron: 4, timeMs })),
      Array.from({ length: 40 }, (_, i) => ({ neuron: i % 2, timeMs: i * 7 })),
      Array.from({ length: 150 }, (_, i) => ({ neuron: i % 5, timeMs: 2 * i })),
    ].map((spikes) => SpikePattern.from(spikes, options));
    const found = await both(few, { oscillators: { count: 4, frequenciesHz: [0, -3, 8, 1e6] } });
    expect(found.there).toEqual(found.here);
  });

  it("are looked for in patterns of different durations at once, and not in short ones", async () => {
    const found = await both([patternOf(noise, 8), patternOf(types[7]!, 150.5), noise], { oscillators: { count: 4 } });
    expect(found.there).toEqual(found.here);
    expect(found.there[0]!.scores.burst).toEqual({ score: 0 });
  });

  it.runIf(exhaustive)("reach from one neuron to more than blocks have threads", async () => {
    const wide = poissonPattern({ seed: 4, neuronCount: 700, durationMs: 220, rateHz: 15 });
    const alone = poissonPattern({ seed: 5, neuronCount: 1, durationMs: 4000, rateHz: 30 });
    for (const pattern of [wide, alone]) {
      const found = await both([pattern], { oscillators: false });
      expect(found.there).toEqual(found.here);
    }
  });

  it("go into the statistics, thresholds and circuit breaker of the detector", async () => {
    const here = new PatternDetector({ oscillators: false, adaptive: true, types: ["burst", "rhythmic"] });
    const there = new PatternDetector({ oscillators: false, adaptive: true, types: ["burst", "rhythmic"] });
    using device = new DeviceDetector(context, there);
    const truths = patternTypes.map((type) => [type]);
    for (const [k, pattern] of types.entries()) here.detect(pattern, truths[k]);
    await device.detectAll(types, truths);
    const { latencyMs, ...counts } = there.statistics;
    expect(counts).toEqual((({ latencyMs: _, ...rest }) => rest)(here.statistics));
    expect(latencyMs!.minimum).toBe(latencyMs!.maximum);
    expect(there.threshold("burst")).toBe(here.threshold("burst"));
    const silent = SpikePattern.from([], small);
    for (let k = 0; k < 10; k++)
      await expect(device.detectAll([noise, silent])).rejects.toThrow("the number of spikes of patterns[1] is 0");
    await expect(device.detect(noise)).rejects.toThrow("detection is paused after 10 failures in a row");
    expect(await device.detectAll([])).toEqual([]);
  });
});

describe("bad input", () => {
  const there = held.own(
    new DeviceDetector(context, new PatternDetector({ oscillators: { count: 4 }, circuitBreaker: { failureThreshold: 1000 } })),
  );
  const columns = (times: number[], neurons: number[]) => ({
    times: upload(Float64Array.from(times)),
    neurons: upload(Uint32Array.from(neurons)),
  });

  it("is named: a spike outside its pattern, a pattern too long, phases too large", async () => {
    const shape = { offsets: [0, 2, 4], durationsMs: [50, 50], neuronCount: 3 };
    const late = new DeviceSpikePatterns(columns([1, 2, 3, 51], [0, 1, 2, 0]), shape);
    await expect(there.detectAll(late)).rejects.toThrow("the time of spike 1 of patterns[1] is 51; it takes 0 to 50 ms");
    const other = new DeviceSpikePatterns(columns([1, Number.NaN, 3, 4], [0, 9, 2, 0]), shape);
    await expect(there.detectAll(other)).rejects.toThrow("the time of spike 1 of patterns[0] is NaN");
    const neuron = new DeviceSpikePatterns(columns([1, 2, 3, 4], [0, 1, 3, 0]), shape);
    await expect(there.detectAll(neuron)).rejects.toThrow("the neuron of spike 0 of patterns[1] is 3; it takes a whole number from 0 to 2");
    const long = new DeviceSpikePattern(columns([1], [0]), { durationMs: 61_000, neuronCount: 3 });
    await expect(there.detect(long)).rejects.toThrow("the duration of the pattern is 61000 ms; it takes up to 60000 ms");
    using fast = new DeviceDetector(context, new PatternDetector({ oscillators: { frequenciesHz: [1e12] } }));
    await expect(fast.detect(noise)).rejects.toThrow("the phase that an oscillator may reach in patterns[0] is");
    expect(there.detector.statistics.failures).toBe(4);
  });

  it("is named: memory of another device, memory that is gone, another type", async () => {
    using other = openTestDevice();
    using foreign = DeviceSpikePatterns.upload(other, [noise]);
    await expect(there.detectAll(foreign)).rejects.toThrow(/another context/);
    const gone = DeviceSpikePatterns.upload(context, [noise]);
    gone.dispose();
    await expect(there.detectAll(gone)).rejects.toThrow(/disposed/);
    const single = { times: upload(Float32Array.of(1)) as never, neurons: upload(Uint32Array.of(0)) };
    await expect(there.detect(new DeviceSpikePattern(single, { durationMs: 50, neuronCount: 3 }))).rejects.toThrow(/f32.*f64|f64.*f32/);
    await expect(there.detect({} as SpikePattern)).rejects.toThrow("patterns[0]");
  });
});

/** The beginning of a pattern. */
function patternOf(pattern: SpikePattern, endMs: number): SpikePattern {
  const end = pattern.times.findIndex((time) => time > endMs);
  const columns = { times: pattern.times.slice(0, end), neurons: pattern.neurons.slice(0, end) };
  return new SpikePattern(columns, { durationMs: endMs, neuronCount: pattern.neuronCount });
}
