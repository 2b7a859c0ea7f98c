// What a suggestion of TPE takes as a study grows: from about 1,000 trials on next to the same.
import { describe, expect, it } from "vitest";
import { randomSampler, type SeenTrial, tpe } from "../../src/search/index.js";
import { SearchSpace } from "../../src/search/space.js";

describe("a suggestion of tpe", () => {
  it("takes next to the same time after 2,000 trials and after 100,000", () => {
    const space = new SearchSpace({ a: { float: [0, 1] }, b: { float: [1e-4, 1], log: true }, c: { int: [1, 100] } }, "space");
    const numbers = Array.from({ length: 100_000 }, (_, k) => k);
    const trials = randomSampler()
      .suggest({ space, trials: [] }, numbers)
      .map(({ values }, number): SeenTrial => ({ number, state: "complete", values, loss: values[0]! * values[2]! }));
    const leastMilliseconds = (count: number): number => {
      const seen = trials.slice(0, count);
      const sampler = tpe();
      const spent = numbers.slice(0, 30).map((k) => {
        const before = process.cpuUsage();
        sampler.suggest({ space, trials: seen }, [count + k]);
        const { user, system } = process.cpuUsage(before);
        return (user + system) / 1000;
      });
      return Math.min(...spent);
    };
    const few = leastMilliseconds(2000);
    const many = leastMilliseconds(100_000);
    expect(many, `${few} ms after 2,000 trials`).toBeLessThan(2 * few + 0.5);
  });
});
