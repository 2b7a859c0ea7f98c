// The transforms of a series as data: how a list names them, and the parameters that fitting gives.
import { ArgumentError } from "@spillway/core/errors.js";
import { callback, checked, choice, choiceOf, either, given, type Kind, number, object, whole } from "@spillway/core/options.js";
import { type Part, Registry } from "@spillway/core/registry.js";

/**
 * One step of a list of transforms:
 *
 * - `{ log: c }`, or "log" or `{ log: true }` (c = 0): z = ln(y + c), y + c above 0.
 * - `{ boxCox: L }`: z = (y^L - 1) / L, or ln y for L = 0; y above 0, and 0 itself for L above 0.
 *   By "boxCox" or `{ boxCox: true }`, L is chosen for each column by maximum likelihood on the
 *   training rows (Box and Cox 1964).
 * - `{ difference: m }`: d(t) = y(t) - y(t - m). The first m rows are lost; m rows in a season make
 *   it a seasonal difference.
 * - "standardise": z = (y - mean) / standard deviation.
 * - "squash": z = tanh(y - 1) (Jaeger 2001, GMD report 148, section 6).
 * - `{ transform: NAME }`: one that `registerTransform` added.
 * - `{ forward, back }`: a pair of functions; a model with it has no file.
 *
 * What comes back through a logarithm or a Box-Cox transform is the median of a forecast, not its
 * mean; quantiles pass as they are.
 */
export type Transform =
  | "log"
  | { readonly log: number | true }
  | "boxCox"
  | { readonly boxCox: number | true }
  | { readonly difference: number }
  | "standardise"
  | "squash"
  | { readonly transform: string }
  | TransformPair;

/** A function of each value, and its inverse. */
export interface TransformPair {
  /** z of y. */
  readonly forward: (value: number) => number;
  /** y of z. */
  readonly back: (value: number) => number;
}

/** A transform of the user's own, by its name. */
export interface TransformPart extends Part, TransformPair {}

export const transforms = new Registry<TransformPart>({
  kind: "transform",
  register: "registerTransform",
  needs: { forward: callback("a function of a number"), back: callback("a function of a number") },
});

/**
 * Adds a transform that `{ transform: NAME }` names, here and in model files.
 * @throws ArgumentError for a name that is taken, or a field that is missing or malformed
 */
export function registerTransform(part: TransformPart): void {
  transforms.register(part);
}

const names: readonly string[] = ["log", "boxCox", "standardise", "squash"];
const byName = choice(...names);
const orTrue = (takes: string) =>
  either(
    `${takes}, or true`,
    number(),
    checked<true>("true", (value) => value === true, { const: true }),
  );
export const byField = {
  difference: object({ difference: given(whole({ atLeast: 1 }), "Rows back.") }),
  log: object({ log: given(orTrue("a number"), "What is added before the logarithm.") }),
  boxCox: object({ boxCox: given(orTrue("a power"), "The power.") }),
  transform: object({ transform: given(choiceOf(transforms), "One that registerTransform added.") }),
};

const pair = object({
  forward: given(callback<TransformPair["forward"]>(), "z of y."),
  back: given(callback<TransformPair["back"]>(), "y of z."),
});

/** One transform of a list, as data. */
export const transformKind: Kind<Transform> = {
  takes: '"log", "boxCox", "standardise", "squash", {difference: lag}, {log: c}, {boxCox: L} or {transform: name}',
  get schema() {
    return { anyOf: [byName, ...Object.values(byField)].map(({ schema }) => schema) };
  },
  read(value, field) {
    if (typeof value === "string" && names.includes(value)) return value as Transform;
    const isObject = typeof value === "object" && value !== null;
    const named = isObject ? Object.entries(byField).find(([name]) => Object.hasOwn(value, name)) : undefined;
    if (named === undefined) throw new ArgumentError(field, value, this.takes);
    return named[1].read(value, field) as Transform;
  },
};

/** One transform of a list, a pair of functions as well. */
export const anyTransformKind: Kind<Transform> = {
  takes: `${transformKind.takes}, or {forward, back}`,
  schema: transformKind.schema,
  read: (value, field) =>
    typeof value === "object" && value !== null && ("forward" in value || "back" in value)
      ? pair.read(value, field)
      : transformKind.read(value, field),
};

/**
 * A fitted step, as it is kept in files: every parameter is there. `boxCox` and `standardise` have
 * one a column; `most` is the largest training value. A pair of functions is in no file.
 */
export type FittedTransform =
  | { readonly log: number }
  | { readonly boxCox: readonly number[]; readonly most: readonly number[] }
  | { readonly difference: number }
  | { readonly standardise: { readonly mean: readonly number[]; readonly deviation: readonly number[] } }
  | "squash"
  | { readonly transform: string }
  | TransformPair;
