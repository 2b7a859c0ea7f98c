// Templates on a device: the scores and the answers of PatternTemplates.
import { afterAll, describe, expect, it } from "vitest";
import { Matrix, RandomStream, seedKeys } from "../../../packages/numerics/src/index.js";
import { DeviceSpikePattern, DeviceSpikePatterns, DeviceTemplates } from "../../../src/spikes/gpu/index.js";
import { detectionKernel } from "../../../src/spikes/gpu/kernels.js";
import { jitterPattern, PatternTemplates, poissonPattern, SpikePattern, thinPattern } from "../../../src/spikes/index.js";
import { openTestDevice, size } from "../../gpu/device/device.js";

const context = openTestDevice();
afterAll(() => context.dispose());

function vectorsOf(rows: number, cols: number, seed: number): Matrix<Float32Array> {
  const draws = new RandomStream(seedKeys(seed).weights, 80);
  return new Matrix(
    rows,
    cols,
    Float32Array.from({ length: rows * cols }, (_, i) => 2 * draws.uniform(0, i) - 1),
  );
}

const labels = (count: number) => Array.from({ length: count }, (_, p) => `template ${p}`);

describe("DeviceTemplates", () => {
  it.each([
    [1, 1],
    [5, 31],
    [3, 32],
    [40, 100],
    [7, 1100],
  ])("scores vectors as PatternTemplates does: %i templates of %i numbers", async (count, length) => {
    const templates = new PatternTemplates(labels(count), vectorsOf(count, length, 1), { bins: 1, channels: length, threshold: 0.1 });
    const vectors = vectorsOf(3, length, 2);
    vectors.row(1).fill(0);
    vectors.row(2).set(templates.vectors.row(count - 1));
    using there = new DeviceTemplates(context, templates);
    expect(await there.matchVectors(vectors)).toEqual([0, 1, 2].map((b) => templates.matchVector(vectors.row(b))));
  });

  it("honours the threshold to the last bit", async () => {
    const templates = vectorsOf(4, 50, 3);
    const vector = vectorsOf(1, 50, 4);
    const { score } = new PatternTemplates(labels(4), templates, { bins: 1, channels: 50, threshold: -1 }).matchVector(vector.row(0));
    const labelAt = async (threshold: number) => {
      const some = new PatternTemplates(labels(4), templates, { bins: 1, channels: 50, threshold });
      using there = new DeviceTemplates(context, some);
      const [match] = await there.matchVectors(vector);
      expect(match).toEqual(some.matchVector(vector.row(0)));
      return match!.label;
    };
    expect(await labelAt(score)).toBeDefined();
    expect(await labelAt(score + 1e-12)).toBeUndefined();
  });

  it("gives the first of equals, and goes by the rules of the host where a vector holds a NaN", async () => {
    const templates = new PatternTemplates(
      labels(70),
      new Matrix(
        70,
        4,
        Float32Array.from({ length: 280 }, (_, i) => ((i / 4) % 3 < 1 ? 1 : -1)),
      ),
      {
        bins: 1,
        channels: 4,
      },
    );
    const vectors = new Matrix(2, 4, Float32Array.of(1, 2, 3, 4, Number.NaN, 1, 1, 1));
    using there = new DeviceTemplates(context, templates);
    expect(await there.matchVectors(vectors)).toEqual([0, 1].map((b) => templates.matchVector(vectors.row(b))));
  });

  it("gives dot products where asked, with a threshold of their own", async () => {
    const templates = new PatternTemplates(
      ["a", "b"],
      [
        [1, 2, 3],
        [10, 0, -1],
      ],
      { bins: 1, channels: 3 },
    );
    using there = new DeviceTemplates(context, templates, { score: "dot", threshold: 12 });
    const [first, second] = await there.matchVectors(new Matrix(2, 3, Float32Array.of(1, 1, 3, 0, 2, 0)));
    expect(first).toEqual({ label: "a", index: 0, score: 12, scores: Float32Array.of(12, 7) });
    expect(second).toEqual({ label: undefined, index: 0, score: 4, scores: Float32Array.of(4, 0) });
  });

  it("gives the same scores in blocks of any size", () => {
    const [count, length] = [37, 70];
    const templates = new PatternTemplates(labels(count), vectorsOf(count, length, 5), { bins: 1, channels: length });
    const vector = vectorsOf(1, length, 6);
    const { scores, index } = templates.matchVector(vector.row(0));
    const [scoring, choosing] = [detectionKernel(context, "scores"), detectionKernel(context, "best")];
    using x = context.upload(vector.data);
    using w = context.upload(templates.vectors.data as Float32Array<ArrayBuffer>);
    using stream = context.stream();
    for (const block of [32, 33, 96, 250, 1024]) {
      using out = context.zeros("f32", count);
      using best = context.zeros("i32", 1);
      using matches = context.zeros("i32", 1);
      stream.launch(scoring, { grid: 3, block }, x, w, 1, count, length, 1, out);
      stream.launch(choosing, { grid: 1, block: block === 32 ? 1 : block }, out, count, -1, best, matches);
      stream.sync();
      expect(context.read(out), `blocks of ${block}`).toEqual(scores);
      expect([...context.read(best), ...context.read(matches)]).toEqual([index, index]);
    }
  });

  it("tells 10 jittered patterns apart with the answers of the host", async () => {
    const originals = Array.from({ length: 10 }, (_, k) =>
      poissonPattern({ seed: `template ${k}`, neuronCount: 40, durationMs: 500, rateHz: 20 }),
    );
    const templates = PatternTemplates.learn(originals, { bins: 25, channels: 40, labels: labels(10) });
    using there = new DeviceTemplates(context, templates);
    let right = 0;
    const rounds = size(50, 3, 5);
    for (let round = 0; round < rounds; round++) {
      for (const [k, original] of originals.entries()) {
        const seed = `test ${round}`;
        const noisy = thinPattern(jitterPattern(original, { standardDeviationMs: 5, seed }), { dropProbability: 0.2, seed });
        const match = await there.match(noisy);
        expect(match).toEqual(templates.match(noisy));
        if (match.label === `template ${k}`) right++;
      }
    }
    expect(right / (10 * rounds)).toBeGreaterThanOrEqual(0.98);
  });

  it("matches spikes that are on the device", async () => {
    const pattern = new SpikePattern({ times: [1, 2, 7], neurons: [0, 1, 0] }, { durationMs: 10, neuronCount: 2 });
    const templates = PatternTemplates.learn([pattern], { bins: 2, channels: 2, labels: ["itself"] });
    using there = new DeviceTemplates(context, templates);
    using spikes = DeviceSpikePattern.upload(context, pattern);
    expect(await there.match(spikes)).toMatchObject({ label: "itself", index: 0, score: 1 });
  });

  it("matches many patterns at once as it matches each", async () => {
    const patterns = [1, 2, 3].map((seed) => poissonPattern({ seed, neuronCount: 4, durationMs: 20, rateHz: 100 }));
    const templates = PatternTemplates.learn(patterns, { bins: 5, channels: 2, labels: labels(3) });
    using there = new DeviceTemplates(context, templates);
    using spikes = DeviceSpikePatterns.upload(context, patterns);
    const expected = patterns.map((pattern) => templates.match(pattern));
    expect(await there.matchAll(spikes)).toEqual(expected);
    expect(await there.matchAll(patterns)).toEqual(expected);
  });

  it("scores a pattern without spikes 0, as the host does", async () => {
    const pattern = new SpikePattern({ times: [1], neurons: [0] }, { durationMs: 10, neuronCount: 1 });
    const silent = new SpikePattern({ times: [], neurons: [] }, { durationMs: 10, neuronCount: 1 });
    for (const [threshold, label] of [
      [0.5, undefined],
      [0, "itself"],
    ] as const) {
      const templates = PatternTemplates.learn([pattern], { bins: 1, channels: 1, labels: ["itself"], threshold });
      using there = new DeviceTemplates(context, templates);
      expect(await there.match(silent)).toEqual(templates.match(silent));
      expect(await there.match(silent)).toMatchObject({ label, index: 0, score: 0 });
    }
  });

  it("refuses vectors of another length, and kinds of score that there are not", async () => {
    const templates = new PatternTemplates(["a"], [[1, 2, 3]], { bins: 1, channels: 3 });
    using there = new DeviceTemplates(context, templates);
    await expect(there.matchVectors(new Matrix(1, 4, new Float32Array(4)))).rejects.toThrow("the length of the vectors is 4; it takes 3");
    using four = context.zeros("f32", 4);
    await expect(there.matchVectors(four)).rejects.toThrow("the length of the vectors is 4; it takes a multiple of 3");
    expect(() => new DeviceTemplates(context, templates, { score: "angle" as "dot" })).toThrow('it takes "cosine" or "dot"');
    expect(await there.matchVectors(context.zeros("f32", 0))).toEqual([]);
  });
});
