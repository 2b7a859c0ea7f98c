/**
 * Samplers, studies and their journals.
 * @module spillway/search
 */
export {
  cmaes,
  DifferentResultsError,
  grid,
  gridSize,
  hyperband,
  journalFile,
  MemoryStorage,
  mergeStudies,
  parameterImportance,
  randomSampler,
  redisJournal,
  repairJournal,
  type Sampler,
  type SamplerView,
  SearchSpace,
  StorageAwayError,
  type StoredStudy,
  type StoredTrial,
  Study,
  StudyLog,
  type StudyOptions,
  type StudyStorage,
  sobol,
  type TrialState,
  tpe,
} from "@spillway/search";
