// What the root of the package is in Node and in browsers alike: its names, and the kinds of
// reservoir. Engines are registered by index.ts and browser.ts, each those that run there.
import { oscillatorKind } from "./oscillators/kind.js";
import { registerReservoirKind, registerSpikingKind } from "./reservoir/index.js";
import { stateAffineKind } from "./reservoir/state-affine/kind.js";
import { networkKind } from "./spikes/network/reservoir.js";
// For its declaration of the kind's options, which the import above alone would not keep.
import "./spikes/network/reservoir.js";

registerSpikingKind(() => import("./spikes/liquid/kind.js"));
registerReservoirKind(oscillatorKind);
registerReservoirKind(stateAffineKind);
registerReservoirKind(networkKind);

export {
  type ArgumentCode,
  type ArgumentDetails,
  ArgumentError,
  DisposedError,
  type ErrorCode,
  type ErrorDetails,
  SpillwayError,
} from "@spillway/core/errors.js";
export { loadWasm } from "@spillway/numerics";
export {
  accuracy,
  type ClassLabel,
  type ConfusionMatrix,
  confusionMatrix,
  mae,
  mse,
  type NrmseNorm,
  type NrmseOptions,
  nrmse,
  type R2Options,
  r2,
  rmse,
  type SeasonalNaiveOptions,
  seasonalNaive,
  type ValidPredictionTime,
  type ValidPredictionTimeOptions,
  validPredictionTime,
} from "./metrics/index.js";
// From the files themselves, since the module's index loads the export to ONNX too.
export { AnomalyDetector } from "./model/anomaly/detector.js";
export type { AnomalyOptions, AnomalyRow, Incident } from "./model/anomaly/options.js";
export { Classifier } from "./model/classifier/classifier.js";
export type { ClassifierOptions, ClassifierReadout, ClassifierSettings, Label, Representation } from "./model/classifier/options.js";
export { NotFittedError } from "./model/errors.js";
export { FieldForecaster } from "./model/field/field.js";
export type { FieldGroupsState } from "./model/field/groups.js";
export type {
  FieldEdges,
  FieldOptions,
  FieldSettings,
} from "./model/field/options.js";
export type { ForecastOptions, PredictOptions, ScoreOptions, StartOptions } from "./model/forecaster/call-options.js";
export type { ForecasterData, ForecasterPrefix, ForecasterSequences } from "./model/forecaster/data.js";
export { Forecaster } from "./model/forecaster/forecaster.js";
export type { ForecasterOptions, ForecasterSettings, OwnReadout } from "./model/forecaster/options.js";
export { type LoadedModel, loadModel } from "./model/load-model.js";
export { type LoadOptions, ModelFileError, type ModelKind } from "./model/model-file.js";
export type { NvarState } from "./model/nvar/member.js";
export { NvarForecaster } from "./model/nvar/nvar.js";
export type {
  NvarOptions,
  NvarSettings,
} from "./model/nvar/options.js";
export { type LoadedReservoir, loadReservoir, saveReservoir } from "./model/reservoir-file.js";
export { type ForecastScore, type ForecastSweepOptions, type ForecastSweepResult, sweepForecasts } from "./model/sweep/forecasts.js";
export { type SweepOptions, type SweepResult, type SweepSetting, type SweptReservoir, sweepReadouts } from "./model/sweep/sweep.js";
export {
  type FeatureOptions,
  type FitOptions,
  IllConditionedError,
  type LeastMeanSquaresOptions,
  leastMeanSquares,
  type OnlineTrainer,
  type ReadoutDescription,
  type RecursiveLeastSquaresOptions,
  type RidgeOptions,
  type RidgeTrainer,
  recursiveLeastSquares,
  ridge,
  type SeriesLike,
  type SoftmaxOptions,
  type SoftmaxReadout,
  type SoftmaxTrainer,
  softmaxRegression,
  TrainedReadout,
  type Trainer,
} from "./readout/index.js";
export {
  type Activation,
  type AnyModel,
  type AnyReservoirComputer,
  type AnyReservoirOptions,
  type CompositeModel,
  type CompositeOptions,
  type ComputerBatchOptions,
  type ComputerGenerateOptions,
  type ComputerRunOptions,
  type CreateOptions,
  type DeviceMatrix,
  type DeviceSequences,
  EngineCapacityError,
  type EngineModel,
  type EnginePlan,
  type EngineStatus,
  EngineUnavailableError,
  type EnsembleCreateOptions,
  type EnsembleInputs,
  type EnsembleRunOptions,
  type FeatureSpec,
  type FeedbackConfig,
  type GroupedOptions,
  type GroupOptions,
  type LayeredOptions,
  type LinearReadout,
  Matrix,
  type MatrixLike,
  NonFiniteStateError,
  type OwnMatrices,
  type PartOptions,
  type PlainReservoirOptions,
  type Precision,
  type Profile,
  probeEngines,
  type RandomInitialState,
  ReservoirComputer,
  type ReservoirConfig,
  ReservoirEnsemble,
  type ReservoirMatrices,
  type ReservoirModel,
  type ReservoirOptions,
  type RunEnsembleOptions,
  runEnsemble,
  type Seed,
  type SequenceLike,
  type SessionState,
  type SparseMatrix,
  type SpikingModel,
  type SpikingReservoirConfig,
  type SpikingReservoirOptions,
  type TopologyConfig,
  type TrainingSink,
  type TrainOptions,
  type WeightDistribution,
  type WeightPrecision,
  WorkInterruptedError,
  type WorkOptions,
} from "./reservoir/index.js";
export {
  type ForecastingSplit,
  type HenonOptions,
  henon,
  type LorenzOptions,
  lorenz,
  type MackeyGlassOptions,
  type MsoOptions,
  mackeyGlass,
  mso,
  type NarmaOptions,
  narma,
  type RosslerOptions,
  rossler,
  type Task,
  type ToForecastingOptions,
  tasks,
  toForecasting,
} from "./tasks/index.js";
