// accuracy and confusionMatrix.
import { describe, expect, it } from "vitest";
import { accuracy, confusionMatrix } from "../../src/metrics/index.js";

const target = ["cat", "ant", "cat", "cat", "ant", "bird"];
const prediction = ["ant", "ant", "cat", "cat", "ant", "cat"];

describe("accuracy", () => {
  it("is the share of equal labels", () => {
    expect(accuracy(target, prediction)).toBe(4 / 6);
    expect(accuracy(Int32Array.of(1, 2, 3), [1, 2, 4])).toBe(2 / 3);
  });
});

describe("confusionMatrix", () => {
  it("counts true classes along the rows and predicted ones along the columns", () => {
    // scikit-learn's example: confusion_matrix(y_true, y_pred, labels=["ant", "bird", "cat"]) =
    // [[2, 0, 0], [0, 0, 1], [1, 0, 2]].
    expect(confusionMatrix(target, prediction)).toEqual({
      labels: ["ant", "bird", "cat"],
      counts: [
        [2, 0, 0],
        [0, 0, 1],
        [1, 0, 2],
      ],
    });
  });

  it("sorts numbers by value", () => {
    expect(confusionMatrix([10, 9, 2], [10, 9, 9]).labels).toEqual([2, 9, 10]);
  });

  it("keeps the order of labels that are given, and classes that do not occur", () => {
    const { labels, counts } = confusionMatrix(["b", "a"], ["b", "b"], ["c", "b", "a"]);
    expect(labels).toEqual(["c", "b", "a"]);
    expect(counts).toEqual([
      [0, 0, 0],
      [0, 1, 0],
      [0, 1, 0],
    ]);
  });

  it("has the accuracy on its diagonal", () => {
    const { counts } = confusionMatrix(target, prediction);
    expect(counts.reduce((sum, row, i) => sum + row[i]!, 0) / target.length).toBe(accuracy(target, prediction));
  });

  it("refuses a class that is not among the labels, and a label given twice", () => {
    expect(() => confusionMatrix(["a"], ["b"], ["a"])).toThrow('confusionMatrix: prediction 0 is "b", which is not among the labels');
    expect(() => confusionMatrix(["a"], ["a"], ["a", "a"])).toThrow(
      "confusionMatrix: labels holds a class twice; it takes each class once",
    );
  });
});

describe.each([
  ["accuracy", accuracy],
  ["confusionMatrix", confusionMatrix],
] as const)("%s", (name, metric) => {
  it("refuses different lengths and no cases", () => {
    expect(() => metric(["a", "b"], ["a"])).toThrow(`${name}: target holds 2 classes and prediction 1; the two take the same number`);
    expect(() => metric([], [])).toThrow(`${name}: target holds no classes; it takes at least one`);
  });

  it("refuses a label that is NaN or missing", () => {
    expect(() => metric([1, Number.NaN], [1, 2])).toThrow(`${name}: target 1 is NaN; a class is a text or a number`);
    expect(() => metric([1], [undefined as never])).toThrow(`${name}: prediction 0 is missing; a class is a text or a number`);
  });

  it("refuses texts beside numbers, which would never be equal", () => {
    expect(() => metric(["1", "2"], [1, 2])).toThrow(
      `${name}: prediction 0 is the number 1 and target 0 the string "1"; classes take one type`,
    );
  });
});
