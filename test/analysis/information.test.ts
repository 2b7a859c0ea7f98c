// Information measures against Gaussians, whose mutual information and transfer entropy are known in closed form.
import { describe, expect, it } from "vitest";
import {
  digamma,
  informationFlow,
  nearestNeighbourInformation,
  nearestNeighbourTransferEntropy,
  transferEntropy,
  transferEntropyMatrix,
} from "../../src/analysis/index.js";
import { RandomStream, seedKeys } from "../../src/numerics/index.js";

const draws = new RandomStream(seedKeys("information").weights, 0);
const normals = (row: number, length: number) => Float64Array.from({ length }, (_, i) => draws.normal(row, i));

/** y(t) = 0.5 y(t-1) + 0.6 x(t-lag) + noise, x independent. */
function coupled(length: number, row: number, lag = 1): { x: Float64Array; y: Float64Array } {
  const x = normals(row, length);
  const noise = normals(row + 1, length);
  const y = new Float64Array(length);
  for (let t = 1; t < length; t++) y[t] = 0.5 * y[t - 1]! + 0.6 * (x[t - lag] ?? 0) + noise[t]!;
  return { x, y };
}
/** What x says of y beyond its past: half the log of the ratio of what is left, 1 + 0.36 against 1. In nats. */
const closedForm = 0.5 * Math.log(1.36);

describe("digamma", () => {
  it("is -gamma at 1, and grows by 1/x from x to x + 1", () => {
    expect(digamma(1)).toBeCloseTo(-0.5772156649015329, 12);
    expect(digamma(0.5)).toBeCloseTo(-1.9635100260214235, 12);
    // psi(1/2) plus 1/(1/2) + 1/(3/2) + ... + 1/(199/2).
    expect(digamma(100.5)).toBeCloseTo(4.605174352581845, 12);
    for (const x of [0.3, 2, 9.7, 50]) expect(digamma(x + 1) - digamma(x)).toBeCloseTo(1 / x, 12);
  });
});

describe("mutual information by nearest neighbours", () => {
  it.each([0, 0.5, 0.9])("of Gaussians of correlation %d is -ln(1 - r^2) / 2 within 0.02 nats", (r) => {
    const x = normals(10, 4000);
    const noise = normals(11, 4000);
    const y = x.map((value, i) => r * value + Math.sqrt(1 - r * r) * noise[i]!);
    // The correlation that the sample happens to have: it alone moves the true value by 0.014.
    const sum = (values: Float64Array) => values.reduce((a, b) => a + b, 0);
    const dot = (a: Float64Array, b: Float64Array) => sum(a.map((value, i) => value * b[i]!)) - (sum(a) * sum(b)) / 4000;
    const squared = dot(x, y) ** 2 / (dot(x, x) * dot(y, y));
    expect(Math.abs(nearestNeighbourInformation(x, y) + 0.5 * Math.log(1 - squared))).toBeLessThan(0.02);
  });

  it("does not change when a variable is stretched", () => {
    const { x, y } = coupled(300, 12, 0);
    expect(
      nearestNeighbourInformation(
        x.map((value) => 8 * value),
        y.map((value) => 8 * value),
      ),
    ).toBe(nearestNeighbourInformation(x, y));
  });

  it("takes two series of one length, longer than k", () => {
    expect(() => nearestNeighbourInformation([1, 2, 3, 4, 5], [1, 2, 3, 4])).toThrow("the length of y is 4; it takes 5, as x");
    expect(() => nearestNeighbourInformation([1], [1])).toThrow("the length of x is 1; it takes at least 4");
    expect(() => nearestNeighbourInformation([1, 2, 3, Number.NaN], [1, 2, 3, 4])).toThrow("x[3] is NaN; it takes finite numbers");
  });
});

describe("transfer entropy by nearest neighbours", () => {
  it("finds the influence in its direction, as large as in closed form, and none in the other", () => {
    const { x, y } = coupled(3000, 20);
    expect(Math.abs(nearestNeighbourTransferEntropy(x, y) - closedForm)).toBeLessThan(0.03);
    expect(Math.abs(nearestNeighbourTransferEntropy(y, x))).toBeLessThan(0.03);
  });

  it("finds it at its lag alone", () => {
    const { x, y } = coupled(2000, 22, 3);
    expect(nearestNeighbourTransferEntropy(x, y, { lag: 3 })).toBeGreaterThan(0.1);
    expect(Math.abs(nearestNeighbourTransferEntropy(x, y, { lag: 1 }))).toBeLessThan(0.04);
  });
});

describe("transfer entropy by counting", () => {
  it("of a copied bit is one bit, exactly in the limit: y(t) = x(t-1)", () => {
    const x = normals(30, 5000).map((value) => (value > 0 ? 1 : 0));
    const y = x.map((_, t) => x[t - 1] ?? 0);
    const { bits, effectiveBits, pValue } = transferEntropy(x, y, { bins: 2 });
    expect(bits).toBeCloseTo(1, 2);
    expect(effectiveBits).toBeCloseTo(1, 2);
    expect(pValue).toBe(1 / 101);
    expect(transferEntropy(y, x, { bins: 2 }).bits).toBeLessThan(0.002);
  });

  it("finds the right direction, which surrogates confirm, and nothing the other way", () => {
    const { x, y } = coupled(3000, 32);
    const forwards = transferEntropy(x, y, { bins: 8 });
    const backwards = transferEntropy(y, x, { bins: 8 });
    expect(forwards.pValue).toBeLessThan(0.02);
    expect(backwards.pValue).toBeGreaterThan(0.05);
    // Eight bins lose some of the closed form's 0.222 bits.
    expect(forwards.effectiveBits).toBeGreaterThan(0.1);
    expect(Math.abs(backwards.effectiveBits!)).toBeLessThan(3 * backwards.standardError!);
  });

  it("finds nothing once the source is shuffled", () => {
    const { x, y } = coupled(3000, 34);
    const order = Array.from(x.keys()).sort((a, b) => draws.uniform(50, a) - draws.uniform(50, b));
    expect(
      transferEntropy(
        Float64Array.from(order, (i) => x[i]!),
        y,
        { bins: 8 },
      ).pValue,
    ).toBeGreaterThan(0.05);
  });

  it("looks at the lag and the histories that it is told", () => {
    const { x, y } = coupled(3000, 36, 4);
    expect(transferEntropy(x, y, { lag: 4, bins: 6 }).pValue).toBeLessThan(0.02);
    expect(transferEntropy(x, y, { lag: 1, bins: 6 }).pValue).toBeGreaterThan(0.05);
    expect(transferEntropy(x, y, { lag: 3, sourceHistory: 2, targetHistory: 2, bins: 3 }).pValue).toBeLessThan(0.02);
  });

  it("leaves the test out where no surrogates are wanted", () => {
    const { x, y } = coupled(200, 38);
    expect(transferEntropy(x, y, { surrogates: 0 })).toMatchObject({
      effectiveBits: undefined,
      pValue: undefined,
      standardError: undefined,
    });
  });

  it("of all columns says who drives whom", () => {
    const { x, y } = coupled(2000, 40);
    const series = Array.from(x, (value, t) => [y[t]!, value]);
    const matrix = transferEntropyMatrix(series, { bins: 6, surrogates: 0 });
    expect(matrix[0]![0]).toBeUndefined();
    expect(informationFlow(matrix)).toEqual([{ from: 1, to: 0, netBits: matrix[1]![0]!.bits - matrix[0]![1]!.bits }]);
    expect(informationFlow(matrix, 10)).toEqual([]);
  });

  it("refuses series that are too short and more cells than can be counted", () => {
    expect(() => transferEntropy([1, 2], [1, 2])).toThrow("the length of source is 2; it takes at least 11");
    const { x, y } = coupled(100, 42);
    expect(() => transferEntropy(x, y, { bins: 1000, targetHistory: 6 })).toThrow("bins is 1000; it takes fewer bins or shorter histories");
  });
});
