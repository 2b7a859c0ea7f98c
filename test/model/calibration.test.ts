// Probabilities of a classifier whose ridge readout chose its lambda by leave-one-out.
import { describe, expect, it } from "vitest";
import { RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { Classifier, Matrix, ridge } from "../../src/index.js";
import { calibrated, calibrationFactor } from "../../src/model/classifier/calibration.js";
import { decodeModelFile, encodeModelFile } from "../../src/model/model-file.js";

const draws = new RandomStream(seedKeys("calibration").weights, 90);
const logLoss = (shares: Matrix, classes: ArrayLike<number>) =>
  Array.from(classes).reduce((sum, own, b) => sum - Math.log(shares.at(b, own)), 0) / classes.length;

describe("a calibration factor", () => {
  it("finds the one that drew the classes", () => {
    const [rows, cols, factor] = [4000, 3, 5];
    const outputs = new Matrix(
      rows,
      cols,
      Float64Array.from({ length: rows * cols }, (_, i) => draws.uniform(0, i)),
    );
    const shares = calibrated(outputs, factor);
    const classes = Int32Array.from({ length: rows }, (_, b) => {
      const u = draws.uniform(1, b);
      return u < shares.at(b, 0) ? 0 : u < shares.at(b, 0) + shares.at(b, 1) ? 1 : 2;
    });
    expect(Math.abs(calibrationFactor(outputs, classes) / factor - 1)).toBeLessThan(0.1);
  });

  it("makes no certainty of cases without an error", () => {
    const outputs = Matrix.from([0, 1, 0, 1].map((k) => [1 - k, k])) as Matrix<Float64Array>;
    const shares = calibrated(outputs, calibrationFactor(outputs, Int32Array.of(0, 1, 0, 1)));
    expect(shares.at(0, 0)).toBeCloseTo(5 / 6, 2);
  });

  it("of outputs that tell nothing makes all classes nearly as likely", () => {
    const outputs = new Matrix(
      200,
      2,
      Float64Array.from({ length: 400 }, (_, i) => draws.uniform(2, i)),
    );
    const classes = Int32Array.from({ length: 200 }, (_, b) => b % 2);
    const shares = calibrated(outputs, calibrationFactor(outputs, classes));
    expect(Math.max(...shares.data)).toBeLessThan(0.7);
  });
});

it("ridge keeps the outputs of the fits that left each row out", () => {
  const random = (row: number, cols: number) =>
    new Matrix(
      12,
      cols,
      Float64Array.from({ length: 12 * cols }, (_, i) => draws.uniform(row, i)),
    );
  const [x, y] = [random(3, 30), random(4, 2)];
  const { leftOut, training } = ridge({ lambdas: [0.1, 1, 10], selection: "leaveOneOut", solver: "auto" }).fit(x, y);
  const lambda = training!.details["lambda"] as number;
  for (let b = 0; b < 12; b++) {
    const others = (matrix: Matrix) => Matrix.from(matrix.toArrays().filter((_, row) => row !== b));
    const said = ridge({ lambda, solver: "dual" })
      .fit(others(x), others(y))
      .predict(x.subarray(b, b + 1));
    for (let o = 0; o < 2; o++) expect(leftOut!.at(b, o)).toBeCloseTo(said.at(0, o), 9);
  }
});

describe("a classifier's probabilities", () => {
  // Two classes that differ in how far they swing, so much as noise lets them.
  const cases = (count: number, from: number) => {
    const labels = Array.from({ length: count }, (_, b) => (b % 2 === 0 ? "calm" : "wild"));
    const sequences = labels.map(
      (label, b) =>
        new Matrix(
          15,
          1,
          Float64Array.from({ length: 15 }, (_, t) => (label === "wild" ? 1.3 : 1) * draws.normal(from + b, t)),
        ),
    );
    return { sequences, labels };
  };
  const [train, test] = [cases(120, 1000), cases(400, 5000)];

  it("are nearer to what happens than outputs cut at 0, are in its file, and choose the same class", async () => {
    await using classifier = await Classifier.fit(train.sequences, train.labels, { reservoir: { size: 20, seed: 1 } });
    const shares = await classifier.predictProba(test.sequences);
    const bytes = await classifier.toBytes();
    await using again = await Classifier.fromBytes(bytes);
    expect(await again.predictProba(test.sequences)).toEqual(shares);
    const file = await decodeModelFile(bytes, "a file", "classifier");
    const { calibration, ...metadata } = file.metadata;
    await using plain = await Classifier.fromBytes(await encodeModelFile("classifier", { tensors: file.tensors, metadata }));
    const classes = test.labels.map((label) => classifier.classes.indexOf(label));
    expect(logLoss(shares, classes)).toBeLessThan(logLoss(await plain.predictProba(test.sequences), classes));
    expect(await plain.predict(test.sequences)).toEqual(await classifier.predict(test.sequences));
    for (const wrong of ["[]", "[0]", '["a"]', "[1,2]"]) {
      const changed = encodeModelFile("classifier", { tensors: file.tensors, metadata: { ...metadata, calibration: wrong } });
      await expect(Classifier.fromBytes(await changed)).rejects.toThrow("its calibration cannot be used");
    }
    expect(calibration).toBeDefined();
  });
});
