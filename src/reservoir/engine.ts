// The engine contract: what a place that runs reservoirs must offer, and the errors it may raise.
// An engine is not where configurations are validated, weights are drawn or user input is
// converted: it gets a finished model and finished arrays.
import { SpillwayError } from "../core/errors.js";
import type { Context } from "../gpu/index.js";
import type { FloatArray, Matrix, SparseMatrix, SpectralRadius, SpectralRadiusOptions } from "../numerics/index.js";
import type { DeviceMatrix, DeviceSequences } from "./device-matrix.js";
import type { FeatureSpec, LinearReadout } from "./features.js";
import type { ReservoirModel } from "./model.js";
import type { EngineProfile } from "./profile.js";
import type { ModelShape, SpikingShape } from "./shape.js";
import type { EngineModel, NetworkState } from "./spiking-model.js";
import type { SummaryWork } from "./summary.js";
import type { DrawnMatrix, RowSums, WeightDraws } from "./weight-draws.js";

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
  /** Worker threads beside each other on one reservoir (CPU engine, Node only). Default 1. */
  readonly threads?: number;
  /**
   * How the time loop runs on a device, such as "streamed"; default "auto", the fastest that fits.
   * `EnginePlan.details` names it.
   */
  readonly plan?: string | undefined;
  /**
   * Where a device's kernels for the time loop come from, if not from a plan's modelled cost
   * ("auto", default): "shipped" with the package, "nvrtc", compiled here for the model's shape (of
   * the plan "named" from the package's source), or "builder", written here without a compiler.
   * With the same arithmetic all give the same bits.
   */
  readonly kernelSource?: "auto" | "shipped" | "nvrtc" | "builder" | undefined;
  /**
   * Clock ticks after which a wait between blocks on a device is an error (persistent plans,
   * batches, spiking networks). Default SPILLWAY_SPIN_LIMIT, else 8e9.
   */
  readonly spinLimit?: number | undefined;
  /** Measure phases: `EngineSession.profile`. Default false, and then nothing is recorded. */
  readonly profile?: boolean | undefined;
}

/**
 * Everything a run depends on that is not in the model. Copying it and setting it back resumes a
 * run exactly.
 */
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
}

/** Watching and stopping long work. */
export interface WorkOptions {
  /** Stops the work, which then throws WorkInterruptedError. */
  readonly signal?: AbortSignal | undefined;
  /** Called with steps done and steps in all, at most some dozens of times a second. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
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
   * Where they go on the device, one for each sequence (`EngineSession.device`); the batch then
   * returns none.
   */
  readonly into?: DeviceSequences | undefined;
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
   * over all rows of all series; a column that never changes has 0 and 1.
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

/** Receives training rows in order; a Gram accumulator of `readout` is one. */
export interface TrainingSink {
  readonly features: FeatureSpec;
  /** `states` is T x N, `inputs` T x I, `targets` T x O. */
  add(states: Matrix, inputs: Matrix, targets: Matrix): void;
}

/** Rows that train: their targets, and what takes them. */
export interface AccumulateOptions extends WorkOptions {
  /** T x O. */
  readonly targets: Matrix;
  /** Rows left out at the start. */
  readonly washout: number;
  /** What takes the states. */
  readonly sink: TrainingSink;
}

/**
 * One reservoir that is loaded and has a state. Calls may not overlap; every array is in the
 * model's precision.
 */
export interface EngineSession {
  readonly model: EngineModel;
  readonly plan: EnginePlan;
  /** Left out by engines of the host. */
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
  /**
   * Runs sequences as `batch` does and gives what is asked for in place of states; left out by
   * engines whose states are on the host anyway.
   */
  summarise?(sequences: readonly SequenceInput[], work: SummaryWork): Promise<Matrix<Float64Array>>;
  /** Closed loop. See `ReservoirComputer.generate` for the order of events. */
  generate(options: GenerateOptions): Promise<Matrix>;
  /**
   * Runs a sequence and hands its states to a training sink in rising order, without keeping them.
   */
  accumulate(sequence: SequenceInput, options: AccumulateOptions): Promise<void>;
  /** What was measured so far, of a session that was opened with `profile: true`. */
  profile?(): EngineProfile | undefined;
  /** A copy of the state, the last input and output, and the step count. */
  getState(): SessionState;
  /** Puts a state in place; the caller has checked its sizes. */
  setState(state: SessionState): void;
  /** Back to the initial state, step 0. */
  reset(): void;
  /** Gives memory and threads back. Idempotent. */
  dispose(): Promise<void>;
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
  /** What was measured so far, of an ensemble that was opened with `profile: true`. */
  profile?(): EngineProfile | undefined;
  /** Gives memory back. Idempotent. */
  dispose(): Promise<void>;
}

/** Reservoirs that share all that was drawn for one seed. */
export interface SweepBase {
  /** One of them; the others differ in W's factor and in what a member says. */
  readonly model: ReservoirModel;
  /** W before it is scaled, in binary64. */
  readonly draws: Matrix | SparseMatrix;
  /** W_in before it is scaled, N x I. */
  readonly inputDraws: Matrix<Float64Array>;
  /** b before it is scaled, N values. */
  readonly biasDraws: Float64Array;
}

/**
 * One reservoir of a sweep and the penalty of its readout. What is scaled is a draw times a factor,
 * rounded to binary64 and then as the base's model is.
 */
export interface SweepMember {
  /** Index of its base. */
  readonly base: number;
  /** W = draws * factor. */
  readonly factor: number;
  /** W_in = inputDraws * inputScaling: one for all inputs, or one each. */
  readonly inputScaling: number | readonly number[];
  /** b = biasDraws * bias; +0 if that is 0. */
  readonly bias: number;
  /** One for all neurons, or one each. */
  readonly leakRate: number | readonly number[];
  readonly noiseLevel: number;
  readonly lambda: number;
}

/**
 * Many reservoirs over one series, each with a ridge readout (docs/numerics.md, rules 9 to 11) and
 * its errors.
 */
export interface SweepWork extends WorkOptions {
  readonly bases: readonly SweepBase[];
  readonly members: readonly SweepMember[];
  /** T x I in the models' precision. */
  readonly inputs: Matrix;
  /** T x O in binary64. */
  readonly targets: Matrix<Float64Array>;
  /** Rows [washout, trainRows) train, rows [trainRows, T) are predicted. */
  readonly washout: number;
  readonly trainRows: number;
  readonly features: FeatureSpec;
  /** Whether there is a constant feature, which has no penalty. */
  readonly constant: boolean;
  /** Measure phases. */
  readonly profile?: boolean | undefined;
}

/** What a sweep came to. */
export interface SweepErrors {
  /**
   * Sums of squared errors, members x O, added row by row from +0; NaN if a state is not finite
   * or a factorisation failed.
   */
  readonly squares: Matrix<Float64Array>;
  readonly plan: EnginePlan;
  /** Where it was asked for. */
  readonly profile?: EngineProfile | undefined;
}

/** A place that runs reservoirs. */
export interface Engine {
  readonly name: string;
  /** The most bytes it can hold, known before any weights are drawn. */
  readonly weightLimit: number;
  /**
   * The least bytes that a rate reservoir of these sizes takes of that limit; left out, those of
   * its matrices.
   */
  expectedBytes?(shape: ModelShape): number;
  /** Whether it can run here, and why not; does not throw. */
  probe(): Promise<EngineStatus>;
  /** Whether it runs activation functions of the user's own; default false. */
  readonly ownActivations?: boolean;
  /** Plans that `EngineOptions.plan` takes, if there are several. */
  readonly planNames?: readonly string[];
  /**
   * What a step of a rate reservoir of these sizes would take, by a model of cost. @throws
   * EngineCapacityError when it does not fit
   */
  microsecondsPerStep?(shape: ModelShape): number;
  /**
   * What a step of all these reservoirs would take together; undefined if they would run one
   * after the other.
   */
  microsecondsPerEnsembleStep?(shapes: readonly ModelShape[]): number | undefined;
  /** The same of a spiking reservoir that fires at 10 Hz in steps of 1 ms. */
  microsecondsPerSpikingStep?(shape: SpikingShape): number;
  /** Row sums of a W that is drawn where it is used, of an engine that can draw. */
  drawRowSums?(weights: WeightDraws): Promise<RowSums>;
  /**
   * A sparse W as the host would draw it, by an engine that draws faster. @throws
   * EngineCapacityError
   */
  drawSparse?(weights: WeightDraws): Promise<SparseMatrix<Float64Array>>;
  /**
   * The spectral radius with the iteration (Krylov or power) on the engine: the bits of
   * numerics' `matrixSpectralRadius`. Left out by engines that iterate no faster than the host.
   * @throws EngineCapacityError if the iteration does not fit; SpectralRadiusError
   */
  spectralRadius?(matrix: Matrix | SparseMatrix | DrawnMatrix, options?: SpectralRadiusOptions & WorkOptions): Promise<SpectralRadius>;
  /**
   * How it would run this model. @throws EngineCapacityError when it does not fit, before anything
   * is allocated.
   */
  plan(model: EngineModel, options?: EngineOptions): EnginePlan;
  /** Loads a model. @throws EngineUnavailableError, EngineCapacityError */
  open(model: EngineModel, options?: EngineOptions): Promise<EngineSession>;
  /** Loads R independent reservoirs. @throws as `open` */
  openEnsemble(models: readonly EngineModel[], options?: EngineOptions): Promise<EnsembleSession>;
  /**
   * Left out, or undefined for work that is not for it, by engines that do one member after the
   * other no worse.
   */
  sweep?(work: SweepWork): Promise<SweepErrors> | undefined;
}

/** An engine that was asked for cannot run here. */
export class EngineUnavailableError extends SpillwayError {
  override readonly name = "EngineUnavailableError";
  readonly engine: string;
  constructor(engine: string, reason: string) {
    super("unavailable", `the engine "${engine}" is not available: ${reason}`);
    this.engine = engine;
  }
}

/** A model does not fit an engine's memory. */
export class EngineCapacityError extends SpillwayError {
  override readonly name = "EngineCapacityError";
  readonly needed: number;
  readonly limit: number;
  constructor(what: string, needed: number, limit: number, advice: string) {
    super("limit", `${what} would take ${formatBytes(needed)} and the limit is ${formatBytes(limit)}: ${advice}`);
    this.needed = needed;
    this.limit = limit;
  }
}

/** A state, or an output that is fed back to it, became infinite or not a number. */
export class NonFiniteStateError extends SpillwayError {
  override readonly name = "NonFiniteStateError";
  /** Steps since reset before the bad one. */
  readonly step: number;
  /** -1 if it is an output. */
  readonly neuron: number;
  constructor(step: number, neuron: number) {
    super(
      "numeric",
      neuron < 0
        ? `the output that is fed back is not finite after step ${step}: the closed loop diverges; train the readout with a larger lambda or on more rows`
        : `the state is not finite after step ${step} at neuron ${neuron}: with an unbounded activation, take a smaller spectralRadius or inputScaling; else look for huge inputs`,
    );
    this.step = step;
    this.neuron = neuron;
  }
}

/**
 * A worker thread that computes for a reservoir is gone: it ran out of memory, or was ended. The
 * reservoir is where it was before the chunk of steps in which the thread was lost. It and the
 * others go on: each computes by itself until new threads are there.
 */
export class WorkerEndedError extends SpillwayError {
  override readonly name = "WorkerEndedError";
  /** Its number; 0 would be the thread that calls. */
  readonly thread: number;
  /** `cause` is its error or its exit code, if it is known. */
  constructor(thread: number, cause?: unknown) {
    const why = cause instanceof Error ? ` (${cause.message})` : cause === undefined ? "" : ` with exit code ${cause}`;
    super(
      "device",
      `worker thread ${thread} of this reservoir has ended${why}, and what this call computed is lost; the next call goes on without it`,
      { cause },
    );
    this.thread = thread;
  }
}

/** Bytes for people: 1.5 GiB. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0)} ${units[unit]}`;
}
