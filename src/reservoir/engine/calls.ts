// What calls of an engine take and give: plain data.
import type { FloatArray, Matrix } from "@spillway/numerics";
import type { DeviceMatrix, DeviceSequences } from "../device-matrix.js";
import type { LinearReadout } from "../features.js";
import type { NetworkState } from "../spiking-model.js";
import type { WorkOptions } from "../work.js";

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
