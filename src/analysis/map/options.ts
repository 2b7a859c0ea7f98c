// The options of maps of quality, and what a map is.
import { choice, given, type InputOf, type Kind, list, number, object, option, text } from "@spillway/core/options.js";
import type { Matrix } from "@spillway/numerics";
import type { ReservoirOptions } from "../../reservoir/index.js";
import { type WorkOptions, workTable } from "../../reservoir/work.js";
import { estimatorOption } from "../information/dynamics-estimator.js";
import { type AnalysisOptions, analysisTable, inputTable } from "../source.js";

/** A number that a map has at each of its points. */
export const mapMeasures = [
  "lyapunovExponent",
  "memoryCapacity",
  "kernelRank",
  "generalisationRank",
  "rankDifference",
  "informationCapacity",
  "echoStateIndex",
  "storage",
  "transfer",
] as const;

/** The name of a measure of a map. */
export type MapMeasure = (typeof mapMeasures)[number];

/** What is measured if nothing else is asked for. */
export const usualMeasures = [
  "lyapunovExponent",
  "memoryCapacity",
  "kernelRank",
  "generalisationRank",
] as const satisfies readonly MapMeasure[];

/** `count` values from `from` to `to`, evenly, or evenly on a scale of logarithms. */
export function axisValues(from: number, to: number, count: number, scale: "linear" | "log" = "linear"): number[] {
  const share = (k: number) => (count === 1 ? 0 : k / (count - 1));
  const value = (k: number) => (scale === "log" ? from * (to / from) ** share(k) : from + (to - from) * share(k));
  return Array.from({ length: count }, (_, k) => Number(value(k).toPrecision(6)));
}

/** Across and upwards, `side` values each. */
export function usualAxes(side: number): { readonly x: MapAxis; readonly y: MapAxis } {
  return {
    x: { parameter: "spectralRadius", values: axisValues(0.1, 2.5, side) },
    y: { parameter: "inputScaling", values: axisValues(0.01, 3, side, "log") },
  };
}

const axisTable = {
  /** A field of the description, such as spectralRadius, inputScaling or leakRate. */
  parameter: given(text("the name of a field"), "A number of the reservoir's description."),
  values: given(list(number(), "a list of numbers", 1), "Its values."),
};
const axisKind: Kind<MapAxis> = object(axisTable);

/** An axis of a map: a number of the reservoir's description, and its values. */
export interface MapAxis extends InputOf<typeof axisTable> {}

export const ensembleMeasureTable = {
  ...analysisTable,
  ...inputTable,
  /** Default exponent, memory capacity and both ranks. */
  measures: option(list(choice(...mapMeasures), "a list of measures", 1), usualMeasures, "What is measured of each reservoir."),
  /** Of storage and transfer, as `informationDynamics` has it. Default "gaussian". */
  estimator: estimatorOption,
  onProgress: workTable.onProgress,
};

/** Which measures of the reservoirs, and under which input. */
export interface EnsembleMeasureOptions
  extends AnalysisOptions,
    Pick<WorkOptions, "onProgress">,
    InputOf<typeof inputTable>,
    InputOf<typeof ensembleMeasureTable> {}

export const qualityMapTable = {
  ...ensembleMeasureTable,
  /** Across. Default the spectral radius, 16 values from 0.1 to 2.5. */
  x: option(axisKind, usualAxes(16).x, "Across: a number of the reservoir's description and its values."),
  /**
   * Upwards. Default the input scaling, 16 values from 0.01 to 3, evenly on a scale of logarithms.
   */
  y: option(axisKind, usualAxes(16).y, "Upwards: the same."),
};

/** The axes and measures of a map. */
export interface QualityMapOptions extends EnsembleMeasureOptions, InputOf<typeof qualityMapTable> {}

/** Measures of a reservoir over two numbers of its description. */
export interface QualityMap {
  readonly reservoir: ReservoirOptions;
  readonly x: MapAxis;
  readonly y: MapAxis;
  /**
   * One matrix a measure: row i, column j at y.values[i], x.values[j]. NaN if a state left the
   * finite numbers, or the point was not measured yet.
   */
  readonly values: Readonly<Partial<Record<MapMeasure, Matrix<Float64Array>>>>;
  /** The engine, and why it was chosen. */
  readonly engine: { readonly name: string; readonly reason: string };
  /** Whether the work was stopped before the last point. */
  readonly interrupted: boolean;
}
