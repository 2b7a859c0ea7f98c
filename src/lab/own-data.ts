// A series of the user's own, as the page knows it: how its file is read, what came of it, and its
// part of an experiment. Nothing here reads a file: the page takes this at once.
import type { CsvColumn, MissingPolicy } from "@spillway/io";

/** A series of the user's own, as it travels between the page and its workers. */
export interface OwnDrive {
  readonly input: Float64Array;
  /** To be predicted from the input; left out, the input goes on by itself. */
  readonly target?: Float64Array | undefined;
  /** The first rows, which train. */
  readonly trainingRows: number;
}

/** How a file is read, and what of it is used. */
export interface OwnChoices {
  /** Whether the first row names the columns; left out, it is found, or the error asks. */
  readonly header?: boolean | undefined;
  readonly decimal: "." | ",";
  /** What separates thousands; left out, it is found. */
  readonly thousands?: "," | "." | " " | "'" | undefined;
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
  /** Rows of the file that are used, at most `mostRows`. */
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

/** The data, split and task of an experiment file for `spillway run`. */
export function experimentDataOf({
  name,
  choices,
  columns,
  rows,
  used,
  drive,
}: OwnSeries): Readonly<Record<"data" | "split" | "transforms" | "task", unknown>> {
  const { header, decimal, thousands, missing, input, target, standardise, train } = choices;
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
      ...(thousands === undefined ? {} : { thousands }),
      missing,
    },
    split: { train },
    transforms: standardise ? ["standardise"] : [],
    task: taskOf(target === undefined, used - drive.trainingRows),
  };
}

/** Steps that a forecast is shown for. */
export const shownRows = 400;

/** What is shown of a series: its closed loop after the training rows, or predictions. */
export function taskOf(free: boolean, testRows: number): Readonly<Record<string, unknown>> {
  return free ? { type: "forecast", horizon: Math.max(1, Math.min(shownRows, testRows)), starts: 1, lags: 0 } : { type: "predict" };
}
