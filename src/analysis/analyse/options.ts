// The measures that `analyse` knows, its options, and what it gives.
import { callback, choice, type InputOf, list, option, optional } from "@spillway/core/options.js";
import { seriesOf } from "../../reservoir/options.js";
import type { InformationCapacity } from "../capacity/options.js";
import type { EchoStateIndex } from "../echo-state-index.js";
import type { InformationDynamics } from "../information/index.js";
import type { MemoryCapacity } from "../memory-capacity.js";
import type { RankResult } from "../ranks.js";
import { type AnalysisOptions, analysisTable, inputTable } from "../source.js";

/** What each measure gives, by its name. */
export interface MeasureResults {
  readonly informationCapacity: InformationCapacity;
  readonly memoryCapacity: MemoryCapacity;
  readonly kernelRank: RankResult;
  readonly generalisationRank: RankResult;
  readonly lyapunovExponent: number;
  readonly echoStateIndex: EchoStateIndex;
  readonly informationDynamics: InformationDynamics;
}

/** The name of a measure. */
export type MeasureName = keyof MeasureResults;

/** All measures, in the order in which they are taken. */
export const measureNames = [
  "lyapunovExponent",
  "echoStateIndex",
  "memoryCapacity",
  "informationCapacity",
  "kernelRank",
  "generalisationRank",
  "informationDynamics",
] as const satisfies readonly MeasureName[];

export const analyseTable = {
  ...analysisTable,
  ...inputTable,
  /** Default all. */
  measures: option(list(choice(...measureNames), "a list of measures", 1), measureNames, "Which measures are taken."),
  /**
   * Drives the reservoir for the exponent, the echo state index and the information dynamics in
   * place of random input, T x I; the first fifth, at most 500 rows, is washout. Capacities and
   * ranks are defined by random input.
   */
  inputs: optional(seriesOf("T x I"), "Drives the exponent, the echo state index and the information dynamics in place of random input."),
  /** Called with measures done, measures in all, and the one that comes next. */
  onProgress: optional(
    callback<(done: number, total: number, measure: string) => void>(),
    "Called with measures done, measures in all, and the one that comes next.",
  ),
};

/** Which measures, and under which input. */
export interface AnalyseOptions extends AnalysisOptions, InputOf<typeof inputTable>, InputOf<typeof analyseTable> {}

/** The measures of a reservoir. */
export interface ReservoirAnalysis {
  /** By the measure's name. */
  readonly measures: Partial<MeasureResults>;
  /** Measures that this reservoir does not have, and why. */
  readonly leftOut: readonly { readonly measure: MeasureName; readonly reason: string }[];
  /** What each measure took. */
  readonly seconds: Readonly<Partial<Record<MeasureName, number>>>;
}
