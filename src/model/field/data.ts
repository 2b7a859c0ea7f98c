// The data of a FieldForecaster, checked. It runs nothing.
import { ArgumentError } from "@spillway/core/errors.js";
import { checkSequences } from "../../reservoir/inputs.js";
import { type CheckedSeries, checkedData, checkedPrefix } from "../forecaster/data.js";
import { checkFilled, fillFollowing, type LastRows } from "../forecaster/missing.js";
import { type TrainingRows, trainingRows } from "../forecaster/training-rows.js";
import type { FieldData, FieldSequences, FieldSettings } from "./options.js";

/** The rows that a field is trained on. @throws ArgumentError */
export function fieldRows(
  data: FieldData | FieldSequences,
  settings: FieldSettings,
): TrainingRows & { readonly checked: readonly CheckedSeries[] } {
  const several = typeof data === "object" && data !== null && "sequences" in data;
  if (several) checkSequences(data.sequences, "sequences");
  (several ? data.sequences : [data]).forEach((one, s) => {
    checkSeriesAlone(one, several ? `sequences[${s}]: ` : "");
  });
  const rows = trainingRows(data, settings, false);
  return { ...rows, checked: rows.checked as readonly CheckedSeries[] };
}

/** Rows to go on from, the last of them, and how many at the start are left out. */
export interface FieldPrefix {
  readonly rows: CheckedSeries;
  readonly last: LastRows;
  readonly unfilled: number;
}

/** @throws ArgumentError */
export function fieldPrefix(data: FieldData, { missing }: FieldSettings): FieldPrefix {
  checkSeriesAlone(data, "warmup.");
  const { data: filled, last, unfilled } = fillFollowing(data, missing, {}, { name: "warmup." });
  return { rows: checkedPrefix(filled, false) as CheckedSeries, last, unfilled };
}

/** Rows that are scored, and where they were filled. @throws ArgumentError */
export function fieldScored(data: FieldData, { missing }: FieldSettings, last: LastRows) {
  checkSeriesAlone(data, "");
  const { data: filled, mask, unfilled } = fillFollowing(data, missing, last);
  const checked = checkedData(filled, false) as CheckedSeries;
  checkFilled({ unfilled }, "series");
  return { checked, mask };
}

function checkSeriesAlone(data: unknown, name: string): void {
  if (typeof data !== "object" || data === null) return;
  const other = ["inputs", "targets"].find((field) => field in data && (data as Record<string, unknown>)[field] !== undefined);
  if (other !== undefined)
    throw ArgumentError.because(`${name}${other} was given; a field goes on with a series, T x Q: give it just that`, { field: other });
}
