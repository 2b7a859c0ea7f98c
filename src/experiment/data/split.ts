// How the rows of a table are split into those that train and those that test.
import { orError } from "@spillway/core/errors.js";
import type { SplitDescription } from "../description/description.js";
import { ExperimentError } from "../description/errors.js";

/**
 * How many of `rows` rows train and how many test. @throws ExperimentError if there are not as
 * many.
 */
export function splitRows({ train, test }: SplitDescription, rows: number, hasOwnTest: boolean): { train: number; test: number } {
  if (hasOwnTest) {
    const all = train === undefined || train === 1 ? rows : asRows(train, rows);
    if (all < 1 || all > rows) throw new ExperimentError(`split.train asks for ${all} rows; the training series has ${rows}`);
    return { train: all, test: 0 };
  }
  if (train === 1 && test === undefined) return { train: rows, test: 0 };
  const testing = test === undefined ? undefined : asRows(test, rows);
  const training = train === undefined ? (testing === undefined ? Math.round(rows * 0.8) : rows - testing) : asRows(train, rows);
  const left = testing ?? rows - training;
  if (training < 1 || left < 1 || training + left > rows) {
    throw new ExperimentError(
      `split asks for ${training} training and ${left} test rows; there are ${rows} rows to split, and each part takes at least one`,
    );
  }
  return { train: training, test: left };
}

/** The most rows that are thought of. */
const mostRows = 2 ** 40;

/**
 * The fewest rows of which a split gives so many to each part; undefined if no number of rows does.
 */
export function rowsNeeded(
  split: SplitDescription,
  hasOwnTest: boolean,
  { train, test }: { readonly train: number; readonly test: number },
): number | undefined {
  const areEnough = (rows: number) => {
    const parts = orError(() => splitRows(split, rows, hasOwnTest), ExperimentError);
    return !(parts instanceof ExperimentError) && parts.train >= train && (hasOwnTest || parts.test >= test);
  };
  let enough = 1;
  while (!areEnough(enough)) {
    enough *= 2;
    if (enough > mostRows) return undefined;
  }
  let short = Math.floor(enough / 2);
  while (enough - short > 1) {
    const middle = Math.floor((short + enough) / 2);
    if (areEnough(middle)) enough = middle;
    else short = middle;
  }
  return enough;
}

function asRows(value: number, rows: number): number {
  return value < 1 ? Math.round(value * rows) : Math.floor(value);
}
