// Importance and halving against the figures of their papers.
import { describe, expect, it } from "vitest";
import { hyperband, nextPromotion, parameterImportance, SearchSpace, type SeenTrial, survivors } from "../../packages/search/src/index.js";

describe("importance", () => {
  it("is what Optuna 5 says of a hundred trials", () => {
    const space = new SearchSpace({
      a: { float: [0, 1] },
      b: { float: [1e-4, 1], log: true },
      c: { choice: ["x", "y", "z"] },
      d: { int: [1, 10] },
    });
    const frac = (x: number) => x - Math.floor(x);
    const trials = Array.from({ length: 100 }, (_, k): SeenTrial => {
      const a = frac(0.6180339887498949 * k);
      const b = 10 ** (-4 * frac(0.7548776662466927 * k));
      const c = "xyz"[k % 3]!;
      const d = 1 + ((7 * k) % 10);
      const loss = (a - 0.3) ** 2 + 0.1 * (Math.log10(b) + 2) ** 2 + (c === "y" ? 0.05 : 0) + 0.001 * d;
      return { number: k, state: "complete", values: space.toInternal({ a, b, c, d }), loss };
    });
    const found = parameterImportance(space, trials);
    expect(Object.keys(found)).toEqual(["b", "a", "d", "c"]);
    expect(found["b"]).toBeCloseTo(0.6046295284, 10);
    expect(found["a"]).toBeCloseTo(0.2746697074, 10);
    expect(found["d"]).toBeCloseTo(0.0721486007, 10);
    expect(found["c"]).toBeCloseTo(0.0485521634, 10);
  });

  it("is nothing of too few trials", () => {
    expect(parameterImportance(new SearchSpace({ a: { float: [0, 1] } }), [])).toEqual({});
  });
});

describe("halving", () => {
  it("keeps the best, ties by place, and NaN last", () => {
    expect(survivors([3, 1, Number.NaN, 1, 2, 9], 1 / 3)).toEqual([1, 3]);
    expect(survivors([Number.NaN, Number.NaN, 5], 0.5)).toEqual([0, 2]);
    expect(survivors([7], 0.1)).toEqual([0]);
  });

  it("has the brackets of Hyperband's paper for R = 81 and eta = 3", () => {
    const said = hyperband(81).map((bracket) => bracket.map(({ trials, resource }) => `${trials},${resource}`).join(" "));
    expect(said).toEqual(["81,1 27,3 9,9 3,27 1,81", "34,3 11,9 3,27 1,81", "15,9 5,27 1,81", "8,27 2,81", "5,81"]);
  });

  it("promotes by ASHA the best in the highest stage that has one, else begins a new trial", () => {
    const promoted = new Set<string>();
    const next = (trials: readonly { number: number; losses: number[] }[]) =>
      nextPromotion(trials, 3, 1 / 3, (number, stage) => promoted.has(`${number}/${stage}`));
    expect(next([{ number: 0, losses: [1] }])).toBeUndefined();
    const three = [4, 2, 3].map((loss, number) => ({ number, losses: [loss] }));
    expect(next(three)).toEqual({ number: 1, stage: 0 });
    promoted.add("1/0");
    expect(next(three)).toBeUndefined();
  });
});
