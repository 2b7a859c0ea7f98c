// Scores of predicted classes: accuracy and the confusion matrix. Predicted probabilities are not
// scored here.
import { ArgumentError } from "@spillway/core/errors.js";
import { describe, isList } from "@spillway/numerics";

/** A class: a text or a number. */
export type ClassLabel = string | number;

/** How often each class was taken for each. */
export interface ConfusionMatrix {
  /** The classes, in the order of the rows and columns. */
  readonly labels: readonly ClassLabel[];
  /** counts[i][j]: how many cases of class i were predicted to be class j. */
  readonly counts: readonly (readonly number[])[];
}

/**
 * The share of cases whose predicted class is the true one, 0 to 1.
 * @param target the true classes.
 * @param prediction the predicted classes, in the same order.
 * @throws ArgumentError on different lengths, no cases, a label that is NaN, or texts compared with
 * numbers.
 */
export function accuracy(target: ArrayLike<ClassLabel>, prediction: ArrayLike<ClassLabel>): number {
  checkLabels("accuracy", target, prediction);
  let right = 0;
  for (let i = 0; i < target.length; i++) if (target[i] === prediction[i]) right++;
  return right / target.length;
}

/**
 * Counts of true class against predicted class.
 * @param target the true classes.
 * @param prediction the predicted classes, in the same order.
 * @param labels the classes in the order that is wanted; left out, all that occur: numbers rising,
 * texts by their characters' codes.
 * @throws ArgumentError on different lengths, no cases, a label that is NaN, texts compared with
 * numbers, or a class that is not in `labels`.
 */
export function confusionMatrix(
  target: ArrayLike<ClassLabel>,
  prediction: ArrayLike<ClassLabel>,
  labels?: readonly ClassLabel[],
): ConfusionMatrix {
  checkLabels("confusionMatrix", target, prediction);
  if (labels !== undefined && !isList(labels)) throw new ArgumentError("labels", labels, "a list of classes", { of: "confusionMatrix" });
  const order = labels ?? [...new Set([...Array.from(target), ...Array.from(prediction)])].sort(byValue);
  const positions = new Map(order.map((label, index) => [label, index]));
  if (positions.size !== order.length)
    throw ArgumentError.because("labels holds a class twice; it takes each class once", { of: "confusionMatrix", field: "labels" });
  const position = (name: string, label: ClassLabel, index: number): number => {
    const found = positions.get(label);
    if (found !== undefined) return found;
    throw ArgumentError.because(`${name} ${index} is ${describe(label)}, which is not among the labels`, { of: "confusionMatrix" });
  };
  const counts = order.map(() => new Array<number>(order.length).fill(0));
  for (let i = 0; i < target.length; i++) {
    const row = counts[position("target", target[i]!, i)]!;
    const column = position("prediction", prediction[i]!, i);
    row[column] = row[column]! + 1;
  }
  return { labels: order, counts };
}

function checkLabels(metric: string, target: ArrayLike<ClassLabel>, prediction: ArrayLike<ClassLabel>): void {
  for (const [name, labels] of Object.entries({ target, prediction })) {
    if (!isList(labels)) throw new ArgumentError(name, labels, "a list of classes", { of: metric });
  }
  if (target.length !== prediction.length) {
    throw ArgumentError.shape(`target holds ${target.length} classes and prediction ${prediction.length}; the two take the same number`, {
      of: metric,
      field: "target",
    });
  }
  if (target.length === 0) throw ArgumentError.shape("target holds no classes; it takes at least one", { of: metric, field: "target" });
  const kind = typeof target[0];
  for (const [name, labels] of [
    ["target", target],
    ["prediction", prediction],
  ] as const) {
    for (let i = 0; i < labels.length; i++) {
      const label = labels[i];
      const valid = typeof label === "string" || (typeof label === "number" && !Number.isNaN(label));
      if (!valid) throw ArgumentError.because(`${name} ${i} is ${describe(label)}; a class is a text or a number`, { of: metric });
      if (typeof label !== kind) {
        throw ArgumentError.because(
          `${name} ${i} is the ${typeof label} ${describe(label)} and target 0 the ${kind} ${describe(target[0])}; classes take one type`,
          { of: metric },
        );
      }
    }
  }
}

function byValue(a: ClassLabel, b: ClassLabel): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
