import { describe, expect, it } from "vitest";
import { eigenvalues, Matrix, RandomStream, seedKeys } from "../../../packages/numerics/src/index.js";
import { ReservoirComputer } from "../../../src/index.js";
import { quantumReservoir } from "../../../src/reservoir/index.js";
import { evolution, isingHamiltonian } from "../../../src/reservoir/state-affine/quantum/evolution.js";
import { drawCouplings, quantumSystem } from "../../../src/reservoir/state-affine/quantum/system.js";
import { runDensityMatrix } from "./density-matrix.js";

const inputsFrom = (seed: string, length: number): number[] => {
  const stream = new RandomStream(seedKeys(seed).weights, 0);
  return Array.from({ length }, (_, t) => stream.uniform(t, 0));
};

const column = (values: readonly number[]): Matrix => new Matrix(values.length, 1, Float64Array.from(values));

describe("a quantum reservoir", () => {
  it.each([
    [2, 3],
    [4, 3],
    [5, 2],
  ])("has the states of %i qubits' density matrix read %i times an input, to 1e-13 over 200 inputs", async (qubits, virtualNodes) => {
    const inputs = inputsFrom("inputs", 200);
    const u = evolution(isingHamiltonian(drawCouplings(qubits, 1, 8), 0.5), 1 / virtualNodes);
    const { rows, rho } = runDensityMatrix(qubits, virtualNodes, u, inputs);
    await using computer = await ReservoirComputer.create(quantumReservoir({ qubits, virtualNodes, seed: 8, range: [0, 1] }));
    const states = await computer.run(column(inputs));
    expect(states.cols).toBe(qubits * virtualNodes);
    let worst = 0;
    for (const [t, row] of rows.entries()) for (const [k, mean] of row.entries()) worst = Math.max(worst, Math.abs(mean - states.at(t, k)));
    expect(worst).toBeLessThan(1e-13);
    // The density matrix that all is held against is one: trace 1, and its own adjoint.
    const { size, re, im } = rho;
    let trace = 0;
    for (let i = 0; i < size; i++) trace += re[i * size + i]!;
    expect(trace).toBeCloseTo(1, 11);
    for (let i = 0; i < size; i++) for (let j = 0; j < i; j++) expect(Math.abs(im[i * size + j]! + im[j * size + i]!)).toBeLessThan(1e-15);
  });

  it("stays among the means of Z over 10,000 inputs", async () => {
    await using computer = await ReservoirComputer.create(quantumReservoir({ qubits: 3, virtualNodes: 2, range: [0, 1], seed: 2 }));
    const states = await computer.run(column(inputsFrom("long", 10_000)));
    expect(states.data.every((value) => Math.abs(value) <= 1)).toBe(true);
  });

  it("forgets: no constant input's matrix has an eigenvalue of 1 or more", () => {
    const { transition } = quantumSystem({ qubits: 4, virtualNodes: 3, tau: 1, coupling: 1, field: 0.5 }, 8);
    const size = transition.cols;
    for (const s of [0, 0.5, 1]) {
      const c = Math.sqrt(s * (1 - s));
      const block = (k: number, i: number) => transition.data[k * size * size + i]!;
      const matrix = new Matrix(
        size,
        size,
        Float64Array.from({ length: size * size }, (_, i) => block(0, i) + s * block(1, i) + c * block(2, i)),
      );
      const { re, im } = eigenvalues(matrix);
      expect(Math.hypot(re[0]!, im[0]!)).toBeLessThan(0.999);
    }
  });

  it("is a description of the kind stateAffine, with every default filled in", () => {
    expect(quantumReservoir({ qubits: 3 })).toEqual({
      kind: "stateAffine",
      quantum: { qubits: 3, virtualNodes: 10, tau: 1, coupling: 1, field: 0.5 },
    });
  });

  it.each([
    [{ qubits: 7 }, "qubits"],
    [{ qubits: 1 }, "qubits"],
    [{ qubits: 3, tau: 0 }, "tau"],
    [{ qubits: 3, qbits: 3 }, "qbits"],
  ])("refuses %j", (options, field) => {
    expect(() => quantumReservoir(options as never)).toThrow(expect.objectContaining({ field: expect.stringContaining(field) }));
  });
});
