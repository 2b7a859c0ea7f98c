/**
 * Pipelines of classification: from raw cases to classes, with splits, cross-validation and a small
 * search.
 */
export { type CrossValidation, type CrossValidationOptions, crossValidate, type FoldScore, type LabelledCases } from "./cross-validate.js";
export {
  type ArchiveData,
  type FolderCases,
  readSeriesFolder,
  readSpikeFolder,
  readUeaFolder,
  readWavFolder,
  type SeriesFolder,
  type SoundFolder,
  type SoundFolderOptions,
  type SpikeFolder,
  type SpikeFolderOptions,
} from "./data-folders.js";
export {
  type GridPoint,
  type GridSearch,
  type GridSearchOptions,
  gridSearch,
  type NestedValidation,
  type ParameterGrid,
} from "./grid-search.js";
export { type EncoderParameters, type PipelineCase, type PipelineParameters, type Scaler, withParameter } from "./parameters.js";
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
