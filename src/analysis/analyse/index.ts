// All measures of one reservoir, one after the other. Each has its own file.
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import type { AnyReservoirComputer, ReservoirComputer } from "../../reservoir/index.js";
import { anySeries } from "../../reservoir/inputs.js";
import { informationCapacity } from "../capacity/index.js";
import { echoStateIndex } from "../echo-state-index.js";
import { informationDynamics } from "../information/index.js";
import { lyapunovExponent } from "../lyapunov-exponent.js";
import { memoryCapacity } from "../memory-capacity.js";
import { generalisationRank, kernelRank } from "../ranks.js";
import { type AnyReservoirSource, withAnyReservoir } from "../source.js";
import { type AnalyseOptions, analyseTable, type MeasureName, type MeasureResults, type ReservoirAnalysis } from "./options.js";

export { type MeasureName, measureNames, type ReservoirAnalysis } from "./options.js";

/** Most rows of a series before those that are measured. */
const mostWashout = 500;

/** Errors about these say that the measure is not about such a reservoir. */
const notAbout = ["inputSize", "activation", "source"];

type Measure<Name extends MeasureName> = (computer: AnyReservoirComputer, given: Given) => Promise<MeasureResults[Name]>;

/** What the measures take. */
interface Given {
  readonly common: { readonly seed: string | number; readonly signal: AbortSignal | undefined; readonly amplitude: number };
  /** The same, and what drives the reservoir. */
  readonly driven: Given["common"] & Partial<Record<"inputs" | "washout" | "length", never>>;
}

const measures: { readonly [Name in MeasureName]: Measure<Name> } = {
  informationCapacity: (computer, { common }) => informationCapacity(computer, common),
  memoryCapacity: (computer, { common }) => memoryCapacity(computer, common),
  kernelRank: (computer, { common }) => kernelRank(computer, { ...common, tolerance: rankTolerance }),
  generalisationRank: (computer, { common }) => generalisationRank(computer, { ...common, tolerance: rankTolerance }),
  lyapunovExponent: (computer, { driven }) => lyapunovExponent(computer, driven),
  echoStateIndex: (computer, { driven: { length, ...driven } }) => echoStateIndex(computer, driven),
  informationDynamics: (computer, { driven }) => informationDynamics(computer as ReservoirComputer, driven),
};

/**
 * The share of the largest singular value that tells ranks of reservoirs apart; the default of
 * precision counts nearly all.
 */
export const rankTolerance = 0.01;

/**
 * Takes several measures of a reservoir: capacities, ranks (singular values above .01 of the
 * largest), Lyapunov exponent, echo state index, information dynamics. A measure that is not about
 * such a reservoir (capacities of several inputs, an exponent of spikes) is left out, with the
 * reason.
 * @throws ArgumentError for options, and what a measure throws
 */
export async function analyse(source: AnyReservoirSource, options: AnalyseOptions = {}): Promise<ReservoirAnalysis> {
  const { measures: names, inputs, amplitude, seed, signal, engine, onProgress } = resolve(analyseTable, options);
  return withAnyReservoir(source, engine, async (computer) => {
    const common = { seed, signal, amplitude };
    const found: Partial<Record<MeasureName, unknown>> = {};
    const leftOut: { measure: MeasureName; reason: string }[] = [];
    const seconds: Partial<Record<MeasureName, number>> = {};
    const given = { common, driven: { ...common, ...drivenBy(inputs, computer) } as Given["driven"] };
    for (const [done, measure] of names.entries()) {
      onProgress?.(done, names.length, measure);
      const began = performance.now();
      try {
        found[measure] = await measures[measure](computer, given);
        seconds[measure] = (performance.now() - began) / 1000;
      } catch (error) {
        if (!(error instanceof ArgumentError && notAbout.includes(error.field))) throw error;
        leftOut.push({ measure, reason: error.message });
      }
    }
    onProgress?.(names.length, names.length, "");
    return { measures: found as Partial<MeasureResults>, leftOut, seconds };
  });
}

function drivenBy(inputs: AnalyseOptions["inputs"], computer: AnyReservoirComputer): object {
  if (inputs === undefined) return {};
  const { rows } = anySeries(inputs, "inputs", computer.model.precision);
  const washout = Math.min(mostWashout, Math.floor(rows / 5));
  return { inputs, washout, length: rows - washout };
}
