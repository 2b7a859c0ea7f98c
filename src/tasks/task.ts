// What a benchmark task is to those who list them or start them by name: the command line and
// experiment files.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import type { Part } from "@spillway/core/registry.js";
import { firstNonFinite, Matrix } from "@spillway/numerics";

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

interface TaskPart extends Part {
  /** Known exponents; left out if there is none or none has been found. */
  readonly lyapunovExponents?: readonly KnownLyapunovExponent[] | undefined;
}

/** A system that runs by itself: one series, T x D. */
export interface SeriesTask extends TaskPart {
  readonly kind: "series";
  /** `options` are checked by the table and filled in. */
  generate(length: number, options: object): Matrix<Float64Array>;
}

/** A system that is driven: inputs and targets. */
export interface DrivenTask extends TaskPart {
  readonly kind: "driven";
  /** `options` are checked by the table and filled in. */
  generate(length: number, options: object): InputsAndTargets;
}

/** The entry of a generated series in the list of tasks. */
export function seriesTask(
  name: string,
  description: string,
  options: SeriesTask["options"],
  generate: SeriesTask["generate"],
  lyapunovExponents?: readonly KnownLyapunovExponent[],
): SeriesTask {
  return { kind: "series", name, description, options, generate, lyapunovExponents };
}

/** A source of several Lyapunov exponents. */
export const sprott = "J. C. Sprott 2003, Chaos and Time-Series Analysis, appendix A";

/** A benchmark series and its generator; `kind` tells a series from inputs with targets. */
export type Task = SeriesTask | DrivenTask;

/**
 * `length` rows of a task. @throws ArgumentError for options that it does not take, and for another
 * number of rows than was asked for
 */
export function generateTask(task: SeriesTask, length: number, options?: object): Matrix<Float64Array>;
export function generateTask(task: DrivenTask, length: number, options?: object): InputsAndTargets;
export function generateTask(task: Task, length: number, options?: object): Matrix<Float64Array> | InputsAndTargets;
export function generateTask(task: Task, length: number, options: object = {}): Matrix<Float64Array> | InputsAndTargets {
  checkHas("task", task, "a task, as tasks.get gives it", "generate", "options");
  const made = task.generate(length, resolve(task.options, options, task.name));
  const parts: Readonly<Record<string, unknown>> = task.kind === "series" ? { series: made } : { ...made };
  for (const name of task.kind === "series" ? ["series"] : ["inputs", "targets"]) {
    const matrix = parts[name];
    if (!(matrix instanceof Matrix && matrix.rows === length && matrix.data instanceof Float64Array))
      throw new ArgumentError(name, matrix, `a Matrix of ${length} rows in binary64`, { of: task.name });
  }
  return made;
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
