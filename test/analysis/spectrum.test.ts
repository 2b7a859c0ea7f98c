import { describe, expect, it } from "vitest";
import { spectrum } from "../../src/analysis/index.js";
import { ReservoirComputer } from "../../src/index.js";

/** Eigenvalues as texts, sorted: order and rounding do not matter. */
const listed = (re: ArrayLike<number>, im: ArrayLike<number>): string[] =>
  Array.from(re, (x, i) => `${(x + 0).toFixed(9)} ${im[i]!.toFixed(9)}`.replaceAll("-0.000000000", "0.000000000")).sort();

describe("the spectrum", () => {
  it("of a ring of radius .9 is the circle's roots, and with leak .3 those pulled towards 1", async () => {
    const { weights, effective } = await spectrum({ size: 12, topology: "ring", spectralRadius: 0.9, leakRate: 0.3, precision: "float64" });
    const angles = Array.from({ length: 12 }, (_, k) => (2 * Math.PI * k) / 12);
    const re = angles.map((angle) => 0.9 * Math.cos(angle));
    const im = angles.map((angle) => 0.9 * Math.sin(angle));
    expect(listed(weights.re, weights.im)).toEqual(listed(re, im));
    const leaky = re.map((x) => 0.7 + 0.3 * x);
    expect(listed(effective.re, effective.im)).toEqual(
      listed(
        leaky,
        im.map((y) => 0.3 * y),
      ),
    );
    expect(weights.radius).toBeCloseTo(0.9, 14);
    expect(effective.radius).toBeCloseTo(0.97, 14);
  });

  it("of a triangular matrix with a leak a neuron is its diagonal, leaked", async () => {
    const matrices = { weights: [[0.5, 3, 1], [0, -0.8, 2], [0, 0, 0.25]] }; // biome-ignore format: a matrix
    await using computer = await ReservoirComputer.create({ size: 3, leakRate: [1, 0.5, 0.25], precision: "float64" }, { matrices });
    const { weights, effective } = await spectrum(computer);
    expect(Array.from(weights.re)).toEqual([-0.8, 0.5, 0.25]);
    expect(Array.from(effective.re)).toEqual([expect.closeTo(0.8125, 14), 0.5, expect.closeTo(0.1, 14)]);
  });

  it("has the description's radius, in the weights as they are stored", async () => {
    const { weights } = await spectrum({ size: 80, spectralRadius: 0.85, precision: "float32" });
    expect(weights.radius).toBeCloseTo(0.85, 6);
    expect(weights.re.length).toBe(80);
    expect(Math.hypot(weights.re[0]!, weights.im[0]!)).toBeCloseTo(weights.radius, 12);
  });

  it("of a model is that of its computer", async () => {
    await using computer = await ReservoirComputer.create({ size: 15, storage: "dense" });
    expect(await spectrum(computer.model)).toEqual(await spectrum(computer));
  });
});
