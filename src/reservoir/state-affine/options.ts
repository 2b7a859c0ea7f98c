// The options of the kind "stateAffine".
import {
  choice,
  given,
  type InputOf,
  type Kind,
  list,
  number,
  object,
  option,
  optional,
  type Resolved,
  tuple,
  whole,
} from "@spillway/core/options.js";

/** A function of an input s in [0, 1] by which matrices of a state-affine system are multiplied. */
export type InputFunction = "u" | "u^2" | "sqrt(u(1-u))";

/** How the matrices of a quantum reservoir are made. */
export const quantumTable = {
  /** n, 2 to 6. */
  qubits: given(whole({ atLeast: 2, atMost: 6 }), "n; x has 4^(n - 1) - 1 coordinates."),
  /**
   * V: the time of an input is divided into this many parts, after each of which <Z> is read;
   * default 10.
   */
  virtualNodes: option(whole({ atLeast: 1, atMost: 1000 }), 10, "V, the parts of an input's time; states are n V values."),
  /** The time that an input lasts; default 1. */
  tau: option(number({ above: 0, atMost: 1e6 }), 1, "The time that an input lasts."),
  /** J: the couplings J_ij are uniform in [-J/2, J/2]; default 1. */
  coupling: option(number({ atLeast: 0, atMost: 1e6 }), 1, "J: couplings are uniform in [-J/2, J/2]."),
  /** h, the transverse field; default 0.5. */
  field: option(number({ atLeast: -1e6, atMost: 1e6 }), 0.5, "h, the transverse field."),
};

/**
 * Qubits with the transverse-field Ising Hamiltonian H = sum over i < j of J_ij X_i X_j + h sum of
 * Z_i. Each input is written into the first of them; see docs/substrates.md.
 */
export interface QuantumOptions extends InputOf<typeof quantumTable> {}

/** Qubits with every default filled in. */
export type QuantumConfig = Resolved<typeof quantumTable>;

const quantumKind: Kind<QuantumConfig, QuantumOptions> = object(quantumTable, "an object that describes qubits, at least {qubits}");

/** The options of the kind. Those without a default follow from others. */
export const stateAffineTable = {
  /** n, how many coordinates x has; with `quantum` it follows from the qubits. */
  size: optional(
    whole({ atLeast: 1, atMost: 2 ** 14, takes: "a whole number from 1 to 16384" }),
    "How many coordinates x has; with quantum it follows from the qubits.",
  ),
  /**
   * The functions g of each input; default "u", and with `quantum` those that its matrices have.
   */
  functions: optional(
    list<InputFunction, InputFunction>(choice("u", "u^2", "sqrt(u(1-u))"), 'a list of "u", "u^2", "sqrt(u(1-u))"', 1),
    "The functions of each input that matrices are multiplied by; left out, u, with quantum those that its matrices have.",
  ),
  /**
   * Inputs are mapped from this range to [0, 1] and cut there; default [-1, 1]. For a model that
   * makes z-scores of its inputs, [-3, 3].
   */
  range: option(
    tuple<readonly [number, number]>("two numbers that rise", [number(), number()]),
    [-1, 1],
    "Inputs are mapped from this range to [0, 1] and cut there; for z-scores [-3, 3] if left out.",
  ),
  /**
   * The norm of A + sum of g_k(s) B_k is at most this for every input, so that the system forgets
   * where it started; default 0.95. For drawn matrices.
   */
  contraction: option(number({ above: 0, below: 1 }), 0.95, "The largest norm that the matrix of a step can have."),
  /** The share of it that the B_k have; default 0.3. 0 is a linear system. For drawn matrices. */
  modulation: option(number({ atLeast: 0, atMost: 1 }), 0.3, "The share of the contraction that the inputs decide."),
  /** Factor on the c_k, which are uniform in [-1, 1]; default 1. For drawn matrices. */
  inputScaling: option(number({ atLeast: 0 }), 1, "Factor on what inputs add to x."),
  /** Factor on b, which is uniform in [-1, 1]; default 0.5. For drawn matrices. */
  bias: option(number({ atLeast: 0 }), 0.5, "Factor on what every step adds to x."),
  /** Matrices of a quantum reservoir in place of drawn ones. */
  quantum: optional(quantumKind, "Matrices of qubits in place of drawn ones."),
  precision: option(choice("float32", "float64"), "float64", "Precision of states and matrices."),
};

/**
 * A state-affine system x' = (A + sum of g_k(s) B_k) x + b + sum of g_k(s) c_k, s the input in its
 * range: linear in the state, and not in the input. See docs/substrates.md.
 */
export interface StateAffineReservoirOptions extends Omit<InputOf<typeof stateAffineTable>, "precision"> {}
