// quantumReservoir: qubits as the description of a reservoir.
import { choice, type InputOf, optional, resolve, seed as seedKind } from "@spillway/core/options.js";
import type { CommonKindOptions } from "../../registered/options.js";
import type { QuantumOptions, StateAffineReservoirOptions } from "../options.js";
import { quantumTable, stateAffineTable } from "../options.js";

/** A description of a quantum reservoir: one of the kind "stateAffine". */
export interface QuantumReservoir extends Pick<StateAffineReservoirOptions, "range">, Pick<CommonKindOptions, "seed" | "precision"> {
  /** No engine knows of qubits: it runs a state-affine system. */
  readonly kind: "stateAffine";
  /** What its matrices are made of, every default filled in. */
  readonly quantum: QuantumOptions;
}

const table = {
  ...quantumTable,
  range: optional(stateAffineTable.range, stateAffineTable.range.description),
  seed: optional(seedKind, "Determines the couplings."),
  precision: optional(choice("float32", "float64"), stateAffineTable.precision.description),
};

/** Qubits, and what a reservoir's description has beside them. */
export interface QuantumReservoirOptions
  extends QuantumOptions,
    Pick<StateAffineReservoirOptions, "range">,
    Pick<CommonKindOptions, "seed" | "precision">,
    InputOf<typeof table> {}

/**
 * A quantum reservoir with the transverse-field Ising Hamiltonian H = sum over i < j of J_ij X_i
 * X_j + h sum of Z_i: n qubits, of which each input s in [0, 1] sets the first to sqrt(s) |0> +
 * sqrt(1 - s) |1>. The state then evolves for the time tau, and after each of V parts of it the
 * means of Z of all qubits are read: n V states. It starts as the mixed state 1 / 2^n.
 *
 * What it gives is a description of the kind "stateAffine", whose x are the 4^(n-1) - 1 coordinates
 * of the qubits that an input leaves alone. `ReservoirComputer.create`, `Forecaster` and the others
 * take it. Inputs lie in `range`, default [-1, 1], for z-scores of a model [-3, 3].
 *
 * K. Fujii and K. Nakajima 2017, "Harnessing disordered-ensemble quantum dynamics for machine
 * learning", Physical Review Applied 8, 024030. R. Martínez-Peña and J.-P. Ortega 2023, "Quantum
 * reservoir computing in finite dimensions", Physical Review E 107, 035306, for the equality.
 *
 * @throws ArgumentError for an option that is unknown or out of its bounds
 * @example
 * await using computer = await ReservoirComputer.create(quantumReservoir({ qubits: 5, range: [0,
 * 1], seed: 1 })); const states = await computer.run(inputs); // T x 50
 */
export function quantumReservoir(options: QuantumReservoirOptions): QuantumReservoir {
  const { range, seed, precision, ...quantum } = resolve(table, options, "quantumReservoir");
  return {
    kind: "stateAffine",
    quantum,
    ...(range && { range }),
    ...(seed !== undefined && { seed }),
    ...(precision && { precision }),
  };
}
