/**
 * Pipelines of classification: from raw cases to classes, with splits, cross-validation and a small
 * search.
 */
export { crossValidate } from "./cross-validate.js";
export {
  type FolderCases,
  readSeriesFolder,
  readSpikeFolder,
  readUeaFolder,
  readWavFolder,
  type SoundFolderOptions,
} from "./data-folders.js";
export { gridSearch } from "./grid-search.js";
export { type PipelineParameters, withParameter } from "./parameters.js";
export { Pipeline } from "./pipeline.js";
export {
  type FoldOptions,
  groupKFold,
  kFold,
  leaveOneGroupOut,
  type Split,
  type SplitOptions,
  stratifiedKFold,
  trainTestSplit,
} from "./splits.js";
