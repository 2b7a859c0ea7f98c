// The rows of a table for `spillway detect`, and all that keeps one from being read in one error.
import { ArgumentError, orError, SpillwayError } from "@spillway/core/errors.js";
import { quoted } from "@spillway/core/text.js";
import { type CsvOptions, type CsvTable, FormatError, isParquet, parseCsv, readCsv, readParquet } from "@spillway/io";
import { collectProblems } from "../../experiment/data/table-problems.js";
import { formatStamp } from "../../series/time-form.js";
import { fittingForms } from "../../series/time-formats.js";
import { describeAxis, type RowName, type TimeColumn, timeAxis } from "../../series/time-grid.js";
import { readTimeColumn, type TimeOptions } from "../../series/time-stamps.js";
import { inFlags, withFlags } from "../in-flags.js";

/** A row of the data, with its stamp as it is written and as the detector takes it. */
export interface Row {
  readonly label?: string | undefined;
  readonly time?: string | undefined;
  /** Milliseconds since 1970, as the clock of its stamp shows them. */
  readonly wall?: number | undefined;
  readonly values: readonly (number | null)[];
}

export interface Source {
  readonly columns: readonly string[];
  /** Columns of a table that are left out, as they hold text. */
  readonly leftOut?: readonly string[];
  /** Step, span and gaps of its time stamps, if they have a step. */
  readonly times?: string | undefined;
  /** How many rows there are, of a file. */
  readonly count?: number;
  readonly rows: AsyncIterable<Row> | Iterable<Row>;
}

export interface Asked {
  readonly time: string | undefined;
  readonly csv: Pick<CsvOptions, "delimiter" | "decimal" | "thousands" | "missingMarkers">;
  readonly columns: readonly string[] | undefined;
  readonly times: TimeOptions;
}

/** A stamp with its zone, which the detector takes, and what its clock shows. */
export function stampOf({ wall, offsets }: TimeColumn, row: number): Pick<Row, "time" | "wall"> {
  return { time: formatStamp({ form: "YYYY-MM-DDThh:mm:ss.fff+hh:mm", wall: wall[row]!, offset: offsets?.[row] ?? 0 }), wall: wall[row]! };
}

/** Time stamps from their texts. @throws ArgumentError with the format that would read them */
function stampsOf(texts: readonly string[], times: TimeOptions, nameOf: RowName): TimeColumn {
  try {
    return readTimeColumn(texts, times, nameOf);
  } catch (error) {
    const forms = error instanceof ArgumentError && times.format === undefined && times.unit === undefined ? fittingForms(texts) : [];
    if (forms.length === 0) throw error;
    throw ArgumentError.because(`${(error as Error).message}; they fit --time-format ${forms.map((form) => quoted(form)).join(" or ")}`, {
      field: "time",
      settings: { format: forms[0] },
    });
  }
}

/** Step, span and gaps of stamps; undefined if they have no step. */
function timesSaid(stamps: TimeColumn): string | undefined {
  const said = orError(() => describeAxis(timeAxis(stamps)), ArgumentError);
  return said instanceof ArgumentError ? undefined : said;
}

/** What an error of a table may propose, and its flag. */
const solving = { decimal: "--decimal", thousands: "--thousands", missingMarkers: "--missing-markers", format: "--time-format" } as const;
type Solving = Pick<CsvOptions, "decimal" | "thousands" | "missingMarkers"> & Pick<TimeOptions, "format">;

/** The flags of options that an error names. */
const named = { ...solving, missingMarkers: "--missing-markers, with commas between,", columns: "--columns", text: "--time" };

/**
 * The rows of a file. @throws FileError, FormatError; one error of all that is wrong with the
 * table, with the flags that solve it
 */
export async function readTable(path: string, asked: Asked): Promise<Source> {
  return readOf(path, asked, (options, csv) => (isParquet(path) ? readParquet(path, options) : readCsv(path, { ...options, ...csv })));
}

/** The same of the text of a CSV file that errors call `source`. */
export function readText(text: string, source: string, asked: Asked): Promise<Source> {
  return readOf(source, asked, (options, csv) => parseCsv(text, { ...options, ...csv, source }));
}

type Read = (options: Pick<CsvOptions, "columns" | "text"> & { readonly missing: "nan" }, csv: Asked["csv"]) => Promise<CsvTable>;

async function readOf(path: string, asked: Asked, read: Read): Promise<Source> {
  try {
    return await tableOf(path, asked, read);
  } catch (error) {
    if (!(error instanceof SpillwayError)) throw error;
    const { reasons, settings, isSolved } = await collectProblems<Solving>(
      { error, path },
      (given) => Object.fromEntries(Object.entries(given).filter(([name]) => name in solving)),
      ({ format, ...csv }) =>
        tableOf(
          path,
          { ...asked, csv: { ...asked.csv, ...csv }, times: { ...asked.times, ...(format !== undefined && { format }) } },
          read,
        ),
    );
    const flags = Object.entries(settings).map(([name, value]) => `${solving[name as keyof Solving]} ${quoted(String(value))}`);
    if (reasons.length < 2 || flags.length === 0) throw inFlags(error, named);
    const list = reasons.map((reason, k) => `(${k + 1}) ${withFlags(reason, named)}`).join(". ");
    throw new FormatError("CSV", path, `${list}. ${isSolved ? "Give" : "Some of it is solved by"} ${flags.join(" ")}`, undefined, error);
  }
}

/** The rows of a table. @throws FileError, FormatError */
async function tableOf(path: string, { columns, time, csv, times }: Asked, read: Read): Promise<Source> {
  const text = time === undefined ? [] : [time];
  const without = async (leftOut: readonly string[]) => ({
    ...(await read({ columns, text: [...text, ...leftOut], missing: "nan" }, csv)),
    leftOut,
  });
  const { leftOut, ...table } = await without([]).catch((error: unknown) => {
    if (!(error instanceof FormatError)) throw error;
    const { text: texts, ...others } = error.settings ?? {};
    // Columns that are not asked for by name, and hold text.
    if (columns === undefined && Array.isArray(texts) && Object.keys(others).length === 0) return without(texts as readonly string[]);
    throw error;
  });
  const labels = time === undefined ? undefined : table.text[time]!;
  const stamps = labels && stampsOf(labels, times, (row) => `${path}: row ${table.lines[row]}, column ${quoted(time!)}`);
  return {
    columns: table.columns,
    count: table.matrix.rows,
    times: stamps && timesSaid(stamps),
    ...(leftOut.length > 0 && { leftOut }),
    rows: labels
      ? labels.map((label, t) => ({ label, ...stampOf(stamps!, t), values: [...table.matrix.row(t)] }))
      : Array.from({ length: table.matrix.rows }, (_, t) => ({ values: [...table.matrix.row(t)] })),
  };
}
