// Liquid state machines: networks of spiking neurons as reservoirs.
export { liquidNetwork } from "./as-network.js";
export { coordinates, type GridSides, gridPoints, gridSides } from "./grid.js";
export type { InputOptions } from "./input-options.js";
export { patternInputs } from "./inputs.js";
export { type LearntLiquid, type LiquidLearningOptions, learnSpikeTiming } from "./learn.js";
export { type LiquidOptions, LiquidStateMachine } from "./liquid-state-machine.js";
export {
  firedNeurons,
  type OneStateOptions,
  type ProcessedPatterns,
  type ProcessOptions,
  processPattern,
  processPatterns,
  reservoirSpikes,
} from "./process.js";
export { synapticWeights, withSynapticWeights } from "./weights.js";
