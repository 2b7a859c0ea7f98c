import { describe, expect, it } from "vitest";
import { Matrix, solveSquare } from "../../packages/numerics/src/index.js";
import { memoryCapacity } from "../../src/analysis/index.js";
import { ReservoirComputer } from "../../src/index.js";
import type { ReservoirOptions } from "../../src/reservoir/index.js";
import { delayLine } from "./delay-line.js";

describe("memory capacity", () => {
  it.each(["float64", "float32"] as const)("of a delay line of 20 taps, the present input among them, is 20 (%s)", async (precision) => {
    await using line = await delayLine(20, precision);
    const { total, curve } = await memoryCapacity(line, { firstDelay: 0 });
    // Each of the 21 delays out of reach adds about 1 / 4000 by chance.
    expect(total).toBeGreaterThan(20 - 1e-6);
    expect(total).toBeLessThan(20.02);
    for (let k = 0; k <= 40; k++) expect(curve[k]).toBeCloseTo(k < 20 ? 1 : 0, 2);
  });

  it("counts from delay 1 unless asked otherwise, and so leaves out the tap that holds the present input", async () => {
    await using line = await delayLine(20);
    const { total, curve } = await memoryCapacity(line);
    expect(total).toBeCloseTo(19, 1);
    expect(total + curve[0]!).toBeCloseTo((await memoryCapacity(line, { firstDelay: 0 })).total, 12);
  });

  it("of a linear ring of 100 neurons is about 99 (99.0 in NumPy)", async () => {
    const ring = { size: 100, topology: "ring", spectralRadius: 0.9, leakRate: 1, activation: "identity", precision: "float64" } as const;
    const { total } = await memoryCapacity({ ...ring, inputDistribution: "bernoulli" });
    expect(total).toBeGreaterThan(98.9);
    expect(total).toBeLessThan(99.1);
  });

  it("of a linear reservoir at delay k is m' S^-1 m, m = W^k w and S the sum of m m' over all k", async () => {
    const config = {
      size: 8,
      activation: "identity",
      leakRate: 1,
      connectionProbability: 1,
      spectralRadius: 0.8,
      precision: "float64",
      seed: 6,
    };
    await using computer = await ReservoirComputer.create(config as ReservoirOptions);
    const { weights, inputWeights } = computer.model as { weights: Matrix; inputWeights: Matrix };
    const impulses: Float64Array[] = [Float64Array.from(inputWeights.data)];
    for (let k = 1; k < 400; k++) {
      const before = impulses[k - 1]!;
      impulses.push(Float64Array.from({ length: 8 }, (_, r) => before.reduce((sum, value, c) => sum + weights.at(r, c) * value, 0)));
    }
    const sums = Matrix.zeros(8, 8);
    for (const m of impulses) for (let i = 0; i < 64; i++) sums.data[i] = sums.data[i]! + m[i >> 3]! * m[i & 7]!;
    const { curve } = await memoryCapacity(computer, { maxDelay: 30, length: 20_000, heldOut: 20_000 });
    let total = 0;
    for (let k = 0; k <= 30; k++) {
      const m = impulses[k]!;
      const exact = solveSquare(sums, new Matrix(8, 1, m))!.data.reduce((sum, value, i) => sum + value * m[i]!, 0);
      total += exact;
      expect(Math.abs(curve[k]! - exact), `delay ${k}`).toBeLessThan(0.02);
    }
    expect(total).toBeGreaterThan(7.5);
    expect(total).toBeLessThan(8);
  });

  it("of a random linear reservoir of 20 neurons is 19 (19 in NumPy)", async () => {
    const config = {
      size: 20,
      spectralRadius: 0.9,
      leakRate: 1,
      activation: "identity",
      precision: "float64",
      connectionProbability: 1,
    } as const;
    expect((await memoryCapacity(config, { length: 30_000 })).total).toBeCloseTo(19, 1);
  });

  it("says the precision that it was measured in: in float32 linear units show less than they hold", async () => {
    const config = { size: 60, spectralRadius: 0.9, leakRate: 1, activation: "identity", inputScaling: 0.1, seed: 1 } as const;
    const [single, double] = await Promise.all([memoryCapacity(config), memoryCapacity({ ...config, precision: "float64" })]);
    expect([single.precision, double.precision]).toEqual(["float32", "float64"]);
    expect(single.total).toBeLessThan(double.total - 5);
  });

  it("of a tanh reservoir falls with the scale of its input (28 at .1, 13 at 1 in NumPy)", async () => {
    const config = { size: 100, spectralRadius: 0.9, leakRate: 1, connectionProbability: 1 } as const;
    const weak = await memoryCapacity({ ...config, inputScaling: 0.1 });
    const strong = await memoryCapacity({ ...config, inputScaling: 1 });
    expect(weak.total).toBeGreaterThan(24);
    expect(weak.total).toBeLessThan(32);
    expect(strong.total).toBeGreaterThan(11);
    expect(strong.total).toBeLessThan(15);
  });

  it("of a reservoir that does not hear its input is 0, but for chance", async () => {
    const { total } = await memoryCapacity({ size: 10, inputScaling: 0, bias: 0.5 }, { length: 500, heldOut: 2000 });
    expect(total).toBeLessThan(0.05);
  });

  it("is the same with normal equations, and leaves a computer's state as it was", async () => {
    await using line = await delayLine(12);
    await line.run([1, 2, 3]);
    const before = line.state;
    const qr = await memoryCapacity(line, { length: 1000, heldOut: 1000 });
    const cholesky = await memoryCapacity(line, { length: 1000, heldOut: 1000, solver: "cholesky" });
    expect(cholesky.total).toBeCloseTo(qr.total, 6);
    expect(line.state).toEqual(before);
  });

  it("is about one input, and says so", async () => {
    await expect(memoryCapacity({ size: 10, inputSize: 2 })).rejects.toThrow(
      "inputSize is 2; it takes 1: memory capacity is about one input",
    );
    await expect(memoryCapacity({ size: 10 }, { maxDelay: 0 })).rejects.toThrow("maxDelay is 0; it takes a whole number of at least 1");
    await expect(memoryCapacity({ size: 10 }, { washout: 3 })).rejects.toThrow("washout is 3; it takes a whole number of at least 20");
  });
});
