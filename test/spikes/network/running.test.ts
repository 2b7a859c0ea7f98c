// SpikingNetwork: what is given to a network and what is recorded of it. Bits are held in
// engines.test.ts.
import { describe, expect, it } from "vitest";
import { DisposedError } from "../../../packages/core/src/errors.js";
import "../../../src/index.js";
import {
  microcircuit,
  type NetworkCurrent,
  type NetworkOptions,
  SpikePattern,
  SpikingNetwork,
  spikeHash,
} from "../../../src/spikes/index.js";
import { planNetwork } from "../../../src/spikes/network/planning.js";

const neuron = {
  type: "leakyIntegrateAndFire",
  membraneTimeConstant: 10,
  restingPotential: -65,
  threshold: -50,
  resetPotential: -65,
  refractoryPeriod: 2,
} as const;
const network: NetworkOptions = {
  kind: "network",
  seed: 1,
  populations: {
    stimulus: { size: 2, neuron: null },
    E: { size: 20, neuron, stateTimeConstant: 30, receptors: { jump: { timeConstant: 0 } } },
    I: { like: "E", size: 5, stateTimeConstant: null },
  },
  projections: [
    { from: "stimulus", to: "E", connect: "allToAll", weight: 9 },
    { from: "E", to: "I", connect: "allToAll", weight: 1, delay: 1 },
  ],
};
const pattern = SpikePattern.from(
  [2, 3, 3.5, 20, 21].flatMap((timeMs) => [0, 1].map((each) => ({ neuron: each, timeMs }))),
  { durationMs: 30, neuronCount: 2 },
);

describe("a network that runs", () => {
  it("records spikes by population as patterns, and rates", async () => {
    await using running = await SpikingNetwork.create(network);
    const { spikes, rates } = await running.run(50, { spikes: true, inputs: { stimulus: pattern } });
    expect(Object.keys(spikes)).toEqual(["E", "I"]);
    // Two spikes of 9 mV at 2 ms with a delay of one step reach 15 mV in the step that ends at 2.2
    // ms.
    expect(spikes["E"]!.times[0]).toBeCloseTo(2.2, 10);
    // 20 spikes of 1 mV reach I a millisecond and a step later.
    expect(spikes["I"]!.times[0]).toBeCloseTo(3.3, 10);
    expect(rates["E"]).toBe(spikes["E"]!.times.length / 20 / 0.05);
    expect(spikes["E"]!.durationMs).toBe(50);
    const only = await running.run(10, { spikes: ["I"] });
    expect(Object.keys(only.rates)).toEqual(["I"]);
  });

  it("records nothing that is not asked for", async () => {
    await using running = await SpikingNetwork.create(network);
    expect(await running.run(10)).toEqual({ durationMs: 10, spikes: {}, rates: {}, potentials: {}, states: undefined, weights: {} });
  });

  it("records potentials of chosen neurons, and filtered spikes for readouts", async () => {
    await using running = await SpikingNetwork.create(network);
    const { potentials, states, spikes } = await running.run(30, {
      spikes: true,
      inputs: { stimulus: pattern },
      potentials: { neurons: { E: [3], I: [0, 4] }, everyMs: 0.5 },
      states: { of: ["E"], everyMs: 1 },
    });
    expect([potentials["E"]!.rows, potentials["E"]!.cols, potentials["I"]!.cols]).toEqual([60, 1, 2]);
    expect(potentials["E"]!.row(0)[0]).toBe(-65);
    expect([states!.rows, states!.cols]).toEqual([30, 20]);
    const fired = spikes["E"]!.times.filter((_, s) => spikes["E"]!.neurons[s] === 0);
    const filtered = fired.reduce((sum, time) => sum + Math.exp(-(30 - time) / 30), 0);
    expect(states!.row(29)[0]).toBeCloseTo(filtered, 5);
  });

  it("gives currents that begin and end to a population or a slice", async () => {
    await using running = await SpikingNetwork.create(network);
    const currents = [{ to: "E[5:10]", current: 30, fromMs: 10, toMs: 30 }];
    const { spikes } = await running.run(60, { spikes: ["E"], currents });
    const times = [...spikes["E"]!.times];
    // tau ln(30 / (30 - 15)) after it began, in whole steps.
    expect(Math.min(...times)).toBeCloseTo(10 + 7, 10);
    expect(Math.max(...times)).toBeLessThan(30.2);
    expect(new Set(spikes["E"]!.neurons)).toEqual(new Set([5, 6, 7, 8, 9]));
    expect((await running.run(30, { spikes: ["E"] })).rates["E"]).toBe(0);
  });

  it("gives currents by row, of one for all neurons or of one for each, as pulses would", async () => {
    await using running = await SpikingNetwork.create(network);
    const spikesOf = async (currents: readonly NetworkCurrent[]) => {
      await running.reset();
      const { spikes } = await running.run(60, { spikes: ["E"], currents });
      return [[...spikes["E"]!.times], [...spikes["E"]!.neurons]];
    };
    const pulses = [
      { to: "E[5:7]", current: 30, fromMs: 10, toMs: 30 },
      { to: "E[5:6]", current: 20, fromMs: 40, toMs: 50 },
      { to: "E[6:7]", current: 25, fromMs: 40, toMs: 50 },
    ];
    const rows = [
      [30, 30],
      [30, 30],
      [0, 0],
      [20, 25],
    ];
    const expected = await spikesOf(pulses);
    expect(expected[0]!.length).toBeGreaterThan(4);
    expect(await spikesOf([{ to: "E[5:7]", rows, everyMs: 10, fromMs: 10 }])).toEqual(expected);
    const wave = Array.from({ length: 600 }, (_, step) => [step < 100 || step >= 300 ? 0 : 30]);
    expect(await spikesOf([{ to: "E[5:7]", rows: wave }])).toEqual(await spikesOf(pulses.slice(0, 1)));
    expect(await spikesOf([{ to: "E[5:7]", rows: wave, toMs: 20 }])).toEqual(await spikesOf([{ ...pulses[0]!, toMs: 20 }]));
  });

  it("gives the same spikes however a run is cut, and goes back to the start", async () => {
    const small = microcircuit({ scale: 0.02, drive: "poisson", seed: 1 });
    await using running = await SpikingNetwork.create(small, { engine: "cpu" });
    const whole = await running.run(60, { spikes: true });
    await running.reset();
    const parts = [await running.run(25, { spikes: true }), await running.run(35, { spikes: true })];
    const state = await running.getState();
    expect(state.step).toBe(600);
    for (const name of Object.keys(whole.spikes))
      expect(parts[0]!.spikes[name]!.times.length + parts[1]!.spikes[name]!.times.length).toBe(whole.spikes[name]!.times.length);
    await using reference = await SpikingNetwork.create(small, { engine: "reference" });
    expect((await reference.run(60, { spikes: true })).spikes).toEqual(whole.spikes);
  });

  it("hears an AbortSignal and stays where it stopped", async () => {
    await using running = await SpikingNetwork.create(network);
    const stop = new AbortController();
    const onProgress = (done: number) => done >= 400 && stop.abort();
    await expect(running.run(1000, { signal: stop.signal, onProgress })).rejects.toThrow(/stopped after 400 of 10000 steps/);
    expect((await running.getState()).step).toBe(400);
  });

  it.each<[string, Parameters<SpikingNetwork["run"]>, RegExp]>([
    ["no time", [0], /^durationMs is 0; it takes a whole number of steps of 0\.1 ms, at least one and fewer than 2\^32$/],
    ["a part of a step", [0.25], /whole number of steps of 0\.1 ms/],
    ["no number", [Number.NaN], /durationMs is NaN/],
    ["more steps than the counter has", [1e12], /fewer than 2\^32/],
    ["spikes of a population that is not there", [1, { spikes: ["X"] }], /spikes\[0\] is "X".*E, I/],
    ["potentials of a neuron that is not there", [1, { potentials: { neurons: { I: [5] } } }], /neurons below 5/],
    ["states that are not kept", [1, { states: { of: ["I"] } }], /stateTimeConstant/],
    [
      "a channel that spikes a million million times in a step",
      [
        1,
        {
          inputs: { stimulus: new SpikePattern({ times: [0.5], neurons: [1], amplitudes: [2 ** 40] }, { durationMs: 1, neuronCount: 2 }) },
        },
      ],
      /inputs is 1099511627776; it takes at most 65535 spikes of a channel in a step, here in step 5/,
    ],
    ["spikes for neurons", [1, { inputs: { E: pattern } }], /a population of inputs: stimulus/],
    ["a current that ends before it begins", [1, { currents: [{ to: "E", current: 1, fromMs: 3, toMs: 2 }] }], /more than fromMs/],
    ["a current and rows", [1, { currents: [{ to: "E", current: 1, rows: [[1]] }] }], /current, or rows, and not both/],
    ["neither", [1, { currents: [{ to: "E" }] }], /currents\[0\].*current, or rows/],
    ["rows of other columns", [1, { currents: [{ to: "E", rows: [[1, 2, 3]] }] }], /rows has 3 columns; it takes 1, or \d+/],
    ["rows without a value", [1, { currents: [{ to: "E", rows: [[1], [Number.NaN]] }] }], /rows is NaN at row 1/],
  ])("refuses %s", async (_, given, message) => {
    await using running = await SpikingNetwork.create(network);
    await expect(running.run(...given)).rejects.toThrow(message);
  });

  it("names the engines there are", async () => {
    await expect(SpikingNetwork.create(network, { engine: "cpuu" })).rejects.toThrow(/did you mean "cpu"/);
  });

  it("has the hash of the C reference through the recorder", async () => {
    await using running = await SpikingNetwork.create(microcircuit({ scale: 0.02, drive: "poisson", seed: 1 }));
    const { spikes } = await running.run(200, { spikes: true });
    const all = Object.entries(spikes).flatMap(([name, { times, neurons }]) => {
      const { first } = running.plan.populations.find((each) => each.name === name)!;
      return Array.from(times, (time, s) => ({ step: Math.round(time / 0.1) - 1, neuron: first + neurons[s]! }));
    });
    all.sort((a, b) => a.step - b.step || a.neuron - b.neuron);
    const offsets = new Uint32Array(2001);
    for (const { step } of all) for (let t = step + 1; t <= 2000; t++) offsets[t]!++;
    expect(spikeHash({ offsets, neurons: Uint32Array.from(all, ({ neuron: each }) => each) })).toBe("86716788150d5518");
  });
});

describe("what a network cannot do", () => {
  const lone = (size: number): NetworkOptions => ({ kind: "network", populations: { E: { size, current: 20, stateTimeConstant: 10 } } });

  it("refuses more neurons than there is memory for before it draws any", async () => {
    // Drawing as many would end the process for want of memory.
    await expect(SpikingNetwork.create(lone(2 ** 29), { engine: "cpu" })).rejects.toThrow(
      /536870912 neurons with 0 synapses.*the limit is 4.00 GiB/,
    );
  });

  it("refuses another state, a start and a run while it runs, and all of them when it is disposed", async () => {
    const network = await SpikingNetwork.create(lone(5), { engine: "reference" });
    const state = await network.getState();
    const runs = network.run(100);
    const calls = [() => network.setState(state), () => network.reset(), () => network.run(1)];
    for (const call of calls) await expect(call()).rejects.toThrow(/the network is running/);
    await runs;
    await network.dispose();
    for (const call of [...calls, () => network.getState(), () => network.frozen(), () => network.weights(0)])
      await expect(call()).rejects.toThrow(DisposedError);
  });

  it.each<[string, (network: SpikingNetwork) => Promise<unknown>, RegExp]>([
    ["no state at all", (network) => network.setState(undefined as never), /state is missing; it takes what getState\(\) gives/],
    [
      "a state of texts",
      async (network) => network.setState({ ...(await network.getState()), potential: "12345" as never }),
      /state\.potential is "12345"; it takes an array of 5 values/,
    ],
    ["a text as duration", (network) => network.run("5" as never), /durationMs is "5"; it takes a whole number of steps/],
    ["more steps than are counted", (network) => network.run(1e9), /durationMs is 1000000000; .*fewer than 2\^32/],
    [
      "more records than fit",
      (network) => network.run(4e8, { states: { of: ["E"] } }),
      /4000000000 rows of 5 recorded values take 74\.5 GiB; record fewer/,
    ],
  ])("refuses %s", async (_, call, message) => {
    await using network = await SpikingNetwork.create(lone(5), { engine: "reference" });
    await expect(call(network)).rejects.toThrow(message);
  });

  it("plans thousands of projections one after the other, and does not compare them all", () => {
    // Work that grows with the square would not end within the time that a test has.
    const projections = Array.from({ length: 20_000 }, () => ({ from: "E", to: "E", connect: "oneToOne", weight: 1 }) as const);
    expect(planNetwork({ ...lone(5), projections }).projections).toHaveLength(20_000);
  });
});
