// Liquids: their descriptions and networks, and how readouts, models and files take them. Bits are
// held in liquid-engines.test.ts.
import { describe, expect, it } from "vitest";
import { RandomStream, seedKeys, toDense } from "../../packages/numerics/src/index.js";
import { compare, kernelRank, memoryCapacity } from "../../src/analysis/index.js";
import {
  Classifier,
  Forecaster,
  Matrix,
  ReservoirComputer,
  ridge,
  runEnsemble,
  type SpikingModel,
  type SpikingReservoirOptions,
} from "../../src/index.js";
import { decodeReservoir, encodeReservoir } from "../../src/model/index.js";
import {
  coordinates,
  gridPoints,
  gridSides,
  LiquidStateMachine,
  patternInputs,
  processPattern,
  SpikePattern,
  synapticWeights,
  withSynapticWeights,
} from "../../src/spikes/index.js";
import { build } from "../../src/spikes/liquid/kind.js";

const plain: SpikingReservoirOptions = { kind: "spiking", size: 100, inputSize: 10, seed: 5 };

/** Ten trains of ten spikes, another class every hundred ms apart. */
function patternOf(shift: number, durationMs = 200): SpikePattern {
  const spikes = Array.from({ length: 100 }, (_, i) => ({ neuron: i % 10, timeMs: (i * 1.9 + shift * (i % 10)) % durationMs }));
  return SpikePattern.from(spikes, { durationMs, neuronCount: 10 });
}

/** Each synapse as source, target, weight in mV, delay in steps. */
function synapsesOf({ synapses: { offsets, targets, weights, delays }, fractionBits }: SpikingModel) {
  const list: { source: number; target: number; weight: number; delay: number }[] = [];
  for (let source = 0; source + 1 < offsets.length; source++) {
    for (let s = offsets[source]!; s < offsets[source + 1]!; s++)
      list.push({ source, target: targets[s]!, weight: weights[s]! / 2 ** fractionBits, delay: delays[s]! });
  }
  return list;
}

describe("the network of a liquid", () => {
  it("has excitatory neurons first, then the inhibitory share, each with weights of its sign", () => {
    const model = build({ ...plain, size: 200, inhibitory: { share: 0.25 } });
    for (const { source, weight } of synapsesOf(model)) expect(source < 150 ? weight >= 0 : weight <= 0).toBe(true);
    expect(synapsesOf(model).some(({ source }) => source >= 150)).toBe(true);
  });

  it("connects pairs at random with the chance of their kind, and no neuron with itself", () => {
    const probability = { ee: 0.3, ei: 0.1, ie: 0.6, ii: 0 };
    const model = build({ ...plain, size: 400, connectivity: { type: "random", probability } });
    const counts = { ee: 0, ei: 0, ie: 0, ii: 0 };
    for (const { source, target } of synapsesOf(model)) {
      expect(source).not.toBe(target);
      counts[`${source < 320 ? "e" : "i"}${target < 320 ? "e" : "i"}`]++;
    }
    // Within 5 standard deviations of the binomial.
    for (const [kind, pairs] of Object.entries({ ee: 320 * 319, ei: 320 * 80, ie: 80 * 320, ii: 80 * 79 })) {
      const p = probability[kind as "ee"];
      expect(Math.abs(counts[kind as "ee"] - p * pairs)).toBeLessThanOrEqual(5 * Math.sqrt(p * (1 - p) * pairs));
    }
  });

  it("connects by distance with the chance C exp(-(D/lambda)^2) of each kind", () => {
    const size = 12 * 12 * 12;
    const probability = { ee: 0.3, ei: 0.2, ie: 0.4, ii: 0.1 };
    const model = build({ ...plain, size, connectivity: { type: "distance", lambda: 2, probability } });
    const excitatory = size - Math.round(0.2 * size);
    const sides = gridSides(size);
    expect(sides).toEqual([12, 12, 12]);
    const points = gridPoints(size, seedKeys(5).weights);
    const positions = Array.from(points, (point) => coordinates(point, sides));
    const squared = (a: number, b: number) => positions[a]!.reduce((sum, x, k) => sum + (x - positions[b]![k]!) ** 2, 0);
    const met = new Map<string, number>();
    const found = new Map<string, number>();
    const key = (a: number, b: number) => `${a < excitatory ? "e" : "i"}${b < excitatory ? "e" : "i"} ${squared(a, b)}`;
    for (let a = 0; a < size; a++)
      for (let b = 0; b < size; b++) if (a !== b && squared(a, b) <= 9) met.set(key(a, b), (met.get(key(a, b)) ?? 0) + 1);
    for (const { source, target } of synapsesOf(model)) {
      expect(source).not.toBe(target);
      const at = key(source, target);
      found.set(at, (found.get(at) ?? 0) + 1);
    }
    for (const [at, pairs] of met) {
      const [kind, distance] = at.split(" ") as [keyof typeof probability, string];
      const p = probability[kind] * Math.exp(-Number(distance) / 4);
      expect(Math.abs((found.get(at) ?? 0) - p * pairs), at).toBeLessThanOrEqual(5 * Math.sqrt(p * (1 - p) * pairs) + 1);
    }
    expect(met.size).toBeGreaterThan(30);
  });

  it("puts each neuron on a point of its own", () => {
    const points = gridPoints(100, seedKeys(1).weights);
    expect(Array.from(points).sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, p) => p));
    expect(gridSides(135)).toEqual([6, 4, 6]);
  });

  it("draws weights with the mean of their kind and delays from their range, in order of delay and target", () => {
    const delay = { ee: [1, 5] as const, ei: 2, ie: 0, ii: 3 };
    const weight = { ee: 2, ei: 4, ie: 6, ii: 8 };
    const model = build({ ...plain, size: 500, timeStep: 0.5, connectivity: "random", synapses: { weight, delay } });
    const list = synapsesOf(model);
    const kind = (from: boolean, to: boolean) => list.filter(({ source, target }) => source < 400 === from && target < 400 === to);
    for (const [name, mean, from, to] of [
      ["ee", 2, true, true],
      ["ei", 4, true, false],
      ["ie", -6, false, true],
      ["ii", -8, false, false],
    ] as const) {
      const some = kind(from, to);
      const average = some.reduce((sum, one) => sum + one.weight, 0) / some.length;
      // The deviation of an exponential distribution is its mean.
      expect(Math.abs(average - mean), name).toBeLessThan((5 * Math.abs(mean)) / Math.sqrt(some.length));
    }
    expect(new Set(kind(true, true).map((one) => one.delay))).toEqual(new Set([2, 3, 4, 5, 6, 7, 8, 9, 10]));
    expect(new Set(kind(true, false).map((one) => one.delay))).toEqual(new Set([4]));
    expect(model.ringRows).toBe(11);
    list.forEach((one, s) => {
      const before = list[s - 1];
      if (before?.source === one.source)
        expect(one.delay > before.delay || (one.delay === before.delay && one.target > before.target)).toBe(true);
    });
  });

  it.each([0, 3])("delivers a spike after the %i steps of its synapse, beginning with the step after it", async (delay) => {
    const strong = 4000;
    const drawn = build({
      ...plain,
      size: 2,
      inputSize: 1,
      inhibitory: { share: 0 },
      input: { weight: strong, distribution: "constant", connectivity: 1 },
      synapses: { delay },
      stateTimeConstant: 0,
    });
    const chain = withSynapticWeights(drawn, new Matrix(2, 2, Float64Array.of(0, 0, strong, 0)), { delayMs: delay });
    const units = Int32Array.of(strong * 2 ** chain.fractionBits, 0);
    await using computer = await ReservoirComputer.fromModel({ ...chain, inputSynapses: { ...chain.inputSynapses!, weights: units } });
    const states = await computer.run(new Matrix(8, 1, Float32Array.of(1, 0, 0, 0, 0, 0, 0, 0)));
    expect(Array.from(states.column(0)).indexOf(1)).toBe(0);
    expect(Array.from(states.column(1)).indexOf(1)).toBe(1 + delay);
  });
});

describe("a liquid's description", () => {
  it.each<[string, Record<string, unknown>]>([
    ["size is 0; it takes a whole number of at least 1", { size: 0 }],
    ["timeStep is 0; it takes a number of ms above 0", { timeStep: 0 }],
    [
      "neuron.threshold is -75; it takes a potential above restingPotential, -70 mV",
      { neuron: { type: "leakyIntegrateAndFire", threshold: -75 } },
    ],
    [
      "neuron.resetPotential is -55; it takes a potential below threshold, -55 mV",
      { neuron: { type: "leakyIntegrateAndFire", resetPotential: -55 } },
    ],
    [
      'inhibitory.neuron.type is "izhikevich"; it takes "leakyIntegrateAndFire", as neuron.type',
      { inhibitory: { neuron: { type: "izhikevich" } } },
    ],
    ['unknown field "inhibitory.neuron.refractory"', { inhibitory: { neuron: { refractory: 2 } } }],
    [
      "connectivity.grid is an array of 3; it takes at least as many points as there are neurons, 100",
      { connectivity: { type: "distance", grid: [3, 3, 3] } },
    ],
    ["connectivity.probability.ee is 1.5; it takes a number from 0 to 1", { connectivity: { type: "random", probability: { ee: 1.5 } } }],
    ["input.weight is an array of 2; it takes a number, or one per channel (10)", { input: { weight: [1, 2] } }],
    ["synapses.delay is 70000; it takes at most 65534 steps of 1 ms", { synapses: { delay: 70_000 } }],
    ['unknown field "synapses.weigth": did you mean "weight"?', { synapses: { weigth: 3 } }],
    ['feedback is {"size":1}; it takes null: a spiking reservoir feeds no outputs back', { feedback: { size: 1 } }],
    [
      "fractionBits is 24; it takes at most",
      {
        fractionBits: 24,
        connectivity: "random",
        synapses: { weight: 1, distribution: "constant" },
        input: { weight: 1, distribution: "constant" },
      },
    ],
    ["mV with fractionBits 24; take fewer bits", { fractionBits: 24 }],
  ])("is refused with: %s", (sentence, fields) => {
    expect(() => build({ ...plain, ...fields } as SpikingReservoirOptions)).toThrow(sentence);
  });

  it("fills in defaults that give the same network again", () => {
    const model = build({
      ...plain,
      neuron: "adaptiveIntegrateAndFire",
      inhibitory: { neuron: { refractoryPeriod: 1 } },
      synapses: { weight: { ee: 3 } },
    });
    expect(build(model.config)).toEqual(model);
    expect(model.config.inhibitory.neuron).toEqual({ ...model.config.neuron, refractoryPeriod: 1 });
    expect(model.config.synapses.weight).toEqual({ ee: 3, ei: 20, ie: 19, ii: 19 });
  });
});

describe("a pattern through a liquid", () => {
  it("gives the last state of a run of its bins, and leaves the liquid as it was", async () => {
    await using liquid = await LiquidStateMachine.create(plain);
    const before = liquid.computer.state;
    const pattern = patternOf(3);
    const state = await liquid.process(pattern);
    expect(liquid.computer.state).toEqual(before);
    const states = await liquid.run(pattern);
    expect(states.rows).toBe(200);
    expect(state).toEqual(states.row(199));
    const mean = await liquid.process(pattern, { state: "mean" });
    const sums = Array.from({ length: 100 }, (_, r) => (states.column(r) as Float32Array).reduce((sum, value) => sum + value, 0) / 200);
    for (const [r, value] of mean.entries()) expect(value).toBeCloseTo(sums[r]!, 5);
    expect((await liquid.processAll([pattern, patternOf(0)])).row(0)).toEqual(state);
  });

  it("gives the spikes of the liquid's neurons, which filtered are its states", async () => {
    await using liquid = await LiquidStateMachine.create({ ...plain, background: { current: 13.5, deviation: 3 } });
    const pattern = patternOf(3);
    const spikes = await liquid.spikes(pattern);
    const states = await liquid.run(pattern);
    expect(spikes.spikeCount).toBeGreaterThan(100);
    expect(spikes.durationMs).toBe(200);
    const keep = Math.exp(-1 / 30);
    const filtered = new Float64Array(100);
    for (const { neuron, timeMs } of spikes) filtered[neuron] = filtered[neuron]! + keep ** (200 - timeMs);
    for (const [r, value] of filtered.entries()) expect(states.at(199, r)).toBeCloseTo(value, 4);
  });

  it("of no spikes gives the state after that much silence", async () => {
    await using liquid = await LiquidStateMachine.create(plain);
    const empty = new SpikePattern({ times: [], neurons: [] }, { durationMs: 50, neuronCount: 10 });
    expect(await liquid.process(empty)).toEqual(new Float32Array(100));
    expect((await liquid.spikes(empty)).spikeCount).toBe(0);
  });

  it("goes through a rate reservoir as well, which is told the length of a step", async () => {
    await using computer = await ReservoirComputer.create({ size: 50, inputSize: 10, seed: 1 });
    const pattern = patternOf(3);
    const state = await processPattern(computer, pattern, { stepMs: 5 });
    expect(state).toEqual((await computer.run(patternInputs(computer, pattern, { stepMs: 5 }))).row(39));
    await expect(processPattern(computer, pattern)).rejects.toThrow("stepMs is missing; it takes the length of a step in ms");
  });

  it("of another number of neurons is refused", async () => {
    await using liquid = await LiquidStateMachine.create({ ...plain, inputSize: 9 });
    await expect(liquid.process(patternOf(0))).rejects.toThrow(
      "the number of neurons of the pattern is 10; it takes 9, the reservoir's inputSize",
    );
  });
});

describe("a liquid as a reservoir", () => {
  const noisyPattern = (shift: number, seed: number): Matrix => {
    const draws = new RandomStream(seedKeys(seed).weights, 78);
    const spikes = Array.from(patternOf(shift), ({ neuron, timeMs }, i) => ({
      neuron,
      timeMs: Math.min(199, Math.max(0, timeMs + 4 * draws.uniform(0, i) - 2)),
    }));
    const matrix = Matrix.zeros(200, 10);
    for (const { neuron, timeMs } of spikes) matrix.data[Math.floor(timeMs) * 10 + neuron]! += 1;
    return matrix;
  };

  it("is classified on, saved and opened again like a rate reservoir", async () => {
    const cases = Array.from({ length: 40 }, (_, k) => noisyPattern(k % 2 === 0 ? 1 : 6, k));
    const labels = cases.map((_, k) => (k % 2 === 0 ? "one" : "six"));
    await using classifier = await Classifier.fit(cases.slice(0, 20), labels.slice(0, 20), { reservoir: plain, representation: "last" });
    expect(classifier.settings.standardise).toBe(false);
    expect(await classifier.score(cases.slice(20), labels.slice(20))).toBeGreaterThan(0.9);
    await using opened = await Classifier.fromBytes(await classifier.toBytes());
    const [model, again] = [classifier.computers[0]!.model, opened.computers[0]!.model];
    expect(again).toEqual(model);
    expect((await opened.predictProba(cases)).data).toEqual((await classifier.predictProba(cases)).data);
  });

  it("sees spikes as they are: z-scores are refused", async () => {
    await expect(Classifier.create({ reservoir: plain, standardise: true })).rejects.toThrow(
      "standardise is true; it takes false if a reservoir takes spikes, which are counts",
    );
  });

  it("forecasts a series that it takes as a current, and stands where it stood after saving", async () => {
    const series = Float64Array.from({ length: 1500 }, (_, t) => Math.sin(t / 8));
    const reservoir: SpikingReservoirOptions = {
      kind: "spiking",
      size: 200,
      neuron: { type: "leakyIntegrateAndFire", reset: "subtract", refractoryPeriod: 0, membraneTimeConstant: 10 },
      input: { mode: "current", weight: 20, connectivity: 1 },
      background: { current: 18 },
      synapses: { weight: 1 },
      stateTimeConstant: 10,
    };
    await using forecaster = await Forecaster.fit(series.subarray(0, 1200), { reservoir, readout: { lambda: 1e-2 } });
    expect(await forecaster.score(series.subarray(1200), { washout: 50 })).toBeLessThan(0.2);
    await using opened = await Forecaster.fromBytes(await forecaster.toBytes());
    expect((await opened.forecast(20)).data).toEqual((await forecaster.forecast(20)).data);
  });

  it("goes into a file with its state, and comes back to go on exactly", async () => {
    const noisy: SpikingReservoirOptions = {
      ...plain,
      neuron: "adaptiveIntegrateAndFire",
      background: { current: 14, deviation: 3 },
      synapses: { delay: [0, 5] },
    };
    const inputs = noisyPattern(2, 1);
    await using computer = await ReservoirComputer.create(noisy);
    await computer.run(inputs);
    const { computer: opened } = await decodeReservoir(await encodeReservoir(computer));
    expect((await opened.run(inputs)).data).toEqual((await computer.run(inputs)).data);
    await opened.dispose();
  });

  it("is refused from a file whose synapses are no network", async () => {
    await using computer = await ReservoirComputer.create(plain);
    const { model } = computer;
    const targets = model.synapses.targets.slice();
    targets[0] = 100;
    const broken = { model: { ...model, synapses: { ...model.synapses, targets } }, state: computer.state } as unknown as typeof computer;
    await expect(decodeReservoir(await encodeReservoir(broken))).rejects.toThrow(
      'its tensor "synapses.targets" holds 100 at 0; it takes neurons below 100',
    );
  });

  it("trains any readout, and stands in an ensemble beside rate reservoirs", async () => {
    const inputs = noisyPattern(2, 3);
    const [rate, spiking] = await runEnsemble([{ size: 20, inputSize: 10 }, plain], inputs);
    expect([rate!.cols, spiking!.cols]).toEqual([20, 100]);
    const readout = ridge({ lambda: 1 }).fit(spiking!, inputs.column(0));
    expect(readout.predict(spiking!).rows).toBe(200);
  });

  it("gives its weights as a matrix, and takes others with the delays of old synapses", () => {
    const model = build({ ...plain, synapses: { delay: [1, 4] } });
    const weights = synapticWeights(model);
    expect(weights.values).toHaveLength(model.synapses.targets.length);
    expect(withSynapticWeights(model, weights)).toEqual(model);
    const dense = toDense(weights);
    const { source, target, weight, delay } = synapsesOf(model)[7]!;
    expect(dense.at(target, source)).toBe(weight);
    const half = withSynapticWeights(model, { ...weights, values: weights.values.map((value) => value / 2) });
    const found = synapsesOf(half).find((one) => one.source === source && one.target === target)!;
    expect(found.delay).toBe(delay);
    expect(Math.abs(found.weight - weight / 2)).toBeLessThanOrEqual(2 ** -13);
    expect(() => withSynapticWeights(model, Matrix.zeros(3, 3))).toThrow('weights is "3 x 3"; it takes a 100 x 100 matrix');
  });
});

describe("analyses of a liquid", () => {
  const liquid: SpikingReservoirOptions = { ...plain, background: { current: 14, deviation: 2 } };

  it("compares engines step for step", async () => {
    const inputs = Matrix.zeros(300, 10);
    for (let t = 0; t < 300; t += 3) inputs.data[t * 10 + (t % 10)] = 1;
    const { equal, steps } = await compare(liquid, inputs, ["reference", "cpu"]);
    expect([equal, steps]).toEqual([true, 300]);
  });

  it("measure its kernel rank and its memory of a current, and leave its state as it was", async () => {
    await using computer = await ReservoirComputer.create({
      ...plain,
      inputSize: 1,
      neuron: { type: "leakyIntegrateAndFire", reset: "subtract", membraneTimeConstant: 10, refractoryPeriod: 0 },
      input: { mode: "current", weight: 30, connectivity: 1 },
      background: { current: 18 },
      synapses: { weight: 1 },
      stateTimeConstant: 10,
    });
    const before = computer.state;
    expect((await kernelRank(computer, { streams: 20, length: 50 })).rank).toBe(20);
    const { total } = await memoryCapacity(computer, { length: 1500, heldOut: 1000, maxDelay: 20, lambda: 1 });
    expect(total).toBeGreaterThan(1);
    expect(computer.state).toEqual(before);
  });
});
