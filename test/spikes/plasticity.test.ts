// Plasticity of spikes: the window of the pair rule, its bounds and signs, homeostasis,
// normalisation, and what is reported of it.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Matrix, portableExp, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import {
  learningStats,
  type PlasticityProfileName,
  plasticityProfile,
  plasticityProfiles,
  rateEncode,
  SpikePattern,
  SpikeTimingPlasticity,
} from "../../src/spikes/index.js";

const names = Object.keys(plasticityProfiles) as PlasticityProfileName[];
/** Nothing but the pair rule: wide bounds, no decay. */
const bare = { minWeight: 0, maxWeight: 1000, decay: 0, heterosynaptic: false, homeostatic: false };
const weightOf = (plasticity: SpikeTimingPlasticity) => (plasticity.weights as Matrix).data[0]!;

/** The change of one weight of 1 by a source spike at 100 ms and a target spike `dt` later. */
function change(dt: number, options: ConstructorParameters<typeof SpikeTimingPlasticity>[1]): number {
  const plasticity = new SpikeTimingPlasticity(new Matrix(1, 1, Float64Array.of(1)), options);
  const spike = (timeMs: number) => SpikePattern.from([{ neuron: 0, timeMs }], { durationMs: 300, neuronCount: 1 });
  plasticity.apply(spike(100), spike(100 + dt));
  return weightOf(plasticity) - 1;
}

describe("the pair rule", () => {
  it.each(names)("has the window eta exp(-|dt| / tau) of profile %s within 1e-6, with both its time constants", (name) => {
    const { learningRate, potentiationTimeConstantMs: plus, depressionTimeConstantMs: minus } = plasticityProfiles[name];
    for (let dt = -80; dt <= 80; dt += 2.5) {
      const expected = dt === 0 ? 0 : dt > 0 ? learningRate * Math.exp(-dt / plus) : -learningRate * Math.exp(dt / minus);
      expect(Math.abs(change(dt, { profile: { ...plasticityProfiles[name], ...bare } }) - expected)).toBeLessThan(1e-6);
    }
  });

  it("weakens by the ratio, and depends on the weight by mu", () => {
    // m = 1/4 of [0, 4]: strengthening by (3/4)^0.5, weakening by 2 (1/4)^0.5.
    const profile = { ...bare, maxWeight: 4, learningRate: 0.01, potentiationTimeConstantMs: 10, depressionTimeConstantMs: 20 };
    const options = { profile, weightDependence: 0.5, depressionRatio: 2 };
    expect(change(10, options)).toBeCloseTo(0.01 * Math.sqrt(0.75) * Math.exp(-1), 9);
    expect(change(-10, options)).toBeCloseTo(-0.01 * 2 * 0.5 * Math.exp(-0.5), 9);
  });

  it("adds up all pairs, or only the nearest", () => {
    const profile = { ...bare, learningRate: 0.01, potentiationTimeConstantMs: 10 };
    const run = (pairing: "allToAll" | "nearest") => {
      const plasticity = new SpikeTimingPlasticity(new Matrix(1, 1, Float64Array.of(1)), { profile, pairing });
      const spikes = (times: readonly number[]) =>
        SpikePattern.from(
          times.map((timeMs) => ({ neuron: 0, timeMs })),
          { durationMs: 50, neuronCount: 1 },
        );
      plasticity.apply(spikes([10, 20]), spikes([30]));
      return weightOf(plasticity) - 1;
    };
    expect(run("allToAll")).toBeCloseTo(0.01 * (Math.exp(-1) + Math.exp(-2)), 10);
    expect(run("nearest")).toBeCloseTo(0.01 * Math.exp(-1), 10);
  });

  it("learns the same from a pattern as from its halves", () => {
    const pattern = rateEncode([[1, 1, 1]], { frameMs: 2000, seed: 4 });
    const weights = new Matrix(3, 3, Float64Array.of(0, 1, -1, 0.5, 0, 2, -2, 1, 0));
    const whole = new SpikeTimingPlasticity(weights);
    whole.apply(pattern);
    const halves = new SpikeTimingPlasticity(weights);
    const half = (from: number) =>
      SpikePattern.from(
        [...pattern].filter(({ timeMs }) => timeMs >= from && timeMs < from + 1000).map((s) => ({ ...s, timeMs: s.timeMs - from })),
        {
          durationMs: 1000,
          neuronCount: 3,
        },
      );
    halves.apply(half(0));
    halves.apply(half(1000));
    // Times are taken apart and put together again: a rounding.
    for (const [i, w] of (whole.weights as Matrix).data.entries()) expect((halves.weights as Matrix).data[i]).toBeCloseTo(w, 9);
  });

  it("strengthens a synapse of either sign where its source leads, and never changes a sign or makes a synapse", () => {
    const weights = new Matrix(2, 3, Float64Array.of(0.5, -0.5, 0, -3, 0.01, 1));
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const plasticity = new SpikeTimingPlasticity(weights, { profile: "aggressive" });
        plasticity.apply(rateEncode([[1, 1, 1]], { frameMs: 3000, seed }), rateEncode([[1, 0.5]], { frameMs: 3000, seed: `${seed}+` }));
        const learnt = plasticity.weights as Matrix;
        expect(learnt.data.map(Math.sign)).toEqual(weights.data.map(Math.sign));
        for (const w of learnt.data) if (w !== 0) expect(Math.abs(w)).toBeLessThanOrEqual(5);
      }),
      { numRuns: 20 },
    );
    const led = new SpikeTimingPlasticity(new Matrix(1, 2, Float64Array.of(1, -1)), { profile: bare });
    led.step(10, [0, 1], []);
    led.step(15, [], [0]);
    const [excitation, inhibition] = (led.weights as Matrix).data as Float64Array;
    expect(excitation).toBeGreaterThan(1);
    expect(inhibition).toBe(-excitation!);
  });
});

describe("homeostasis and normalisation", () => {
  const silentRow = () => new Matrix(1, 4, Float64Array.of(0.2, 0.4, 0.6, -1));

  it("bring the sums of excitation and of inhibition back to what they were, whatever was learnt between", () => {
    const profile = { ...plasticityProfiles.optical, decay: 0.1 };
    const plasticity = new SpikeTimingPlasticity(silentRow(), { profile, updateMs: 500 });
    plasticity.apply(rateEncode([[1, 1, 1, 1]], { frameMs: 2000, seed: 1 }), rateEncode([[1]], { frameMs: 2000, seed: 2 }));
    const w = (plasticity.weights as Matrix).data;
    expect(w[0]! + w[1]! + w[2]!).toBeCloseTo(1.2, 12);
    expect(w[3]).toBeCloseTo(-1, 12);
    expect(Math.abs(w[0]! - 0.2)).toBeGreaterThan(0.001);
  });

  it("keep the sum where weights meet their bounds, and give up only where no sum is possible", () => {
    const profile = { ...plasticityProfiles.aggressive, decay: 0.2, minWeight: 0.3, maxWeight: 0.5 };
    const plasticity = new SpikeTimingPlasticity(silentRow(), { profile });
    plasticity.step(1000, [], []);
    const w = (plasticity.weights as Matrix).data;
    // 0.2 is lifted to 0.3 and 0.6 cut to 0.5: the third is left with 1.2 - 0.8.
    expect(w[0]! + w[1]! + w[2]!).toBeCloseTo(1.2, 12);
    expect(w[0]).toBeGreaterThanOrEqual(0.3);
    expect(w[2]).toBeLessThanOrEqual(0.5);
    expect(w[3]).toBe(-0.5);
  });

  it("scale a silent neuron's excitation up and an overactive one's down, by at most the homeostatic rate", () => {
    const profile = { ...bare, homeostatic: true, targetActivity: 0.1 };
    const silent = new SpikeTimingPlasticity(new Matrix(1, 2, Float64Array.of(1, -1)), { profile });
    silent.step(1000, [], []);
    const quiet = (silent.weights as Matrix).data;
    expect(quiet[0]).toBeCloseTo(1.05, 12);
    expect(quiet[1]).toBe(-1);
    const busy = new SpikeTimingPlasticity(new Matrix(1, 1, Float64Array.of(1)), { profile });
    // 15 spikes in a second are activity 0.15: half of the target too much.
    for (let k = 0; k < 15; k++) busy.step(k * 50, [], [0]);
    busy.step(1000, [], []);
    expect(weightOf(busy)).toBeCloseTo(1 - 0.05 * 0.5, 12);
  });

  it("lose the share of decay at each update", () => {
    const plasticity = new SpikeTimingPlasticity(new Matrix(1, 1, Float64Array.of(1)), { profile: { ...bare, decay: 0.1 } });
    plasticity.step(3000, [], []);
    expect(weightOf(plasticity)).toBeCloseTo(0.9 ** 3, 12);
  });
});

describe("a balanced network of spiking neurons that learns", () => {
  it("stays within bounds and brings its rates to the target", () => {
    const network = balancedNetwork("conservative", 30_000);
    expect(network.weights.every((w) => Number.isFinite(w) && Math.abs(w) <= 2 + 1e-12)).toBe(true);
    // Target 0.1 of 100 Hz; the last 5 s of 30.
    expect(network.rateHz).toBeGreaterThan(5);
    expect(network.rateHz).toBeLessThan(20);
  });
});

describe("learning statistics", () => {
  const profile = plasticityProfile({ minWeight: 0, maxWeight: 1 });

  it("are those of the samples", () => {
    const stats = learningStats([0.1, 0.2, 0.3, 0.4], profile, 7, [1, 2, 3]);
    expect(stats.mean).toBeCloseTo(0.25, 12);
    expect(stats.variance).toBeCloseTo(0.0125, 12);
    expect([stats.minimum, stats.maximum, stats.updates, stats.meanActivity]).toEqual([0.1, 0.4, 7, 2]);
    // Four of 20 bins, a quarter each: 2 bits.
    expect(stats.entropyBits).toBeCloseTo(2, 12);
    expect(stats.learningRate).toBe(0.005);
  });

  it("count saturation at 0.95 of the largest and 1.05 of the smallest weight", () => {
    const bounds = plasticityProfile({ minWeight: 1, maxWeight: 10 });
    const stats = learningStats([1, 1.05, 1.06, 5, 9.49, 9.5, 10, 5], bounds, 0, []);
    expect(stats.saturationPercent).toBe(50);
    expect([stats.isSaturated(49), stats.isSaturated(50)]).toEqual([true, false]);
  });

  it("lower health for saturation, for a poor distribution, and for means away from [0.5, 4]", () => {
    const spread = Array.from({ length: 100 }, (_, i) => 0.06 + i * 0.0279);
    const balanced = plasticityProfile("balanced");
    expect(learningStats(spread, balanced, 0, []).healthScore).toBe(1);
    expect(learningStats(new Array(10).fill(1.5), balanced, 0, []).healthScore).toBeCloseTo(0.8, 12);
    expect(learningStats(new Array(10).fill(0.05), balanced, 0, []).healthScore).toBeCloseTo(0.3, 12);
    // A fifth saturated, a third, and two thirds.
    for (const [count, score] of [
      [25, 0.88],
      [50, 0.8],
      [200, 0.7],
    ] as const)
      expect(learningStats([...spread, ...new Array(count).fill(3)], balanced, 0, []).healthScore).toBeCloseTo(score, 12);
  });

  it("look back on the last 1000 activities", () => {
    const activities = [...new Array(500).fill(100), ...new Array(1000).fill(1)];
    expect(learningStats([1], profile, 0, activities).meanActivity).toBe(1);
  });

  it("of no weights are defined", () => {
    expect(learningStats([], profile, 0, [])).toMatchObject({ mean: Number.NaN, saturationPercent: 0, entropyBits: 0, meanActivity: 0 });
  });

  it("say when activity has converged, and never before there is enough of it", () => {
    const plasticity = new SpikeTimingPlasticity(new Matrix(1, 1, Float64Array.of(1)), { updateMs: 10 });
    plasticity.step(25, [], []);
    expect(plasticity.hasLearningConverged(3, 1)).toBe(false);
    plasticity.step(35, [], []);
    expect(plasticity.hasLearningConverged(3, 1e-9)).toBe(true);
    plasticity.step(36, [], [0]);
    plasticity.step(41, [], []);
    expect(plasticity.hasLearningConverged(3, 1e-9)).toBe(false);
  });
});

describe("bad input", () => {
  const weights = new Matrix(2, 2, Float64Array.of(0, 1, 1, 0));
  const pattern = (neuronCount: number, durationMs = 10) => SpikePattern.from([], { durationMs, neuronCount });

  it("of options names the field", () => {
    expect(() => plasticityProfile("bold" as never)).toThrow('profile is "bold"; it takes "conservative", "balanced"');
    expect(() => plasticityProfile({ maxWeight: 0.01 })).toThrow("maxWeight is 0.01; it takes at least minWeight, 0.05");
    expect(() => new SpikeTimingPlasticity(weights, { weightDependence: 2 })).toThrow(
      "weightDependence is 2; it takes a number from 0 to 1",
    );
    expect(() => new SpikeTimingPlasticity(new Matrix(1, 1, Float64Array.of(Number.NaN)))).toThrow(
      "weight 0 is NaN; it takes finite numbers",
    );
  });

  it("of patterns says what the weights take", () => {
    const plasticity = new SpikeTimingPlasticity(weights);
    expect(() => plasticity.apply(pattern(3))).toThrow("the number of source neurons is 3; it takes 2, the weights' columns");
    expect(() => plasticity.apply(pattern(2), pattern(2, 20))).toThrow(
      "the duration of the target pattern is 20; it takes 10 ms, as the source pattern",
    );
    expect(() => plasticity.step(1, [2], [])).toThrow("the source neuron is 2; it takes a whole number from 0 to 1");
    plasticity.step(5, [], []);
    expect(() => plasticity.step(4, [], [])).toThrow("timeMs is 4; it takes a time of at least 5 ms, the last one");
  });
});

/**
 * 80 excitatory and 20 inhibitory leaky integrate-and-fire neurons (tau 20 ms, threshold 15, 1 ms
 * steps), 10 % connected, driven by noise; every synapse onto them learns. Returns the weights and
 * the mean rate over the last 5 s.
 */
function balancedNetwork(profile: PlasticityProfileName, durationMs: number): { weights: readonly number[]; rateHz: number } {
  const size = 100;
  const draws = new RandomStream(seedKeys("balanced network").weights, 0);
  const weights = Matrix.zeros(size, size);
  for (let i = 0; i < size * size; i++) {
    if (Math.floor(i / size) === i % size || draws.uniform(0, i) >= 0.1) continue;
    weights.data[i] = i % size < 80 ? 0.5 : -1.5;
  }
  const plasticity = new SpikeTimingPlasticity(weights, { profile, depressionRatio: 1.05 });
  const decay = portableExp(-1 / 20);
  const membrane = new Float64Array(size);
  let fired: number[] = [];
  let late = 0;
  let current = plasticity.weights as Matrix;
  for (let t = 0; t < durationMs; t++) {
    if (t % 100 === 0) current = plasticity.weights as Matrix;
    const next: number[] = [];
    for (let i = 0; i < size; i++) {
      let input = 1.35 * draws.uniform(1 + i, t);
      for (const j of fired) input += current.data[i * size + j]!;
      membrane[i] = membrane[i]! * decay + input;
      if (membrane[i]! < 15) continue;
      membrane[i] = 0;
      next.push(i);
    }
    plasticity.step(t, next);
    if (t >= durationMs - 5000) late += next.length;
    fired = next;
  }
  return { weights: [...(plasticity.weights as Matrix).data], rateHz: late / size / 5 };
}
