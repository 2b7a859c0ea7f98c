// Spiking neurons on their own. Networks of them are in ../liquid.
export { integrateAndFireNumbers } from "./leaky-integrate-and-fire.js";
export { simulateNeuron } from "./simulate.js";
