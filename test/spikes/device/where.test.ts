// What runs where (docs/spikes.md, "On a device"): kernels that work launches, and what is refused.
import { afterAll, beforeEach, expect, it } from "vitest";
import { openDevice, shippedManifest } from "../../../packages/gpu/src/index.js";
import { simulatedDriver } from "../../../packages/sim/src/index.js";
import { ReservoirComputer } from "../../../src/index.js";
import { DeviceMatrix } from "../../../src/reservoir/index.js";
import { binPatternsOnDevice, DeviceDetector, DeviceSpikePatterns, encodeOnDevice } from "../../../src/spikes/gpu/index.js";
import { PatternDetector, PatternTemplates, processPatterns, SpikePattern } from "../../../src/spikes/index.js";
import { amount } from "../../exhaustive.js";

const launched: string[] = [];
const context = openDevice({ driver: simulatedDriver({ onLaunch: ({ kernel }) => void launched.push(kernel) }) });
afterAll(() => context.dispose());
beforeEach(() => void launched.splice(0));

const times = [2, 5, 11, 12, 17, 23, 28];
const pattern = SpikePattern.from(
  times.map((timeMs, k) => ({ neuron: k % 3, timeMs })),
  { durationMs: 30, neuronCount: 3 },
);
const binning = new Set(
  shippedManifest()
    .find(({ name }) => name === "spike_encoding")!
    .images.flatMap(({ entries }) => entries.map(({ name }) => name)),
);
const binned = () => launched.filter((kernel) => binning.has(kernel)).length;

it("bins patterns on the device of the reservoir, wherever they are, and on the host without one", async () => {
  await using computer = await ReservoirComputer.create({ size: 20, inputSize: 3, seed: 1 }, { context });
  await using cpu = await ReservoirComputer.create({ size: 20, inputSize: 3, seed: 1 }, { engine: "cpu" });
  const host = await processPatterns(cpu, [pattern], { stepMs: 1 });
  expect(binned()).toBe(0);
  expect((await processPatterns(computer, [pattern], { stepMs: 1 })).data).toEqual(host.data);
  expect(binned()).toBeGreaterThan(0);
  launched.splice(0);
  using there = DeviceSpikePatterns.upload(context, [pattern]);
  const device = await processPatterns(computer, there, { stepMs: 1 });
  expect(binned()).toBeGreaterThan(0);
  expect(device.data).toEqual(host.data);
  using bins = await binPatternsOnDevice(context, there, { binMs: 1 });
  expect(bins.sequences).toHaveLength(1);
});

it("detects types where it is asked to, with the results of the host", async () => {
  const detector = new PatternDetector({ oscillators: false });
  const withoutTime = ({ latencyMs: _, ...rest }: ReturnType<PatternDetector["detect"]>) => rest;
  const expected = withoutTime(detector.detect(pattern));
  expect((await detector.detectAll([pattern, pattern], { engine: "cpu" })).map(withoutTime)).toEqual([expected, expected]);
  expect(launched).toEqual([]);
  expect((await detector.detectAll([pattern, pattern], { context })).map(withoutTime)).toEqual([expected, expected]);
  expect(launched).toContain("pattern_measures_sort");
  expect((await detector.detectAll([pattern], { engine: "sim", truths: [["burst"]] })).map(withoutTime)).toEqual([expected]);
  expect(detector.statistics.patterns).toBe(6);
  await expect(detector.detectAll([pattern], { engine: "cpu", context })).rejects.toMatchObject({ code: "unavailable" });
  launched.splice(0);
  using there = DeviceSpikePatterns.upload(context, [pattern]);
  using onDevice = new DeviceDetector(context, detector);
  await onDevice.detectAll(there);
  expect(launched.length).toBeGreaterThan(0);
});

it("matches templates where it is asked to, with the matches of the host", async () => {
  const templates = PatternTemplates.learn([pattern], { bins: 3, channels: 3, labels: ["a"] });
  const expected = [templates.match(pattern)];
  expect(await templates.matchAll([pattern])).toEqual(expected);
  expect(launched).toEqual([]);
  expect(await templates.matchAll([pattern], { context })).toEqual(expected);
  expect(launched).toContain("pattern_detection_scores");
});

it("bins on the host what does not fit the device at once", async () => {
  using small = openDevice({ driver: simulatedDriver({ memoryBytes: 2 ** amount(18, 16) }) });
  await using computer = await ReservoirComputer.create({ size: 20, inputSize: 3, seed: 1 }, { context: small });
  await using cpu = await ReservoirComputer.create({ size: 20, inputSize: 3, seed: 1 }, { engine: "cpu" });
  const count = amount(1000, 250);
  const many = Array<SpikePattern>(count).fill(pattern);
  const states = await processPatterns(computer, many, { stepMs: 1 });
  const [one] = [await processPatterns(cpu, [pattern], { stepMs: 1 })];
  expect(states.subarray(count - 1, count).data).toEqual(one.data);
});

it("encodes by five encoders on the device, and refuses the others by their names", async () => {
  using values = context.upload(Float64Array.of(0.1, 0.9, 0.4, 0.6));
  const series = new DeviceMatrix(context, values, { rows: 4, cols: 1 });
  for (const encoder of ["cochlea", "cochleagram", "no such encoder"])
    await expect(encodeOnDevice(context, series, { encoder, frameMs: 10 } as never)).rejects.toMatchObject({
      code: "value",
      message: expect.stringMatching(/rate.*latency.*population.*phase.*delta/),
    });
  expect(launched).toEqual([]);
  (await encodeOnDevice(context, series, { encoder: "latency", frameMs: 10 })).dispose();
  expect(launched.length).toBeGreaterThan(0);
});
