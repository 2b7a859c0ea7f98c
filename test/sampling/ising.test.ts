// Ising samples against exact sums, energies in a transverse field against those of as many slices,
// and ground states against enumeration.
import { describe, expect, it } from "vitest";
import { RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { annealIsing, type IsingModel, isingEnergy, sampleIsing, sampleTransverseField } from "../../src/sampling/index.js";

/** All pairs coupled by normal numbers of deviation 1 / sqrt(n). */
function glass(n: number, seed: number, field = 0): IsingModel {
  const draws = new RandomStream(seedKeys(seed).weights, 40);
  const couplings = Array.from({ length: n }, (_, j) =>
    Array.from({ length: j }, (__, i) => [i, j, draws.normal(i, j) / Math.sqrt(n)] as const),
  ).flat();
  return { spins: n, couplings, fields: new Array<number>(n).fill(field) };
}
const ring = (n: number): IsingModel => ({ spins: n, couplings: Array.from({ length: n }, (_, i) => [i, (i + 1) % n, 1] as const) });
const allStates = (n: number) => Array.from({ length: 2 ** n }, (_, b) => Array.from({ length: n }, (__, i) => (b & (1 << i) ? 1 : -1)));

describe("isingEnergy", () => {
  it("is minus the sum of J s s and of h s", () => {
    const model = {
      spins: 3,
      couplings: [
        [0, 1, 2],
        [2, 1, -0.5],
      ],
      fields: [0.1, 0.2, 0.4],
    } as const;
    expect(isingEnergy(model, [1, -1, 1])).toBeCloseTo(-(2 * -1 + -0.5 * -1) - (0.1 - 0.2 + 0.4), 14);
  });
});

describe("sampleIsing", () => {
  it("draws states by their Boltzmann weights", async () => {
    const model = glass(6, 2, 0.2);
    const weights = allStates(6).map((s) => Math.exp(-isingEnergy(model, s)));
    const total = weights.reduce((a, b) => a + b);
    const { spins, energies } = await sampleIsing(model, { beta: 1, sweeps: 510, washout: 10, chains: 200, seed: 3 });
    expect(spins.rows).toBe(100_000);
    const found = new Array<number>(64).fill(0);
    for (let r = 0; r < spins.rows; r++) found[spins.row(r).reduce((b, s, i) => b + (s > 0 ? 2 ** i : 0), 0)]!++;
    const divergence = found.reduce(
      (sum, n, b) => sum + (n === 0 ? 0 : (n / spins.rows) * Math.log(n / spins.rows / (weights[b]! / total))),
      0,
    );
    expect(divergence).toBeLessThan(2e-3);
    const exact = allStates(6).reduce((sum, s, b) => sum + (isingEnergy(model, s) * weights[b]!) / total, 0);
    expect(Math.abs(energies.reduce((a, b) => a + b) / energies.length - exact)).toBeLessThan(0.02);
    expect(energies[77]).toBeCloseTo(isingEnergy(model, spins.row(77)), 12);
  });

  it("has the same bits for the same seed, whatever chains run beside", async () => {
    const options = { beta: 0.7, sweeps: 20, washout: 0, every: 5, seed: 8 };
    const alone = await sampleIsing(glass(9, 1), options);
    const many = await sampleIsing(glass(9, 1), { ...options, chains: 3 });
    expect(alone.spins.rows).toBe(4);
    expect([...many.spins.data.slice(0, 36)]).toEqual([...alone.spins.data]);
    expect([...many.spins.data.slice(36, 72)]).not.toEqual([...alone.spins.data]);
  });

  it.each([
    [{ spins: 2, couplings: [[0, 2, 1]] }, "model.couplings[0]"],
    [
      {
        spins: 2,
        couplings: [
          [0, 1, 1],
          [1, 0, 1],
        ],
      },
      "each pair once",
    ],
    [{ spins: 2, couplings: [[0, 1, Number.NaN]] }, "model.couplings[0][2] is NaN"],
    [{ spins: 2, couplings: [], fields: [1] }, "model.fields holds 1 values; 2 spins take as many"],
  ] as const)("refuses %o", async (model, message) => {
    await expect(sampleIsing(model as never, { beta: 1 })).rejects.toThrow(message);
  });
});

describe("sampleTransverseField", () => {
  // The exact energies of as many slices, by the transfer matrix; the limits are -1.0546 and
  // -1.2555.
  it.each([
    [0.5, 16, -1.0583],
    [1, 8, -1.3061],
    [1, 16, -1.2687],
  ])("finds the energy of a ring of 8 at Gamma %f with %i slices: %f a spin", async (transverseField, slices, exact) => {
    const options = { beta: 2, transverseField, slices, sweeps: 1000, washout: 100, chains: 12, seed: 5 };
    const { energy, error } = await sampleTransverseField(ring(8), options);
    expect(Math.abs(energy / 8 - exact)).toBeLessThan(0.01);
    expect(error! / 8).toBeLessThan(0.005);
  });

  it("of a single spin is Gamma tanh(beta Gamma), and so is its magnetisation along the field", async () => {
    const options = { beta: 1.5, transverseField: 0.8, slices: 8, sweeps: 3000, washout: 100, chains: 20 };
    const { energy, transverseMagnetisation } = await sampleTransverseField({ spins: 1, couplings: [] }, options);
    expect(Math.abs(transverseMagnetisation - Math.tanh(1.2))).toBeLessThan(0.01);
    expect(energy).toBeCloseTo(-0.8 * transverseMagnetisation, 12);
  });

  it("hears a signal", async () => {
    const stopped = sampleTransverseField(ring(8), { beta: 1, transverseField: 1, signal: AbortSignal.abort() });
    await expect(stopped).rejects.toThrow("stopped after 0 of 1000 steps");
  });
});

describe("annealIsing", () => {
  const instances = [1, 2, 3, 4].map((seed) => glass(12, seed));
  const grounds = instances.map((model) => Math.min(...allStates(12).map((s) => isingEnergy(model, s))));

  it.each(["thermal", "pathIntegral"] as const)("finds ground states of spin glasses: %s", async (method) => {
    for (const [k, model] of instances.entries()) {
      const runs = 30;
      const { spins, energy, energies } = await annealIsing(model, { method, runs, seed: 6 });
      expect(energy).toBeCloseTo(grounds[k]!, 10);
      expect(isingEnergy(model, spins)).toBeCloseTo(energy, 12);
      expect(energies.length).toBe(runs);
      if (method === "thermal") expect(energies.filter((each) => each < grounds[k]! + 1e-9).length).toBeGreaterThan(runs / 10);
    }
  });

  it("refuses options of the other method", async () => {
    await expect(annealIsing(ring(4), { slices: 4 })).rejects.toThrow('slices is 4; it takes nothing for the method "thermal"');
    await expect(annealIsing(ring(4), { method: "pathIntegral", from: 1 })).rejects.toThrow("from is 1");
  });
});
