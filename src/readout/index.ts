/** Readouts: what learns outputs from states, and their registry. */

export { NotConvergedError } from "@spillway/numerics/newton.js";
export { IllConditionedError, SingularFitError } from "./errors.js";
export type { FeatureOptions } from "./features-option.js";
export { GramAccumulator, type GramAccumulatorOptions, type GramSums } from "./gram-accumulator.js";
export type { LambdaSelection, SelectionMethod } from "./lambda-selection.js";
export { leastMeanSquares } from "./least-mean-squares.js";
export { lstd } from "./lstd.js";
export { type OnlineStep, OnlineTrainer } from "./online-trainer.js";
export type { LeastMeanSquaresOptions, RecursiveLeastSquaresOptions, RidgeOptions, RidgeSolver, SoftmaxOptions } from "./options.js";
export { recursiveLeastSquares } from "./recursive-least-squares.js";
export { type Readout, readouts, registerReadout, trainerOf } from "./registered.js";
export { type RidgeAccumulator, RidgeTrainer, ridge } from "./ridge.js";
export { RowAccumulator, type RowAccumulatorOptions } from "./row-accumulator.js";
export { SoftmaxReadout, SoftmaxTrainer, softmax, softmaxRegression } from "./softmax-regression.js";
export { type ReadoutJson, type ReadoutTraining, TrainedReadout } from "./trained-readout.js";
export { asTrained, isTrainer, type ReadoutDescription, type ReadoutTypes, type Trainer, type TrainingStream } from "./trainer.js";
export type { FitOptions, ReadoutShape, SeriesLike } from "./training-data.js";
export { TriangularAccumulator, type TriangularAccumulatorOptions } from "./triangular-accumulator.js";
