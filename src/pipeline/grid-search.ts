// A small search over a grid of parameters, in this process, by cross-validation on the training
// cases.
import { ArgumentError } from "../core/errors.js";
import { resolve } from "../core/options.js";
import { WorkInterruptedError, type WorkOptions } from "../reservoir/index.js";
import {
  type CrossValidation,
  type CrossValidationOptions,
  crossValidate,
  crossValidationTable,
  type LabelledCases,
} from "./cross-validate.js";
import { type PipelineParameters, withParameter } from "./parameters.js";

/** Lists of values by path: `{ "reservoir.leakRate": [0.1, 0.3], "readout.lambda": [0.01, 1] }`. */
export type ParameterGrid = Readonly<Record<string, readonly unknown[]>>;

/** One point of the grid. */
export interface GridPoint {
  /** The values that were put in, by path. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly parameters: PipelineParameters;
  readonly validation: CrossValidation;
}

/** What a search found. */
export interface GridSearch {
  /** All points, best first: by mean accuracy, of equals the one that comes first in the grid. */
  readonly points: readonly GridPoint[];
  readonly best: GridPoint;
  readonly interrupted: boolean;
}

/** The cross-validation that scores each point of a grid. */
export interface GridSearchOptions extends Omit<CrossValidationOptions, "onProgress"> {
  /** Called with points done and points in all. */
  readonly onProgress?: WorkOptions["onProgress"];
}

/**
 * Cross-validates every combination of the grid on the same splits and seeds. Stopped by its signal
 * it ranks the points that were finished.
 * @throws ArgumentError for an empty grid, and what a pipeline throws for parameters that it does
 * not take
 */
export async function gridSearch(
  base: PipelineParameters,
  grid: ParameterGrid,
  cases: LabelledCases,
  options: GridSearchOptions = {},
): Promise<GridSearch> {
  if (typeof grid !== "object" || grid === null)
    throw new ArgumentError("grid", grid, 'lists of values by path, such as {"reservoir.leakRate": [0.1, 0.3]}');
  if (typeof base !== "object" || base === null) throw new ArgumentError("base", base, "the parameters of a pipeline");
  const combinations = combine(Object.entries(grid));
  const { onProgress, ...rest } = resolve(crossValidationTable, options);
  const points: GridPoint[] = [];
  let interrupted = false;
  for (const [k, values] of combinations.entries()) {
    const parameters = Object.entries(values).reduce((all, [path, value]) => withParameter(all, path, value), base);
    try {
      const validation = await crossValidate(parameters, cases, rest);
      if (validation.interrupted) interrupted = true;
      else points.push({ values, parameters, validation });
    } catch (error) {
      if (!(error instanceof WorkInterruptedError)) throw error;
      interrupted = true;
    }
    if (interrupted) break;
    onProgress?.(k + 1, combinations.length);
  }
  if (points.length === 0) throw new WorkInterruptedError(0, combinations.length, options.signal?.reason);
  points.sort((a, b) => b.validation.mean - a.validation.mean);
  return { points, best: points[0]!, interrupted };
}

function combine(entries: readonly (readonly [string, readonly unknown[]])[]): Record<string, unknown>[] {
  if (entries.length === 0) throw ArgumentError.because("the grid is empty; it takes at least one path with a list of values");
  return entries.reduce<Record<string, unknown>[]>(
    (all, [path, values]) => {
      if (!Array.isArray(values) || values.length === 0)
        throw new ArgumentError(`the grid's ${path}`, values, "a list of at least one value");
      return all.flatMap((chosen) => values.map((value: unknown) => ({ ...chosen, [path]: value })));
    },
    [{}],
  );
}
