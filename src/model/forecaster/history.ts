// The last rows of a series that a model keeps in the units of the data: what differences, lags and
// known inputs of the rows that follow take.
import { ArgumentError } from "@spillway/core/errors.js";
import { Matrix } from "@spillway/numerics";
import { restoredForecast, restoredPredictions, transformed } from "../../series/transforms.js";
import { checkColumns, lastRows } from "./data.js";
import { checkKnown, inputsBefore, pendingRow } from "./known.js";
import type { Preprocessing } from "./preprocessing.js";

export class SeriesHistory {
  /** Oldest first, at most `rows`. */
  recent: Matrix;
  readonly #preprocessing: Pick<Preprocessing, "transforms" | "known">;
  readonly #rows: number;

  /** @param rows that are kept beside those that transforms take */
  constructor(preprocessing: Pick<Preprocessing, "transforms" | "known">, rows: number, recent: Matrix) {
    this.#preprocessing = preprocessing;
    this.#rows = rows + preprocessing.transforms.lost;
    this.recent = recent;
  }

  reset(): void {
    this.recent = Matrix.zeros(0, this.recent.cols);
  }

  /** Keeps the last of rows that follow. */
  remember(series: Matrix): void {
    this.recent = lastRows(this.#rows, this.recent, series);
  }

  /** Replaces the rows. @throws ArgumentError if they are too few, or none are kept */
  recall(history: Matrix): void {
    if (this.#rows === 0)
      throw ArgumentError.because(
        "history was given; this forecaster has no transforms, lags, known inputs or model that take the last rows",
        { field: "history" },
      );
    checkColumns(history, "history", this.recent.cols);
    if (history.rows < this.#rows)
      throw ArgumentError.shape(`history has ${history.rows} rows; this forecaster takes at least ${this.#rows}`, { field: "history" });
    this.recent = lastRows(this.#rows, history);
  }

  get isTransformed(): boolean {
    return this.#preprocessing.transforms.steps.length > 0;
  }

  /** The rows, with transforms done. */
  get transformed(): Matrix {
    const { transforms } = this.#preprocessing;
    if (!this.isTransformed) return this.recent;
    return this.recent.rows > transforms.lost ? transformed(this.recent, transforms) : Matrix.zeros(0, this.recent.cols);
  }

  /** The last row, which waits for what is known of the next. */
  get pending(): Matrix<Float64Array> {
    return pendingRow(this.transformed);
  }

  /** @throws ArgumentError if differences take more rows than are kept */
  check(): void {
    this.#before(Matrix.zeros(0, this.recent.cols));
  }

  /** Rows that follow, with transforms done. */
  transform(rows: Matrix): Matrix {
    return this.isTransformed ? transformed(this.#before(rows), this.#preprocessing.transforms) : rows;
  }

  /** The inputs of one-step predictions of rows that follow. */
  inputs(rows: Matrix, known: Matrix | undefined): Matrix {
    checkKnown(known, this.#preprocessing.known, "known");
    const driving = this.transform(rows);
    return known ? inputsBefore(driving, known, this.transformed) : driving;
  }

  /** The outputs of a closed loop in the units of the data. */
  restoreForecast(outputs: Matrix<Float64Array>): Matrix<Float64Array> {
    return this.isTransformed ? restoredForecast(outputs, this.recent, this.#preprocessing.transforms) : outputs;
  }

  /** One-step predictions of rows that follow, or `ahead` rows later, in the units of the data. */
  restorePredictions(made: Matrix<Float64Array>, rows: Matrix, ahead: number): Matrix<Float64Array> {
    return this.isTransformed ? restoredPredictions(made, this.#before(rows), ahead, this.#preprocessing.transforms) : made;
  }

  #before(rows: Matrix): Matrix {
    const { lost } = this.#preprocessing.transforms;
    if (this.recent.rows < lost)
      throw ArgumentError.shape(`${this.recent.rows} rows were seen; differences of ${lost} rows in all take at least ${lost}, in warmup`, {
        field: "warmup",
      });
    return lastRows(rows.rows + lost, this.recent, rows);
  }
}
