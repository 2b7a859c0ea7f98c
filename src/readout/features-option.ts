// The features a trainer is asked for, in a user's words, and the columns they become. Shared by
// every trainer.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, flag, type InputOf, option, type Resolved } from "@spillway/core/options.js";
import { type ColumnSource, Matrix } from "@spillway/numerics";
import { type FeatureSpec, featureCount, writeFeatures } from "../reservoir/features.js";
import { type ReadoutShape, rowsOf, shapeOf, type TrainingSequence } from "./training-data.js";

/** What every trainer takes. */
export const featureTable = {
  /**
   * What the readout sees of the state x: "plain" x; "squareHalf" every second neuron (1, 3, 5,
   * ...) squared in place (Lu et al. 2017, "Reservoir observers"); "squares" x and x_i^2 of every
   * neuron. Default "plain".
   */
  transform: option(choice("plain", "squareHalf", "squares"), "plain", "What the readout sees of the state."),
  /** Whether the readout sees the input of the step too. Default false. */
  input: option(flag, false, "Give the input to the readout beside the state."),
  /** Whether there is a constant term, which no penalty acts on. Default true. */
  intercept: option(flag, true, "A constant term, which no penalty acts on."),
};

/** What a readout is linear in. */
export interface FeatureOptions extends InputOf<typeof featureTable> {}

/** The features of options that were checked. */
export function featureSpec({ transform, input }: Pick<Resolved<typeof featureTable>, "transform" | "input">): FeatureSpec {
  return { state: transform === "squareHalf" ? "squareHalf" : "plain", input, squares: transform === "squares" };
}

/**
 * The feature columns of rows, in the order of the specification, with a last column of ones if
 * it is asked for.
 */
export function featureColumns(spec: FeatureSpec, states: Matrix, inputs: Matrix, constant: boolean): ColumnSource[] {
  const columns: ColumnSource[] = [{ matrix: states, square: spec.state === "squareHalf" ? "odd" : "none" }];
  if (spec.input) columns.push({ matrix: inputs, square: "none" });
  if (spec.squares) columns.push({ matrix: states, square: "all" });
  if (constant) columns.push("ones");
  return columns;
}

/** The features of all rows of sequences, with a last one of 1 if it is asked for. */
export function featureRows(sequences: readonly TrainingSequence[], spec: FeatureSpec, constant: boolean): Matrix<Float64Array> {
  const count = featuresOf(spec, shapeOf(sequences[0]!));
  const out = Matrix.zeros(rowsOf(sequences), count + (constant ? 1 : 0));
  if (constant) out.data.fill(1);
  let next = 0;
  for (const { states, inputs } of sequences)
    for (let t = 0; t < states.rows; t++) writeFeatures(spec, states.row(t), inputs.row(t), out.row(next++).subarray(0, count));
  return out;
}

/** F of a readout of this shape. */
export function featuresOf(spec: FeatureSpec, shape: ReadoutShape): number {
  return featureCount(spec, shape.stateSize, shape.inputSize);
}

/**
 * @throws ArgumentError for what holds no sizes, or for numbers of neurons, inputs or
 * outputs that there cannot be
 */
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
