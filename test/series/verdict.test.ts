// Whether a model beats a baseline, and whether the starts can show it.
import { describe, expect, it } from "vitest";
import { RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { sentenceOf, verdictOn } from "../../src/experiment/tasks/verdict.js";
import { compareStarts, type StartErrors } from "../../src/series/index.js";

const errors = (name: string, ...seeds: number[][]): StartErrors => ({ name, errors: seeds });
const same = (value: number, count: number) => new Array<number>(count).fill(value);
const middle = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
const compare = (model: StartErrors, ...baselines: StartErrors[]) => compareStarts(model, baselines, middle)!;

describe("the verdict", () => {
  it("is against the baseline with the smallest error, and gives skill and starts won", () => {
    const verdict = compare(errors("model", same(1, 20)), errors("a", same(9, 20)), errors("b", same(4, 20)));
    expect(verdict).toMatchObject({ against: "b", rmse: 1, baselineRmse: 2, skill: 0.5, betterOn: 20, starts: 20, differs: true });
    expect(verdict.interval).toEqual([-3, -3]);
    expect(verdict.baselines.map(({ name }) => name)).toEqual(["b", "a"]);
    expect(sentenceOf(verdict)).toBe("Better than b: rmse 1 against 2 (skill 0.5), better on 20 of 20 starts.");
  });

  it("says that there is no difference if draws of the starts go both ways", () => {
    const model = errors("model", [...same(1, 10), ...same(3, 10)]);
    const verdict = compare(model, errors("naive", same(2, 20)));
    expect(verdict.differs).toBe(false);
    expect(sentenceOf(verdict)).toMatch(
      /^No difference from naive that 20 starts can show: rmse 1\.41 against 1\.41 .*, better on 10 of 20 starts\.$/,
    );
  });

  it("says of starts that almost all go one way that only the square errors show no difference", () => {
    // 42 of 50 starts are a little worse, and 8 much better: the mean of the differences is near 0.
    const verdict = compare(errors("model", [...same(10, 42), ...same(1, 8)]), errors("naive", [...same(9, 42), ...same(6, 8)]));
    expect([verdict.differs, verdict.oneSided]).toEqual([false, true]);
    expect(sentenceOf(verdict)).toMatch(
      /^No difference of rmse from naive that 50 starts can show: .*, better on 8 of 50 starts, fewer than chance gives\.$/,
    );
    // The exact sign test of 18 of 50 has p = .065, and of 17 of 50 p = .033.
    const won = (count: number) => compare(errors("model", [...same(1, count), ...same(3, 50 - count)]), errors("naive", same(2, 50)));
    expect([17, 18, 32, 33].map((count) => won(count).oneSided)).toEqual([true, false, false, true]);
  });

  it("takes five starts for too few to show anything", () => {
    expect(compare(errors("model", same(1, 5)), errors("naive", same(2, 5))).differs).toBe(false);
    expect(compare(errors("model", same(1, 6)), errors("naive", same(2, 6))).differs).toBe(true);
  });

  it("takes the middle of several seeds, and a forecast that left for infinity as worse", () => {
    expect(compare(errors("model", same(1, 8), same(4, 8), same(100, 8)), errors("n", same(9, 8), same(9, 8), same(9, 8)))).toMatchObject({
      rmse: 2,
      betterOn: 8,
    });
    const lost = compare(errors("model", [...same(1, 7), Number.NaN]), errors("naive", same(9, 8)));
    expect(lost).toMatchObject({ rmse: Number.POSITIVE_INFINITY, betterOn: 7 });
    expect(sentenceOf(lost)).toContain("a forecast left for infinity");
  });

  it("of several seeds is against the baselines that each of them has", () => {
    const model = errors("model", same(1, 8));
    const first = { model, baselines: [errors("mean", same(9, 8)), errors("naive (20)", same(2, 8))] };
    const second = { model, baselines: [errors("naive (30)", same(2, 8)), errors("mean", same(16, 8))] };
    const verdict = verdictOn([first, second], "mean")!;
    expect(verdict.baselines).toEqual([{ name: "mean", rmse: 3.5 }]);
  });

  it("speaks of the best baseline that was asked for too, if another one is better", () => {
    const errors8 = { model: errors("model", same(4, 8)), baselines: [errors("ridge", same(9, 8)), errors("naive", same(16, 8))] };
    expect(verdictOn([errors8], "mean", ["naive"])!.sentence).toBe(
      "Better than ridge: rmse 2 against 3 (skill 0.333), better on 8 of 8 starts. " +
        "Better than naive: rmse 2 against 4 (skill 0.5), better on 8 of 8 starts.",
    );
    expect(verdictOn([errors8], "mean", ["ridge", "naive"])!.sentence).not.toContain("naive");
  });

  it("has an interval that covers: 200 sets of 30 differences without a difference, about 5 % of them missed", () => {
    const stream = new RandomStream(seedKeys("differences").weights, 0);
    const drawn = (k: number) => Array.from({ length: 30 }, (_, i) => 10 + stream.normal(k, i));
    let found = 0;
    const sets = 200;
    for (let k = 0; k < sets; k++) {
      if (compare(errors("model", drawn(2 * k)), errors("naive", drawn(2 * k + 1))).differs) found++;
    }
    expect(found / sets).toBeLessThan(0.12);
  });
});
