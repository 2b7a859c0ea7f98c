// Transforms of a series as tables of a program. Differences keep a window of the rows that they
// take; a window's first row is its oldest.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Matrix } from "@spillway/numerics";
import { differenceOf, forwardStep, isDifference } from "../../series/transform-step.js";
import { type FittedTransforms, transformed } from "../../series/transforms.js";
import { type Constants, type Field, namesOf, nowhere } from "./constants.js";

type Step = FittedTransforms["steps"][number];

/** What a program needs of its transforms. */
export interface CTransforms {
  /** The lists of its members, each once. */
  readonly lists: readonly FittedTransforms[];
  readonly outputs: number;
}

/** Rows that the differences of any member take before the first row that it sees. */
export const mostLost = ({ lists }: CTransforms): number => Math.max(...lists.map(({ lost }) => lost));

/** Values of one member's windows, at most. */
export const pastLength = (transforms: CTransforms): number => mostLost(transforms) * transforms.outputs;

/** The name of the user's own step that a program does not hold. */
export function unheldStep(steps: readonly Step[]): string | undefined {
  return steps.flatMap((step) => (typeof step === "object" && "transform" in step ? [step.transform] : []))[0];
}

/**
 * What windows of so many rows hold after the last rows of a series; zeros if they are too
 * few.
 */
export function pastAfter(recent: Matrix, { steps, lost }: FittedTransforms, rowsOf = lost): Float64Array {
  const out = new Float64Array(rowsOf * recent.cols);
  if (recent.rows < lost) return out;
  let first = 0;
  for (const [i, step] of steps.entries()) {
    if (!isDifference(step)) continue;
    const before = steps.slice(0, i);
    const stage = transformed(recent, { steps: before, lost: before.reduce((sum, each) => sum + differenceOf(each), 0) });
    const rows = stage.subarray(stage.rows - step.difference);
    out.set(rows.data, first);
    first += rows.data.length;
  }
  return out;
}

/** The last rows with transforms done; none if differences take them all. */
export function transformedRecent(recent: Matrix, fitted: FittedTransforms): Matrix {
  if (recent.rows <= fitted.lost) return recent.subarray(0, 0);
  return fitted.steps.reduce((here, step) => forwardStep(here, step), recent as Matrix<Float64Array>);
}

const isStep = <Name extends string>(step: Step, name: Name): step is Extract<Step, { readonly [Field in Name]: unknown }> =>
  typeof step === "object" && name in step;

const numberOf = (step: Step): number => {
  if (isDifference(step)) return 0;
  if (step === "squash") return 1;
  if (isStep(step, "log")) return 2;
  if (isStep(step, "standardise")) return 3;
  if (isStep(step, "boxCox")) return 4;
  throw ArgumentError.because("the model has a transform that C does not hold", { field: "transforms" });
};

/** What of the runtime transforms need. */
export function transformFlags({ lists }: CTransforms): readonly string[] {
  const kinds = new Set(lists.flatMap(({ steps }) => steps.map(numberOf)));
  const [differences, squash, logarithm, standardise, boxCox] = [0, 1, 2, 3, 4].map((kind) => kinds.has(kind));
  return namesOf({
    ...{ TRANSFORMS: true, DIFFERENCES: differences, SQUASH: squash, LOGARITHM: logarithm, STANDARDISE: standardise, BOX_COX: boxCox },
    ...{ EXP: logarithm || boxCox, LOG: logarithm || boxCox || squash, TANH_DOUBLE: squash },
  });
}

/** Fields of the table of transforms, one row a step. */
export function transformRows({ steps }: FittedTransforms, suffix: string, constants: Constants): (readonly Field[])[] {
  return steps.map((step, i) => {
    const array = (name: string, values: readonly number[]) => constants.to("float64", `${name}_${suffix}_${i}`, values);
    const kind = numberOf(step);
    if (isDifference(step)) return [kind, step.difference, nowhere, nowhere];
    if (isStep(step, "log")) return [kind, 0, array("added", [step.log]), nowhere];
    if (isStep(step, "standardise")) return [kind, 0, array("mean", step.standardise.mean), array("deviation", step.standardise.deviation)];
    if (!isStep(step, "boxCox")) return [kind, 0, nowhere, nowhere];
    const most = step.most.map((each) => 10 * each);
    return [kind, 0, array("power", step.boxCox), array("ten_times", most)];
  });
}
