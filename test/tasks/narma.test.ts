// NARMA: the recurrence, the draw of its input, and what happens when it diverges.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type NarmaOptions, narma, narma30 } from "../../src/tasks/index.js";

const references = JSON.parse(readFileSync(new URL("fixtures/reference-series.json", import.meta.url), "utf8")) as Record<
  string,
  { rows: [number][] }
>;
const ramp = Array.from({ length: 60 }, (_, i) => (0.5 * i) / 59);

describe("narma", () => {
  it("follows the standard equation: .1, .13158 for u = linspace(0, .5, 60)", () => {
    const { inputs, targets } = narma(51, { u: ramp });
    expect(targets.at(0, 0)).toBeCloseTo(0.1, 15);
    expect(targets.at(1, 0)).toBeCloseTo(0.13158, 5);
    references["narma, u = linspace(0, .5, 60)"]!.rows.forEach(([y], t) => {
      expect(targets.at(t, 0)).toBeCloseTo(y, 14);
    });
    expect(inputs.at(0, 0)).toBe(ramp[9]);
    expect(inputs.at(50, 0)).toBe(ramp[59]);
  });

  it('compat "reservoirpy" follows that package: 0, .1, .13119, with its input', () => {
    const { inputs, targets } = narma(50, { u: ramp, compat: "reservoirpy" });
    expect(targets.at(2, 0)).toBeCloseTo(0.13119, 5);
    references["narma, u = linspace(0, .5, 60), reservoirpy"]!.rows.forEach(([y], t) => {
      expect(targets.at(t, 0)).toBeCloseTo(y, 14);
    });
    expect(inputs.at(0, 0)).toBe(ramp[10]);
  });

  it("pairs u(t) with y(t + 1): every target follows from rows at or before its own", () => {
    const { inputs, targets } = narma(300, { seed: 4 });
    const u = (t: number) => inputs.at(t, 0);
    const y = (t: number) => targets.at(t, 0);
    for (let t = 20; t < 300; t++) {
      let sum = 0;
      for (let i = 1; i <= 10; i++) sum += y(t - i);
      expect(y(t)).toBeCloseTo(0.3 * y(t - 1) + 0.05 * y(t - 1) * sum + 1.5 * u(t - 9) * u(t) + 0.1, 14);
    }
  });

  it("draws its input uniformly from [0, 0.5), by seed", () => {
    const u = narma(20_000, { order: 2, seed: 1 }).inputs.data;
    expect(u.every((value) => value >= 0 && value < 0.5)).toBe(true);
    // The mean of 20,000 draws of variance 1/48 is within 4 standard errors of .25.
    expect(Math.abs(u.reduce((sum, value) => sum + value, 0) / u.length - 0.25)).toBeLessThan(4 / Math.sqrt(48 * 20_000));
    expect(narma(100, { seed: 1 }).inputs.data).not.toEqual(narma(100, { seed: 2 }).inputs.data);
    expect(narma(100, { seed: 1 }).targets.data).toEqual(narma(100, { seed: "1" }).targets.data);
  });

  it("draws again where a series diverges: all of 300 seeds give a bounded series, though some first draws do not", () => {
    let redrawn = 0;
    for (let seed = 0; seed < 300; seed++) {
      const { inputs, targets } = narma(4200, { seed });
      expect(targets.data.every((y) => y > 0 && y < 2)).toBe(true);
      if (inputs.at(0, 0) !== narma(1, { seed }).inputs.at(0, 0)) redrawn++;
    }
    // 27 of 1000 other seeds were measured to diverge within 4200 steps.
    expect(redrawn).toBeGreaterThanOrEqual(1);
    expect(redrawn).toBeLessThan(30);
  });

  it("has the usual parameters of order 30 ready", () => {
    const { targets } = narma(4000, narma30);
    expect(targets.data.every((y) => y >= 0 && y < 0.8)).toBe(true);
  });

  it.each<[NarmaOptions, string]>([
    [{ u: [0.1, 0.2] }, "narma: u holds 2 values; 50 rows of order 10 take at least 59"],
    [{ u: [0.1, Number.NaN] }, "narma: u is an array of 2; it takes an array of finite numbers"],
    [{ u: new Array(59).fill(0.9) }, "narma: the series diverges for this u"],
    [{ order: 30 }, "narma: the series of order 30 diverged for 100 draws of the input"],
    [{ order: 2.5 }, "narma: order is 2.5; it takes a whole number of at least 1"],
  ])("refuses %j", (options, sentence) => {
    expect(() => narma(options.order === 30 ? 4000 : 50, options)).toThrow(sentence);
  });
});
