// The options of ReservoirComputer's calls, and their tables.
import { choice, list, option, optional, type TableOf, whole } from "@spillway/core/options.js";
import type { Context } from "@spillway/gpu";
import type { Matrix, MatrixLike } from "@spillway/numerics";
import type { EngineOptions } from "./engine.js";
import { contextTable, engineTable, matricesTable, matrixKind, planTable, profileTable, seriesOf, threadsTable } from "./options.js";
import type { OwnMatrices } from "./weights.js";
import { type WorkOptions, workTable } from "./work.js";

/** Which engine a reservoir runs on, and the user's own matrices. */
export interface CreateOptions {
  /**
   * "auto" (default, the one whose steps are modelled to be fastest), "cpu", "cuda", "cuda:1" (a
   * device by number), "cuda:0-3" or "cuda:all" (several devices together), "sim" or
   * "reference".
   */
  readonly engine?: string | undefined;
  /**
   * A device that is open already (`openDevice` of spillway/gpu), which then also takes and leaves
   * data in its memory; the engine is that of its device. It stays its owner's, who disposes of it
   * after the reservoirs on it.
   */
  readonly context?: Context | undefined;
  /**
   * How a device runs the time loop: "auto" (default) or a name that `engine.plan` knows, such as
   * "streamed".
   */
  readonly plan?: string | undefined;
  /**
   * Where a device's kernels for the time loop come from: "auto" (default), "shipped" or
   * "nvrtc". See `EngineOptions.kernelSource`.
   */
  readonly kernelSource?: EngineOptions["kernelSource"];
  /**
   * Clock ticks after which a wait between blocks on a device is an error. Default
   * SPILLWAY_SPIN_LIMIT, else 8e9: seconds.
   */
  readonly spinLimit?: number | undefined;
  /**
   * Worker threads of the CPU engine. Default 1; worth trying from N = 1000 on an idle machine. A
   * browser gives them to a worker of a page that is cross-origin isolated; elsewhere in it one
   * thread runs, and `engine.plan` says why.
   */
  readonly threads?: number | undefined;
  /**
   * Measure what the work costs, phase by phase: `ReservoirComputer.profile`. Default false, and
   * then nothing is recorded.
   */
  readonly profile?: boolean | undefined;
  /**
   * Matrices to use in place of drawn ones; for a composed reservoir a list with those of each
   * part, {} for a part that is drawn.
   */
  readonly matrices?: OwnMatrices | undefined;
}

/** Where the reservoirs of a model run, and how: as of `ReservoirComputer.create`. */
export interface EngineSelection extends Pick<CreateOptions, "engine" | "context" | "plan" | "threads"> {}

/** The options of `ReservoirComputer.fromModel`. */
export const openTable = {
  ...engineTable,
  ...contextTable,
  ...planTable,
  spinLimit: optional(
    whole({ atLeast: 1, takes: `clock ticks, a whole number from 1 to ${Number.MAX_SAFE_INTEGER}` }),
    "Clock ticks after which a wait between blocks on a device is an error; left out, SPILLWAY_SPIN_LIMIT, else 8e9.",
  ),
  ...threadsTable,
  ...profileTable,
} satisfies TableOf<Omit<CreateOptions, "matrices">>;

/** The options of `ReservoirComputer.create`. */
export const createTable = { ...openTable, ...matricesTable } satisfies TableOf<CreateOptions>;

/** Options of `run`. */
export interface ComputerRunOptions extends WorkOptions {
  /**
   * T x O: what to feed back in place of the readout's output (teacher forcing). Row t is y(t) and
   * reaches x(t+1).
   */
  readonly teacher?: MatrixLike | undefined;
  /** Keep every k-th state only: rows k-1, 2k-1, ... Default 1. */
  readonly every?: number | undefined;
  /**
   * Where the states go, instead of into a new matrix: floor(T / every) x N of the model's
   * precision.
   */
  readonly into?: Matrix | undefined;
  /**
   * "host" (default), or "device": states stay in the memory of the device, and a DeviceMatrix is
   * returned.
   */
  readonly keep?: "host" | "device" | undefined;
}

const everyTable = { every: option(whole({ atLeast: 1 }), 1, "Keep every k-th state only.") };
const teacherTable = { teacher: optional(seriesOf("T x O"), "What to feed back in place of the readout's output.") };

/** The options of `ReservoirComputer.run`. */
export const runTable = {
  ...workTable,
  ...teacherTable,
  ...everyTable,
  into: optional(matrixKind, "Receives the states, instead of a new matrix."),
  keep: option(choice("host", "device"), "host", "Whether states stay in the memory of the device."),
} satisfies TableOf<ComputerRunOptions>;

/** Options of `batch`. */
export interface ComputerBatchOptions extends WorkOptions {
  /**
   * Every state of a sequence ("all", default), or its last one; "device" and "deviceLast" leave
   * the same in the memory of the device, and DeviceSequences are returned.
   */
  readonly keep?: "all" | "last" | "device" | "deviceLast" | undefined;
  /** One T x O teacher a sequence. */
  readonly teachers?: readonly MatrixLike[] | undefined;
}

/** The options of `ReservoirComputer.batch`. */
export const batchTable = {
  ...workTable,
  keep: option(choice("all", "last", "device", "deviceLast"), "all", "Every state or the last, on the host or on the device."),
  teachers: optional(list(seriesOf("T x O"), "a list of series", 1), "One teacher a sequence."),
} satisfies TableOf<ComputerBatchOptions>;

/** Options of `generate`. */
export interface ComputerGenerateOptions extends WorkOptions {
  /** Inputs from outside, one row a step. */
  readonly inputs?: MatrixLike | undefined;
  /** Receives the states, steps x N of the model's precision. */
  readonly into?: Matrix | undefined;
}

/** The options of `ReservoirComputer.generate`. */
export const generateTable = {
  ...workTable,
  inputs: optional(seriesOf("steps x I"), "Inputs from outside, one row a step."),
  into: optional(matrixKind, "Receives the states, steps x N."),
} satisfies TableOf<ComputerGenerateOptions>;

/** Options of `train`. */
export interface TrainOptions extends WorkOptions {
  /** T x O: what to feed back in place of the outputs, for a reservoir with feedback. */
  readonly teacher?: MatrixLike | undefined;
  /** Rows left out at the start. Default 0. */
  readonly washout?: number | undefined;
}

/** The options of `ReservoirComputer.train`. */
export const trainTable = {
  ...workTable,
  ...teacherTable,
  washout: option(whole(), 0, "Rows left out at the start."),
} satisfies TableOf<TrainOptions>;

/** The options of `ReservoirComputer.stream`. */
export const streamTable = { ...workTable, ...everyTable };
