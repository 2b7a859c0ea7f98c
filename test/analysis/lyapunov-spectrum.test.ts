// All conditional exponents, against what is known of them exactly: logarithms of determinants.
import { describe, expect, it } from "vitest";
import { isSparse, type Matrix, toDense } from "../../packages/numerics/src/index.js";
import { lyapunovExponent, lyapunovSpectrum } from "../../src/analysis/index.js";
import { ReservoirComputer } from "../../src/index.js";
import { logDeterminant } from "./log-determinant.js";

const total = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0);
const full = { size: 20, leakRate: 1, connectionProbability: 1, precision: "float64", seed: 2 } as const;

describe("the conditional Lyapunov exponents", () => {
  it("of a linear ring of radius .9 are all ln .9, for its W is .9 times an orthogonal matrix", async () => {
    const ring = { size: 20, topology: "ring", activation: "identity", precision: "float64", spectralRadius: 0.9, leakRate: 1 } as const;
    const { exponents, dimension } = await lyapunovSpectrum(ring);
    expect(exponents.length).toBe(20);
    for (const exponent of exponents) expect(Math.abs(exponent - Math.log(0.9))).toBeLessThan(1e-14);
    expect(dimension).toBe(0);
  });

  it("of a random linear reservoir add up to ln |det W|, the largest tending to ln of the radius", async () => {
    await using computer = await ReservoirComputer.create({ ...full, activation: "identity", spectralRadius: 0.95 });
    const { weights } = computer.model as { weights: Matrix };
    const { exponents } = await lyapunovSpectrum(computer, { length: 3000 });
    expect(total(exponents)).toBeCloseTo(logDeterminant(isSparse(weights) ? toDense(weights) : weights), 9);
    expect(exponents[0]).toBeCloseTo(Math.log(0.95), 3);
    for (let i = 1; i < 20; i++) expect(exponents[i]!).toBeLessThan(exponents[i - 1]! + 1e-3);
  });

  it("of tanh units add up to the mean of ln |det J|, chaotic or not", async () => {
    await using computer = await ReservoirComputer.create({ ...full, spectralRadius: 1.9 });
    const { weights } = computer.model as { weights: Matrix };
    const inputs = Float64Array.from({ length: 1100 }, (_, t) => 0.1 * Math.sin(t * t));
    const { exponents } = await lyapunovSpectrum(computer, { inputs, washout: 100, length: 1000 });
    computer.reset();
    const states = await computer.run(inputs);
    let slopes = 0;
    for (let t = 100; t < 1100; t++) for (const x of states.row(t)) slopes += Math.log(1 - x * x) / 1000;
    expect(total(exponents)).toBeCloseTo(slopes + logDeterminant(isSparse(weights) ? toDense(weights) : weights), 8);
  });

  it("begin with the exponent that is measured alone, and give the Kaplan-Yorke dimension", async () => {
    const config = { ...full, spectralRadius: 4, inputScaling: 0.1 };
    const { exponents, dimension } = await lyapunovSpectrum(config);
    expect(exponents[0]).toBe(await lyapunovExponent(config));
    expect(exponents[0]).toBeGreaterThan(0);
    let j = 0;
    let sum = 0;
    while (sum + exponents[j]! >= 0) sum += exponents[j++]!;
    expect(dimension).toBeCloseTo(j + sum / Math.abs(exponents[j]!), 12);
    expect((await lyapunovSpectrum(config, { count: 1 })).dimension).toBeUndefined();
  });

  it("of a delay line are all minus infinity; with leak they are ln of what is kept", async () => {
    const line = { size: 4, topology: "delayLine", activation: "identity", leakRate: 1, precision: "float64" } as const;
    expect([...(await lyapunovSpectrum(line)).exponents]).toEqual(Array(4).fill(Number.NEGATIVE_INFINITY));
    const { exponents } = await lyapunovSpectrum({ ...line, leakRate: 0.5 });
    for (const exponent of exponents) expect(exponent).toBeCloseTo(Math.log(0.5), 1);
  });

  it("are at most as many as there are neurons", async () => {
    await expect(lyapunovSpectrum({ size: 5 }, { count: 6 })).rejects.toThrow("count is 6; it takes at most 5, the neurons");
  });
});
