/**
 * Models: fit and predict over a reservoir and a readout, and the file that keeps them. @module
 * spillway/model
 */

export { AnomalyDetector } from "./anomaly/detector.js";
export type { AnomalyOptions, AnomalyRow, Incident } from "./anomaly/options.js";
export { type COptions, saveC, toC } from "./c/index.js";
export { Classifier } from "./classifier/classifier.js";
export type {
  ClassifierOptions,
  ClassifierReadout,
  ClassifierReservoir,
  ClassifierSettings,
  Label,
  Representation,
} from "./classifier/options.js";
export { Conceptor } from "./conceptor/conceptor.js";
export { ConceptorMemory } from "./conceptor/memory.js";
export { NotFittedError } from "./errors.js";
export { FieldForecaster } from "./field/field.js";
export type { FieldGroupsState } from "./field/groups.js";
export type {
  FieldEdges,
  FieldOptions,
  FieldSettings,
} from "./field/options.js";
export type { ForecastOptions, PredictOptions, ScoreOptions, StartOptions, TimesOption } from "./forecaster/call-options.js";
export type { TriedSetting } from "./forecaster/choice.js";
export type { TimedRows } from "./forecaster/clock.js";
export type { DescribedSeries, ForecasterData, ForecasterPrefix, ForecasterSequences } from "./forecaster/data.js";
export { Forecast, type ForecastBand } from "./forecaster/forecast.js";
export { Forecaster } from "./forecaster/forecaster.js";
export type { ForecastModel } from "./forecaster/model.js";
export type { ForecasterOptions, ForecasterSettings, OwnReadout } from "./forecaster/options.js";
export { ActiveInferenceAgent } from "./inference/active-inference.js";
export { PredictiveCodingFilter } from "./inference/predictive-coding.js";
export { type LoadedModel, loadModel } from "./load-model.js";
export { type LoadOptions, ModelFileError, type ModelKind } from "./model-file.js";
export type { NvarState } from "./nvar/member.js";
export { NvarForecaster } from "./nvar/nvar.js";
export type {
  NvarOptions,
  NvarSettings,
} from "./nvar/options.js";
export { type ForecasterUse, type OnnxOptions, saveOnnx, toOnnx } from "./onnx/index.js";
export { decodeReservoir, encodeReservoir, type LoadedReservoir, loadReservoir, saveReservoir } from "./reservoir-file.js";
export { type ForecastScore, type ForecastSweepOptions, type ForecastSweepResult, sweepForecasts } from "./sweep/forecasts.js";
export { type SweepOptions, type SweepResult, type SweepSetting, type SweptReservoir, sweepReadouts } from "./sweep/sweep.js";
export type { TableNames } from "./table-names.js";
export { packageVersion } from "./version.js";
export { saveWasm, toWasm, type WasmFiles } from "./wasm/index.js";
export type { SoundOptions } from "./wasm/sound.js";
