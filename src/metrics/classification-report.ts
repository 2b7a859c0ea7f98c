// Scores of each class: precision, recall, F1 and support, and their means.
import { ArgumentError } from "@spillway/core/errors.js";
import { type ClassLabel, type ConfusionMatrix, confusionMatrix } from "./classification.js";

/** Precision, recall and F1, 0 to 1 each, and the cases that they are of. */
export interface PrecisionRecall {
  /** Of the cases that were taken for the class, the share that is of it; 0 if there are none. */
  readonly precision: number;
  /** Of the cases of the class, the share that was taken for it; 0 if there are none. */
  readonly recall: number;
  /** 2 precision recall / (precision + recall); 0 if both are 0. */
  readonly f1: number;
  /** Cases of the class. */
  readonly support: number;
}

/** The scores of every class, and means over the classes. */
export interface ClassificationReport {
  /** In the order of the confusion matrix. */
  readonly classes: readonly (PrecisionRecall & { readonly label: ClassLabel })[];
  /** Every class counts the same. */
  readonly macro: PrecisionRecall;
  /** Every class counts by its support. */
  readonly weighted: PrecisionRecall;
  readonly accuracy: number;
}

/**
 * Precision, recall, F1 and support of each class, as scikit-learn's `classification_report` has
 * them: what divides by 0 is 0.
 * @param target the true classes.
 * @param prediction the predicted classes, in the same order.
 * @param labels the classes in the order that is wanted; left out, all that occur, sorted.
 * @throws ArgumentError as `confusionMatrix` does
 * @example
 * classificationReport(["a", "a", "b"], ["a", "b", "b"]).classes[0]; // precision 1, recall 0.5
 */
export function classificationReport(
  target: ArrayLike<ClassLabel>,
  prediction: ArrayLike<ClassLabel>,
  labels?: readonly ClassLabel[],
): ClassificationReport {
  return reportOfConfusion(confusionMatrix(target, prediction, labels));
}

/** The report of counts that are there already. @throws ArgumentError if they count no case */
export function reportOfConfusion({ labels, counts }: ConfusionMatrix): ClassificationReport {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const cases = sum(counts.map(sum));
  if (cases === 0) throw ArgumentError.because("the confusion matrix counts no case; a report takes at least one");
  const classes = labels.map((label, k) => {
    const right = counts[k]![k]!;
    const support = sum(counts[k]!);
    const taken = sum(counts.map((row) => row[k]!));
    const precision = taken > 0 ? right / taken : 0;
    const recall = support > 0 ? right / support : 0;
    return { label, precision, recall, f1: right > 0 ? (2 * precision * recall) / (precision + recall) : 0, support };
  });
  const mean = (weights: readonly number[]): PrecisionRecall => {
    const of = (score: "precision" | "recall" | "f1") => sum(classes.map((each, k) => each[score] * weights[k]!));
    return { precision: of("precision"), recall: of("recall"), f1: of("f1"), support: cases };
  };
  return {
    classes,
    macro: mean(classes.map(() => 1 / classes.length)),
    weighted: mean(classes.map(({ support }) => support / cases)),
    accuracy: sum(classes.map((_, k) => counts[k]![k]!)) / cases,
  };
}
