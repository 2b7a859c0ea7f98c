import { describe, expect, it } from "vitest";
import { echoStateIndex } from "../../src/analysis/index.js";
import { NonFiniteStateError, ReservoirComputer } from "../../src/index.js";

const ring = { size: 10, topology: "ring", activation: "identity", leakRate: 1, precision: "float64" } as const;

describe("the echo-state index", () => {
  it("of a delay line is 0: every initial state has left after as many steps as there are taps", async () => {
    const { index, meets, curve } = await echoStateIndex({ ...ring, topology: "delayLine" }, { length: 60 });
    expect(index).toBe(0);
    expect(meets).toBe(true);
    expect(curve[9]).toBeGreaterThan(0);
    expect(curve[10]).toBe(0);
  });

  it("of a linear ring of radius .9 is the initial distance times .9^t, averaged after the washout", async () => {
    const { index, curve } = await echoStateIndex({ ...ring, spectralRadius: 0.9 }, { length: 40, washout: 20 });
    for (let t = 1; t <= 40; t++) expect(curve[t]! / curve[0]!).toBeCloseTo(0.9 ** t, 12);
    const mean = Array.from({ length: 20 }, (_, i) => 0.9 ** (21 + i)).reduce((a, b) => a + b) / 20;
    expect(index / curve[0]!).toBeCloseTo(mean, 12);
  });

  it("of an orthogonal linear reservoir stays at the initial distance: the states never meet", async () => {
    const { index, meets, curve } = await echoStateIndex({ ...ring, topology: "orthogonal", spectralRadius: 1 }, { length: 200 });
    expect(index).toBeCloseTo(curve[0]!, 10);
    expect(meets).toBe(false);
  });

  it("of a neuron with two attractors, x = tanh(2x), tells that states part", async () => {
    const config = {
      size: 1,
      inputSize: 0,
      topology: "ring",
      spectralRadius: 2,
      leakRate: 1,
      precision: "float64",
      initialState: [0.1],
    } as const;
    const { index, meets } = await echoStateIndex(config, { length: 200, initialStates: 40 });
    let x = 1;
    for (let i = 0; i < 200; i++) x = Math.tanh(2 * x);
    // Each start ends at x or at -x, 2x away from the reference.
    const share = index / (2 * x);
    expect(share * 40).toBeCloseTo(Math.round(share * 40), 8);
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.8);
    expect(meets).toBe(false);
  });

  it("depends on the input: a strong one makes a reservoir of radius 1.3 forget where it started", async () => {
    const config = { size: 100, spectralRadius: 1.3, leakRate: 1, seed: 1 } as const;
    expect((await echoStateIndex(config, { inputs: new Float64Array(1000) })).meets).toBe(false);
    expect((await echoStateIndex({ ...config, inputScaling: 5 }, { length: 1000 })).meets).toBe(true);
  });

  it("leaves a computer's state as it was, and measures from its initial state", async () => {
    await using computer = await ReservoirComputer.create({ size: 20 });
    const fresh = await echoStateIndex(computer, { length: 50 });
    await computer.run([1, 2, 3]);
    const before = computer.state;
    expect(await echoStateIndex(computer, { length: 50 })).toEqual(fresh);
    expect(computer.state).toEqual(before);
  });

  it("says what it does not take, and where a state explodes", async () => {
    await expect(echoStateIndex(ring, { length: 10, washout: 10 })).rejects.toThrow(
      "washout is 10; it takes fewer than the 10 steps there are",
    );
    await expect(echoStateIndex(ring, { initialStates: 0 })).rejects.toThrow("initialStates is 0; it takes a whole number of at least 1");
    await expect(echoStateIndex({ ...ring, spectralRadius: 3 })).rejects.toThrow(NonFiniteStateError);
  });
});
