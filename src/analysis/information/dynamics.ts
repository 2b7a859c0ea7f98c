// Information dynamics of a reservoir: what each neuron stores, and what each connection transfers.
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, option, optional, resolve, whole } from "@spillway/core/options.js";
import { isSparse, Matrix, PortableGram } from "@spillway/numerics";
import type { Engine } from "../../reservoir/engine.js";
import { chooseEngine, type ReservoirModel } from "../../reservoir/index.js";
import { seriesOf } from "../../reservoir/options.js";
import { type WorkOptions, WorkPacer, workTable } from "../../reservoir/work.js";
import { chiSquaredProbability } from "../chi-squared.js";
import { type AnalysisOptions, analysisTable, count, drivingInputs, inputTable, type ReservoirSource, withReservoir } from "../source.js";
import { type Columns, checkedColumns, delayedColumns } from "./columns.js";
import { type DynamicsEstimator, estimatorOption } from "./dynamics-estimator.js";
import { gaussianInformation } from "./gaussian.js";
import { usualNeighbours } from "./nearest-neighbours.js";
import { NeighbourEstimator } from "./neighbour-estimates.js";

export const informationDynamicsTable = {
  ...analysisTable,
  ...inputTable,
  /** Steps that are measured. Default 5000. */
  length: option(whole({ atLeast: 20 }), 5000, "Steps that are measured."),
  /** Steps before that. Default 500. */
  washout: option(whole(), 500, "Steps before that."),
  /** Drive the reservoir with this T x I series in place of random input; T is washout + length. */
  inputs: optional(seriesOf("T x I"), "Drives the reservoir in place of random input; T is washout + length."),
  /** Past values of a neuron that count as its own. Default 1. */
  history: option(count, 1, "Past values of a neuron that count as its own."),
  /**
   * "gaussian" (default): from covariances, all connections at once. "nearestNeighbours": sees what
   * is not linear, some 20 ms a neuron and a connection at the default length. An engine that is
   * named, "cuda" say, counts the neighbours of all connections to a neuron together.
   */
  estimator: estimatorOption,
  onProgress: workTable.onProgress,
};

/** What drives the reservoir, and how information is estimated. */
export interface InformationDynamicsOptions
  extends AnalysisOptions,
    Pick<WorkOptions, "onProgress">,
    InputOf<typeof inputTable>,
    InputOf<typeof informationDynamicsTable> {}

/** Storage and transfer in a reservoir, in nats a step. */
export interface InformationDynamics {
  /** What each neuron's past tells of its next state, N values. */
  readonly storage: Float64Array;
  /** One for each connection of W between two neurons, row by row. */
  readonly transfer: readonly ConnectionTransfer[];
  readonly meanStorage: number;
  /** Mean over the connections; 0 if there is none. */
  readonly meanTransfer: number;
}

/** What a connection transfers. */
export interface ConnectionTransfer {
  readonly from: number;
  readonly to: number;
  /** Its entry of W. */
  readonly weight: number;
  /** Of `to`'s next state, what `from`'s state tells beyond `to`'s own past. */
  readonly nats: number;
  /** Of such a value by chance. Undefined by nearest neighbours. */
  readonly pValue: number | undefined;
}

/** States kept at a time. */
const chunk = 1024;

/**
 * Active information storage of each neuron and transfer entropy of each connection of W, from the
 * states under an input:
 *
 *     storage_i      = I(x_i(t); x_i(t - 1), ..., x_i(t - history))
 *     transfer_j->i  = I(x_i(t); x_j(t - 1) | x_i(t - 1), ..., x_i(t - history))
 *
 * in nats. With "gaussian" both come from the covariances of the states, and a transfer's p-value
 * from 2 T nats, chi-squared with one degree of freedom; by chance a transfer has 1 / (2 T). What
 * other neurons and the input tell is not conditioned on: neurons with the same input share
 * it. Near the edge of chaos both are large.
 *
 * Source: J. Boedecker, O. Obst, J. T. Lizier, N. M. Mayer and M. Asada 2012, "Information
 * processing in echo state networks at the edge of chaos", Theory in Biosciences 131.
 * @throws ArgumentError for options, for inputs that do not fit, and for a reservoir whose units
 * have no rates, or that has parts
 */
export async function informationDynamics(source: ReservoirSource, options: InformationDynamicsOptions = {}): Promise<InformationDynamics> {
  const asked = resolve(informationDynamicsTable, options);
  const { engine, signal, onProgress, length, washout, history } = asked;
  if (length < history + 20) throw new ArgumentError("length", length, `at least ${history + 20}, 20 more than the history`);
  return withReservoir(source, engine, async (computer) => {
    const { model } = computer;
    const inputs = drivingInputs(model, asked);
    if (washout > 0) await computer.run(inputs.subarray(0, washout), { signal, every: washout });
    const states = Matrix.zeros(length, model.size);
    for (let from = 0; from < length; from += chunk) {
      const part = await computer.run(inputs.subarray(washout + from, Math.min(washout + length, washout + from + chunk)), { signal });
      states.data.set(part.data, from * model.size);
    }
    const links = connections(model);
    const pacer = new WorkPacer({ signal, onProgress }, model.size + links.length);
    const counter = asked.engine === undefined || asked.engine === "auto" ? undefined : (await chooseEngine(asked.engine)).engine;
    const { storage, transfers } = estimators[asked.estimator](states, history, counter, signal);
    const stored = new Float64Array(model.size);
    for (let i = 0; i < model.size; i++) {
      stored[i] = await storage(i);
      if (pacer.due()) await pacer.pause(i);
    }
    const transferred: ConnectionTransfer[] = [];
    for (const into of byTarget(links)) {
      let next = 0;
      for await (const found of transfers(
        into[0]!.to,
        into.map(({ from }) => from),
      )) {
        transferred.push({ ...into[next++]!, ...found });
        if (pacer.due()) await pacer.pause(model.size + transferred.length);
      }
    }
    pacer.finish();
    const mean = (values: ArrayLike<number>) =>
      values.length === 0 ? 0 : Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;
    return { storage: stored, transfer: transferred, meanStorage: mean(stored), meanTransfer: mean(transferred.map(({ nats }) => nats)) };
  });
}

type Found = Pick<ConnectionTransfer, "nats" | "pValue">;

interface Estimator {
  storage(i: number): number | Promise<number>;
  /** Transfers to a neuron from each of some others, in their order. */
  transfers(to: number, from: readonly number[]): AsyncIterable<Found> | Iterable<Found>;
}

type MakeEstimator = (
  states: Matrix<Float64Array>,
  history: number,
  engine: Engine | undefined,
  signal: AbortSignal | undefined,
) => Estimator;

const estimators: Readonly<Record<DynamicsEstimator, MakeEstimator>> = {
  gaussian(states, history) {
    const { rows, cols } = states;
    const covariance = laggedCovariances(states, history);
    const past = (i: number) => Array.from({ length: history }, (_, h) => (h + 1) * cols + i);
    return {
      storage: (i) => gaussianInformation(covariance, i, past(i), []),
      *transfers(to, froms) {
        for (const from of froms) {
          const nats = gaussianInformation(covariance, to, [cols + from], past(to));
          yield { nats, pValue: chiSquaredProbability(2 * (rows - history) * nats, 1) };
        }
      },
    };
  },
  nearestNeighbours(states, history, engine, signal) {
    const [columns] = checkedColumns({ states }, { least: 0, standardise: true });
    const delayed = (i: number, lag: number, count: number) => delayedColumns([columns[i]!], history, lag, count);
    async function* natsOf(y: Columns, z: Columns, xs: Iterable<Columns>): AsyncGenerator<number> {
      const estimator = new NeighbourEstimator({ y, z, k: usualNeighbours, window: 0, each: false });
      for await (const { nats } of estimator.on(engine, xs, { signal })) yield nats;
    }
    return {
      async storage(i) {
        let stored = Number.NaN;
        for await (const nats of natsOf(delayed(i, 0, 1), [], [delayed(i, 1, history)])) stored = nats;
        return stored;
      },
      async *transfers(to, froms) {
        const sources = froms.map((from) => delayed(from, 1, 1));
        for await (const nats of natsOf(delayed(to, 0, 1), delayed(to, 1, history), sources)) yield { nats, pValue: undefined };
      },
    };
  },
};

/** Connections that lie behind one another, by where they lead. */
function* byTarget<Link extends { readonly to: number }>(links: readonly Link[]): Generator<readonly Link[]> {
  for (let first = 0, end = 0; first < links.length; first = end) {
    while (end < links.length && links[end]!.to === links[first]!.to) end++;
    yield links.slice(first, end);
  }
}

/**
 * Sums of products of the centred states of a moment and of up to `history` steps before: variable
 * h N + i is neuron i, h steps ago.
 */
function laggedCovariances(states: Matrix<Float64Array>, history: number): (i: number, j: number) => number {
  const { rows, cols } = states;
  const means = new Float64Array(cols);
  for (let t = 0; t < rows; t++) for (let i = 0; i < cols; i++) means[i] = means[i]! + states.data[t * cols + i]! / rows;
  const centred = Matrix.zeros(rows, cols);
  for (let t = 0, p = 0; t < rows; t++) for (let i = 0; i < cols; i++, p++) centred.data[p] = states.data[p]! - means[i]!;
  const gram = new PortableGram((history + 1) * cols);
  const used = rows - history;
  gram.add(
    Array.from({ length: history + 1 }, (_, h) => ({ matrix: centred.subarray(history - h, rows - h), square: "none" as const })),
    used,
  );
  const lower = gram.lowerTriangle();
  gram.dispose();
  return (i, j) => lower.data[i > j ? i * lower.cols + j : j * lower.cols + i]!;
}

/** Every entry of W that is not 0, but for those on the diagonal. */
function connections({ weights }: ReservoirModel): { from: number; to: number; weight: number }[] {
  const out: { from: number; to: number; weight: number }[] = [];
  for (let to = 0; to < weights.rows; to++) {
    if (isSparse(weights)) {
      for (let p = weights.rowOffsets[to]!; p < weights.rowOffsets[to + 1]!; p++) add(weights.columns[p]!, to, weights.values[p]!);
    } else for (let from = 0; from < weights.cols; from++) add(from, to, weights.data[to * weights.cols + from]!);
  }
  return out;
  function add(from: number, to: number, weight: number): void {
    if (from !== to && weight !== 0) out.push({ from, to, weight });
  }
}
