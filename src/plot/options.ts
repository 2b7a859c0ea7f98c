// Options that several figures have, described once. Options of a single figure are described
// beside it, and what a figure is drawn from is checked where it is drawn.
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, type InputOf, type Kind, number, type Option, option, resolve, text, whole } from "@spillway/core/options.js";
import { asMatrix, type Matrix, type MatrixLike } from "@spillway/numerics";

/** The title of a figure, and what it is if left out. */
export const titleOption = (title: string): Option<string, string, false> => option(text(), title, "The figure's title.");

/** Options of a figure that has nothing else to choose. */
export interface TitleOptions {
  /** The figure's title. */
  readonly title?: string | undefined;
}

/** The title of such a figure, and what it is if left out. @throws ArgumentError */
export const titleOf = (options: TitleOptions, title: string): string => resolve({ title: titleOption(title) }, options).title;

export const washoutTable = {
  /** Steps at the start that are not drawn; default 0. */
  washout: option(whole(), 0, "Steps at the start that are not drawn."),
};

/** Steps at the start of a run that a figure of states leaves out. */
export interface WashoutOptions extends InputOf<typeof washoutTable> {}

/** States without their first steps. @throws ArgumentError if none is left */
export function afterWashout(states: MatrixLike, washout: number): Matrix {
  const matrix = asMatrix(states, "states");
  if (washout > 0 && washout >= matrix.rows)
    throw new ArgumentError("washout", washout, `fewer than the ${matrix.rows} steps of the states`);
  return matrix.subarray(washout);
}

/** A list or a typed array. */
export const listKind = <Value>(): Kind<readonly Value[]> => checked("a list", isArrayLike);

/** How many of something are drawn at most; Infinity draws all. */
export const most = (least: number): Kind<number> =>
  checked(`a number of at least ${least}`, (value) => typeof value === "number" && value >= least, { type: "number", minimum: least });

/** @throws ArgumentError for a size that is not a number above 0 */
export const sizeKind: Kind<number> = number({ above: 0 });

/** An array or a typed array, or anything else that has a length and is no text. */
export function isArrayLike(value: unknown): value is ArrayLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as ArrayLike<unknown>).length === "number";
}

/** @throws ArgumentError if it is no list */
export function checkList(value: unknown, name: string, of: string): void {
  if (!isArrayLike(value)) throw new ArgumentError(name, value, `a list of ${of}`);
}
