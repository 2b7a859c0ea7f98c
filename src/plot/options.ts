// Options that several figures have, described once. Options of a single figure are described
// beside it, and what a figure is drawn from is checked where it is drawn.
import { ArgumentError } from "../core/errors.js";
import { checked, type Kind, number, type Option, option, text } from "../core/options.js";

/** Options of a figure that has nothing else to choose: its title, and what it is if left out. */
export const titleTable = (title: string): { readonly title: Option<string, string> } => ({
  title: option(text(), title, "The figure's title."),
});

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
