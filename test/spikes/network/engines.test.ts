// Networks run: the spikes of a C program written from rule 13 of docs/numerics.md alone, and each
// engine's bits against the reference engine's.
import { describe, expect, it } from "vitest";
import type { NetworkOptions } from "../../../src/spikes/network/config.js";
import { drawNetwork } from "../../../src/spikes/network/draw.js";
import { microcircuit } from "../../../src/spikes/network/microcircuit.js";
import { planNetwork } from "../../../src/spikes/network/planning.js";
import { ReferenceNetwork } from "../../../src/spikes/network/reference.js";
import { spikeHash } from "../../../src/spikes/network/spike-hash.js";

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

  it("is as it was before if a potential is not finite", () => {
    const model = drawn({ populations: { E: { size: 1, neuron: "izhikevich", current: 1e20, initialPotential: -65 } } });
    const network = new ReferenceNetwork(model);
    expect(() => network.advance(100, undefined, true)).toThrow(/a potential is not finite after step/);
    expect(network.getState()).toEqual(new ReferenceNetwork(model).getState());
  });
});
