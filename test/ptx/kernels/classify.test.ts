// A classifier's kernels in the interpreter: the bits of the host, at sizes that no warp divides,
// of rows that other rows follow.
import { describe, expect, it } from "vitest";
import { type ClassSharesShape, classShares, stateStatistics } from "../../../packages/ptx/src/kernels/classify.js";
import { Matrix, TrainedReadout } from "../../../src/index.js";
import { classShares as hostShares } from "../../../src/model/classifier/class-readout.js";
import { layerNormalised } from "../../../src/model/layer-norm.js";
import { SoftmaxReadout } from "../../../src/readout/index.js";
import { casesOf } from "../../exhaustive.js";
import { plainStatistics } from "../../model/plain-statistics.js";
import { input, output } from "../device.js";
import { runKernel, uniform } from "./run.js";

const doubles = (count: number, seed: number, scale = 1): Float64Array => Float64Array.from(uniform(count, seed, scale), (x) => x / 3);

describe("statistics of states", () => {
  const [size, more, washout] = [131, 3, 2];
  // Sequence b of the launch is case places[b]; the second ends within the first chunk, the third
  // before it.
  const [lengths, indices] = [
    [9, 4, 3],
    [2, 0, 1],
  ];

  /**
   * Chunks [0, 4) and [4, 9) of states that lie `pitch` rows apart, and the rows of features after
   * each.
   */
  function run(type: "f32" | "f64", what: { last: boolean; mean: boolean }) {
    const pitch = 6 * size;
    const kept = size * (Number(what.last) + Number(what.mean));
    const columns = kept + more;
    const real = (values: Float64Array) => (type === "f32" ? Float32Array.from(values) : values);
    const states = lengths.map((length, b) => real(doubles(length * size, 10 + b)));
    const kernel = stateStatistics({ size, type, features: columns, ...what, sequences: 3 });
    const features = Float64Array.from({ length: 3 * columns }, (_, k) => (k % columns < kept ? 0 : k));
    for (const [from, to] of [
      [0, 4],
      [4, 9],
    ] as const) {
      const chunk = type === "f32" ? new Float32Array(3 * pitch).fill(Number.NaN) : new Float64Array(3 * pitch).fill(Number.NaN);
      for (const [b, x] of states.entries()) chunk.set(x.subarray(from * size, to * size), b * pitch);
      runKernel(kernel, [
        input(chunk),
        pitch,
        from,
        to,
        washout,
        input(Uint32Array.of(4, 3, 9)),
        input(Uint32Array.from(indices)),
        { changed: features },
      ]);
    }
    const expected = new Float64Array(3 * columns);
    for (let b = 0; b < 3; b++) {
      const [x, length, at] = [states[b]!, lengths[b]!, indices[b]! * columns];
      const means = new Float64Array(size);
      for (let t = washout; t < length; t++) for (let i = 0; i < size; i++) means[i] = means[i]! + x[t * size + i]!;
      if (what.last) expected.set(x.subarray((length - 1) * size, length * size), at);
      if (what.mean)
        expected.set(
          means.map((sum) => sum / (length - washout)),
          at + (what.last ? size : 0),
        );
      for (let k = kept; k < columns; k++) expected[at + k] = at + k;
    }
    return { features, expected };
  }

  it.each([
    ["f32", { last: true, mean: true }],
    ["f32", { last: false, mean: true }],
    ["f64", { last: true, mean: false }],
    ["f64", { last: true, mean: true }],
  ] as const)("of %s, %j, over two chunks", (type, what) => {
    const { features, expected } = run(type, what);
    expect(features).toEqual(expected);
  });

  it.each(
    casesOf(
      (["f32", "f64"] as const).flatMap((type) =>
        [0, 3, 4, 9].flatMap((levels) =>
          [
            [4, 9],
            [1, 2, 3, 8, 9],
          ].map((ends) => [type, levels, ends] as const),
        ),
      ),
      (_, k) => k % 5 === 0,
    ),
  )("all of them of %s by %i levels, chunks to %j, are those of plain loops", (type, levels, ends) => {
    const real = (values: Float64Array) => (type === "f32" ? Float32Array.from(values) : values);
    const columns = size * (6 + 2 * levels) + more;
    const pitch = 6 * size;
    const states = lengths.map((length, b) => real(doubles(length * size, 10 + b)));
    for (const x of states) x.fill(0.25, 3, 6);
    const heights = new Matrix(levels, size, doubles(levels * size, 5, 0.5));
    const kernel = stateStatistics({ size, type, features: columns, levels, sequences: 3 });
    const features = new Float64Array(3 * columns).fill(Number.NaN);
    ends.forEach((to, k) => {
      const from = ends[k - 1] ?? 0;
      const chunk = real(new Float64Array(3 * pitch).fill(Number.NaN));
      for (const [b, x] of states.entries()) chunk.set(x.subarray(from * size, to * size), b * pitch);
      const sizes = [input(Uint32Array.of(4, 3, 9)), input(Uint32Array.from(indices))];
      runKernel(kernel, [
        input(chunk),
        pitch,
        from,
        to,
        washout,
        ...sizes,
        { changed: features },
        ...(levels ? [input(heights.data)] : []),
      ]);
    });
    const expected = new Float64Array(3 * columns).fill(Number.NaN);
    states.forEach((x, b) => {
      const of = new Matrix(lengths[b]!, size, x).subarray(washout);
      plainStatistics(of, heights, expected.subarray(indices[b]! * columns, (indices[b]! + 1) * columns));
    });
    expect(features).toEqual(expected);
  });

  it("refuses what it does not have", () => {
    expect(() => stateStatistics({ size: 5, features: 59, levels: 3 })).toThrow(
      "features is 59; it takes at least 60, as many as statistics with 3 levels of 5 numbers",
    );
    expect(() => stateStatistics({ size: 5, features: 9 })).toThrow(
      "features is 9; it takes at least 10, as many as last and mean of 5 numbers",
    );
    expect(() => stateStatistics({ size: 5, features: 9, last: false, mean: false })).toThrow(
      "last is false; it takes true, unless mean is true",
    );
    expect(() => stateStatistics({ size: 5, features: 10, type: "f16" as "f32" })).toThrow('type is "f16"; it takes "f32" or "f64"');
  });
});

describe("shares of classes", () => {
  /** Shares by the kernel and by the host. */
  function both(shape: Omit<ClassSharesShape, "rows">, scale = 1, factor?: number) {
    const rows = 5;
    const { features, classes, transform = "plain", layerNorm = false, shares = "softmax" } = shape;
    const width = transform === "squares" ? 2 * features : features;
    const given = new Matrix(rows, features, doubles(rows * features, 1, 3));
    const [weights, intercept] = [doubles(classes * width, 2, scale), doubles(classes, 3)];
    const out = new Float64Array(rows * classes);
    const scaled = factor !== undefined;
    const kernel = classShares({ ...shape, rows, scaled });
    runKernel(kernel, [input(given.data), input(weights), input(intercept), output(out), ...(scaled ? [factor] : [])]);
    const data = {
      features: { state: transform === "squareHalf" ? "squareHalf" : "plain", input: false, squares: transform === "squares" },
      ...{ stateSize: features, inputSize: 0, weights: new Matrix(classes, width, weights), intercept },
    } as const;
    const readout = shares === "softmax" && !scaled ? new SoftmaxReadout(data) : new TrainedReadout(data);
    return { out, host: hostShares(readout, layerNorm ? layerNormalised(given) : given, factor).data };
  }

  it.each<Omit<ClassSharesShape, "rows">>([
    { features: 77, classes: 10 },
    { features: 200, classes: 3, layerNorm: true },
    { features: 1, classes: 2 },
    { features: 33, classes: 130, transform: "squareHalf" },
    { features: 40, classes: 5, transform: "squares", layerNorm: true },
    { features: 77, classes: 10, shares: "positive" },
    { features: 50, classes: 7, shares: "positive", transform: "squares" },
  ])("of %j are the host's", (shape) => {
    const { out, host } = both(shape);
    expect(out).toEqual(host);
  });

  it.each([0.37, 41.5])("of scores times %d are the calibrated ones of the host", (factor) => {
    const { out, host } = both({ features: 77, classes: 10, layerNorm: true }, 1, factor);
    expect(out).toEqual(host);
  });

  it("of scores far apart are 0 and 1, as on the host", () => {
    const { out, host } = both({ features: 20, classes: 6 }, 1e4);
    expect(out).toEqual(host);
    expect([...out].filter((share) => share === 1).length).toBeGreaterThan(0);
  });

  it("of scores that are all below 0 are 1 for the largest", () => {
    const [scores, out] = [Float64Array.of(-3, -1, -1, -2), new Float64Array(4)];
    runKernel(classShares({ features: 1, classes: 4, shares: "positive" }), [
      ...[input(Float64Array.of(0)), input(new Float64Array(4)), input(scores), output(out)],
    ]);
    expect([...out]).toEqual([0, 1, 0, 0]);
  });

  it("refuses what it does not have", () => {
    expect(() => classShares({ features: 3, classes: 0 })).toThrow("classes is 0; it takes a whole number from 1");
    expect(() => classShares({ features: 3, classes: 2, shares: "sigmoid" as "softmax" })).toThrow(
      'shares is "sigmoid"; it takes "softmax" or "positive"',
    );
  });
});
