// The engine contract: what an engine that runs reservoirs must offer. What only devices can do is
// in one object, `device`; without it the host does the work, with the same bits. An engine checks
// and converts nothing: it gets a finished model and finished arrays.
import type { FloatArray, Matrix } from "@spillway/numerics";
import type { NetworkEngineOptions, NetworkPlan, NetworkSession } from "../spikes/network/session.js";
import type { AnyModel } from "./composite/model.js";
import type { DeviceMatrix, DeviceSequences } from "./device-matrix.js";
import type { DeviceAbilities, DeviceSide } from "./engine/device.js";
import type { TargetProducts, TargetWork } from "./engine/products.js";
import type { SummaryWork } from "./engine/summaries.js";
import type { AccumulateOptions } from "./engine/training.js";
import type { LinearReadout } from "./features.js";
import type { EngineProfile } from "./profile.js";
import type { AnyShape, ModelShape } from "./shape.js";
import type { EngineModel, NetworkState } from "./spiking-model.js";
import type { WorkOptions } from "./work.js";

export { formatBytes } from "@spillway/core/bytes.js";
export type * from "./engine/device.js";
export * from "./engine/errors.js";
export type * from "./engine/evaluation.js";
export type * from "./engine/measures.js";
export type * from "./engine/products.js";
export type * from "./engine/summaries.js";
export type * from "./engine/training.js";
export type { WorkOptions } from "./work.js";

/** Whether an engine can run here, and why (not). */
export interface EngineStatus {
  readonly available: boolean;
  /** One sentence: what was found, or what is missing. */
  readonly reason: string;
  /** The device in words. */
  readonly device?: string;
}

/** How an engine would run a model: for people to read and for result files. */
export interface EnginePlan {
  readonly engine: string;
  /** One line: layout, kernel, threads. */
  readonly summary: string;
  readonly bytes: number;
  readonly details: Readonly<Record<string, string | number | boolean>>;
}

/** Settings of an engine that do not change a single bit of the result. */
export interface EngineOptions {
  /** Worker threads beside each other on one reservoir (CPU engine). Default 1. */
  readonly threads?: number;
  /**
   * How the time loop runs on a device, such as "streamed"; default "auto", the fastest that fits.
   * `EnginePlan.details` names it.
   */
  readonly plan?: string | undefined;
  /**
   * Where a device's kernels for the time loop come from, if not from a plan's modelled cost
   * ("auto", default): "shipped" with the package, or "nvrtc", compiled here for the model's shape
   * (of the plan "named" from the package's source). With the same arithmetic both give the same
   * bits.
   */
  readonly kernelSource?: "auto" | "shipped" | "nvrtc" | undefined;
  /**
   * Clock ticks after which a wait between blocks on a device is an error (persistent plans,
   * batches, spiking networks). Default SPILLWAY_SPIN_LIMIT, else 8e9.
   */
  readonly spinLimit?: number | undefined;
  /** Measure phases: `EngineSession.profile`. Default false, and then nothing is recorded. */
  readonly profile?: boolean | undefined;
}

/** All of a run that is not in the model: setting a copy of it back resumes the run exactly. */
export interface SessionState {
  /** x, N values of the model's precision. */
  readonly values: FloatArray;
  /** y(t), what the next step feeds back; O values, zeros before the first step. */
  readonly output: FloatArray;
  /** u(t), the last input; I values, zeros before the first step. */
  readonly input: FloatArray;
  /** Steps since reset: the noise counter. */
  readonly step: number;
  /** What else a spiking network carries. */
  readonly network?: NetworkState | undefined;
  /** What states leave out: x of lower layers, the lowest first, or a kind's hidden values. */
  readonly below?: FloatArray | undefined;
}

/** One sequence. */
export interface SequenceInput<Inputs extends Matrix | DeviceMatrix = Matrix | DeviceMatrix> {
  /** T x I in the model's precision; on a device only for sessions that have `device`. */
  readonly inputs: Inputs;
  /**
   * T x O, the outputs to feed back in place of the readout's (teacher forcing): row t is y(t) and
   * reaches x(t+1).
   */
  readonly teacher?: Matrix | undefined;
}

/** What a run keeps. */
export interface RunOptions extends WorkOptions {
  /** Keep every k-th state: rows k-1, 2k-1, ... Default 1. */
  readonly every?: number | undefined;
  /**
   * Where the states go: floor(T / every) x N in the model's precision, on a device only with
   * `EngineSession.device`. Left out, none are kept.
   */
  readonly into?: Matrix | DeviceMatrix | undefined;
}

/** What a batch keeps. */
export interface BatchOptions extends WorkOptions {
  /** Keep all states of each sequence, or only the last one (1 x N). Default "all". */
  readonly keep?: "all" | "last" | undefined;
  /**
   * Where they go: matrices of the host, one for each sequence, which the batch returns, or on the
   * device (`EngineSession.device`), and then it returns none.
   */
  readonly into?: DeviceSequences | readonly Matrix[] | undefined;
  /** The noise sequence of the first one, if they are a share of more. Default 0. */
  readonly firstSequence?: number | undefined;
  /** Devices that have a share, all of them served by this thread. Default 1. */
  readonly devices?: number | undefined;
}

/** A closed loop: its readout, its steps, and what comes in from outside. */
export interface GenerateOptions extends WorkOptions {
  /** What turns states into outputs. */
  readonly readout: LinearReadout;
  /** How many steps to generate. */
  readonly steps: number;
  /**
   * steps x E: inputs from outside. With feedback E = I (zeros if left out); without, each step's
   * input is [y, these] and E = I - O.
   */
  readonly inputs?: Matrix | undefined;
  /** Where the states go, steps x N, if they are wanted. */
  readonly into?: Matrix | undefined;
}

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
