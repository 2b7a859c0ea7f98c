// Plastic projections of running networks: closed forms, the formula of pairs, values of Brian2,
// and the same bits however a run is cut. Rule 13 of docs/numerics.md.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import "../../../src/index.js";
import { loadWasm } from "../../../packages/numerics/src/wasm/index.js";
import { WasmNetwork } from "../../../src/engine/cpu/network.js";
import {
  drawNetwork,
  loadNetwork,
  type NetworkOptions,
  networkToNir,
  type ProjectionOptions,
  type ProjectionPlasticityOptions,
  planNetwork,
  ReferenceNetwork,
  SpikePattern,
  SpikingNetwork,
  saveNetwork,
  spikeHash,
} from "../../../src/spikes/index.js";
import { givenSpikes, hpcBenchmarkWithInputs } from "./hpc-network.js";
import { brianNetwork, plasticNetwork } from "./plastic-network.js";

await loadWasm();

const folder = mkdtempSync(join(tmpdir(), "spillway-plastic-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const jump = { jump: { timeConstant: 0 } };
const neuron = {
  type: "leakyIntegrateAndFire",
  membraneTimeConstant: 10,
  restingPotential: 0,
  threshold: 20,
  resetPotential: 0,
  refractoryPeriod: 0.1,
} as const;
const timeStep = 0.1;

/** Channel 0 reaches the neuron by a plastic synapse, channel 1 makes it fire at once. */
const pair = (plasticity: ProjectionPlasticityOptions, weight: number, delay: number): NetworkOptions => ({
  kind: "network",
  precision: "float64",
  populations: { stimulus: { size: 2, neuron: null }, E: { size: 1, neuron, receptors: jump } },
  projections: [
    { from: "stimulus[0:1]", to: "E", connect: "oneToOne", weight, delay, plasticity },
    { from: "stimulus[1:2]", to: "E", connect: "oneToOne", weight: 60, delay: 0 },
  ],
});

/** Spikes of the two channels, by step. */
const given = (arrivals: readonly number[], firings: readonly number[], steps: number) =>
  SpikePattern.from(
    [arrivals, firings].flatMap((of, channel) => of.map((step) => ({ neuron: channel, timeMs: step * timeStep }))),
    { durationMs: steps * timeStep, neuronCount: 2 },
  );

describe("spike-timing-dependent plasticity", () => {
  const tauPlus = 17;
  const tauMinus = 34;
  const rule = {
    kind: "stdp",
    potentiationTimeConstant: tauPlus,
    depressionTimeConstant: tauMinus,
    learningRate: 0.01,
    depressionRatio: 1.05,
    maximumWeight: 2,
  } as const;

  /**
   * The weight after channel 0 spiked in step 100, and a spike of the neuron came to the synapse
   * `steps` after that one.
   */
  async function weightAfter(plasticity: ProjectionPlasticityOptions, steps: number, weight = 0.5, delay = 0.7): Promise<number> {
    await using network = await SpikingNetwork.create(pair(plasticity, weight, delay), { engine: "reference" });
    // What channel 0 brings in step s is there at s dt + delay; what fires in step t does so at (t
    // + 1) dt.
    const way = Math.round(delay / timeStep) * ("delay" in plasticity && plasticity.delay === "dendritic" ? -1 : 1);
    const firing = 100 + way + steps - 1;
    const { spikes } = await network.run(30, { spikes: true, inputs: { stimulus: given([100], [firing], 300) } });
    expect([...spikes["E"]!.times]).toEqual([expect.closeTo((firing + 1) * timeStep, 9)]);
    return (await network.weights(0)).weights[0]!;
  }

  it.each([-80, -20, -3, -1, 0, 1, 2, 7, 40, 110])("changes a weight by the formula of pairs: %s steps", async (steps) => {
    const time = steps * timeStep;
    const change = steps === 0 ? 0 : steps > 0 ? 0.02 * Math.exp(-time / tauPlus) : -0.021 * Math.exp(time / tauMinus);
    expect((await weightAfter(rule, steps)) - 0.5).toBeCloseTo(change, 14);
  });

  it.each([0, 0.1, 3])("takes a delay of %s ms to the synapse", async (delay) => {
    expect((await weightAfter(rule, 5, 0.5, delay)) - 0.5).toBeCloseTo(0.02 * Math.exp(-0.5 / tauPlus), 14);
  });

  it.each([-20, -1, 0, 1, 7, 40])("counts a dendritic delay on the neuron's side: %s steps", async (steps) => {
    const time = steps * timeStep;
    const change = steps === 0 ? 0 : steps > 0 ? 0.02 * Math.exp(-time / tauPlus) : -0.021 * Math.exp(time / tauMinus);
    expect((await weightAfter({ ...rule, delay: "dendritic" }, steps)) - 0.5).toBeCloseTo(change, 14);
  });

  it("sends the weight that a spike finds at its synapse, if the delay is dendritic", async () => {
    const network = await SpikingNetwork.create(pair({ ...rule, delay: "dendritic" }, 0.5, 1), { engine: "reference" });
    // The neuron fires at 1 ms, which the synapse knows at 2 ms: the spike of 1.5 ms is on its way
    // by then.
    const { potentials } = await network.run(4, {
      inputs: { stimulus: given([15, 25], [9], 40) },
      potentials: { neurons: { E: [0] } },
    });
    const v = (step: number) => potentials["E"]!.row(step)[0]!;
    const kept = Math.exp(-timeStep / 10);
    expect(v(25) / kept - v(24)).toBeCloseTo(0.5, 3);
    const after = 0.5 + 0.02 * Math.exp(-0.5 / tauPlus) - 0.021 * Math.exp(-0.5 / tauMinus);
    expect(v(35) / kept - v(34)).toBeCloseTo(after, 3);
    expect((await network.weights(0)).weights[0]).toBeCloseTo(after, 14);
    await network.dispose();
  });

  it("changes a weight by where it stands between its bounds", async () => {
    const multiplicative = { ...rule, minimumWeight: 0.25, potentiationExponent: 1, depressionExponent: 1 };
    const mixed = { ...rule, potentiationExponent: 0.3, depressionExponent: 0.6 };
    expect(await weightAfter(multiplicative, 9)).toBeCloseTo(0.5 + 0.01 * 1.5 * Math.exp(-0.9 / tauPlus), 14);
    expect(await weightAfter(multiplicative, -9)).toBeCloseTo(0.5 - 0.0105 * 0.25 * Math.exp(-0.9 / tauMinus), 14);
    expect(await weightAfter(mixed, 9)).toBeCloseTo(0.5 + 0.02 * 0.75 ** 0.3 * Math.exp(-0.9 / tauPlus), 14);
    expect(await weightAfter(mixed, -9)).toBeCloseTo(0.5 - 0.021 * 0.25 ** 0.6 * Math.exp(-0.9 / tauMinus), 14);
  });

  it("changes it by a power of the weight, as Morrison, Aertsen and Diesmann", async () => {
    const power = { ...rule, weightDependence: "powerLaw", referenceWeight: 0.1 } as const;
    expect(await weightAfter(power, 9)).toBeCloseTo(0.5 + 0.01 * 0.1 ** 0.6 * 0.5 ** 0.4 * Math.exp(-0.9 / tauPlus), 14);
    expect(await weightAfter(power, -9)).toBeCloseTo(0.5 - 0.0105 * 0.5 * Math.exp(-0.9 / tauMinus), 14);
  });

  it("keeps a weight within its bounds, and its sign", async () => {
    expect(await weightAfter({ ...rule, learningRate: 5 }, 3)).toBe(2);
    expect(await weightAfter({ ...rule, learningRate: 5, minimumWeight: 0.125 }, -3)).toBe(0.125);
    expect(await weightAfter(rule, 5, -0.5)).toBeCloseTo(-0.5 - 0.02 * Math.exp(-0.5 / tauPlus), 14);
  });

  it("counts every pair, and brings the weight that it finds after depression", async () => {
    await using network = await SpikingNetwork.create(pair(rule, 0.5, 0), { engine: "reference" });
    const inputs = { stimulus: given([5, 20, 20, 41], [9, 30], 60) };
    const { potentials } = await network.run(6, { inputs, potentials: { neurons: { E: [0] } } });
    // Arrivals at 0.5, 2, 2 and 4.1 ms, spikes at 1 and 3.1 ms.
    const [plus, minus] = [(ms: number) => 0.02 * Math.exp(-ms / tauPlus), (ms: number) => 0.021 * Math.exp(-ms / tauMinus)];
    const before = 0.5 + plus(0.5) - 2 * minus(1) + plus(2.6) + 2 * plus(1.1);
    expect((await network.weights(0)).weights[0]).toBeCloseTo(before - minus(3.1) - minus(1), 13);
    const [resting, moved] = [potentials["E"]!.row(40)[0]!, potentials["E"]!.row(41)[0]!];
    // Input is whole units, here of 2^-10 mV.
    const kept = Math.exp(-timeStep / 10);
    expect(Math.abs(moved - kept * (resting + before - minus(3.1) - minus(1)))).toBeLessThan(2 ** -9);
  });
});

describe("short-term plasticity", () => {
  const [release, recovery, facilitation] = [0.2, 130, 500];
  const rule = { kind: "shortTerm", release, recoveryTimeConstant: recovery, facilitationTimeConstant: facilitation } as const;

  it("comes to the closed form of Tsodyks and Markram for a regular train", async () => {
    await using network = await SpikingNetwork.create(pair(rule, 8, 0.3), { engine: "reference" });
    const steps = Array.from({ length: 500 }, (_, k) => 250 * k);
    await network.run(12_500, { inputs: { stimulus: given(steps, [], 125_000) } });
    const [kept, back] = [Math.exp(-25 / facilitation), Math.exp(-25 / recovery)];
    const u = release / (1 - (1 - release) * kept);
    const x = (1 - back) / (1 - (1 - u) * back);
    const { resources } = await network.getState();
    expect(resources[0]).toBeCloseTo(u, 14);
    expect(resources[1]).toBeCloseTo(x * (1 - u), 14);
    expect(resources[2]).toBe(124_750);
  });

  it("brings the share u x of the weight, in whole units", async () => {
    await using network = await SpikingNetwork.create({ ...pair({ ...rule, facilitationTimeConstant: 0 }, 8, 0.3), fractionBits: 18 });
    const { potentials } = await network.run(10, {
      inputs: { stimulus: given([10, 60, 60], [], 100) },
      potentials: { neurons: { E: [0] } },
    });
    const at = (step: number) => potentials["E"]!.row(step)[0]!;
    const kept = Math.exp(-timeStep / 10);
    expect(at(13) / kept).toBeCloseTo(8 * release, 5);
    // Two spikes in one step, one after the other.
    const x = 1 - release * Math.exp(-5 / recovery);
    expect(at(63) / kept - at(62)).toBeCloseTo(8 * release * (x + x * (1 - release)), 5);
  });
});

describe("a plastic network", () => {
  const model = (precision: "float32" | "float64") => drawNetwork(planNetwork({ ...plasticNetwork, precision }));

  it.each(["float32", "float64"] as const)("has the same bits in WebAssembly and in plain loops, %s", (precision) => {
    const drawn = model(precision);
    const [reference, engine] = [new ReferenceNetwork(drawn), new WasmNetwork(drawn)];
    const inputs = {
      offsets: Uint32Array.from({ length: 801 }, (_, t) => Math.floor(t / 4) * 2),
      neurons: Uint32Array.from({ length: 400 }, (_, s) => Math.floor(s * 0.7) % 5),
    };
    const expected = reference.advance(800, inputs, true)!;
    expect(expected.neurons.length).toBeGreaterThan(200);
    expect(engine.advance(800, inputs, true)).toEqual(expected);
    expect(engine.getState()).toEqual(reference.getState());
    const weights = reference.getWeights(0)!;
    expect(new Set(weights).size).toBeGreaterThan(20);
    const other = new WasmNetwork(drawn);
    other.setState(reference.getState());
    expect(other.advance(300, undefined, true)).toEqual(reference.advance(300, undefined, true));
    expect(other.getState()).toEqual(reference.getState());
  });

  it("fires the spikes of Brian2 2.5.1 and comes to its weights", () => {
    const network = new WasmNetwork(drawNetwork(planNetwork(brianNetwork)));
    const spikes = network.advance(2000, undefined, true)!;
    // What the last spikes change is changed when the next step begins.
    network.advance(1, undefined, false);
    const weights = Array.from(network.getWeights(0)!, (units) => units / 2 ** brianNetwork.fractionBits!);
    // Printed by bench/cpu/plasticity-brian.ts seconds=0.2.
    expect([spikes.neurons.length, spikeHash(spikes)]).toEqual([966, "496ba47655dacb46"]);
    expect(weights.reduce((a, b) => a + b, 0)).toBeCloseTo(606.5125870485454, 10);
    expect(weights.slice(0, 3)).toEqual(
      [0.26794564890757183, 0.4025589793850484, 0.29296128650598774].map((each) => expect.closeTo(each, 13)),
    );
  });

  it("fires the spikes of Brian2 2.5.1 in NEST's benchmark at a twentieth of its size, and comes to its weights", () => {
    const { description, rate } = hpcBenchmarkWithInputs(0.05);
    const network = new WasmNetwork(drawNetwork(planNetwork(description)));
    const spikes = network.advance(2000, givenSpikes(network.model.inputs, rate, 2000, 0.1), true)!;
    network.advance(1, undefined, false);
    const weights = Array.from(network.getWeights(0)!, (units) => units / 2 ** description.fractionBits!);
    // Printed by bench/cpu/hpc-benchmark-brian.ts scale=0.05 ms=200.
    expect([spikes.neurons.length, spikeHash(spikes)]).toEqual([980, "d9a449c085b81f24"]);
    expect(weights[0]).toBeCloseTo(8.291915101836503, 12);
    expect(weights.reduce((a, b) => a + b, 0)).toBeCloseTo(1659862.8389984157, 6);
  });

  it("is drawn as it would be without plasticity", () => {
    const [plastic, plain] = [model("float32"), drawNetwork(planNetwork({ ...plasticNetwork, projections: plain0() }))];
    const sum = plastic.synapses.packed.length + plastic.plastic.reduce((all, { packed }) => all + packed.length, 0);
    expect(sum).toBe(plain.synapses.packed.length);
    const all = [...plastic.synapses.packed, ...plastic.plastic.flatMap(({ packed }) => [...packed])].sort((a, b) => a - b);
    expect(all).toEqual([...plain.synapses.packed].sort((a, b) => a - b));
  });

  it("records weights of some synapses, and gives them all", async () => {
    await using network = await SpikingNetwork.create(plasticNetwork);
    const before = await network.weights(0);
    const { weights } = await network.run(40, { weights: { of: [0], sample: 10, everyMs: 10 } });
    const now = await network.weights(0);
    expect([weights["0"]!.rows, weights["0"]!.cols]).toEqual([4, 10]);
    const every = Array.from({ length: 10 }, (_, n) => now.weights[Math.floor((n * now.weights.length) / 10)]!);
    expect([...weights["0"]!.row(3)]).toEqual(every.map(Math.fround));
    expect([now.sources, now.targets, now.delays]).toEqual([before.sources, before.targets, before.delays]);
    expect(now.weights).not.toEqual(before.weights);
    const some = await network.weights(0, { sample: 10 });
    expect([...some.weights]).toEqual(every);
    expect([...some.sources]).toEqual(every.map((_, n) => now.sources[Math.floor((n * now.weights.length) / 10)]));
    await network.reset();
    expect(await network.weights(0)).toEqual(before);
  });

  it("is frozen as a network that brings what the learned weights bring, all else drawn as before", async () => {
    const fromE = { from: "E", to: "E", receptor: "slow", weight: 0.3, delay: { distribution: "uniform", from: 0.1, to: 1 } } as const;
    const projections: readonly ProjectionOptions[] = [
      ...plasticNetwork.projections!,
      { ...fromE, connect: { rule: "fixedInDegree", number: 4 } } as const,
      { ...fromE, to: "I", connect: { rule: "fixedOutDegree", number: 3 } } as const,
    ];
    const options = { ...plasticNetwork, projections };
    await using network = await SpikingNetwork.create(options);
    await network.run(60);
    const frozen = JSON.parse(JSON.stringify(await network.frozen())) as NetworkOptions;
    expect(frozen.projections!.map(({ plasticity }) => plasticity?.kind)).toEqual(
      projections.map(({ plasticity }) => (plasticity?.kind === "stdp" ? undefined : plasticity?.kind)),
    );
    // The same network, which begins with those weights and learns no more.
    const fixed = projections.map((each) =>
      each.plasticity?.kind === "stdp" ? { ...each, plasticity: { ...each.plasticity, learningRate: 1e-30 } } : each,
    );
    await using still = await SpikingNetwork.create({ ...options, projections: fixed }, { engine: "reference" });
    const { plastic } = await network.getState();
    await still.setState({ ...(await still.getState()), plastic });
    await using again = await SpikingNetwork.create(frozen);
    const spikes = Array.from({ length: 30 }, (_, k) => ({ neuron: (3 * k) % 5, timeMs: 2 * k }));
    const asked = { spikes: true, inputs: { stimulus: SpikePattern.from(spikes, { durationMs: 60, neuronCount: 5 }) } };
    const wanted = (await still.run(60, asked)).spikes;
    expect((await again.run(60, asked)).spikes).toEqual(wanted);
    await still.reset();
    expect((await still.run(60, asked)).spikes).not.toEqual(wanted);
  });

  it.each(["reference", "cpu"])("is as it was before a run that fails, again and again, on %s", async (engine) => {
    await using network = await SpikingNetwork.create(plasticNetwork, { engine });
    for (const ms of [6, 4]) {
      await network.run(ms);
      const state = await network.getState();
      // Several calls of the engine go well before one fails.
      const wild = { to: "I", current: Number.MAX_VALUE, fromMs: 3 };
      await expect(network.run(5, { currents: [wild], weights: { of: [0], everyMs: 1 } })).rejects.toThrow(/not finite after step/);
      expect(await network.getState()).toEqual(state);
    }
    await using other = await SpikingNetwork.create(plasticNetwork, { engine: "reference" });
    await other.run(10);
    expect(await network.run(5, { spikes: true })).toEqual(await other.run(5, { spikes: true }));
    expect(await network.getState()).toEqual(await other.getState());
  });

  it("goes on from a file with the same bits", async () => {
    const path = join(folder, "plastic.safetensors");
    await using saved = await SpikingNetwork.create(plasticNetwork);
    await saved.run(30);
    await saveNetwork(path, saved);
    await using loaded = await loadNetwork(path, { engine: "reference" });
    expect(await loaded.run(30, { spikes: true })).toEqual(await saved.run(30, { spikes: true }));
    expect(await loaded.getState()).toEqual(await saved.getState());
    const state = await saved.getState();
    await expect(saved.setState({ ...state, plastic: state.plastic.with(3, 1e9) })).rejects.toThrow(/state\.plastic is 1000000000.*bounds/);
  });

  const timing = { kind: "stdp", potentiationTimeConstant: 20, depressionTimeConstant: 20, learningRate: 0.01, maximumWeight: 2 };
  it.each<[string, object, RegExp]>([
    ["a kind that is not there", { plasticity: { kind: "hebb" } }, /plasticity\.kind is "hebb".*shortTerm, stdp/],
    ["a missing number", { plasticity: { kind: "stdp", learningRate: 0.1 } }, /plasticity\.potentiationTimeConstant/],
    ["no release", { plasticity: { kind: "shortTerm", release: 0, recoveryTimeConstant: 100 } }, /release is 0; it takes .*above 0/],
    [
      "a field of the other kind",
      { plasticity: { kind: "shortTerm", release: 1, recoveryTimeConstant: 9, learningRate: 1 } },
      /learningRate/,
    ],
    ["bounds that cross", { plasticity: { ...timing, minimumWeight: 2 } }, /minimumWeight is 2; it takes a size below maximumWeight, 2/],
    ["a weight beyond its bounds", { weight: 3, plasticity: timing }, /weight is .*"value":3.*; it takes weights from 0 to 2/],
    [
      "weights that may have both signs",
      { weight: { distribution: "normal", mean: 1, deviation: 1 }, plasticity: timing },
      /from 0 to 2.*least and most/,
    ],
    [
      "a power law without its weight",
      { plasticity: { ...timing, weightDependence: "powerLaw" } },
      /referenceWeight is null; it takes a weight above 0/,
    ],
    ["a reference weight between bounds", { plasticity: { ...timing, referenceWeight: 1 } }, /referenceWeight is 1; it takes null/],
    [
      "a delay that lies nowhere",
      { plasticity: { ...timing, delay: "half" } },
      /plasticity\.delay is "half"; it takes .*axonal.*dendritic/,
    ],
    ["a rate below 0", { plasticity: { ...timing, learningRate: -1 } }, /learningRate is -1/],
    [
      "a listed weight of another sign",
      { connect: { rule: "list", synapses: [[0, 0, -1, 1]] }, plasticity: timing },
      /synapses\[0\].*from 0 to 2/,
    ],
  ])("is refused with %s", (_, field, message) => {
    const projection = { from: "E", to: "E", connect: "allToAll", weight: 1, ...field };
    expect(() => planNetwork({ kind: "network", populations: { E: { size: 3 } }, projections: [projection] } as NetworkOptions)).toThrow(
      message,
    );
  });

  it("is refused if more than the bounds allow would not fit the sums, by NIR, and asked of other projections", async () => {
    await expect(SpikingNetwork.create(plasticNetwork).then((each) => each.weights(1))).rejects.toThrow(/projection is 1; .*plasticity: 0/);
    expect(() => networkToNir(plasticNetwork)).toThrow(/projections\[0\]\.plasticity.*weights of NIR do not change/);
    const many = { ...pair({ ...timing, maximumWeight: 16 } as ProjectionPlasticityOptions, 1, 0), fractionBits: 20 };
    const projections = [{ ...many.projections![0]!, connect: { rule: "fixedTotalNumber", number: 200 } as const }];
    expect(() => drawNetwork(planNetwork({ ...many, projections }))).toThrow(/fractionBits is 20; it takes at most 19/);
  });
});

/** The projections of the plastic network with weights that stay. */
function plain0() {
  return plasticNetwork.projections!.map(({ plasticity: _, ...rest }) => rest);
}
