// A Classifier's options, sequences and labels, and their checks. It runs nothing.
import { ArgumentError } from "@spillway/core/errors.js";
import {
  checked,
  choice,
  choiceOf,
  flag,
  type InputOf,
  type Kind,
  number,
  object,
  option,
  optional,
  type Resolved,
  type TableOf,
  whole,
  withoutDefaults,
} from "@spillway/core/options.js";
import { describe, Matrix, type MatrixLike, type Seed } from "@spillway/numerics";
import { type ReadoutDescription, readouts, type Trainer } from "../../readout/index.js";
import {
  type AnyReservoirOptions,
  type CompositeOptions,
  DeviceMatrix,
  type EngineSelection,
  type RegisteredReservoirOptions,
  type ReservoirOptions,
  type SequenceLike,
  type SpikingReservoirOptions,
} from "../../reservoir/index.js";
import { checkSequences } from "../../reservoir/inputs.js";
import { profileTable, selectionTable } from "../../reservoir/options.js";
import { binWidth, EncodedCases } from "../../spikes/drive.js";
import { isPattern, type SpikePattern } from "../../spikes/pattern/pattern.js";
import { checkedSeries } from "../forecaster/data.js";
import { type OwnReadout, reservoirsKind, seedsOf } from "../forecaster/options.js";

/** A class: a text or a number, not both in one classifier. */
export type Label = string | number;

/** What of a sequence the readout sees. */
export type Representation = "statistics" | "last" | "mean" | "last+mean" | "output";

/** Which way a sequence is run: from its first row on, and from its last one back. */
export type Directions = "both" | "forward";

/**
 * A reservoir of a classifier: a liquid, one of a registered kind, one of layers or groups, or a
 * rate reservoir, whose size has a default.
 */
export type ClassifierReservoir =
  | SpikingReservoirOptions
  | RegisteredReservoirOptions
  | CompositeOptions
  | (Omit<ReservoirOptions, "size"> & { readonly size?: ReservoirOptions["size"] | undefined });

/**
 * A trainer by its `type` and options, or a trainer, which may be your own object. "ridge"
 * (default): one output a class, trained on 1 for the class and 0 for the others; the largest wins.
 * Without `lambda` or `lambdas`, lambda is relative to m, the mean squared length of a case's
 * features, their means taken off (with `scaleFeatures`, the number of features that change): of
 * "statistics" the best of 1e-4 m to 10 m by leave-one-out, else 0.003 m.
 * "softmax": multinomial logistic regression. "rls", "lms" and trainers: outputs as of ridge.
 */
export type ClassifierReadout = ReadoutDescription | Trainer;

const readoutTakes = "an object of readout options";
const named = choiceOf(readouts);
/** "own": a trainer without a name, in a model file. */
const readoutType: Kind<string> = {
  get takes() {
    return named.takes;
  },
  get schema() {
    return named.schema;
  },
  read: (value, field) => (value === "own" ? value : named.read(value, field)),
};

export const classifierTable = {
  /**
   * - "statistics" (default of rate reservoirs): of each neuron the mean, deviation, largest,
   *   smallest and last state, the mean change from row to row, and for each of `thresholds` levels
   *   how often the state is above it and how often it crosses it; of two reservoirs, on the series
   *   and on its differences, each run forwards and backwards;
   * - "last": the state after the last row;
   * - "mean": the mean of the states;
   * - "last+mean" (default of liquids): both;
   * - "output": the weights of a ridge readout, trained only on this sequence, that predicts the
   *   next row from the state (Bianchi et al.
   *   2021).
   */
  representation: option(
    choice("statistics", "last", "mean", "last+mean", "output"),
    "statistics",
    "What of a sequence the readout sees; of a liquid last+mean, if left out.",
  ),
  /**
   * Levels that "statistics" counts by: those that part a neuron's states over some training cases
   * into shares of one size. Default 3, the quartiles; 0 counts nothing.
   */
  thresholds: option(whole({ atLeast: 0, atMost: 99 }), 3, "Levels by which statistics counts, quantiles of each neuron's states."),
  /**
   * Whether "statistics" has a second reservoir, of the seed "SEED/differences", that sees z-scores
   * of the changes from row to row. Default true; false for a reservoir that takes spikes.
   */
  differences: option(flag, true, "Whether statistics has a second reservoir, on the changes from row to row."),
  /** Whether "statistics" also runs every sequence from its last row back. Default "both". */
  directions: option(choice("both", "forward"), "both", "Whether statistics also runs sequences from their end."),
  /**
   * Joins the same statistics of the inputs: last row, mean, both, or all; with "output", the input
   * is a feature of the sequence's readout. Default false.
   */
  input: option(flag, false, "Join the same statistics of the inputs."),
  /**
   * Turn every channel into z-scores by the training sequences. Default true; false for a reservoir
   * that takes spikes.
   */
  standardise: option(flag, true, "Turn the inputs into z-scores."),
  /**
   * Take from every sequence's features their mean and divide them by their deviation (layer norm,
   * Ba, Kiros and Hinton 2016: variance + 1e-5), before `scaleFeatures`. Default false.
   */
  layerNorm: option(flag, false, "Take from each sequence's features their mean and divide them by their deviation."),
  /**
   * Turn every feature that the readout sees into z-scores by the training sequences (folded into
   * the readout). Default true.
   */
  scaleFeatures: option(flag, true, "Turn the features into z-scores."),
  /** Rows at the start of every run that "statistics", "mean" and "output" leave out. Default 0. */
  washout: option(whole(), 0, "Rows at the start of every sequence that count for nothing."),
  /** Ridge penalty of the readouts of "output". Default 1. */
  sequenceLambda: option(number({ above: 0 }), 1, "Ridge penalty of the readouts of representation output."),
  /**
   * The trainer of the readouts. A trainer that is your own object is kept as `{ type: "own" }`.
   */
  readout: option(
    object({ type: option(readoutType, "ridge", "The readout.") }, readoutTakes, "kept") as unknown as Kind<
      ReadoutDescription | OwnReadout
    >,
    { type: "ridge" },
    "The readout of classes and its options.",
  ),
  /**
   * How many reservoirs vote, or their seeds. Member 0 has the seed of the description, member m
   * the seed "SEED/m". Default 1.
   */
  members: option(reservoirsKind, 1, "Reservoirs that vote, each of another seed."),
  /**
   * "majority" (default): the class that most members predict; ties go to the larger mean score.
   * "mean": the largest mean score.
   */
  vote: option(choice("majority", "mean"), "majority", "How members agree."),
};

/** What a Classifier keeps beside its reservoirs. */
export interface ClassifierSettings extends Resolved<typeof classifierTable> {}

/**
 * A description of a classifier: its reservoir, what is read from the states, the readout, and
 * where it runs.
 */
export interface ClassifierOptions extends Omit<InputOf<typeof classifierTable>, "readout">, EngineSelection {
  /** How classes are learnt. Default ridge. */
  readonly readout?: ClassifierReadout | undefined;
  /**
   * The reservoir. Left out, `inputSize` follows from the channels, `size` is 100 and `bias` 0.5;
   * for "statistics" `spectralRadius` is 0.9, `leakRate` {from: 0.05, to: 1}, and every neuron has
   * ten inputs (`topology` fixedInDegree), fewer in a reservoir of fewer.
   */
  readonly reservoir?: ClassifierReservoir | undefined;
  /** Measure what the work of each member costs by phase: `computers[m].profile`. Default false. */
  readonly profile?: boolean | undefined;
}

/** The reservoir of a classifier; its size has a default. */
export const classifierReservoirOption = option(
  checked<ClassifierReservoir>("an object that describes a reservoir", (value) => typeof value === "object" && value !== null),
  {},
  "A rate reservoir of 100 neurons, if nothing else is said, or with kind spiking a liquid.",
);
/** The options of `Classifier.create`. */
export const classifierOptionsTable = {
  reservoir: classifierReservoirOption,
  ...selectionTable,
  ...profileTable,
  ...withoutDefaults(classifierTable),
  readout: optional(
    checked<ClassifierReadout>("a trainer by its type and options, or a trainer", (value) => value !== null),
    "The readout.",
  ),
} satisfies TableOf<ClassifierOptions>;

/** Cases of a classifier: series, or spike patterns, which are counted in bins of a step. */
export type ClassifierCases = readonly (SequenceLike | SpikePattern)[] | EncodedCases;

/** Cases that are binned or encoded before they drive a reservoir; undefined for plain series. */
export function encodedCases(cases: ClassifierCases, reservoir: AnyReservoirOptions): EncodedCases | undefined {
  if (cases instanceof EncodedCases) return cases.count > 0 ? cases : undefined;
  if (!Array.isArray(cases) || !cases.some(isPattern)) return undefined;
  const named = (error: ArgumentError, b: number) => error.at(`sequences[${b}]`);
  return new EncodedCases(cases as readonly (MatrixLike | SpikePattern)[], { bins: { binMs: binWidth(reservoir, undefined) } }, named);
}

/** Plain series of a classifier. */
export const plainCases = (cases: ClassifierCases): readonly SequenceLike[] =>
  cases instanceof EncodedCases ? [] : (cases as readonly SequenceLike[]);

/** How many cases there are. @throws ArgumentError if it is no list */
export function countCases(cases: ClassifierCases): number {
  if (cases instanceof EncodedCases) return cases.count;
  checkSequences(cases, "sequences");
  return cases.length;
}

/** The seeds of the members. */
export function memberSeeds({ members }: ClassifierSettings, reservoir: AnyReservoirOptions): Seed[] {
  return [...seedsOf(members, reservoir)];
}

/**
 * Checks T x C sequences of any lengths. @throws ArgumentError naming the sequence, and what it
 * should have
 */
export function checkedSequences(
  sequences: readonly SequenceLike[],
  settings: ClassifierSettings,
  channels?: number,
): (Matrix | DeviceMatrix)[] {
  if (!Array.isArray(sequences)) {
    const shown = (sequences as unknown) instanceof Matrix ? "one matrix" : describe(sequences);
    throw new ArgumentError("sequences", sequences, "a list of series, one a case", { shown });
  }
  if (sequences.length === 0) throw ArgumentError.shape("sequences is empty; it takes at least one", { field: "sequences" });
  const least = settings.washout + (settings.representation === "output" ? 2 : 1);
  const checked = (sequences as readonly SequenceLike[]).map((sequence, b) =>
    sequence instanceof DeviceMatrix ? checkedThere(sequence, `sequences[${b}]`, settings) : checkedSeries(sequence, `sequences[${b}]`),
  );
  const elsewhere = checked.findIndex((sequence) => sequence instanceof Matrix !== checked[0] instanceof Matrix);
  const together = settings.standardise ? "standardise" : settings.representation === "statistics" && '"statistics"';
  if (together && elsewhere > 0) {
    const memoryOf = (sequence: Matrix | DeviceMatrix) => (sequence instanceof Matrix ? "on the host" : "on a device");
    throw ArgumentError.because(
      `sequences[${elsewhere}] lies ${memoryOf(checked[elsewhere]!)} and sequences[0] ${memoryOf(checked[0]!)}; with ${together} all lie in one place`,
    );
  }
  const cols = channels ?? checked[0]!.cols;
  checked.forEach((sequence, b) => {
    if (sequence.cols !== cols || cols === 0) {
      const known = channels === undefined ? "and sequences[0]" : "and the classifier was trained on";
      throw ArgumentError.shape(`sequences[${b}] has ${sequence.cols} channels ${known} ${cols}; all take the same number, at least 1`, {
        field: "sequences",
      });
    }
    if (sequence.rows < least) {
      const why = `representation "${settings.representation}" with washout ${settings.washout}`;
      const field = settings.washout >= sequence.rows ? "washout" : "sequences";
      throw ArgumentError.shape(`sequences[${b}] has ${sequence.rows} rows; ${why} takes at least ${least}`, { field });
    }
  });
  return checked;
}

/** Why a classifier needs its inputs on the host; undefined if it does not. */
export function whyOnHost({ standardise, input, representation, differences }: ClassifierSettings): string | undefined {
  if (representation === "output") return `representation is "${representation}"`;
  // The host joins z-scores in binary64, which are rounded where they lie.
  if (input && standardise) return "input and standardise are true";
  return input && differences && representation === "statistics" ? "input and differences are true" : undefined;
}

/** A sequence on a device, if a classifier does not need it on the host. @throws ArgumentError */
function checkedThere(sequence: DeviceMatrix, name: string, settings: ClassifierSettings): DeviceMatrix {
  const why = whyOnHost(settings);
  if (why === undefined) return sequence;
  throw ArgumentError.because(
    `${name} lies on a device and ${why}; it takes series on the host, or another representation than "output", and input without standardise and differences`,
  );
}

/**
 * The classes that occur: numbers rising, texts by their characters' codes. @throws ArgumentError
 * naming the label
 */
export function classesOf(labels: ArrayLike<Label>, cases: number): Label[] {
  checkLabels(labels, cases);
  const classes = [...new Set(Array.from(labels))].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  if (classes.length < 2)
    throw ArgumentError.because(`labels names one class only, ${describe(classes[0])}; a classifier takes at least two`, {
      field: "labels",
    });
  return classes;
}

/** @throws ArgumentError for another number of labels than cases, or a label that is no class */
export function checkLabels(labels: ArrayLike<Label>, cases: number, classes?: readonly Label[]): void {
  if (typeof labels !== "object" || typeof labels?.length !== "number") {
    throw new ArgumentError("labels", labels, "a list of classes, one a case");
  }
  if (labels.length !== cases)
    throw ArgumentError.shape(`labels holds ${labels.length} classes and sequences ${cases} cases; they take the same number`, {
      field: "labels",
    });
  for (let b = 0; b < labels.length; b++) {
    const label = labels[b];
    const isClass = typeof label === "string" || (typeof label === "number" && Number.isFinite(label));
    if (!isClass)
      throw ArgumentError.because(`labels[${b}] is ${describe(label)}; a class is a text or a finite number`, { field: "labels" });
    if (typeof label !== typeof labels[0]) {
      throw ArgumentError.because(
        `labels[${b}] is ${describe(label)} and labels[0] is ${describe(labels[0])}; classes are all texts or all numbers`,
        { field: "labels" },
      );
    }
    if (classes && !classes.includes(label)) {
      throw ArgumentError.because(
        `labels[${b}] is ${describe(label)}, which the classifier was not trained on; it knows ${classes.map(describe).join(", ")}`,
        { field: "labels" },
      );
    }
  }
}
