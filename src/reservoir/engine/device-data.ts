// The capability of a session on a device: data that stays in the device's memory.
import type { Context } from "../../gpu/index.js";
import type { Matrix } from "../../numerics/index.js";
import type { DeviceMatrix, DeviceSequences } from "../device-matrix.js";
import type { SummaryWork } from "./summaries.js";

/**
 * A session that has a device takes inputs from its memory (`SequenceInput`) and leaves states
 * there (`RunOptions.into`, `BatchOptions.into`).
 */
export interface HoldsDeviceData {
  /** Left out by engines of the host. */
  readonly device?: DeviceSide | undefined;
}

/** What a session does with data in the memory of its device. */
export interface DeviceSide {
  readonly context: Context;
  /** @throws ArgumentError for memory of another context, or that was disposed */
  check(matrix: DeviceMatrix, name: string): void;
  /** Room for states in the model's precision: rows[b] x N for each b. @throws OutOfMemoryError */
  allocate(rows: readonly number[], stepMs: number | undefined): DeviceSequences;
  /**
   * Series in the model's precision, of one width, as z-scores, which are the caller's to dispose
   * of. Without a scale it is fitted: the mean and the deviation (over T, not T - 1) of each column
   * over all rows of all series; a column that never changes has its value and 1.
   */
  standardise(series: readonly DeviceMatrix[], scale?: ColumnScale): Promise<ScaledThere>;
  /** The last row and the mean row of each series, B x F, in the order of a summary of states. */
  statistics(series: readonly DeviceMatrix[], which: Pick<SummaryWork, "last" | "mean" | "washout">): Promise<Matrix<Float64Array>>;
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
