export {
  type Spike,
  type SpikeColumns,
  type SpikeMetadata,
  type SpikeMetadataValue,
  SpikePattern,
  type SpikePatternOptions,
} from "./pattern.js";
