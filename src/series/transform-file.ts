// Fitted transforms as a model file keeps them.
import { ArgumentError } from "@spillway/core/errors.js";
import { given, list, number, object } from "@spillway/core/options.js";
import { byField, type FittedTransform } from "./transform-kinds.js";
import { type FittedTransforms, rowsLost } from "./transforms.js";

const perColumn = list(number(), "a list of finite numbers");
const fittedKinds = {
  ...byField,
  log: object({ log: given(number(), "") }),
  boxCox: object({ boxCox: given(perColumn, ""), most: given(perColumn, "") }),
  standardise: object({
    standardise: given(
      object({ mean: given(perColumn, ""), deviation: given(list(number({ above: 0 }), "a list of numbers above 0"), "") }),
      "",
    ),
  }),
};

/** The steps of transforms as a file keeps them. @throws ArgumentError for a pair of functions */
export function keptTransforms({ steps }: FittedTransforms): readonly FittedTransform[] {
  const at = steps.findIndex((step) => typeof step === "object" && "forward" in step);
  if (at < 0) return steps;
  throw ArgumentError.because(
    `transforms[${at}] is a pair of functions, which a file cannot hold; add it by registerTransform, and take { transform: NAME }`,
    { field: "transforms" },
  );
}

/**
 * Transforms from the steps of a file, for a series of so many columns. @throws ArgumentError for
 * what is no step, and a name that is not registered
 */
export function openTransforms(kept: unknown, columns: number): FittedTransforms {
  if (!Array.isArray(kept)) throw new ArgumentError("transforms", kept, "a list of fitted transforms");
  const steps = kept.map((each: unknown, i): FittedTransform => {
    const field = `transforms[${i}]`;
    if (each === "squash") return each;
    const isObject = typeof each === "object" && each !== null;
    const found = isObject ? Object.entries(fittedKinds).find(([name]) => Object.hasOwn(each, name)) : undefined;
    if (!found) throw new ArgumentError(field, each, "a fitted transform");
    const step = found[1].read(each, field) as FittedTransform;
    const own =
      typeof step !== "object"
        ? []
        : "boxCox" in step
          ? [step.boxCox, step.most]
          : "standardise" in step
            ? Object.values(step.standardise)
            : [];
    if (own.some(({ length }) => length !== columns))
      throw ArgumentError.shape(`${field} is of ${own[0]!.length} columns; the series has ${columns}`, { field });
    return step;
  });
  return { steps, lost: rowsLost(steps) };
}
