// A model of the user's beside the reservoir of a Forecaster: what it says of rows.
import { ArgumentError } from "@spillway/core/errors.js";
import { allocate, type FloatArray, firstNonFinite, Matrix, type Precision } from "@spillway/numerics";
import { restored, type Standardisation, standardised } from "../standardisation.js";
import { beside, type CheckedData } from "./data.js";

/**
 * A model of the next row: M(u(t)), near u(t + 1), for row u(t) of the series (D values, in the
 * units of the data); such as one step of an integrator whose parameters are not quite right. It
 * gives D values, depends on nothing else, and may keep neither the row nor what it gives.
 */
export type RowModel = (row: Float64Array) => ArrayLike<number>;

/** What an option for one takes. */
export const rowModelTakes = "a function of a row that gives the next";

/** Where a model of the user's goes: into the reservoir, into the readout, or both. */
export type HybridUse = "both" | "input" | "output";

/** A model of the user's, and where it goes. */
export interface Hybrid {
  readonly model: RowModel;
  readonly use: HybridUse;
}

/** How a model is used; undefined without one. @throws ArgumentError */
export function hybridUse(model: RowModel | undefined, use: HybridUse | undefined): HybridUse | undefined {
  if (model) return use ?? "both";
  if (use === undefined) return undefined;
  throw ArgumentError.because(`hybrid is "${use}" and model is missing; give the model that it is of`, { field: "model" });
}

/**
 * The model of a forecaster that is opened. @throws ArgumentError if it is missing, or there is
 * none
 */
export function hybridAgain(model: RowModel | undefined, use: HybridUse | undefined): Hybrid | undefined {
  if (model && use) return { model, use };
  if (use)
    throw ArgumentError.because(
      "model is missing; it forecasts with a model of yours, a function that no file holds; give it again: Forecaster.load(path, { model })",
      { field: "model" },
    );
  if (model) throw ArgumentError.because("model was given; this forecaster has none", { field: "model" });
  return undefined;
}

/** Whether M(u(t)) drives the reservoir. */
export const drives = (use: HybridUse | undefined): boolean => use === "both" || use === "input";

/** Whether the readout sees M(u(t)). */
export const feedsReadout = (use: HybridUse | undefined): boolean => use === "both" || use === "output";

/**
 * M of the first `columns` columns of each row; undefined without a model.
 * @throws ArgumentError if it gives another number of values, or one that is not finite
 */
export function modelledRows(hybrid: Hybrid | undefined, rows: Matrix, columns: number): Matrix<Float64Array> | undefined {
  if (!hybrid) return undefined;
  const out = Matrix.zeros(rows.rows, columns);
  for (let t = 0; t < rows.rows; t++) {
    const made = modelled(hybrid.model, Float64Array.from(rows.row(t).subarray(0, columns)));
    const bad = firstNonFinite(made);
    if (bad >= 0)
      throw ArgumentError.because(`model gave ${made[bad]} at column ${bad} of row ${t}; it takes finite numbers`, { field: "model" });
    out.data.set(made, t * columns);
  }
  return out;
}

function modelled(model: RowModel, row: Float64Array): ArrayLike<number> {
  const made: unknown = model(row);
  const { length } = row;
  const isList = typeof made === "object" && made !== null && "length" in made;
  if (isList && made.length === length) return made as ArrayLike<number>;
  const gave = isList ? `${made.length} number${made.length === 1 ? "" : "s"}` : String(made).slice(0, 60);
  throw ArgumentError.because(`model gave ${gave} for a row of ${length} columns; it takes ${length}, the next row`, { field: "model" });
}

/** @throws ArgumentError for data or settings that a model of the user's does not go with */
export function checkHybrid(data: readonly CheckedData[], isTransformed: boolean, feedback: boolean): void {
  const refuse = (what: string) => ArgumentError.because(`model is given ${what}`, { field: "model" });
  if (feedback) throw refuse("and the reservoir has feedback; it is of a series that is the input: leave feedback out");
  if (data.some(({ series }) => series === undefined))
    throw refuse("beside inputs and targets; it is of a series, with known inputs or without");
  if (isTransformed) throw refuse("and transforms are, too; it takes rows in the units of the data: transform the series before");
}

/** Rows of inputs, beside what the model says of them if that drives the reservoir. */
export function withModel(hybrid: Hybrid | undefined, inputs: Matrix, made: Matrix | undefined): Matrix {
  return made && drives(hybrid?.use) ? beside(inputs, made) : inputs;
}

/** The z-scores of the loop's outputs, of the model as an input, and as the readout sees it. */
export interface ModelScales {
  readonly output: Standardisation;
  readonly input: Standardisation;
  readonly feature: Standardisation;
}

/** The model in a closed loop: it follows the loop's own outputs. */
export class LoopModel {
  readonly #hybrid: Hybrid;
  readonly #scales: ModelScales;
  readonly #precision: Precision;
  /** What drives the reservoir next; empty if nothing of the model does. */
  driving: FloatArray = new Float64Array(0);
  /** What the readout sees beside the state; empty if it does not see the model. */
  feature: FloatArray = new Float64Array(0);

  constructor(hybrid: Hybrid, scales: ModelScales, precision: Precision) {
    this.#hybrid = hybrid;
    this.#scales = scales;
    this.#precision = precision;
  }

  /** Takes an output of the loop, in its z-scores. False if what the model says is not finite. */
  follow(output: FloatArray): boolean {
    return this.start(restored(this.#scales.output, new Matrix(1, output.length, output)).data);
  }

  /** Takes a row of the series. False if what the model says is not finite. */
  start(row: Float64Array): boolean {
    const { model, use } = this.#hybrid;
    const made = new Matrix(1, row.length, Float64Array.from(modelled(model, row)));
    if (drives(use)) this.driving = this.#rounded(standardised(this.#scales.input, made));
    if (feedsReadout(use)) this.feature = this.#rounded(standardised(this.#scales.feature, made));
    return firstNonFinite(this.driving) < 0 && firstNonFinite(this.feature) < 0;
  }

  #rounded({ data }: Matrix): FloatArray {
    const out = allocate(this.#precision, data.length);
    out.set(data);
    return out;
  }
}
