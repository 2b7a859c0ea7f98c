// How a population fires: rates, irregularity and correlations, as the benchmark of the cortical
// microcircuit measures them.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { seed as anySeed, type InputOf, option, resolve } from "@spillway/core/options.js";
import type { Seed } from "@spillway/numerics";
import { count, notNegative, positive } from "../options.js";
import type { SpikePattern } from "../pattern/pattern.js";
import { spikeStream } from "../streams.js";

export const populationStatisticsTable = {
  /** Spikes before this time are left out, ms; default 0. */
  fromMs: option(notNegative("ms"), 0, "Spikes before this time are left out."),
  /** Neurons whose counts are correlated, drawn from all; default 250. */
  neurons: option(count, 250, "Neurons whose counts are correlated."),
  /** Width of the bins that they are counted in, ms; default 2. */
  binMs: option(positive("ms"), 2, "Width of the bins."),
  /** What the neurons are drawn from; default 1. */
  seed: option(anySeed, 1, "What the neurons are drawn from."),
};

/** What of a pattern is measured. */
export interface PopulationStatisticsOptions extends InputOf<typeof populationStatisticsTable> {}

/** Measures of a population. */
export interface PopulationStatistics {
  /** Spikes a second and neuron. */
  readonly rate: number;
  /** Standard deviation of the neurons' rates (divisor N), Hz. */
  readonly rateDeviation: number;
  /** Share of neurons without a spike. */
  readonly silentShare: number;
  /**
   * Mean coefficient of variation of the intervals between spikes, over neurons with at least three
   * (deviation with divisor n, over the mean); undefined if there is none.
   */
  readonly intervalVariation: number | undefined;
  /**
   * Mean correlation of the counts of pairs of the drawn neurons, silent ones left out; undefined
   * with fewer than two.
   */
  readonly correlation: number | undefined;
}

/**
 * Measures a population's spikes. The measures depend on the window: compare like with like.
 * @throws ArgumentError
 */
export function populationStatistics(pattern: SpikePattern, options: PopulationStatisticsOptions = {}): PopulationStatistics {
  checkHas("pattern", pattern, "a SpikePattern", "times", "neurons");
  const { fromMs, neurons: most, binMs, seed } = resolve(populationStatisticsTable, options);
  const { times, neurons, durationMs, neuronCount } = pattern;
  const seconds = (durationMs - fromMs) / 1000;
  if (!(seconds > 0)) throw new ArgumentError("fromMs", fromMs, `less than the pattern's ${durationMs} ms`);
  const trains: number[][] = Array.from({ length: neuronCount }, () => []);
  times.forEach((time, s) => {
    if (time > fromMs) trains[neurons[s]!]!.push(time - fromMs);
  });
  const rates = trains.map((train) => train.length / seconds);
  const rate = meanOf(rates)!;
  const squares = meanOf(rates.map((each) => (each - rate) * (each - rate)))!;
  return {
    rate,
    rateDeviation: Math.sqrt(squares),
    silentShare: trains.filter((train) => train.length === 0).length / neuronCount,
    intervalVariation: meanOf(trains.filter((train) => train.length > 2).map(variation)),
    correlation: meanCorrelation(
      drawn(neuronCount, most, seed).map((neuron) => trains[neuron]!),
      binMs,
      Math.ceil((durationMs - fromMs) / binMs - 1e-9),
    ),
  };
}

function meanOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Standard deviation of the intervals over their mean. */
function variation(train: readonly number[]): number {
  const intervals = train.slice(1).map((time, k) => time - train[k]!);
  const mean = meanOf(intervals)!;
  return Math.sqrt(meanOf(intervals.map((each) => (each - mean) * (each - mean)))!) / mean;
}

/** So many neurons, each once. */
function drawn(size: number, most: number, seed: Seed): number[] {
  const all = Array.from({ length: size }, (_, k) => k);
  const stream = spikeStream("populationSample", seed);
  const wanted = Math.min(size, most);
  for (let k = 0; k < wanted; k++) {
    const other = k + stream.integer(0, k, size - k);
    [all[k], all[other]] = [all[other]!, all[k]!];
  }
  return all.slice(0, wanted);
}

/** Mean over all pairs of trains that have a spike. */
function meanCorrelation(trains: readonly (readonly number[])[], binMs: number, bins: number): number | undefined {
  const standardised = trains
    .filter((train) => train.length > 0)
    .map((train) => {
      const counts = new Float64Array(bins);
      // A spike's time is the end of its step: one on the edge of a bin ends the bin before.
      for (const time of train) counts[Math.min(bins - 1, Math.max(0, Math.ceil(time / binMs - 1e-9) - 1))]!++;
      const mean = train.length / bins;
      let squares = 0;
      for (const each of counts) squares += (each - mean) * (each - mean);
      const scale = squares > 0 ? 1 / Math.sqrt(squares) : 0;
      return counts.map((each) => (each - mean) * scale);
    });
  const n = standardised.length;
  if (n < 2) return undefined;
  // Of unit vectors, the sum over pairs is (|sum|^2 - n) / 2.
  const sum = new Float64Array(bins);
  for (const each of standardised) for (let b = 0; b < bins; b++) sum[b] = sum[b]! + each[b]!;
  let squared = 0;
  for (const each of sum) squared += each * each;
  return (squared - n) / (n * (n - 1));
}
