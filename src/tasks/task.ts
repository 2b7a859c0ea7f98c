// What a benchmark task is to those who list them or start them by name: the command line and
// experiment files.
import { ArgumentError } from "../core/errors.js";
import { firstNonFinite, Matrix } from "../numerics/index.js";
import type { OptionTable } from "../core/options.js";
import type { OptionValue } from "./options.js";

/**
 * A series to be driven by and the series to be learnt, row by row: inputs T x I, targets T x O.
 */
export interface InputsAndTargets {
  readonly inputs: Matrix<Float64Array>;
  readonly targets: Matrix<Float64Array>;
}

/** The largest Lyapunov exponent of a system at one setting of its parameters. */
export interface KnownLyapunovExponent {
  /** Natural logarithm per unit of time, or per iteration of a map. */
  readonly value: number;
  /** The options it holds for; the others do not change it. */
  readonly parameters: Readonly<Record<string, number>>;
  /** Where the figure comes from. */
  readonly source: string;
}

/** One option as the command line lists it. */
export interface TaskOption {
  readonly name: string;
  readonly default: OptionValue;
  readonly takes: string;
  readonly description: string;
}

interface TaskDescription {
  /** The name of the generator function. */
  readonly name: string;
  /** One line. */
  readonly description: string;
  readonly options: readonly TaskOption[];
  /** Known exponents; empty where there is none or nobody has found it. */
  readonly lyapunovExponents: readonly KnownLyapunovExponent[];
}

/** A system that runs by itself: one series, T x D. */
export interface SeriesTask extends TaskDescription {
  readonly kind: "series";
  /** @throws ArgumentError on options that the task does not take. */
  generate(length: number, options?: Readonly<Record<string, unknown>>): Matrix<Float64Array>;
}

/** A system that is driven: inputs and targets. */
export interface DrivenTask extends TaskDescription {
  readonly kind: "driven";
  /** @throws ArgumentError on options that the task does not take. */
  generate(length: number, options?: Readonly<Record<string, unknown>>): InputsAndTargets;
}

/** A generator in the list of tasks; `kind` tells a series from inputs with targets. */
export type Task = SeriesTask | DrivenTask;

/** Describes a generator of one series. */
export function seriesTask<Options extends object>(
  name: string,
  description: string,
  table: OptionTable,
  generate: (length: number, options: Options) => Matrix<Float64Array>,
  lyapunovExponents: readonly KnownLyapunovExponent[] = [],
): SeriesTask {
  return {
    kind: "series",
    name,
    description,
    options: listOptions(table),
    lyapunovExponents,
    generate: (length, options = {}) => generate(length, options as Options),
  };
}

/** Describes a generator of inputs and targets. */
export function drivenTask<Options extends object>(
  name: string,
  description: string,
  table: OptionTable,
  generate: (length: number, options: Options) => InputsAndTargets,
): DrivenTask {
  return {
    kind: "driven",
    name,
    description,
    options: listOptions(table),
    lyapunovExponents: [],
    generate: (length, options = {}) => generate(length, options as Options),
  };
}

function listOptions(table: OptionTable): TaskOption[] {
  return Object.entries(table).map(([name, { default: fallback, takes, description }]) => ({
    name,
    default: fallback as OptionValue,
    takes,
    description,
  }));
}

/** Wraps a finished series. @throws ArgumentError when the system diverged. */
export function finishedSeries(task: string, cols: number, data: Float64Array): Matrix<Float64Array> {
  const bad = firstNonFinite(data);
  if (bad >= 0) {
    const row = Math.floor(bad / cols);
    throw ArgumentError.because(
      `the series is ${data[bad]} at row ${row}: it diverges from this start with these parameters and this step`,
      { of: task, field: "initialState", value: data[bad] },
    );
  }
  return new Matrix(data.length / cols, cols, data);
}
