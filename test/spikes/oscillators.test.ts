// Kuramoto oscillators against what is known of them: the order of the scheme, two that lock, and
// the onset of synchrony.
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { KuramotoOscillators, orderOf } from "../../src/spikes/index.js";
import { exhaustive } from "../exhaustive.js";

describe("the order parameter", () => {
  it("is 1 in phase, 0 for phases spread evenly, and about M^-1/2 for phases at random", () => {
    expect(orderOf([2, 2, 2]).r).toBeCloseTo(1, 12);
    expect(orderOf([0, (2 * Math.PI) / 3, (4 * Math.PI) / 3]).r).toBeCloseTo(0, 12);
    const squares = Array.from({ length: 200 }, (_, seed) => new KuramotoOscillators({ count: 100, seed }).order.r ** 2);
    // E R^2 = 1 / M; its standard error over 200 draws is 7 % of it.
    expect(squares.reduce((a, b) => a + b, 0) / 200).toBeCloseTo(0.01, 2);
    expect(() => orderOf([])).toThrow("the number of phases is 0; it takes at least 1");
  });

  it("has the direction of the mean", () => {
    const { cosine, sine } = orderOf([Math.PI / 2, Math.PI / 2]);
    expect([cosine, sine]).toEqual([expect.closeTo(0, 12), expect.closeTo(1, 12)]);
  });
});

describe("the oscillators", () => {
  it("turn at their frequencies where they are not coupled", () => {
    const bank = new KuramotoOscillators({ frequenciesHz: [1, 10], coupling: 0, phases: "aligned" });
    bank.run(1000);
    expect(bank.phases[0]).toBeCloseTo(2 * Math.PI, 9);
    expect(bank.phases[1]).toBeCloseTo(20 * Math.PI, 9);
  });

  it("lock in pairs at sin(difference) = 2 pi (f2 - f1) / K", () => {
    const bank = new KuramotoOscillators({ frequenciesHz: [1, 1.2], coupling: 4, phases: "aligned" });
    bank.run(5000);
    const [a, b] = bank.phases as Float64Array;
    expect(Math.sin(b! - a!)).toBeCloseTo((2 * Math.PI * 0.2) / 4, 8);
  });

  it("are integrated to fourth order: half the step has a sixteenth of the error", () => {
    const end = (stepMs: number) => {
      const bank = new KuramotoOscillators({ frequenciesHz: [1, 3, 7], coupling: 20, phases: [0, 1, 2.5], stepMs });
      bank.run(Math.round(400 / stepMs));
      return bank.phases;
    };
    const exact = end(0.25);
    const error = (stepMs: number) => Math.max(...end(stepMs).map((phase, i) => Math.abs(phase - exact[i]!)));
    expect(error(20) / error(10)).toBeGreaterThan(12);
    expect(error(20) / error(10)).toBeLessThan(22);
  });

  it.runIf(exhaustive)(
    "synchronise from the critical coupling on: R = sqrt(1 - Kc / K) for Lorentzian frequencies of half width g, Kc = 2 g",
    () => {
      const count = 600;
      const width = 0.5;
      // Quantiles of the distribution, in Hz of a width in rad/s.
      const frequenciesHz = Array.from(
        { length: count },
        (_, i) => (width * Math.tan(Math.PI * ((i + 0.5) / count - 0.5))) / (2 * Math.PI),
      );
      const order = (coupling: number) => {
        const { order: r } = new KuramotoOscillators({ frequenciesHz, coupling, stepMs: 20, seed: 5 }).run(1500);
        return r.slice(1000).reduce((a, b) => a + b, 0) / 500;
      };
      expect(order(0.5)).toBeLessThan(0.2);
      expect(order(2)).toBeCloseTo(Math.sqrt(1 - 1 / 2), 1);
      expect(order(4)).toBeCloseTo(Math.sqrt(1 - 1 / 4), 1);
    },
  );

  it("are pulled to phase 0 by input: without frequency tan(phi / 2) falls as e^(-drive t)", () => {
    const bank = new KuramotoOscillators({ frequenciesHz: [0], coupling: 0, phases: [2], drive: 10 });
    bank.run(new Matrix(100, 1, new Float64Array(100).fill(1)));
    expect(Math.tan(bank.phases[0]! / 2)).toBeCloseTo(Math.tan(1) * Math.exp(-1), 8);
  });

  it("give a reservoir's states: sin(phi), T x M", () => {
    const bank = new KuramotoOscillators({ count: 3, seed: 1 });
    const { states, order } = bank.run(5);
    expect([states.rows, states.cols, order.length]).toEqual([5, 3, 5]);
    expect([...states.row(4)]).toEqual([...bank.phases].map((phase) => expect.closeTo(Math.sin(phase), 12)));
    expect(order[4]).toBe(bank.order.r);
  });

  it("have frequencies evenly spaced from 0.1 to 100 Hz", () => {
    const { frequenciesHz: f, count } = new KuramotoOscillators();
    expect([count, f[0]]).toEqual([128, 0.1]);
    expect(f[127]).toBeCloseTo(100, 9);
    expect(f[64]! - f[63]!).toBeCloseTo(99.9 / 127, 12);
  });

  it.each([
    [{ count: 0 }, "count is 0; it takes a whole number of at least 1"],
    [{ coupling: -1 }, "coupling is -1; it takes a number of rad/s, at least 0"],
    [{ frequenciesHz: [1, Number.NaN] }, "frequenciesHz[1] is NaN; it takes a finite number"],
    [{ count: 3, frequenciesHz: [1] }, "count is 3; it takes 1, the number of frequencies"],
    [{ count: 2, phases: [1] }, "the number of phases is 1; it takes 2, one an oscillator"],
    [{ rangeHz: [10, 1] as const }, "rangeHz[1] is 1; it takes at least the lowest, 10 Hz"],
  ])("refuse %o", (options, sentence) => {
    expect(() => new KuramotoOscillators(options)).toThrow(sentence);
  });
});
