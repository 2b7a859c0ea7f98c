// Cross-validation: a pipeline trained and tested on each split, and what came out. It chooses
// nothing.
import { ArgumentError } from "@spillway/core/errors.js";
import { seed as anySeed, checkedLater, type InputOf, list, optional, resolve } from "@spillway/core/options.js";
import type { Seed } from "@spillway/numerics";
import { type ConfusionMatrix, confusionMatrix } from "../metrics/index.js";
import { checkLabels } from "../model/classifier/options.js";
import type { Label } from "../model/index.js";
import { WorkInterruptedError, type WorkOptions } from "../reservoir/index.js";
import { checkSequences } from "../reservoir/inputs.js";
import { workTable } from "../reservoir/work.js";
import { runTable } from "./check.js";
import type { PipelineCase, PipelineParameters, PipelineRunOptions } from "./parameters.js";
import { Pipeline } from "./pipeline.js";
import { foldTable, groupKFold, type Split, stratifiedKFold } from "./splits.js";

/** Cases with their labels, and if it is known who or what each comes from. */
export interface LabelledCases {
  readonly sequences: readonly PipelineCase[];
  readonly labels: ArrayLike<Label>;
  /** Speaker, subject, day: what a split must not part. */
  readonly groups?: ArrayLike<string | number> | undefined;
}

/** One training and test. */
export interface FoldScore {
  readonly fold: number;
  readonly seed: Seed | undefined;
  readonly accuracy: number;
  readonly errors: number;
  readonly cases: number;
}

/** What cross-validation found. */
export interface CrossValidation {
  readonly folds: readonly FoldScore[];
  /** Mean accuracy over folds and seeds, weighted by cases. */
  readonly mean: number;
  /** Standard deviation over folds and seeds (by n - 1). */
  readonly deviation: number;
  /** Label against predicted class over all test cases. */
  readonly confusion: ConfusionMatrix;
  /** Whether it was stopped before all folds were done; what was done counts. */
  readonly interrupted: boolean;
}

export const crossValidationTable = {
  /**
   * Your own splits; default `folds` folds that keep groups whole if there are groups, and shares
   * of classes if there are none.
   */
  splits: optional(
    checkedLater<readonly Split[]>("a list of {train, test}"),
    "Your own splits; left out, folds that keep groups whole or, without groups, shares of classes.",
  ),
  /** Default 5. */
  folds: foldTable.folds,
  /** Seeds of the reservoir, each trained on every split; default the one of the parameters. */
  seeds: optional(list(anySeed, "a list of at least one seed", 1), "Seeds of the reservoir, each trained on every split."),
  /** Decides the folds; default "spillway". */
  splitSeed: foldTable.seed,
  ...runTable,
  ...workTable,
};

/** The folds, groups and seeds of a cross-validation. */
export interface CrossValidationOptions extends PipelineRunOptions, WorkOptions, InputOf<typeof crossValidationTable> {}

/**
 * Trains the pipeline on the train cases of each split and tests it on the others. Stopped by its
 * signal it gives the folds that were finished.
 * @throws ArgumentError for cases or splits that do not fit, or for an unknown option,
 * WorkInterruptedError if not even one fold was finished
 */
export async function crossValidate(
  parameters: PipelineParameters,
  cases: LabelledCases,
  options: CrossValidationOptions = {},
): Promise<CrossValidation> {
  const { sequences, labels, groups } = cases ?? {};
  if (sequences === undefined || labels === undefined) throw new ArgumentError("cases", cases, "an object with sequences and labels");
  const { folds: foldCount, splitSeed, seeds, signal, onProgress, splits: own, ...run } = resolve(crossValidationTable, options);
  checkSequences(sequences, "sequences");
  checkLabels(labels, sequences.length);
  const folding = { folds: foldCount, seed: splitSeed };
  const splits = own ?? (groups ? groupKFold(groups, folding) : stratifiedKFold(labels, folding));
  checkSplits(splits, sequences.length);
  const chosen: readonly (Seed | undefined)[] = seeds ?? [undefined];
  const total = splits.length * chosen.length;
  const folds: FoldScore[] = [];
  const truth: Label[] = [];
  const predicted: Label[] = [];
  let interrupted = false;
  for (const [k, seed] of chosen.entries()) {
    const described = seed === undefined ? parameters : { ...parameters, reservoir: { ...parameters.reservoir, seed } };
    for (const [fold, { train, test }] of splits.entries()) {
      await using pipeline = new Pipeline(described, run);
      try {
        const part = (indices: readonly number[]) => indices.map((index) => sequences[index]!);
        const answers = (indices: readonly number[]) => indices.map((index) => labels[index]!);
        await pipeline.fit(part(train), answers(train), { signal });
        const said = await pipeline.predict(part(test), { signal });
        const right = answers(test);
        const errors = said.filter((label, i) => label !== right[i]).length;
        folds.push({ fold, seed, accuracy: 1 - errors / test.length, errors, cases: test.length });
        truth.push(...right);
        predicted.push(...said);
      } catch (error) {
        if (!(error instanceof WorkInterruptedError)) throw error;
        interrupted = true;
        break;
      }
      onProgress?.(k * splits.length + fold + 1, total);
    }
    if (interrupted) break;
  }
  if (folds.length === 0) throw new WorkInterruptedError(0, total, signal?.reason);
  return { ...summary(folds), folds, confusion: confusionMatrix(truth, predicted), interrupted };
}

function summary(folds: readonly FoldScore[]): { mean: number; deviation: number } {
  const cases = folds.reduce((sum, fold) => sum + fold.cases, 0);
  const errors = folds.reduce((sum, fold) => sum + fold.errors, 0);
  const middle = folds.reduce((sum, fold) => sum + fold.accuracy, 0) / folds.length;
  const squares = folds.reduce((sum, fold) => sum + (fold.accuracy - middle) ** 2, 0);
  return { mean: 1 - errors / cases, deviation: folds.length > 1 ? Math.sqrt(squares / (folds.length - 1)) : 0 };
}

function checkSplits(splits: readonly Split[], cases: number): void {
  if (!Array.isArray(splits)) throw new ArgumentError("splits", splits, "a list of {train, test}");
  if (splits.length === 0) throw ArgumentError.because("splits is empty; it takes at least one split", { field: "splits" });
  splits.forEach((split: Split | null | undefined, k) => {
    const { train, test } = split ?? {};
    if (!Array.isArray(train) || !Array.isArray(test))
      throw new ArgumentError(`splits[${k}]`, split, "{train, test}, two lists of indices of cases");
    const wrong = [...train, ...test].find((index) => !Number.isSafeInteger(index) || index < 0 || index >= cases);
    if (wrong !== undefined)
      throw ArgumentError.shape(`splits[${k}] names case ${wrong}; there are cases 0 to ${cases - 1}`, { field: "splits" });
    const both = test.find((index) => train.includes(index));
    if (both !== undefined)
      throw ArgumentError.shape(`splits[${k}] has case ${both} in train and in test; a case is in one of them`, { field: "splits" });
    if (train.length === 0 || test.length === 0)
      throw ArgumentError.shape(`splits[${k}] has ${train.length} cases to train and ${test.length} to test; both take at least one`, {
        field: "splits",
      });
  });
}
