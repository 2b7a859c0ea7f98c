// The options of the kind "stateAffine", as a user writes them. What they take is in
// src/state-affine/options.ts.

/** A function of an input s in [0, 1] by which matrices of a state-affine system are multiplied. */
export type InputFunction = "u" | "u^2" | "sqrt(u(1-u))";

/**
 * A state-affine system x' = (A + sum of g_k(s) B_k) x + b + sum of g_k(s) c_k, s the input in its
 * range: linear in the state, and not in the input. See docs/substrates.md.
 */
export interface StateAffineReservoirOptions {
  /** n, how many coordinates x has; with `quantum` it follows from the qubits. */
  readonly size?: number | undefined;
  /**
   * The functions g of each input; default "u", and with `quantum` those that its matrices have.
   */
  readonly functions?: readonly InputFunction[] | undefined;
  /**
   * Inputs are mapped from this range to [0, 1] and cut there; default [-1, 1]. For a model that
   * makes z-scores of its inputs, [-3, 3].
   */
  readonly range?: readonly [number, number] | undefined;
  /**
   * The norm of A + sum of g_k(s) B_k is at most this for every input, so that the system forgets
   * where it started; default 0.95. For drawn matrices.
   */
  readonly contraction?: number | undefined;
  /** The share of it that the B_k have; default 0.3. 0 is a linear system. For drawn matrices. */
  readonly modulation?: number | undefined;
  /** Factor on the c_k, which are uniform in [-1, 1]; default 1. For drawn matrices. */
  readonly inputScaling?: number | undefined;
  /** Factor on b, which is uniform in [-1, 1]; default 0.5. For drawn matrices. */
  readonly bias?: number | undefined;
  /** Matrices of a quantum reservoir in place of drawn ones. */
  readonly quantum?: QuantumOptions | undefined;
}

/**
 * Qubits with the transverse-field Ising Hamiltonian H = sum over i < j of J_ij X_i X_j + h sum of
 * Z_i. Each input is written into the first of them; see docs/substrates.md.
 */
export interface QuantumOptions {
  /** n, 2 to 6. */
  readonly qubits: number;
  /**
   * V: the time of an input is divided into this many parts, after each of which <Z> is read;
   * default 10.
   */
  readonly virtualNodes?: number | undefined;
  /** The time that an input lasts; default 1. */
  readonly tau?: number | undefined;
  /** J: the couplings J_ij are uniform in [-J/2, J/2]; default 1. */
  readonly coupling?: number | undefined;
  /** h, the transverse field; default 0.5. */
  readonly field?: number | undefined;
}
