// Encoders: the spikes stand for the values, statistically if they are drawn, exactly if they are
// not.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  binSpikes,
  deltaDecode,
  deltaEncode,
  encoders,
  encodeSpikes,
  interspikeIntervals,
  latencyDecode,
  latencyEncode,
  neuronCounts,
  phaseEncode,
  populationDecode,
  populationEncode,
  rateDecode,
  rateEncode,
  scaleToUnit,
  spikeRate,
  squashToUnit,
} from "../../src/spikes/index.js";

const unit = fc.double({ min: 0, max: 1, noNaN: true });
const series = (cols: number) => fc.array(fc.array(unit, { minLength: cols, maxLength: cols }), { minLength: 1, maxLength: 12 });

/** The Kolmogorov-Smirnov distance of samples from a distribution function, times sqrt(n). */
function kolmogorovSmirnov(samples: Float64Array, distribution: (x: number) => number): number {
  const sorted = samples.slice().sort();
  let distance = 0;
  sorted.forEach((x, i) => {
    const p = distribution(x);
    distance = Math.max(distance, Math.abs(p - i / sorted.length), Math.abs((i + 1) / sorted.length - p));
  });
  return distance * Math.sqrt(sorted.length);
}

describe("the rate encoder", () => {
  it("fires at the rate of the value: the mean count of 1e5 bins of 10 ms is within 3 standard errors", () => {
    const pattern = rateEncode([[0.5]], { frameMs: 1e6, minRateHz: 0, maxRateHz: 80, seed: "rate" });
    const counts = binSpikes(pattern, { bins: 100_000 }).data;
    const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
    // 40 Hz in 10 ms: 0.4 spikes a bin, and a variance of 0.4 as of any Poisson count.
    expect(Math.abs(mean - 0.4)).toBeLessThan(3 * Math.sqrt(0.4 / 1e5));
    const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / counts.length;
    expect(variance / mean).toBeCloseTo(1, 1);
  });

  it("has exponential intervals (Kolmogorov-Smirnov at 1 %: 1.63)", () => {
    const pattern = rateEncode([[1]], { frameMs: 1e5, maxRateHz: 50, seed: 7 });
    expect(kolmogorovSmirnov(interspikeIntervals(pattern), (x) => 1 - Math.exp(-x * 0.05))).toBeLessThan(1.63);
  });

  it("has exponential intervals in rescaled time where the rate changes in the middle of them", () => {
    const rows = Array.from({ length: 4000 }, (_, k) => [(k % 10) / 10]);
    const pattern = rateEncode(rows, { frameMs: 5, minRateHz: 0, maxRateHz: 100, seed: 8 });
    const expected = (t: number) => {
      let sum = 0;
      for (let k = 0; k < rows.length && k * 5 < t; k++) sum += rows[k]![0]! * 0.1 * Math.min(5, t - k * 5);
      return sum;
    };
    const rescaled = [...pattern.times].map(expected);
    const intervals = Float64Array.from(rescaled.slice(1), (t, i) => t - rescaled[i]!);
    expect(kolmogorovSmirnov(intervals, (x) => 1 - Math.exp(-x))).toBeLessThan(1.63);
  });

  it("draws neurons apart from each other", () => {
    const pattern = rateEncode([[1]], { frameMs: 10_000, neuronsPerChannel: 20, seed: 1 });
    expect(new Set(neuronCounts(pattern)).size).toBeGreaterThan(5);
    expect(spikeRate(pattern) / 20).toBeCloseTo(100, -1);
  });

  it("gives the same spikes for the same seed, and others for another", () => {
    const encode = (seed: string) => rateEncode([[0.5, 0.2]], { frameMs: 500, seed });
    expect(encode("a")).toEqual(encode("a"));
    expect(encode("a").times).not.toEqual(encode("b").times);
  });

  it("can be regular: 100 Hz for 100 ms are 10 spikes 10 ms apart, and neurons of a channel take turns", () => {
    const one = rateEncode([[1]], { frameMs: 100, process: "regular" });
    expect([...one.times].map((t) => Math.round(t * 1e9) / 1e9)).toEqual([5, 15, 25, 35, 45, 55, 65, 75, 85, 95]);
    const two = rateEncode([[1]], { frameMs: 20, process: "regular", neuronsPerChannel: 2 });
    expect([...two].map(({ neuron, timeMs }) => [neuron, timeMs])).toEqual([
      [0, 2.5],
      [1, 7.5],
      [0, 12.5],
      [1, 17.5],
    ]);
  });

  it("comes back through the decoder within one spike of each frame, where it is regular", () => {
    fc.assert(
      fc.property(series(2), (rows) => {
        const options = { frameMs: 200, neuronsPerChannel: 5, minRateHz: 10, maxRateHz: 100 } as const;
        const back = rateDecode(rateEncode(rows, { ...options, process: "regular" }), options);
        expect([back.rows, back.cols]).toEqual([rows.length, 2]);
        // Each of 5 neurons is at most one spike off: 1 / 0.2 s = 5 Hz of a range of 90 Hz.
        for (const [i, value] of rows.flat().entries()) expect(Math.abs(back.data[i]! - value)).toBeLessThanOrEqual(5 / 90 + 1e-9);
      }),
    );
  });

  it("is silent at rate 0, and needs a seed only for drawing", () => {
    expect(rateEncode([[0]], { frameMs: 1e4, minRateHz: 0, seed: 1 }).spikeCount).toBe(0);
    expect(() => rateEncode([[0]], { frameMs: 10 })).toThrow("seed is missing; it takes a number or a text");
    expect(() => rateEncode([[0, 1.5]], { frameMs: 10, seed: 1 })).toThrow(
      "the value at row 0, channel 1 is 1.5; it takes values from 0 to 1",
    );
    expect(() => rateEncode([[Number.NaN]], { frameMs: 10, seed: 1 })).toThrow("the value at row 0, channel 0 is NaN");
    expect(() => rateEncode([[0]], { frameMs: 0, seed: 1 })).toThrow("frameMs is 0; it takes a number of ms above 0");
  });
});

describe("the latency encoder", () => {
  it("fires strong values first, or weak ones as the option says", () => {
    const strong = latencyEncode([[1, 0.5, 0]], { frameMs: 100 });
    expect([...strong].map(({ neuron, timeMs }) => [neuron, timeMs])).toEqual([
      [0, 0],
      [1, 25],
      [2, 50],
    ]);
    expect(latencyEncode([[0.5]], { frameMs: 100, order: "weakFirst", neuronsPerChannel: 2 }).times).toEqual(Float64Array.of(25, 27));
  });

  it("leaves out spikes after their frame, and values below the threshold", () => {
    expect(latencyEncode([[0]], { frameMs: 50 }).spikeCount).toBe(0);
    expect(latencyEncode([[0.2, 0.8]], { frameMs: 60, threshold: 0.5 }).spikeCount).toBe(1);
  });

  it.each(["linear", "logarithmic"] as const)("comes back through the decoder exactly: %s", (curve) => {
    fc.assert(
      fc.property(series(3), fc.constantFrom("strongFirst" as const, "weakFirst" as const), (rows, order) => {
        const options = { frameMs: 60, delayRangeMs: 50, curve, order, neuronsPerChannel: 2 } as const;
        const back = latencyDecode(latencyEncode(rows, options), options);
        for (const [i, value] of rows.flat().entries()) expect(back.data[i]).toBeCloseTo(value, 8);
      }),
    );
  });

  it("puts logarithmic latencies where a leaky integrator reaches them", () => {
    // tau = 10, range = 50: value 0.5 fires at -10 ln(1 - 0.5 (1 - e^-5)).
    const [timeMs] = latencyEncode([[0.5]], { frameMs: 60, curve: "logarithmic", timeConstantMs: 10 }).times;
    expect(timeMs).toBeCloseTo(-10 * Math.log(1 - 0.5 * (1 - Math.exp(-5))), 10);
  });
});

describe("the population encoder", () => {
  it("fires each neuron with the probability of its field", () => {
    const frames = 20_000;
    const pattern = populationEncode(new Array(frames).fill([0.5]), { frameMs: 1, neuronsPerChannel: 11, fieldWidth: 2, seed: 3 });
    neuronCounts(pattern).forEach((count, j) => {
      const p = 0.8 * Math.exp(-0.5 * ((j - 5) / 2) ** 2);
      expect(Math.abs(count / frames - p)).toBeLessThan(4 * Math.sqrt((p * (1 - p)) / frames));
    });
  });

  it("can be exact: in the latency code the nearest field fires first", () => {
    const pattern = populationEncode([[0.25]], { frameMs: 100, neuronsPerChannel: 5, fieldWidth: 1, code: "latency" });
    expect(pattern.spike(0)).toEqual({ neuron: 1, timeMs: 0 });
    expect(pattern.spike(1).timeMs).toBeCloseTo(100 * (1 - Math.exp(-0.5)), 10);
    // Responses at distances 0, 1, 1, 2, 3 of 1, .61, .61, .14 and .01: the last is below the
    // threshold.
    expect(pattern.spikeCount).toBe(4);
  });

  it("comes back through the decoder, up to the fields that the ends cut off", () => {
    const middle = fc.array(fc.array(fc.double({ min: 0.3, max: 0.7, noNaN: true }), { minLength: 2, maxLength: 2 }), {
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(middle, (rows) => {
        const options = { frameMs: 20, neuronsPerChannel: 20, fieldWidth: 2, code: "latency", threshold: 0.01 } as const;
        const back = populationDecode(populationEncode(rows, options), options);
        for (const [i, value] of rows.flat().entries()) expect(Math.abs(back.data[i]! - value)).toBeLessThan(0.005);
      }),
    );
  });

  it("takes at least two neurons a channel", () => {
    expect(() => populationEncode([[0]], { frameMs: 1, neuronsPerChannel: 1, seed: 1 })).toThrow(
      "neuronsPerChannel is 1; it takes a whole number of at least 2",
    );
  });
});

describe("the phase encoder", () => {
  it("fires once a cycle at the phase of the value", () => {
    // 40 Hz: 25 ms a cycle; value 1 is phase pi, half a cycle.
    const pattern = phaseEncode([[0, 1, 0.5]], { frameMs: 50, jitterMs: 0 });
    expect([...pattern].map(({ neuron, timeMs }) => [neuron, timeMs])).toEqual([
      [0, 0],
      [2, 6.25],
      [1, 12.5],
      [0, 25],
      [2, 31.25],
      [1, 37.5],
    ]);
  });

  it("moves no spike by more than its jitter", () => {
    const exact = phaseEncode([[0.5]], { frameMs: 10_000, jitterMs: 0 }).times;
    const jittered = phaseEncode([[0.5]], { frameMs: 10_000, jitterMs: 2, seed: 1 }).times;
    expect(jittered.length).toBe(exact.length);
    const shifts = jittered.map((t, i) => Math.abs(t - exact[i]!));
    expect(Math.max(...shifts)).toBeLessThanOrEqual(2);
    expect(Math.max(...shifts)).toBeGreaterThan(1.5);
  });
});

describe("the delta encoder", () => {
  it("fires up and down where the signal crosses its levels", () => {
    const pattern = deltaEncode([0, 1, 0], { stepMs: 10, threshold: 0.5 });
    expect([...pattern].map(({ neuron, timeMs }) => [neuron, timeMs])).toEqual([
      [0, 5],
      [0, 10],
      [1, 15],
      [1, 20],
    ]);
  });

  it("comes back through the decoder within the threshold at every sample", () => {
    const signal = fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(signal, fc.double({ min: 0.05, max: 2, noNaN: true }), (values, threshold) => {
        const options = { stepMs: 0.7, threshold, start: [values[0]!] };
        const back = deltaDecode(deltaEncode(values, options), options);
        expect(back.rows).toBe(values.length);
        for (const [i, value] of values.entries()) expect(Math.abs(back.data[i]! - value)).toBeLessThanOrEqual(threshold * (1 + 1e-9));
      }),
    );
  });

  it("is silent for a constant", () => {
    expect(deltaEncode([3, 3, 3], { stepMs: 1, threshold: 0.1 }).spikeCount).toBe(0);
  });
});

describe("all encoders", () => {
  it("are found by name", () => {
    expect(encoders.names()).toEqual(["rate", "latency", "population", "phase", "delta", "cochlea", "cochleagram"]);
    const direct = latencyEncode([[0.3]], { frameMs: 60 });
    expect(encodeSpikes([[0.3]], { encoder: "latency", frameMs: 60 })).toEqual(direct);
    expect(() => encodeSpikes([[0.3]], { encoder: "morse" } as never)).toThrow('encoder is "morse"; it takes one of rate, latency');
  });

  it("say where a pattern comes from and how strong the series varies", () => {
    // Values 0 and 1: standard deviation 0.5, strength 1.
    expect(latencyEncode([[0, 1]], { frameMs: 60 }).metadata).toEqual({
      source: "latency encoder",
      strength: 1,
      featureMean: 0.5,
      featureMinimum: 0,
      featureMaximum: 1,
    });
  });

  it("make an empty pattern of an empty series", () => {
    const nothing = rateEncode([], { frameMs: 10, seed: 1 });
    expect([nothing.spikeCount, nothing.durationMs]).toEqual([0, 0]);
  });
});

describe("bringing values to [0, 1]", () => {
  it("scales each channel by its own extremes, or those that are given", () => {
    expect(
      scaleToUnit([
        [0, 5],
        [10, 5],
        [5, 5],
      ]).toArrays(),
    ).toEqual([
      [0, 0.5],
      [1, 0.5],
      [0.5, 0.5],
    ]);
    expect(scaleToUnit([[-5], [20]], { minimum: 0, maximum: 10 }).toArrays()).toEqual([[0], [1]]);
  });

  it("squashes any number, growing with it", () => {
    expect(squashToUnit([0]).data[0]).toBe(0.5);
    // |v| = e becomes ln e + 1 = 2.
    expect(squashToUnit([Math.E]).data[0]).toBeCloseTo((Math.tanh(2) + 1) / 2, 12);
    const rising = squashToUnit([-1e6, -2, -1, 0, 0.5, 1, 3, 1e6]).data;
    expect([...rising].sort((a, b) => a - b)).toEqual([...rising]);
  });
});
