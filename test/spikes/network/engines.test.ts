// Networks run: the spikes of a C program written from rule 13 of docs/numerics.md alone, and each
// engine's bits against the reference engine's.
import { describe, expect, it } from "vitest";
import { WasmNetwork } from "../../../src/engine/cpu/network.js";
import type { NetworkOptions } from "../../../src/spikes/network/config.js";
import { drawNetwork } from "../../../src/spikes/network/draw.js";
import { microcircuit } from "../../../src/spikes/network/microcircuit.js";
import type { NetworkModel } from "../../../src/spikes/network/plan.js";
import { planNetwork } from "../../../src/spikes/network/planning.js";
import { ReferenceNetwork } from "../../../src/spikes/network/reference.js";
import { spikeHash } from "../../../src/spikes/network/spike-hash.js";
import { exhaustive } from "../../exhaustive.js";
import { mixedNetworks, ring } from "./mixed-networks.js";

const small = drawNetwork(planNetwork(microcircuit({ scale: 0.02, drive: "poisson", seed: 1 })));
const drawn = (options: Omit<NetworkOptions, "kind">) => drawNetwork(planNetwork({ kind: "network", ...options }));

describe("the reference engine", () => {
  it("fires the spikes of the C reference, in a fiftieth of the microcircuit", () => {
    const network = new ReferenceNetwork(small);
    const spikes = network.advance(2000, undefined, true)!;
    expect(spikeHash(spikes)).toBe("86716788150d5518");
  });

  it("goes on from a state as if it had never stopped", () => {
    const network = new ReferenceNetwork(small);
    const first = network.advance(150, undefined, true)!;
    const state = network.getState();
    const rest = network.advance(50, undefined, true)!;
    const other = new ReferenceNetwork(small);
    other.setState(state);
    expect(other.advance(50, undefined, true)).toEqual(rest);
    const whole = new ReferenceNetwork(small).advance(200, undefined, true)!;
    expect(spikeHash(rest, 150, spikeHash(first))).toBe(spikeHash(whole));
  });

  it("brings an input spike to its targets after its delay", () => {
    const neuron = {
      type: "leakyIntegrateAndFire",
      membraneTimeConstant: 10,
      threshold: -60,
      restingPotential: -65,
      resetPotential: -65,
    } as const;
    const model = drawn({
      populations: { stimulus: { size: 1, neuron: null }, E: { size: 2, neuron, receptors: { jump: { timeConstant: 0 } } } },
      projections: [
        { from: "stimulus", to: "E[0:1]", connect: "allToAll", weight: 6, delay: 0.3 },
        { from: "E[0:1]", to: "E[1:2]", connect: "allToAll", weight: 6, delay: 0.2 },
      ],
    });
    const offsets = Uint32Array.from([0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    const { offsets: of, neurons } = new ReferenceNetwork(model).advance(10, { offsets, neurons: Uint32Array.of(0) }, true)!;
    expect([...neurons]).toEqual([0, 1]);
    // In step 1 + 3, and 1 + 2 steps later.
    expect([...of]).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2]);
  });

  it("says in which step a potential is not finite", () => {
    const model = drawn({ populations: { E: { size: 1, neuron: "izhikevich", current: 1e20, initialPotential: -65 } } });
    for (const Engine of [ReferenceNetwork, WasmNetwork])
      expect(() => new Engine(model).advance(100, undefined, true)).toThrow(/a potential is not finite after step 1 /);
  });
});

describe("the WebAssembly engine", () => {
  const networks: Record<string, Omit<NetworkOptions, "kind">> = {
    ...mixedNetworks,
    "spikes from outside": {
      populations: { E: { size: 13, background: { rate: 3000, weight: 60 } }, I: { size: 6, background: { rate: 9000, weight: 20 } } },
      projections: [{ from: "E", to: "I", weight: { distribution: "lognormal", mean: 0, deviation: 1 }, ...ring }],
    },
  };
  const same = (model: NetworkModel, steps: number) => {
    const [reference, engine] = [new ReferenceNetwork(model), new WasmNetwork(model)];
    for (const part of [steps - 30, 30]) {
      const expected = reference.advance(part, undefined, true)!;
      expect(expected.neurons.length).toBeGreaterThan(0);
      expect(engine.advance(part, undefined, true)).toEqual(expected);
    }
    expect(engine.getState()).toEqual(reference.getState());
  };

  it.each(
    Object.entries(networks).flatMap(([name, network]) =>
      (["float32", "float64"] as const).map((precision) => [name, precision, network] as const),
    ),
  )("has the reference engine's bits: %s, %s", (_, precision, network) => {
    same(drawn({ ...network, precision }), 600);
  });

  it("has them with spikes given to inputs, and goes on from a state", () => {
    const model = drawn({
      populations: { stimulus: { size: 4, neuron: null }, E: { size: 21 } },
      projections: [{ from: "stimulus", to: "E", connect: { rule: "bernoulli", probability: 0.5 }, weight: 60, delay: 0.1 }],
    });
    const inputs = {
      offsets: Uint32Array.from({ length: 101 }, (_, t) => 2 * t),
      neurons: Uint32Array.from({ length: 200 }, (_, s) => s % 4),
    };
    const [reference, engine] = [new ReferenceNetwork(model), new WasmNetwork(model)];
    const expected = reference.advance(100, inputs, true)!;
    expect(expected.neurons.length).toBeGreaterThan(0);
    expect(engine.advance(100, inputs, true)).toEqual(expected);
    const other = new WasmNetwork(model);
    other.setState(engine.getState());
    expect(other.advance(50, undefined, true)).toEqual(reference.advance(50, undefined, true));
  });

  it.runIf(exhaustive)("fires the spikes of the C reference for 50 ms of a tenth of the microcircuit", () => {
    const model = drawNetwork(planNetwork(microcircuit({ scale: 0.1, drive: "poisson", seed: 1 })));
    expect(spikeHash(new WasmNetwork(model).advance(500, undefined, true)!)).toBe("756a0f870089f4bd");
  });
});
