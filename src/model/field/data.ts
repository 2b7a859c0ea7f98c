// The data of a FieldForecaster, checked. It runs nothing.
import { ArgumentError } from "../../core/errors.js";
import { checkSequences } from "../../reservoir/inputs.js";
import { type CheckedSeries, checkedData, checkedPrefix } from "../forecaster/data.js";
import { fillData } from "../forecaster/missing.js";
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

/** Rows to go on from. @throws ArgumentError */
export function fieldPrefix(data: FieldData, { missing = "error" }: FieldSettings): CheckedSeries {
  checkSeriesAlone(data, "warmup.");
  return checkedPrefix(fillData(data, missing, "warmup.").data, false) as CheckedSeries;
}

/** Rows that are scored, and where they were filled. @throws ArgumentError */
export function fieldScored(data: FieldData, { missing = "error" }: FieldSettings) {
  checkSeriesAlone(data, "");
  const { data: filled, mask } = fillData(data, missing);
  return { checked: checkedData(filled, false) as CheckedSeries, mask };
}

function checkSeriesAlone(data: unknown, name: string): void {
  if (typeof data !== "object" || data === null) return;
  const other = ["inputs", "targets"].find((field) => field in data && (data as Record<string, unknown>)[field] !== undefined);
  if (other !== undefined)
    throw ArgumentError.because(`${name}${other} was given; a field goes on with a series, T x Q: give it just that`, { field: other });
}
