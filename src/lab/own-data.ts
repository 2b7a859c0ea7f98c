// A series of the user's own from CSV text: which columns there are, and the chosen ones as what drives the lab's reservoir.
import { describe } from "../core/text.js";
import { type CsvOptions, type CsvTable, FormatError, type MissingPolicy, parseCsv } from "../io/index.js";
import { fitStandardisation, standardised } from "../model/standardisation.js";
import { Matrix } from "../numerics/index.js";
import type { Drive } from "./signal.js";

/** How the text is read; what is left out is found, or is an error that asks. */
export interface TableChoices {
  /** Whether the first row names the columns. */
  readonly header?: boolean | undefined;
  readonly decimal: "." | ",";
  readonly missing: Exclude<MissingPolicy, "nan">;
}

/** What of the table is used. */
export interface OwnChoices extends TableChoices {
  /** The column that drives the reservoir, by index from 0. */
  readonly input: number;
  /** The column to predict; the input itself is forecast on its own. */
  readonly target: number;
  /** z-scores by the training part. */
  readonly standardise: boolean;
  /** The share of the rows that train, above 0 and below 1. */
  readonly train: number;
}

/** A column of a file. */
export interface OwnColumn {
  readonly index: number;
  readonly name: string;
  /** Whether its first values are numbers. */
  readonly numeric: boolean;
}

/** A series that was read. */
export interface OwnSeries {
  /** The file's name. */
  readonly name: string;
  readonly choices: OwnChoices;
  readonly columns: readonly OwnColumn[];
  readonly drive: Drive;
  /** Rows that the file has; no more than `mostRows` are used. */
  readonly rows: number;
  /** Values that were missing and filled or dropped. */
  readonly missing: number;
}

/** What is taken of a file. */
export const ownLimits = { bytes: 64 * 2 ** 20, columns: 256, rows: 20_000, fewestRows: 20 } as const;
/** Characters at the start of a file by which its columns are judged. */
const head = 65_536;

/**
 * The columns of a text, judged by its first rows.
 * @throws FormatError if it is no table; RangeError if it has more columns than {@link ownLimits}
 */
export async function columnsOf(text: string, name: string, { header, decimal }: TableChoices): Promise<OwnColumn[]> {
  const start = wholeRows(text);
  const textual: string[] = [];
  for (;;) {
    try {
      const table = await parseCsv(start, { header, decimal, missing: "nan", text: textual, source: name });
      return inOrder(table, textual, start, header);
    } catch (error) {
      if (!(error instanceof FormatError) || typeof error.place["column"] !== "string") throw error;
      textual.push(error.place["column"]);
    }
  }
}
