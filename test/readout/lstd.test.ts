// Policy evaluation on processes whose values are known: Boyan's chain, and a ring of which one
// position is observed.
import { describe, expect, it } from "vitest";
import { Matrix, RandomStream, seedKeys, solveSquare } from "../../packages/numerics/src/index.js";
import { ReservoirComputer, ridge } from "../../src/index.js";
import { lstd } from "../../src/readout/index.js";

const draws = new RandomStream(seedKeys("policy").weights, 0);

/** Features of Boyan's chain: linear between anchors at 12, 8, 4 and 0. */
function anchors(position: number): number[] {
  const at = (12 - position) / 4;
  return [0, 1, 2, 3].map((anchor) => Math.max(0, 1 - Math.abs(at - anchor)));
}

/** From 12 down to 0 by 1 or 2 with equal chance and reward -3, from 1 to 0 with -2. */
function episode(isShort: (position: number, step: number) => boolean): { states: number[][]; rewards: number[] } {
  const states: number[][] = [];
  const rewards: number[] = [];
  for (let position = 12, k = 0; position > 0; k++) {
    states.push(anchors(position));
    rewards.push(position === 1 ? -2 : -3);
    position -= position === 1 || isShort(position, k) ? 1 : 2;
  }
  return { states, rewards };
}
const episodes = (count: number) => Array.from({ length: count }, (_, number) => episode((_position, k) => draws.uniform(number, k) < 0.5));
const chain = { discount: 1, lambda: 0, intercept: false, episodes: true } as const;

describe("lstd", () => {
  it.each([0, 0.4, 1])("finds the weights (-24, -16, -8, 0) of Boyan's chain, trace %d", (trace) => {
    const runs = episodes(4000);
    const { weights, training } = lstd({ ...chain, trace }).fit(
      runs.map(({ states }) => states),
      runs.map(({ rewards }) => rewards),
    );
    [-24, -16, -8, 0].forEach((exact, f) => {
      expect(Math.abs(weights.data[f]! - exact)).toBeLessThan(0.2);
    });
    expect(training!.method).toBe("lstd");
  });

  it.each([0, 0.4, 1])("finds them exactly if every path of the chain occurs once, trace %d", (trace) => {
    // One course for each choice of a step at the places 2 to 12: the mean over all that there are.
    const runs = Array.from({ length: 2 ** 11 }, (_, choices) => episode((position) => ((choices >> (position - 2)) & 1) === 1));
    const { weights } = lstd({ ...chain, trace }).fit(
      runs.map(({ states }) => states),
      runs.map(({ rewards }) => rewards),
    );
    for (const [f, exact] of [-24, -16, -8, 0].entries()) expect(weights.data[f]).toBeCloseTo(exact, 11);
  });

  it("with trace 1 is regression of returns on features", () => {
    const runs = episodes(200);
    const returns = runs.map(({ rewards }) => rewards.map((_, t) => rewards.slice(t).reduce((sum, reward) => sum + reward, 0)));
    const states = runs.map((run) => run.states);
    const values = lstd({ ...chain, trace: 1 }).fit(
      states,
      runs.map(({ rewards }) => rewards),
    );
    const regression = ridge({ lambda: 0, intercept: false, solver: "qr" }).fit(states, returns);
    values.weights.data.forEach((weight, f) => {
      expect(weight).toBeCloseTo(regression.weights.data[f]!, 10);
    });
  });

  it("of a process that goes on is the discounted sum of its rewards: a reward of 1 a step is worth 1 / (1 - discount)", () => {
    const states = Array.from({ length: 50 }, (_, t) => [Math.sin(t)]);
    const readout = lstd({ discount: 0.75, lambda: 0 }).fit(states, Array(50).fill(1));
    expect(readout.intercept[0]).toBeCloseTo(4, 10);
    expect(readout.weights.data[0]).toBeCloseTo(0, 10);
  });

  it("from states of a reservoir gives values of a ring of 20 positions of which one is observed; the observation alone does not", async () => {
    const positions = 20;
    const steps = 6000;
    const visible = new Float64Array(steps);
    const rewards = new Float64Array(steps);
    const exact = new Float64Array(steps);
    // V(p) = (p is 19) + .9 (.95 V(p + 1) + .05 V(p)).
    const chances = Matrix.zeros(positions, positions);
    const reward = Matrix.zeros(positions, 1);
    for (let p = 0; p < positions; p++) {
      chances.data[p * positions + p] = 1 - 0.9 * 0.05;
      chances.data[p * positions + ((p + 1) % positions)] = -0.9 * 0.95;
    }
    reward.data[positions - 1] = 1;
    const values = solveSquare(chances, reward)!.data;
    expect(Math.min(...values)).toBeCloseTo(0.144, 2);
    expect(Math.max(...values)).toBeCloseTo(1.176, 2);
    for (let t = 0, position = 0; t < steps; t++) {
      visible[t] = position === 0 ? 1 : 0;
      rewards[t] = position === positions - 1 ? 1 : 0;
      exact[t] = values[position]!;
      if (draws.uniform(9999, t) < 0.95) position = (position + 1) % positions;
    }
    const error = (found: Matrix) => {
      let sum = 0;
      for (let t = 1000; t < steps; t++) sum += (found.data[t]! - exact[t]!) ** 2;
      return Math.sqrt(sum / (steps - 1000));
    };
    await using computer = await ReservoirComputer.create({
      size: 60,
      spectralRadius: 0.95,
      leakRate: 1,
      connectionProbability: 1,
      seed: 3,
    });
    const states = await computer.run(visible);
    const ofReservoir = error(lstd().fit(states, rewards, { washout: 100 }).predict(states, undefined, { precision: "float64" }));
    const observed = new Matrix(steps, 1, visible);
    const ofObservation = error(lstd().fit(observed, rewards).predict(observed));
    expect(ofObservation).toBeGreaterThan(0.28);
    expect(ofReservoir).toBeLessThan(0.12);
  });

  it("says which rows do not determine the weights, and which options there are", () => {
    expect(() => lstd({ lambda: 0 }).fit([[0], [0], [0]], [1, 1, 1])).toThrow("do not determine");
    expect(() => lstd({ discount: 2 })).toThrow("discount is 2; it takes");
    expect(() => lstd({ gamma: 1 } as never)).toThrow('unknown field "gamma"');
  });
});

describe("solveSquare", () => {
  it("solves what needs exchanges of rows, and says that a matrix is singular", () => {
    const a = Matrix.from(
      [
        [0, 2, 1],
        [1, 0, 0],
        [3, 0, 1],
      ],
      "float64",
    );
    const x = solveSquare(a, Matrix.from([[7], [1], [6]], "float64"))!;
    expect([...x.data]).toEqual([1, 2, 3]);
    expect(
      solveSquare(
        Matrix.from(
          [
            [1, 2],
            [2, 4],
          ],
          "float64",
        ),
        Matrix.zeros(2, 1),
      ),
    ).toBeUndefined();
  });
});
