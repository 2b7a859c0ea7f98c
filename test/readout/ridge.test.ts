// Ridge regression as a user sees it: what is minimised, what rows count, and that every way of
// giving rows gives the same readout.
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import {
  GramAccumulator,
  IllConditionedError,
  type RidgeOptions,
  ridge,
  SingularFitError,
  type TrainedReadout,
} from "../../src/readout/index.js";
import { bits, plainCholesky, plainGram, plainSolve, randomMatrix } from "../numerics/linear-algebra-reference.js";

/** Targets that depend on the states linearly, with a constant and a little noise. */
function dataset(rows: number, size: number, outputs = 1): { states: Matrix; targets: Matrix } {
  const states = randomMatrix(rows, size, "states", "float32");
  const map = randomMatrix(outputs, size, "map");
  const noise = randomMatrix(rows, outputs, "noise");
  const targets = Matrix.zeros(rows, outputs);
  for (let t = 0; t < rows; t++) {
    for (let o = 0; o < outputs; o++) {
      let sum = 0.7 + 0.05 * noise.at(t, o);
      for (let i = 0; i < size; i++) sum += map.at(o, i) * states.at(t, i);
      targets.data[t * outputs + o] = sum;
    }
  }
  return { states, targets };
}

/**
 * Ridge regression from the rules of docs/numerics.md in plain loops: weights, then the intercept.
 */
function plainRidge(features: readonly (readonly number[])[], targets: Matrix, lambda: number, intercept = true): number[][] {
  const rows = features.map((row, t) => [...row, ...(intercept ? [1] : []), ...targets.row(t)]);
  const all = plainGram(Matrix.from(rows));
  const count = all.rows - targets.cols;
  const gram = Matrix.zeros(count, count);
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < count; j++) gram.data[i * count + j] = all.at(i, j);
    if (!(intercept && i === count - 1)) gram.data[i * count + i]! += lambda;
  }
  const factor = plainCholesky(gram);
  return Array.from({ length: targets.cols }, (_, o) => plainSolve(factor, all.column(count + o).subarray(0, count)).w);
}

function flat(readout: TrainedReadout): number[] {
  return readout.weights.toArrays().flatMap((row, o) => [...row, readout.intercept[o]!]);
}

function expectClose(a: ArrayLike<number>, b: ArrayLike<number>, tolerance: number): void {
  expect(a.length).toBe(b.length);
  for (let i = 0; i < a.length; i++) expect(Math.abs(a[i]! - b[i]!)).toBeLessThanOrEqual(tolerance * Math.max(1, Math.abs(b[i]!)));
}

describe("ridge", () => {
  const { states, targets } = dataset(200, 23, 2);
  const rows = states.toArrays();

  it("has the bits of the rules in plain loops", () => {
    const readout = ridge({ lambda: 1e-3 }).fit(states, targets);
    expect(bits(flat(readout))).toEqual(bits(plainRidge(rows, targets, 1e-3).flat()));
  });

  it("takes lambda 1e-6, an intercept, the plain state and Cholesky by default", () => {
    const readout = ridge().fit(states, targets);
    expect(bits(flat(readout))).toEqual(bits(plainRidge(rows, targets, 1e-6).flat()));
    expect(readout.training).toEqual({ method: "ridge", rows: 200, details: { solver: "cholesky", lambda: 1e-6, blas: "portable" } });
    expect(readout.features).toEqual({ state: "plain", input: false, squares: false });
  });

  it("does not penalise the intercept: with a huge lambda it is the mean and the weights are 0", () => {
    const readout = ridge({ lambda: 1e15 }).fit(states, targets);
    const mean = Array.from(targets.column(0)).reduce((sum, value) => sum + value, 0) / 200;
    expect(readout.intercept[0]).toBeCloseTo(mean, 10);
    expect(Math.max(...readout.weights.data.map(Math.abs))).toBeLessThan(1e-12);
  });

  it("leaves the intercept out where it is told to", () => {
    const readout = ridge({ lambda: 0.1, intercept: false }).fit(states, targets);
    expect(bits(readout.weights.data)).toEqual(bits(plainRidge(rows, targets, 0.1, false).flat()));
    expect(Array.from(readout.intercept)).toEqual([0, 0]);
  });

  it("sees the input, squares of half the neurons, or all squares, in the order state, input, squares", () => {
    const inputs = randomMatrix(200, 3, "inputs");
    const cases: [RidgeOptions, (x: number[], u: number[]) => number[]][] = [
      [{ input: true }, (x, u) => [...x, ...u]],
      [{ transform: "squareHalf" }, (x) => x.map((value, i) => (i % 2 === 1 ? value * value : value))],
      [{ transform: "squares" }, (x) => [...x, ...x.map((value) => value * value)]],
      [{ transform: "squares", input: true }, (x, u) => [...x, ...u, ...x.map((value) => value * value)]],
    ];
    for (const [options, features] of cases) {
      const expected = plainRidge(
        rows.map((x, t) => features(x, Array.from(inputs.row(t)))),
        targets,
        0.01,
      );
      for (const solver of ["cholesky", "qr"] as const) {
        const readout = ridge({ ...options, lambda: 0.01, solver }).fit(states, targets, { inputs });
        expectClose(flat(readout), expected.flat(), 1e-11);
      }
    }
  });

  it("gives the same bits from parts as from the whole", () => {
    for (const solver of ["cholesky", "qr"] as const) {
      const whole = ridge({ solver }).fit(states, targets);
      const trainer = ridge({ solver });
      trainer.partialFit(states.subarray(0, 61), targets.subarray(0, 61));
      const early = trainer.solve();
      expect(bits(flat(early))).toEqual(bits(flat(ridge({ solver }).fit(states.subarray(0, 61), targets.subarray(0, 61)))));
      trainer.partialFit(states.subarray(61), targets.subarray(61));
      expect(bits(flat(trainer.solve()))).toEqual(bits(flat(whole)));
    }
  });

  it("trains on several sequences, each with its own washout", () => {
    const parts = [
      [0, 50],
      [50, 60],
      [60, 200],
    ] as const;
    const stateList = parts.map(([from, to]) => states.subarray(from, to));
    const targetList = parts.map(([from, to]) => targets.subarray(from, to));
    const kept = (washouts: readonly number[]): number[] => parts.flatMap(([from, to], s) => range(from + washouts[s]!, to));
    for (const washout of [0, 4, [10, 0, 3]]) {
      const used = kept(typeof washout === "number" ? [washout, washout, washout] : washout);
      const expected = plainRidge(
        used.map((t) => rows[t]!),
        Matrix.from(used.map((t) => Array.from(targets.row(t)))),
        1e-6,
      );
      expect(bits(flat(ridge().fit(stateList, targetList, { washout })))).toEqual(bits(expected.flat()));
    }
  });

  it("takes arrays of rows and flat series as well as matrices", () => {
    const target = Array.from(targets.column(0));
    const expected = flat(ridge().fit(states, targets.column(0)));
    expect(bits(flat(ridge().fit(rows, target)))).toEqual(bits(expected));
    const several = ridge().fit([rows.slice(0, 80), rows.slice(80)], [target.slice(0, 80), target.slice(80)]);
    expect(bits(flat(several))).toEqual(bits(expected));
  });

  it("adds accumulators that saw different rows", () => {
    for (const solver of ["cholesky", "qr"] as const) {
      const trainer = ridge({ solver, lambda: 1e-4 });
      const shape = { stateSize: 23, inputSize: 0, outputSize: 2 };
      const [a, b] = [trainer.accumulator(shape), trainer.accumulator(shape)];
      const none = Matrix.zeros(100, 0);
      a.add(states.subarray(0, 100), none, targets.subarray(0, 100));
      b.add(states.subarray(100), none, targets.subarray(100));
      a.merge(b as never);
      expect(a.rows).toBe(200);
      expectClose(flat(trainer.solve(a)), flat(ridge({ solver, lambda: 1e-4 }).fit(states, targets)), 1e-12);
    }
  });

  it("gives the same predictions by Cholesky, by QR and by the dual form", () => {
    for (const [rowCount, options] of [
      [200, {}],
      [15, {}],
      [15, { intercept: false }],
      [15, { subtractMean: true }],
    ] as const) {
      const x = states.subarray(0, rowCount);
      const y = targets.subarray(0, rowCount);
      const all = (["cholesky", "qr", "dual"] as const).map((solver) => ridge({ lambda: 1e-3, solver, ...options }).fit(x, y));
      const predictions = all.map((readout) => readout.predict(states, undefined, { precision: "float64" }).data);
      expectClose(predictions[1]!, predictions[0]!, 1e-11);
      expectClose(predictions[2]!, predictions[0]!, 1e-11);
    }
  });

  it("picks the dual form for fewer rows than features where the solver is auto", () => {
    const solver = (rowCount: number): unknown =>
      ridge({ solver: "auto" }).fit(states.subarray(0, rowCount), targets.subarray(0, rowCount)).training?.details["solver"];
    expect(solver(22)).toBe("dual");
    expect(solver(23)).toBe("cholesky");
    const chosen = ridge({ solver: "auto", lambdas: [1, 10] }).fit(states.subarray(0, 22), targets.subarray(0, 22));
    expect(chosen.training?.details["solver"]).toBe("dual");
  });

  it("folds a subtracted mean into the intercept", () => {
    const mean = Array.from({ length: 23 }, (_, i) => Array.from(states.column(i)).reduce((sum, value) => sum + value, 0) / 200);
    const centred = rows.map((row) => row.map((value, i) => value - mean[i]!));
    for (const solver of ["cholesky", "qr", "dual"] as const) {
      const readout = ridge({ subtractMean: true, intercept: false, lambda: 2, solver }).fit(states, targets);
      const expected = plainRidge(centred, targets, 2, false);
      expectClose(readout.weights.data, expected.flat(), 1e-10);
      expected.forEach((w, o) => {
        expect(readout.intercept[o]).toBeCloseTo(-w.reduce((sum, value, i) => sum + value * mean[i]!, 0), 10);
      });
    }
  });

  it("minimises the penalised squares: no nearby weights are better", () => {
    const lambda = 3;
    const readout = ridge({ lambda }).fit(states, targets.column(0));
    const cost = (weights: Float64Array, intercept: number): number => {
      let sum = 0;
      for (let t = 0; t < 200; t++) {
        let residual = targets.at(t, 0) - intercept;
        for (let i = 0; i < 23; i++) residual -= weights[i]! * states.at(t, i);
        sum += residual * residual;
      }
      return sum + lambda * weights.reduce((squares, w) => squares + w * w, 0);
    };
    const best = cost(readout.weights.data, readout.intercept[0]!);
    for (let i = 0; i < 23; i++) {
      for (const change of [-1e-3, 1e-3]) {
        const weights = readout.weights.data.slice();
        weights[i]! += change;
        expect(cost(weights, readout.intercept[0]!)).toBeGreaterThan(best);
      }
    }
    expect(cost(readout.weights.data, readout.intercept[0]! + 1e-3)).toBeGreaterThan(best);
  });

  it("fails by name where lambda is too small for Cholesky, and QR goes on", () => {
    const doubled = Matrix.from(rows.map((row) => [...row, row[4]!]));
    const thrown = (() => {
      try {
        ridge({ lambda: 1e-18 }).fit(doubled, targets);
      } catch (error) {
        return error;
      }
      return undefined;
    })();
    expect(thrown).toBeInstanceOf(IllConditionedError);
    const error = thrown as IllConditionedError;
    expect(error.lambda).toBe(1e-18);
    expect(error.pivotIndex).toBe(23);
    expect(error.conditionEstimate).toBeGreaterThan(1e14);
    expect(error.message).toMatch(
      /^ridge regression with lambda 1e-18 failed: pivot 23 of the 25 x 25 matrix is .* and must be above its rounding, .* \(condition at least about \d\.\de\+1\d\)\. Take a larger lambda, or solver: "qr"$/,
    );
    // The doubled neuron and its twin share the weight of the one neuron there was.
    const readout = ridge({ lambda: 1e-18, solver: "qr" }).fit(doubled, targets);
    const single = ridge({ lambda: 0, solver: "qr" }).fit(states, targets);
    expectClose(
      readout.predict(doubled, undefined, { precision: "float64" }).data,
      single.predict(states, undefined, { precision: "float64" }).data,
      1e-6,
    );
  });

  it("says when rows do not determine the weights", () => {
    expect(() => ridge({ lambda: 0 }).fit(states.subarray(0, 23), targets.subarray(0, 23))).toThrow(
      "23 rows do not determine 24 weights an output with lambda 0; it takes as many rows, or lambda above 0",
    );
    const silent = Matrix.from(rows.map((row) => [...row, 0]));
    expect(() => ridge({ lambda: 0, solver: "qr" }).fit(silent, targets)).toThrow(SingularFitError);
  });

  it("can be filled by whatever fills a training sink", () => {
    const sink = new GramAccumulator({ features: ridge().features, stateSize: 23, inputSize: 0, outputSize: 2 });
    sink.add(states, Matrix.zeros(200, 0), targets);
    const { gram, cross, targetSquares } = sink.sums();
    const all = plainGram(Matrix.from(rows.map((row, t) => [...row, 1, ...targets.row(t)])));
    expect(bits(gram.row(5))).toEqual(bits(all.row(5).subarray(0, 24)));
    expect(bits(cross.row(23))).toEqual(bits(all.row(23).subarray(24)));
    expect(targetSquares[1]).toBe(all.at(25, 25));
    const expected = bits(flat(ridge().fit(states, targets)));
    expect(bits(flat(ridge().solve(sink)))).toEqual(expected);
    // Sums that were handed out are the caller's own.
    for (const each of [gram.data, cross.data, targetSquares]) each.fill(7);
    expect(bits(flat(ridge().solve(sink)))).toEqual(expected);
  });
});

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}
