// Samplers against figures of others, and the rule that a suggestion is a function of the trials
// before it.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { cmaesConstants } from "../../packages/search/src/cmaes.js";
import {
  cmaes,
  grid,
  gridSize,
  randomSampler,
  type Sampler,
  SearchSpace,
  type SeenTrial,
  type SpaceDescription,
  Study,
  sobol,
  tpe,
} from "../../packages/search/src/index.js";
import { ParzenEstimator } from "../../packages/search/src/parzen.js";
import { sobolPoint } from "../../packages/search/src/sobol.js";
import { type SearchParameter, toScale } from "../../packages/search/src/space.js";

interface Described {
  readonly low?: number;
  readonly high?: number;
  readonly log?: boolean;
  readonly step?: number | null;
  readonly choices?: readonly string[];
}

const asParameter = ({ low = 0, high = 0, log = false, step, choices }: Described): SearchParameter => ({
  name: "x",
  kind: choices ? "choice" : "float",
  low,
  high: choices ? choices.length - 1 : high,
  step: step ?? 0,
  log,
  choices: choices ?? [],
});

const { cases } = JSON.parse(readFileSync("test/search/fixtures/tpe-check.json", "utf8")) as {
  readonly cases: readonly {
    readonly space: readonly Described[];
    readonly observations: readonly number[][];
    readonly weights: readonly number[];
    readonly mus: readonly number[][];
    readonly sigmas: readonly number[][];
    readonly samples: readonly number[][];
    readonly logpdf: readonly number[];
  }[];
};

const near = (got: number, wanted: number, bound = 1e-12): void => {
  expect(Math.abs(got - wanted) / Math.max(1, Math.abs(wanted))).toBeLessThan(bound);
};

describe("the Parzen estimator", () => {
  it.each(cases.map((each) => [each.observations.length, each.space.length, each] as const))(
    "has Optuna's weights, kernels and densities of %d observations of %d parameters",
    (_, __, { space, observations, weights, mus, sigmas, samples, logpdf }) => {
      const parameters = space.map(asParameter);
      const scaled = parameters.map((parameter, j) =>
        Float64Array.from(observations, (row) => (parameter.kind === "choice" ? row[j]! : toScale(parameter, row[j]!))),
      );
      const estimator = new ParzenEstimator(parameters, scaled);
      for (const [i, weight] of weights.entries()) near(estimator.weights[i]!, weight);
      space.forEach(({ choices }, j) => {
        if (choices) return;
        const { means, widths } = estimator.kernelsOf(j);
        for (const [i, mu] of mus[j]!.entries()) near(means[i]!, mu);
        for (const [i, sigma] of sigmas[j]!.entries()) near(widths[i]!, sigma);
      });
      for (const [i, sample] of samples.entries()) near(estimator.logDensity(sample), logpdf[i]!);
    },
  );
});

describe("Sobol points", () => {
  it("are those of Joe and Kuo's table, as SciPy has them", () => {
    const first = (k: number) => Array.from({ length: 6 }, (_, j) => sobolPoint(k, j) * 2 ** -32);
    expect(first(1)).toEqual([0.5, 0.5, 0.5, 0.5, 0.5, 0.5]);
    expect(first(2)).toEqual([0.75, 0.25, 0.25, 0.25, 0.75, 0.75]);
    expect(first(3)).toEqual([0.25, 0.75, 0.75, 0.75, 0.25, 0.25]);
    expect(first(4)).toEqual([0.375, 0.375, 0.625, 0.875, 0.375, 0.125]);
    const at1000 = [0, 1, 2, 20].map((j) => (sobolPoint(1000, j) * 2 ** -32).toFixed(8));
    expect(at1000).toEqual(["0.21972656", "0.09667969", "0.51855469", "0.52246094"]);
  });

  it("are all tried, each once, if trials are given back, put in front and asked for in any batches", async () => {
    const space = { x: { float: [0, 1] }, y: { float: [0, 1] } } as const;
    const open = () => Study.open({ space, sampler: sobol({ seed: 4 }) });
    const wanted = (await (await open()).ask(16)).map(({ params }) => params);
    const study = await open();
    await study.enqueue({ x: 0.25, y: 0.25 });
    await study.giveBack((await study.ask(4)).slice(2));
    await study.ask(1);
    await study.giveBack(await study.ask(3));
    await study.ask(3);
    await study.ask(16 + 1 - study.trials.filter(({ state }) => state === "running").length);
    const running = study.trials.filter(({ state }) => state === "running").map(({ params }) => params);
    expect(new Set(running.map((params) => JSON.stringify(params)))).toEqual(
      new Set([{ x: 0.25, y: 0.25 }, ...wanted].map((params) => JSON.stringify(params))),
    );
  });

  it("are refused beyond 21 parameters, with what to take", () => {
    const wide = new SearchSpace(Object.fromEntries(Array.from({ length: 22 }, (_, i) => [`x${i}`, { float: [0, 1] }])));
    expect(() => sobol().suggest({ space: wide, trials: [] }, [0])).toThrow(
      "the space has 22 parameters; sobol takes at most 21: take random",
    );
  });
});

describe("CMA-ES", () => {
  // From cmaes 0.9.1.
  it.each([
    [5, 8, 2.6001788261, 0.3650883761, 1.3650883761, 0.450199558, 0.0472923042, 0.0381691607, 0.52993018, -0.9134981, -1.23901871],
    [6, 9, 2.8406104297, 0.3497396632, 1.3497396632, 0.4086496883, 0.0356311821, 0.035686312, 0.49373838, -0.74506986, -0.99845515],
    [5, 64, 17.6216524069, 0.7103721428, 3.0392010066, 0.4688447528, 0.0348969174, 0.470669826, 0.1166568, -0.01165968, 0.78990229],
  ])("has the constants of dimension %d and population %d", (d, population, ...figures) => {
    const [first = 0, last = 0, sum = 0] = figures.slice(6);
    const wanted = figures.slice(0, 6);
    const constants = cmaesConstants(d, population);
    expect(constants.population).toBe(population);
    const { cC, c1, cMu, ...rest } = constants;
    expect([rest.muEff, rest.cSigma, rest.dSigma, cC, c1, cMu].map((value) => value.toFixed(9))).toEqual(
      wanted.map((value) => value.toFixed(9)),
    );
    near(constants.weights[0]!, first, 1e-7);
    near(constants.weights.at(-1)!, last, 1e-7);
    near(
      constants.weights.reduce((a, b) => a + b),
      sum,
      1e-7,
    );
  });

  it("takes 4 + floor(3 ln d) trials a generation", () => {
    expect(cmaesConstants(5).population).toBe(8);
    expect(cmaesConstants(6).population).toBe(9);
  });

  it("comes to the minimum of an ellipse", () => {
    const trials = searched(cmaes(), bowl, ({ a = 0, b = 0 }) => (a - 0.3) ** 2 + 100 * (b - 0.7) ** 2, 400, 1);
    expect(Math.min(...trials.map(({ loss }) => loss))).toBeLessThan(1e-8);
  });
});

const bowl = new SearchSpace({ a: { float: [0, 1] }, b: { float: [0, 1] } });

/** Asks and tells, the trials of a batch told in reverse. */
function searched(
  sampler: Sampler,
  space: SearchSpace,
  loss: (params: Record<string, number>) => number,
  count: number,
  batch: number,
): SeenTrial[] {
  const trials: SeenTrial[] = [];
  for (let from = 0; from < count; from += batch) {
    const numbers = Array.from({ length: Math.min(batch, count - from) }, (_, i) => from + i);
    for (const [i, { values, generation }] of sampler.suggest({ space, trials }, numbers).entries())
      trials.push({ number: numbers[i]!, state: "complete", values, generation, loss: loss(space.toParameters(values) as never) });
  }
  return trials;
}

const mixed: SpaceDescription = {
  radius: { float: [0.1, 1.5] },
  scaling: { float: [0.01, 2], log: true },
  size: { int: [100, 400], step: 100 },
  lag: { int: [1, 64], log: true },
  type: { choice: ["ring", "random", null] },
  density: { float: [0.01, 1], log: true, when: { type: "random" } },
  fixed: { float: [2, 2] },
  depth: { float: [0, 1], step: 0.25, when: { type: ["ring", null] } },
};
const mixedLoss = ({ radius = 0, scaling = 0, lag = 0, type = 0, density = 1 }: Record<string, number>) =>
  (radius - 0.9) ** 2 + (Math.log10(scaling) + 1) ** 2 + (lag / 64 - 0.2) ** 2 + ((type as unknown) === "ring" ? 0.3 : 0) + 0.1 * density;

const samplers = { random: randomSampler, sobol, tpe, cmaes };

describe.each(Object.entries(samplers))("%s", (name, make) => {
  const space = new SearchSpace(mixed);

  it("keeps to the space: bounds, steps, conditions", () => {
    for (const { values } of searched(make(), space, mixedLoss, 90, 9)) {
      const params = space.toParameters(values) as Record<string, number>;
      expect(params["radius"]).toBeGreaterThanOrEqual(0.1);
      expect(params["radius"]).toBeLessThanOrEqual(1.5);
      expect([100, 200, 300, 400]).toContain(params["size"]);
      expect(Number.isInteger(params["lag"])).toBe(true);
      expect(params["fixed"]).toBe(2);
      expect("density" in params).toBe((params["type"] as unknown) === "random");
      expect("depth" in params).toBe((params["type"] as unknown) !== "random");
      if ("depth" in params) expect([0, 0.25, 0.5, 0.75, 1]).toContain(params["depth"]);
    }
  });

  it("says the same of what it saw, whichever sampler object is asked, and another seed other things", () => {
    const trials = searched(make({ seed: 7 }), space, mixedLoss, 40, 4);
    const ask = (sampler: Sampler) => sampler.suggest({ space, trials: [...trials] }, [40, 41, 42]);
    expect(ask(make({ seed: 7 }))).toEqual(ask(make({ seed: 7 })));
    expect(ask(make({ seed: 8 }))).not.toEqual(ask(make({ seed: 7 })));
  });

  it("goes on if all values are equal, infinite, or fail", () => {
    for (const value of [1, Number.POSITIVE_INFINITY]) expect(searched(make(), space, () => value, 60, 5)).toHaveLength(60);
    const failed = searched(make(), space, () => Number.NaN, 30, 5).map((trial): SeenTrial => ({ ...trial, state: "failed" }));
    expect(make().suggest({ space, trials: failed }, [30])).toHaveLength(1);
  });

  if (name === "random" || name === "sobol")
    it("gives a trial the same parameters in any batch", () => {
      const one = searched(make(), space, mixedLoss, 64, 1);
      expect(searched(make(), space, mixedLoss, 64, 7)).toEqual(one);
      expect(searched(make(), space, mixedLoss, 64, 64)).toEqual(one);
    });
});

describe("grid", () => {
  it("tries every combination once, those that differ in what is not there as one", () => {
    const space = new SearchSpace({ type: { choice: ["ring", "random"] }, p: { float: [0, 1], step: 0.5, when: { type: "random" } } });
    expect(gridSize(space)).toBe(4);
    const said = grid().suggest({ space, trials: [] }, [0, 1, 2, 3, 4]);
    expect(said.map(({ values }) => space.toParameters(values))).toEqual([
      { type: "ring" },
      { type: "random", p: 0 },
      { type: "random", p: 0.5 },
      { type: "random", p: 1 },
      { type: "ring" },
    ]);
  });

  it("refuses a parameter that takes any number", () => {
    expect(() => grid().suggest({ space: bowl, trials: [] }, [0])).toThrow("space.a takes any number of its range; grid takes a step");
  });
});

describe("tpe", () => {
  it("keeps in step with a list that grows and whose trials change", () => {
    const space = new SearchSpace({ a: { float: [0, 1] }, b: { choice: ["x", "y"] }, c: { int: [1, 9], when: { b: "x" } } }, "space");
    const values = (k: number) => {
      const [asked] = randomSampler({ seed: k }).suggest({ space, trials: [] }, [k]);
      return asked!.values;
    };
    const trials: SeenTrial[] = [];
    const sampler = tpe();
    const told = (number: number, state: SeenTrial["state"], loss = Number.NaN) => ({ number, state, values: values(number), loss });
    for (let k = 0; k < 60; k++) {
      trials.push(told(trials.length, "running"));
      // Results come late, one becomes another, and the list is cut once.
      const late = trials.length - 4;
      if (late >= 0) trials[late] = k % 7 === 0 ? told(late, "failed") : told(late, "complete", Math.sin(k));
      if (k === 30) trials[5] = told(5, "complete", -2);
      if (k === 40) trials.length = 20;
      const numbers = [100 + k, 200 + k];
      expect(sampler.suggest({ space, trials }, numbers)).toEqual(tpe().suggest({ space, trials: [...trials] }, numbers));
    }
    expect(trials).toHaveLength(39);
  });

  const loss = ({ a = 0, b = 0 }) => (a - 0.3) ** 2 + (b - 0.7) ** 2;

  it("comes nearer than random search, also in batches", () => {
    const best = (sampler: Sampler, batch: number) => Math.min(...searched(sampler, bowl, loss, 150, batch).map((trial) => trial.loss));
    const random = best(randomSampler(), 1);
    expect(best(tpe(), 1)).toBeLessThan(random / 10);
    expect(best(tpe(), 16)).toBeLessThan(random / 3);
  });

  it("does not mind in which order a batch was told", () => {
    const trials = searched(tpe(), bowl, loss, 40, 8);
    const told = [...trials].map((trial) => ({ ...trial }));
    expect(tpe().suggest({ space: bowl, trials: told }, [40])).toEqual(tpe().suggest({ space: bowl, trials }, [40]));
  });

  it("spreads a batch: running trials push the next away", () => {
    const trials = searched(tpe(), bowl, loss, 60, 1);
    const numbers = Array.from({ length: 32 }, (_, i) => 60 + i);
    const spread = (liar: boolean) => {
      const said = tpe({ liar }).suggest({ space: bowl, trials }, numbers);
      return new Set(said.map(({ values }) => Array.from(values, (value) => Math.round(20 * value)).join())).size;
    };
    expect(spread(true)).toBeGreaterThan(spread(false));
  });

  it("takes pruned trials as good ones if there are too few complete ones", () => {
    const trials = Array.from({ length: 12 }, (_, number): SeenTrial => {
      const state = number < 1 ? "complete" : "pruned";
      return { number, state, values: Float64Array.of(number / 12, 0.5), loss: 1, last: { step: number, loss: 1 } };
    });
    const said = Array.from(
      { length: 20 },
      (_, i) => tpe({ seed: i, candidates: 200 }).suggest({ space: bowl, trials }, [12])[0]!.values[0]!,
    );
    // The good ones are trial 0 and trial 11, which came furthest.
    expect(said.filter((value) => value < 0.2 || value > 0.75).length).toBeGreaterThan(15);
  });
});
