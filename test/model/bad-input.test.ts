import { describe, expect, it } from "vitest";
import { Classifier, Forecaster, Matrix } from "../../src/index.js";

const wave = (rows: number): Matrix =>
  new Matrix(
    rows,
    1,
    Float64Array.from({ length: rows }, (_, t) => ((t * 37) % 50) / 25 - 1),
  );
const reservoir = { size: 10 };
const withHole = wave(300);
withHole.data[211] = Number.NaN;

describe("a forecaster says what is wrong with", () => {
  const train = (data: Parameters<typeof Forecaster.fit>[0], options: object = {}) => Forecaster.fit(data, { reservoir, ...options });

  it.each([
    [
      "no options",
      () => Forecaster.fit(wave(300), undefined as never),
      "reservoir is missing; it takes an object that describes a reservoir, at least {size}",
    ],
    ["no data", () => train(null as unknown as number[]), "series is null; it takes a Matrix"],
    [
      "a season that is longer than the rows",
      () => train(wave(400), { horizon: 10, season: [24, 500], members: ["loop"] }),
      "season is 24, 500; a readout would get 572 rows of it (a season and a seventh), and 299 are left to train on",
    ],
    [
      "a warm-up of other columns beside known inputs",
      async () => {
        const known = wave(300);
        await using forecaster = await train({ series: wave(300), known });
        const series = Array.from({ length: 300 }, () => [1, 2]);
        await forecaster.forecast(2, { warmup: { series, known }, known: [1, 2] });
      },
      "warmup.series has 2 columns; this forecaster takes 1",
    ],
    ["an empty series", () => train([]), "series is empty; it takes at least one row"],
    ["a series of one row", () => train([1]), "series has 1 row; a series takes at least two, since one of them is predicted"],
    ["a value that is not a number", () => train(withHole), "series is NaN at row 211, column 0; it takes finite numbers"],
    [
      "a value that is infinite",
      () =>
        train([
          [1, 2],
          [3, -1 / 0],
        ]),
      "series is -Infinity at row 1, column 1; it takes finite numbers",
    ],
    ["ragged rows", () => train([[1, 2], [3]]), /row 1 holds 1 values and row 0 holds 2/],
    ["what is no series", () => train("series" as unknown as number[]), /series is "series"; it takes a Matrix, a Float32Array/],
    [
      "a washout as long as the training rows",
      () => train(wave(100)),
      "washout is 100 and the series gives 99 rows to train on; set a washout below that",
    ],
    [
      "inputs and targets of different length",
      () => train({ inputs: wave(200), targets: wave(199) }),
      "inputs has 200 rows and targets has 199; they take the same number",
    ],
    [
      "targets alone without feedback",
      () => train({ targets: wave(200) }),
      /inputs is missing; without feedback, give inputs with the targets/,
    ],
    [
      "another number of inputs than the reservoir's",
      () => train(wave(300), { reservoir: { size: 10, inputSize: 3 } }),
      "the data has 1 inputs and the reservoir takes 3 (inputSize); set inputSize to that, or leave it out",
    ],
    [
      "another number of targets than the feedback's",
      () => train(wave(300), { reservoir: { size: 10, feedback: { size: 2 } } }),
      "the data has 1 targets and the reservoir feeds back 2 (feedback.size); set it to that, or leave it out",
    ],
    [
      "a series alone for a reservoir with feedback and inputs",
      () => train(wave(300), { reservoir: { size: 10, inputSize: 1, feedback: {} } }),
      "the data has 0 inputs and the reservoir takes 1 (inputSize); give { inputs, targets }, or set inputSize to 0",
    ],
    ["no series at all", () => train({ sequences: [] }), "sequences is empty; it takes at least one"],
    [
      "series of different width",
      () => train({ sequences: [wave(300), new Matrix(150, 2, wave(300).data)] }),
      "sequences[1] has 2 columns, and sequences[0] has 1 column; they take the same",
    ],
    ["a series among several", () => train({ sequences: [wave(300), withHole] }), "sequences[1]: series is NaN at row 211, column 0"],
    [
      "one of several that is too short",
      () => train({ sequences: [wave(300), wave(50)] }),
      "washout is 100 and sequences[1] gives 49 rows",
    ],
    ["an unknown option", () => train(wave(300), { washuot: 3 }), 'unknown field "washuot": did you mean "washout"?'],
    [
      "an unknown option that resembles none",
      () => train(wave(300), { zigzag: 3 }),
      'unknown field "zigzag"; known fields are reservoir, model, matrices, engine, context, plan, threads, profile, washout, horizon, targets, season, members, weights, choose, missing, transforms, standardise, hold, bounds, lags, calendar, table, hybrid, readout',
    ],
    [
      "an option it does not take",
      () => train(wave(300), { standardise: "both" }),
      'standardise is "both"; it takes true, false, "inputs" or "targets"',
    ],
    [
      "an unknown option of the readout",
      () => train(wave(300), { readout: { lamda: 1 } }),
      'ridge: unknown field "lamda": did you mean "lambda"?',
    ],
    [
      "an unknown field of the reservoir",
      () => train(wave(300), { reservoir: { size: 10, spectralRadus: 1 } }),
      'did you mean "spectralRadius"?',
    ],
    ["no reservoir", () => Forecaster.fit(wave(300), {} as { reservoir: { size: number } }), "reservoir is missing; it takes an object"],
    ["an unknown engine", () => train(wave(300), { engine: "gpu" }), /there is no engine of that name/],
  ] as [string, () => Promise<unknown>, string | RegExp][])("%s", async (_, work, message) => {
    await expect(work()).rejects.toThrow(message);
  });

  it("what comes after training, and is still good afterwards", async () => {
    await using forecaster = await train(wave(300));
    const before = await forecaster.forecast(5);
    await expect(forecaster.predict([[1, 2]])).rejects.toThrow("inputs has 2 columns; this forecaster takes 1");
    await expect(forecaster.predict([])).rejects.toThrow("inputs is empty");
    await expect(forecaster.predict(withHole)).rejects.toThrow("inputs is NaN at row 211, column 0");
    await expect(forecaster.predict({ steps: 0 })).rejects.toThrow("steps is 0; it takes a whole number of at least 1");
    await expect(forecaster.predict(wave(3), { teacher: wave(3) })).rejects.toThrow("this forecaster's reservoir has no feedback to force");
    await expect(forecaster.forecast(0)).rejects.toThrow("steps is 0; it takes a whole number of at least 1");
    await expect(forecaster.forecast(5, { warmup: [] })).rejects.toThrow("warmup.inputs is empty");
    await expect(forecaster.forecast(5, { warmup: { targets: wave(9) } })).rejects.toThrow("warmup.inputs is missing");
    await expect(forecaster.forecast(5, { warmup: [[1, 2]] })).rejects.toThrow("warmup.inputs has 2 columns; this forecaster takes 1");
    await expect(forecaster.forecast(5, { inputs: wave(5) })).rejects.toThrow("inputs has 1 columns; this forecaster takes 0");
    await expect(forecaster.score(wave(30), { washout: 29 })).rejects.toThrow("washout is 29 and there are 29 rows to score");
    expect(await forecaster.forecast(5)).toEqual(before);
  });

  it("a closed loop that lacks inputs", async () => {
    const inputs = new Matrix(300, 3, wave(900).data);
    await using wide = await train({ inputs, targets: wave(300) });
    await expect(wide.forecast(5)).rejects.toThrow("inputs is missing; 2 of this reservoir's 3 inputs come from outside, one row a step");
    await expect(wide.forecast(5, { inputs: new Matrix(4, 2, new Float64Array(8)) })).rejects.toThrow(
      "inputs has 4 rows; 5 steps take as many",
    );
    await using narrow = await train({ inputs: wave(300), targets: new Matrix(300, 2, wave(600).data) });
    await expect(narrow.forecast(5)).rejects.toThrow("a closed loop without feedback takes the 2 outputs as inputs; this reservoir has 1");
    await using fed = await train({ inputs: wave(300), targets: wave(300) }, { reservoir: { size: 10, feedback: {} } });
    await expect(fed.forecast(5)).rejects.toThrow("inputs is missing; 1 of this reservoir's 1 inputs come from outside");
    await expect(fed.forecast(5, { warmup: { inputs: wave(9) }, inputs: wave(5) })).rejects.toThrow("warmup.targets is missing");
    await expect(fed.predict(wave(9), { teacher: wave(8) })).rejects.toThrow("teacher has 8 rows and inputs has 9");
  });
});

describe("a classifier says what is wrong with", () => {
  const cases = [wave(20), wave(15), wave(30), wave(12)];
  const labels = ["a", "b", "a", "b"];
  const train = (sequences: unknown, names: unknown, options: object = {}) =>
    Classifier.fit(sequences as Matrix[], names as string[], { reservoir, ...options });

  it.each([
    [
      "a reservoir that is none",
      () => train(cases, labels, { reservoir: 5 as never }),
      "reservoir is 5; it takes an object that describes a reservoir",
    ],
    ["no sequences", () => train([], []), "sequences is empty; it takes at least one"],
    ["what is no list", () => train(wave(20), labels), "sequences is one matrix; it takes a list of series, one a case"],
    ["an empty sequence", () => train([wave(20), wave(0), wave(20), wave(20)], labels), "sequences[1] is empty; it takes at least one row"],
    [
      "a value that is not a number",
      () => train([wave(20), withHole, wave(9), wave(9)], labels),
      "sequences[1] is NaN at row 211, column 0",
    ],
    [
      "other channels",
      () => train([wave(20), new Matrix(5, 2, wave(10).data), wave(9), wave(9)], labels),
      "sequences[1] has 2 channels and sequences[0] 1; all take the same number, at least 1",
    ],
    [
      "a sequence within the washout",
      () => train(cases, labels, { washout: 12 }),
      'sequences[3] has 12 rows; representation "statistics" with washout 12 takes at least 13',
    ],
    [
      "a sequence of one row in output space",
      () => train([wave(20), wave(1), wave(2), wave(2)], labels, { representation: "output" }),
      'sequences[1] has 1 rows; representation "output" with washout 0 takes at least 2',
    ],
    ["no labels", () => train(cases, undefined), "labels is missing; it takes a list of classes, one a case"],
    ["another number of labels", () => train(cases, ["a", "b"]), "labels holds 2 classes and sequences 4 cases; they take the same number"],
    ["one class only", () => train(cases, ["a", "a", "a", "a"]), 'labels names one class only, "a"; a classifier takes at least two'],
    ["mixed labels", () => train(cases, ["a", "b", 1, "b"]), 'labels[2] is 1 and labels[0] is "a"; classes are all texts or all numbers'],
    ["a label that is no class", () => train(cases, ["a", "b", null, "b"]), "labels[2] is null; a class is a text or a finite number"],
    [
      "a number of inputs that is not its channels",
      () => train(cases, labels, { reservoir: { size: 10, inputSize: 4 } }),
      "leave inputSize out",
    ],
    [
      "feedback",
      () => train(cases, labels, { reservoir: { size: 10, feedback: {} } }),
      "a classifier's reservoirs have no outputs to feed back",
    ],
    [
      "an unknown option",
      () => train(cases, labels, { representaton: "last" }),
      'unknown field "representaton": did you mean "representation"?',
    ],
    [
      "another representation",
      () => train(cases, labels, { representation: "first" }),
      'representation is "first"; it takes "statistics", "last", "mean"',
    ],
    [
      "no members",
      () => train(cases, labels, { members: 0 }),
      "members is 0; it takes a whole number of at least 1, or a list of one seed a member",
    ],
    [
      "an empty list of members",
      () => train(cases, labels, { members: [] }),
      "members is an array of 0; it takes a whole number of at least 1, or a list",
    ],
    [
      "an unknown readout",
      () => train(cases, labels, { readout: { type: "svm" } }),
      'readout.type is "svm"; it takes one of ridge, softmax, rls, lms',
    ],
    [
      "an option of another readout",
      () => train(cases, labels, { readout: { type: "softmax", lambda: 1 } }),
      'softmaxRegression: unknown field "lambda"',
    ],
  ] as [string, () => Promise<unknown>, string][])("%s", async (_, work, message) => {
    await expect(work()).rejects.toThrow(message);
  });

  it("what comes after training", async () => {
    await using classifier = await train(cases, labels);
    await expect(classifier.predict([])).rejects.toThrow("sequences is empty");
    await expect(classifier.predict([new Matrix(5, 2, wave(10).data)])).rejects.toThrow(
      "sequences[0] has 2 channels and the classifier was trained on 1",
    );
    await expect(classifier.score(cases, ["a", "b", "c", "a"])).rejects.toThrow(
      'labels[2] is "c", which the classifier was not trained on; it knows "a", "b"',
    );
    await expect(classifier.confusion(cases, ["a"])).rejects.toThrow("labels holds 1 classes and sequences 4 cases");
  });
});
