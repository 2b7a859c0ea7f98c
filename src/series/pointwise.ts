// The scale of a transformed series: what its transforms do to each value by itself, before the
// first difference.
import { Matrix } from "@spillway/numerics";
import type { FittedTransform } from "./transform-kinds.js";
import { type FittedTransforms, restoredForecast, transformed } from "./transforms.js";

/** A scale that is no straight line of the units of the data, such as that of a logarithm. */
export interface ValueScale {
  /** Of each value, T x D; NaN for one outside the domain of the scale. */
  forward(values: Matrix): Matrix<Float64Array>;
  back(values: Matrix): Matrix<Float64Array>;
}

/**
 * The scale that transforms give a series before they take differences; undefined if it is a
 * straight line, on which errors are what they are in the units of the data.
 */
export function scaleOf({ steps }: FittedTransforms): ValueScale | undefined {
  const end = steps.findIndex((step) => typeof step === "object" && "difference" in step);
  const pointwise = end < 0 ? steps : steps.slice(0, end);
  if (pointwise.every(isStraight)) return undefined;
  return {
    forward: (values) => pointwise.reduce(stepped, Matrix.from(values, "float64")),
    back: (values) => restoredForecast(values, Matrix.zeros(0, values.cols), { steps: pointwise, lost: 0 }),
  };
}

/** A step done to values, and NaN for those that it does not take. */
function stepped(values: Matrix<Float64Array>, step: FittedTransform): Matrix<Float64Array> {
  const { data, cols } = values;
  for (const [i, value] of data.entries()) if (!takes(step, value, i % cols)) data[i] = Number.NaN;
  return transformed(values, { steps: [step], lost: 0 });
}

function isStraight(step: FittedTransform): boolean {
  return typeof step === "object" && ("standardise" in step || ("boxCox" in step && step.boxCox.every((power) => power === 1)));
}

function takes(step: FittedTransform, value: number, column: number): boolean {
  if (typeof step !== "object") return true;
  if ("log" in step) return value + step.log > 0;
  return !("boxCox" in step) || value > 0 || (value === 0 && step.boxCox[column]! > 0);
}
