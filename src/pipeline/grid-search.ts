// A small search over a grid of parameters, in this process, by cross-validation on the training
// cases.
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, option, resolve, type TableOf } from "@spillway/core/options.js";
import type { Seed } from "@spillway/numerics";
import { WorkInterruptedError, type WorkOptions } from "../reservoir/index.js";
import {
  type CrossValidation,
  type CrossValidationOptions,
  crossValidate,
  crossValidationTable,
  type LabelledCases,
} from "./cross-validate.js";
import { type PipelineParameters, withParameter } from "./parameters.js";
import { groupKFold, type Split, stratifiedKFold } from "./splits.js";

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
  /** All points, best first: by mean accuracy. Ties keep the order of the grid. */
  readonly points: readonly GridPoint[];
  readonly best: GridPoint;
  /** What choosing like this is worth on cases that chose nothing, with `outer`. */
  readonly nested?: NestedValidation | undefined;
  /**
   * In words: how the best was found, and how much of its score is luck, if that was measured.
   */
  readonly verdict: string;
  readonly interrupted: boolean;
}

/** The search done anew on the train cases of each outer fold, its best tested on the others. */
export interface NestedValidation {
  /** Mean accuracy of what was chosen, over the test cases of the outer folds. */
  readonly mean: number;
  /** The same of the first point of the grid, chosen by nothing. */
  readonly first: number;
  /** What was chosen in each outer fold. */
  readonly chosen: readonly Readonly<Record<string, unknown>>[];
}

/** The cross-validation that scores each point of a grid. */
export interface GridSearchOptions extends Omit<CrossValidationOptions, "onProgress"> {
  /**
   * Folds of a validation around the whole search (Varma and Simon 2006, BMC Bioinformatics 7: the
   * best score of many is too good). It takes that many searches more. Default 0, none.
   */
  readonly outer?: number | undefined;
  /** Called with points done and points in all. */
  readonly onProgress?: WorkOptions["onProgress"];
}

/**
 * Cross-validates every combination of the grid on the same splits and seeds. The best of many
 * scores is too good by luck: `outer` measures by how much, and `verdict` says it. Stopped by its
 * signal it ranks the points that were finished.
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
  const { onProgress, outer, ...rest } = resolve(gridSearchTable, options);
  const nested = outer === 0 ? [] : outerSplits(cases, outer, rest);
  const total = combinations.length + nested.length * (combinations.length + 2);
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
    onProgress?.(k + 1, total);
  }
  if (points.length === 0) throw new WorkInterruptedError(0, total, options.signal?.reason);
  const [first] = points;
  points.sort((a, b) => b.validation.mean - a.validation.mean);
  const found = { points, best: points[0]! };
  if (interrupted || nested.length === 0) return { ...found, verdict: verdictOf(found), interrupted };
  try {
    let done = combinations.length;
    const step = (some: number) => onProgress?.(done + some, total);
    const parts: NestedPart[] = [];
    for (const split of nested) {
      parts.push(await outerFold(base, grid, cases, split, first!.parameters, { ...rest, onProgress: step }));
      done += combinations.length + 2;
      onProgress?.(done, total);
    }
    const validated = nestedOf(parts);
    return { ...found, nested: validated, verdict: verdictOf(found, validated), interrupted };
  } catch (error) {
    if (!(error instanceof WorkInterruptedError)) throw error;
    return { ...found, verdict: verdictOf(found), interrupted: true };
  }
}

/** The options of `gridSearch`. */
export const gridSearchTable = {
  ...crossValidationTable,
  outer: option(
    checked<number>(
      "0, or a whole number of at least 2",
      (value) => value === 0 || (Number.isSafeInteger(value) && (value as number) >= 2),
    ),
    0,
    "Folds of a validation around the whole search, which tells how much of the best score is luck; 0, none.",
  ),
} satisfies TableOf<Omit<GridSearchOptions, "onProgress"> & { readonly onProgress?: WorkOptions["onProgress"] }>;

type Searching = Omit<GridSearchOptions, "outer">;

/**
 * Outer folds, whose train cases can be split into the inner ones. Splits of one's own are of the
 * whole list of cases, so they cannot be nested. @throws ArgumentError
 */
function outerSplits(cases: LabelledCases, outer: number, { splits, folds, splitSeed }: Searching): readonly Split[] {
  if (splits)
    throw ArgumentError.because("outer is given with splits of your own, which are indices into the whole list; leave one of them out", {
      field: "outer",
    });
  const fold = ({ labels, groups }: LabelledCases, count: number | undefined, seed: Seed | undefined) =>
    groups ? groupKFold(groups, { folds: count, seed }) : stratifiedKFold(labels, { folds: count, seed });
  const outerFolds = fold(cases, outer, `${splitSeed ?? "spillway"}/outer`);
  for (const { train } of outerFolds) {
    try {
      fold(casesAt(cases, train), folds, splitSeed);
    } catch (error) {
      throw error instanceof ArgumentError ? error.at("inside an outer fold") : error;
    }
  }
  return outerFolds;
}

function casesAt({ sequences, labels, groups }: LabelledCases, indices: readonly number[]): LabelledCases {
  return {
    sequences: indices.map((index) => sequences[index]!),
    labels: indices.map((index) => labels[index]!),
    ...(groups ? { groups: indices.map((index) => groups[index]!) } : {}),
  };
}

interface NestedPart {
  readonly values: Readonly<Record<string, unknown>>;
  readonly cases: number;
  readonly chosen: number;
  readonly first: number;
}

async function outerFold(
  base: PipelineParameters,
  grid: ParameterGrid,
  cases: LabelledCases,
  split: Split,
  first: PipelineParameters,
  options: Searching,
): Promise<NestedPart> {
  const { best, interrupted } = await gridSearch(base, grid, casesAt(cases, split.train), options);
  const { onProgress: _, ...held } = { ...options, splits: [split] };
  if (interrupted) throw new WorkInterruptedError(0, 1, options.signal?.reason);
  const [chosen, plain] = [await crossValidate(best.parameters, cases, held), await crossValidate(first, cases, held)];
  if (chosen.interrupted || plain.interrupted) throw new WorkInterruptedError(0, 1, options.signal?.reason);
  return { values: best.values, cases: split.test.length, chosen: chosen.mean, first: plain.mean };
}

function nestedOf(parts: readonly NestedPart[]): NestedValidation {
  const total = parts.reduce((sum, { cases }) => sum + cases, 0);
  const mean = (of: "chosen" | "first") => parts.reduce((sum, part) => sum + part[of] * part.cases, 0) / total;
  return { mean: mean("chosen"), first: mean("first"), chosen: parts.map(({ values }) => values) };
}

function verdictOf({ points, best }: Pick<GridSearch, "points" | "best">, nested?: NestedValidation): string {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  if (points.length === 1) return `one setting: ${percent(best.validation.mean)} by cross-validation`;
  const found = `the best of ${points.length} settings: ${percent(best.validation.mean)} by the folds that chose it`;
  if (!nested)
    return `${found}, which is too good, the more so the more settings there are; outer: 5 measures by how much, held-out cases tell too`;
  const luck = 100 * (best.validation.mean - nested.mean);
  const said = `${found}, ${percent(nested.mean)} on cases that chose nothing`;
  const share = luck > 0.05 ? `; ${luck.toFixed(1)} points are luck` : "; none of it is luck";
  const worth =
    nested.mean > nested.first
      ? `; choosing is worth ${(100 * (nested.mean - nested.first)).toFixed(1)} points over the first setting`
      : `; the first setting does as well there (${percent(nested.first)}), so choosing brought nothing`;
  return said + share + worth;
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
