// Conceptors: their definition, their logic, and patterns that are stored in one reservoir and
// recalled.
import { describe, expect, it } from "vitest";

import "../../src/index.js";
import { cholesky, Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { Conceptor, ConceptorMemory } from "../../src/model/index.js";

const draws = new RandomStream(seedKeys("conceptor").weights, 0);
let drawn = 0;
/** Rows of `rank` directions out of n. */
function rows(count: number, n: number, rank = n): Matrix<Float64Array> {
  const basis = Array.from({ length: rank }, () => Array.from({ length: n }, () => draws.normal(0, drawn++)));
  return Matrix.from(
    Array.from({ length: count }, () => {
      const weights = basis.map(() => draws.normal(0, drawn++));
      return Array.from({ length: n }, (_, i) => basis.reduce((sum, vector, k) => sum + weights[k]! * vector[i]!, 0));
    }),
  );
}
const n = 12;
const a = Conceptor.fromStates(rows(200, n), { aperture: 1 });
const b = Conceptor.fromStates(rows(200, n), { aperture: 0.4 });
const c = Conceptor.fromStates(rows(200, n, 5), { aperture: 2 });
const d = Conceptor.fromStates(rows(200, n, 4), { aperture: 3 });
const whole = Conceptor.from(Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? 1 : 0))));
const none = whole.not();
const apart = (x: Conceptor, y: Conceptor) => Math.max(...x.matrix.data.map((value, i) => Math.abs(value - y.matrix.data[i]!)));
/** A^-1 by its Cholesky factor. */
const inverse = (matrix: Matrix) => cholesky(matrix).solve(whole.matrix);
const minus = (x: Matrix, y: Matrix) =>
  new Matrix(
    n,
    n,
    Float64Array.from(x.data, (value, i) => value - y.data[i]!),
  );

describe("a conceptor", () => {
  it("is R (R + alpha^-2 I)^-1", () => {
    const states = Matrix.from([
      [1, 0],
      [1, 0],
      [0, 1],
      [0, 0],
    ]);
    // R = diag(1/2, 1/4), alpha = 2: 1/2 / (3/4) and 1/4 / (1/2).
    const made = Conceptor.fromStates(states, { aperture: 2 });
    for (const [i, value] of [2 / 3, 0, 0, 1 / 2].entries()) expect(made.matrix.data[i]).toBeCloseTo(value, 14);
    expect(made.quota).toBeCloseTo(7 / 12, 14);
    expect([...made.singularValues].map((value) => value.toFixed(10))).toEqual(["0.6666666667", "0.5000000000"]);
    expect([...made.apply([3, 2])].map((value) => value.toFixed(10))).toEqual(["2.0000000000", "1.0000000000"]);
  });

  it("has a quota that goes from 0 to the share of the directions that its states take", () => {
    const states = rows(300, n, 5);
    const quotas = [1e-6, 0.1, 1, 10, 1e6].map((aperture) => Conceptor.fromStates(states, { aperture }).quota);
    expect(quotas[0]).toBeLessThan(1e-9);
    expect(quotas.toSorted((x, y) => x - y)).toEqual(quotas);
    expect(quotas.at(-1)).toBeCloseTo(5 / n, 9);
  });

  it("at another aperture is the conceptor of that aperture, with its limits", () => {
    const states = rows(300, n, 7);
    const one = Conceptor.fromStates(states, { aperture: 1 });
    expect(apart(one.withAperture(3), Conceptor.fromStates(states, { aperture: 3 }))).toBeLessThan(1e-12);
    expect(apart(one.withAperture(3).withAperture(1 / 3), one)).toBeLessThan(1e-11);
    expect(one.withAperture(0).quota).toBeLessThan(1e-12);
    expect(one.withAperture(Number.POSITIVE_INFINITY).quota).toBeCloseTo(7 / n, 10);
  });

  it("is like itself, and unlike what it has nothing in common with", () => {
    expect(a.similarity(a)).toBeCloseTo(1, 14);
    expect(a.similarity(b)).toBe(b.similarity(a));
    const x = Conceptor.from([[0.8, 0], [0, 0]]); // biome-ignore format: a matrix
    const y = Conceptor.from([[0, 0], [0, 0.5]]); // biome-ignore format: a matrix
    expect(x.similarity(y)).toBe(0);
    expect(a.similarity(none)).toBe(Number.NaN);
  });
});

describe("the logic of conceptors", () => {
  it("is the inverse of what is added if there are inverses", () => {
    const sum = new Matrix(
      n,
      n,
      inverse(a.matrix).data.map((value, i) => value + inverse(b.matrix).data[i]!),
    );
    const expected = Conceptor.from(inverse(minus(sum, whole.matrix)));
    expect(apart(a.and(b), expected)).toBeLessThan(1e-11);
  });

  it("adds correlations by OR: R of C or B is the sum of the two", () => {
    const x = rows(100, n);
    const y = rows(100, n);
    const both = Matrix.from([...x.toArrays(), ...y.toArrays()]);
    // The mean over both has half the sum, which an aperture of sqrt 2 makes up for.
    const expected = Conceptor.fromStates(both, { aperture: Math.SQRT2 * 0.7 });
    const made = Conceptor.fromStates(x, { aperture: 0.7 }).or(Conceptor.fromStates(y, { aperture: 0.7 }));
    expect(apart(made, expected)).toBeLessThan(1e-11);
  });

  it("obeys the laws of Boolean algebra", () => {
    for (const [x, y, z] of [
      [a, b, c],
      [c, d, a],
      [d, c, c],
    ] as const) {
      expect(apart(x.and(y), y.and(x))).toBeLessThan(1e-10);
      expect(apart(x.or(y), y.or(x))).toBeLessThan(1e-10);
      expect(apart(x.and(y).and(z), x.and(y.and(z)))).toBeLessThan(1e-9);
      expect(apart(x.or(y).or(z), x.or(y.or(z)))).toBeLessThan(1e-9);
      expect(apart(x.not().not(), x)).toBeLessThan(1e-15);
      expect(apart(x.and(y).not(), x.not().or(y.not()))).toBeLessThan(1e-9);
      expect(apart(x.and(whole), x)).toBeLessThan(1e-12);
      expect(apart(whole.and(x), x)).toBeLessThan(1e-12);
      expect(apart(x.and(none), none)).toBeLessThan(1e-12);
      expect(apart(none.and(x), none)).toBeLessThan(1e-12);
      expect(apart(x.or(none), x)).toBeLessThan(1e-12);
      expect(apart(x.or(whole), whole)).toBeLessThan(1e-12);
    }
  });

  it("of projections is that of subspaces", () => {
    const projection = (...axes: number[]) =>
      Conceptor.from(Array.from({ length: 4 }, (_, i) => Array.from({ length: 4 }, (_, j) => (i === j && axes.includes(i) ? 1 : 0))));
    const same = (x: Conceptor, y: Conceptor) => expect(apart(x, y)).toBeLessThan(1e-12);
    same(projection(0, 1).and(projection(1, 2)), projection(1));
    same(projection(0, 1).or(projection(1, 2)), projection(0, 1, 2));
    same(projection(0, 1).and(projection(0, 1)), projection(0, 1));
    same(projection(0, 1).not(), projection(2, 3));
    // Two lines at an angle have nothing in common, and span their plane.
    const slanted = Conceptor.from([[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]); // biome-ignore format: a matrix
    same(projection(0).and(slanted), projection());
    same(projection(0).or(slanted), projection(0, 1));
  });

  it("refuses what is no conceptor, and another size", () => {
    const beyond = Conceptor.from([[2]]);
    for (const refused of [() => beyond.and(beyond), () => beyond.or(beyond), () => beyond.withAperture(2)])
      expect(refused).toThrow("the conceptor has the eigenvalue");
    expect(() => Conceptor.from([[0, 0.5], [0, 0]])).toThrow("it takes a symmetric matrix"); // biome-ignore format: a matrix
    expect(() => Conceptor.fromCorrelation([[-1]])).toThrow("correlation has the eigenvalue -1; it takes none below 0");
    expect(() => Conceptor.fromStates([[1, Number.NaN]])).toThrow("states is NaN at row 0, column 1");
    expect(() => Conceptor.fromStates([[1]], { aperture: 0 })).toThrow("aperture is 0");
    expect(() => a.and(Conceptor.from([[1]]))).toThrow("other is a conceptor of 1 neurons; it takes one of 12");
    expect(() => a.withAperture(-1)).toThrow("factor is -1; it takes a number of at least 0");
    expect(() => a.apply([1])).toThrow("state holds 1 values; this conceptor takes 12");
  });
});

/** Periodic patterns: two sines, a sawtooth, and five random numbers over and over. */
const wave = (period: number) => (t: number) => Math.sin((2 * Math.PI * t) / period);
const five = [0.1, -0.9, 0.4, 0.95, -0.35];
const shapes = [wave(8.8342522), wave(9.8342522), (t: number) => (2 * (t % 7)) / 6 - 1, (t: number) => five[t % 5]!];
const series = (shape: (t: number) => number, from: number, count: number) =>
  Matrix.from(Array.from({ length: count }, (_, t) => [shape(from + t)]));
const patterns = shapes.map((shape) => series(shape, 0, 600));
/** NRMSE at the best phase in steps of a quarter of one. */
function phaseless(made: Matrix, shape: (t: number) => number, period: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let phase = 0; phase < period; phase += Number.isInteger(period) ? 1 : 0.05) {
    let errors = 0;
    let squares = 0;
    for (let t = 0; t < made.rows; t++) {
      errors += (made.at(t, 0) - shape(t + phase)) ** 2;
      squares += shape(t + phase) ** 2;
    }
    best = Math.min(best, Math.sqrt(errors / squares));
  }
  return best;
}

describe("patterns in one reservoir", () => {
  it("are recalled under a morph beyond the two, which filters states", async () => {
    await using memory = await ConceptorMemory.store(patterns.slice(0, 2), { reservoir: { seed: 5 } });
    const [one, two] = memory.conceptors as [Conceptor, Conceptor];
    const morph = (m: number) =>
      Conceptor.from(
        new Matrix(
          one.size,
          one.size,
          one.matrix.data.map((value, i) => (1 - m) * value + m * two.matrix.data[i]!),
        ),
      );
    // Sines of periods 8.83 and 9.83: a tenth of the way past the first one is faster than it.
    const crossings = ({ data }: Matrix) => data.filter((value, t) => t > 0 && value >= 0 !== data[t - 1]! >= 0).length;
    const counts = await Promise.all(
      [-0.1, 0, 1].map(async (m) => crossings(await memory.recall(morph(m), 400, { seed: "one", settle: 300 }))),
    );
    expect(Math.min(...morph(-0.1).singularValues)).toBeLessThan(0);
    expect(counts[1]! - counts[2]!).toBeGreaterThan(5);
    expect(counts[0]!).toBeGreaterThanOrEqual(counts[1]!);
  });

  it.each(["reservoir", "input"] as const)("are each recalled under their conceptors, from any start (loading: %s)", async (loading) => {
    await using memory = await ConceptorMemory.store(patterns, { reservoir: { seed: 5 }, loading });
    for (const [j, period] of [8.8342522, 9.8342522, 7, 5].entries())
      for (const seed of ["one", "two"]) {
        const made = await memory.recall(j, 40, { seed, settle: 300 });
        expect(phaseless(made, shapes[j]!, period), `pattern ${j}`).toBeLessThan(0.1);
      }
    // Without a conceptor none of them comes out.
    const all = Conceptor.from(
      Matrix.from(Array.from({ length: 100 }, (_, i) => Array.from({ length: 100 }, (_, k) => (i === k ? 1 : 0)))),
    );
    const free = await memory.recall(all, 40);
    for (const [j, period] of [8.8342522, 9.8342522, 7, 5].entries()) expect(phaseless(free, shapes[j]!, period)).toBeGreaterThan(0.3);
  });

  it("go on from the last row that was stored", async () => {
    await using memory = await ConceptorMemory.store(patterns, { reservoir: { seed: 3 } });
    for (const [j, shape] of shapes.entries()) {
      const made = await memory.recall(j, 20);
      const expected = series(shape, 600, 20);
      for (let t = 0; t < 20; t++) expect(Math.abs(made.at(t, 0) - expected.at(t, 0)), `pattern ${j}, step ${t}`).toBeLessThan(0.1);
    }
  });

  it("go on from a cue in its phase", async () => {
    await using memory = await ConceptorMemory.store(patterns, { reservoir: { seed: 5 } });
    const cue = series(shapes[2]!, 3, 100);
    const made = await memory.recall(2, 14, { cue });
    const expected = series(shapes[2]!, 103, 14);
    for (let t = 0; t < 14; t++) expect(Math.abs(made.at(t, 0) - expected.at(t, 0))).toBeLessThan(0.1);
    // The same call, the same bits.
    expect((await memory.recall(2, 14, { cue })).data).toEqual(made.data);
  });

  it("may have several columns and any units, and like patterns have like conceptors", async () => {
    const scaled = patterns.map((rows) =>
      Matrix.from(rows.toArrays().map(([value], t) => [1000 + 200 * value!, -5 * rows.at((t + 1) % 600, 0)])),
    );
    await using memory = await ConceptorMemory.store(scaled, { reservoir: { size: 120, seed: 2 }, aperture: [10, 10, 20, 20] });
    const made = await memory.recall(3, 10, { cue: scaled[3]!.subarray(0, 200) });
    for (let t = 0; t < 10; t++) expect(Math.abs(made.at(t, 0) - scaled[3]!.at(200 + t, 0))).toBeLessThan(20);
    const [first, second, third] = memory.conceptors;
    expect(first!.similarity(second!)).toBeGreaterThan(first!.similarity(third!));
    // Sines of two near periods together take little more than one of them.
    expect(first!.or(second!).quota).toBeLessThan(first!.quota + second!.quota);
  });

  it("are refused if they do not fit", async () => {
    await expect(ConceptorMemory.store([])).rejects.toThrow("patterns is an array of 0; it takes a list of at least one pattern");
    await expect(ConceptorMemory.store([patterns[0]!, Matrix.zeros(600, 2)])).rejects.toThrow(
      "patterns[1] has 2 columns and patterns[0] has 1",
    );
    await expect(ConceptorMemory.store([patterns[0]!.subarray(0, 50)])).rejects.toThrow("patterns[0] has 50 rows; with a washout of 100");
    await expect(ConceptorMemory.store(patterns, { aperture: [1, 2] })).rejects.toThrow("aperture has 2 values for 4 patterns");
    await expect(ConceptorMemory.store(patterns, { reservoir: { feedback: { size: 1 } } })).rejects.toThrow("reservoir.feedback is set");
    await using memory = await ConceptorMemory.store(patterns.slice(0, 1), { reservoir: { size: 30 } });
    await expect(memory.recall(4, 10)).rejects.toThrow("pattern is 4; it takes a whole number from 0 to 0, or a Conceptor");
    await expect(memory.recall(a, 10)).rejects.toThrow("pattern is a conceptor of 12 neurons; the reservoir has 30");
    await expect(memory.recall(0, 10, { cue: [[1, 2]] })).rejects.toThrow("cue has 2 columns");
  });
});
