/**
 * Searches over settings: a space, samplers that propose, and what the trials say of the
 * parameters. It knows no reservoir: `spillway/experiment` searches over experiments with it.
 */

export { type CmaesOptions, cmaes } from "./cmaes.js";
export { DifferentResultsError } from "./different-results.js";
export { type Bracket, type HalvingTrial, hyperband, nextPromotion, survivors } from "./halving.js";
export { parameterImportance } from "./importance.js";
export { type JournalFileOptions, journalFile } from "./journal/file.js";
export { type RedisJournalOptions, redisJournal } from "./journal/redis.js";
export { type JournalRepair, repairJournal } from "./journal/repair.js";
export { type DifferentTrial, mergeStudies, type StudyMerge } from "./merge.js";
export { StorageAwayError } from "./patience.js";
export type { Sampler, SamplerView, SeenTrial, Suggestion, TrialState } from "./sampler.js";
export type { SamplerOptions } from "./sampler-options.js";
export { grid, gridSize, randomSampler, sobol } from "./simple-samplers.js";
export {
  type ParameterCondition,
  type ParameterDescription,
  type ParameterValue,
  type SearchParameter,
  SearchSpace,
  type SpaceDescription,
  type TrialParameters,
} from "./space.js";
export {
  type Attributes,
  type Distribution,
  type Json,
  MemoryStorage,
  type StoredParameter,
  type StudyDirection,
  type StudyOperation,
  type StudyStorage,
  type TrialTemplate,
} from "./storage.js";
export { Study } from "./study.js";
export { type StoredStudy, type StoredTrial, StudyLog, type TrialListener } from "./study-log.js";
export type { StudyOptions } from "./study-options.js";
export type { AskedTrial, StudyTrial, TrialOutcome, TrialOutcomes } from "./study-trials.js";
export type { TrialCounts } from "./study-view.js";
export { type TpeOptions, tpe } from "./tpe.js";
