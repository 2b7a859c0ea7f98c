// Spiking neurons on their own. Networks of them are in ../liquid.
export { integrateAndFireNumbers, type IntegrateAndFireNumbers } from "./leaky-integrate-and-fire.js";
export { type NeuronTrace, simulateNeuron, type SimulateNeuronOptions } from "./simulate.js";
