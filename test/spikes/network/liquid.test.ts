// Liquids as networks of populations: the same spikes and states, to the bit.
import { describe, expect, it } from "vitest";
import { Matrix } from "../../../packages/numerics/src/index.js";
import { ReservoirComputer } from "../../../src/index.js";
import { type LiquidOptions, LiquidStateMachine, liquidNetwork, SpikePattern, SpikingNetwork } from "../../../src/spikes/index.js";
import { casesOf } from "../../exhaustive.js";

const quiet = { rate: 0, deviation: 0 };
const liquids: Record<string, Partial<LiquidOptions>> = {
  "leaky neurons by distance": {},
  "binary64, potentials drawn": { precision: "float64", initialPotential: { from: -70, to: -56 } },
  "adaptive neurons, random, delays that differ": {
    connectivity: "random",
    neuron: { type: "adaptiveIntegrateAndFire", adaptationStep: 2 },
    synapses: { delay: [0, 4] },
  },
  "Izhikevich's neurons, a current, inputs of both signs": {
    neuron: "izhikevich",
    background: { ...quiet, current: 6 },
    input: { negativeShare: 0.3, delay: 2 },
  },
  "jumps of the potential": { synapses: { excitatoryTimeConstant: 0 } },
};

describe("a liquid as a network", () => {
  it.each(
    casesOf(
      Object.entries(liquids).flatMap(([name, liquid]) => ["cpu", "reference", "sim"].map((engine) => [name, engine, liquid] as const)),
      ([, engine], k) => engine === "cpu" || k < 3,
    ),
  )("has its states and spikes: %s, %s", async (_, engine, given) => {
    const options = { size: 70, inputSize: 9, seed: 4, background: quiet, ...given };
    await using liquid = await LiquidStateMachine.create(options, { engine: "reference" });
    const network = liquidNetwork(liquid.model);
    const { timeStep, precision } = liquid.config;
    await using same = await ReservoirComputer.create({ ...network, rowMs: timeStep } as never, { engine });
    const counts = Float64Array.from({ length: 150 * 9 }, (_, k) => (k % 7 === 0 || k % 11 === 3 ? 1 + (k % 2) : 0));
    const rows = new Matrix(150, 9, precision === "float32" ? Float32Array.from(counts) : counts);
    const expected = await liquid.computer.run(rows);
    expect(expected.data.some((value) => value > 0)).toBe(true);
    expect((await same.run(rows)).data).toEqual(expected.data);

    const times = Array.from({ length: 200 }, (_, k) => 0.5 * k + timeStep / 2);
    const pattern = SpikePattern.from(
      times.map((timeMs, k) => ({ timeMs, neuron: (k * k) % 9 })),
      { durationMs: 120, neuronCount: 9 },
    );
    const fired = await liquid.spikes(pattern);
    await using running = await SpikingNetwork.create(network, { engine });
    const { spikes } = await running.run(120, { spikes: true, inputs: { input: pattern } });
    const all = Object.entries(spikes).flatMap(([name, { neurons }]) => Array.from(neurons, (n) => n + (name === "I" ? 56 : 0)));
    expect(all.length).toBeGreaterThan(0);
    expect(all.sort((a, b) => a - b)).toEqual(Array.from(fired.neurons).sort((a, b) => a - b));
  });

  it("is refused for what a network draws otherwise", async () => {
    const from = async (options: Partial<LiquidOptions>) =>
      liquidNetwork((await LiquidStateMachine.create({ size: 20, inputSize: 2, background: quiet, ...options })).model);
    await expect(from({ background: { rate: 5 } })).rejects.toThrow(/background\.rate is 5; it takes 0: networks draw/);
    await expect(from({ background: { ...quiet, deviation: 1 } })).rejects.toThrow(/background\.deviation is 1/);
    await expect(from({ input: { mode: "current" } })).rejects.toThrow(/input\.mode is "current"; it takes spikes/);
  });
});
