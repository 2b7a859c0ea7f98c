// Liquid state machines: networks of spiking neurons as reservoirs.
export { coordinates, gridPoints, gridSides, type GridSides } from "./grid.js";
export { type LearntLiquid, type LiquidLearningOptions, learnSpikeTiming } from "./learn.js";
export { type LiquidOptions, LiquidStateMachine } from "./liquid-state-machine.js";
export type { InputOptions } from "./input-options.js";
export { patternInputs } from "./inputs.js";
export {
  firedNeurons,
  type OneStateOptions,
  type ProcessedPatterns,
  processPattern,
  processPatterns,
  type ProcessOptions,
  reservoirSpikes,
} from "./process.js";
export { synapticWeights, withSynapticWeights } from "./weights.js";
