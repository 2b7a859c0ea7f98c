/**
 * The public face of the package, and the one place where its parts are put together. Importing it
 * loads no native code.
 * @module spillway
 */
import { ArgumentError } from "./core/errors.js";
import type { DeviceEngine } from "./engine/cuda/index.js";
import { whyNoKernel } from "./engine/cuda/network/neurons.js";
import type { DeviceBlas } from "./engine/cuda/training/device-blas.js";
import { oscillatorKind } from "./oscillators/kind.js";
import {
  chooseEngine,
  type Engine,
  registerContextEngine,
  registerEngine,
  registerReservoirKind,
  registerSpikingKind,
} from "./reservoir/index.js";
import { registerNetworkEngine } from "./spikes/network/engines.js";

registerEngine("cpu", async () => (await import("./engine/cpu/index.js")).cpuEngine, { automatic: true });
registerEngine("cuda", async (device) => (await import("./engine/cuda/index.js")).cudaEngine(device), {
  automatic: true,
  numbered: true,
  count: async () => (await import("./gpu/index.js")).listDevices().length,
  needsNode: true,
  leastMicroseconds: 0.4,
});
registerEngine("sim", simulatedEngine, { automatic: false, numbered: true, count: simulatedDevices, needsNode: true });
registerEngine("reference", async () => (await import("./engine/reference/index.js")).referenceEngine, { automatic: false });
registerNetworkEngine("reference", async () => (await import("./spikes/network/reference.js")).referenceNetworks);
registerNetworkEngine(
  "cpu",
  async () => (await import("./engine/cpu/network.js")).cpuNetworks,
  () => true,
);
registerNetworkEngine(
  "cuda",
  async () => (await import("./engine/cuda/network/engine.js")).deviceNetworks("cuda"),
  (plan) => plan.size >= 2000 && whyNoKernel(plan) === undefined,
);
registerNetworkEngine("sim", async () => (await import("./engine/cuda/network/engine.js")).deviceNetworks("sim"));
registerContextEngine(async (context) => (await import("./engine/cuda/index.js")).contextEngine(context));
registerSpikingKind(() => import("./spikes/liquid/kind.js"));
registerReservoirKind(oscillatorKind);

/** The CUDA engine on the simulated device, in chunks short enough to be interrupted. */
async function simulatedEngine(device: number): Promise<Engine> {
  const [{ deviceEngine, simulatedChunk }, { openDevice }] = await Promise.all([
    import("./engine/cuda/index.js"),
    import("./gpu/index.js"),
    import("./sim/index.js"),
  ]);
  const name = device === 0 ? "sim" : `sim:${device}`;
  return deviceEngine({ name, open: () => openDevice(name), stepsPerChunk: simulatedChunk });
}

/** How many devices the simulated driver has. */
async function simulatedDevices(): Promise<number> {
  const [{ openDevices }] = await Promise.all([import("./gpu/index.js"), import("./sim/index.js")]);
  const contexts = openDevices("sim:all");
  for (const context of contexts) context.dispose();
  return contexts.length;
}

/**
 * cuBLAS and cuSOLVER of a CUDA device for ridge regression, if they are installed:
 * `ridge({ blas })` then sums training rows by cuBLAS, where the states of that engine are, and
 * solves by cuSOLVER. Weights differ in their last digits from the portable ones and from version
 * to version of the libraries.
 *
 * @example
 * using blas = await cudaBlas();
 * await using computer = await ReservoirComputer.create({ size: 1000, seed: 1 }, { engine: "cuda" });
 * const trainer = ridge({ blas });
 * const sink = trainer.accumulator({ stateSize: 1000, inputSize: 1, outputSize: 1 });
 * await computer.train(inputs, targets, sink);
 * const readout = trainer.solve(sink);
 * @throws LibraryError naming every path tried if a library is missing; EngineUnavailableError
 * if there is no such device
 */
export async function cudaBlas(engine = "cuda"): Promise<DeviceBlas> {
  const [{ DeviceBlas: Blas }, chosen] = await Promise.all([import("./engine/cuda/training/device-blas.js"), chooseEngine(engine)]);
  if (!("context" in chosen.engine))
    throw ArgumentError.because(`engine is ${JSON.stringify(engine)}; cudaBlas takes "cuda" or a device by number, "cuda:1"`, {
      field: "engine",
    });
  return new Blas((chosen.engine as DeviceEngine).context());
}

export {
  type ArgumentCode,
  type ArgumentDetails,
  ArgumentError,
  DisposedError,
  type ErrorCode,
  type ErrorDetails,
  SpillwayError,
} from "./core/errors.js";
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
// From the files themselves, since the room's index loads the export to ONNX too.
export { Classifier } from "./model/classifier/classifier.js";
export type { ClassifierOptions, ClassifierReadout, ClassifierSettings, Label, Representation } from "./model/classifier/options.js";
export { NotFittedError } from "./model/errors.js";
export { FieldForecaster, type FieldState } from "./model/field/field.js";
export type { FieldGroupsState } from "./model/field/groups.js";
export type {
  FieldData,
  FieldEdges,
  FieldForecastOptions,
  FieldOptions,
  FieldPredictOptions,
  FieldScoreOptions,
  FieldSequences,
  FieldSettings,
  FieldStartOptions,
} from "./model/field/options.js";
export type { ForecasterData, ForecasterPrefix, ForecasterSequences } from "./model/forecaster/data.js";
export { Forecaster } from "./model/forecaster/forecaster.js";
export type {
  ForecasterOptions,
  ForecasterSettings,
  ForecastOptions,
  OwnReadout,
  PredictOptions,
  ScoreOptions,
  StartOptions,
} from "./model/forecaster/options.js";
export { type LoadedModel, loadModel } from "./model/load-model.js";
export { type LoadOptions, ModelFileError, type ModelKind } from "./model/model-file.js";
export { NvarForecaster, type NvarState } from "./model/nvar/nvar.js";
export type {
  NvarData,
  NvarDescribed,
  NvarForecastOptions,
  NvarOptions,
  NvarPredictOptions,
  NvarScoreOptions,
  NvarSequences,
  NvarSettings,
  NvarStartOptions,
  NvarValues,
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
export type { DeviceBlas };
