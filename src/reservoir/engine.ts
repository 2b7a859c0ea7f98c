// The engine contract: what an engine that runs reservoirs must offer. What only devices can do is
// in one object, `device`; without it the host does the work, with the same bits. What calls take is
// in engine/calls.ts. An engine checks
// and converts nothing: it gets a finished model and finished arrays.
import type { FloatArray, Matrix } from "@spillway/numerics";
import type { NetworkEngineOptions, NetworkPlan, NetworkSession } from "../spikes/network/session.js";
import type { AnyModel } from "./composite/model.js";
import type {
  BatchOptions,
  EngineOptions,
  EnginePlan,
  EngineStatus,
  GenerateOptions,
  RunOptions,
  SequenceInput,
  SessionState,
} from "./engine/calls.js";
import type { DeviceAbilities, DeviceSide } from "./engine/device.js";
import type { TargetProducts, TargetWork } from "./engine/products.js";
import type { SummaryWork } from "./engine/summaries.js";
import type { AccumulateOptions } from "./engine/training.js";
import type { EngineProfile } from "./profile.js";
import type { AnyShape, ModelShape } from "./shape.js";
import type { EngineModel } from "./spiking-model.js";

export { formatBytes } from "@spillway/core/bytes.js";
export type * from "./engine/calls.js";
export type * from "./engine/device.js";
export * from "./engine/errors.js";
export type * from "./engine/evaluation.js";
export type * from "./engine/measures.js";
export type * from "./engine/products.js";
export type * from "./engine/summaries.js";
export type * from "./engine/training.js";
export type { WorkOptions } from "./work.js";

/**
 * One reservoir that is loaded and has a state. Calls may not overlap; every array is in the
 * model's precision. What a session leaves out, the host does with the same bits.
 */
export interface EngineSession {
  readonly model: AnyModel;
  readonly plan: EnginePlan;
  /** Data in the memory of its device: inputs that it reads and states that it leaves there. */
  readonly device?: DeviceSide | undefined;
  /** Runs T steps from the present state. Row t of the states is the state after input t. */
  run(sequence: SequenceInput, options: RunOptions): Promise<void>;
  /** One step, at once; the view it returns holds x until the next call. */
  step(input: FloatArray, teacher?: FloatArray): FloatArray;
  /**
   * Runs sequences of any lengths, each from the initial state with its index as noise sequence;
   * the session's own state is untouched.
   */
  batch(sequences: readonly SequenceInput[], options: BatchOptions): Promise<Matrix[]>;
  /** Closed loop. See `ReservoirComputer.generate` for the order of events. */
  generate(options: GenerateOptions): Promise<Matrix>;
  /** Runs a sequence and adds its states to a training sink in rising order; keeps none. */
  accumulate?(sequence: SequenceInput, options: AccumulateOptions): Promise<void>;
  /** Runs sequences as `batch` does and returns statistics in place of states. */
  summarise?(sequences: readonly SequenceInput[], work: SummaryWork): Promise<Matrix<Float64Array>>;
  /**
   * Multiplies states with targets, from the initial state; its own state is untouched. Undefined
   * for a reservoir that runs in another way.
   */
  multiplyTargets?(work: TargetWork): Promise<TargetProducts> | undefined;
  /** What was measured so far; undefined unless it was opened with `profile: true`. */
  profile?(): EngineProfile | undefined;
  /** A copy of the state, the last input and output, and the step count. */
  getState(): SessionState;
  /** Sets a state; the caller has checked its sizes. */
  setState(state: SessionState): void;
  /** Back to the initial state, step 0. */
  reset(): void;
  /** Gives memory and threads back. Idempotent. */
  dispose(): Promise<void>;
}

/**
 * What an engine runs besides rate reservoirs of leaky neurons with built-in activation functions
 * in floating-point numbers: activation functions of the user, other cells, integer arithmetic,
 * registered kinds. "plans": `EngineOptions.plan` and `kernelSource` choose among several ways.
 */
export type EngineFeature = "ownActivations" | "cells" | "integers" | "registeredKinds" | "plans";

/** What reservoirs cost, by a model: nothing is measured or opened. "auto" chooses by it. */
export interface EngineCost {
  /**
   * Microseconds of a step of reservoirs of these sizes together; of a spiking one that fires at
   * 10 Hz in steps of 1 ms. Undefined for several that would run one after the other.
   * @throws EngineCapacityError if one does not fit
   */
  microseconds(shapes: readonly AnyShape[]): number | undefined;
  /** The most bytes of weights, known before any are drawn. Left out: the machine's memory. */
  readonly limit?: number;
  /** The least bytes of that limit that a rate reservoir takes. Left out: its matrices. */
  bytes?(shape: ModelShape): number;
}

/** What runs reservoirs. */
export interface Engine {
  readonly name: string;
  /** What it runs; other reservoirs and options are refused before they reach it. */
  readonly supports: ReadonlySet<EngineFeature>;
  /** Left out: "auto" takes the engine only if it is the first that runs. */
  readonly cost?: EngineCost | undefined;
  /** What a device does for the host. Left out: the host does it. */
  readonly device?: DeviceAbilities | undefined;
  /** Whether it can run here, and why not; does not throw. */
  probe(): Promise<EngineStatus>;
  /** How it would run this model; it allocates nothing. @throws EngineCapacityError */
  plan(model: EngineModel, options?: EngineOptions): EnginePlan;
  /** Loads a model. @throws EngineUnavailableError, EngineCapacityError */
  open(model: EngineModel, options?: EngineOptions): Promise<EngineSession>;
  /** Draws the network of a plan, and loads it. Left out: it runs none. @throws as `open` */
  openNetwork?(plan: NetworkPlan, options: NetworkEngineOptions): Promise<NetworkSession>;
}
