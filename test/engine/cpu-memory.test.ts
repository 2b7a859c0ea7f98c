import { describe, expect, it } from "vitest";
import { expectedMemory, planMemory } from "../../src/engine/cpu/memory.js";
import { ReservoirComputer, type ReservoirModel, type ReservoirOptions } from "../../src/index.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import { expectedShape } from "../../src/reservoir/shape.js";

async function both(options: ReservoirOptions): Promise<{ expected: number; planned: number }> {
  await using computer = await ReservoirComputer.create({ spectralRadius: null, ...options }, { engine: "cpu" });
  return {
    expected: expectedMemory(expectedShape(resolveConfig(options))),
    planned: planMemory(computer.model as ReservoirModel).totalBytes,
  };
}

describe("the memory that is expected of a reservoir before it is drawn", () => {
  it.each<ReservoirOptions>([
    { size: 500, connectionProbability: 1 },
    { size: 301, inputSize: 3, precision: "float64", storage: "dense" },
    { size: 1000, topology: "ring" },
    { size: 40_000, topology: "ring", precision: "float64" },
  ])("is what its plan takes, %j", async (options) => {
    const { expected, planned } = await both(options);
    expect(expected).toBe(planned);
  });

  it.each<ReservoirOptions>([
    { size: 3000, connectionProbability: 0.05 },
    { size: 3000, topology: { type: "cycleWithJumps", jump: 7 } },
    { size: 3000, topology: "delayLine" },
  ])("is near it if rows differ in length, %j", async (options) => {
    const { expected, planned } = await both(options);
    expect(Math.abs(expected - planned) / planned).toBeLessThan(0.05);
  });
});
