export { type BinOptions, binSpikes, patternFromRaster, spikeRaster, timeProfile } from "./binning.js";
export { concatenatePatterns, jitterPattern, mergePatterns, shiftPattern, thinPattern } from "./edit.js";
export {
  decodePatternNpz,
  encodePatternNpz,
  patternFromCsv,
  patternFromJson,
  patternToCsv,
  patternToJson,
  readSpikePattern,
  writeSpikePattern,
} from "./files.js";
export { encodeSpikeHdf5, SpikeEventFile, type SpikeHdf5Options, writeSpikeHdf5 } from "./hdf5.js";
export { type Spike, SpikePattern, type SpikePatternOptions } from "./pattern.js";
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
