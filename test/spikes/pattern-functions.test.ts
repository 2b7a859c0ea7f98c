// What is computed from patterns: windows, rates, bins, rasters, and the patterns made from
// patterns.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { object } from "../../packages/core/src/options.js";
import {
  binSpikes,
  concatenatePatterns,
  interspikeIntervals,
  jitterPattern,
  mergePatterns,
  neuronCounts,
  neuronRates,
  patternFromRaster,
  poissonPattern,
  type Spike,
  SpikePattern,
  shiftPattern,
  slicePattern,
  spikeCount,
  spikeRaster,
  spikeRate,
  spikesInWindow,
  thinPattern,
  timeProfile,
} from "../../src/spikes/index.js";
import { editPattern, editsTable, type PatternEdits } from "../../src/spikes/pattern/edits.js";

const options = { durationMs: 100, neuronCount: 3 };
const pattern = SpikePattern.from(
  [
    { neuron: 0, timeMs: 0 },
    { neuron: 2, timeMs: 10 },
    { neuron: 0, timeMs: 25 },
    { neuron: 1, timeMs: 99.5 },
    { neuron: 0, timeMs: 100 },
  ],
  options,
);
const empty = SpikePattern.from([], options);
const anyPattern = fc
  .array(fc.record({ neuron: fc.nat(2), timeMs: fc.double({ min: 0, max: 100, noNaN: true }) }), { maxLength: 40 })
  .map((spikes: Spike[]) => SpikePattern.from(spikes, options));

describe("counting", () => {
  it("counts spikes of all and of each neuron", () => {
    expect(spikeCount(pattern)).toBe(5);
    expect(neuronCounts(pattern)).toEqual(Uint32Array.of(3, 1, 1));
  });

  it("gives rates in Hz: 5 spikes in 0.1 s are 50 Hz of the population", () => {
    expect(spikeRate(pattern)).toBe(50);
    expect(neuronRates(pattern)).toEqual(Float64Array.of(30, 10, 10));
  });

  it("gives rate 0 of an empty pattern and of one that lasts no time", () => {
    expect(spikeRate(empty)).toBe(0);
    const instant = SpikePattern.from([{ neuron: 0, timeMs: 0 }], { durationMs: 0, neuronCount: 1 });
    expect(spikeRate(instant)).toBe(0);
    expect(neuronRates(instant)).toEqual(Float64Array.of(0));
  });

  it("gives intervals between spikes of the same neuron only", () => {
    expect(interspikeIntervals(pattern)).toEqual(Float64Array.of(25, 75));
    expect(interspikeIntervals(pattern, 1)).toEqual(new Float64Array(0));
    expect(() => interspikeIntervals(pattern, 3)).toThrow("neuron is 3; it takes a whole number from 0 to 2");
  });
});

describe("a window", () => {
  it("holds both its ends", () => {
    expect([...spikesInWindow(pattern, 10, 25)].map(({ timeMs }) => timeMs)).toEqual([10, 25]);
    expect(spikesInWindow(pattern, 10, 25).durationMs).toBe(100);
  });

  it("that ends before it starts, or has no numbers, is an error", () => {
    expect(() => spikesInWindow(pattern, 25, 10)).toThrow(
      "the window is 25 to 10 ms; it takes two times in ms, the first not after the second",
    );
    expect(() => spikesInWindow(pattern, Number.NaN, 10)).toThrow("the window is NaN to 10 ms");
  });

  it("cut out begins at 0, and the slices of a pattern hold each spike once", () => {
    expect([...slicePattern(pattern, 10, 50)].map(({ timeMs }) => timeMs)).toEqual([0, 15]);
    fc.assert(
      fc.property(anyPattern, fc.double({ min: 0, max: 100, noNaN: true }), (any, cut) => {
        expect(slicePattern(any, 0, cut).spikeCount + slicePattern(any, cut, 100).spikeCount).toBe(
          any.spikeCount + (cut === 100 ? [...any].filter(({ timeMs }) => timeMs === 100).length : 0),
        );
      }),
    );
    expect(() => slicePattern(pattern, 50, 101)).toThrow("the window is 50 to 101 ms; it takes a window within 0 to 100 ms");
  });
});

describe("bins", () => {
  it("count spikes of time and neuron, the last end included", () => {
    expect(binSpikes(pattern, { bins: 4 }).toArrays()).toEqual([
      [1, 0, 1],
      [1, 0, 0],
      [0, 0, 0],
      [1, 1, 0],
    ]);
  });

  it("hold a spike from their beginning to just before the next", () => {
    const edges = SpikePattern.from(
      [24.9, 25, 49.9].map((timeMs) => ({ neuron: 0, timeMs })),
      options,
    );
    expect([...binSpikes(edges, { bins: 4 }).column(0)]).toEqual([1, 2, 0, 0]);
  });

  it("of a width reach past the end where the duration is no multiple of it", () => {
    expect(binSpikes(pattern, { binMs: 30 }).rows).toBe(4);
    expect(binSpikes(SpikePattern.from([], { durationMs: 0.3, neuronCount: 1 }), { binMs: 0.1 }).rows).toBe(3);
  });

  it("hold every spike once, in any number of bins and channels", () => {
    fc.assert(
      fc.property(anyPattern, fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 3 }), (any, bins, channels) => {
        const counts = binSpikes(any, { bins, channels });
        expect([counts.rows, counts.cols]).toEqual([bins, channels]);
        expect(counts.data.reduce((sum, count) => sum + count, 0)).toBe(any.spikeCount);
      }),
    );
  });

  it("add amplitudes to the same bits in every order of the spikes", () => {
    const spikes = Array.from({ length: 50 }, (_, i) => ({ neuron: 0, timeMs: 5, amplitude: 1 / (i + 1) - 0.1 }));
    const forwards = binSpikes(SpikePattern.from(spikes, options), { bins: 2, values: "amplitudes" });
    const backwards = binSpikes(SpikePattern.from(spikes.reverse(), options), { bins: 2, values: "amplitudes" });
    expect(forwards.data).toEqual(backwards.data);
    // The harmonic number H(50) less 50 times 0.1, each amplitude right to 2^-25.
    expect(forwards.data[0]).toBeCloseTo(4.499205338 - 5, 5);
  });

  it("add 1 for each spike where a pattern has no amplitudes", () => {
    expect(binSpikes(pattern, { bins: 1, values: "amplitudes" }).toArrays()).toEqual([[3, 1, 1]]);
  });

  it("refuse amplitudes that would lose their sum", () => {
    const large = SpikePattern.from([{ neuron: 0, timeMs: 0, amplitude: 1e9 }], options);
    expect(() => binSpikes(large, { bins: 1, values: "amplitudes" })).toThrow(
      "the sum of amplitudes in bin 0 is 1000000000; it takes sums below 2^29",
    );
  });

  it("take a number or a width, and channels of whole neurons", () => {
    expect(() => binSpikes(pattern, {})).toThrow("the binning is bins = undefined, binMs = undefined; it takes one of bins and binMs");
    expect(() => binSpikes(pattern, { bins: 0 })).toThrow("bins is 0; it takes a whole number of at least 1");
    expect(() => binSpikes(pattern, { binMs: 0 })).toThrow("binMs is 0; it takes a number of ms above 0");
    expect(() => binSpikes(pattern, { bins: 2, channels: 4 })).toThrow("channels is 4; it takes a whole number from 1 to 3");
  });

  it("of an empty pattern are zeros; of one without duration, everything in the first", () => {
    expect(binSpikes(empty, { bins: 2 }).data).toEqual(new Float32Array(6));
    const instant = SpikePattern.from([{ neuron: 0, timeMs: 0 }], { durationMs: 0, neuronCount: 1 });
    expect(binSpikes(instant, { bins: 2 }).data).toEqual(Float32Array.of(1, 0));
  });
});

describe("the time profile", () => {
  it("is the share of spikes in each bin, whatever their neuron", () => {
    expect(timeProfile(pattern, 4).toArrays()).toEqual([[0.4, 0.2, 0, 0.4]]);
    expect(timeProfile(empty, 2).toArrays()).toEqual([[0, 0]]);
  });

  it("weighs a spike with an amplitude by 1 and the amplitude", () => {
    const two = SpikePattern.from(
      [
        { neuron: 0, timeMs: 10, amplitude: 2 },
        { neuron: 0, timeMs: 90, amplitude: 0 },
      ],
      options,
    );
    expect(timeProfile(two, 2).toArrays()).toEqual([[0.75, 0.25]]);
  });
});

describe("a raster", () => {
  it("comes back as the pattern it was made of, for spikes on its grid", () => {
    const onGrid = fc.uniqueArray(fc.tuple(fc.nat(99), fc.nat(2)), { selector: String, maxLength: 60 });
    fc.assert(
      fc.property(onGrid, (cells) => {
        const made = SpikePattern.from(
          cells.map(([timeMs, neuron]) => ({ timeMs, neuron })),
          options,
        );
        expect([...patternFromRaster(spikeRaster(made, { stepMs: 1 }), { stepMs: 1 })]).toEqual([...made]);
      }),
    );
  });

  it("has 1 where a neuron fires twice in a step", () => {
    const twice = SpikePattern.from(
      [
        { neuron: 0, timeMs: 1 },
        { neuron: 0, timeMs: 1.5 },
      ],
      options,
    );
    expect(spikeRaster(twice, { stepMs: 50 }).toArrays()).toEqual([
      [1, 0, 0],
      [0, 0, 0],
    ]);
  });
});

describe("patterns made from patterns", () => {
  it("merge neurons of one number, or stack them", () => {
    const shared = mergePatterns([pattern, pattern]);
    expect([shared.spikeCount, shared.neuronCount]).toEqual([10, 3]);
    const stacked = mergePatterns([pattern, pattern], { neurons: "stacked" });
    expect(stacked.neuronCount).toBe(6);
    expect(neuronCounts(stacked)).toEqual(Uint32Array.of(3, 1, 1, 3, 1, 1));
    expect(() => mergePatterns([])).toThrow("patterns is an array of 0; it takes at least one pattern");
  });

  it("merge amplitudes with 1 where there are none", () => {
    const loud = SpikePattern.from([{ neuron: 0, timeMs: 50, amplitude: 3 }], options);
    expect(mergePatterns([pattern, loud]).amplitudes).toEqual(Float32Array.of(1, 1, 1, 3, 1, 1));
  });

  it("stand one after the other with a gap between them", () => {
    const joined = concatenatePatterns([pattern, pattern], { gapMs: 50 });
    expect(joined.durationMs).toBe(250);
    expect(joined.times).toEqual(Float64Array.of(0, 10, 25, 99.5, 100, 150, 160, 175, 249.5, 250));
  });

  it("shift, and drop or clamp what leaves", () => {
    expect(shiftPattern(pattern, 1).times).toEqual(Float64Array.of(1, 11, 26));
    expect(shiftPattern(pattern, -10, { edge: "clamp" }).times).toEqual(Float64Array.of(0, 0, 15, 89.5, 90));
    expect(() => shiftPattern(pattern, Number.NaN)).toThrow("byMs is NaN; it takes a finite number of ms");
  });

  const many = new SpikePattern(
    { times: new Float64Array(20000).fill(500), neurons: new Uint32Array(20000) },
    { durationMs: 1000, neuronCount: 1 },
  );

  it.each(["normal", "uniform"] as const)("jitter by a %s shift of the deviation that is asked for", (distribution) => {
    const shifts = jitterPattern(many, { standardDeviationMs: 5, distribution, seed: 1 }).times.map((time) => time - 500);
    const mean = shifts.reduce((sum, x) => sum + x, 0) / shifts.length;
    const deviation = Math.sqrt(shifts.reduce((sum, x) => sum + x * x, 0) / shifts.length);
    // Four standard errors of a mean and of a standard deviation of 20,000 draws.
    expect(Math.abs(mean)).toBeLessThan((4 * 5) / Math.sqrt(20000));
    expect(Math.abs(deviation - 5)).toBeLessThan((4 * 5) / Math.sqrt(40000));
    if (distribution === "uniform") expect(Math.max(...shifts)).toBeLessThanOrEqual(5 * Math.sqrt(3));
  });

  it("jitter the same way for the same seed, and stay in order and inside", () => {
    const jitter = (seed: number) => jitterPattern(pattern, { standardDeviationMs: 40, seed });
    expect(jitter(1)).toEqual(jitter(1));
    expect(jitter(1)).not.toEqual(jitter(2));
    expect(jitter(1).spikeCount).toBe(5);
    expect(jitterPattern(pattern, { standardDeviationMs: 1000, seed: 1, edge: "drop" }).spikeCount).toBeLessThan(5);
  });

  it("thin by the probability that is asked for", () => {
    const left = thinPattern(many, { dropProbability: 0.2, seed: 3 }).spikeCount;
    expect(Math.abs(left - 16000)).toBeLessThan(4 * Math.sqrt(20000 * 0.2 * 0.8));
    expect(thinPattern(many, { dropProbability: 0, seed: 3 }).spikeCount).toBe(20000);
    expect(thinPattern(many, { dropProbability: 1, seed: 3 }).spikeCount).toBe(0);
    expect(() => thinPattern(many, { dropProbability: 2, seed: 3 })).toThrow("dropProbability is 2; it takes a number from 0 to 1");
  });
});

describe("editPattern", () => {
  const spikesOf = ({ times, neurons }: SpikePattern) => Array.from(times, (time, i) => [time, neurons[i]]);
  const same = (a: SpikePattern, b: SpikePattern) =>
    expect([spikesOf(a), a.durationMs, a.neuronCount]).toEqual([spikesOf(b), b.durationMs, b.neuronCount]);

  it("puts a pattern into a longer one, as often as its schedule says", () => {
    const edited = editPattern(pattern, { schedule: { startMs: 30, times: 2, gapMs: 5, durationMs: 300 } }, "0");
    // 30 ms of silence, 100 ms of pattern, 5 ms of silence, 100 ms of pattern, and silence up to
    // 300 ms.
    const expected = [30, 135].flatMap((start) => [
      [start, 0],
      [start + 10, 2],
      [start + 25, 0],
      [start + 99.5, 1],
      [start + 100, 0],
    ]);
    expect(spikesOf(edited)).toEqual(expected);
    expect([edited.durationMs, edited.neuronCount]).toEqual([300, 3]);
    expect(editPattern(pattern, { schedule: {} }, "0").durationMs).toBe(100);
    expect(() => editPattern(pattern, { schedule: { times: 4, durationMs: 399 } }, "0")).toThrow(
      "schedule.durationMs is 399; it takes at least 400 ms, the end of the last pattern",
    );
  });

  it("makes its changes in one order, with draws of each case's own", () => {
    const resolved = object(editsTable).read(
      { noise: { rateHz: 40 }, thin: { dropProbability: 0.3, seed: "t" }, jitter: { standardDeviationMs: 4 }, schedule: { startMs: 10 } },
      "data",
    ) as PatternEdits;
    fc.assert(
      fc.property(anyPattern, fc.string({ maxLength: 5 }), (given, name) => {
        const late = SpikePattern.from(
          Array.from(given.times, (time, i) => ({ neuron: given.neurons[i]!, timeMs: 10 + time })),
          { durationMs: 110, neuronCount: 3 },
        );
        const moved = jitterPattern(late, { standardDeviationMs: 4, seed: `1/${name}` });
        const left = thinPattern(moved, { dropProbability: 0.3, seed: `t/${name}` });
        const noise = poissonPattern({ neuronCount: 3, durationMs: 110, rateHz: 40, seed: `1/${name}` });
        same(editPattern(given, resolved, name), mergePatterns([left, noise]));
      }),
      { numRuns: 30 },
    );
    expect(spikesOf(editPattern(pattern, resolved, "0"))).not.toEqual(spikesOf(editPattern(pattern, resolved, "1")));
    same(editPattern(pattern, {}, "0"), pattern);
  });
});
