// What trainers say about options and data they cannot take.
import { describe, expect, it } from "vitest";
import { Matrix } from "../../src/numerics/index.js";
import { leastMeanSquares, recursiveLeastSquares, ridge, softmaxRegression } from "../../src/readout/index.js";
import { randomMatrix } from "../numerics/linear-algebra-reference.js";

const states = randomMatrix(10, 3, "states");
const targets = randomMatrix(10, 1, "targets");

function spoilt(matrix: Matrix, row: number, column: number, value: number): Matrix {
  const copy = matrix.slice();
  copy.data[row * copy.cols + column] = value;
  return copy;
}

describe("training data", () => {
  it.each([
    ["a NaN in the states", () => ridge().fit(spoilt(states, 4, 2, Number.NaN), targets), "states: row 4, column 2 is NaN"],
    [
      "an infinity in the targets",
      () => ridge().fit(states, spoilt(targets, 7, 0, Number.POSITIVE_INFINITY)),
      "targets: row 7, column 0 is Infinity",
    ],
    [
      "a NaN in the inputs",
      () => ridge().fit(states, targets, { inputs: spoilt(states, 1, 1, Number.NaN) }),
      "inputs: row 1, column 1 is NaN",
    ],
    [
      "a NaN in one of several",
      () => ridge().fit([states, spoilt(states, 0, 1, Number.NaN)], [targets, targets]),
      "sequence 1: states: row 0, column 1 is NaN",
    ],
    [
      "other numbers of rows",
      () => ridge().fit(states, targets.slice(1)),
      "targets has 9 rows and states has 10; the two take the same number",
    ],
    ["inputs of other length", () => ridge().fit(states, targets, { inputs: targets.slice(2) }), "inputs has 8 rows and states has 10"],
    [
      "a washout of every row",
      () => ridge().fit(states, targets, { washout: 10 }),
      "washout is 10 and there are 10 rows; it takes fewer than there are",
    ],
    ["a washout of null", () => ridge().fit(states, targets, { washout: null as never }), "washout is null; it takes a whole number"],
    ["a negative washout", () => ridge().fit(states, targets, { washout: -1 }), "washout is -1; it takes whole numbers of at least 0"],
    [
      "too few washouts",
      () => ridge().fit([states, states], [targets, targets], { washout: [1] }),
      "washout holds 1 numbers; 2 sequences take 2, or one for all",
    ],
    ["no sequences", () => ridge().fit([], []), "states is an empty list; it takes at least one sequence"],
    ["an empty sequence", () => ridge().fit(Matrix.zeros(0, 3), Matrix.zeros(0, 1)), "states holds no rows; it takes at least one"],
    ["other numbers of sequences", () => ridge().fit([states, states], [targets]), "targets holds 1 sequences and states holds 2"],
    ["one series of targets for a list", () => ridge().fit([states, states], targets), "targets is "],
    [
      "sequences of other widths",
      () => ridge().fit([states, states.slice()], [targets, Matrix.zeros(10, 2)]),
      "sequence 1: targets has 2 columns; it takes 1, as before",
    ],
    [
      "other widths later",
      () => ridge().partialFit(states, targets).partialFit(targets, targets),
      "partialFit: states has 1 columns; it takes 3, as before",
    ],
    [
      "no inputs where they are needed",
      () => ridge({ input: true }).fit(states, targets),
      "inputs is missing; a readout with input: true takes the inputs beside the states",
    ],
    [
      "a misspelt option of fit",
      () => ridge().fit(states, targets, { warmup: 3 } as never),
      'fit has no option "warmup"; it takes washout, inputs',
    ],
    ["nothing to solve", () => ridge().solve(), "there are no training rows; call partialFit before solve"],
  ])("with %s is refused", (_, run, message) => {
    expect(run).toThrow(message);
  });

  it("may hold anything in the rows that are washed out", () => {
    const readout = ridge({ lambda: 0.1 }).fit(spoilt(states, 1, 0, Number.NaN), spoilt(targets, 0, 0, Number.NaN), { washout: 2 });
    expect(readout.weights).toEqual(ridge({ lambda: 0.1 }).fit(states.slice(2), targets.slice(2)).weights);
  });

  it("names the row as the series has it, not as it is after washout", () => {
    expect(() => ridge().fit(spoilt(states, 6, 2, Number.NaN), targets, { washout: 5 })).toThrow("states: row 6, column 2 is NaN");
  });

  it("is checked before any of it is taken in", () => {
    const trainer = ridge({ lambda: 1 }).partialFit(states, targets);
    expect(() => trainer.partialFit([states, spoilt(states, 9, 0, Number.NaN)], [targets, targets])).toThrow("sequence 1: states: row 9");
    expect(trainer.solve().training?.rows).toBe(10);
  });
});

describe("options", () => {
  it.each([
    [() => ridge(1e-6 as never), "the options of ridge are 0.000001; it takes an object with transform, input, intercept, lambda"],
    [() => recursiveLeastSquares(1 as never), "the options of recursiveLeastSquares are 1; it takes an object"],
    [() => ridge().fit(states, targets, 3 as never), "the options of fit are 3; it takes an object with washout, inputs"],
    [() => ridge({ lambda: -1 }), "lambda is -1; it takes a finite number of at least 0"],
    [() => ridge({ lambda: Number.NaN }), "lambda is NaN; it takes a finite number of at least 0"],
    [() => ridge({ lambdas: [] }), "lambdas is an array of 0; it takes at least one number"],
    [() => ridge({ lambdas: [1, -2] }), "lambdas[1] is -2; it takes a finite number of at least 0"],
    [() => ridge({ lambdas: [1], lambda: 1 }), "lambda and lambdas are both given; it takes one of them"],
    [() => ridge({ selection: "gcv" }), 'selection is "gcv" and lambdas is missing; it takes a grid to choose from'],
    [() => ridge({ lambdas: [1], selection: "aic" as never }), 'selection is "aic"; it takes "gcv", "leaveOneOut"'],
    [() => ridge({ solver: "svd" as never }), 'solver is "svd"; it takes "cholesky", "qr", "dual", "auto"'],
    [() => ridge({ solver: "dual", lambdas: [1] }), 'solver is "dual" and lambdas is given; a grid takes "cholesky" or "qr"'],
    [
      () => ridge({ solver: "dual" }).partialFit(states, targets),
      'solver "dual" keeps every row; for rows that stream by, take "cholesky" or "qr"',
    ],
    [() => ridge({ solver: "qr", blas: "system" }), 'blas is "system" and solver is "qr"; a library serves "cholesky"'],
    [() => ridge({ lambdas: [1], subtractMean: true, intercept: false }), "lambdas with subtractMean takes intercept: true"],
    [() => ridge({ transform: "cube" as never }), 'transform is "cube"; it takes "plain", "squareHalf", "squares"'],
    [() => ridge({ intercept: 1 as never }), "intercept is 1; it takes true or false"],
    [() => ridge({ alpha: 1 } as never), 'ridge has no option "alpha"; it takes transform, input, intercept, lambda'],
    [() => recursiveLeastSquares({ forgetting: 0 }), "forgetting is 0; it takes a number above 0 and up to 1"],
    [() => recursiveLeastSquares({ alpha: 0 }), "alpha is 0; it takes a number above 0"],
    [() => leastMeanSquares({ learningRate: -1 }), "learningRate is -1; it takes a number above 0"],
    [() => softmaxRegression({ l2: -1 }), "l2 is -1; it takes a finite number of at least 0"],
    [() => softmaxRegression({ maxIterations: 1.5 }), "maxIterations is 1.5; it takes a whole number above 0"],
  ])("%s is refused", (run, message) => {
    expect(run).toThrow(message);
  });

  it("an accumulator of another trainer is refused", () => {
    const accumulator = ridge({ solver: "qr" }).accumulator({ stateSize: 3, inputSize: 0, outputSize: 1 });
    accumulator.add(states, Matrix.zeros(10, 0), targets);
    expect(() => ridge().solve(accumulator)).toThrow("the accumulator was made by a trainer with another solver or intercept");
  });
});
