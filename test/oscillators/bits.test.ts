// Sums of what phase oscillators, colouring and Ising chains give: the same bits on every machine
// and in every later version.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { rowDot } from "../../packages/numerics/src/index.js";
import { ReservoirComputer } from "../../src/index.js";
import { colourGraph } from "../../src/oscillators/index.js";
import { rowDots } from "../../src/oscillators/step.js";
import type { KindMatrix } from "../../src/reservoir/index.js";
import { annealIsing } from "../../src/sampling/index.js";

const sum = (data: ArrayBufferView) =>
  createHash("sha256")
    .update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
    .digest("hex")
    .slice(0, 16);
const drive = Float32Array.from({ length: 60 }, (_, t) => ((t * 37) % 50) / 25 - 1);
const shared = { kind: "oscillator", size: 70, seed: 7 } as const;
const cycle = Array.from({ length: 9 }, (_, i) => [i, (i + 1) % 9] as const);

describe("the bits of oscillators and spins", () => {
  it.each([
    ["dd0422da6d433b50", { ...shared, noise: 0.01 }],
    ["e274c1d7565b7a29", { ...shared, connectionProbability: 0.2, input: "field", precision: "float64" }],
    ["3caae3324c2177d4", { ...shared, coupling: "meanField", harmonics: 2, order: true, frequencyDistribution: "lorentz" }],
  ] as const)("%s: states of %o", async (expected, config) => {
    await using computer = await ReservoirComputer.create(config);
    expect(sum((await computer.run(drive)).data)).toBe(expected);
  });

  it.each([
    [1, "float32"],
    [1, "float64"],
    [0.3, "float32"],
    [0.3, "float64"],
  ] as const)("products of a W with share %f in %s are those of the portable rule", async (connectionProbability, precision) => {
    await using computer = await ReservoirComputer.create({ ...shared, connectionProbability, precision });
    const weights = computer.model.matrices["weights"] as KindMatrix;
    const state = computer.model.initialState;
    const [c, s] = [state.subarray(0, 70), state.subarray(70, 140)];
    const [p, q] = [s.slice(), c.slice()];
    const dots = rowDots(weights);
    for (let i = 0; i < 70; i++) dots(i, s, c, p, q);
    const round = precision === "float32" ? Math.fround : (value: number) => value;
    expect([...p]).toEqual(Array.from({ length: 70 }, (_, i) => rowDot(weights, i, s, round)));
    expect([...q]).toEqual(Array.from({ length: 70 }, (_, i) => rowDot(weights, i, c, round)));
  });

  it("phases of a coloured cycle, and spins of an annealed one", async () => {
    expect(sum((await colourGraph({ vertices: 9, edges: cycle }, 3)).cosines)).toBe("a78b7e0b5102541a");
    const couplings = cycle.map(([i, j], k) => [i, j, k % 2 === 0 ? 0.7 : -0.9] as const);
    expect(sum((await annealIsing({ spins: 9, couplings }, { method: "pathIntegral", to: 0.2, runs: 3 })).energies)).toBe(
      "fe8a3f9d5f986bde",
    );
  });
});
