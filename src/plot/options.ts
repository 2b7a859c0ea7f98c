// What is asked of the options of every figure. What a figure is drawn from is checked where it is
// drawn.
import { ArgumentError, checkFields } from "../core/errors.js";

/** Options of a figure that has nothing else to choose. */
export const titleOnly: readonly string[] = ["title"];

const texts = ["title", "timeLabel", "name", "besideName", "baselineName", "plotly"];
const flags = ["logarithmic", "withError", "centred", "zoomToPoints"];
const lists = ["names", "times", "neurons", "columns", "range", "bins"];
const least: Readonly<Record<string, number>> = { maximalPoints: 0, maximalColumns: 0, maximalSteps: 1, maximalNeurons: 1 };

/**
 * @throws ArgumentError for an option that is not in `known`, or for options that are no
 * object, and for a value of another kind
 */
export function checkPlotOptions(options: object, known: readonly string[]): void {
  checkFields(options, known);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const limit = least[name];
    if (texts.includes(name) && typeof value !== "string") throw new ArgumentError(name, value, "a text");
    if (flags.includes(name) && typeof value !== "boolean") throw new ArgumentError(name, value, "true or false");
    if (lists.includes(name) && !isArrayLike(value)) throw new ArgumentError(name, value, "a list");
    if (name === "start" && !Number.isFinite(value)) throw new ArgumentError(name, value, "a finite number");
    if (limit !== undefined && !(typeof value === "number" && value >= limit))
      throw new ArgumentError(name, value, `a number of at least ${limit}`);
  }
}

/** @throws ArgumentError for a size that is no number above 0 */
export function checkSizes(sizes: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(sizes))
    if (!(typeof value === "number" && value > 0 && value < Infinity)) throw new ArgumentError(name, value, "a number above 0");
}

/** An array or a typed array, or anything else that has a length and is no text. */
export function isArrayLike(value: unknown): value is ArrayLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as ArrayLike<unknown>).length === "number";
}

/** @throws ArgumentError for what is no list */
export function checkList(value: unknown, name: string, of: string): void {
  if (!isArrayLike(value)) throw new ArgumentError(name, value, `a list of ${of}`);
}
