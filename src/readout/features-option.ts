// The features a trainer is asked for, in a user's words, and the columns they become. Shared by every trainer.
import { ArgumentError } from "../core/errors.js";
import { type ColumnSource, describe, type Matrix } from "../numerics/index.js";
import { type FeatureSpec, featureCount } from "../reservoir/features.js";
import type { ReadoutShape } from "./training-data.js";

/** What a readout is linear in. */
export interface FeatureOptions {
  /**
   * What the readout sees of the state x: "plain" x; "squareHalf" every second neuron (1, 3, 5, ...) squared in place (Lu et al. 2017,
   * "Reservoir observers"); "squares" x and x_i^2 of every neuron. Default "plain".
   */
  readonly transform?: "plain" | "squareHalf" | "squares" | undefined;
  /** Whether the readout sees the input of the step too. Default false. */
  readonly input?: boolean | undefined;
  /** Whether there is a constant term, which no penalty acts on. Default true. */
  readonly intercept?: boolean | undefined;
}

/** @throws ArgumentError naming the option */
export function featureSpec(options: FeatureOptions): FeatureSpec {
  const transform = choice("transform", options.transform, ["plain", "squareHalf", "squares"], "plain");
  return {
    state: transform === "squareHalf" ? "squareHalf" : "plain",
    input: flag("input", options.input, false),
    squares: transform === "squares",
  };
}

/** The feature columns of rows, in the order of the specification, with a last column of ones where it is asked for. */
export function featureColumns(spec: FeatureSpec, states: Matrix, inputs: Matrix, constant: boolean): ColumnSource[] {
  const columns: ColumnSource[] = [{ matrix: states, square: spec.state === "squareHalf" ? "odd" : "none" }];
  if (spec.input) columns.push({ matrix: inputs, square: "none" });
  if (spec.squares) columns.push({ matrix: states, square: "all" });
  if (constant) columns.push("ones");
  return columns;
}

/** F of a readout of this shape. */
export function featuresOf(spec: FeatureSpec, shape: ReadoutShape): number {
  return featureCount(spec, shape.stateSize, shape.inputSize);
}

/** @throws ArgumentError for what holds no sizes, ArgumentError for numbers of neurons, inputs or outputs that there cannot be */
export function checkSizes(
  what: object,
  name: string,
  sizes: readonly (keyof ReadoutShape)[] = ["stateSize", "inputSize", "outputSize"],
): void {
  if (typeof what !== "object" || what === null) throw new ArgumentError(name, what, `an object with ${sizes.join(", ")}`);
  for (const size of sizes) {
    const value = (what as Partial<ReadoutShape>)[size];
    if (!Number.isSafeInteger(value) || value! < 0) throw new ArgumentError(`${name}: ${size}`, value, "a whole number of at least 0");
  }
}

/** @throws ArgumentError for what does not say which features there are */
export function checkFeatures(features: FeatureSpec): void {
  if (typeof features !== "object" || features === null)
    throw new ArgumentError("features", features, "an object with state, input, squares");
  const { state, input, squares } = features;
  if (state !== "plain" && state !== "squareHalf") throw new ArgumentError("features.state", state, '"plain" or "squareHalf"');
  for (const [name, value] of Object.entries({ input, squares }))
    if (typeof value !== "boolean") throw new ArgumentError(`features.${name}`, value, "true or false");
}

/** @throws ArgumentError for options that are no object, and for a field that is not in the list */
export function knownFields(what: string, options: object, fields: readonly string[]): void {
  if (typeof options !== "object" || options === null)
    throw ArgumentError.because(`the options of ${what} are ${describe(options)}; it takes an object with ${fields.join(", ")}`);
  for (const field of Object.keys(options)) {
    if (!fields.includes(field))
      throw ArgumentError.because(`${what} has no option ${JSON.stringify(field)}; it takes ${fields.join(", ")}`, { field: what });
  }
}

/** @throws ArgumentError */
export function flag(name: string, value: boolean | undefined, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (typeof value !== "boolean") throw new ArgumentError(name, value, "true or false");
  return value;
}

/** @throws ArgumentError */
export function choice<Value extends string>(name: string, value: Value | undefined, values: readonly Value[], fallback: Value): Value {
  if (value === undefined) return fallback;
  if (!values.includes(value)) {
    throw new ArgumentError(name, value, values.map((one) => JSON.stringify(one)).join(", "));
  }
  return value;
}

/** @throws ArgumentError */
export function numberIn(
  name: string,
  value: number | undefined,
  fallback: number,
  accepts: (x: number) => boolean,
  takes: string,
): number {
  if (value === undefined) return fallback;
  if (typeof value !== "number" || !Number.isFinite(value) || !accepts(value)) {
    throw new ArgumentError(name, value, takes);
  }
  return value;
}
