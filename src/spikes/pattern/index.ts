export { type BinOptions, binSpikes, patternFromRaster, spikeRaster, timeProfile } from "./binning.js";
export type { SpikeTimeUnit } from "./csv-columns.js";
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
  decodePatternNpz,
  encodePatternNpz,
  type PatternFormat,
  type PatternReadOptions,
  patternFromCsv,
  patternFromJson,
  patternToCsv,
  patternToJson,
  readSpikePattern,
  type SpikeCsvOptions,
  writeSpikePattern,
} from "./files.js";
export { encodeSpikeHdf5, SpikeEventFile, type SpikeHdf5Options, type SpikeHdf5WriteOptions, writeSpikeHdf5 } from "./hdf5.js";
export {
  type Spike,
  type SpikeColumns,
  type SpikeMetadata,
  type SpikeMetadataValue,
  SpikePattern,
  type SpikePatternOptions,
} from "./pattern.js";
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
