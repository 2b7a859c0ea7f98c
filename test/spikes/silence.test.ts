// Liquids that do not respond to their inputs: what the defaults do for few channels and many, and
// what is said of those that stay silent.
import { describe, expect, it, vi } from "vitest";
import "../../src/index.js";
import { RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { type LiquidOptions, LiquidStateMachine, SpikePattern } from "../../src/spikes/index.js";

const durationMs = 2000;
/** Poisson trains of a rate. */
function trains(channels: number, rate: number): SpikePattern {
  const draws = new RandomStream(seedKeys(`${channels} at ${rate}`).weights, 99);
  const spikes = Array.from({ length: channels }, (_, neuron) => {
    const times: { neuron: number; timeMs: number }[] = [];
    let timeMs = 0;
    for (let k = 0; ; k++) {
      timeMs -= (1000 / rate) * Math.log(1 - draws.uniform(neuron, k));
      if (timeMs >= durationMs) return times;
      times.push({ neuron, timeMs });
    }
  });
  return SpikePattern.from(spikes.flat(), { durationMs, neuronCount: channels });
}

async function warningsWhile(work: () => Promise<void>): Promise<string[]> {
  const found: string[] = [];
  const spy = vi.spyOn(process, "emitWarning").mockImplementation(((message: string, type: string) => {
    if (type === "SpillwaySilenceWarning") found.push(message);
  }) as never);
  try {
    await work();
    return found;
  } finally {
    spy.mockRestore();
  }
}

describe("a liquid with the defaults", () => {
  it.each([1, 3, 10, 30, 100])("responds to %i channels from 1 to 100 spikes a second, the more the more there are", async (channels) => {
    await using liquid = await LiquidStateMachine.create({ size: 200, inputSize: channels, seed: 1 });
    const rates: number[] = [];
    for (const rate of [1, 10, 100]) {
      const spikes = await liquid.spikes(trains(channels, rate));
      rates.push((1000 * spikes.times.length) / (200 * durationMs));
    }
    expect(rates[0]).toBeGreaterThan(0);
    expect(rates[1]).toBeGreaterThan(2 * rates[0]!);
    expect(rates[2]).toBeGreaterThan(2 * rates[1]!);
    // Neurons that are refractory for 2 or 3 ms and steps of 1 ms: 250 to 333 a second at most.
    expect(rates[2]).toBeLessThan(250);
  });
});

describe("a liquid that stays silent", () => {
  const create = async (options: Partial<LiquidOptions>) => {
    vi.resetModules();
    await import("../../src/index.js");
    const { LiquidStateMachine: Fresh } = await import("../../src/spikes/index.js");
    return Fresh.create({ size: 100, inputSize: 3, seed: 1, ...options });
  };
  const pattern = trains(3, 6);

  it.each(["run", "spikes", "processAll"] as const)("says so once, with what to raise, in %s", async (method) => {
    const found = await warningsWhile(async () => {
      await using liquid = await create({ input: { weight: 2 } });
      for (let k = 0; k < 2; k++) await (method === "processAll" ? liquid.processAll([pattern]) : liquid[method](pattern));
    });
    expect(found).toHaveLength(1);
    expect(found[0]).toBe(
      `100 % of the liquid's 100 neurons did not fire on ${pattern.times.length} input spikes: ` +
        "raise input.weight (2 mV), input.connectivity (0.3) or background.current (0 mV)",
    );
  });

  it("is not blamed without input, and one that responds is not either", async () => {
    const found = await warningsWhile(async () => {
      await using liquid = await create({ input: { weight: 2 } });
      await liquid.run(SpikePattern.from([], { durationMs: 100, neuronCount: 3 }));
      await using other = await create({});
      await other.run(pattern);
    });
    expect(found).toEqual([]);
  });
});
