// Missing values (NaN) of a forecaster's series: filled, with a mask beside them if that is asked.
import { ArgumentError } from "../../core/errors.js";
import { choice } from "../../core/options.js";
import { fillMissing, holdMissing, missingCells } from "../../io/missing.js";
import { Matrix, type MatrixLike } from "../../numerics/index.js";
import { filledSeries } from "../../reservoir/inputs.js";
import type { TimedRows } from "./clock.js";
import { beside, checkColumns, type DescribedSeries, type ForecasterData, type ForecasterPrefix } from "./data.js";
import type { PredictOptions } from "./options.js";

/**
 * What becomes of missing values (NaN) of a series. `"error"` refuses them; `"hold"` repeats the
 * last value; `"interpolate"` draws a straight line; `"mask"` holds them (at the start of a series
 * they are the first measured value), and gives the reservoir one
 * further input a column that is known beforehand: 1 if the value to be predicted is a held one, 0
 * if it was measured, and 0 in forecasts. No z-scores are made of it.
 */
export type MissingInSeries = "error" | "hold" | "interpolate" | "mask";

/** The kinds of {@link MissingInSeries}. */
export const missingKind = choice<MissingInSeries>("error", "hold", "interpolate", "mask");

/** Data without missing values, and how many each column of its series had. */
export interface FilledData<Data> {
  readonly data: Data;
  readonly counts: readonly number[];
  /** T x D of a series or of targets: 1 if a value was filled, 0 if it was measured. */
  readonly mask?: Matrix | undefined;
}

/**
 * Fills the missing values of data. With "mask" the mask stands beside what is known.
 * @throws ArgumentError naming row and column if a fill has no value to start from, and for a
 * column that has no value at all
 */
export function fillData<Data extends ForecasterData | ForecasterPrefix>(data: Data, policy: MissingInSeries, name = ""): FilledData<Data> {
  if (typeof data !== "object" || data === null) return { data, counts: [] };
  if ("series" in data && data.filled !== undefined) return fillRest(data, data.filled, policy, name);
  if (policy === "error") return { data, counts: [] };
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
      mask: filled.targets?.mask,
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

/** The same for rows of which some were filled before. @throws ArgumentError for another shape */
function fillRest<Data>(data: DescribedSeries, before: MatrixLike, policy: MissingInSeries, name: string): FilledData<Data> {
  const { filled: _, ...rest } = data;
  const series = filledSeries(data.series, `${name}series`);
  const flags = filledSeries(before, `${name}filled`);
  if (flags.rows !== series.rows || flags.cols !== series.cols || flags.data.some((flag) => flag !== 0 && flag !== 1))
    throw ArgumentError.shape(
      `${name}filled is ${flags.rows} x ${flags.cols} and series ${series.rows} x ${series.cols}; it takes as many, each 0 or 1`,
      { field: "filled" },
    );
  const own = fillData(rest, policy, name);
  const mask = Matrix.from(flags, "float64");
  own.mask?.data.forEach((flag, i) => {
    if (flag === 1) mask.data[i] = 1;
  });
  if (policy !== "mask") return { data: own.data as Data, counts: own.counts, mask };
  // The mask stands at the end of what is known.
  const known = Matrix.from(own.data.known as Matrix, "float64");
  const first = known.cols - mask.cols;
  for (let t = 0; t < known.rows; t++) known.row(t).set(mask.row(t), first);
  return { data: { ...own.data, known } as Data, counts: own.counts, mask };
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
  const fail = (row: number, column: number, reason: string) =>
    ArgumentError.because(`${name}[${row}][${column}]: ${reason}`, { field: "missing" });
  if (policy === "mask") {
    const { filled, byColumn } = holdMissing(series, fail);
    return { series, mask: filled, counts: byColumn };
  }
  const mask = missingCells(series);
  const { byColumn } = fillMissing(series, policy === "interpolate" ? policy : "hold", fail);
  return { series, mask, counts: byColumn };
}
