// The data of a FieldForecaster, checked. It runs nothing.
import { ArgumentError } from "../../core/errors.js";
import { checkSequences } from "../../reservoir/inputs.js";
import { type CheckedSeries, checkAlike, checkedData, checkedPrefix } from "../forecaster/data.js";
import { fillData } from "../forecaster/missing.js";
import type { FieldData, FieldSequences, FieldSettings } from "./options.js";

/**
 * Every training series, where it was filled, and how many values of each column were missing.
 * @throws ArgumentError
 */
export function fieldSequences(data: FieldData | FieldSequences, { missing = "error" }: FieldSettings) {
  const several = typeof data === "object" && data !== null && "sequences" in data;
  if (several) checkSequences(data.sequences, "sequences");
  const names = several ? data.sequences.map((_, s) => `sequences[${s}]: `) : [""];
  const filled = (several ? data.sequences : [data]).map((one, s) => {
    checkSeriesAlone(one, names[s]!);
    return fillData(one, missing, names[s]);
  });
  const checked = filled.map((one, s) => checkedData(one.data, false, names[s]) as CheckedSeries);
  checkAlike(checked);
  const counts = filled.map((one) => one.counts);
  return {
    checked,
    masks: filled.map(({ mask }) => mask),
    missingCounts: counts[0]!.map((_, c) => counts.reduce((sum, one) => sum + one[c]!, 0)),
  };
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
