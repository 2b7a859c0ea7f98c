// Options that several public functions over reservoirs have, described once. Options of a single
// function are described beside it.
import {
  checked,
  checkedLater,
  choice,
  either,
  flag,
  type InputOf,
  type Kind,
  list,
  object,
  option,
  optional,
  text,
  whole,
} from "@spillway/core/options.js";
import type { Context } from "@spillway/gpu";
import type { MatrixLike, SparseMatrix } from "@spillway/numerics";
import { Matrix } from "@spillway/numerics/matrix.js";
import type { TrainingSink } from "./engine/training.js";

/** A series, checked against the reservoir that takes it. `shape`: "T x I". */
export const seriesOf = (shape: string): Kind<MatrixLike> => checkedLater(`a series, ${shape}`);

/** A matrix that receives numbers. */
export const matrixKind: Kind<Matrix> = checked("a Matrix", (value) => value instanceof Matrix);

/** What sums training rows. */
export const sinkKind: Kind<TrainingSink> = checked(
  "what sums training rows, such as ridge().accumulator(shape)",
  (value) => typeof (value as TrainingSink | null)?.add === "function",
);

/** Where work runs. */
export const engineTable = {
  /**
   * "auto" (default, the one whose steps are modelled to be fastest), "cpu", "cuda", "cuda:1" (a
   * device by number), "cuda:0-3" or "cuda:all" (several devices together), "sim" or
   * "reference".
   */
  engine: optional(
    text('"auto" or the name of an engine'),
    'Where reservoirs run: "cpu", "cuda", "cuda:1" (a device by number), "cuda:0-3" or "cuda:all" (several together), "sim" or "reference"; left out or "auto", the one whose steps are modelled to be fastest.',
  ),
};

export const threadsTable = {
  /**
   * Worker threads of the CPU engine. Default 1; worth trying from N = 1000 on an idle machine. A
   * browser gives them to a worker of a page that is cross-origin isolated; elsewhere in it one
   * thread runs, and `engine.plan` says why.
   */
  threads: option(whole({ atLeast: 1, atMost: 64 }), 1, "Worker threads of the CPU engine; worth trying from N = 1000."),
};

/** How a device runs the time loop. */
export const planTable = {
  /**
   * How a device runs the time loop: "auto" (default) or a name that `engine.plan` knows, such as
   * "streamed".
   */
  plan: optional(
    text('"auto" or the name of a plan, such as "streamed"'),
    'How a device runs the time loop: "auto", or a plan such as "streamed".',
  ),
  /**
   * Where a device's kernels for the time loop come from: "auto" (default), "shipped" or
   * "nvrtc". See `EngineOptions.kernelSource`.
   */
  kernelSource: optional(choice("auto", "shipped", "nvrtc"), "Where a device's kernels for the time loop come from."),
};

export const profileTable = {
  /**
   * Measure what the work costs, phase by phase: `ReservoirComputer.profile`. Default false, and
   * then nothing is recorded.
   */
  profile: option(flag, false, "Measure what the work costs, phase by phase."),
};

export const contextKind: Kind<Context> = checked(
  "an open device, such as openDevice() of spillway/gpu gives",
  (value) => typeof (value as Context | null)?.info === "object",
);

export const contextTable = {
  /**
   * A device that is open already (`openDevice` of spillway/gpu), which then also takes and leaves
   * data in its memory; the engine is that of its device. It stays its owner's, who disposes of it
   * after the reservoirs on it.
   */
  context: optional(contextKind, "A device that is open already; the engine is that of its device."),
};

/** Where the reservoirs of a model run, and how. */
export const selectionTable = { ...engineTable, ...contextTable, plan: planTable.plan, ...threadsTable };

const matrix = (what: string) => optional(checkedLater<MatrixLike | SparseMatrix>("a matrix, dense or CSR"), what);
const values = (what: string) => optional(checkedLater<MatrixLike>("a list of numbers"), what);

export const ownMatricesTable = {
  /** W, N x N, dense or CSR. It is used as it is unless `rescale` is set. */
  weights: matrix("W, N x N; used as it is unless rescale is set."),
  /** W_in, N x I, dense or CSR. */
  inputWeights: matrix("W_in, N x I."),
  /** b, N values. */
  bias: values("b, N values."),
  /** W_fb, N x O, dense or CSR. */
  feedbackWeights: matrix("W_fb, N x O."),
  /** O, N x N, of a cell that has one. It is used as it is. */
  orthogonal: matrix("O, N x N, of a cell that has one; used as it is."),
  /** x before the first step, N values. */
  initialState: values("x before the first step, N values."),
  /**
   * Scale W to the description's spectral radius; refused if W has radius 0. Default false: own
   * weights keep their radius, `spectralRadius` changes nothing, and the model's `measuredRadius`
   * is 0. A `spectralRadius` beside own weights is warned of if this is left out.
   */
  rescale: option(
    flag,
    false,
    "Scale W to the description's spectral radius; if not, `spectralRadius` changes nothing, and measuredRadius is 0.",
  ),
};

/** A user's own matrices, taken as they are; what is left out is drawn from the description. */
export interface ReservoirMatrices extends InputOf<typeof ownMatricesTable> {}

/**
 * A reservoir's own matrices; of a composed one a list with those of each part, {} if they are
 * drawn.
 */
export type OwnMatrices = ReservoirMatrices | readonly ReservoirMatrices[];

export const matricesTable = {
  /**
   * Matrices to use in place of drawn ones; for a composed reservoir a list with those of each
   * part, {} for a part that is drawn.
   */
  matrices: optional(
    either(
      "an object of matrices, or for a composed reservoir a list with one for each part",
      object(ownMatricesTable),
      list(object(ownMatricesTable), "a list of objects of matrices", 1),
    ) as Kind<OwnMatrices>,
    "Matrices to use in place of drawn ones; for a composed reservoir a list, with {} for a part that is drawn.",
  ),
};
