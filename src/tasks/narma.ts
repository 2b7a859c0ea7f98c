// NARMA: a nonlinear autoregressive moving average that is driven by random input.
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, choice, count, type InputOf, number, option, type Resolved, resolve, seed } from "@spillway/core/options.js";
import { Matrix } from "@spillway/numerics";
import { checkLength } from "./options.js";
import { taskStream } from "./streams.js";
import type { DrivenTask, InputsAndTargets } from "./task.js";

/**
 * The NARMA-30 of B. Schrauwen et al. 2008, "Improving reservoirs using intrinsic plasticity",
 * Neurocomputing 71.
 */
export const narma30: NarmaOptions = { order: 30, a1: 0.2, a2: 0.04, b: 1.5, c: 0.001 };

/** Values of the input; null draws them. */
type NarmaInput = readonly number[] | Float64Array | null;

const inputOption = option(
  checked<NarmaInput>(
    "an array of finite numbers",
    (value) => value === null || ((Array.isArray(value) || value instanceof Float64Array) && value.every(Number.isFinite)),
  ),
  null,
  "the input's values, in place of random ones",
);

const table = {
  /** How many past outputs and which past input take part; NARMA-10 is order 10, the default. */
  order: option(count(1, 100_000), 10, "how many past outputs and which past input take part"),
  /** Factor on the last output; default 0.3. */
  a1: option(number(), 0.3, "factor on the last output"),
  /** Factor on the last output times the sum of outputs; default 0.05. */
  a2: option(number(), 0.05, "factor on the last output times the sum of outputs"),
  /** Factor on the product of two inputs; default 1.5. */
  b: option(number(), 1.5, "factor on the product of two inputs"),
  /** Constant; default 0.1. */
  c: option(number(), 0.1, "constant"),
  /**
   * The input's values, in place of random ones: length + order - 1 or more (length + order with
   * compat "reservoirpy").
   */
  u: inputOption,
  /** Draws the input, uniform in [0, 0.5); default "spillway". */
  seed: option(seed, "spillway", "draws the input, uniform in [0, 0.5)"),
  /** "reservoirpy" for that package's recurrence; default "none". */
  compat: option(choice("none", "reservoirpy"), "none", "the recurrence of ReservoirPy, for comparisons with it"),
};

/** Order, coefficients and input of a NARMA series. */
export interface NarmaOptions extends InputOf<typeof table> {}

/**
 * NARMA-10 series stay below 1.3 (a million steps of a thousand seeds); past that one leaves faster
 * than exponentially.
 */
const divergenceLimit = 2;
const maxDraws = 100;

/**
 * NARMA of order n (A. F. Atiya, A. G. Parlos 2000, "New results on recurrent network training",
 * IEEE Trans. Neural Networks 11, there with n = 10):
 *
 *     y(t+1) = a1 y(t) + a2 y(t) (y(t) + y(t-1) + ... + y(t-n+1)) + b u(t-n+1) u(t) + c,  u(t) uniform in [0, 0.5).
 *
 * Input row t is u(t), target row t is y(t+1), which u(t) is the last to reach. y is 0 before row 0
 * and u is drawn from n - 1 steps before it, so a washout of a few n forgets the start. A series
 * that diverges is drawn again, from the same seed.
 *
 * With `compat: "reservoirpy"` the sum ends one step earlier and reaches one further back, y(t-1) +
 * ... + y(t-n), the product is u(t-n) u(t), and target row t is y(t), from 0.
 *
 * Defaults: order 10, a1 0.3, a2 0.05, b 1.5, c 0.1, seed "spillway"; `narma30` holds the usual
 * parameters of order 30.
 * @returns inputs length x 1, targets length x 1.
 * @throws ArgumentError on options it does not take, a `u` that is too short, and when the series
 * diverges for that `u` or for 100 draws.
 */
export function narma(length: number, options: NarmaOptions = {}): InputsAndTargets {
  const settings = resolve(table, options, "narma");
  checkLength("narma", length);
  const { order, u, seed, compat } = settings;
  const before = compat === "reservoirpy" ? order : order - 1;
  const count = before + length;
  const recurrence = (inputs: Float64Array) => targetsOf(settings, inputs, length);
  const result = (inputs: Float64Array, targets: Float64Array): InputsAndTargets => ({
    inputs: new Matrix(length, 1, inputs.slice(before, count)),
    targets: new Matrix(length, 1, targets),
  });

  if (u !== null) {
    if (u.length < count) {
      throw ArgumentError.shape(`u holds ${u.length} values; ${length} rows of order ${order} take at least ${count}`, {
        of: "narma",
        field: "u",
        value: u,
      });
    }
    const inputs = Float64Array.from(u);
    const targets = recurrence(inputs);
    if (targets === undefined)
      throw ArgumentError.because(`the series diverges for this u; ${advice}`, { of: "narma", field: "u", value: u });
    return result(inputs, targets);
  }

  const stream = taskStream("narma", seed);
  for (let attempt = 0; attempt < maxDraws; attempt++) {
    const inputs = Float64Array.from({ length: count }, (_, i) => 0.5 * stream.uniform(attempt, i));
    const targets = recurrence(inputs);
    if (targets !== undefined) return result(inputs, targets);
  }
  throw ArgumentError.because(`the series of order ${order} diverged for ${maxDraws} draws of the input; ${advice}`, {
    of: "narma",
    field: "order",
    value: order,
  });
}

const advice = "take a shorter series, or a smaller a1, a2, b or c (narma30 has those for order 30)";

/**
 * Target rows y(1) ... y(length), or of ReservoirPy's recurrence y(0) ... y(length - 1); undefined
 * if they diverge.
 */
function targetsOf({ order, a1, a2, b, c, compat }: Resolved<typeof table>, u: Float64Array, length: number): Float64Array | undefined {
  // How many steps the sum and the first input are further back.
  const lag = compat === "reservoirpy" ? 1 : 0;
  const y = new Float64Array(length + 1 - lag);
  for (let t = 0; t + 1 < y.length; t++) {
    let sum = 0;
    for (let i = Math.max(0, t - order + 1 - lag); i <= t - lag; i++) sum += y[i]!;
    const value = a1 * y[t]! + a2 * y[t]! * sum + b * u[t]! * u[t + order - 1 + lag]! + c;
    if (!(Math.abs(value) <= divergenceLimit)) return undefined;
    y[t + 1] = value;
  }
  return y.slice(1 - lag);
}

export const narmaTask: DrivenTask = {
  kind: "driven",
  name: "narma",
  description: "NARMA-10 and its kin: predict a driven nonlinear average",
  options: table,
  generate: narma,
};
