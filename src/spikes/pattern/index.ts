export {
  type Spike,
  type SpikeColumns,
  type SpikeMetadata,
  type SpikeMetadataValue,
  SpikePattern,
  type SpikePatternOptions,
} from "./pattern.js";
export { type BinOptions, binSpikes, patternFromRaster, spikeRaster, timeProfile } from "./binning.js";
export {
  concatenatePatterns,
  type JitterOptions,
  jitterPattern,
  type MergeOptions,
  mergePatterns,
  type PatternEdge,
  shiftPattern,
  thinPattern,
} from "./edit.js";
export {
  interspikeIntervals,
  neuronCounts,
  neuronRates,
  slicePattern,
  spikeCount,
  spikeRate,
  spikesInWindow,
  spikeTrains,
} from "./rates.js";
