/**
 * Experiments as data: read, run, and search over experiment files.
 * @module spillway/experiment
 */
export {
  ExperimentError,
  type ExperimentInput,
  type ExperimentResult,
  type ExperimentRunOptions,
  type ExperimentSource,
  experimentJsonSchema,
  experimentSchema,
  formatResult,
  loadData,
  loadExperiment,
  loadNetworkExperiment,
  parseExperiment,
  parseExperimentText,
  readNetworkExperiment,
  readRun,
  readSearch,
  readSearchResult,
  resolveDataPath,
  runExperiment,
  runFigures,
  runNetworkExperiment,
  type SearchInput,
  type SearchPlan,
  type SearchResult,
  searchExperiment,
} from "../experiment/index.js";
