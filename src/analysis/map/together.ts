// The measures of many reservoirs on an engine that takes them at once, with the bits of points.ts.
// What that engine does not measure is left to points.ts.
import { inPrecision, type Precision } from "@spillway/numerics";
import type { ReservoirConfig } from "../../reservoir/config.js";
import type { Engine, MeasuresAsk, MeasuresAsked, MeasuresFound } from "../../reservoir/engine.js";
import { type EvaluatedMember, evaluate } from "../../reservoir/evaluate/evaluate.js";
import { rankTolerance } from "../analyse/index.js";
import { capacityTask } from "../capacity/index.js";
import { startTangent } from "../lyapunov-exponent.js";
import { usualPenalty } from "../memory-capacity.js";
import { rankStreams, sharedSteps } from "../ranks.js";
import { uniformInputs } from "../source.js";
import { memoryLengths } from "./lengths.js";
import type { MapMeasure } from "./options.js";
import type { PointSettings } from "./points.js";

type Asked = keyof MeasuresAsked;

/** What makes a number of what an engine finds. */
interface Summaries {
  readonly capacity: ReturnType<typeof capacityTask>["total"];
}

/** What each measure takes of an engine, and its number; others are not measured there. */
const taken: Partial<
  Record<MapMeasure, { readonly asked: readonly Asked[]; readonly value: (found: MeasuresFound, of: Summaries) => number | undefined }>
> = {
  lyapunovExponent: { asked: ["exponent"], value: ({ exponent }) => exponent },
  memoryCapacity: { asked: ["memory"], value: ({ curve }) => curve?.subarray(1).reduce((sum, value) => sum + value, 0) },
  kernelRank: { asked: ["kernelRank"], value: ({ kernelRank }) => kernelRank },
  generalisationRank: { asked: ["generalisationRank"], value: ({ generalisationRank }) => generalisationRank },
  rankDifference: {
    asked: ["kernelRank", "generalisationRank"],
    value: ({ kernelRank, generalisationRank }) =>
      kernelRank === undefined || generalisationRank === undefined ? undefined : kernelRank - generalisationRank,
  },
  echoStateIndex: { asked: ["echo"], value: ({ echo }) => echo },
  storage: { asked: ["dynamics"], value: ({ dynamics }) => dynamics?.storage },
  transfer: { asked: ["dynamics"], value: ({ dynamics }) => dynamics?.transfer },
  informationCapacity: { asked: ["capacity"], value: ({ capacities }, { capacity }) => capacities && capacity(capacities) },
};

/** Whether an engine takes this measure of such reservoirs at once. */
export function isTakenTogether(
  measure: MapMeasure,
  configs: readonly ReservoirConfig[],
  { estimator = "gaussian" }: Pick<PointSettings, "estimator">,
): boolean {
  if (measure === "memoryCapacity" || measure === "informationCapacity") return configs.every(({ inputSize }) => inputSize === 1);
  if (measure === "storage" || measure === "transfer") return estimator === "gaussian";
  return taken[measure] !== undefined;
}

/**
 * Measures reservoirs; `take` gets the values in the order of `measures`, NaN if a state was not
 * finite.
 * @returns the indices of those that are better measured one after the other
 */
export async function measureTogether(
  engine: Engine,
  configs: readonly ReservoirConfig[],
  settings: Omit<PointSettings, "engine">,
  take: (point: number, values: readonly number[]) => void,
  onProgress: (done: number) => void,
): Promise<readonly number[]> {
  const { measures, signal } = settings;
  const wanted = new Set(measures.flatMap((measure) => taken[measure]!.asked));
  const askOf = (config: ReservoirConfig): MeasuresAsk<EvaluatedMember> => {
    const capacity = wanted.has("capacity") ? capacityTask({ ...settings.lengths.capacity, ...inputsOf(settings) }, config) : undefined;
    const all = askedOf(settings, config, capacity?.work);
    const summaries = { capacity: capacity?.total as Summaries["capacity"] };
    return {
      kind: "measures",
      measures: Object.fromEntries([...wanted].map((name) => [name, all[name]()])) as MeasuresAsked,
      take({ candidate }, found) {
        take(
          candidate,
          measures.map((measure) => taken[measure]!.value(found, summaries) ?? Number.NaN),
        );
      },
    };
  };
  const candidates = configs.map((config) => ({ config, seed: config.seed, lambdas: [0] }));
  const { left } = await evaluate(candidates, askOf, { engine, signal, onProgress });
  return left;
}

const inputsOf = ({ seed, amplitude }: Pick<PointSettings, "seed" | "amplitude">) => ({ seed, amplitude });

/** Inputs and lengths of each measure, as its own function has them. */
function askedOf(
  { seed, amplitude, lengths }: Omit<PointSettings, "engine">,
  { size, inputSize, precision }: { readonly size: number; readonly inputSize: number; readonly precision: Precision },
  capacity: MeasuresAsked["capacity"],
): { readonly [Name in Asked]: () => NonNullable<MeasuresAsked[Name]> } {
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
      const { maxDelay, length, heldOut, washout } = memoryLengths(lengths, size);
      const values = series(washout + length + heldOut);
      return {
        inputs: inPrecision(values, precision),
        values: values.data,
        washout,
        length,
        heldOut,
        maxDelay,
        lambda: usualPenalty(precision),
      };
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
