// Options of a ConceptorMemory and their checks. It runs nothing.
import {
  checkedLater,
  choice,
  either,
  flag,
  type InputOf,
  list,
  number,
  objectLater,
  option,
  optional,
  seed,
  whole,
} from "@spillway/core/options.js";
import type { MatrixLike } from "@spillway/numerics";
import type { EngineSelection, ReservoirOptions, WorkOptions } from "../../reservoir/index.js";
import { selectionTable } from "../../reservoir/options.js";
import { workTable } from "../../reservoir/work.js";

const apertureTakes = "a number above 0, or a list of one a pattern";

export const conceptorMemoryTable = {
  /**
   * The reservoir, without feedback. What is left out: 100 neurons, spectralRadius 1.5,
   * inputScaling 1.5, bias 0.2, all weights normal, leakRate 1, precision float64.
   */
  reservoir: option(objectLater<Partial<ReservoirOptions>>("an object that describes a reservoir"), {}, "Its description."),
  /** alpha of the conceptors: one for all, or one a pattern. Default 10. */
  aperture: option(
    either(apertureTakes, number({ above: 0, takes: apertureTakes }), list(number({ above: 0, takes: apertureTakes }), apertureTakes, 1)),
    10,
    "How much of the states each conceptor lets through.",
  ),
  /**
   * What replaces the input. "reservoir" (default): W is trained so that W x(t) is W* x(t) + W_in
   * p(t+1), with W* as drawn. "input": W = W* + D, and D x(t) is W_in p(t+1).
   */
  loading: option(choice("reservoir", "input"), "reservoir", "What replaces the input: W as a whole, or a matrix beside it."),
  /** Ridge penalty of what replaces the input. Default 1e-4. */
  loadingLambda: option(number({ above: 0 }), 1e-4, "Ridge penalty of what replaces the input."),
  /** Ridge penalty of the readout. Default 0.01. */
  readoutLambda: option(number({ above: 0 }), 0.01, "Ridge penalty of the readout."),
  /** Rows at the start of every pattern that teach nothing. Default 100. */
  washout: option(whole(), 100, "Rows at the start of every pattern that teach nothing."),
  /** Turn the patterns, all together, into z-scores. Default true. */
  standardise: option(flag, true, "Turn the patterns, all together, into z-scores."),
  ...selectionTable,
};

/** How patterns are stored. */
export interface ConceptorMemoryOptions extends EngineSelection, InputOf<typeof conceptorMemoryTable> {}

export const recallTable = {
  ...workTable,
  /**
   * Rows of a pattern (T x D) that drive the reservoir first, from its initial state; the recalled
   * rows follow them. Left out, a pattern goes on from its last row that was stored.
   */
  cue: optional(checkedLater<MatrixLike>("T x D"), "Rows that drive the reservoir first."),
  /**
   * Steps that are not given out, while the state settles. Default 100 from a random start, else 0.
   */
  settle: optional(whole(), "Steps that are not given out; left out, 100 from a random start, else 0."),
  /**
   * Start at random, by this seed; the phase is then any. "recall" for a conceptor without a cue.
   */
  seed: optional(seed, "Start at random, by this seed."),
};

/** How a pattern is recalled. */
export interface RecallOptions extends WorkOptions, InputOf<typeof recallTable> {}
