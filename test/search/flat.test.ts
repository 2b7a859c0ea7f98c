// What a suggestion of TPE takes as a study grows: from about 1,000 trials on next to the same. Said
// in work, and not in time.
import { afterEach, describe, expect, it, vi } from "vitest";
import { randomSampler, type SeenTrial, tpe } from "../../packages/search/src/index.js";
import { ParzenEstimator } from "../../packages/search/src/parzen.js";
import { SearchSpace } from "../../packages/search/src/space.js";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a suggestion of tpe", () => {
  const space = new SearchSpace({ a: { float: [0, 1] }, b: { float: [1e-4, 1], log: true }, c: { int: [1, 100] } }, "space");

  it.each([2000, 100_000])("after %i trials reads none a second time, and sums over 1,026 kernels", (count) => {
    let reads = 0;
    const numbers = Array.from({ length: count }, (_, k) => k);
    const trials = randomSampler()
      .suggest({ space, trials: [] }, numbers)
      .map(({ values }, number): SeenTrial => {
        const read = () => {
          reads++;
          return values;
        };
        const trial = { number, state: "complete" as const, loss: values[0]! * values[2]! };
        return Object.defineProperty(trial, "values", { get: read }) as typeof trial & Pick<SeenTrial, "values">;
      });
    const sampler = tpe();
    sampler.suggest({ space, trials }, [count]);
    expect(reads).toBeGreaterThanOrEqual(count);
    reads = 0;
    const sums = vi.spyOn(ParzenEstimator.prototype, "logSum");
    sampler.suggest({ space, trials }, [count + 1]);
    expect(reads).toBe(0);
    const kernels = new Set(sums.mock.contexts.map((estimator) => (estimator as ParzenEstimator).weights.length));
    // The good 25 and the prior; the newest 25 of the others, at most 1,000 more, and the prior.
    expect(Math.min(...kernels)).toBe(26);
    expect(Math.max(...kernels)).toBeLessThanOrEqual(1026);
    expect(kernels.size).toBe(2);
    expect(sums).toHaveBeenCalledTimes(2 * 24);
  });
});
