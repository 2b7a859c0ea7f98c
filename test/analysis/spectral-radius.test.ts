// The spectral radius of reservoirs and matrices by engine: the host's number from each.
import { describe, expect, it } from "vitest";
import "../../src/index.js";
import { Matrix, matrixSpectralRadius as onHost } from "../../packages/numerics/src/index.js";
import { spectralRadius } from "../../src/analysis/index.js";
import { ReservoirComputer, type ReservoirModel } from "../../src/reservoir/index.js";
import { exhaustive } from "../exhaustive.js";

const options = { size: 50, connectionProbability: 0.3, seed: 4, spectralRadius: 0.8 } as const;

describe("the spectral radius", () => {
  it("of a reservoir is what it was scaled to, from a description, a model or one that runs", async () => {
    await using computer = await ReservoirComputer.create(options, { engine: "cpu" });
    for (const source of [options, computer.model as ReservoirModel, computer]) {
      const { radius, method } = await spectralRadius(source);
      expect(method).toBe("dense");
      expect(radius).toBeCloseTo(0.8, 6);
    }
  });

  it("of a matrix has the same bits from the CPU and from a device", async () => {
    // A rotation by 30 degrees and a decay: 0.9 exp(+-i pi / 6), 0.5.
    const [c, s] = [0.9 * Math.cos(Math.PI / 6), 0.9 * Math.sin(Math.PI / 6)];
    const matrix = Matrix.from([[c, -s, 0.3], [s, c, 0], [0.1, 0, 0.5]]); // biome-ignore format: a matrix
    const expected = onHost(matrix, { method: "krylov" });
    for (const engine of ["cpu", "sim"]) expect(await spectralRadius(matrix, { engine, method: "krylov" })).toEqual(expected);
    expect(expected.method).toBe("krylov");
  });

  it("of a badly scaled matrix is balanced first, for a device too", async () => {
    const matrix = Matrix.from([[0.3, -1e12, 0.3e6], [1e-12, 0.2, 1e-7], [1e-6, 1e6, 0.5]]); // biome-ignore format: a matrix
    const expected = onHost(matrix, { method: "dense" }).radius;
    for (const engine of ["cpu", "sim"])
      expect((await spectralRadius(matrix, { engine, method: "krylov" })).radius).toBeCloseTo(expected, 12);
  });

  it.runIf(exhaustive)("of a reservoir on a device is that of its stored weights", async () => {
    const { radius } = await spectralRadius(options, { engine: "sim", method: "krylov" });
    await using computer = await ReservoirComputer.create(options, { engine: "cpu" });
    expect(radius).toBe(onHost((computer.model as ReservoirModel).weights, { method: "krylov" }).radius);
  });

  it("is refused of what is not square, and on an engine that there is not", async () => {
    await expect(spectralRadius(Matrix.zeros(2, 3))).rejects.toThrow("the matrix is 2 x 3; eigenvalues take a square matrix");
    await expect(spectralRadius(Matrix.zeros(2, 2), { engine: "gpu" })).rejects.toThrow(/there is no engine of that name/);
    await expect(spectralRadius(options, { method: "qr" as never })).rejects.toThrow(/method is "qr"/);
  });
});
