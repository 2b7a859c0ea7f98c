import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { groupKFold, kFold, leaveOneGroupOut, type Split, stratifiedKFold, trainTestSplit } from "../../src/pipeline/index.js";

/** Every case is tested once and never trained on where it is tested. */
function isPartition(splits: readonly Split[], cases: number): void {
  expect(splits.flatMap(({ test }) => test).sort((a, b) => a - b)).toEqual(Array.from({ length: cases }, (_, i) => i));
  for (const { train, test } of splits) {
    expect(train.length + test.length).toBe(cases);
    expect(test.some((row) => train.includes(row))).toBe(false);
  }
}

describe("folds", () => {
  it("test every case once, in folds of nearly the same size", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 9 }), fc.integer({ min: 0, max: 60 }), fc.string(), (folds, more, seed) => {
        const splits = kFold(folds + more, { folds, seed });
        isPartition(splits, folds + more);
        const sizes = splits.map(({ test }) => test.length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("depend on the seed alone", () => {
    expect(kFold(20, { seed: 1 })).toEqual(kFold(20, { seed: 1 }));
    expect(kFold(20, { seed: 1 })).not.toEqual(kFold(20, { seed: 2 }));
  });

  it("give every class its share where they are stratified", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 30, maxLength: 80 }), (drawn) => {
        const labels = [...drawn, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2];
        const splits = stratifiedKFold(labels, { folds: 4 });
        isPartition(splits, labels.length);
        for (const label of [0, 1, 2]) {
          const counts = splits.map(({ test }) => test.filter((row) => labels[row] === label).length);
          expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
        }
      }),
    );
    expect(() => stratifiedKFold(["a", "a", "a", "b"], { folds: 2 })).toThrow(
      'class "b" has 1 cases; 2 stratified folds take at least 2 of each',
    );
  });

  it("never part a group", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("ann", "bob", "cid", "dee", "eve"), { minLength: 5, maxLength: 60 }), (drawn) => {
        const groups = [...drawn, "ann", "bob", "cid"];
        const splits = groupKFold(groups, { folds: 3 });
        isPartition(splits, groups.length);
        for (const { train, test } of splits) expect(test.some((row) => train.some((other) => groups[other] === groups[row]))).toBe(false);
      }),
    );
    expect(() => groupKFold(["a", "a"], { folds: 2 })).toThrow("folds is 2 and there are 1 groups");
  });

  it("leave one group out at a time", () => {
    expect(leaveOneGroupOut(["a", "b", "a"])).toEqual([
      { train: [1], test: [0, 2] },
      { train: [0, 2], test: [1] },
    ]);
    expect(() => leaveOneGroupOut(["a"])).toThrow("groups names 1 group; leaving one out takes at least two");
  });
});

describe("splits", () => {
  it("refuse an option that there is not, a number of cases that is none, and labels that are no list of labels", () => {
    const folds: readonly ((options: never) => unknown)[] = [
      (options) => kFold(10, options),
      (options) => stratifiedKFold(["a", "b", "a", "b"], options),
      (options) => groupKFold([1, 2, 3], options),
      (options) => trainTestSplit(10, options),
    ];
    for (const split of folds) {
      expect(() => split({ sead: 2 } as never)).toThrow('unknown field "sead": did you mean "seed"?');
      expect(() => split(null as never)).toThrow("options is null");
    }
    for (const bad of ["10", Number.NaN, 2.5, undefined]) {
      expect(() => kFold(bad as never, { folds: 2 })).toThrow(/^cases is .*; it takes a whole number/);
      expect(() => trainTestSplit(bad as never)).toThrow(/^cases is .*; it takes a whole number/);
    }
    expect(() => stratifiedKFold(undefined as never)).toThrow("labels is missing; it takes a list of texts or numbers, one a case");
    expect(() => leaveOneGroupOut(["a", undefined] as never)).toThrow("groups[1] is missing; it takes a text or a finite number");
    expect(() => trainTestSplit(2, { labels: ["a", Number.NaN] })).toThrow("labels[1] is NaN");
  });
});

describe("trainTestSplit", () => {
  it("keeps the shares of classes, or groups whole", () => {
    const labels = Array.from({ length: 40 }, (_, i) => (i < 30 ? "many" : "few"));
    const { test } = trainTestSplit(40, { test: 0.2, labels });
    expect(test.filter((row) => labels[row] === "few")).toHaveLength(2);
    expect(test).toHaveLength(8);
    const groups = Array.from({ length: 40 }, (_, i) => i % 5);
    const split = trainTestSplit(40, { test: 0.2, groups });
    expect(new Set(split.test.map((row) => groups[row])).size).toBe(1);
    expect(split.test).toHaveLength(8);
  });

  it("refuses a share that leaves nothing", () => {
    expect(() => trainTestSplit(3, { test: 0.01 })).toThrow("leaves 3 of 3 cases to train and 0 to test");
    expect(() => trainTestSplit(3, { test: 1 })).toThrow("test is 1; it takes a share above 0 and below 1");
  });
});
