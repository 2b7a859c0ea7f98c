// What mackeyGlass takes and how its variants differ. Its accuracy is in reference.test.ts.
import { describe, expect, it } from "vitest";
import { mackeyGlass } from "../../src/tasks/index.js";

describe("mackeyGlass", () => {
  it("is a T x 1 matrix that starts at the initial state", () => {
    const series = mackeyGlass(50, { initialState: 0.9 });
    expect([series.rows, series.cols]).toEqual([50, 1]);
    expect(series.at(0, 0)).toBe(0.9);
  });

  it("has the exact first step that a constant history gives", () => {
    // Over one delay the production is constant: x(1) = g/b + (1.2 - g/b) exp(-b), g = .2 * 1.2 /
    // (1 + 1.2^10).
    const g = 0.24 / (1 + 1.2 ** 10);
    const exact = g / 0.1 + (1.2 - g / 0.1) * Math.exp(-0.1);
    expect(mackeyGlass(2).at(1, 0)).toBeCloseTo(exact, 10);
  });

  it('compat "reservoirpy" gives that package\'s first values', () => {
    const [x0, x1, x2] = mackeyGlass(3, { compat: "reservoirpy", history: new Array(17).fill(1.2) }).data;
    expect(x0).toBe(1.2);
    expect(x1).toBeCloseTo(1.120171961, 9);
    expect(x2).toBeCloseTo(1.047700076, 9);
  });

  it("takes Jaeger's protocol: Euler steps of 0.1, every tenth value, tanh(y - 1)", () => {
    const plain = mackeyGlass(400, { method: "euler", step: 0.1, seed: 1 });
    const squashed = mackeyGlass(400, { method: "euler", step: 0.1, seed: 1, squash: true });
    expect(squashed.data).toHaveLength(400);
    plain.data.forEach((y, t) => {
      expect(squashed.data[t]).toBeCloseTo(Math.tanh(y - 1), 14);
    });
  });

  it("draws another history from every seed, within 0.1 of the initial state", () => {
    const trials = Array.from({ length: 20 }, (_, seed) => mackeyGlass(200, { method: "euler", seed: `trial ${seed}` }).at(199, 0));
    expect(new Set(trials).size).toBe(20);
    expect(mackeyGlass(200, { seed: 7 }).data).toEqual(mackeyGlass(200, { seed: "7" }).data);
    expect(mackeyGlass(200, { seed: 7 }).data).not.toEqual(mackeyGlass(200).data);
    // The first step sees nothing but the oldest history value.
    const oldest = Array.from({ length: 50 }, (_, seed) => {
      const x1 = mackeyGlass(2, { method: "euler", dt: 0.1, seed: `trial ${seed}` }).at(1, 0);
      return (x1 - 1.2 * (1 - 0.01)) / 0.1;
    });
    const produced = (x: number) => (0.2 * x) / (1 + x ** 10);
    for (const g of oldest) expect(g > produced(1.3) - 1e-12 && g < produced(1.1) + 1e-12).toBe(true);
  });

  it("reads the most recent values of a history, oldest first", () => {
    const history = Array.from({ length: 17 }, (_, i) => 1 + 0.01 * i);
    const longer = [9, 9, 9, ...history];
    expect(mackeyGlass(60, { history: longer }).data).toEqual(mackeyGlass(60, { history }).data);
    expect(mackeyGlass(60, { history: [...history].reverse() }).data).not.toEqual(mackeyGlass(60, { history }).data);
  });

  it("goes on exactly where a series stops, given its last values as history", () => {
    const whole = mackeyGlass(400, { method: "euler", dt: 0.1 });
    const again = mackeyGlass(100, {
      method: "euler",
      dt: 0.1,
      initialState: whole.at(300, 0),
      history: Array.from(whole.data.slice(0, 300)),
    });
    expect(again.data).toEqual(whole.data.slice(300));
  });

  it("leaves out the first rows with discard", () => {
    expect(mackeyGlass(30, { discard: 100, seed: 3 }).data).toEqual(mackeyGlass(130, { seed: 3 }).data.slice(100));
  });

  it("stays on the attractor, 0.2 to 1.4, for 100,000 steps", () => {
    const series = mackeyGlass(100_000, { discard: 500 }).data;
    expect(series.every((x) => x > 0.2 && x < 1.4)).toBe(true);
  });

  it("takes an exponent that is not whole", () => {
    const neighbours = [9, 10].map((n) => mackeyGlass(2, { n }).at(1, 0));
    const between = mackeyGlass(2, { n: 9.5 }).at(1, 0);
    expect(between > Math.min(...neighbours) && between < Math.max(...neighbours)).toBe(true);
  });

  it.each([
    [{ history: [1.2, 1.2] }, "mackeyGlass: history holds 2 values; a delay of 17 takes at least 17, 1 apart"],
    [{ method: "euler", step: 0.3 }, 'mackeyGlass: dt is 1; with method "euler" it takes a multiple of step, 0.3'],
    [{ method: "euler", tau: 17.05 }, 'mackeyGlass: tau is 17.05; with method "euler" it takes a multiple of step, 0.1'],
    [{ tau: 0 }, "mackeyGlass: tau is 0; it takes a number above 0"],
    [{ method: "heun" }, 'mackeyGlass: method is "heun"; it takes "rk4" or "euler"'],
    [{ b: 300 }, "mackeyGlass: the series is NaN at row "],
  ] as const)("refuses %j", (options, sentence) => {
    expect(() => mackeyGlass(400, options as never)).toThrow(sentence);
  });
});
