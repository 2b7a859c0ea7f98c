// Matrices of the user, checked.
import { ArgumentError } from "@spillway/core/errors.js";
import { warnOnce } from "@spillway/core/warning.js";
import {
  asMatrix,
  checkSparse,
  firstNonFinite,
  inPrecision,
  isSparse,
  type Matrix,
  type MatrixLike,
  type SparseMatrix,
  toDense,
} from "@spillway/numerics";
import type { ReservoirConfig } from "./config.js";
import type { OwnMatrices } from "./options.js";

export function ownMatrix(name: string, source: MatrixLike | SparseMatrix, rows: number, cols: number, config: ReservoirConfig): Matrix {
  const matrix = checkedOwn(name, source, rows, cols);
  return inPrecision(isSparse(matrix) ? toDense(matrix) : matrix, config.precision);
}

export function checkedOwn(name: string, source: MatrixLike | SparseMatrix, rows: number, cols: number): Matrix | SparseMatrix {
  const matrix = isCsr(source) ? source : asMatrix(source, name);
  if (matrix.rows !== rows || matrix.cols !== cols) {
    throw new ArgumentError(`matrices.${name}`, `${matrix.rows} x ${matrix.cols}`, `a ${rows} x ${cols} matrix`);
  }
  if (isSparse(matrix)) checkSparse(matrix, `matrices.${name}`);
  const values = isSparse(matrix) ? matrix.values : matrix.data;
  const bad = firstNonFinite(values);
  if (bad >= 0)
    throw new ArgumentError(
      `matrices.${name}[${isSparse(matrix) ? `value ${bad}` : `${Math.floor(bad / cols)}, ${bad % cols}`}]`,
      values[bad],
      "finite numbers",
    );
  return matrix;
}

export function columnsOf(source: MatrixLike | SparseMatrix, outputSize: number): number {
  return outputSize || (isCsr(source) ? source.cols : asMatrix(source, "feedbackWeights").cols);
}

function isCsr(source: MatrixLike | SparseMatrix): source is SparseMatrix {
  return typeof source === "object" && "rowOffsets" in source;
}

/** Says that own weights keep their spectral radius, if another is described. */
export function warnOfOwnRadius(config: object, matrices: OwnMatrices | undefined): void {
  if (!matrices || !("weights" in matrices) || matrices.weights === undefined || matrices.rescale !== undefined) return;
  const { spectralRadius } = config as Partial<ReservoirConfig>;
  if (spectralRadius === undefined || spectralRadius === null) return;
  warnOnce(
    "SpillwayRadiusWarning",
    `spectralRadius is ${spectralRadius} and matrices.weights is used as it is: its own spectral radius holds. ` +
      "matrices.rescale: true scales it to the description's, false says that this is meant",
  );
}
