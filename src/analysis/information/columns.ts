// Series as columns: checked, standardised, and taken some steps ago.
import { ArgumentError } from "@spillway/core/errors.js";
import { option, type Resolved } from "@spillway/core/options.js";
import { asMatrix, firstNonFinite, type MatrixLike } from "@spillway/numerics";
import { count } from "../source.js";

/** Columns of n numbers. */
export type Columns = readonly Float64Array[];

/** Columns from row `first` on: each `lag` steps ago, then one step more, and so on. */
export function delayedColumns(columns: Columns, first: number, lag: number, history: number): Columns {
  return Array.from({ length: history }, (_, h) =>
    columns.map((column) => column.subarray(first - lag - h, column.length - lag - h)),
  ).flat();
}

export const pastTable = {
  /** Steps from the source's newest value to the target's present one; default 1. */
  lag: option(count, 1, "Steps from the source's newest value to the target's present one."),
  /**
   * Past values of the target that are known already; default 1. A target that remembers more is
   * better asked with more.
   */
  targetHistory: option(count, 1, "Past values of the target that are known already."),
  /** Past values of the source, from `lag` steps ago on; default 1. */
  sourceHistory: option(count, 1, "Past values of the source, from lag steps ago on."),
};

/** The first row of a target before which both pasts are known. */
export const firstRow = ({ lag, targetHistory, sourceHistory }: Resolved<typeof pastTable>): number =>
  Math.max(targetHistory, lag + sourceHistory - 1);

/**
 * The columns of each series, standardised if asked; none if `given` is left out.
 * @throws ArgumentError on different lengths, fewer than `least` rows, or a value that is not
 * finite
 */
export function checkedColumns(
  series: Readonly<Record<string, MatrixLike | undefined>>,
  { least, standardise }: { readonly least: number; readonly standardise: boolean },
): [Columns, Columns, Columns] {
  const [firstName] = Object.keys(series);
  let rows = 0;
  return Object.entries(series).map(([name, values], i) => {
    if (values === undefined && name === "given") return [];
    const matrix = asMatrix(values as MatrixLike, name);
    if (i === 0) rows = matrix.rows;
    if (matrix.rows < least) throw new ArgumentError(`the length of ${name}`, matrix.rows, `at least ${least}`, { code: "shape" });
    if (matrix.cols === 0) throw new ArgumentError(name, "no columns", "at least one", { code: "shape" });
    const bad = firstNonFinite(matrix.data);
    if (bad >= 0) {
      const cell = matrix.cols === 1 ? `${bad}` : `${Math.floor(bad / matrix.cols)}, ${bad % matrix.cols}`;
      throw new ArgumentError(`${name}[${cell}]`, matrix.data[bad], "finite numbers");
    }
    if (matrix.rows !== rows) throw new ArgumentError(`the length of ${name}`, matrix.rows, `${rows}, as ${firstName}`, { code: "shape" });
    return Array.from({ length: matrix.cols }, (_, c) => {
      const column = Float64Array.from(matrix.column(c));
      return standardise ? standardised(column) : column;
    });
  }) as unknown as [Columns, Columns, Columns];
}

/** Less its mean and over its standard deviation (n - 1), sums in rising order; a constant is 0. */
function standardised(column: Float64Array): Float64Array {
  const mean = column.reduce((sum, value) => sum + value, 0) / column.length;
  const variance = column.reduce((sum, value) => sum + (value - mean) * (value - mean), 0) / (column.length - 1);
  const deviation = variance > 0 ? Math.sqrt(variance) : 1;
  return column.map((value) => (value - mean) / deviation);
}
