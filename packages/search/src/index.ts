/**
 * Searches over settings: a space, samplers that propose, and what the trials say of the
 * parameters. It knows no reservoir: `spillway/experiment` searches over experiments with it.
 */

export { cmaes } from "./cmaes.js";
export { DifferentResultsError } from "./different-results.js";
export { hyperband, nextPromotion, survivors } from "./halving.js";
export { parameterImportance } from "./importance.js";
export { journalFile } from "./journal/file.js";
export { redisJournal } from "./journal/redis.js";
export { repairJournal } from "./journal/repair.js";
export { type DifferentTrial, mergeStudies } from "./merge.js";
export { StorageAwayError } from "./patience.js";
export type { Sampler, SamplerView, SeenTrial, TrialState } from "./sampler.js";
export { grid, gridSize, randomSampler, sobol } from "./simple-samplers.js";
export { type ParameterDescription, SearchSpace, type SpaceDescription, type TrialParameters } from "./space.js";
export { type Attributes, MemoryStorage, type StoredParameter, type StudyOperation, type StudyStorage } from "./storage.js";
export { Study } from "./study.js";
export { type StoredStudy, type StoredTrial, StudyLog } from "./study-log.js";
export type { StudyOptions } from "./study-options.js";
export type { AskedTrial, StudyTrial, TrialOutcome } from "./study-trials.js";
export { tpe } from "./tpe.js";
