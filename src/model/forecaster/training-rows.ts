// The rows that a Forecaster is trained on: checked, with missing values filled.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Matrix } from "@spillway/numerics";
import { checkSequences } from "../../reservoir/inputs.js";
import { checkTableNames } from "../table-names.js";
import {
  type CheckedData,
  type CheckedSeries,
  checkAlike,
  checkedData,
  type ForecasterData,
  type ForecasterSequences,
  givenColumns,
} from "./data.js";
import { fillTraining, type LastRows } from "./missing.js";
import type { ForecasterSettings } from "./options.js";

/** Series, or inputs with targets, without missing values. */
export interface TrainingRows {
  readonly checked: readonly CheckedData[];
  /** Of each, 1 where a value was filled; undefined if none can have been. */
  readonly masks: readonly (Matrix | undefined)[];
  /** How many values of each column were missing. */
  readonly missingCounts: readonly number[];
  /** The last rows of the last series. */
  readonly last: LastRows;
  /** How many columns the data has. */
  readonly given: ReturnType<typeof givenColumns>;
}

/** @throws ArgumentError for data that does not fit */
export function trainingRows(
  data: ForecasterData | ForecasterSequences,
  { missing = "error", table }: Pick<ForecasterSettings, "missing" | "table">,
  feedback: boolean,
): TrainingRows {
  const several = typeof data === "object" && data !== null && "sequences" in data;
  if (several) checkSequences(data.sequences, "sequences");
  const all = several ? data.sequences : [data];
  const nameOf = (s: number) => (several ? `sequences[${s}]: ` : "");
  const filled = all.map((one, s) => fillTraining(one, missing, feedback, nameOf(s)));
  const checked = filled.map(({ data: one, held }, s) => {
    const rows = checkedData(one, feedback, nameOf(s));
    return held ? { ...(rows as CheckedSeries), held } : rows;
  });
  checkAlike(checked);
  const given = givenColumns(checked[0]!, missing);
  checkTableNames(table, given);
  if (missing === "mask" && feedback)
    throw ArgumentError.because('missing is "mask" and the reservoir has feedback; take "hold" or "interpolate"', { field: "missing" });
  const counts = filled.map((one) => one.counts);
  return {
    checked,
    masks: filled.map(({ mask }) => mask),
    missingCounts: counts[0]!.map((_, c) => counts.reduce((sum, one) => sum + one[c]!, 0)),
    last: filled.at(-1)!.last,
    given,
  };
}
