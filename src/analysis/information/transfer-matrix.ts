// Transfer entropies between all columns of a series, by any of the estimators of a pair.
import { choice, option, optional, resolve, type TableOf, whole } from "@spillway/core/options.js";
import { asMatrix, Matrix, type MatrixLike } from "@spillway/numerics";
import { type TransferEntropy, type TransferEntropyOptions, transferEntropy, transferEntropyTable } from "./binned.js";
import { type GaussianInformation, type GaussianTransferOptions, gaussianTransferEntropy } from "./gaussian.js";
import {
  type NearestNeighbourInformation,
  type NearestNeighbourTransferOptions,
  nearestNeighbourTransferEntropy,
  transferTable,
} from "./nearest-neighbours.js";

/** A transfer entropy by any estimator. */
export type AnyTransferEntropy = TransferEntropy | GaussianInformation | NearestNeighbourInformation;

/** Element [i][j] is that from column i to column j, undefined for i = j. */
export type TransferMatrix<Found extends AnyTransferEntropy = AnyTransferEntropy> = (Found | undefined)[][];

/** What is known beside a pair of columns. */
export interface GivenOthers {
  /**
   * "others": the values of one step ago of all other columns are known already, so an influence
   * through one of them is none. Left out, pairs alone.
   */
  readonly given?: "others" | undefined;
}

/** How pairs are estimated. */
interface MatrixOptions extends Omit<GaussianTransferOptions, "given">, GivenOthers {
  readonly estimator?: "binned" | "gaussian" | "nearestNeighbours" | undefined;
}

/** The options of `transferEntropyMatrix`: those of each estimator's function go with it. */
export const transferMatrixTable = {
  estimator: option(choice("binned", "gaussian", "nearestNeighbours"), "binned", "Whose options the others are."),
  ...transferTable,
  ...transferEntropyTable,
  given: optional(choice("others"), "Whether the other columns' values of one step ago are known already; not binned."),
  surrogates: optional(
    whole({ atLeast: 0, atMost: 1_000_000 }),
    "Surrogates of each pair, 0 for none; left out, as many as informationFlow needs.",
  ),
} satisfies TableOf<MatrixOptions & TransferEntropyOptions & Omit<NearestNeighbourTransferOptions, "given">>;

/**
 * Transfer entropies between all columns of a T x C series, by the `estimator` of {@link
 * transferEntropy} (default), {@link gaussianTransferEntropy} or {@link
 * nearestNeighbourTransferEntropy}, whose options the others are: element [i][j] is TE(i -> j),
 * undefined for i = j. Pairs alone show an influence through a third column, and a common cause, as
 * transfer; with `given: "others"` they do not. By default as many surrogates are drawn as {@link
 * informationFlow} needs for that many directions: 40 C (C - 1), at least 100; the Gaussian
 * estimator needs none.
 * @throws ArgumentError as the estimator does
 */
export function transferEntropyMatrix(
  series: MatrixLike,
  options: Omit<GaussianTransferOptions, "given"> & GivenOthers & { readonly estimator: "gaussian" },
): TransferMatrix<GaussianInformation>;
export function transferEntropyMatrix(
  series: MatrixLike,
  options: Omit<NearestNeighbourTransferOptions, "given"> & GivenOthers & { readonly estimator: "nearestNeighbours" },
): TransferMatrix<NearestNeighbourInformation>;
export function transferEntropyMatrix(
  series: MatrixLike,
  options?: TransferEntropyOptions & { readonly estimator?: "binned" | undefined },
): TransferMatrix<TransferEntropy>;
export function transferEntropyMatrix(series: MatrixLike, options: MatrixOptions = {}): TransferMatrix {
  const { estimator, given: others, surrogates: asked } = resolve(transferMatrixTable, options);
  const matrix = asMatrix(series, "series");
  const columns = Array.from({ length: matrix.cols }, (_, c) => Float64Array.from(matrix.column(c)));
  const { estimator: _, given: _given, ...rest } = options;
  const surrogates = asked ?? Math.max(100, 40 * columns.length * (columns.length - 1));
  const pair = (i: number, j: number): AnyTransferEntropy => {
    const [source, target] = [columns[i]!, columns[j]!];
    if (estimator === "binned") return transferEntropy(source, target, { ...rest, ...(others && { given: others }), surrogates });
    const known = columns.filter((_column, c) => others !== undefined && c !== i && c !== j);
    const given = known.length > 0 ? sideBySide(known) : undefined;
    return estimator === "gaussian"
      ? gaussianTransferEntropy(source, target, { ...rest, given })
      : nearestNeighbourTransferEntropy(source, target, { ...rest, given, surrogates });
  };
  return columns.map((_column, i) => columns.map((_other, j) => (i === j ? undefined : pair(i, j))));
}

function sideBySide(columns: readonly Float64Array[]): Matrix {
  const out = Matrix.zeros(columns[0]!.length, columns.length);
  columns.forEach((column, c) => {
    for (let t = 0; t < column.length; t++) out.data[t * columns.length + c] = column[t]!;
  });
  return out;
}
