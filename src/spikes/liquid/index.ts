// Liquid state machines: networks of spiking neurons as reservoirs.
export { liquidNetwork } from "./as-network.js";
export { coordinates, gridPoints, gridSides } from "./grid.js";
export { patternInputs } from "./inputs.js";
export { learnSpikeTiming } from "./learn.js";
export { type LiquidOptions, LiquidStateMachine } from "./liquid-state-machine.js";
export { firedNeurons, processPattern, processPatterns, reservoirSpikes } from "./process.js";
export { synapticWeights, withSynapticWeights } from "./weights.js";
