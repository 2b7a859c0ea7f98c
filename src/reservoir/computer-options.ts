// The options of ReservoirComputer's calls, and their tables.
import { choice, type InputOf, list, option, optional, whole } from "@spillway/core/options.js";
import { contextTable, engineTable, matricesTable, matrixKind, planTable, profileTable, seriesOf, threadsTable } from "./options.js";
import { type WorkOptions, workTable } from "./work.js";

/** Where the reservoirs of a model run, and how: as of `ReservoirComputer.create`. */
export interface EngineSelection extends Pick<CreateOptions, "engine" | "context" | "plan" | "threads"> {}

/** Where reservoirs run and how, of options that say more. */
export const selectionOf = ({ engine, context, plan, threads }: EngineSelection): EngineSelection => ({ engine, context, plan, threads });

/** The options of `ReservoirComputer.fromModel`. */
export const openTable = {
  ...engineTable,
  ...contextTable,
  ...planTable,
  /**
   * Clock ticks after which a wait between blocks on a device is an error. Default
   * SPILLWAY_SPIN_LIMIT, else 8e9: seconds.
   */
  spinLimit: optional(
    whole({ atLeast: 1, atMost: Number.MAX_SAFE_INTEGER, takes: `clock ticks, a whole number from 1 to ${Number.MAX_SAFE_INTEGER}` }),
    "Clock ticks after which a wait between blocks on a device is an error; left out, SPILLWAY_SPIN_LIMIT, else 8e9.",
  ),
  ...threadsTable,
  ...profileTable,
};

export const createTable = { ...openTable, ...matricesTable };

/** Which engine a reservoir runs on, and the user's own matrices. */
export interface CreateOptions
  extends InputOf<typeof engineTable>,
    InputOf<typeof contextTable>,
    InputOf<typeof planTable>,
    InputOf<typeof threadsTable>,
    InputOf<typeof profileTable>,
    InputOf<typeof matricesTable>,
    InputOf<typeof createTable> {}

const everyTable = {
  /** Keep every k-th state only: rows k-1, 2k-1, ... Default 1. */
  every: option(whole({ atLeast: 1 }), 1, "Keep every k-th state only."),
};
const teacherTable = {
  /**
   * T x O: what to feed back in place of the readout's output (teacher forcing). Row t is y(t) and
   * reaches x(t+1).
   */
  teacher: optional(seriesOf("T x O"), "What to feed back in place of the readout's output."),
};

export const runTable = {
  ...workTable,
  ...teacherTable,
  ...everyTable,
  /**
   * Where the states go, instead of into a new matrix: floor(T / every) x N of the model's
   * precision.
   */
  into: optional(matrixKind, "Receives the states, instead of a new matrix."),
  /**
   * "host" (default), or "device": states stay in the memory of the device, and a DeviceMatrix is
   * returned.
   */
  keep: option(choice("host", "device"), "host", "Whether states stay in the memory of the device."),
};

/** Options of `run`. */
export interface ComputerRunOptions extends WorkOptions, InputOf<typeof runTable> {}

export const batchTable = {
  ...workTable,
  /**
   * Every state of a sequence ("all", default), or its last one; "device" and "deviceLast" leave
   * the same in the memory of the device, and DeviceSequences are returned.
   */
  keep: option(choice("all", "last", "device", "deviceLast"), "all", "Every state or the last, on the host or on the device."),
  /**
   * Where the states go, instead of into new matrices: one T x N matrix of the model's precision a
   * sequence (1 x N with "last"). From a device they come at the full rate into page-locked memory:
   * `lockedMatrix`, `subarray` for each sequence.
   */
  into: optional(list(matrixKind, "a list of matrices", 1), "Receive the states, one a sequence, instead of new matrices."),
  /** One T x O teacher a sequence. */
  teachers: optional(list(seriesOf("T x O"), "a list of series", 1), "One teacher a sequence."),
};

/** Options of `batch`. */
export interface ComputerBatchOptions extends WorkOptions, InputOf<typeof batchTable> {}

export const generateTable = {
  ...workTable,
  /** Inputs from outside, one row a step. */
  inputs: optional(seriesOf("steps x I"), "Inputs from outside, one row a step."),
  /** Receives the states, steps x N of the model's precision. */
  into: optional(matrixKind, "Receives the states, steps x N."),
};

/** Options of `generate`. */
export interface ComputerGenerateOptions extends WorkOptions, InputOf<typeof generateTable> {}

export const trainTable = {
  ...workTable,
  /** T x O: what to feed back in place of the outputs, for a reservoir with feedback. */
  teacher: teacherTable.teacher,
  /** Rows left out at the start. Default 0. */
  washout: option(whole(), 0, "Rows left out at the start."),
};

/** Options of `train`. */
export interface TrainOptions extends WorkOptions, InputOf<typeof trainTable> {}

/** The options of `ReservoirComputer.stream`. */
export const streamTable = { ...workTable, ...everyTable };
