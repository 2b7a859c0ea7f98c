// What trainers say about options and data they cannot take.
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import {
  GramAccumulator,
  leastMeanSquares,
  recursiveLeastSquares,
  ridge,
  softmax,
  softmaxRegression,
  TrainedReadout,
  TriangularAccumulator,
} from "../../src/readout/index.js";
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
    ["a negative washout", () => ridge().fit(states, targets, { washout: -1 }), "washout is -1; it takes a whole number of at least 0"],
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
      'fit: unknown field "warmup"; known fields are washout, inputs',
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
    [() => ridge(1e-6 as never), "ridge: options is 0.000001; it takes an object of options"],
    [() => recursiveLeastSquares(1 as never), "recursiveLeastSquares: options is 1; it takes an object"],
    [() => ridge().fit(states, targets, 3 as never), "fit: options is 3; it takes an object of options"],
    [() => ridge({ lambda: -1 }), "lambda is -1; it takes a finite number of at least 0"],
    [() => ridge({ lambda: Number.NaN }), "lambda is NaN; it takes a finite number of at least 0"],
    [() => ridge({ lambdas: [] }), "lambdas is an array of 0; it takes at least one number"],
    [() => ridge({ lambdas: [1, -2] }), "lambdas[1] is -2; it takes a finite number of at least 0"],
    [() => ridge({ lambdas: [1], lambda: 1 }), "lambda and lambdas are both given; it takes one of them"],
    [() => ridge({ selection: "gcv" }), 'selection is "gcv" and lambdas is missing; it takes a grid to choose from'],
    [() => ridge({ lambdas: [1], selection: "aic" as never }), 'selection is "aic"; it takes "gcv" or "leaveOneOut"'],
    [() => ridge({ solver: "svd" as never }), 'solver is "svd"; it takes "cholesky", "qr", "doubleDouble", "dual" or "auto"'],
    [
      () => ridge({ solver: "dual" }).partialFit(states, targets),
      'solver "dual" keeps every row; for rows that stream by, take "cholesky", "qr" or "doubleDouble"',
    ],
    [() => ridge({ solver: "qr", blas: "system" }), 'blas is "system" and solver is "qr"; a library serves "cholesky"'],
    [() => ridge({ lambdas: [1], subtractMean: true, intercept: false }), "lambdas with subtractMean takes intercept: true"],
    [() => ridge({ transform: "cube" as never }), 'transform is "cube"; it takes "plain", "squareHalf" or "squares"'],
    [() => ridge({ intercept: 1 as never }), "intercept is 1; it takes true or false"],
    [() => ridge({ alpha: 1 } as never), 'ridge: unknown field "alpha"; known fields are transform, input, intercept, lambda'],
    [() => recursiveLeastSquares({ forgetting: 0 }), "forgetting is 0; it takes a number above 0 and at most 1"],
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

describe("accumulators", () => {
  const shape = { stateSize: 3, inputSize: 0, outputSize: 1 };
  const features = ridge().features;

  it.each([
    [
      "no shape",
      () => ridge().accumulator(undefined as never),
      "the shape of the accumulator is missing; it takes an object with stateSize",
    ],
    [
      "a size alone",
      () => ridge().accumulator({ stateSize: 3 } as never),
      "the shape of the accumulator: inputSize is missing; it takes a whole",
    ],
    [
      "a broken size",
      () => ridge({ solver: "qr" }).accumulator({ ...shape, outputSize: 0.5 }),
      "outputSize is 0.5; it takes a whole number",
    ],
    ["no options", () => new GramAccumulator(undefined as never), "the accumulator is missing; it takes an object with stateSize"],
    ["no features", () => new GramAccumulator(shape as never), "features is missing; it takes an object with state, input, squares"],
    [
      "features of another name",
      () => new TriangularAccumulator({ ...shape, features: { ...features, state: "squares" as never } }),
      'features.state is "squares"; it takes "plain" or "squareHalf"',
    ],
    [
      "another constant",
      () => new TriangularAccumulator({ ...shape, features, constant: 1 as never }),
      "constant is 1; it takes true or false",
    ],
    ["a shape to solve", () => ridge().solve(shape as never), 'accumulator is {"stateSize":3,"inputSize":0,"outputSize":1}; it takes one'],
    [
      "lists of rows",
      () =>
        ridge()
          .accumulator(shape)
          .add([[1]] as never, states, targets),
      "states is an array of 1; an accumulator takes a Matrix",
    ],
    [
      "nothing to merge",
      () => (ridge().accumulator(shape) as GramAccumulator).merge(undefined as never),
      "the other accumulator is missing; it takes a GramAccumulator",
    ],
    [
      "other sums to merge",
      () => (ridge({ solver: "qr" }).accumulator(shape) as TriangularAccumulator).merge(ridge().accumulator(shape) as never),
      /^the other accumulator is .*; it takes a TriangularAccumulator$/,
    ],
    ["null to solve", () => ridge().solve(null as never), "accumulator is null; it takes one that this trainer's accumulator() gave"],
  ])("refuse %s", (_, run, message) => {
    expect(run).toThrow(message);
  });
});

describe("softmax", () => {
  it("refuses what is no Matrix", () => {
    expect(() => softmax(undefined as never)).toThrow("scores is missing; it takes a Matrix");
    expect(() => softmax([[1, 2]] as never)).toThrow("scores is an array of 1; it takes a Matrix");
  });
});

describe("a readout from its parts", () => {
  const trained = ridge({ lambda: 0.1 }).fit(states, targets);
  const { features, stateSize, inputSize, weights, intercept } = trained;
  const data = { features, stateSize, inputSize, weights, intercept };
  const made = (change: object) => () => new TrainedReadout({ ...data, ...change } as never);
  const read = (change: object) => () => TrainedReadout.fromJSON({ ...trained.toJSON(), ...change } as never);

  it.each([
    ["nothing", () => new TrainedReadout(undefined as never), "the readout is missing; it takes an object with stateSize, inputSize"],
    ["a text for a size", made({ stateSize: "3" }), 'the readout: stateSize is "3"; it takes a whole number of at least 0'],
    ["no features", made({ features: undefined }), "features is missing; it takes an object with state, input, squares"],
    ["features without input", made({ features: { state: "plain" } }), "features.input is missing; it takes true or false"],
    ["lists for weights", made({ weights: [[1, 2, 3]] }), "weights is an array of 1; it takes a Matrix of Float64Array"],
    ["binary32 weights", made({ weights: Matrix.zeros(1, 3, "float32") }), "weights is a 1 x 3 matrix; it takes a Matrix of Float64Array"],
    ["a list for an intercept", made({ intercept: [1] }), "intercept is an array of 1; it takes a Float64Array"],
    [
      "JSON that is none",
      () => TrainedReadout.fromJSON(null as never),
      "the readout is null; it takes an object with stateSize, inputSize",
    ],
    ["JSON without weights", read({ weights: undefined }), "weights is missing; it takes a Matrix"],
    ["JSON with a weight that was not finite", read({ weights: [[1, null, 3]] }), "weights: row 0, column 1 is null; it takes a number"],
    ["JSON with ragged weights", read({ weights: [[1, 2, 3], [4]] }), "weights: row 1"],
    ["JSON of other weights", read({ weights: [[1, 2]] }), "the weights have 2 columns; the features of this readout take 3"],
    ["JSON with a text for an intercept", read({ intercept: ["1"] }), "intercept: row 0"],
    ["JSON without sizes", read({ inputSize: undefined }), "the readout: inputSize is missing; it takes a whole number"],
  ])("refuses %s", (_, run, message) => {
    expect(run).toThrow(message);
  });

  it("predicts without options that there are not", () => {
    expect(() => trained.predict(states, undefined, { precison: "float64" } as never)).toThrow(
      'predict: unknown field "precison": did you mean "precision"?',
    );
    expect(() => trained.predict(states, undefined, null as never)).toThrow("predict: options is null; it takes an object of options");
  });

  it("is the same as it was", () => {
    expect(made({})().weights).toEqual(weights);
    expect(read({})()).toEqual(trained);
  });
});
