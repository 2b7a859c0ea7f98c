/**
 * Experiments as data: read one from a file or make it in a program, run it over its seeds, and
 * keep what it found in a folder. Importing this loads yaml.
 */

export { loadData } from "./data/data.js";
export type { ExperimentInput } from "./description/description.js";
export { ExperimentError } from "./description/errors.js";
export { asExperiment, loadExperiment, parseExperimentText } from "./description/file.js";
export { experimentJsonSchema, experimentSchema } from "./description/json-schema.js";
export { loadNetworkExperiment, readNetworkExperiment } from "./description/network-file.js";
export { parseExperiment } from "./description/parse.js";
export { resolveDataPath } from "./description/paths.js";
export { runFigures } from "./report/run-figures.js";
export { runNetworkExperiment } from "./runs/network-run.js";
export { readRun } from "./runs/read-run.js";
export { type ExperimentResult, formatResult } from "./runs/result.js";
export { type ExperimentSource, type FinishedRun, runExperiment } from "./runs/run.js";
export type { ExperimentRunOptions } from "./runs/run-options.js";
export { searchExperiment } from "./search/search.js";
export { readSearch, type SearchInput, type SearchPlan } from "./search/search-plan.js";
export { type FinishedSearch, readSearchResult, type SearchResult } from "./search/search-result.js";
export type { ChosenSettings } from "./tasks/forecast-choice.js";
