// Which engine "auto" gives a spiking reservoir.
import { describe, expect, it } from "vitest";
import { referenceEngine } from "../../src/engine/reference/index.js";
import { ReservoirComputer } from "../../src/index.js";
import { type Engine, registerEngine } from "../../src/reservoir/index.js";
import { SpikingNetwork } from "../../src/spikes/index.js";
import { build, shape } from "../../src/spikes/liquid/kind.js";
import { exhaustive } from "../exhaustive.js";

/** An engine for large networks: a step of any of them in 20 us. */
const large: Engine = { ...referenceEngine, name: "large", cost: { microseconds: () => 20 } };
registerEngine("large", async () => large, { automatic: true });

describe("auto", () => {
  it("takes the CPU for a small liquid and an engine that is modelled to be faster for a large one", async () => {
    const small = await ReservoirComputer.create({ kind: "spiking", size: 200 });
    const big = await ReservoirComputer.create({ kind: "spiking", size: 20_000, connectivity: { type: "random", probability: 1e-4 } });
    expect(small.engine.name).toBe("cpu");
    expect(big.engine.name).toBe("large");
    expect(big.engine.reason).toContain("a step of 20000 neurons is modelled at 1.0e2 us on cpu and 20 us on large");
    await small.dispose();
    await big.dispose();
  });

  it("chooses alike for networks, and leaves those that devices run slowly to the CPU", async () => {
    const engineOf = async (size: number, neuron: "leakyIntegrateAndFire" | "izhikevich") => {
      const populations = { E: { size, neuron } };
      await using network = await SpikingNetwork.create({ kind: "network", populations, projections: [] });
      return network.engine.split(":")[0];
    };
    expect(await engineOf(200, "leakyIntegrateAndFire")).toBe("cpu");
    expect(await engineOf(20_000, "leakyIntegrateAndFire")).toBe("reference");
    expect(await engineOf(20_000, "izhikevich")).toBe("cpu");
  });

  it.runIf(exhaustive)("goes by the synapses that a description will have", () => {
    const probability = { ee: 0.2, ei: 0.1, ie: 0.3, ii: 0.05 };
    for (const connectivity of [{ type: "random", probability } as const, { type: "distance", lambda: 1.2 } as const]) {
      const options = { kind: "spiking", size: 2000, connectivity } as const;
      const synapses = build(options).synapses.targets.length;
      expect(shape(options).synapses / synapses).toBeGreaterThan(0.9);
      expect(shape(options).synapses / synapses).toBeLessThan(1.35);
    }
  });
});
