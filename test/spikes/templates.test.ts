// Templates: learnt from examples, told apart under jitter and loss, stored, and scored in one
// fixed order.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { jitterPattern, PatternTemplates, poissonPattern, SpikePattern, thinPattern } from "../../src/spikes/index.js";

const shape = { bins: 25, channels: 40 };
const originals = Array.from({ length: 10 }, (_, i) => {
  const pattern = poissonPattern({ seed: `template ${i}`, neuronCount: 40, durationMs: 500, rateHz: 20 });
  return new SpikePattern(pattern, { durationMs: 500, neuronCount: 40, metadata: { label: `pattern ${i}` } });
});
const variant = (pattern: SpikePattern, seed: string) =>
  thinPattern(jitterPattern(pattern, { standardDeviationMs: 5, seed }), { dropProbability: 0.2, seed });

describe("templates", () => {
  it("tell ten patterns apart with 5 ms of jitter and a fifth of the spikes missing: at least 98 % of 500", () => {
    const templates = PatternTemplates.learn(originals, shape);
    let right = 0;
    for (const pattern of originals) {
      for (let k = 0; k < 50; k++) if (templates.match(variant(pattern, `test ${k}`)).label === pattern.metadata.label) right++;
    }
    expect(right / 500).toBeGreaterThanOrEqual(0.98);
  });

  it("learn the mean of the patterns of a label, in the order in which labels occur", () => {
    const spike = (timeMs: number) => SpikePattern.from([{ neuron: 0, timeMs }], { durationMs: 100, neuronCount: 1 });
    const templates = PatternTemplates.learn([spike(90), spike(10), spike(10)], { bins: 2, channels: 1, labels: ["b", "a", "b"] });
    expect(templates.labels).toEqual(["b", "a"]);
    expect(templates.vectors.toArrays()).toEqual([
      [0.5, 0.5],
      [1, 0],
    ]);
  });

  it("give no label below the threshold, and the score all the same", () => {
    const templates = new PatternTemplates(["x"], [[1, 1]], { bins: 2, channels: 1, threshold: 0.8 });
    const half = templates.matchVector(Float32Array.of(1, 0));
    expect(half.label).toBeUndefined();
    expect(half.score).toBeCloseTo(Math.SQRT1_2, 6);
    expect(templates.matchVector(Float32Array.of(2, 2))).toMatchObject({ label: "x", index: 0, score: expect.closeTo(1, 6) });
  });

  it("score a silent pattern 0", () => {
    const templates = PatternTemplates.learn(originals, shape);
    const silent = templates.match(SpikePattern.from([], { durationMs: 500, neuronCount: 40 }));
    expect(silent.label).toBeUndefined();
    expect(silent.scores).toEqual(new Float32Array(10));
  });

  it("score the cosine, within what binary32 loses", () => {
    const numbers = fc.array(fc.float({ min: -10, max: 10, noNaN: true }), { minLength: 70, maxLength: 70 });
    fc.assert(
      fc.property(numbers, numbers, (a, b) => {
        const templates = new PatternTemplates(["b"], [b], { bins: 70, channels: 1 });
        const dot = a.reduce((sum, x, i) => sum + x * b[i]!, 0);
        const length = Math.hypot(...a) * Math.hypot(...b);
        fc.pre(length > 1e-3);
        expect(Math.abs(templates.matchVector(Float32Array.from(a)).score - dot / length)).toBeLessThan(1e-5);
      }),
    );
  });

  it("score no more than 1, which rounding alone would", () => {
    for (let length = 1; length <= 60; length++) {
      const vector = Float32Array.from({ length }, (_, d) => 0.1 + 0.37 * d);
      const templates = new PatternTemplates(["same", "opposite"], [vector, vector.map((x) => -x)], { bins: length, channels: 1 });
      const { score, scores } = templates.matchVector(vector);
      expect(Math.max(score, ...scores)).toBeLessThanOrEqual(1);
      expect(Math.min(...scores)).toBeGreaterThanOrEqual(-1);
    }
  });

  it("score in the portable order: 32 partial sums, then a butterfly", () => {
    // 2^24 in partial 0, then 1 in partials 0 (lost to rounding) and 1 (kept until the butterfly
    // loses or keeps it).
    const x = new Float32Array(33);
    x.set([4096, 1]);
    x[32] = 1;
    const ones = new Float32Array(33).fill(1);
    const w = new Float32Array(33);
    w.set([4096, 1]);
    w[32] = 1;
    const templates = new PatternTemplates(["w"], [w], { bins: 33, channels: 1 });
    const dot = Math.fround(Math.fround(4096 * 4096 + 1) + 1);
    expect(templates.matchVector(x).score).toBe(Math.fround(dot / Math.fround(Math.fround(Math.sqrt(dot)) ** 2)));
    expect(templates.matchVector(ones).score).toBeCloseTo(4098 / (4096 * Math.sqrt(33)), 4);
  });

  it("come back from a file as they were", async () => {
    const folder = mkdtempSync(join(tmpdir(), "templates-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const templates = PatternTemplates.learn(originals, { ...shape, threshold: 0.6 });
    await templates.save(join(folder, "templates.safetensors"));
    const back = await PatternTemplates.load(join(folder, "templates.safetensors"));
    expect(back).toEqual(templates);
    const probe = variant(originals[3]!, "probe");
    expect(back.match(probe)).toEqual(templates.match(probe));
  });

  it("say what is wrong with bytes that are something else", () => {
    expect(() => PatternTemplates.decode(new Uint8Array(4), { source: "x.safetensors" })).toThrow("x.safetensors: ");
  });

  it.each([
    [() => PatternTemplates.learn([], shape), "the number of patterns is 0; it takes at least 1"],
    [
      () => PatternTemplates.learn([poissonPattern({ seed: 1 })], { bins: 2, channels: 60 }),
      "channels is 60; it takes a whole number from 1 to 50",
    ],
    [() => PatternTemplates.learn(originals, { ...shape, labels: ["a"] }), "the number of labels is 1; it takes 10, one a pattern"],
    [
      () => new PatternTemplates(["a"], [[1, 2, 3]], { bins: 2, channels: 1 }),
      "the length of a template is 3; it takes 2, bins x channels",
    ],
    [
      () => new PatternTemplates(["a"], [[1, Number.NaN]], { bins: 2, channels: 1 }),
      "a value of template 0 is NaN; it takes finite binary32 numbers",
    ],
    [
      () => new PatternTemplates(["a"], [[1, 2]], { bins: 2, channels: 1 }).matchVector(new Float32Array(3)),
      "the length of the vector is 3; it takes 2",
    ],
  ])("refuse what does not fit: %s", (make, sentence) => {
    expect(make).toThrow(sentence);
  });
});
