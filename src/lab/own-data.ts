// A series of the user's own from CSV text: which columns there are, and the chosen ones as what
// drives the lab's reservoir.
import { ArgumentError } from "../core/errors.js";
import { type CsvColumn, type CsvOptions, csvColumns, type MissingPolicy, parseCsv } from "../io/index.js";
import { fitStandardisation, standardised } from "../model/standardisation.js";
import { firstNonFinite } from "../numerics/index.js";
import type { OwnDrive } from "./measures.js";

/** How a file is read, and what of it is used. */
export interface OwnChoices {
  /** Whether the first row names the columns; left out, it is found, or the error asks. */
  readonly header?: boolean | undefined;
  readonly decimal: "." | ",";
  readonly missing: Exclude<MissingPolicy, "nan">;
  /**
   * The column that drives the reservoir, by index from 0; left out, the first that holds numbers.
   */
  readonly input?: number | undefined;
  /** The column to predict; left out, the input goes on by itself. */
  readonly target?: number | undefined;
  /** z-scores by the training part. */
  readonly standardise: boolean;
  /** The share of the rows that train, above 0 and below 1. */
  readonly train: number;
}

/** A series that was read. */
export interface OwnSeries {
  /** The file's name. */
  readonly name: string;
  /** As they were given, the input filled in. */
  readonly choices: OwnChoices & { readonly input: number };
  readonly columns: readonly CsvColumn[];
  readonly drive: OwnDrive;
  /** Rows of the file that are used, at most {@link mostRows}. */
  readonly used: number;
  readonly rows: number;
  /** Values that were missing and were filled or dropped. */
  readonly missing: number;
}

/** What the page begins with. */
export const defaultChoices: OwnChoices = { decimal: ".", missing: "error", standardise: true, train: 0.8 };
/** The longest file that is read. */
export const mostBytes = 64 * 2 ** 20;
/** The rows of a file that are used. */
export const mostRows = 20_000;
const fewestRows = 20;
const mostColumns = 1000;

/**
 * Reads CSV text.
 * @throws FormatError if the text is no table of numbers; ArgumentError if the table is too small
 * or too wide
 */
export async function readOwnSeries(text: string, name: string, choices: OwnChoices): Promise<OwnSeries> {
  const { header, decimal, missing, target, standardise, train } = choices;
  const options: CsvOptions & { readonly source: string } = { header, decimal, missing, source: name };
  const columns = await csvColumns(text, options);
  if (columns.length > mostColumns)
    throw ArgumentError.shape(`${name} has ${columns.length} columns; the lab takes up to ${mostColumns}`, { field: name });
  const input = choices.input ?? columns.findIndex(({ numeric }) => numeric);
  if (input < 0) throw ArgumentError.because(`${name} has no column of numbers`, { field: name });
  const { matrix, missing: filled } = await parseCsv(text, { ...options, columns: target === undefined ? [input] : [input, target] });
  const used = matrix.subarray(0, Math.min(matrix.rows, mostRows));
  if (used.rows < fewestRows)
    throw ArgumentError.shape(`${name} has ${used.rows} rows; the lab takes at least ${fewestRows}`, { field: name });
  const infinite = firstNonFinite(used.data);
  if (infinite >= 0)
    throw ArgumentError.because(`${name}: a value is ${used.data[infinite]}; the lab takes finite numbers`, { field: name });
  const trainingRows = Math.min(used.rows - 2, Math.max(fewestRows / 2, Math.round(train * used.rows)));
  const scores = standardise ? standardised(fitStandardisation([used.subarray(0, trainingRows)]), used) : used;
  const column = (c: number) => Float64Array.from(scores.column(c));
  return {
    name,
    choices: { ...choices, input },
    columns,
    drive: { input: column(0), target: target === undefined ? undefined : column(1), trainingRows },
    used: used.rows,
    rows: matrix.rows,
    missing: filled,
  };
}

/** The data and split of an experiment file for `spillway run`. */
export function experimentDataOf({
  name,
  choices,
  columns,
  rows,
  used,
}: OwnSeries): Readonly<Record<"data" | "split" | "transforms", unknown>> {
  const { header, decimal, missing, input, target, standardise, train } = choices;
  const names = columns.map((column) => column.name);
  const reference = (index: number) =>
    header !== false && names.indexOf(names[index]!) === names.lastIndexOf(names[index]!) ? names[index]! : index;
  return {
    data: {
      file: name,
      format: "csv",
      ...(target === undefined ? { columns: [reference(input)] } : { inputs: [reference(input)], targets: [reference(target)] }),
      ...(rows > used ? { rows: { from: 0, to: used } } : {}),
      ...(header === undefined ? {} : { header }),
      ...(decimal === "." ? {} : { decimal }),
      missing,
    },
    split: { train },
    transforms: standardise ? ["standardise"] : [],
  };
}
