// Information by nearest neighbours: values that SciPy's k-d trees give for a made series, closed
// forms of Gaussians, and counts by brute force.
import { describe, expect, it } from "vitest";
import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import {
  activeInformationStorage,
  digamma,
  nearestNeighbourInformation,
  nearestNeighbourTransferEntropy,
} from "../../src/analysis/index.js";
import { countsOfColumn, KdTree } from "../../src/analysis/information/kd-tree.js";
import { toldApart } from "../../src/analysis/information/ties.js";
import { casesOf, exhaustive } from "../exhaustive.js";

const draws = new RandomStream(seedKeys("neighbours").weights, 0);
const normals = (row: number, length: number) => Float64Array.from({ length }, (_, i) => draws.normal(row, i));

/** Uniform numbers by Park and Miller 1988, and x that drives y. */
function fixture() {
  const n = 500;
  const u: number[] = [];
  for (let i = 0, s = 1; i < 3 * n; i++) {
    s = (s * 16807) % 2147483647;
    u.push(s / 2147483647);
  }
  const every = (from: number) => Float64Array.from({ length: n }, (_, i) => u[3 * i + from]! - 0.5);
  const [a, b, c] = [every(0), every(1), every(2)];
  const x = new Float64Array(n);
  const y = new Float64Array(n);
  for (let t = 1; t < n; t++) {
    x[t] = 0.5 * x[t - 1]! + a[t]!;
    y[t] = 0.25 * y[t - 1]! + 0.75 * x[t - 1]! + b[t]!;
  }
  return { x, y, c };
}

/** x(t) = a x(t-1) + e, y(t) = b y(t-1) + c x(t-1) + f. */
function coupled(length: number, row: number, a: number, b: number, c: number) {
  const e = normals(row, length);
  const f = normals(row + 1, length);
  const x = new Float64Array(length);
  const y = new Float64Array(length);
  for (let t = 1; t < length; t++) {
    x[t] = a * x[t - 1]! + e[t]!;
    y[t] = b * y[t - 1]! + c * x[t - 1]! + f[t]!;
  }
  return { x, y };
}

describe("nearest neighbours of a made series", () => {
  const { x, y, c } = fixture();
  it.each([
    [1, 0.031879299281, 0.015594097155, -0.036081104715, 0.297582268605, -0.042395740565, 0.330356448814, 0.040636417536],
    [3, 0.073814434788, 0.06774942747, 0.037473053831, 0.334901638271, 0.005621216894, 0.207169107773, 0.105062230404],
    [4, 0.076757985906, 0.053628878783, 0.05494657501, 0.314521335928, 0.000188454161, 0.199676816524, 0.085773251828],
    [10, 0.069639847708, 0.067811396311, 0.045269066708, 0.26189919832, 0.005435039164, 0.177626764651, 0.092022311547],
  ])("give SciPy's information, transfer entropy and storage for k = %d", (neighbours, ...expected) => {
    const plain = { neighbours, standardise: false };
    const longer = { ...plain, targetHistory: 2, sourceHistory: 2 };
    const found = [
      nearestNeighbourInformation(x, y, plain),
      nearestNeighbourInformation(x, y, { ...plain, algorithm: 2 }),
      nearestNeighbourInformation(x, y, { ...plain, given: c }),
      nearestNeighbourTransferEntropy(x, y, plain),
      nearestNeighbourTransferEntropy(y, x, plain),
      nearestNeighbourTransferEntropy(x, y, longer),
      activeInformationStorage(y, { ...plain, history: 2 }),
    ];
    found.forEach(({ nats, local }, i) => {
      expect(nats).toBeCloseTo(expected[i]!, 11);
      expect(local.reduce((sum, value) => sum + value, 0) / local.length).toBeCloseTo(nats, 11);
    });
  });
});

describe("information by nearest neighbours", () => {
  it.each([0.3, 0.6, 0.9, 0.99])("of Gaussians of correlation %d is -ln(1 - r^2) / 2 within 0.02 nats", (r) => {
    const n = 4000;
    const x = normals(10, n);
    const noise = normals(11, n);
    const y = x.map((value, i) => r * value + Math.sqrt(1 - r * r) * noise[i]!);
    // The correlation that the sample happens to have: it moves the true value by 0.014.
    const sum = (values: Float64Array) => values.reduce((a, b) => a + b, 0);
    const dot = (a: Float64Array, b: Float64Array) => sum(a.map((value, i) => value * b[i]!)) - (sum(a) * sum(b)) / n;
    const exact = -0.5 * Math.log(1 - dot(x, y) ** 2 / (dot(x, x) * dot(y, y)));
    expect(Math.abs(nearestNeighbourInformation(x, y).nats - exact)).toBeLessThan(0.02);
    expect(Math.abs(nearestNeighbourInformation(x, y, { algorithm: 2 }).nats - exact)).toBeLessThan(0.02);
  });

  it("does not change when a variable is stretched, unless standardising is left out", () => {
    const { x, y } = coupled(300, 12, 0.5, 0.5, 0.6);
    const plain = nearestNeighbourInformation(x, y).nats;
    const stretched = y.map((value) => 8 * value);
    expect(nearestNeighbourInformation(x, stretched).nats).toBeCloseTo(plain, 12);
    expect(nearestNeighbourInformation(x, stretched, { standardise: false }).nats).not.toBeCloseTo(plain, 3);
  });

  it("takes several columns: of pairs that share a sum, more than of either", () => {
    const x = normals(14, 2000);
    const z = normals(15, 2000);
    const y = x.map((value, i) => value + z[i]! + 0.3 * draws.normal(16, i));
    const both = new Matrix(
      2000,
      2,
      Float64Array.from({ length: 4000 }, (_, i) => (i % 2 === 0 ? x : z)[i >> 1]!),
    );
    // 0.5 ln(var y / 0.09), var y = 2.09.
    expect(nearestNeighbourInformation(both, y).nats).toBeCloseTo(0.5 * Math.log(2.09 / 0.09), 0);
    expect(nearestNeighbourInformation(x, y).nats).toBeCloseTo(0.5 * Math.log(2.09 / 1.09), 1);
  });

  it("finds an influence with its p-value, and none where there is none", () => {
    const { x, y } = coupled(600, 18, 0.5, 0.5, 0.6);
    const there = nearestNeighbourTransferEntropy(x, y, { surrogates: 99 });
    const back = nearestNeighbourTransferEntropy(y, x, { surrogates: 99 });
    expect(there.pValue).toBe(0.01);
    expect(there.effectiveNats).toBeGreaterThan(0.1);
    expect(back.pValue).toBeGreaterThan(0.05);
    expect(Math.abs(back.effectiveNats!)).toBeLessThan(3 * back.standardError!);
    expect(nearestNeighbourTransferEntropy(y, x).pValue).toBeUndefined();
  });

  it("given their common driver finds no influence of two series on each other", () => {
    const n = 2000;
    const z = normals(22, n + 2);
    const x = Float64Array.from({ length: n }, (_, t) => 0.8 * z[t + 1]! + 0.6 * draws.normal(23, t));
    const y = Float64Array.from({ length: n }, (_, t) => 0.8 * z[t]! + 0.6 * draws.normal(24, t));
    // z moves x after one step and y after two: -0.5 ln(1 - 0.64^2) without z.
    expect(nearestNeighbourTransferEntropy(x, y).nats).toBeCloseTo(0.264, 1);
    const given = Float64Array.from({ length: n }, (_, t) => z[t + 1]!);
    expect(Math.abs(nearestNeighbourTransferEntropy(x, y, { given }).nats)).toBeLessThan(0.03);
  });

  it("finds the storage of AR(1) series, -ln(1 - a^2) / 2", () => {
    const { x, y } = coupled(3000, 26, 0.9, 0.3, 0.5);
    expect(Math.abs(activeInformationStorage(x).nats - 0.83037)).toBeLessThan(0.06);
    // In closed form with the influence of x.
    expect(Math.abs(activeInformationStorage(y).nats - 0.41132)).toBeLessThan(0.06);
  });

  it("looks at its lag alone", () => {
    const { x, y } = coupled(1500, 28, 0, 0.5, 0.6);
    const later = Float64Array.from(x, (_, t) => x[t + 2] ?? 0);
    expect(nearestNeighbourTransferEntropy(later, y, { lag: 3 }).nats).toBeGreaterThan(0.1);
    expect(Math.abs(nearestNeighbourTransferEntropy(later, y, { lag: 1 }).nats)).toBeLessThan(0.04);
  });

  it("takes series of one length, longer than k and the window leave", () => {
    expect(() => nearestNeighbourInformation([1, 2, 3, 4, 5], [1, 2, 3, 4])).toThrow("the length of y is 4; it takes 5, as x");
    expect(() => nearestNeighbourInformation([1], [1])).toThrow("the length of x is 1; it takes at least 4");
    expect(() => nearestNeighbourInformation([1, 2, 3, Number.NaN], [1, 2, 3, 4])).toThrow("x[3] is NaN; it takes finite numbers");
    expect(() => nearestNeighbourInformation([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], { exclusionWindow: 2 })).toThrow(
      "neighbours is 3; it takes at most the 0 neighbours that 5 points leave a point",
    );
    const x = [1, 2, 3, 4, 5];
    expect(() => nearestNeighbourInformation(x, x, { algorithm: 2, given: x })).toThrow("algorithm 2 takes no `given`");
  });
});

describe("series of few values", () => {
  const n = 600;
  const levels = (row: number, of: number) => normals(row, n).map((value) => Math.min(of - 1, Math.max(0, Math.floor(value + of / 2))));
  const [x, other, z] = [levels(50, 4), levels(51, 3), levels(52, 2)];
  const y = x.map((value, t) => (other[t] === 0 ? 0 : value));
  const key = (of: readonly ArrayLike<number>[], t: number) => of.map((values) => values[t]).join();
  const equals = (of: readonly ArrayLike<number>[], t: number, window: number) =>
    1 + Array.from({ length: n }, (_, j) => j).filter((j) => Math.abs(j - t) > window && key(of, j) === key(of, t)).length;
  const mean = (term: (t: number) => number) => Array.from({ length: n }, (_, t) => term(t)).reduce((a, b) => a + b) / n;

  it.each(casesOf([1, 2] as const, (algorithm) => algorithm === 1))("give the information of counting, by algorithm %d", (algorithm) => {
    const found = nearestNeighbourInformation(x, y, { algorithm });
    const psi =
      (...of: Float64Array[]) =>
      (t: number) =>
        digamma(equals(of, t, 0));
    const counted = mean((t) => psi(x, y)(t) + digamma(n) - psi(x)(t) - psi(y)(t));
    expect(found.nats).toBeCloseTo(counted, 10);
    expect(found.local.reduce((a, b) => a + b) / n).toBeCloseTo(counted, 10);
    expect(nearestNeighbourInformation(x, x, { algorithm }).nats).toBeCloseTo(
      mean((t) => digamma(n) - psi(x)(t)),
      10,
    );
    expect(Math.abs(nearestNeighbourInformation(x, other, { algorithm }).nats)).toBeLessThan(0.02);
  });

  it.runIf(exhaustive)("give that beyond a third, with a window, and beside values that never come again", () => {
    const psi = (of: Float64Array[], t: number) => digamma(equals(of, t, 5));
    const beyond = mean((t) => psi([x, y, z], t) + psi([z], t) - psi([x, z], t) - psi([y, z], t));
    expect(nearestNeighbourInformation(x, y, { given: z, exclusionWindow: 5 }).nats).toBeCloseTo(beyond, 10);
    // Half of the rows of y are 0, the others no two the same: I is the entropy of which it is.
    const half = normals(53, n).map((value) => (value > 0 ? value : 0));
    const side = half.map((value) => Number(value > 0));
    expect(nearestNeighbourInformation(side, half).nats).toBeCloseTo(Math.log(2), 1);
  });

  it("tell nothing if they do not change", () => {
    const constant = new Float64Array(n).fill(7);
    for (const algorithm of [1, 2] as const) {
      expect(nearestNeighbourInformation(constant, constant, { algorithm }).nats).toBe(0);
      expect(Math.abs(nearestNeighbourInformation(constant, x, { algorithm }).nats)).toBeLessThan(1e-12);
    }
    expect(activeInformationStorage(constant).nats).toBe(0);
    expect(nearestNeighbourTransferEntropy(x, constant, { surrogates: 9 })).toMatchObject({ effectiveNats: 0, pValue: 1 });
  });
});

describe("rounded series", () => {
  const n = 2000;
  const e = normals(60, n);
  /** Pairs of Gaussians with a correlation. */
  const pairs = (rho: number) =>
    [60, 64, 66, 68].map((row) => {
      const [x, f] = [normals(row, n), normals(row + 1, n)];
      return [x, x.map((value, t) => rho * value + Math.sqrt(1 - rho * rho) * f[t]!)] as const;
    });
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  // -ln(1 - rho^2) / 2 of unrounded Gaussians: 0, 0.22314, 0.8304.
  const exact = (rho: number) => -Math.log(1 - rho * rho) / 2;
  const kinds: readonly (readonly [what: string, round: (value: number) => number])[] = [
    ...[4, 8, 16, 32, 64].map(
      (levels) => [`${levels} levels a standard deviation`, (value: number) => Math.round(value * levels)] as const,
    ),
    ["one decimal", (value) => Number(value.toFixed(1))],
    ["two decimals", (value) => Number(value.toFixed(2))],
    // Ten bits over 8 standard deviations.
    ["a converter of ten bits", (value) => Math.max(0, Math.min(1023, Math.floor((value + 4) * 128))) * (3.3 / 1023)],
  ];
  it.each(casesOf(kinds, ([name]) => name === "16 levels a standard deviation" || name === "two decimals"))(
    "have the information of the exact ones: %s",
    (_, round) => {
      for (const rho of [0, 0.6, 0.9]) {
        const rounded = pairs(rho).map(([x, y]) => [x.map(round), y.map(round)] as const);
        for (const algorithm of [1, 2] as const) {
          const found = rounded.map(([x, y]) => nearestNeighbourInformation(x, y, { algorithm }));
          expect(Math.abs(mean(found.map(({ nats }) => nats)) - exact(rho))).toBeLessThan(0.03);
          for (const { nats, local } of found) expect(mean([...local])).toBeCloseTo(nats, 10);
        }
        // Beside a third series, which says nothing.
        const given = normals(62, n).map(round);
        expect(Math.abs(mean(rounded.map(([x, y]) => nearestNeighbourInformation(x, y, { given }).nats)) - exact(rho))).toBeLessThan(0.06);
      }
    },
  );

  it("have the same information in any unit", () => {
    for (const [, round] of kinds) {
      const [a, b] = pairs(0.6)[0]!.map((values) => values.map(round)) as [Float64Array, Float64Array];
      const { nats } = nearestNeighbourInformation(a, b);
      for (const [factor, shift] of [
        [0.1, 0],
        [1000, 0],
        [1 / 3, 273.15],
        [-2.54, 1e4],
      ] as const) {
        const found = nearestNeighbourInformation(
          a.map((value) => factor * value + shift),
          b.map((value) => value / factor),
        ).nats;
        expect(Math.abs(found - nats)).toBeLessThan(factor < 0 ? 0.01 : 1e-6);
      }
    }
  });

  it("store what the exact ones do", () => {
    const { x } = coupled(4000, 62, 0.9, 0, 0);
    for (const [, round] of kinds) expect(Math.abs(activeInformationStorage(x.map(round)).nats - 0.83037)).toBeLessThan(0.06);
  });

  it("are told apart by noise far below their steps, and nothing else is", () => {
    const column = e.map((value) => Math.round(value * 16));
    const apart = toldApart(column, 0);
    expect(new Set(apart).size).toBe(n);
    expect(Math.max(...apart.map((value, t) => Math.abs(value - column[t]!)))).toBeLessThan(16 * 2 ** -20);
    expect(toldApart(e, 0)).toBe(e);
    const constant = new Float64Array(n).fill(3);
    expect(toldApart(constant, 0)).toBe(constant);
  });
});

describe("the tree", () => {
  const n = 300;
  // Rounded, so that many distances are equal.
  const columns = [0, 1, 2].map((row) => normals(40 + row, n).map((value) => Math.round(3 * value)));
  const distance = (some: readonly Float64Array[], i: number, j: number) =>
    Math.max(...some.map((column) => Math.abs(column[i]! - column[j]!)));

  it.each([0, 7])(
    "finds the neighbours and counts of a search over all pairs, equal distances in the order of rows (window %d)",
    (window) => {
      const k = 4;
      const nearest = new Uint32Array(n * k);
      const scales = new KdTree(columns).scales(k, window, nearest);
      const others = (i: number) => Array.from({ length: n }, (_, j) => j).filter((j) => Math.abs(j - i) > window);
      const two = new KdTree(columns.slice(1)).counts(scales, window);
      const one = countsOfColumn(columns[0]!, columns[0]!.slice().sort(), scales, window);
      for (let i = 0; i < n; i++) {
        const sorted = others(i).sort((a, b) => distance(columns, i, a) - distance(columns, i, b) || a - b);
        expect([...nearest.subarray(i * k, (i + 1) * k)]).toEqual(sorted.slice(0, k));
        expect(scales[i]).toBe(distance(columns, i, sorted[k - 1]!));
        expect(two[i]).toBe(others(i).filter((j) => distance(columns.slice(1), i, j) < scales[i]!).length);
        expect(one[i]).toBe(others(i).filter((j) => distance(columns.slice(0, 1), i, j) < scales[i]!).length);
      }
    },
  );
});
