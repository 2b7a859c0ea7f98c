// What the session asks of the folders for batches and training. Each may decline a piece of work,
// which is then done one reservoir or one chunk at a time.
import type { Context, DeviceSlice, Stream } from "@spillway/gpu";
import type { Matrix } from "@spillway/numerics";
import type { SequenceInput, TrainingSink } from "../../reservoir/engine.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import type { TakenBatchOptions } from "../session.js";
import type { KeptLocked } from "./kept-locked.js";
import type { DeviceClock } from "./profile.js";
import type { RealSlice } from "./time-loop.js";

/** Rows to learn from, on the device. */
export interface TrainingRows {
  readonly rows: number;
  /** rows x N. */
  readonly states: RealSlice;
  /** rows x I. */
  readonly inputs: RealSlice;
  /** rows x O. */
  readonly targets: DeviceSlice<"f64">;
}

/** Sums for one training sink on the device. */
export interface DeviceTrainer {
  /** Device memory that it holds. */
  readonly bytes: number;
  /**
   * Enqueues rows in rising order; the memory may be written again by what the stream is given
   * after this.
   */
  add(stream: Stream, rows: TrainingRows): void;
  /** After the last row: hands what was summed to the sink. */
  finish(stream: Stream): Promise<void>;
  dispose(): void;
}

/**
 * Opens a trainer for a sink, or undefined if the sink is of a kind that takes its rows on the
 * host. With `peers`, other devices, the sums are shared out among all.
 */
export type OpenTrainer = (
  context: Context,
  model: ReservoirModel,
  sink: TrainingSink,
  targets: number,
  stream: Stream,
  peers?: readonly Context[],
) => DeviceTrainer | undefined;

/** A batch through one W, kept open with the session: `undefined` declines these sequences. */
export interface DeviceBatch {
  readonly details: Readonly<Record<string, string | number | boolean>>;
  run(sequences: readonly SequenceInput[], options: TakenBatchOptions): Promise<Matrix[]> | undefined;
  dispose(): void;
}

/** What a session has for work that it hands on. */
export interface SessionWork {
  readonly clock?: DeviceClock | undefined;
  /** Clock ticks after which a wait between blocks is an error; default that of `spinLimitOf`. */
  readonly spinLimit?: number | undefined;
  /** Page-locked memory that serves one batch after another; default each its own. */
  readonly locked?: KeptLocked | undefined;
}

/** Opens what runs batches of a model; its memory is taken when a batch is first run. */
export type OpenBatch = (context: Context, model: ReservoirModel, work: SessionWork) => DeviceBatch | undefined;
