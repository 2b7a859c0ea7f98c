// What the formats of networks do with one that could be made: a few steps, on two engines.
import { SpillwayError } from "../../packages/core/src/errors.js";
import type { NetworkPlan, SpikingNetwork } from "../../src/spikes/index.js";

/** Whether a network is drawn and run within some ms. */
export const isSmall = ({ size, inputs, expectedSynapses, ringRows, receptors }: NetworkPlan): boolean =>
  size + inputs < 2000 && expectedSynapses < 100_000 && ringRows * receptors * size < 2 ** 22;

/**
 * Runs a network on the engines "cpu" and "reference". @throws Error if their states differ, or one
 * alone is refused
 */
export async function runOnEngines(make: (engine: string) => Promise<SpikingNetwork>, steps: number): Promise<void> {
  const results: string[] = [];
  for (const engine of ["cpu", "reference"]) {
    await using network = await make(engine);
    results.push(await resultOf(network, steps));
  }
  if (results[0] !== results[1]) throw new Error(`the engines differ: ${results.map((result) => result.slice(0, 300)).join(" and ")}`);
}

async function resultOf(network: SpikingNetwork, steps: number): Promise<string> {
  try {
    await network.run(steps * network.config.timeStep);
  } catch (error) {
    if (error instanceof SpillwayError && error.code === "numeric") return error.message;
    throw error;
  }
  return JSON.stringify(await network.getState());
}
