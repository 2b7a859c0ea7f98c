// Missing values (NaN) of a forecaster's series: filled, with a mask beside them if that is asked.
import { ArgumentError } from "@spillway/core/errors.js";
import { columnSums, fillMissing, holdAfter, holdMissing, missingCells, withLines } from "@spillway/io/missing.js";
import { Matrix, type MatrixLike } from "@spillway/numerics";
import { filledSeries } from "@spillway/numerics/known-finite.js";
import type { PredictOptions } from "./call-options.js";
import type { TimedRows } from "./clock.js";
import { beside, checkColumns, type DescribedSeries, type ForecasterData, type ForecasterPrefix } from "./data.js";
import type { MissingInSeries } from "./missing-option.js";

/** The last rows before those that follow, which hold the missing values of these. */
export interface LastRows {
  /** Of a series that is the input, or of inputs. */
  readonly inputs?: Float64Array | undefined;
  /** Of what is fed back: a series, targets, or a teacher. */
  readonly targets?: Float64Array | undefined;
  /** What binary64 leaves of `inputs`, of a model in double-double. */
  readonly low?: Float64Array | undefined;
}

/** Data without missing values, and how many each column of its series had. */
export interface FilledData<Data> {
  readonly data: Data;
  readonly counts: readonly number[];
  /** T x D of a series or of targets: 1 if a value was filled, 0 if it was measured. */
  readonly mask?: Matrix | undefined;
  /** T x D: training rows of a series as what follows training is filled; undefined if they are. */
  readonly held?: Matrix | undefined;
  /** The last rows of the data. */
  readonly last: LastRows;
  /** Rows at the start with a value that nothing before them can hold; they must not be used. */
  readonly unfilled: number;
}

/** How values are filled. */
export interface Filling {
  readonly missing?: MissingInSeries | undefined;
  /** The rows before, none of rows that start anew; undefined for training rows. */
  readonly before: LastRows | undefined;
  /** Whether what is predicted is fed back. Default false. */
  readonly feedback?: boolean | undefined;
  /** Whether the mask is an input of the model. Default true. */
  readonly maskInput?: boolean | undefined;
}

/**
 * Fills the missing values of rows: of training rows, or of rows that follow others by those before
 * them alone, so that cutting them into parts changes nothing. With "mask" the mask is added to
 * what is known. @param name the text before the names of fields
 * @throws ArgumentError naming row and column if a fill has no value to start from, and for a
 * column that has no value at all
 */
export function fillData<Data extends ForecasterData<MatrixLike> | ForecasterPrefix<MatrixLike>>(
  data: Data,
  filling: Filling,
  name = "",
): FilledData<Data> {
  const { missing: policy = "error", before, feedback = false, maskInput = true } = filling;
  const none = { data, counts: [], last: {}, unfilled: 0 };
  if (typeof data !== "object" || data === null) return none;
  if ("series" in data && data.filled !== undefined) return fillRest(data, data.filled, filling, name);
  if (policy === "error") return none;
  if ("targets" in data || "inputs" in data) {
    if (policy === "mask")
      throw ArgumentError.because(
        'missing is "mask" and inputs with targets were given; it is for a series. Take "hold" or "interpolate"',
        {
          field: "missing",
        },
      );
    const inputs = data.inputs && fillRows(data.inputs, policy, before && { row: before.inputs }, `${name}inputs`);
    const targets = data.targets && fillRows(data.targets, policy, before && { row: before.targets }, `${name}targets`);
    return {
      data: { inputs: inputs?.series, targets: targets?.series } as Data,
      counts: (targets ?? inputs)!.counts,
      mask: targets?.mask,
      last: { inputs: inputs?.last, targets: feedback ? targets?.last : undefined },
      unfilled: Math.max(inputs?.unfilled ?? 0, feedback ? (targets?.unfilled ?? 0) : 0),
    };
  }
  const described: { readonly series: MatrixLike; readonly known?: MatrixLike | undefined } | undefined =
    "series" in data ? data : undefined;
  const { series, mask, counts, held, last, unfilled } = fillRows(
    described ? described.series : (data as MatrixLike),
    policy,
    before && { row: feedback ? before.targets : before.inputs },
    `${name}series`,
  );
  const made = { counts, mask, held, last: feedback ? { targets: last } : { inputs: last }, unfilled };
  if (policy !== "mask" || !maskInput) return { ...made, data: (described ? { ...described, series } : series) as Data };
  const known = described?.known === undefined ? undefined : filledSeries(described.known, `${name}known`);
  const masked = known && known.rows !== series.rows ? known : known ? beside(known, mask) : mask;
  return { ...made, data: { ...described, series, known: masked } as Data };
}

/** The same for rows some of which were filled before. @throws ArgumentError for another shape */
function fillRest<Data>(data: DescribedSeries<MatrixLike>, flagged: MatrixLike, filling: Filling, name: string): FilledData<Data> {
  const { filled: _, ...rest } = data;
  const series = filledSeries(data.series, `${name}series`);
  const flags = filledSeries(flagged, `${name}filled`);
  if (flags.rows !== series.rows || flags.cols !== series.cols || flags.data.some((flag) => flag !== 0 && flag !== 1))
    throw ArgumentError.shape(
      `${name}filled is ${flags.rows} x ${flags.cols} and series ${series.rows} x ${series.cols}; it takes as many, each 0 or 1`,
      { field: "filled" },
    );
  const own = fillData(rest, filling, name);
  const mask = Matrix.from(flags, "float64");
  own.mask?.data.forEach((flag, i) => {
    if (flag === 1) mask.data[i] = 1;
  });
  if (filling.missing !== "mask" || filling.maskInput === false) return { ...own, data: own.data as Data, mask };
  // The mask is at the end of what is known.
  const known = Matrix.from(own.data.known as Matrix, "float64");
  const first = known.cols - mask.cols;
  for (let t = 0; t < known.rows; t++) known.row(t).set(mask.row(t), first);
  return { ...own, data: { ...own.data, known } as Data, mask };
}

/** What is predicted from. */
export interface Predicted extends Pick<PredictOptions, "known" | "teacher"> {
  readonly inputs: MatrixLike | { readonly steps: number };
}

/**
 * What is predicted from, and its teacher, without missing values. @throws ArgumentError naming a
 * value that is missing and has none before it
 */
export function fillPredicted(
  { inputs, known, teacher }: Predicted,
  filling: Filling,
): Predicted & { readonly last: LastRows; readonly mask?: Matrix | undefined } {
  const { missing = "error", before = {} } = filling;
  if (missing === "error") return { inputs, known, teacher, last: {} };
  const forced = teacher && fillData<MatrixLike>(teacher, { missing, before: { inputs: before.targets } }, "teacher: ");
  if (forced) checkFilled(forced, "teacher");
  const last = { ...before, ...(forced && { targets: forced.last.inputs }) };
  if (typeof inputs !== "object" || inputs === null || "steps" in inputs)
    return { inputs, known, teacher: forced ? seriesOf(forced.data) : undefined, last };
  const rows = known === undefined ? inputs : { series: inputs, known };
  const filled = fillData<MatrixLike | DescribedSeries<MatrixLike>>(rows, { ...filling, before, feedback: false });
  checkFilled(filled, "inputs");
  const { data } = filled;
  const knownNow = typeof data === "object" && "known" in data ? data.known : known;
  return {
    inputs: seriesOf(data),
    known: knownNow,
    teacher: forced && seriesOf(forced.data),
    last: { ...last, inputs: filled.last.inputs },
    mask: filled.mask,
  };
}

const seriesOf = (data: MatrixLike | DescribedSeries<MatrixLike>): MatrixLike =>
  typeof data === "object" && "series" in data ? data.series : (data as MatrixLike);

/** @throws ArgumentError if a row has a missing value that nothing before it can hold */
export function checkFilled({ unfilled }: Pick<FilledData<unknown>, "unfilled">, name: string): void {
  if (unfilled === 0) return;
  throw ArgumentError.because(
    `${name}: row ${unfilled - 1} has a missing value and there is none before it to hold; give warmup, or cut the start off`,
    { field: "missing" },
  );
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

/** @param before the row before them; undefined for training rows */
function fillRows(
  values: MatrixLike,
  policy: Exclude<MissingInSeries, "error">,
  before: { readonly row: Float64Array | undefined } | undefined,
  name: string,
) {
  const series = Matrix.from(filledSeries(values, name), "float64");
  const { rows, cols } = series;
  const fail = (row: number, column: number, reason: string) =>
    ArgumentError.because(`${name}[${row}][${column}]: ${reason}`, { field: "missing" });
  const mask = missingCells(series);
  const counts = columnSums(mask);
  let unfilled = 0;
  if (before) {
    const row = before.row?.length === cols ? before.row : undefined;
    const empty = row ? -1 : counts.indexOf(rows);
    if (empty >= 0 && rows > 1) throw fail(0, empty, `all ${rows} values of this column are missing; give rows with a value of it`);
    unfilled = holdAfter(series, row);
  } else if (policy === "mask") holdMissing(series, fail);
  else fillMissing(series, "hold", fail);
  const last = Float64Array.from(series.row(rows - 1));
  const made = { mask, counts, last, unfilled };
  return policy === "interpolate" && !before
    ? { ...made, series: withLines(series, mask), held: series }
    : { ...made, series, held: undefined };
}
