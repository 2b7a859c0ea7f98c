// Missing values (NaN) of a forecaster's series: filled, with a mask beside them if that is asked.
import { ArgumentError } from "../../core/errors.js";
import { choice } from "../../core/options.js";
import { fillMissing } from "../../io/missing.js";
import { Matrix, type MatrixLike } from "../../numerics/index.js";
import { filledSeries } from "../../reservoir/inputs.js";
import type { TimedRows } from "./clock.js";
import { beside, checkColumns, type ForecasterData, type ForecasterPrefix } from "./data.js";
import type { PredictOptions } from "./options.js";

/**
 * What becomes of missing values (NaN) of a series. `"error"` refuses them; `"hold"` repeats the
 * last value; `"interpolate"` draws a straight line; `"mask"` holds them, and gives the reservoir one
 * further input a column that is known beforehand: 1 if the value to be predicted is a held one, 0
 * if it was measured, and 0 in forecasts.
 */
export type MissingInSeries = "error" | "hold" | "interpolate" | "mask";

/** The kinds of {@link MissingInSeries}. */
export const missingKind = choice<MissingInSeries>("error", "hold", "interpolate", "mask");

/** Data without missing values, and how many each column of its series had. */
export interface FilledData<Data> {
  readonly data: Data;
  readonly counts: readonly number[];
  /** T x D of a series: 1 if a value was filled, 0 if it was measured. */
  readonly mask?: Matrix | undefined;
}

/**
 * Fills the missing values of data. With "mask" the mask stands beside what is known.
 * @throws ArgumentError naming row and column if a fill has no value to start from, and for a column
 * that has no value at all
 */
export function fillData<Data extends ForecasterData | ForecasterPrefix>(data: Data, policy: MissingInSeries, name = ""): FilledData<Data> {
  if (policy === "error" || typeof data !== "object" || data === null) return { data, counts: [] };
  if ("targets" in data || "inputs" in data) {
    if (policy === "mask")
      throw ArgumentError.because(
        'missing is "mask" and inputs with targets were given; it is for a series. Take "hold" or "interpolate"',
        {
          field: "missing",
        },
      );
    const { inputs, targets } = data;
    const each = (values: MatrixLike | undefined, of: string) => values && fillSeries(values, policy, `${name}${of}`);
    const filled = { inputs: each(inputs, "inputs"), targets: each(targets, "targets") };
    return {
      data: { inputs: filled.inputs?.series, targets: filled.targets?.series } as Data,
      counts: (filled.targets ?? filled.inputs)!.counts,
    };
  }
  const described: { readonly series: MatrixLike; readonly known?: MatrixLike | undefined } | undefined =
    "series" in data ? data : undefined;
  const { series, mask, counts } = fillSeries(described ? described.series : (data as MatrixLike), policy, `${name}series`);
  if (policy !== "mask") return { data: (described ? { ...described, series } : series) as Data, counts, mask };
  const known = described?.known === undefined ? undefined : filledSeries(described.known, `${name}known`);
  const masked = known && known.rows !== series.rows ? known : known ? beside(known, mask) : mask;
  return { data: { ...described, series, known: masked } as Data, counts, mask };
}

/** What is predicted from, and its teacher, without missing values. @throws ArgumentError */
export function fillPredicted(
  inputs: MatrixLike | { readonly steps: number },
  options: PredictOptions,
  missing: MissingInSeries = "error",
): readonly [MatrixLike | { readonly steps: number }, PredictOptions] {
  const isData = typeof inputs === "object" && inputs !== null && !("steps" in inputs);
  if (missing === "error" || typeof options !== "object" || options === null) return [inputs, options];
  const teacher = options.teacher && (fillData(options.teacher, missing, "teacher: ").data as MatrixLike);
  if (!isData) return [inputs, { ...options, teacher }];
  const { known } = options;
  const { data } = fillData(known === undefined ? inputs : { series: inputs, known }, missing);
  if (typeof data !== "object" || !("known" in data)) return [data as MatrixLike, { ...options, teacher }];
  return [data.series, { ...options, teacher, known: data.known }];
}

/**
 * What is known of steps to come (`needed` columns), with the mask: no value is a held one. @throws
 * ArgumentError for other columns
 */
export function maskAhead(known: MatrixLike | TimedRows | undefined, steps: number, masks: number, needed: number): MatrixLike | TimedRows {
  if (known === undefined && needed > 0)
    throw ArgumentError.because(`known is missing; this forecaster takes ${needed} known inputs for each of the ${steps} steps`, {
      field: "known",
    });
  if (known === undefined) return Matrix.zeros(steps, masks);
  const isTimed = typeof known === "object" && "values" in known && "times" in known;
  const given = filledSeries(isTimed ? known.values : (known as MatrixLike), "known");
  checkColumns(given, "known", needed);
  const masked = beside(given, Matrix.zeros(given.rows, masks));
  return isTimed ? { ...known, values: masked } : masked;
}

function fillSeries(values: MatrixLike, policy: MissingInSeries, name: string) {
  const series = Matrix.from(filledSeries(values, name), "float64");
  const mask = new Matrix(
    series.rows,
    series.cols,
    series.data.map((value) => (Number.isNaN(value) ? 1 : 0)),
  );
  const { byColumn } = fillMissing(series, policy === "interpolate" ? policy : "hold", (row, column, reason) =>
    ArgumentError.because(`${name}[${row}][${column}]: ${reason}`, { field: "missing" }),
  );
  return { series, mask, counts: byColumn };
}
