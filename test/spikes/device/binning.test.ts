// Binning on a device: what binSpikes gives on the host, bit for bit, and an error if it has one.
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { RandomStream, seedKeys } from "../../../packages/numerics/src/index.js";
import { binPatternsOnDevice, binSpikesOnDevice, DeviceSpikePattern, DeviceSpikePatterns } from "../../../src/spikes/gpu/index.js";
import { ArgumentError, type BinOptions, binSpikes, SpikePattern } from "../../../src/spikes/index.js";
import { openTestDevice, size } from "../../gpu/device/device.js";

const context = openTestDevice();
afterAll(() => context.dispose());

/**
 * Spikes at uniform times, every fourth at a multiple of 1 ms, with amplitudes from -2 to 6 if
 * asked for.
 */
function patternOf(count: number, neuronCount: number, seed: number, amplitudes = false): SpikePattern {
  const draws = new RandomStream(seedKeys(seed).weights, 79);
  const durationMs = 50;
  const times = Float64Array.from({ length: count }, (_, i) => {
    const t = draws.uniform(0, i) * durationMs;
    return i % 4 === 0 ? Math.floor(t) : t;
  });
  return SpikePattern.from(
    {
      times,
      neurons: Uint32Array.from(times, (_, i) => Math.floor(draws.uniform(1, i) * neuronCount)),
      ...(amplitudes ? { amplitudes: Float32Array.from(times, (_, i) => 8 * draws.uniform(2, i) - 2) } : {}),
    },
    { durationMs, neuronCount },
  );
}

const same = async (pattern: SpikePattern, options: BinOptions) => {
  using there = await binSpikesOnDevice(context, pattern, options);
  const here = binSpikes(pattern, options);
  expect([there.rows, there.cols]).toEqual([here.rows, here.cols]);
  expect(Buffer.compare(Buffer.from(there.toMatrix().data.buffer), Buffer.from(here.data.buffer))).toBe(0);
};

describe("binSpikesOnDevice", () => {
  it("gives the bits of binSpikes for any pattern and any bins", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 300 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer(),
        fc.boolean(),
        fc.constantFrom<BinOptions>({ bins: 7 }, { bins: 1 }, { binMs: 0.1 }, { binMs: 3 }, { bins: 5, channels: 1 }),
        fc.constantFrom("counts" as const, "amplitudes" as const),
        (count, neurons, seed, amplitudes, options, values) => same(patternOf(count, neurons, seed, amplitudes), { ...options, values }),
      ),
      { numRuns: size(300, 25, 30), seed: 1 },
    );
  });

  it("gives them for many spikes in few cells", async () => {
    const pattern = patternOf(size(2_000_000, 5000, 200_000), 1000, 3, true);
    await same(pattern, { bins: 4, channels: 3, values: "counts" });
    await same(pattern, { bins: 4, channels: 7, values: "amplitudes" });
  });

  it("puts a spike on the edge of a bin where the host does, whose quotient is that of binary64", async () => {
    const times = Float64Array.from({ length: 500 }, (_, k) => k / 10);
    const pattern = new SpikePattern({ times, neurons: new Uint32Array(500) }, { durationMs: 50, neuronCount: 1 });
    // 0.3 / 0.1 is just below 3.
    expect(binSpikes(pattern, { binMs: 0.1 }).data.subarray(0, 5)).toEqual(Float32Array.of(1, 1, 2, 0, 1));
    await same(pattern, { binMs: 0.1 });
  });

  it("puts every spike of a pattern that lasts no time into the first bin", async () => {
    await same(new SpikePattern({ times: [0, 0], neurons: [0, 1] }, { durationMs: 0, neuronCount: 2 }), { bins: 3 });
  });

  it.each([1, 40])("makes zeros of a pattern without spikes, of %i neurons", async (neuronCount) => {
    for (const columns of [
      { times: [], neurons: [] },
      { times: [], neurons: [], amplitudes: [] },
    ]) {
      const pattern = new SpikePattern(columns, { durationMs: 10, neuronCount });
      for (const values of ["counts", "amplitudes"] as const) await same(pattern, { binMs: 1, values });
      await same(new SpikePattern(columns, { durationMs: 0, neuronCount }), { binMs: 1 });
      using there = DeviceSpikePattern.upload(context, pattern);
      using binned = await binSpikesOnDevice(context, there, { bins: 4 });
      expect(binned.toMatrix().data).toEqual(new Float32Array(4 * neuronCount));
    }
  });

  it("rounds sums of amplitudes once, at the end", async () => {
    const amplitudes = [16_777_216, 1, 1, -0.25, 1e-7, 2 ** -25];
    const pattern = new SpikePattern(
      { times: amplitudes.map(() => 1), neurons: amplitudes.map(() => 0), amplitudes },
      { durationMs: 2, neuronCount: 1 },
    );
    await same(pattern, { bins: 1, values: "amplitudes" });
  });

  it("takes spikes that are on the device, in any order", async () => {
    const { times, neurons, durationMs, neuronCount } = patternOf(200, 9, 5);
    using t = context.upload(times.toReversed() as Float64Array<ArrayBuffer>);
    using n = context.upload(neurons.toReversed() as Uint32Array<ArrayBuffer>);
    using there = await binSpikesOnDevice(context, new DeviceSpikePattern({ times: t, neurons: n }, { durationMs, neuronCount }), {
      bins: 6,
    });
    const here = binSpikes(SpikePattern.from({ times, neurons }, { durationMs, neuronCount }), { bins: 6 });
    expect(there.toMatrix().data).toEqual(here.data);
  });

  it.each([
    ["a time after the end", [1, 5.5, 9], [0, 0, 0], "the time of spike 1 is 5.5; it takes 0 to 5 ms, the duration of the pattern"],
    ["a time that is not a number", [1, 2, Number.NaN], [0, 0, 0], "the time of spike 2 is NaN"],
    ["a negative time", [-1, 2, 3], [0, 0, 9], "the time of spike 0 is -1"],
    ["a neuron that is not there", [1, 2, 3], [0, 3, 4], "the neuron of spike 1 is 3; it takes a whole number from 0 to 2"],
  ])("names the first spike with %s", async (_, times, neurons, message) => {
    using t = context.upload(Float64Array.from(times));
    using n = context.upload(Uint32Array.from(neurons));
    const pattern = new DeviceSpikePattern({ times: t, neurons: n }, { durationMs: 5, neuronCount: 3 });
    await expect(binSpikesOnDevice(context, pattern, { bins: 2 })).rejects.toThrow(message);
    await expect(binSpikesOnDevice(context, pattern, { bins: 2 })).rejects.toBeInstanceOf(ArgumentError);
  });

  it("refuses sums that reach 2^29, and amplitudes that do so alone, as binSpikes does", async () => {
    const of = (amplitudes: number[]) =>
      new SpikePattern({ times: amplitudes.map(() => 3), neurons: amplitudes.map(() => 0), amplitudes }, { durationMs: 4, neuronCount: 1 });
    const options = { bins: 2, values: "amplitudes" } as const;
    for (const amplitudes of [Array(5000).fill(2 ** 28), [2 ** 28, 2 ** 28], [-(2 ** 28), -(2 ** 28)]]) {
      expect(() => binSpikes(of(amplitudes), options)).toThrow("the sum of amplitudes in bin 1");
      await expect(binSpikesOnDevice(context, of(amplitudes), options)).rejects.toThrow("the sum of amplitudes in bin 1");
    }
    await expect(binSpikesOnDevice(context, of([1, 3e38]), options)).rejects.toThrow("the amplitude of spike 1");
  });

  it("gives back all memory that it took, whatever happened", async () => {
    const before = context.held().length;
    (await binSpikesOnDevice(context, patternOf(50, 5, 1, true), { bins: 2, values: "amplitudes" })).dispose();
    using t = context.upload(Float64Array.of(9));
    using n = context.upload(Uint32Array.of(0));
    await expect(
      binSpikesOnDevice(context, new DeviceSpikePattern({ times: t, neurons: n }, { durationMs: 5, neuronCount: 3 }), { bins: 2 }),
    ).rejects.toThrow();
    t.dispose();
    n.dispose();
    // The kernels' two modules stay with the context.
    expect(context.held().filter(({ kind }) => kind !== "module").length).toBeLessThanOrEqual(before);
  });
});

describe("binPatternsOnDevice", () => {
  const patterns = [30, 0, 200, 1, 77].map((count, b) => patternOf(count, 9, b, b % 2 === 0));

  it.each<BinOptions>([{ binMs: 3 }, { bins: 7 }, { bins: 5, channels: 4 }, { binMs: 3, values: "amplitudes" }])(
    "gives the bits of binSpikes for each pattern: %j",
    async (options) => {
      using bins = await binPatternsOnDevice(context, patterns, options);
      const host = patterns.map((pattern) => binSpikes(pattern, options));
      expect(bins.toMatrices()).toEqual(host);
      expect(bins.sequences[0]!.stepMs).toBe(options.binMs ?? 50 / options.bins!);
    },
  );

  it("takes patterns of different lengths, and more of them than a launch has rows of blocks", async () => {
    const some = Array.from({ length: size(40_000, 50, 2000) }, (_, b) => {
      const durationMs = 1 + (b % 3);
      return new SpikePattern({ times: [0, durationMs], neurons: [b % 2, 1] }, { durationMs, neuronCount: 2 });
    });
    using spikes = DeviceSpikePatterns.upload(context, some);
    using bins = await binPatternsOnDevice(context, spikes, { binMs: 1 });
    expect(bins.sequences.map(({ rows }) => rows)).toEqual(some.map(({ durationMs }) => durationMs));
    const host = some.flatMap((pattern) => [...binSpikes(pattern, { binMs: 1 }).data]);
    expect(Buffer.compare(Buffer.from(context.read(bins.values).buffer), Buffer.from(Float32Array.from(host).buffer))).toBe(0);
    using cut = await binPatternsOnDevice(context, spikes, { bins: 2 });
    expect(cut.sequences[0]!.stepMs).toBeUndefined();
  });

  it("names pattern and spike of what does not fit", async () => {
    using times = context.upload(Float64Array.of(1, 2, 3, 9));
    using neurons = context.upload(Uint32Array.of(0, 1, 2, 0));
    const of = (durationsMs: number[], neuronCount = 3) =>
      new DeviceSpikePatterns({ times, neurons }, { offsets: [0, 1, 4], durationsMs, neuronCount });
    await expect(binPatternsOnDevice(context, of([5, 5]), { bins: 2 })).rejects.toThrow(
      "the time of spike 2 of patterns[1] is 9; it takes 0 to 5 ms, the duration of the pattern",
    );
    await expect(binPatternsOnDevice(context, of([5, 10], 2), { bins: 2 })).rejects.toThrow("the neuron of spike 1 of patterns[1] is 2");
    expect(() => new DeviceSpikePatterns({ times, neurons }, { offsets: [0, 5], durationsMs: [5], neuronCount: 3 })).toThrow("offsets[1]");
    expect(() => new DeviceSpikePatterns({ times, neurons }, { offsets: [0, 3], durationsMs: [5], neuronCount: 3 })).toThrow(
      "the last offset is 3; it takes 4, the number of spikes",
    );
    expect(() => DeviceSpikePatterns.upload(context, [patterns[0]!, patternOf(3, 4, 1)])).toThrow(
      "the number of neurons of patterns[1] is 4",
    );
    await expect(binPatternsOnDevice(context, [], { bins: 2 })).rejects.toThrow("the number of patterns is 0");
  });
});
