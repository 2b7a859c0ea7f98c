// What a user hands to `fit`, turned into checked sequences: matrices of equal length, washout cut
// off, every value finite.
import { ArgumentError } from "@spillway/core/errors.js";
import { anything, either, type InputOf, type Kind, list, option, optional, resolve, whole } from "@spillway/core/options.js";
import { asMatrix, describe, firstNonFinite, Matrix, type MatrixLike } from "@spillway/numerics";
import { isKnownFinite } from "@spillway/numerics/known-finite.js";

/** One series, or several that follow one another without touching. */
export type SeriesLike = MatrixLike | readonly MatrixLike[];

/** Rows that train: T x N states, T x I inputs, T x O targets. */
export interface TrainingSequence {
  readonly states: Matrix;
  readonly inputs: Matrix;
  readonly targets: Matrix;
}

/** N, I and O of the rows that a readout is trained on. */
export interface ReadoutShape {
  /** N. */
  readonly stateSize: number;
  /** I. */
  readonly inputSize: number;
  /** O. */
  readonly outputSize: number;
}

const washoutTakes = "a whole number of at least 0, or a list of one a sequence";
const fitTable = {
  /**
   * Rows at the start of each sequence that train nothing; one number, or one for each sequence.
   * Default 0.
   */
  washout: option(either(washoutTakes, whole(), list(whole(), washoutTakes)), 0, "Rows at the start of each sequence that train nothing."),
  /**
   * T x I, the inputs that go with the states; needed if the readout sees the input. Several
   * if there are several states.
   */
  inputs: optional(anything as Kind<SeriesLike>, "T x I, the inputs that go with the states."),
};

/** Which rows train, and the inputs that go with the states. */
export interface FitOptions extends InputOf<typeof fitTable> {}

/**
 * Checks and cuts training data. Several sequences are an array of matrices, or of arrays of rows.
 * @throws ArgumentError naming the series, the row and the column
 */
export function trainingSequences(states: SeriesLike, targets: SeriesLike, options: FitOptions, needsInput: boolean): TrainingSequence[] {
  const { washout, inputs } = resolve(fitTable, options, "fit");
  const several = isSeveral(states);
  const stateList = several ? states : [states as MatrixLike];
  if (stateList.length === 0) throw ArgumentError.shape("states is an empty list; it takes at least one sequence", { field: "states" });
  const targetList = listOf("targets", targets, several, stateList.length);
  const inputList = inputs === undefined ? undefined : listOf("inputs", inputs, several, stateList.length);
  if (needsInput && !inputList)
    throw ArgumentError.because("inputs is missing; a readout with input: true takes the inputs beside the states", { field: "inputs" });
  const washouts = washoutList(washout, stateList.length);
  const sequences = stateList.map((item, s) => {
    const where = several ? `sequence ${s}: ` : "";
    const full = asMatrix(item, `${where}states`);
    const washout = washouts[s]!;
    if (full.rows === 0) throw ArgumentError.shape(`${where}states holds no rows; it takes at least one`);
    if (washout >= full.rows) {
      throw ArgumentError.shape(`${where}washout is ${washout} and there are ${full.rows} rows; it takes fewer than there are`, {
        field: "washout",
        value: washout,
      });
    }
    const cut = (series: MatrixLike, name: string): Matrix => {
      const matrix = asMatrix(series, where + name);
      if (matrix.rows !== full.rows) {
        throw ArgumentError.shape(`${where}${name} has ${matrix.rows} rows and states has ${full.rows}; the two take the same number`);
      }
      const rows = matrix.subarray(washout);
      checkFinite(rows, where + name, washout);
      return rows;
    };
    return {
      states: cut(full, "states"),
      inputs: inputList ? cut(inputList[s]!, "inputs") : new Matrix(full.rows - washout, 0, new Float64Array(0)),
      targets: cut(targetList[s]!, "targets"),
    };
  });
  const shape = shapeOf(sequences[0]!);
  sequences.forEach((sequence, s) => {
    checkShape(shape, sequence, `sequence ${s}`);
  });
  return sequences;
}

/** N, I and O of a sequence. */
export function shapeOf(sequence: TrainingSequence): ReadoutShape {
  return { stateSize: sequence.states.cols, inputSize: sequence.inputs.cols, outputSize: sequence.targets.cols };
}

/** How many rows sequences have. */
export const rowsOf = (sequences: readonly TrainingSequence[]): number => sequences.reduce((sum, { states }) => sum + states.rows, 0);

/** @throws ArgumentError if a sequence has other columns than the ones before it */
export function checkShape(shape: ReadoutShape, sequence: TrainingSequence, name: string): void {
  const got = shapeOf(sequence);
  for (const [field, series] of [
    ["stateSize", "states"],
    ["inputSize", "inputs"],
    ["outputSize", "targets"],
  ] as const) {
    if (got[field] !== shape[field]) {
      throw ArgumentError.shape(`${name}: ${series} has ${got[field]} columns; it takes ${shape[field]}, as before`, { field: name });
    }
  }
}

/**
 * @throws ArgumentError naming the first value that is not finite by row (counted from `firstRow`)
 * and column
 */
export function checkFinite(matrix: Matrix, name: string, firstRow = 0): void {
  const index = isKnownFinite(matrix) ? -1 : firstNonFinite(matrix.data);
  if (index < 0) return;
  const row = Math.floor(index / matrix.cols);
  throw ArgumentError.because(
    `${name}: row ${firstRow + row}, column ${index % matrix.cols} is ${matrix.data[index]}; a readout trains on finite numbers only`,
    { field: name },
  );
}

function isSeveral(series: SeriesLike): series is readonly MatrixLike[] {
  if (!Array.isArray(series)) return false;
  const first = series[0] as unknown;
  return series.length === 0 || first instanceof Matrix || (Array.isArray(first) && typeof first[0] === "object");
}

function listOf(name: string, series: SeriesLike, several: boolean, count: number): readonly MatrixLike[] {
  if (!several) return [series as MatrixLike];
  if (!Array.isArray(series))
    throw ArgumentError.because(`${name} is ${describe(series)}; with a list of states it takes a list of ${count}`, { field: name });
  if (series.length !== count)
    throw ArgumentError.shape(`${name} holds ${series.length} sequences and states holds ${count}`, { field: name });
  return series as readonly MatrixLike[];
}

function washoutList(washout: number | readonly number[], count: number): readonly number[] {
  const list = typeof washout === "number" ? Array.from({ length: count }, () => washout) : washout;
  if (list.length !== count)
    throw ArgumentError.shape(`washout holds ${list.length} numbers; ${count} sequences take ${count}, or one for all`, {
      field: "washout",
    });
  return list;
}
