// Information measures against Gaussians, whose mutual information and transfer entropy are known
// in closed form.
import { describe, expect, it } from "vitest";
import { RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import {
  digamma,
  informationFlow,
  mutualInformation,
  type TransferMatrix,
  transferEntropy,
  transferEntropyMatrix,
} from "../../src/analysis/index.js";
import { TransferCounts } from "../../src/analysis/information/transfer-counts.js";

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

describe("digamma", () => {
  it("is -gamma at 1, and grows by 1/x from x to x + 1", () => {
    expect(digamma(1)).toBeCloseTo(-0.5772156649015329, 12);
    expect(digamma(0.5)).toBeCloseTo(-1.9635100260214235, 12);
    // psi(1/2) plus 1/(1/2) + 1/(3/2) + ... + 1/(199/2).
    expect(digamma(100.5)).toBeCloseTo(4.605174352581845, 12);
    for (const x of [0.3, 2, 9.7, 50]) expect(digamma(x + 1) - digamma(x)).toBeCloseTo(1 / x, 12);
  });
});

describe("mutual information by counting", () => {
  it("of a copied fair bit is one bit; of Gaussians some less than in closed form; of nothing 0 with its p-value", () => {
    const x = normals(80, 4000);
    const bit = x.map((value) => (value > 0 ? 1 : 0));
    expect(mutualInformation(bit, bit, { bins: 2 }).bits).toBeCloseTo(1, 2);
    const noise = normals(81, 4000);
    const y = x.map((value, i) => 0.9 * value + Math.sqrt(0.19) * noise[i]!);
    const exact = -Math.log2(0.19) / 2;
    const { effectiveBits, pValue } = mutualInformation(x, y);
    expect(effectiveBits).toBeGreaterThan(0.85 * exact);
    expect(effectiveBits).toBeLessThan(exact);
    expect(pValue).toBe(1 / 101);
    const nothing = mutualInformation(x, noise);
    expect(Math.abs(nothing.effectiveBits)).toBeLessThan(0.01);
    expect(nothing.bits).toBeGreaterThan(0.03);
    expect(nothing.pValue).toBeGreaterThan(0.05);
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

  it("leaves the test out if no surrogates are wanted; effective bits need none", () => {
    const { x, y } = coupled(200, 38);
    const { bits, effectiveBits } = transferEntropy(x, y);
    expect(transferEntropy(x, y, { surrogates: 0 })).toEqual({
      bits,
      effectiveBits,
      surrogates: 0,
      pValue: undefined,
      standardError: undefined,
    });
  });

  it.each([undefined, 4, 8, 16])(
    "has no effective bits on average where there is nothing: lag-2 coupling asked at lag 3, bins %s",
    (bins) => {
      // The source is tied to the target's past here, which surrogates that turn it round do not
      // know: they would give -0.17 with 16 bins.
      const found = Array.from({ length: 20 }, (_, i) => {
        const { x, y } = coupled(1000, 1000 + 2 * i, 2);
        return transferEntropy(x, y, { lag: 3, bins, surrogates: 0 }).effectiveBits;
      });
      expect(Math.abs(found.reduce((sum, value) => sum + value, 0) / 20)).toBeLessThan(0.01);
    },
  );

  it("does not lose its bins to an outlier, and depends on the order of values alone", () => {
    const { x, y } = coupled(1000, 44);
    const found = transferEntropy(x, y, { surrogates: 0 });
    expect(
      transferEntropy(
        x.map((value) => value ** 3),
        y,
        { surrogates: 0 },
      ),
    ).toEqual(found);
    x[500] = 1e6;
    y[700] = -1e6;
    expect(transferEntropy(x, y, { surrogates: 0 }).effectiveBits).toBeGreaterThan(0.8 * found.effectiveBits);
  });

  it("counts in as many bins and histories as it is told, though there are fewer rows than cells", () => {
    const { x, y } = coupled(100, 42);
    const { bits, effectiveBits } = transferEntropy(x, y, { bins: 1000, targetHistory: 6, surrogates: 0 });
    // Every past is there once: nothing is left to tell.
    expect({ bits, effectiveBits }).toEqual({ bits: 0, effectiveBits: 0 });
  });

  it("says nothing of a series that does not change", () => {
    const { x } = coupled(100, 46);
    expect(transferEntropy(x, new Float64Array(100))).toMatchObject({ bits: 0, effectiveBits: 0, pValue: 1 });
    expect(transferEntropy(new Float64Array(100), x)).toMatchObject({ bits: 0, effectiveBits: 0, pValue: 1 });
  });

  it("refuses series that are too short", () => {
    expect(() => transferEntropy([1, 2], [1, 2])).toThrow("the length of source is 2; it takes at least 11");
  });
});

describe("counts of transfer", () => {
  it("give by chance the mean over all orders of the source within the cells of the past", () => {
    const past = Uint32Array.of(0, 0, 1, 0, 1, 0, 1, 1);
    const counts = new TransferCounts(past, Uint32Array.of(0, 1, 0, 1, 2, 1, 0, 2));
    const words = [2, 0, 1, 1, 0, 2, 0, 0];
    const orders = (values: number[]): number[][] =>
      values.length === 0 ? [[]] : values.flatMap((value, i) => orders(values.toSpliced(i, 1)).map((rest) => [value, ...rest]));
    const inCell = (cell: number) => words.filter((_, i) => past[i] === cell);
    const all = orders(inCell(0)).flatMap((first) =>
      orders(inCell(1)).map((second) => {
        const left: number[][] = [[...first], [...second]];
        return counts.count(
          Uint32Array.from(past, (cell) => left[cell]!.shift()!),
          3,
        ).bits;
      }),
    );
    expect(all).toHaveLength(24 * 24);
    const mean = all.reduce((sum, bits) => sum + bits, 0) / all.length;
    expect(counts.count(Uint32Array.from(words), 3).byChance).toBeCloseTo(mean, 13);
  });
});

/** x(t) = a x(t-1) + e and y(t) = b y(t-1) + coupling x(t-1) + e' in two columns. */
function pair(name: string, length: number, [a, b]: readonly [number, number], coupling: number): number[][] {
  const stream = new RandomStream(seedKeys(name).weights, 0);
  let [x, y] = [0, 0];
  return Array.from({ length: length + 100 }, (_, t) => {
    [x, y] = [a * x + stream.normal(0, t), b * y + coupling * x + stream.normal(1, t)];
    return [x, y];
  }).slice(100);
}

describe("information flow", () => {
  const flowsOf = (series: number[][]) => informationFlow(transferEntropyMatrix(series));

  it("names who drives whom in at least 19 of 20 series", () => {
    const named = Array.from({ length: 20 }, (_, i) => flowsOf(pair(`driven ${i}`, 1000, [0.3, 0.9], 0.3))[0]);
    expect(named.filter((flow) => flow?.from === 0 && flow.to === 1).length).toBeGreaterThanOrEqual(19);
  });

  // Two standard errors of 200 on either side of one in twenty.
  it.each([0.3, 0.95])("reports one in twenty of independent AR(1) pairs with coefficient %d", (coefficient) => {
    let reported = 0;
    for (let i = 0; i < 200; i++) reported += Number(flowsOf(pair(`independent ${i}`, 300, [coefficient, coefficient], 0)).length > 0);
    expect(reported).toBeGreaterThanOrEqual(4);
    expect(reported).toBeLessThanOrEqual(16);
  });

  it.each(["holm", "falseDiscovery"] as const)("reports a flow in one in twenty sets of four independent series, by %s", (correction) => {
    let reported = 0;
    for (let i = 0; i < 200; i++) {
      const [first, second] = [pair(`first ${i}`, 500, [0.3, 0.95], 0), pair(`second ${i}`, 500, [0.9, 0.5], 0)];
      const matrix = transferEntropyMatrix(
        first.map((row, t) => [...row, ...second[t]!]),
        { estimator: "gaussian" },
      );
      reported += Number(informationFlow(matrix, { correction }).length > 0);
    }
    expect(reported).toBeGreaterThanOrEqual(4);
    expect(reported).toBeLessThanOrEqual(16);
  });

  it("gives bits, strongest first, and p values as they are and corrected for all directions", () => {
    const series = pair("three", 1000, [0.3, 0.5], 0.6).map(([x, y], t) => [y!, draws.normal(60, t), x!]);
    const matrix = transferEntropyMatrix(series);
    expect(matrix[0]![0]).toBeUndefined();
    expect(matrix[2]![0]!.surrogates).toBe(240);
    const { bits, effectiveBits, pValue } = matrix[2]![0]!;
    const expected = { from: 2, to: 0, bits, effectiveBits, netBits: effectiveBits - matrix[0]![2]!.effectiveBits, pValue };
    for (const correction of ["falseDiscovery", "holm"] as const)
      expect(informationFlow(matrix, { correction })).toEqual([{ ...expected, qValue: 6 * pValue! }]);
    expect(informationFlow(matrix, { leastBits: 10 })).toEqual([]);
  });

  it("reports two series that drive each other in both directions", () => {
    const stream = new RandomStream(seedKeys("both ways").weights, 0);
    let [x, y] = [0, 0];
    const series = Array.from({ length: 2000 }, (_, t) => {
      [x, y] = [0.3 * x + 0.4 * y + stream.normal(0, t), 0.3 * y + 0.4 * x + stream.normal(1, t)];
      return [x, y];
    });
    for (const estimator of ["binned", "gaussian"] as const) {
      const flows = informationFlow(transferEntropyMatrix(series, { estimator } as { estimator: "gaussian" }));
      expect(flows.map(({ from, to }) => [from, to]).sort()).toEqual([
        [0, 1],
        [1, 0],
      ]);
      expect(flows[0]!.netBits).toBe(-flows[1]!.netBits);
    }
  });

  it("corrects as Benjamini and Hochberg, as Holm, or not at all", () => {
    const pValues = [0.001, 0.04, 0.03, 0.012, 0.6, 0.049];
    let next = 0;
    const matrix = [0, 1, 2].map((i) =>
      [0, 1, 2].map((j) => (i === j ? undefined : { nats: 1, effectiveNats: 1, pValue: pValues[next++]! })),
    );
    const reported = (correction: "falseDiscovery" | "holm" | "none", significance: number) => {
      const flows = informationFlow(matrix, { correction, significance });
      const byP = flows.toSorted((a, b) => a.pValue - b.pValue);
      return byP.map(({ pValue, qValue }) => [pValue, Number(qValue.toFixed(4))]);
    };
    // 6 p / rank, each at most the next: .006, .036, .06, .06, .0588, .6.
    expect(reported("falseDiscovery", 0.05)).toEqual([
      [0.001, 0.006],
      [0.012, 0.036],
    ]);
    expect(reported("falseDiscovery", 0.06).map(([p, q]) => [p, q])).toEqual([
      [0.001, 0.006],
      [0.012, 0.036],
      [0.03, 0.0588],
      [0.04, 0.0588],
      [0.049, 0.0588],
    ]);
    expect(reported("holm", 0.05)).toEqual([[0.001, 0.006]]);
    expect(reported("none", 0.045)).toEqual([
      [0.001, 0.001],
      [0.012, 0.012],
      [0.03, 0.03],
      [0.04, 0.04],
    ]);
  });

  describe("of a chain 0 -> 1 -> 2 and a series beside it", () => {
    const chain = (number: number) => {
      const stream = new RandomStream(seedKeys(`chain ${number}`).weights, 0);
      let x = [0, 0, 0, 0];
      return Array.from({ length: 1000 }, (_, t) => {
        const e = (c: number) => stream.normal(c, t);
        x = [0.7 * x[0]! + e(0), 0.6 * x[1]! + 0.4 * x[0]! + e(1), 0.5 * x[2]! + 0.4 * x[1]! + e(2), 0.9 * x[3]! + e(3)];
        return x;
      });
    };
    const reports = (matrix: TransferMatrix) => informationFlow(matrix).map(({ from, to }) => `${from}${to}`);

    it("by the Gaussian estimator has the indirect flow too, unless the others are given", () => {
      const pairs = new Map<string, number>();
      const given = new Map<string, number>();
      for (let number = 0; number < 40; number++) {
        const series = chain(number);
        for (const each of reports(transferEntropyMatrix(series, { estimator: "gaussian" }))) pairs.set(each, (pairs.get(each) ?? 0) + 1);
        for (const each of reports(transferEntropyMatrix(series, { estimator: "gaussian", given: "others" })))
          given.set(each, (given.get(each) ?? 0) + 1);
      }
      for (const direct of ["01", "12"]) expect([direct, pairs.get(direct), given.get(direct)]).toEqual([direct, 40, 40]);
      expect(pairs.get("02")).toBeGreaterThan(35);
      expect(given.get("02") ?? 0).toBeLessThan(5);
      for (const [which, times] of [...pairs, ...given]) if (!["01", "12", "02"].includes(which)) expect(times, which).toBeLessThan(7);
    });

    it("by nearest neighbours and in bins has the direct ones", () => {
      const series = chain(50);
      const near = transferEntropyMatrix(series, { estimator: "nearestNeighbours", given: "others", surrogates: 0 });
      expect(near[0]![1]!.nats).toBeGreaterThan(0.02);
      expect(Math.abs(near[0]![2]!.nats)).toBeLessThan(0.02);
      expect(reports(transferEntropyMatrix(series))).toEqual(expect.arrayContaining(["01", "12"]));
      const three = series.map((row) => row.slice(0, 2));
      expect(reports(transferEntropyMatrix(three, { estimator: "nearestNeighbours" }))).toEqual(["01"]);
    });
  });

  it("refuses a matrix that tells nothing of chance, and what is no matrix", () => {
    const series = pair("refused", 200, [0.3, 0.3], 0);
    expect(() => informationFlow(transferEntropyMatrix(series, { surrogates: 0 }))).toThrow(
      "matrix[0][1].surrogates is 0; it takes at least 39 for 2 directions at significance 0.05",
    );
    expect(() => informationFlow(transferEntropyMatrix(series, { surrogates: 100 }), { significance: 0.01 })).toThrow(
      "matrix[0][1].surrogates is 100; it takes at least 199 for 2 directions",
    );
    expect(() => informationFlow([[undefined], [undefined]])).toThrow("matrix[0][1] is missing; it takes a square matrix");
    expect(() => informationFlow("matrix" as never)).toThrow('matrix is "matrix"; it takes a square matrix');
    expect(() => informationFlow([], 0.01 as never)).toThrow("options is 0.01; it takes an object of options");
    const alone = transferEntropyMatrix(series, { surrogates: 19 });
    expect(informationFlow(alone, { correction: "none" })).toEqual([]);
    expect(() => transferEntropyMatrix(series, { estimator: "gaussian", bins: 4 } as never)).toThrow('unknown field "bins"');
    expect(() => transferEntropyMatrix(series, { given: "others" } as never)).toThrow('unknown field "given"');
    expect(() => transferEntropyMatrix(series, { estimator: "granger" } as never)).toThrow(
      'estimator is "granger"; it takes "binned", "gaussian" or "nearestNeighbours"',
    );
  });
});
