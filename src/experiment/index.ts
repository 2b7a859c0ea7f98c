/**
 * Experiments as data: read one from a file or make it in a program, run it over its seeds, and
 * keep what it found in a folder. Importing this loads yaml.
 */

export type { JsonSchema } from "@spillway/core/options.js";
export { loadData } from "./data/data.js";
export type { CaseData, Cases, DrivenData, ExperimentData, SeriesData } from "./data/experiment-data.js";
export type { SeriesPart } from "./data/table.js";
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
} from "./description/description.js";
export { ExperimentError, type ExperimentErrorLocation } from "./description/errors.js";
export { asExperiment, type LoadedExperiment, loadExperiment, parseExperimentText } from "./description/file.js";
export { experimentJsonSchema, experimentSchema } from "./description/json-schema.js";
export type { FieldDescription, ForecasterDescription, ModelDescription, ModelType, NvarDescription } from "./description/model-options.js";
export { loadNetworkExperiment, type NetworkExperiment, type NetworkReference, readNetworkExperiment } from "./description/network-file.js";
export { type CheckedExperiment, parseExperiment } from "./description/parse.js";
export { resolveDataPath } from "./description/paths.js";
export type { RunFiguresOptions } from "./report/plot-options.js";
export { type RunFigures, runFigures } from "./report/run-figures.js";
export type { Machine } from "./runs/machine.js";
export { type FinishedNetworkRun, type NetworkResult, type NetworkSeedResult, runNetworkExperiment } from "./runs/network-run.js";
export { readRun } from "./runs/read-run.js";
export {
  type ExperimentResult,
  formatResult,
  type ResolvedExperiment,
  type ScoreSummary,
  type Scores,
  type SeedResult,
} from "./runs/result.js";
export { type ExperimentSource, type FinishedRun, runExperiment } from "./runs/run.js";
export type { ExperimentRunOptions } from "./runs/run-options.js";
export { searchExperiment } from "./search/search.js";
export type { SearchObjective } from "./search/search-objective.js";
export type { ExperimentSearchOptions } from "./search/search-options.js";
export { readSearch, type SearchInput, type SearchPlan } from "./search/search-plan.js";
export type { PassedOver } from "./search/search-refit.js";
export { type FinishedSearch, readSearchResult, type SearchBest, type SearchResult } from "./search/search-result.js";
export type { Bands } from "./tasks/bands.js";
export type { ClassResult } from "./tasks/classes.js";
export type { ChosenSettings } from "./tasks/forecast-choice.js";
export type { EngineChoiceOptions } from "./tasks/trial.js";
