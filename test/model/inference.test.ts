import { describe, expect, it } from "vitest";
import { Matrix, RandomStream, seedKeys, solveSquare } from "../../packages/numerics/src/index.js";
import { ActiveInferenceAgent, PredictiveCodingFilter } from "../../src/model/index.js";

type Rows = number[][];
const times = (a: Rows, b: Rows): Rows => a.map((row) => b[0]!.map((_, j) => row.reduce((sum, value, k) => sum + value * b[k]![j]!, 0)));
const plus = (a: Rows, b: Rows): Rows => a.map((row, i) => row.map((value, j) => value + b[i]![j]!));
const flipped = (a: Rows): Rows => a[0]!.map((_, j) => a.map((row) => row[j]!));
const inverse = (a: Rows): Rows => {
  const n = a.length;
  const eye = Float64Array.from({ length: n * n }, (_, i) => (i % (n + 1) === 0 ? 1 : 0));
  const found = solveSquare(new Matrix(n, n, Float64Array.from(a.flat())), new Matrix(n, n, eye))!;
  return a.map((_, i) => Array.from(found.row(i)));
};
const diagonal = (n: number, value: number): Rows =>
  Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? value : 0)));

describe("a predictive-coding filter", () => {
  const draws = new RandomStream(seedKeys("predictive").weights, 0);
  const transition: Rows = [
    [0.8, 0.3, 0],
    [-0.3, 0.8, 0.1],
    [0, 0.2, 0.7],
  ];
  const observation: Rows = [
    [1, 0, 0.5],
    [0, 1, -1],
  ];
  const [processNoise, observationNoise] = [diagonal(3, 0.1), diagonal(2, 0.2)];
  const observed: Rows = [];
  let x: Rows = [[0], [0], [0]];
  for (let t = 0; t < 200; t++) {
    x = times(transition, x).map(([value], i) => [value! + Math.sqrt(0.1) * draws.normal(t, i)]);
    observed.push(times(observation, x).map(([value], i) => value! + Math.sqrt(0.2) * draws.normal(t, 10 + i)));
  }

  it("comes to the mean and the covariance of the Kalman filter at each of 200 observations", () => {
    const filter = new PredictiveCodingFilter({ transition, observation, processNoise, observationNoise });
    let mean: Rows = [[0], [0], [0]];
    let covariance = diagonal(3, 1);
    for (const y of observed) {
      const prior = times(transition, mean);
      const before = plus(times(times(transition, covariance), flipped(transition)), processNoise);
      const spread = plus(times(times(observation, before), flipped(observation)), observationNoise);
      const gain = times(times(before, flipped(observation)), inverse(spread));
      const surprise = y.map((value, i) => [value - times(observation, prior)[i]![0]!]);
      mean = plus(prior, times(gain, surprise));
      covariance = plus(
        before,
        times(times(gain, observation), before).map((row) => row.map((value) => -value)),
      );
      const found = filter.step(y);
      expect(found.converged).toBe(true);
      for (let i = 0; i < 3; i++) expect(Math.abs(found.mean[i]! - mean[i]![0]!)).toBeLessThan(1e-9);
    }
    for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) expect(filter.covariance.at(i, j)).toBeCloseTo(covariance[i]![j]!, 11);
  });

  it("takes a prediction from elsewhere, and says if it ran out of steps", () => {
    const make = (maxSteps: number) => new PredictiveCodingFilter({ transition, observation, processNoise, observationNoise, maxSteps });
    const predicted = [1, 2, 3];
    const found = make(100_000).correct(observed[0]!, predicted);
    expect([...found.predicted]).toEqual(predicted);
    expect(make(1).correct(observed[0]!, predicted)).toMatchObject({ steps: 1, converged: false });
    expect(found.freeEnergy).toBeLessThan(make(1).correct(observed[0]!, predicted).freeEnergy);
  });

  it.each([
    [{ observation: [[1, 0]] }, "observation"],
    [{ processNoise: diagonal(2, 1) }, "processNoise"],
    [{ observationNoise: diagonal(2, -1) }, "observationNoise"],
    [{ mean: [[1, 2]] }, "mean"],
  ])("refuses %j by its name", (wrong, field) => {
    expect(() => new PredictiveCodingFilter({ transition, observation, processNoise, observationNoise, ...wrong })).toThrow(
      expect.objectContaining({ field }),
    );
  });
});

describe("an active-inference agent", () => {
  it("has a free energy of -ln p(o): four outcomes of a chain of two states", () => {
    const agent = new ActiveInferenceAgent({
      likelihood: [
        [0.7, 0.1],
        [0.3, 0.9],
      ],
      transitions: [
        [
          [0.9, 0.2],
          [0.1, 0.8],
        ],
      ],
      preferences: [0, 0],
      prior: [0.6, 0.4],
    });
    let sum = 0;
    for (const outcome of [0, 1, 1, 0]) {
      agent.move(0);
      sum += agent.observe(outcome).freeEnergy;
    }
    expect(sum).toBeCloseTo(3.322031772373127, 14);
  });

  // States: place (middle, left, right, cue) x which arm has the reward. Outcomes: nothing, loss,
  // reward, cue for left, cue for right. Arms hold whoever enters them.
  const positions = 4;
  const state = (position: number, arm: number) => 2 * position + arm;
  const likelihood = Array.from({ length: 5 }, () => new Array<number>(8).fill(0));
  for (const arm of [0, 1]) {
    likelihood[0]![state(0, arm)] = 1;
    for (const position of [1, 2]) likelihood[position - 1 === arm ? 2 : 1]![state(position, arm)] = 1;
    likelihood[3 + arm]![state(3, arm)] = 1;
  }
  const transitions = Array.from({ length: positions }, (_, to) => {
    const b = Array.from({ length: 8 }, () => new Array<number>(8).fill(0));
    for (let from = 0; from < positions; from++)
      for (const arm of [0, 1]) b[state(from === 1 || from === 2 ? from : to, arm)]![state(from, arm)] = 1;
    return b;
  });
  const maze = { likelihood, transitions, preferences: [0, -4, 2, 0, 0], prior: [0.5, 0.5, 0, 0, 0, 0, 0, 0] };

  it.each([0, 1])("looks at the cue first and then takes the arm that it tells, %i", (arm) => {
    const agent = new ActiveInferenceAgent(maze);
    agent.observe(0);
    expect(agent.plan().action).toBe(3);
    agent.move(3);
    agent.observe(3 + arm);
    expect(agent.plan().action).toBe(1 + arm);
    agent.move(1 + arm);
    expect(agent.observe(2).freeEnergy).toBeCloseTo(0, 12);
  });

  it("does not look if it knows", () => {
    const agent = new ActiveInferenceAgent({ ...maze, prior: [1, 0, 0, 0, 0, 0, 0, 0] });
    const { action, probabilities } = agent.plan();
    expect(action).toBe(1);
    expect(probabilities.reduce((a, b) => a + b)).toBeCloseTo(1, 12);
  });

  it.each([
    [{ prior: [1, 0] }, "prior"],
    [{ prior: [1, 1, 0, 0, 0, 0, 0, 0] }, "prior"],
    [{ preferences: [1] }, "preferences"],
    [{ horizon: 9 }, "horizon"],
    [{ transitions: [] }, "transitions"],
    [{ likelihood: likelihood.map((row) => row.map(() => 1)) }, "likelihood, column 0"],
  ])("refuses a wrong %j", (wrong, field) => {
    expect(() => new ActiveInferenceAgent({ ...maze, ...wrong } as never)).toThrow(expect.objectContaining({ field }));
  });

  it("says that an outcome cannot be", () => {
    expect(() => new ActiveInferenceAgent(maze).observe(2)).toThrow("outcome 2 has no probability in any state that is believed in");
    expect(() => new ActiveInferenceAgent(maze).observe(5)).toThrow("outcome is 5; it takes a whole number from 0 to 4");
  });
});
