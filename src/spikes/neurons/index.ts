// Spiking neurons on their own. Networks of them are in ../liquid.
export { type IntegrateAndFireNumbers, integrateAndFireNumbers } from "./leaky-integrate-and-fire.js";
export { type NeuronTrace, type SimulateNeuronOptions, simulateNeuron } from "./simulate.js";
