// A network of populations as a reservoir: its states are those of the network that is given the
// same currents or spikes, on every engine, and every model takes it.
import { describe, expect, it } from "vitest";
import { Classifier, Forecaster, loadReservoir, Matrix, nrmse, ReservoirComputer, saveReservoir } from "../../../src/index.js";
import { SpikePattern, SpikingNetwork } from "../../../src/spikes/index.js";
import "../../../packages/sim/src/index.js";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plainFeatures, type RegisteredReservoirOptions } from "../../../src/reservoir/index.js";
import { casesOf } from "../../exhaustive.js";

const delay = 1.5;
const populations = {
  E: {
    size: 40,
    neuron: { type: "leakyIntegrateAndFire", membraneTimeConstant: 20 },
    current: 14,
    stateTimeConstant: 30,
    background: { rate: 20, weight: 3 },
    initialPotential: { distribution: "uniform", from: -70, to: -55 },
  },
  I: { like: "E", size: 10, stateTimeConstant: null },
} as const;
const projections = [
  { from: "E", to: "E", connect: { rule: "bernoulli", probability: 0.1 }, weight: 0.8, delay },
  { from: "E", to: "I", connect: { rule: "bernoulli", probability: 0.2 }, weight: 1.5, delay },
  { from: "I", to: "E", connect: { rule: "bernoulli", probability: 0.2 }, weight: -3, delay: 1 },
] as const;
const driven: RegisteredReservoirOptions = {
  ...{ kind: "network", seed: 3, timeStep: 0.5, rowMs: 2, inputSize: 2, populations, projections },
  input: { to: ["I", "E[0:30]"], scaling: 9, connectivity: 0.7 },
};
const { input: _, inputSize: __, ...plain } = driven as Extract<RegisteredReservoirOptions, { kind: "network" }>;
const spiked: RegisteredReservoirOptions = {
  ...plain,
  populations: { ...populations, senses: { size: 3, neuron: null } },
  projections: [...projections, { from: "senses", to: "E", connect: { rule: "fixedOutDegree", number: 9 }, weight: 6, delay }],
};
const facilitating = { kind: "shortTerm", release: 0.2, recoveryTimeConstant: 60, facilitationTimeConstant: 200 } as const;
const depressing = { kind: "shortTerm", release: 0.5, recoveryTimeConstant: 100 } as const;
/** The same whose synapses facilitate, or get tired. */
const tiring = (of: RegisteredReservoirOptions): RegisteredReservoirOptions => {
  const { projections, ...rest } = of as typeof plain;
  const [first, second, ...others] = projections!;
  const more = others.map((each) => ({ ...each, plasticity: depressing }));
  return { ...rest, projections: [{ ...first!, weight: 4, plasticity: facilitating }, second!, ...more] } as RegisteredReservoirOptions;
};
const descriptions = [
  ["synapses that stay", driven],
  ["short-term plasticity", tiring(driven)],
] as const;
const wave = (rows: number) => Matrix.from(Array.from({ length: rows }, (_, t) => [Math.sin(t / 5), Math.cos(t / 7)]));
const counts = (rows: number) => Matrix.from(Array.from({ length: rows }, (_, t) => [t % 3 === 0 ? 2 : 0, t % 2, t % 5 === 4 ? 1 : 0]));

describe("a network as a reservoir", () => {
  it.each(["float32", "float64"] as const)("has the states of the network with the currents W_in u, in %s", async (precision) => {
    await using computer = await ReservoirComputer.create({ ...driven, precision }, { engine: "cpu" });
    const inputs = wave(50);
    const states = await computer.run(inputs);
    expect([states.rows, states.cols]).toEqual([50, 40]);
    const { data: weights } = computer.model.matrices["inputWeights"] as Matrix;
    const round = precision === "float32" ? Math.fround : (value: number) => value;
    const currents = (from: number, to: number) =>
      Matrix.from(
        Array.from({ length: 50 }, (_, t) =>
          Array.from({ length: to - from }, (_, k) => {
            const r = 2 * (from + k);
            return round(round(weights[r]! * round(inputs.at(t, 0))) + round(weights[r + 1]! * round(inputs.at(t, 1))));
          }),
        ),
      );
    const { rowMs: _, ...only } = plain;
    await using network = await SpikingNetwork.create({ ...only, precision }, { engine: "reference" });
    const { states: wanted } = await network.run(100, {
      states: { of: ["E"], everyMs: 2 },
      currents: [
        { to: "I", rows: currents(0, 10), everyMs: 2 },
        { to: "E[0:30]", rows: currents(10, 40), everyMs: 2 },
      ],
    });
    expect(states.data).toEqual(wanted!.data);
    expect(states.data.some((value) => value > 0)).toBe(true);
    // The share that connectivity leaves out.
    const zeros = weights.filter((value) => value === 0).length;
    expect(zeros).toBeGreaterThan(10);
    expect(zeros).toBeLessThan(45);
  });

  it.each([
    ["stay", spiked],
    ["get tired", tiring(spiked)],
  ] as const)("has the states of the network whose inputs spike and whose synapses %s", async (_, spiked) => {
    await using computer = await ReservoirComputer.create(spiked, { engine: "cpu" });
    expect(computer.config.inputSize).toBe(3);
    const inputs = counts(40);
    const states = await computer.run(inputs);
    const spikes = Array.from({ length: 40 }, (_, t) =>
      [0, 1, 2].flatMap((neuron) => Array(inputs.at(t, neuron)).fill({ neuron, timeMs: 2 * t })),
    );
    const senses = SpikePattern.from(spikes.flat(), { durationMs: 80, neuronCount: 3 });
    const { rowMs: __, ...only } = spiked as typeof plain;
    await using network = await SpikingNetwork.create(only, { engine: "reference" });
    const { states: wanted } = await network.run(80, { states: { of: ["E"], everyMs: 2 }, inputs: { senses } });
    expect(states.data).toEqual(wanted!.data);
  });

  it.each(
    casesOf(
      ["reference", "sim"].flatMap((engine) => descriptions.map(([what, description]) => [engine, what, description] as const)),
      (_, k) => k === 1,
    ),
  )("has the bits of the CPU on %s, with %s: rows, batches, closed loops", async (engine, _, driven) => {
    const results = [];
    for (const each of ["cpu", engine]) {
      await using computer = await ReservoirComputer.create({ ...driven, inputSize: 1 }, { engine: each });
      const rows = Matrix.from(Array.from({ length: 8 }, (_, t) => [Math.sin(t)]));
      const states = await computer.run(rows);
      const batch = await computer.batch([rows.slice(0, 3), rows], { keep: "last" });
      const readout = {
        ...{ features: plainFeatures, stateSize: 40, inputSize: 1, intercept: Float64Array.of(0.1) },
        weights: Matrix.from([Array.from({ length: 40 }, (_, k) => (k % 3) / 40)]) as Matrix<Float64Array>,
      };
      const closed = await computer.generate(3, readout);
      const { below, values } = computer.state;
      results.push([states.data, batch[0]!.data, batch[1]!.data, closed.data, below, values]);
    }
    expect(results[1]).toEqual(results[0]);
  });

  it.each(
    descriptions.flatMap(([what, description]) =>
      (["float32", "float64"] as const).map((precision) => [what, precision, description] as const),
    ),
  )("goes on from a state, by rows and single steps, with %s in %s; sequences of a batch differ", async (_, precision, description) => {
    const driven = { ...description, precision };
    await using computer = await ReservoirComputer.create(driven, { engine: "cpu" });
    const inputs = wave(30);
    const all = await computer.run(inputs);
    computer.reset();
    await computer.run(inputs.slice(0, 11));
    const state = computer.state;
    const rest = await computer.run(inputs.slice(11, 30));
    expect(rest.data).toEqual(all.data.slice(11 * 40));
    computer.state = state;
    for (let t = 11; t < 20; t++) expect([...computer.step(inputs.row(t))]).toEqual([...all.row(t)]);
    computer.state = state;
    const [first, second] = await computer.batch([inputs, inputs]);
    expect(first!.data).toEqual(all.data);
    expect(second!.data).not.toEqual(all.data);
    expect((await computer.run(inputs.slice(11, 30))).data).toEqual(rest.data);
  });

  it("begins each sequence of a batch, and after a reset, with rested synapses", async () => {
    // Nothing is drawn while it runs, so that two sequences of a batch are one.
    const { populations: given, ...rest } = tiring(driven) as typeof plain;
    const { E, I } = given as typeof populations;
    const quiet = { ...rest, populations: { E: { ...E, background: null, current: 24 }, I } } as RegisteredReservoirOptions;
    await using computer = await ReservoirComputer.create(quiet, { engine: "cpu" });
    const inputs = wave(25);
    const first = await computer.run(inputs);
    const later = await computer.run(inputs);
    expect(later.data).not.toEqual(first.data);
    for (const states of await computer.batch([inputs, inputs])) expect(states.data).toEqual(first.data);
    computer.reset();
    expect((await computer.run(inputs)).data).toEqual(first.data);
    // From each row on, at another time: resources know how long ago a source fired, not when.
    const kept = [];
    computer.reset();
    for (let t = 0; t < 25; t++) {
      kept.push(computer.state);
      computer.step(inputs.row(t));
    }
    for (const [t, state] of kept.entries()) {
      computer.state = { ...state, step: state.step + 7 };
      expect((await computer.run(inputs.slice(t, 25))).data).toEqual(first.data.slice(t * 40));
    }
    // Synapses that stay would bring other states.
    const { projections } = rest;
    const staying = { ...quiet, projections: projections!.map(({ plasticity: _, ...each }) => each) } as RegisteredReservoirOptions;
    await using other = await ReservoirComputer.create(staying, { engine: "cpu" });
    expect((await other.run(inputs)).data).not.toEqual(first.data);
  });

  it("is kept in a file, and serves a forecaster and a classifier", async () => {
    const folder = await mkdtemp(join(tmpdir(), "spillway-"));
    await using computer = await ReservoirComputer.create(tiring(driven), { engine: "cpu" });
    await saveReservoir(join(folder, "network.safetensors"), computer as never);
    const { computer: again } = await loadReservoir(join(folder, "network.safetensors"));
    expect((await again.run(wave(20))).data).toEqual((await computer.run(wave(20))).data);
    const forOne: RegisteredReservoirOptions = {
      ...{ kind: "network", seed: 1, timeStep: 0.5, rowMs: 5, input: { scaling: 20 } },
      populations: { E: { ...populations.E, size: 100, current: 16, stateTimeConstant: 20, background: null } },
      projections: [{ ...projections[0], weight: { distribution: "normal", mean: 0, deviation: 1.5 }, plasticity: depressing }],
    };
    const series = Float64Array.from({ length: 900 }, (_, t) => Math.sin(t / 6));
    await using forecaster = await Forecaster.fit(series.subarray(0, 700), { reservoir: forOne, readout: { lambda: 1e-2 } });
    const bytes = await forecaster.toBytes();
    const predicted = await forecaster.predict(Matrix.from([...series.subarray(700, 899)].map((value) => [value])));
    expect(nrmse(predicted, Matrix.from([...series.subarray(701, 900)].map((value) => [value])))).toBeLessThan(0.7);
    await using reopened = await Forecaster.fromBytes(bytes);
    expect((await reopened.forecast(5)).values.rows).toBe(5);
    const cases = Array.from({ length: 24 }, (_, k) => Matrix.from(Array.from({ length: 30 }, (_, t) => [Math.sin(t / (k % 2 ? 2 : 6))])));
    await using classifier = await Classifier.fit(
      cases,
      cases.map((_, k) => (k % 2 ? "quick" : "slow")),
      { reservoir: forOne, representation: "last+mean" },
    );
    expect(await classifier.predict(cases)).toEqual(cases.map((_, k) => (k % 2 ? "quick" : "slow")));
  });

  it("says what is wrong, and stands where it stood", async () => {
    const create = (more: object) => ReservoirComputer.create({ ...driven, ...more } as never, { engine: "cpu" });
    const silent = { E: { ...populations.E, stateTimeConstant: null }, I: populations.I };
    await expect(create({ populations: silent })).rejects.toThrow(
      "it takes at least one with a stateTimeConstant: its filtered spikes are the states",
    );
    const timing = { kind: "stdp", potentiationTimeConstant: 20, depressionTimeConstant: 20, learningRate: 0.1, maximumWeight: 2 } as const;
    const projections = [{ from: "E", to: "E", connect: "allToAll", weight: 1, plasticity: timing }] as const;
    await expect(create({ projections })).rejects.toThrow(
      /projections\[0\]\.plasticity\.kind is "stdp"; it takes shortTerm, .*SpikingNetwork learns them/,
    );
    await expect(create({ rowMs: 0.7 })).rejects.toThrow("rowMs is 0.7; it takes a whole number of steps of 0.5 ms");
    await expect(create({ input: null })).rejects.toThrow("this network has no population of inputs");
    await expect(create({ input: { to: ["E", "E[0:2]"] } })).rejects.toThrow("populations and slices that do not overlap");
    await expect(create({ input: { to: ["X"] } })).rejects.toThrow('input.to[0] is "X"; it takes a population');
    await expect(create({ size: 7 })).rejects.toThrow("size is 7; it takes 40");
    await expect(ReservoirComputer.create({ ...spiked, input: {} } as never)).rejects.toThrow("whose spikes the rows are");
    await expect(ReservoirComputer.create({ ...spiked, inputSize: 2 } as never)).rejects.toThrow("inputSize is 2; it takes 3");
    await using computer = await ReservoirComputer.create(spiked, { engine: "cpu" });
    await expect(computer.run(Matrix.from([[0, 0.5, 0]]))).rejects.toThrow("input 1 is 0.5; it takes how often a channel spikes");
    await expect(ReservoirComputer.create(driven, { engine: "cuda:1" })).rejects.toThrow();
    await using device = await ReservoirComputer.create(driven, { engine: "sim" });
    expect(() => device.step([0, 0])).toThrow("makes no single steps at once on a device");
  });

  it.each(["float32", "float64"] as const)(
    "has rows of 7000 steps in all, more than a call runs and than are kept, in %s",
    async (precision) => {
      const description = { ...spiked, precision, rowMs: 50 };
      const inputs = counts(70);
      await using computer = await ReservoirComputer.create(description, { engine: "cpu" });
      await using other = await ReservoirComputer.create(description, { engine: "reference" });
      expect((await computer.run(inputs)).data).toEqual((await other.run(inputs)).data);
      expect(computer.state).toEqual(other.state);
    },
  );

  it("has the same rows on two threads", async () => {
    const { populations: few, ...rest } = spiked as typeof plain;
    const description = { ...rest, populations: { ...few, E: { ...populations.E, size: 600 } } } as RegisteredReservoirOptions;
    const inputs = counts(100);
    await using alone = await ReservoirComputer.create(description, { engine: "cpu" });
    await using together = await ReservoirComputer.create(description, { engine: "cpu", threads: 2 });
    expect(together.engine.plan.summary).toContain("2 threads");
    expect((await together.run(inputs)).data).toEqual((await alone.run(inputs)).data);
  });

  it("stops before the row of spikes in which a potential is not finite", async () => {
    const wild = {
      ...plain,
      populations: { senses: { size: 1, neuron: null }, E: { size: 3, neuron: "izhikevich", stateTimeConstant: 10 } },
      projections: [{ from: "senses", to: "E", connect: "allToAll", weight: 60_000 }],
    };
    const rows = (...counts: number[]) => Matrix.from(counts.map((count) => [count]));
    const given = [0, 0, 0, 30_000, 0];
    const states = [];
    for (const engine of ["cpu", "reference"]) {
      await using computer = await ReservoirComputer.create(wild as never, { engine });
      await expect(computer.run(rows(...given))).rejects.toThrow("the state is not finite after step");
      const { state } = computer;
      expect(state.step).toBeGreaterThan(2);
      states.push(state);
      // It stands behind the rows that were good.
      computer.reset();
      await computer.run(rows(...given.slice(0, state.step)));
      expect(computer.state).toEqual(state);
    }
    expect(states[0]).toEqual(states[1]);
  });

  it("stops before a row in which a potential is not finite", async () => {
    const wild = {
      ...driven,
      populations: { E: { size: 3, neuron: "izhikevich", stateTimeConstant: 10 } },
      projections: [],
      inputSize: 1,
      input: {},
    };
    await using computer = await ReservoirComputer.create({ ...wild, input: { scaling: 1e30 } } as never, { engine: "cpu" });
    const inputs = Matrix.from([[0], [0], [0], [1e8], [0]]);
    await expect(computer.run(inputs)).rejects.toThrow(/step 3|after step/);
    const { step } = computer.state;
    expect(step).toBe(3);
    const next = await computer.run(inputs.slice(0, 1));
    computer.reset();
    const straight = await computer.run(Matrix.from([[0], [0], [0], [0]]));
    expect(next.data).toEqual(straight.data.slice(9));
  });
});
