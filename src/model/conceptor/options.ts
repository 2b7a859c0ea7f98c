// Options of a ConceptorMemory and their checks. It runs nothing.
import {
  checkedLater,
  choice,
  either,
  flag,
  list,
  number,
  objectLater,
  option,
  optional,
  seed,
  type TableOf,
  whole,
} from "@spillway/core/options.js";
import type { MatrixLike, Seed } from "@spillway/numerics";
import type { EngineSelection, ReservoirOptions, WorkOptions } from "../../reservoir/index.js";
import { selectionTable } from "../../reservoir/options.js";
import { workTable } from "../../reservoir/work.js";

/** How patterns are stored. */
export interface ConceptorMemoryOptions extends EngineSelection {
  /**
   * The reservoir, without feedback. What is left out: 100 neurons, spectralRadius 1.5,
   * inputScaling 1.5, bias 0.2, all weights normal, leakRate 1, precision float64.
   */
  readonly reservoir?: Partial<ReservoirOptions> | undefined;
  /** alpha of the conceptors: one for all, or one a pattern. Default 10. */
  readonly aperture?: number | readonly number[] | undefined;
  /**
   * What replaces the input. "reservoir" (default): W is trained so that W x(t) is W* x(t) + W_in
   * p(t+1), with W* as drawn. "input": W = W* + D, and D x(t) is W_in p(t+1).
   */
  readonly loading?: "reservoir" | "input" | undefined;
  /** Ridge penalty of what replaces the input. Default 1e-4. */
  readonly loadingLambda?: number | undefined;
  /** Ridge penalty of the readout. Default 0.01. */
  readonly readoutLambda?: number | undefined;
  /** Rows at the start of every pattern that teach nothing. Default 100. */
  readonly washout?: number | undefined;
  /** Turn the patterns, all together, into z-scores. Default true. */
  readonly standardise?: boolean | undefined;
}

/** How a pattern is recalled. */
export interface RecallOptions extends WorkOptions {
  /**
   * Rows of a pattern (T x D) that drive the reservoir first, from its initial state; the recalled
   * rows follow them. Left out, a pattern goes on from its last row that was stored.
   */
  readonly cue?: MatrixLike | undefined;
  /**
   * Steps that are not given out, while the state settles. Default 100 from a random start, else 0.
   */
  readonly settle?: number | undefined;
  /**
   * Start at random, by this seed; the phase is then any. "recall" for a conceptor without a cue.
   */
  readonly seed?: Seed | undefined;
}

const apertureTakes = "a number above 0, or a list of one a pattern";

/** The options of `ConceptorMemory.store`. */
export const conceptorMemoryTable = {
  reservoir: option(objectLater<Partial<ReservoirOptions>>("an object that describes a reservoir"), {}, "Its description."),
  aperture: option(
    either(apertureTakes, number({ above: 0, takes: apertureTakes }), list(number({ above: 0, takes: apertureTakes }), apertureTakes, 1)),
    10,
    "How much of the states each conceptor lets through.",
  ),
  loading: option(choice("reservoir", "input"), "reservoir", "What replaces the input: W as a whole, or a matrix beside it."),
  loadingLambda: option(number({ above: 0 }), 1e-4, "Ridge penalty of what replaces the input."),
  readoutLambda: option(number({ above: 0 }), 0.01, "Ridge penalty of the readout."),
  washout: option(whole(), 100, "Rows at the start of every pattern that teach nothing."),
  standardise: option(flag, true, "Turn the patterns, all together, into z-scores."),
  ...selectionTable,
} satisfies TableOf<ConceptorMemoryOptions>;

/** The options of `recall`. */
export const recallTable = {
  ...workTable,
  cue: optional(checkedLater<MatrixLike>("T x D"), "Rows that drive the reservoir first."),
  settle: optional(whole(), "Steps that are not given out; left out, 100 from a random start, else 0."),
  seed: optional(seed, "Start at random, by this seed."),
} satisfies TableOf<RecallOptions>;
