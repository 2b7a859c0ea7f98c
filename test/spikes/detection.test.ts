// The eight types: each scores higher on its own kind than on Poisson noise of the same rate, and
// the detector reports what happened.
import { describe, expect, it } from "vitest";
import {
  CircuitOpenError,
  PatternDetector,
  type PatternType,
  patternMeasures,
  patternTypes,
  poissonPattern,
  receiverOperatingCurve,
  SpikePattern,
  spikeRate,
} from "../../src/spikes/index.js";
import { casesOf, exhaustive } from "../exhaustive.js";

/** Thresholds were chosen on other seeds than these. */
const seeds = (count: number) => Array.from({ length: count }, (_, i) => `test ${i}`);
const sizes = [
  { neuronCount: 50, durationMs: 1000, rateHz: 20 },
  { neuronCount: 100, durationMs: 1000, rateHz: 10 },
] as const;

const noises = new Map<string, SpikePattern>();
/** Poisson noise, made once for all types. */
function noise(size: { neuronCount: number; durationMs: number; rateHz: number }, seed: string): SpikePattern {
  const key = JSON.stringify([size, seed]);
  const pattern = noises.get(key) ?? poissonPattern({ seed, ...size });
  noises.set(key, pattern);
  return pattern;
}

describe.each(patternTypes)("%s patterns", (type) => {
  const { score, generate, threshold } = patternMeasures[type];

  it.each(casesOf(sizes, ({ neuronCount }) => neuronCount === 50))(
    "are told from Poisson noise of the same rate, with an area of at least 0.95: %o",
    (size) => {
      const positives = seeds(25).map((seed) => score(generate({ seed, ...size })).score);
      const negatives = seeds(40).map((seed) => score(noise(size, seed)).score);
      expect(receiverOperatingCurve(positives, negatives).areaUnderCurve).toBeGreaterThanOrEqual(0.95);
      for (const value of [...positives, ...negatives]) {
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
      }
    },
  );

  it.runIf(exhaustive || type === patternTypes[0])(
    "raise at most 2 % false alarms at the default threshold, in Poisson noise of many rates and sizes",
    () => {
      const others = [
        ...sizes,
        { neuronCount: 5, durationMs: 1000, rateHz: 40 },
        { neuronCount: 100, durationMs: 500, rateHz: 1 },
        { neuronCount: 2, durationMs: 3000, rateHz: 8 },
        { neuronCount: 200, durationMs: 100, rateHz: 20 },
      ];
      const alarms = others.flatMap((size) => seeds(40).map((seed) => score(noise(size, seed)).score >= threshold));
      expect(alarms.filter((alarm) => alarm).length / alarms.length).toBeLessThanOrEqual(0.02);
    },
  );

  it("are generated at the rate that is asked for, the same for the same seed", () => {
    const rates = seeds(20).map((seed) => spikeRate(generate({ seed, rateHz: 20 })) / 50);
    expect(rates.reduce((a, b) => a + b, 0) / rates.length).toBeCloseTo(20, -1);
    expect(generate({ seed: 1 })).toEqual(generate({ seed: 1 }));
    expect(generate({ seed: 1 }).times).not.toEqual(generate({ seed: 2 }).times);
    expect(generate({ seed: 1 }).metadata.label).toBe(type);
  });

  it("have a score of 0 where there is nothing to tell by", () => {
    expect(score(SpikePattern.from([], { durationMs: 100, neuronCount: 10 })).score).toBe(0);
    expect(score(SpikePattern.from([{ neuron: 0, timeMs: 1 }], { durationMs: 100, neuronCount: 1 })).score).toBe(0);
  });
});

describe("measures", () => {
  const every = (neuronCount: number, times: (neuron: number) => readonly number[], durationMs = 1000) =>
    SpikePattern.from(Array.from({ length: neuronCount }, (_, neuron) => times(neuron).map((timeMs) => ({ neuron, timeMs }))).flat(), {
      durationMs,
      neuronCount,
    });
  const grid = (step: number, phase = 0) => Array.from({ length: Math.floor((999 - phase) / step) + 1 }, (_, k) => phase + k * step);

  it("give perfect synchrony 1", () => {
    expect(patternMeasures.synchronous.score(every(20, () => [3, 150, 333, 801])).score).toBeCloseTo(1, 9);
  });

  it("give a perfect rhythm nearly 1, at its frequency, whatever each neuron's phase", () => {
    const { score, frequencyHz } = patternMeasures.rhythmic.score(every(20, (n) => grid(50, (n * 37) % 50)));
    expect(score).toBeGreaterThan(0.98);
    expect(frequencyHz).toBe(20);
  });

  it("take no rhythm from the ends of a long, dense and even pattern", () => {
    const dense = poissonPattern({ seed: 1, neuronCount: 100, rateHz: 100 });
    expect(patternMeasures.rhythmic.score(dense).score).toBe(0);
  });

  it("find direction, frequency and wave number of a sweep", () => {
    // Twice across 40 neurons in 1000 ms, upwards; then downwards.
    const up = patternMeasures.travelling.score(every(40, (n) => [12.5 * n, 500 + 12.5 * n]));
    expect(up.frequencyHz).toBe(2);
    expect(up.waveNumber).toBe(1);
    expect(up.score).toBeGreaterThan(0.8);
    expect(patternMeasures.travelling.score(every(40, (n) => [487.5 - 12.5 * n, 987.5 - 12.5 * n])).waveNumber).toBe(-1);
  });

  it("tell a standing wave from a travelling one", () => {
    const standing = patternMeasures.standing.generate({ seed: 1 });
    const travelling = patternMeasures.travelling.generate({ seed: 1 });
    expect(patternMeasures.standing.score(standing).frequencyHz).toBe(8);
    expect(patternMeasures.standing.score(travelling).score).toBeLessThan(patternMeasures.standing.threshold);
    expect(patternMeasures.travelling.score(standing).score).toBeLessThan(0.2);
  });

  it("give rhythm no chaos: what is linear does not count", () => {
    expect(patternMeasures.chaotic.score(patternMeasures.rhythmic.generate({ seed: 1 })).score).toBeLessThan(
      patternMeasures.chaotic.threshold,
    );
    const alternating = every(30, (n) => Array.from({ length: 20 }, (_, k) => n / 3 + 40 * k + (k % 2) * 15));
    expect(patternMeasures.chaotic.score(alternating).score).toBe(0);
  });

  it("give one neuron that fires alone a sparseness near 1, and neurons that fire alike 0", () => {
    expect(patternMeasures.sparse.score(every(50, (n) => (n === 7 ? grid(1) : []))).score).toBeGreaterThan(0.99);
    expect(patternMeasures.sparse.score(every(50, () => grid(50))).score).toBe(0);
  });

  it("count a spike as bursting from three in a row on", () => {
    const threes = every(10, (n) => [100, 105, 110, 500, 505, 510, 900].map((t) => t + n));
    const twos = every(10, (n) => [100, 105, 300, 305, 500, 505, 900].map((t) => t + n));
    expect(patternMeasures.burst.score(threes).score).toBeGreaterThan(0.5);
    expect(patternMeasures.burst.score(twos).score).toBe(0);
  });
});

describe("the detector", () => {
  const quiet = { oscillators: false } as const;

  it("finds each type in a pattern of it", () => {
    const detector = new PatternDetector(quiet);
    for (const type of patternTypes) {
      const { detections } = detector.detect(patternMeasures[type].generate({ seed: "one" }));
      expect(detections.map((found) => found.type)).toContain(type);
    }
  });

  it("finds nothing in noise, on its first call as on any later one", () => {
    const detector = new PatternDetector();
    for (const seed of seeds(5)) {
      const { detections, scores, coherence } = detector.detect(poissonPattern({ seed }));
      expect(detections).toEqual([]);
      expect(Object.keys(scores)).toEqual([...patternTypes]);
      expect(coherence).toBeLessThan(0.5);
    }
  });

  it("scores a pattern the same whatever came before", () => {
    const detector = new PatternDetector();
    const pattern = poissonPattern({ seed: 9 });
    const { latencyMs, ...first } = detector.detect(pattern);
    detector.detect(patternMeasures.synchronous.generate({ seed: 1 }));
    expect(detector.detect(pattern)).toMatchObject(first);
    expect(latencyMs).toBeGreaterThanOrEqual(0);
  });

  it("has a more coherent bank for synchronous input than for noise", () => {
    const detector = new PatternDetector({ types: [] });
    const free = detector.detect(poissonPattern({ seed: 1 })).coherence!;
    expect(detector.detect(patternMeasures.synchronous.generate({ seed: 1 })).coherence!).toBeGreaterThan(free + 0.1);
  });

  it("looks for the types it is asked for, at the thresholds it is given, the strongest first", () => {
    const pattern = patternMeasures.burst.generate({ seed: 3 });
    expect(Object.keys(new PatternDetector({ ...quiet, types: ["burst"] }).detect(pattern).scores)).toEqual(["burst"]);
    const strict = new PatternDetector({ ...quiet, types: ["travelling"], thresholds: { travelling: 0.9 } });
    expect(strict.detect(patternMeasures.travelling.generate({ seed: 3 })).detections).toEqual([]);
    const strengths = new PatternDetector(quiet)
      .detect(patternMeasures.synchronous.generate({ seed: 3 }))
      .detections.map(({ strength }) => strength);
    expect(strengths).toEqual([...strengths].sort((a, b) => b - a));
  });

  it("gives patterns below the smallest duration no type", () => {
    const short = SpikePattern.from(
      Array.from({ length: 50 }, (_, neuron) => ({ neuron, timeMs: 1 })),
      { durationMs: 9, neuronCount: 50 },
    );
    expect(new PatternDetector().detect(short).detections).toEqual([]);
  });

  it("counts what happened, false alarms where the truth is known", () => {
    let time = 0;
    const now = () => time++;
    const detector = new PatternDetector({ ...quiet, types: ["burst", "sparse"], circuitBreaker: { now } });
    expect(detector.statistics).toMatchObject({
      patterns: 0,
      detectionRate: undefined,
      falsePositiveRate: undefined,
      latencyMs: undefined,
    });
    const burst = patternMeasures.burst.generate({ seed: 1 });
    const { strength } = detector.detect(burst, ["burst"]).detections[0]!;
    detector.detect(burst, ["sparse"]);
    detector.detect(poissonPattern({ seed: 1 }), []);
    detector.detect(poissonPattern({ seed: 2 }));
    expect(() => detector.detect(SpikePattern.from([], { durationMs: 100, neuronCount: 1 }))).toThrow(
      "the number of spikes is 0; it takes at least one",
    );
    const { types, latencyMs, ...rest } = detector.statistics;
    expect(rest).toEqual({ patterns: 4, failures: 1, refused: 0, detectionRate: 0.5, falsePositiveRate: 0.5 });
    expect(types.burst).toEqual({ count: 2, meanStrength: strength });
    expect(types.sparse).toEqual({ count: 0, meanStrength: 0 });
    // The clock ticks once a reading.
    expect(latencyMs!.minimum).toBeGreaterThan(0);
    expect(latencyMs!.maximum).toBeGreaterThanOrEqual(latencyMs!.mean);
    detector.reset();
    expect(detector.statistics.patterns).toBe(0);
  });

  it("pauses after ten failures in a row, and is whole again after five successes on probation", () => {
    let time = 0;
    const detector = new PatternDetector({ ...quiet, circuitBreaker: { now: () => time } });
    const empty = SpikePattern.from([], { durationMs: 100, neuronCount: 1 });
    const full = poissonPattern({ seed: 1 });
    for (let i = 0; i < 10; i++) expect(() => detector.detect(empty)).toThrow("the number of spikes is 0");
    expect(detector.circuitState).toBe("open");
    time = 999;
    expect(() => detector.detect(full)).toThrow(CircuitOpenError);
    expect(() => detector.detect(full)).toThrow("detection is paused after 10 failures in a row; it takes calls again in 1 ms");
    time = 1000;
    expect(detector.circuitState).toBe("halfOpen");
    for (let i = 0; i < 4; i++) detector.detect(full);
    expect(detector.circuitState).toBe("halfOpen");
    detector.detect(full);
    expect(detector.circuitState).toBe("closed");
    expect(detector.statistics).toMatchObject({ patterns: 5, failures: 10, refused: 2 });
  });

  it("opens again at the first failure on probation", () => {
    let time = 0;
    const detector = new PatternDetector({ ...quiet, circuitBreaker: { now: () => time, failureThreshold: 1 } });
    const empty = SpikePattern.from([], { durationMs: 100, neuronCount: 1 });
    expect(() => detector.detect(empty)).toThrow("the number of spikes");
    time = 1500;
    expect(() => detector.detect(empty)).toThrow("the number of spikes");
    expect(detector.circuitState).toBe("open");
    time = 2000;
    expect(() => detector.detect(empty)).toThrow(CircuitOpenError);
  });

  it("moves thresholds only where it is told to, and never below the defaults", () => {
    const weak = patternMeasures.travelling.generate({ seed: 1, durationMs: 300 });
    const strong = patternMeasures.rhythmic.generate({ seed: 1 });
    const fixed = new PatternDetector({ ...quiet, types: ["travelling", "rhythmic"] });
    fixed.detect(weak);
    expect(fixed.threshold("travelling")).toBe(patternMeasures.travelling.threshold);
    const moving = new PatternDetector({ ...quiet, types: ["travelling", "rhythmic"], adaptive: true });
    expect(moving.detect(weak).detections[0]!.strength).toBeLessThan(0.5);
    expect(moving.threshold("travelling")).toBeCloseTo(1.01 * patternMeasures.travelling.threshold, 12);
    for (let i = 0; i < 30; i++) moving.detect(strong);
    expect(moving.threshold("travelling")).toBe(patternMeasures.travelling.threshold);
  });

  it("refuses types that there are not and thresholds out of range", () => {
    expect(() => new PatternDetector({ types: ["wild" as PatternType] })).toThrow('types[0] is "wild"; it takes "synchronous"');
    expect(() => new PatternDetector({ thresholds: { burst: 0 } })).toThrow(
      "thresholds.burst is 0; it takes a number above 0 and at most 1",
    );
    expect(() => new PatternDetector({ thresholds: { burst: 1.5 } })).toThrow("thresholds.burst is 1.5");
  });
});

describe("the receiver-operating curve", () => {
  it("has the area that counting pairs gives, ties as halves", () => {
    // Pairs (3,2) (3,1) (2,1) rank right, (2,2) is a tie: 3.5 of 4.
    expect(receiverOperatingCurve([3, 2], [2, 1]).areaUnderCurve).toBe(0.875);
    expect(receiverOperatingCurve([1], [0]).areaUnderCurve).toBe(1);
    expect(receiverOperatingCurve([0, 0], [0, 0]).areaUnderCurve).toBe(0.5);
  });

  it("goes from nothing to everything by falling threshold", () => {
    expect(receiverOperatingCurve([3, 2], [2, 1]).points).toEqual([
      { threshold: Infinity, hitRate: 0, falseAlarmRate: 0 },
      { threshold: 3, hitRate: 0.5, falseAlarmRate: 0 },
      { threshold: 2, hitRate: 1, falseAlarmRate: 0.5 },
      { threshold: 1, hitRate: 1, falseAlarmRate: 1 },
    ]);
    expect(() => receiverOperatingCurve([], [1])).toThrow("the number of positives is 0; it takes at least 1");
    expect(() => receiverOperatingCurve([1], [Number.NaN])).toThrow("score 0 of negatives is NaN; it takes a number");
  });
});
