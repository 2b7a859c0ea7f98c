// What devices do besides running reservoirs: the object `device` of an engine, and that of a
// session. An engine without one leaves the work to the host, with the same bits.
import type { Context, Stream } from "@spillway/gpu";
import type { Matrix, SparseMatrix, SpectralRadius, SpectralRadiusOptions } from "@spillway/numerics";
import type { DoubleDoubles } from "@spillway/numerics/double-double-rows.js";
import type { DenseBlock } from "@spillway/numerics/spectrum/dense.js";
import type { DeviceMatrix, DeviceSequences } from "../device-matrix.js";
import type { Engine } from "../engine.js";
import type { EngineProfile } from "../profile.js";
import type { EngineModel } from "../spiking-model.js";
import type { DrawnMatrix, RowSums, WeightDraws } from "../weight-draws.js";
import type { WorkOptions } from "../work.js";
import type { EngineOptions, EnginePlan, SequenceInput } from "./calls.js";
import type { Evaluated, Evaluation } from "./evaluation.js";
import type { WhichStatistics } from "./summaries.js";
import type { TrainingSink } from "./training.js";

/** What a device does for the host. Bits are those of the host. */
export interface DeviceAbilities {
  /** The device, opened if it is not yet. */
  context(): Context;
  /** Neurons from which on it draws a W that it runs in less time than the host. */
  readonly leastDrawn: number;
  /** Sums of each row of a W that is drawn where it is used, and never stored. */
  drawRowSums(weights: WeightDraws): Promise<RowSums>;
  /** A sparse W for the host. @throws EngineCapacityError if it does not fit */
  drawSparse(weights: WeightDraws): Promise<SparseMatrix<Float64Array>>;
  /**
   * max |lambda|, with the iteration (Krylov or power) on the device. @throws EngineCapacityError
   * if the iteration does not fit; SpectralRadiusError if it does not converge
   */
  spectralRadius(matrix: Matrix | SparseMatrix | DrawnMatrix, options?: SpectralRadiusOptions & WorkOptions): Promise<SpectralRadius>;
  /** Matrices from which on it computes `denseRadii` in less time than the host. */
  readonly leastRadii: number;
  /**
   * max |lambda| of each block, a NaN if the iteration does not converge; undefined if memory does
   * not suffice, beside what else the device does.
   */
  denseRadii(blocks: readonly DenseBlock[]): Promise<Float64Array | undefined>;
  /**
   * W (F columns of O) that minimises |X W - Y|^2 in double-double, from columns of T numbers, T >=
   * F; undefined if X has not full rank. Progress counts columns. @throws EngineCapacityError,
   * WorkInterruptedError
   */
  leastSquares(x: readonly DoubleDoubles[], y: readonly DoubleDoubles[], options?: WorkOptions): Promise<DoubleDoubles[] | undefined>;
  /**
   * Counts of neighbours of one x after the other, in their order. It may take some xs ahead of
   * what is asked for, and gives its memory back when it ends or is left. @throws
   * EngineCapacityError if one x does not fit; WorkInterruptedError
   */
  neighbourCounts(
    space: NeighbourSpace,
    xs: Iterable<readonly Float64Array[]>,
    options?: Pick<WorkOptions, "signal">,
  ): AsyncIterable<NeighbourCounts>;
  /**
   * Loads R independent reservoirs; undefined if they run better one after the other. @throws as
   * `Engine.open`
   */
  openEnsemble(models: readonly EngineModel[], options?: EngineOptions): Promise<EnsembleSession | undefined>;
  /**
   * Trains, predicts, forecasts or measures all members; undefined if that is better done one after
   * the other.
   */
  evaluate(work: Evaluation): Promise<Evaluated> | undefined;
  /**
   * The same engine, with single reservoirs also over the devices of others where that is faster;
   * they are of its own kind.
   */
  beside(others: readonly Engine[]): Engine;
}

/** Rows as points of the columns of x, y and z, in the maximum norm; x is not part of it. */
export interface NeighbourSpace {
  /** At least one column of n finite numbers. */
  readonly y: readonly Float64Array[];
  /** Columns of the same length, or none. */
  readonly z: readonly Float64Array[];
  /** The neighbour whose distance is the radius of a row; each row has as many. */
  readonly k: number;
  /** Rows within so many steps of each other are no neighbours. */
  readonly window: number;
  /**
   * Whether x and y have radii of their own, up to and with the largest distance of the first k
   * neighbours in each alone. Without z.
   */
  readonly each: boolean;
}

/** How many rows are nearer to each row than its radius, in some columns alone. */
export interface NeighbourCounts {
  /** In z; n - 1 without z. */
  readonly inZ: Uint32Array;
  readonly inXZ: Uint32Array;
  readonly inYZ: Uint32Array;
}

/** What the run of an ensemble keeps, and what it trains. */
export interface EnsembleOptions extends WorkOptions {
  /** "all": T x N a member; "last": 1 x N a member; "none". */
  readonly keep: "all" | "last" | "none";
  /** With targets (T x O), each member's states go to its own sink. */
  readonly training?: { readonly targets: Matrix; readonly washout: number; readonly sinks: readonly TrainingSink[] } | undefined;
}

/**
 * Independent reservoirs that are loaded. Calls may not overlap; every array is in the precision of
 * its model.
 */
export interface EnsembleSession {
  readonly plan: EnginePlan;
  /** Runs each from its initial state, over one shared sequence or one each. */
  run(sequences: SequenceInput | readonly SequenceInput[], options: EnsembleOptions): Promise<Matrix[]>;
  /** As `EngineSession.profile`. */
  profile?(): EngineProfile | undefined;
  /** Gives memory back. Idempotent. */
  dispose(): Promise<void>;
}

/** What a session does with data in the memory of its device. */
export interface DeviceSide {
  readonly context: Context;
  /** The stream of the session's work: what is enqueued on it comes before its next work. */
  readonly stream: Stream;
  /** @throws ArgumentError for memory of another context, or that was disposed */
  check(matrix: DeviceMatrix, name: string): void;
  /** Allocates states in the model's precision: rows[b] x N for each b. @throws OutOfMemoryError */
  allocate(rows: readonly number[], stepMs: number | undefined): DeviceSequences;
  /**
   * Series in the model's precision, of one width, as z-scores, which are the caller's to dispose
   * of. Without a scale it is fitted: the mean and the deviation (over T, not T - 1) of each column
   * over all rows of all series; a column that never changes has its value and 1. With `changes`
   * they are z-scores of the changes from row to row, 0 in the first, of z-scores by that scale,
   * which are not rounded.
   */
  standardise(series: readonly DeviceMatrix[], scale?: ColumnScale, changes?: ColumnScale): Promise<ScaledThere>;
  /** The rows of each series from last to first; the caller's to dispose of. */
  reverse(series: readonly DeviceMatrix[]): Promise<DeviceSequences>;
  /** The last row and the mean row of each series, B x F, in the order of a summary of states. */
  statistics(series: readonly DeviceMatrix[], which: WhichStatistics): Promise<Matrix<Float64Array>>;
}

/** One mean and one deviation a column: z = (x - mean) / deviation. */
export interface ColumnScale {
  readonly mean: Float64Array;
  readonly deviation: Float64Array;
}

/** z-scores on a device, and by what. */
export interface ScaledThere {
  readonly scale: ColumnScale;
  readonly series: DeviceSequences;
}
