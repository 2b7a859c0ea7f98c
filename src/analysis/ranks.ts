// Kernel rank and generalisation rank: how many input streams a reservoir tells apart, and how many
// it should not.
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, option, optional, type Resolved, resolve } from "@spillway/core/options.js";
import { Matrix, type Seed } from "@spillway/numerics";
import type { AnyReservoirComputer } from "../reservoir/index.js";
import { effectiveRank, numericalRank, singularValues } from "./singular-values.js";
import {
  type AnalysisOptions,
  type AnyReservoirSource,
  analysisTable,
  count,
  inputTable,
  positive,
  uniformInputs,
  withAnyReservoir,
} from "./source.js";

/** Steps that the streams of `generalisationRank` share, if nothing else is asked for. */
export const sharedSteps = 3;

export const rankTable = {
  ...analysisTable,
  /** Inputs are uniform in [-amplitude, amplitude). Default 0.8. */
  amplitude: inputTable.amplitude,
  /** M, the number of input streams. Default N. */
  streams: optional(count, "M, the number of input streams; left out, N."),
  /** Steps of each stream. Default 100; it should be well beyond the reservoir's memory. */
  length: optional(count, "Steps of each stream; left out, 100, and no fewer than are shared."),
  /**
   * Singular values up to this share of the largest count as zero. Default max(N, M) times 2^-23
   * (float32) or 2^-52 (float64).
   */
  tolerance: optional(positive, "Singular values up to this share of the largest count as zero; left out, what the precision can tell."),
};

/** The input streams, and which singular values count. */
export interface RankOptions extends AnalysisOptions, InputOf<typeof rankTable> {}

export const generalisationRankTable = {
  ...rankTable,
  /** Steps at the end of each stream that are the same in all of them. Default 3. */
  shared: option(count, sharedSteps, "Steps at the end of each stream that are the same in all of them."),
};

/** The same, with an end that all streams share. */
export interface GeneralisationRankOptions extends RankOptions, InputOf<typeof generalisationRankTable> {}

/** A rank, and the singular values it was counted from. */
export interface RankResult {
  readonly rank: number;
  /** The same without a threshold: {@link effectiveRank} of the singular values. */
  readonly effectiveRank: number;
  /** min(N, M) singular values of the N x M matrix of final states, falling. */
  readonly singularValues: Float64Array;
  /** The share of the largest up to which they counted as zero. */
  readonly tolerance: number;
}

/**
 * Kernel rank (kernel quality): the rank of the N x M matrix whose columns are the states after M
 * independent random input streams, each run from the initial state. Higher is better: N streams
 * with rank N can be given any N target values by a linear readout.
 *
 * The rank is numerical: singular values above `tolerance` times the largest. By default the
 * tolerance is what the states' precision can tell, so float32 counts fewer directions: 98 for 100
 * tanh units at spectral radius 0.95 and inputScaling 0.1 where float64 counts 100. Compare
 * reservoirs in one precision, or give a tolerance of your own, below which no noise matters.
 *
 * Source: R. Legenstein and W. Maass 2007, "Edge of chaos and prediction of computational
 * performance for neural circuit models", Neural Networks 20.
 * @throws ArgumentError for options
 */
export async function kernelRank(source: AnyReservoirSource, options: RankOptions = {}): Promise<RankResult> {
  return rankOfStates(source, resolve(rankTable, options), 0);
}

/**
 * Generalisation rank: the same rank for M streams that differ at first and share their last
 * `shared` steps. Lower is better: what the reservoir still tells apart then is the old difference,
 * which is noise to a task about the recent past. Kernel rank less generalisation rank predicts
 * performance. In float32 the old difference sinks into rounding sooner (94 where float64 counts
 * 100, as above).
 *
 * Source: R. Legenstein and W. Maass 2007, as for `kernelRank`; for analog reservoirs L. Buesing,
 * B. Schrauwen and R. Legenstein 2010, "Connectivity, dynamics, and memory in reservoir computing
 * with binary and analog neurons", Neural Computation 22.
 * @throws ArgumentError for options
 */
export async function generalisationRank(source: AnyReservoirSource, options: GeneralisationRankOptions = {}): Promise<RankResult> {
  const asked = resolve(generalisationRankTable, options);
  return rankOfStates(source, asked, asked.shared);
}

async function rankOfStates(source: AnyReservoirSource, asked: Resolved<typeof rankTable>, shared: number): Promise<RankResult> {
  return withAnyReservoir(source, asked.engine, async (computer) => {
    const { size, precision } = computer.model;
    const { streams = size, length = Math.max(100, shared) } = asked;
    const { tolerance = Math.max(size, streams) * (precision === "float32" ? 2 ** -23 : 2 ** -52) } = asked;
    if (length < shared) throw new ArgumentError("length", length, `a whole number of at least ${shared}`);
    const states = await finalStates(computer, streams, length, shared, asked);
    const values = singularValues(states);
    return { rank: numericalRank(values, tolerance), effectiveRank: effectiveRank(values), singularValues: values, tolerance };
  });
}

/** M x N: a row of final state a stream. A matrix and its transpose have the same rank. */
async function finalStates(
  computer: AnyReservoirComputer,
  streams: number,
  length: number,
  shared: number,
  { amplitude, seed, signal }: Resolved<typeof rankTable>,
): Promise<Matrix> {
  const { size, inputSize } = computer.model;
  const sequences = rankStreams({ streams, length, shared, inputSize, amplitude, seed });
  const states = Matrix.zeros(streams, size);
  const last = await computer.batch(sequences, { keep: "last", signal });
  last.forEach((state, m) => {
    states.row(m).set(state.data);
  });
  return states;
}

/** What drives the reservoir: M series whose last `shared` rows are the same. */
export function rankStreams(of: {
  readonly streams: number;
  readonly length: number;
  readonly shared: number;
  readonly inputSize: number;
  readonly amplitude: number;
  readonly seed: Seed;
}): Matrix<Float64Array>[] {
  const { streams, length, shared, inputSize, amplitude, seed } = of;
  const ending = uniformInputs(seed, "sharedInputs", 0, shared, inputSize, amplitude);
  return Array.from({ length: streams }, (_, m) => {
    const inputs = uniformInputs(seed, "inputs", m, length, inputSize, amplitude);
    inputs.data.set(ending.data, (length - shared) * inputSize);
    return inputs;
  });
}
