// The measures of a map: what each is made of, how one reservoir finds that by itself, and what an
// engine that takes many reservoirs at once is asked for it, with the same bits.
import { inPrecision } from "@spillway/numerics";
import type { ReservoirConfig } from "../../reservoir/config.js";
import { NonFiniteStateError } from "../../reservoir/engine/errors.js";
import type { Engine, MeasuresAsk, MeasuresAsked } from "../../reservoir/engine.js";
import { type EvaluatedMember, evaluate } from "../../reservoir/evaluate/evaluate.js";
import { ReservoirComputer, type ReservoirOptions } from "../../reservoir/index.js";
import { rankTolerance } from "../analyse/index.js";
import { capacityTask, informationCapacity } from "../capacity/index.js";
import { echoStateIndex } from "../echo-state-index.js";
import type { DynamicsEstimator } from "../information/dynamics-estimator.js";
import { informationDynamics } from "../information/index.js";
import { lyapunovExponent, startTangent } from "../lyapunov-exponent.js";
import { memoryCapacity, usualPenalty } from "../memory-capacity.js";
import { generalisationRank, kernelRank, rankStreams, sharedSteps } from "../ranks.js";
import { uniformInputs } from "../source.js";
import { type MapLengths, memoryLengths } from "./lengths.js";
import type { MapMeasure } from "./options.js";

/** What all points share. */
export interface PointSettings {
  readonly measures: readonly MapMeasure[];
  readonly engine: string | undefined;
  readonly seed: string | number;
  readonly amplitude: number;
  readonly estimator?: DynamicsEstimator | undefined;
  readonly signal: AbortSignal | undefined;
  readonly lengths: MapLengths;
}

/** What measures are made of. */
interface Findings {
  readonly exponent: number;
  readonly memory: number;
  readonly kernelRank: number;
  readonly generalisationRank: number;
  readonly echo: number;
  readonly dynamics: { readonly storage: number; readonly transfer: number };
  readonly capacity: number;
}
type Finding = keyof Findings & keyof MeasuresAsked;

/** The findings that each measure takes, and its number by them. */
const measuresBy: Readonly<
  Record<MapMeasure, { readonly takes: readonly Finding[]; readonly value: (found: Findings) => number | undefined }>
> = {
  lyapunovExponent: { takes: ["exponent"], value: ({ exponent }) => exponent },
  memoryCapacity: { takes: ["memory"], value: ({ memory }) => memory },
  kernelRank: { takes: ["kernelRank"], value: ({ kernelRank }) => kernelRank },
  generalisationRank: { takes: ["generalisationRank"], value: ({ generalisationRank }) => generalisationRank },
  rankDifference: {
    takes: ["kernelRank", "generalisationRank"],
    value: ({ kernelRank, generalisationRank }) => kernelRank - generalisationRank,
  },
  informationCapacity: { takes: ["capacity"], value: ({ capacity }) => capacity },
  echoStateIndex: { takes: ["echo"], value: ({ echo }) => echo },
  storage: { takes: ["dynamics"], value: ({ dynamics }) => dynamics?.storage },
  transfer: { takes: ["dynamics"], value: ({ dynamics }) => dynamics?.transfer },
};

/** The numbers of measures, NaN for what was not found. */
const valuesOf = (measures: readonly MapMeasure[], found: Partial<Findings>): number[] =>
  measures.map((measure) => measuresBy[measure].value(found as Findings) ?? Number.NaN);

const findingsOf = (measures: readonly MapMeasure[]): ReadonlySet<Finding> =>
  new Set(measures.flatMap((measure) => measuresBy[measure].takes));

/** How one reservoir finds each by itself, with the lengths that a map affords. */
const alone: {
  readonly [Name in Finding]: (computer: ReservoirComputer, settings: PointSettings) => Promise<Findings[Name]>;
} = {
  exponent: (computer, settings) => lyapunovExponent(computer, { ...commonOf(settings), ...settings.lengths.exponent }),
  memory: async (computer, settings) =>
    (await memoryCapacity(computer, { ...commonOf(settings), ...memoryLengths(settings.lengths, computer.model.size) })).total,
  kernelRank: async (computer, settings) => (await kernelRank(computer, ranksOf(settings))).rank,
  generalisationRank: async (computer, settings) => (await generalisationRank(computer, ranksOf(settings))).rank,
  echo: async (computer, settings) => (await echoStateIndex(computer, { ...commonOf(settings), ...settings.lengths.echo })).index,
  capacity: async (computer, settings) =>
    (await informationCapacity(computer, { ...commonOf(settings), ...settings.lengths.capacity })).total,
  async dynamics(computer, settings) {
    const { engine, estimator, lengths } = settings;
    const found = await informationDynamics(computer, { ...commonOf(settings), engine, estimator, ...lengths.dynamics });
    return { storage: found.meanStorage, transfer: found.meanTransfer };
  },
};

const commonOf = ({ seed, amplitude, signal }: PointSettings) => ({ seed, amplitude, signal });
const ranksOf = (settings: PointSettings) => ({ ...commonOf(settings), length: settings.lengths.rank, tolerance: rankTolerance });

/** The measures of one reservoir, in the order of `measures`. */
export async function measurePoint(reservoir: ReservoirOptions, settings: PointSettings): Promise<number[]> {
  const computer = (await ReservoirComputer.create(reservoir, { engine: settings.engine })) as ReservoirComputer;
  try {
    const found: Partial<Record<Finding, unknown>> = {};
    for (const name of findingsOf(settings.measures)) found[name] = await finiteOrNone<unknown>(alone[name](computer, settings));
    return valuesOf(settings.measures, found as Partial<Findings>);
  } finally {
    await computer.dispose();
  }
}

/** Nothing at a point whose states left the finite numbers: the rest of the map is still a map. */
async function finiteOrNone<T>(finding: Promise<T>): Promise<T | undefined> {
  try {
    return await finding;
  } catch (error) {
    if (error instanceof NonFiniteStateError) return undefined;
    throw error;
  }
}

/** Whether an engine takes this measure of such reservoirs at once. */
export function isTakenTogether(
  measure: MapMeasure,
  configs: readonly ReservoirConfig[],
  { estimator = "gaussian" }: Pick<PointSettings, "estimator">,
): boolean {
  const { takes } = measuresBy[measure];
  if (takes.includes("memory") || takes.includes("capacity")) return configs.every(({ inputSize }) => inputSize === 1);
  return !takes.includes("dynamics") || estimator === "gaussian";
}

/**
 * Measures reservoirs on an engine that takes many at once; `take` gets the values in the order of
 * `measures`, NaN if a state was not finite.
 * @returns the indices of those that are better measured one after the other
 */
export async function measureTogether(
  engine: Engine,
  configs: readonly ReservoirConfig[],
  settings: Omit<PointSettings, "engine">,
  take: (point: number, values: readonly number[]) => void,
  onProgress: (done: number) => void,
): Promise<readonly number[]> {
  const { measures, seed, amplitude, signal } = settings;
  const wanted = findingsOf(measures);
  const askOf = (config: ReservoirConfig): MeasuresAsk<EvaluatedMember> => {
    const capacity = wanted.has("capacity") ? capacityTask({ ...settings.lengths.capacity, seed, amplitude }, config) : undefined;
    const asks = asksOf(settings, config, capacity?.work);
    return {
      kind: "measures",
      measures: Object.fromEntries([...wanted].map((name) => [name, asks[name]()])) as MeasuresAsked,
      take({ candidate }, { curve, capacities, ...found }) {
        const totals = {
          memory: curve?.subarray(1).reduce((sum, value) => sum + value, 0),
          capacity: capacities && capacity?.total(capacities),
        };
        take(candidate, valuesOf(measures, { ...found, ...totals } as Partial<Findings>));
      },
    };
  };
  const candidates = configs.map((config) => ({ config, seed: config.seed, lambdas: [0] }));
  const { left } = await evaluate(candidates, askOf, { engine, signal, onProgress });
  return left;
}

/** Inputs and lengths of each finding, as its own function has them. */
function asksOf(
  { seed, amplitude, lengths }: Omit<PointSettings, "engine">,
  { size, inputSize, precision }: Pick<ReservoirConfig, "size" | "inputSize" | "precision">,
  capacity: MeasuresAsked["capacity"],
): { readonly [Name in Finding]: () => NonNullable<MeasuresAsked[Name]> } {
  const series = (rows: number) => uniformInputs(seed, "inputs", 0, rows, inputSize, amplitude);
  const ranks = (shared: number) => () => ({
    streams: rankStreams({ streams: size, length: lengths.rank, shared, inputSize, amplitude, seed }).map((each) =>
      inPrecision(each, precision),
    ),
    tolerance: rankTolerance,
  });
  return {
    exponent: () => {
      const { washout, length } = lengths.exponent;
      return { inputs: inPrecision(series(washout + length), precision), tangent: startTangent(seed, size), washout };
    },
    memory: () => {
      const { washout, length, heldOut, maxDelay } = memoryLengths(lengths, size);
      const values = series(washout + length + heldOut);
      const inputs = inPrecision(values, precision);
      return { inputs, values: values.data, washout, length, heldOut, maxDelay, lambda: usualPenalty(precision) };
    },
    capacity: () => capacity!,
    dynamics: () => {
      const { washout, length } = lengths.dynamics;
      return { inputs: inPrecision(series(washout + length), precision), washout };
    },
    kernelRank: ranks(0),
    generalisationRank: ranks(sharedSteps),
    echo: () => {
      const { length, initialStates } = lengths.echo;
      const starts = uniformInputs(seed, "initialStates", 0, initialStates, size, 1);
      return { inputs: inPrecision(series(length), precision), starts: inPrecision(starts, precision), washout: Math.floor(length / 2) };
    },
  };
}
