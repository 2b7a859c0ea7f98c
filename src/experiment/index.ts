/**
 * Experiments as data: read one from a file or make it in a program, run it over its seeds, and
 * keep what it found in a folder. Importing this loads yaml.
 */

export type { JsonSchema } from "../core/options.js";
export type { Bands } from "./bands.js";
export type { ClassResult } from "./classes.js";
export { type CaseData, type Cases, type DrivenData, type ExperimentData, loadData, type SeriesData } from "./data.js";
export type {
  BaselineDescription,
  ClassifyTask,
  DataDescription,
  DetectTask,
  EncodeDescription,
  Experiment,
  ExperimentInput,
  FileData,
  ForecastTask,
  GeneratedData,
  MapAxisDescription,
  MapDescription,
  MetricName,
  NamedFiles,
  OpenExperiment,
  OpenForecastTask,
  OpenTask,
  OutputsDescription,
  PatternData,
  PatternName,
  PredictTask,
  PublishedFigure,
  ScoringDescription,
  SeriesFolderData,
  SoundData,
  SpikeBins,
  SpikeData,
  SplitDescription,
  TaskDescription,
  TransformDescription,
} from "./description.js";
export { ExperimentError, type ExperimentErrorPlace } from "./errors.js";
export { asExperiment, type LoadedExperiment, loadExperiment, parseExperimentText } from "./file.js";
export type { ChosenSettings } from "./forecast-choice.js";
export { experimentJsonSchema } from "./json-schema.js";
export type { Machine } from "./machine.js";
export type { FieldDescription, ForecasterDescription, ModelDescription, ModelType, NvarDescription } from "./model-options.js";
export { loadNetworkExperiment, type NetworkExperiment, type NetworkReference, readNetworkExperiment } from "./network-file.js";
export { type FinishedNetworkRun, type NetworkResult, type NetworkSeedResult, runNetworkExperiment } from "./network-run.js";
export { type CheckedExperiment, parseExperiment } from "./parse.js";
export { resolveDataPath } from "./paths.js";
export type { RunFiguresOptions } from "./plot-options.js";
export { readRun } from "./read-run.js";
export { type ExperimentResult, formatResult, type ResolvedExperiment, type ScoreSummary, type Scores, type SeedResult } from "./result.js";
export { type ExperimentSource, type FinishedRun, runExperiment } from "./run.js";
export { type RunFigures, runFigures } from "./run-figures.js";
export type { ExperimentRunOptions } from "./run-options.js";
export { searchExperiment } from "./search.js";
export type { SearchObjective } from "./search-objective.js";
export type { ExperimentSearchOptions } from "./search-options.js";
export { readSearch, type SearchInput, type SearchPlan } from "./search-plan.js";
export type { PassedOver } from "./search-refit.js";
export { type FinishedSearch, readSearchResult, type SearchBest, type SearchResult } from "./search-result.js";
export type { SeriesPart } from "./table.js";
export type { EngineChoiceOptions } from "./trial.js";
