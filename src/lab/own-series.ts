// Reads a series of the user's own from CSV text: which columns there are, and the chosen ones as
// what drives the lab's reservoir.
import { ArgumentError } from "@spillway/core/errors.js";
import { type CsvOptions, csvColumns, FormatError, parseCsv } from "@spillway/io";
import { firstNonFinite } from "@spillway/numerics";
import { fitStandardisation, standardised } from "../model/standardisation.js";
import { mostRows, type OwnChoices, type OwnSeries } from "./own-data.js";

/** The marks that numbers are written with. */
type Marks = Pick<OwnChoices, "decimal" | "thousands">;

/**
 * The decimal mark and what separates thousands: those that are chosen, or others if they alone read
 * columns that hold numbers.
 */
export async function marksOf(text: string, { header, decimal, thousands }: OwnChoices): Promise<Marks> {
  try {
    await parseCsv(text, { header, decimal, thousands, missing: "nan" });
  } catch (error) {
    if (error instanceof FormatError) return { decimal, thousands, ...pickMarks(error.settings) };
  }
  return { decimal, thousands };
}

function pickMarks({ decimal, thousands }: Partial<Marks> = {}): Partial<Marks> {
  return { ...(decimal && { decimal }), ...(thousands && { thousands }) };
}

const fewestRows = 20;
const mostColumns = 1000;

/**
 * Reads CSV text.
 * @throws FormatError if the text is no table of numbers; ArgumentError if the table is too small
 * or too wide
 */
export async function readOwnSeries(text: string, name: string, choices: OwnChoices): Promise<OwnSeries> {
  const { header, missing, target, standardise, train } = choices;
  const marks = await marksOf(text, choices);
  const options: CsvOptions & { readonly source: string } = { header, ...marks, missing, source: name };
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
    choices: { ...choices, ...marks, input },
    columns,
    drive: { input: column(0), target: target === undefined ? undefined : column(1), trainingRows },
    used: used.rows,
    rows: matrix.rows,
    missing: filled,
  };
}
