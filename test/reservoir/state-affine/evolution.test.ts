import { describe, expect, it } from "vitest";
import { Matrix, symmetricEigen } from "../../../packages/numerics/src/index.js";
import {
  adjoint,
  type ComplexMatrix,
  complexProduct,
  complexZeros,
  evolution,
  isingHamiltonian,
  signOf,
} from "../../../src/reservoir/state-affine/quantum/evolution.js";
import { pauliCoordinates, pauliMatrix } from "../../../src/reservoir/state-affine/quantum/pauli.js";
import { drawCouplings } from "../../../src/reservoir/state-affine/quantum/system.js";

const largest = (values: Float64Array): number => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

function difference(a: ComplexMatrix, b: ComplexMatrix): number {
  return Math.max(largest(a.re.map((value, i) => value - b.re[i]!)), largest(a.im.map((value, i) => value - b.im[i]!)));
}

function identity(size: number): ComplexMatrix {
  const out = complexZeros(size);
  for (let i = 0; i < size; i++) out.re[i * size + i] = 1;
  return out;
}

/**
 * exp(-i H t) as a product of `steps` short ones: field, couplings (order 1), or half of the field
 * on either side (2).
 */
function trotter(couplings: Matrix, field: number, time: number, steps: number, order: 1 | 2): ComplexMatrix {
  const qubits = couplings.rows;
  const dt = time / steps;
  let u = identity(2 ** qubits);
  const byField = (part: number) => {
    const phases = complexZeros(u.size);
    for (let state = 0; state < u.size; state++) {
      let sum = 0;
      for (let i = 0; i < qubits; i++) sum += signOf(state, i, qubits);
      phases.re[state * u.size + state] = Math.cos(part * field * sum);
      phases.im[state * u.size + state] = -Math.sin(part * field * sum);
    }
    u = complexProduct(phases, u);
  };
  for (let step = 0; step < steps; step++) {
    byField(order === 2 ? dt / 2 : dt);
    for (let i = 0; i < qubits; i++)
      for (let j = i + 1; j < qubits; j++) {
        // exp(-i a X X) = cos a - i sin a X X.
        const a = couplings.at(i, j) * dt;
        const gate = complexZeros(u.size);
        for (let state = 0; state < u.size; state++) {
          gate.re[state * u.size + state] = Math.cos(a);
          gate.im[state * u.size + (state ^ (1 << (qubits - 1 - i)) ^ (1 << (qubits - 1 - j)))] = -Math.sin(a);
        }
        u = complexProduct(gate, u);
      }
    if (order === 2) byField(dt / 2);
  }
  return u;
}

describe("evolution of Ising qubits", () => {
  it("is unitary", () => {
    const u = evolution(isingHamiltonian(drawCouplings(5, 1, 3), 0.5), 1);
    expect(difference(complexProduct(u, adjoint(u)), identity(32))).toBeLessThan(1e-14);
  });

  it.each([
    [1, 2],
    [2, 4],
  ] as const)("is what Trotter products of order %i converge to, their errors falling %i times at half the step", (order, ratio) => {
    const couplings = drawCouplings(4, 1, 3);
    const exact = evolution(isingHamiltonian(couplings, 0.5), 1);
    const errors = [8, 16, 32].map((steps) => difference(trotter(couplings, 0.5, 1, steps, order), exact));
    expect(errors[2]!).toBeGreaterThan(1e-9);
    for (const k of [0, 1]) expect(errors[k]! / errors[k + 1]!).toBeCloseTo(ratio, 1);
  });

  it.each([4, 6])("has the ground energy of the critical ring of %i qubits, -2 / (n sin(pi / 2n)) a site", (n) => {
    const ring = Matrix.zeros(n, n);
    for (let i = 0; i < n; i++) ring.data[Math.min(i, (i + 1) % n) * n + Math.max(i, (i + 1) % n)] = -1;
    expect(symmetricEigen(isingHamiltonian(ring, -1)).values.at(-1)! / n).toBeCloseTo(-2 / (n * Math.sin(Math.PI / (2 * n))), 12);
  });

  it("has the energies and the spin flips of two qubits", () => {
    const couplings = Matrix.zeros(2, 2);
    couplings.data[1] = 0.7;
    const hamiltonian = isingHamiltonian(couplings, 0.5);
    const omega = Math.sqrt(0.7 ** 2 + 4 * 0.5 ** 2);
    for (const [k, energy] of [omega, 0.7, -0.7, -omega].entries()) expect(symmetricEigen(hamiltonian).values[k]!).toBeCloseTo(energy, 13);
    const { re, im } = evolution(hamiltonian, 1.3);
    const chance = re[12]! ** 2 + im[12]! ** 2;
    expect(chance).toBeCloseTo(0.3287742904, 10);
    expect(chance).toBeCloseTo((0.49 / 1.49) * Math.sin(1.3 * omega) ** 2, 13);
  });
});

describe("Pauli coordinates", () => {
  it("are 1 for the word's own matrix and 0 for all others", () => {
    for (const word of [0, 1, 2, 3, 6, 27, 57, 63]) {
      const coordinates = pauliCoordinates(pauliMatrix(word, 3), 3);
      expect([...coordinates]).toEqual(Array.from({ length: 64 }, (_, k) => (k === word ? 1 : 0)));
    }
  });
});
