/** Readouts: what learns outputs from states, and their registry. */

export { NotConvergedError } from "@spillway/numerics/newton.js";
export { IllConditionedError, SingularFitError } from "./errors.js";
export type { FeatureOptions } from "./features-option.js";
export { GramAccumulator, type GramAccumulatorOptions, type GramSums } from "./gram-accumulator.js";
export type { LambdaSelection, SelectionMethod } from "./lambda-selection.js";
export { type LeastMeanSquaresOptions, leastMeanSquares } from "./least-mean-squares.js";
export { type LstdOptions, type LstdTrainer, lstd } from "./lstd.js";
export { type OnlineStep, OnlineTrainer } from "./online-trainer.js";
export { type RecursiveLeastSquaresOptions, recursiveLeastSquares } from "./recursive-least-squares.js";
export { type RidgeAccumulator, type RidgeOptions, type RidgeSolver, RidgeTrainer, ridge } from "./ridge.js";
export { RowAccumulator, type RowAccumulatorOptions } from "./row-accumulator.js";
export { type SoftmaxOptions, SoftmaxReadout, SoftmaxTrainer, softmax, softmaxRegression } from "./softmax-regression.js";
export { type ReadoutJson, type ReadoutTraining, TrainedReadout } from "./trained-readout.js";
export {
  asTrained,
  isTrainer,
  type Readout,
  type ReadoutDescription,
  type ReadoutTypes,
  readouts,
  registerReadout,
  type Trainer,
  type TrainingStream,
  trainerOf,
} from "./trainer.js";
export type { FitOptions, ReadoutShape, SeriesLike } from "./training-data.js";
export { TriangularAccumulator, type TriangularAccumulatorOptions } from "./triangular-accumulator.js";
