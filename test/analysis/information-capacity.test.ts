// Capacities that are known exactly: of states that are polynomials of the input, and of
// reservoirs whose symmetry leaves none. The chi-squared quantiles are SciPy's.
import { describe, expect, it } from "vitest";
import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { basisOf } from "../../src/analysis/capacity/basis.js";
import { evaluatePolynomials, recurrences } from "../../src/analysis/capacity/polynomials.js";
import { TargetSums } from "../../src/analysis/capacity/products.js";
import { targetCount, targetsOf, termsOf } from "../../src/analysis/capacity/targets.js";
import { chiSquaredAbove } from "../../src/analysis/chi-squared.js";
import { informationCapacity, singularValues } from "../../src/analysis/index.js";
import { delayLine } from "./delay-line.js";

const draws = new RandomStream(seedKeys("capacity").weights, 0);
const uniform = (row: number, length: number) => Float64Array.from({ length }, (_, t) => 2 * draws.uniform(row, t) - 1);

describe("information processing capacity", () => {
  it("of a delay line is 1 at degree 1 for each delay it holds, and 0 elsewhere", async () => {
    await using line = await delayLine(8);
    const { total, rank, byDegree, capacities } = await informationCapacity(line, {
      degrees: [
        [1, 30],
        [2, 12],
        [3, 6],
      ],
      length: 5000,
    });
    expect(rank).toBe(8);
    expect(total).toBeCloseTo(8, 2);
    expect(capacities.length).toBe(8);
    byDegree[0]!.byDelay.forEach((capacity, delay) => {
      expect(capacity).toBeCloseTo(delay < 8 ? 1 : 0, 3);
    });
    expect(byDegree.map(({ capacity }) => Math.round(capacity))).toEqual([8, 0, 0]);
  });

  it.each(["chiSquared", "surrogate"] as const)(
    "of a linear reservoir lies at degree 1 alone, and fills the rank (%s)",
    async (threshold) => {
      const config = {
        size: 12,
        connectionProbability: 1,
        spectralRadius: 0.8,
        leakRate: 1,
        activation: "identity",
        precision: "float64",
      } as const;
      const degrees = [
        [1, 60],
        [2, 8],
        [3, 5],
      ] as const;
      const { total, rank, byDegree } = await informationCapacity(config, { degrees, length: 8000, threshold });
      expect(rank).toBe(12);
      // What is missing lies below the threshold, in delays of which little is left.
      expect(total).toBeGreaterThan(11.9);
      expect(total).toBeLessThan(12.05);
      expect(byDegree.slice(1).map(({ capacity }) => capacity)).toEqual([0, 0]);
    },
  );

  it("of tanh units has no even degree without a bias, and one with it", async () => {
    const config = { size: 20, spectralRadius: 0.6, leakRate: 1, inputScaling: 1, precision: "float64" } as const;
    const options = {
      degrees: [
        [1, 20],
        [2, 10],
        [3, 6],
      ],
      length: 8000,
    } as const;
    const odd = await informationCapacity(config, options);
    const both = await informationCapacity({ ...config, bias: 0.8 }, options);
    expect(odd.byDegree[1]!.counted).toBe(0);
    expect(odd.byDegree[2]!.capacity).toBeGreaterThan(1);
    expect(both.byDegree[1]!.capacity).toBeGreaterThan(1);
  });

  it("measures the input that it is given, with polynomials of its own law", async () => {
    await using line = await delayLine(4);
    // Skewed: Legendre's polynomials of different degrees would correlate.
    const inputs = Matrix.from(Array.from(uniform(3, 4200), (value) => [value * value * value + 0.2 * value * value]));
    const options = {
      inputs,
      degrees: [
        [1, 10],
        [2, 6],
      ],
      washout: 200,
    } as const;
    const { total, byDegree } = await informationCapacity(line, { ...options, polynomials: "sample" });
    expect(total).toBeCloseTo(4, 2);
    expect(byDegree[1]!.capacity).toBe(0);
    await expect(informationCapacity(line, { ...options, amplitude: 0.5 })).rejects.toThrow(
      /^inputs\[\d+\] is .*; it takes values from -0\.5 to 0\.5, the amplitude/,
    );
  });

  it("of normal inputs takes Hermite's polynomials", async () => {
    await using line = await delayLine(4);
    const { total, byDegree } = await informationCapacity(line, {
      polynomials: "hermite",
      degrees: [
        [1, 10],
        [2, 6],
      ],
      length: 4000,
    });
    expect(total).toBeCloseTo(4, 2);
    expect(byDegree[1]!.capacity).toBe(0);
  });

  it("of a reservoir that does not hear its input is 0, and so is the rank", async () => {
    const { total, rank } = await informationCapacity({ size: 5, inputScaling: 0 }, { length: 500 });
    expect([total, rank]).toEqual([0, 0]);
  });

  it("stops on request, and counts rows as it goes", async () => {
    const controller = new AbortController();
    const reported: number[] = [];
    const onProgress = (done: number, total: number) => {
      reported.push(done, total);
      controller.abort();
    };
    const work = informationCapacity({ size: 10 }, { signal: controller.signal, onProgress, length: 50_000 });
    await expect(work).rejects.toThrow(/stopped after \d+ of 50000/);
    expect(reported[1]).toBe(50_000);
  });

  it("refuses more inputs than one, a short washout, and more targets than memory and time are for", async () => {
    await expect(informationCapacity({ size: 5, inputSize: 2 })).rejects.toThrow("inputSize is 2; it takes 1");
    await expect(informationCapacity({ size: 5 }, { washout: 10 })).rejects.toThrow(
      "washout is 10; it takes a whole number of at least 200",
    );
    await expect(informationCapacity({ size: 5 }, { degrees: [[4, 200]] })).rejects.toThrow(
      "the number of targets is 70058751; it takes at most 2000000: give shorter delays",
    );
    await expect(informationCapacity({ size: 5 }, { degrees: [[0, 1]] })).rejects.toThrow("degrees[0][0] is 0");
    const twice = { degrees: [[1, 9], [2, 3], [1, 5]] } as const; // biome-ignore format: pairs
    await expect(informationCapacity({ size: 5 }, twice)).rejects.toThrow("degrees has 1 twice; its targets would count twice");
  });
});

describe("sums of products", () => {
  it("are of 32 bits of a state and 21 of a target, so that no product is rounded", () => {
    const targets = { count: 1, first: Uint32Array.of(0, 1), termDegrees: Uint8Array.of(1), termDelays: Uint32Array.of(0) };
    const [x, z] = [1 + 2 ** -31, -(1 + 2 ** -20)];
    // Behind the bits that are kept, and a first row of states that is taken away.
    const values = [Float64Array.of(1, 1, 1), Float64Array.of(5, z - 2 ** -21, 2 ** -480)];
    const sums = new TargetSums(1, [{ targets, values, offset: 0 }]);
    for (const _ of sums.add(Matrix.from([[0], [x + 2 ** -32], [3]])));
    const { squares, product } = sums.finish();
    expect(squares[0]).toBe(25 + z * z);
    // The mean is that of the states with all their bits.
    const mean = (x + 2 ** -32 + 3) / 3;
    expect(product(0, new Float64Array(1))[0]).toBeCloseTo(x * z - mean * (5 + z), 13);
    expect(product(0, new Float64Array(1))[0]).not.toBeCloseTo((x + 2 ** -32) * (z - 2 ** -21) - mean * (5 + z - 2 ** -21), 8);
    sums.dispose();
  });
});

describe("capacities of states that are polynomials of the input", () => {
  it("are 1 each, at degree 2, 2 and 3, and add up to the rank", () => {
    const rows = 3000;
    const lags = 4;
    const u = uniform(1, rows + lags);
    const values = evaluatePolynomials(recurrences("legendre", 3, u), u);
    const targets = targetsOf([
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
    const states = Matrix.zeros(rows, 3);
    for (let t = 0; t < rows; t++) {
      const at = t + lags;
      states.row(t).set([values[2]![at]!, u[at]! * u[at - 1]!, values[3]![at - 2]!]);
    }
    const sums = new TargetSums(3, [{ targets, values, offset: lags }]);
    for (let from = 0; from < rows; from += 1024) for (const _ of sums.add(states.subarray(from, Math.min(rows, from + 1024)))) void _;
    const { triangle, squares: own, product: productOf } = sums.finish();
    const basis = basisOf(triangle, 1e-8);
    expect(basis.values.length).toBe(3);
    const product = new Float64Array(3);
    const found: [string, number][] = [];
    for (let j = 0; j < targets.count; j++) {
      productOf(j, product);
      let squares = 0;
      for (let k = 0; k < 3; k++) {
        const direction = basis.vectors.row(k);
        squares += (product.reduce((sum, value, i) => sum + value * direction[i]!, 0) / basis.values[k]!) ** 2;
      }
      const capacity = squares / own[j]!;
      if (capacity > 0.1) found.push([JSON.stringify(termsOf(targets, j)), capacity]);
    }
    expect(found.map(([terms]) => terms).sort()).toEqual(["[[1,1],[1,0]]", "[[2,0]]", "[[3,2]]"]);
    for (const [, capacity] of found) expect(capacity).toBeGreaterThan(0.999);
  });
});

describe("the parts of the measure", () => {
  it("are as many targets as there are monomials (45,451 of degree 2 to delay 300)", () => {
    expect([targetCount(1, 2000), targetCount(2, 300), targetCount(3, 50), targetCount(4, 30), targetCount(5, 15)]).toEqual([
      2001, 45_451, 23_426, 46_376, 15_504,
    ]);
    const targets = targetsOf([[4, 6]]);
    const all = new Set(Array.from({ length: targets.count }, (_, j) => JSON.stringify(termsOf(targets, j))));
    expect(all.size).toBe(targetCount(4, 6));
    for (let j = 0; j < targets.count; j++) expect(termsOf(targets, j).reduce((sum, [degree]) => sum + degree, 0)).toBe(4);
  });

  it.each([
    [0.01, 1, 6.634896601021217],
    [0.01, 16, 31.999926908815176],
    [1e-6, 50, 112.60809249896162],
    [4.9975012493753125e-6, 16, 54.098155662440625],
    [5e-7, 300, 435.45192717954586],
    [0.5, 3, 2.3659738843753377],
  ])("are the chi-squared quantile above %d with %d degrees of freedom", (p, r, expected) => {
    expect(chiSquaredAbove(p, r) / expected).toBeCloseTo(1, 12);
  });

  it("are orthonormal directions and singular values, those that rounding made left out", () => {
    const n = 12;
    const r = Matrix.zeros(n, n);
    for (let i = 0; i < n; i++) for (let j = i; j < n; j++) r.data[i * n + j] = (draws.uniform(9, i * n + j) - 0.5) * 10 ** -i;
    const expected = singularValues(r);
    const { values, vectors } = basisOf(new Matrix(n, n, r.data.slice()), 1e-8);
    expect(values.length).toBe(expected.filter((value) => value > 1e-8 * expected[0]!).length);
    values.forEach((value, k) => {
      expect(value / expected[k]!).toBeCloseTo(1, 6);
      for (let l = 0; l <= k; l++) {
        const dot = vectors.row(k).reduce((sum, x, i) => sum + x * vectors.row(l)[i]!, 0);
        expect(dot).toBeCloseTo(l === k ? 1 : 0, 9);
      }
    });
  });
});
