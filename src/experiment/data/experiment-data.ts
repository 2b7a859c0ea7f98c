// What the data of an experiment are once they are loaded. How they are loaded is in data.ts.

import type { Matrix } from "@spillway/numerics";
import type { TableNames } from "../../model/index.js";
import type { TimeAxis } from "../../series/index.js";
import type { SpikePattern } from "../../spikes/index.js";
import type { KnownAnomaly } from "./labels.js";
import type { SeriesPart } from "./table.js";

/** One series, T x D, to be predicted from its own past, or several by `more`. */
export interface SeriesData extends SeriesPart {
  readonly kind: "series";
  /** Series after the first, if the table holds several or is split at its gaps. */
  readonly more?: readonly SeriesPart[] | undefined;
  /** The test part, if it has a file of its own. */
  readonly test?: Matrix<Float64Array> | undefined;
  readonly testKnown?: Matrix<Float64Array> | undefined;
  readonly testFilled?: Matrix<Float64Array> | undefined;
  /** The time stamps of the test file. */
  readonly testAxis?: TimeAxis | undefined;
  readonly names: readonly string[];
  /** What a model file keeps of a table's columns. */
  readonly kept?: TableNames | undefined;
  /** Step, span and gaps of the time stamps, in words. */
  readonly timesSaid?: string | undefined;
  /** How many values were missing and what became of them, in words; undefined if none was. */
  readonly missingSaid?: string | undefined;
  readonly summary: string;
  readonly dt?: number | undefined;
  readonly lyapunovExponent?: number | undefined;
  /** For anomalies: those that are known, if a file names them. */
  readonly labels?: readonly KnownAnomaly[] | undefined;
}

/** Inputs T x I and targets T x O. */
export interface DrivenRows {
  readonly inputs: Matrix<Float64Array>;
  readonly targets: Matrix<Float64Array>;
  /** 1 where a value was missing and was filled, else 0; undefined if none was. */
  readonly filled?: { readonly inputs: Matrix<Float64Array>; readonly targets: Matrix<Float64Array> } | undefined;
}

/** Inputs that drive a reservoir, and what is to be predicted from them. */
export interface DrivenData extends DrivenRows {
  readonly kind: "driven";
  readonly inputNames: readonly string[];
  /** The time stamps of the rows. */
  readonly axis?: TimeAxis | undefined;
  readonly test?: DrivenRows | undefined;
  readonly names: readonly string[];
  /** How many values were missing and what became of them, in words; undefined if none was. */
  readonly missingSaid?: string | undefined;
  /** Step, span and gaps of the time stamps, in words. */
  readonly timesSaid?: string | undefined;
  readonly summary: string;
}

/** Labelled sequences or spike patterns. */
export interface Cases {
  readonly sequences: readonly (Matrix<Float64Array> | SpikePattern)[];
  readonly labels: readonly string[];
}

/** Labelled sequences of an experiment, and their classes. */
export interface CaseData {
  readonly kind: "cases";
  readonly train: Cases;
  /** Undefined if `split` takes the test cases from the one file. */
  readonly test?: Cases | undefined;
  readonly classes: readonly string[];
  /** Of spike patterns: the width of a bin. */
  readonly binMs?: number | undefined;
  /** Of sounds. */
  readonly sampleRate?: number | undefined;
  readonly summary: string;
}

/** What the data of an experiment may be. */
export type ExperimentData = SeriesData | DrivenData | CaseData;
