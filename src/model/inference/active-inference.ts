// A small discrete active-inference agent: beliefs about hidden states, and actions of least
// expected free energy. It has no reservoir.
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { checkedLater, given, type InputOf, number, option, resolve, whole } from "@spillway/core/options.js";
import { type Matrix, type MatrixLike, portableExp, portableLog } from "@spillway/numerics";
import { anySeries } from "../../reservoir/inputs.js";

export const activeInferenceTable = {
  /** A, O x S: the probability of each outcome in each state; columns sum to 1. */
  likelihood: given(checkedLater<MatrixLike>("a matrix"), "A, O x S; columns sum to 1."),
  /** B, S x S for each action: column s is where it leads from state s; columns sum to 1. */
  transitions: given(checkedLater<readonly MatrixLike[]>("a list of matrices"), "B, S x S for each action; columns sum to 1."),
  /** ln C up to a constant, O values: how much each outcome is wanted, in nats. */
  preferences: given(checkedLater<ArrayLike<number>>("a list of numbers"), "ln C up to a constant, O values."),
  /** D, S values that sum to 1: the states at the start. */
  prior: given(checkedLater<ArrayLike<number>>("a list of numbers"), "D, S values that sum to 1."),
  /** How many actions ahead it plans; default 2. Actions ^ horizon policies, at most 65,536. */
  horizon: option(whole({ atLeast: 1, atMost: 16 }), 2, "How many actions ahead it plans."),
  /** Factor on expected free energies in the probabilities of policies; default 1. */
  precision: option(number({ above: 0 }), 1, "Factor on expected free energies in the probabilities of policies."),
};

/** What an agent knows of its world: S states, O outcomes, one transition for each action. */
export interface ActiveInferenceOptions extends InputOf<typeof activeInferenceTable> {}

/** What an outcome did to the beliefs. */
export interface ActiveInferenceBeliefs {
  /** q(s), S values: the probability of each state given the outcomes so far. */
  readonly beliefs: Float64Array;
  /** F of exact inference, -ln p(outcome | those before), nats. */
  readonly freeEnergy: number;
}

/** What an agent would do. */
export interface ActiveInferencePlan {
  /** The probability of each action, the first of its policies. */
  readonly probabilities: Float64Array;
  /** The most probable, the first if tied. */
  readonly action: number;
  /** The least expected free energy of a policy that begins with each action, nats. */
  readonly expectedFreeEnergies: Float64Array;
}

const mostPolicies = 65_536;

/**
 * An agent that believes in states it cannot see, and acts by the least expected free energy
 *
 *     G(policy) = sum over its steps of KL(q(o) | C) + E_q(s) H(A_s),   q(o) = A q(s),   C = softmax(preferences)
 *
 * risk and ambiguity: outcomes shall be as they are wanted, and tell the state. Beliefs are exact
 * (Bayes): q(s) ~ A_os (B q)_s, whose free energy is -ln p(o).
 *
 * K. Friston et al. 2017, "Active inference: a process theory", Neural Computation 29; L. Da Costa
 * et al. 2020, "Active inference on discrete state-spaces: a synthesis", Journal of Mathematical
 * Psychology 99.
 *
 * @example
 * const agent = new ActiveInferenceAgent({ likelihood, transitions, preferences, prior });
 * agent.observe(outcome);
 * const { action } = agent.plan();
 * agent.move(action);
 */
export class ActiveInferenceAgent {
  readonly #likelihood: Matrix<Float64Array>;
  readonly #transitions: readonly Matrix<Float64Array>[];
  readonly #logPreferences: Float64Array;
  /** H(A_s) of each state. */
  readonly #ambiguity: Float64Array;
  readonly #horizon: number;
  readonly #precision: number;
  #beliefs: Float64Array;

  /** @throws ArgumentError for matrices that do not fit, or whose columns are no probabilities */
  constructor(options: ActiveInferenceOptions) {
    const { likelihood, transitions, preferences, prior, horizon, precision } = resolve(
      activeInferenceTable,
      options,
      "ActiveInferenceAgent",
    );
    const a = anySeries(likelihood, "likelihood", "float64") as Matrix<Float64Array>;
    const { rows: outcomes, cols: states } = a;
    checkColumns(a, "likelihood");
    if (!Array.isArray(transitions) || transitions.length === 0)
      throw new ArgumentError("transitions", transitions, "a list of matrices, one for each action");
    this.#likelihood = a;
    this.#transitions = transitions.map((each: MatrixLike, k) => {
      const name = `transitions[${k}]`;
      const b = anySeries(each, name, "float64") as Matrix<Float64Array>;
      if (b.rows !== states || b.cols !== states)
        throw ArgumentError.shape(`${name} is ${b.rows} x ${b.cols}; it takes ${states} x ${states}`, { field: name });
      checkColumns(b, name);
      return b;
    });
    if (transitions.length ** horizon > mostPolicies)
      throw new ArgumentError("horizon", horizon, `fewer steps: ${transitions.length} actions make more than ${mostPolicies} policies`);
    const wanted = row(preferences, "preferences", outcomes);
    const largest = wanted.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
    const total = wanted.reduce((sum, value) => sum + portableExp(value - largest), 0);
    this.#logPreferences = wanted.map((value) => value - largest - portableLog(total));
    this.#ambiguity = Float64Array.from({ length: states }, (_, s) => {
      let entropy = 0;
      for (let o = 0; o < outcomes; o++) entropy -= timesLog(a.at(o, s), a.at(o, s));
      return entropy;
    });
    this.#horizon = horizon;
    this.#precision = precision;
    this.#beliefs = row(prior, "prior", states).slice();
    if (!isDistribution(this.#beliefs)) throw new ArgumentError("prior", prior, "probabilities that sum to 1");
  }

  /** q(s), S values. */
  get beliefs(): Float64Array {
    return this.#beliefs.slice();
  }

  /**
   * Takes an outcome, by its number. @throws ArgumentError for a number that is none;
   * SpillwayError for an outcome that no believed state has
   */
  observe(outcome: number): ActiveInferenceBeliefs {
    const { rows } = this.#likelihood;
    if (!Number.isInteger(outcome) || outcome < 0 || outcome >= rows)
      throw new ArgumentError("outcome", outcome, `a whole number from 0 to ${rows - 1}`);
    const joint = this.#beliefs.map((belief, s) => belief * this.#likelihood.at(outcome, s));
    const evidence = joint.reduce((sum, value) => sum + value, 0);
    if (!(evidence > 0)) throw new SpillwayError("numeric", `outcome ${outcome} has no probability in any state that is believed in`);
    this.#beliefs = joint.map((value) => value / evidence);
    return { beliefs: this.beliefs, freeEnergy: -portableLog(evidence) };
  }

  /** Moves the beliefs as an action does. @throws ArgumentError for a number that is no action */
  move(action: number): void {
    if (!Number.isInteger(action) || action < 0 || action >= this.#transitions.length)
      throw new ArgumentError("action", action, `a whole number from 0 to ${this.#transitions.length - 1}`);
    this.#beliefs = times(this.#transitions[action]!, this.#beliefs);
  }

  /** Looks ahead over every policy of `horizon` actions from the present beliefs. */
  plan(): ActiveInferencePlan {
    const actions = this.#transitions.length;
    const least = new Float64Array(actions).fill(Number.POSITIVE_INFINITY);
    const all: number[][] = Array.from({ length: actions }, () => []);
    const follow = (beliefs: Float64Array, sum: number, depth: number, first: number): void => {
      if (depth === this.#horizon) {
        all[first]!.push(sum);
        least[first] = Math.min(least[first]!, sum);
        return;
      }
      for (let action = 0; action < actions; action++) {
        const next = times(this.#transitions[action]!, beliefs);
        follow(next, sum + this.#expected(next), depth + 1, depth === 0 ? action : first);
      }
    };
    follow(this.#beliefs, 0, 0, 0);
    const best = least.reduce((a, b) => Math.min(a, b));
    const weights = Float64Array.from(all, (sums) => sums.reduce((sum, g) => sum + portableExp(-this.#precision * (g - best)), 0));
    const total = weights.reduce((sum, value) => sum + value, 0);
    const probabilities = weights.map((value) => value / total);
    const action = probabilities.indexOf(probabilities.reduce((a, b) => Math.max(a, b)));
    return { probabilities, action, expectedFreeEnergies: least };
  }

  /** Risk and ambiguity of beliefs. */
  #expected(beliefs: Float64Array): number {
    let sum = 0;
    for (const [o, q] of times(this.#likelihood, beliefs).entries()) sum += timesLog(q, q) - q * this.#logPreferences[o]!;
    for (const [s, q] of beliefs.entries()) sum += q * this.#ambiguity[s]!;
    return sum;
  }
}

/** p ln q, 0 if p is 0. */
const timesLog = (p: number, q: number): number => (p === 0 ? 0 : p * portableLog(q));

function times({ rows, cols, data }: Matrix<Float64Array>, x: Float64Array): Float64Array {
  return Float64Array.from({ length: rows }, (_, i) => {
    let sum = 0;
    for (let j = 0; j < cols; j++) sum += data[i * cols + j]! * x[j]!;
    return sum;
  });
}

function row(given: ArrayLike<number>, name: string, length: number): Float64Array {
  const out = anySeries([Array.from(given)], name, "float64") as Matrix<Float64Array>;
  if (out.cols !== length) throw ArgumentError.shape(`${name} has ${out.cols} values; it takes ${length}`, { field: name });
  return out.data;
}

const isDistribution = (p: Float64Array): boolean =>
  p.every((value) => value >= 0) && Math.abs(p.reduce((sum, value) => sum + value, 0) - 1) < 1e-9;

function checkColumns({ rows, cols, data }: Matrix<Float64Array>, name: string): void {
  for (let c = 0; c < cols; c++)
    if (!isDistribution(Float64Array.from({ length: rows }, (_, r) => data[r * cols + c]!)))
      throw new ArgumentError(`${name}, column ${c}`, "these numbers", "probabilities that sum to 1");
}
