// Spike-timing plasticity in a liquid: what is learnt from what it fires, that engines agree, and
// that a file keeps it.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SparseMatrix } from "../../packages/numerics/src/index.js";
import { loadReservoir, type ReservoirComputer, type SpikingModel, type SpikingReservoirOptions, saveReservoir } from "../../src/index.js";
import {
  LiquidStateMachine,
  learnSpikeTiming,
  poissonPattern,
  reservoirSpikes,
  SpikeTimingPlasticity,
  synapticWeights,
  withSynapticWeights,
} from "../../src/spikes/index.js";
import { build } from "../../src/spikes/liquid/kind.js";

const busy: SpikingReservoirOptions = {
  kind: "spiking",
  size: 60,
  inputSize: 5,
  seed: 4,
  synapses: { delay: [0, 4] },
  background: { current: 14, deviation: 3 },
};
const pattern = poissonPattern({ seed: 1, neuronCount: 5, durationMs: 400, rateHz: 40 });
/** Nothing but the pair rule. */
const pairs = { decay: 0, heterosynaptic: false, homeostatic: false };
const engine = "cpu";

describe("learnSpikeTiming", () => {
  it("learns from the liquid's own spikes what the rule learns from their pattern", async () => {
    const model = build(busy);
    const { model: learnt, weightUnit } = await learnSpikeTiming(model, [pattern], { weightUnit: 8, updateMs: 100, renewMs: 1e6, engine });
    await using liquid = await LiquidStateMachine.fromModel(model, { engine });
    const weights = synapticWeights(model);
    const rule = new SpikeTimingPlasticity({ ...weights, values: weights.values.map((w) => w / 8) }, { updateMs: 100 });
    rule.apply(await liquid.spikes(pattern));
    const after = rule.weights as SparseMatrix;
    expect(weightUnit).toBe(8);
    expect(learnt).toEqual(withSynapticWeights(model, { ...after, values: after.values.map((w) => w * 8) }));
    expect(learnt.synapses.weights).not.toEqual(model.synapses.weights);
  });

  it("takes the mean size of the weights as 1, so that a profile's bounds lie around it", async () => {
    const model = build(busy);
    const sizes = synapticWeights(model).values.map(Math.abs);
    const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
    const { model: learnt, weightUnit, plasticity } = await learnSpikeTiming(model, [pattern, pattern, pattern], { engine });
    expect(weightUnit).toBeCloseTo(mean, 9);
    // Decay puts every size within "balanced"'s [0.05, 3] of it, and units of 2^-12 mV round.
    for (const w of synapticWeights(learnt).values) {
      expect(Math.abs(w)).toBeGreaterThan(0.05 * mean - 2 ** -12);
      expect(Math.abs(w)).toBeLessThan(3 * mean + 2 ** -12);
    }
    expect(plasticity.statistics.updates).toBeGreaterThan(1000);
    expect(plasticity.statistics.meanActivity).toBeGreaterThan(0);
  });

  it("goes on where it stood when it is given its weights: a rule that changes none sees the spikes of one long run", async () => {
    const model = build(busy);
    const still = { profile: { ...pairs, learningRate: 0, minWeight: 0, maxWeight: 1000 }, engine };
    const often = await learnSpikeTiming(model, [pattern, pattern], { ...still, renewMs: 7 });
    const never = await learnSpikeTiming(model, [pattern, pattern], { ...still, renewMs: 1e6 });
    expect(often.plasticity.statistics.updates).toBe(never.plasticity.statistics.updates);
    expect(often.plasticity.statistics.updates).toBeGreaterThan(1000);
    expect(often.model).toEqual(model);
  });

  it("is heard by the liquid while it learns", async () => {
    const model = build(busy);
    const strong = { profile: { ...pairs, learningRate: 0.2, minWeight: 0, maxWeight: 50 }, engine };
    const often = await learnSpikeTiming(model, [pattern, pattern], { ...strong, renewMs: 20 });
    const never = await learnSpikeTiming(model, [pattern, pattern], { ...strong, renewMs: 1e6 });
    expect(often.plasticity.statistics.updates).not.toBe(never.plasticity.statistics.updates);
  });

  it("leaves out a synapse that was weakened to nothing, and keeps the delays of the others", async () => {
    const model = build(busy);
    const first = await learnSpikeTiming(model, [pattern], {
      profile: { ...pairs, learningRate: 0.5, minWeight: 0 },
      depressionRatio: 3,
      renewMs: 20,
      engine,
    });
    const delays = (of: SpikingModel) => {
      const { offsets, targets, delays: steps } = of.synapses;
      return new Map(Array.from(targets, (target, s) => [`${offsets.findIndex((end) => end > s)} ${target}`, steps[s]!]));
    };
    const before = delays(model);
    expect(first.model.synapses.targets.length).toBeLessThan(model.synapses.targets.length);
    for (const [synapse, delay] of delays(first.model)) expect(before.get(synapse)).toBe(delay);
  });

  it("goes on where none is left, with the input of the longest delay still on its way", async () => {
    const profile = { ...pairs, learningRate: 0, decay: 0.9999, minWeight: 0 };
    const { model: learnt } = await learnSpikeTiming(build(busy), [pattern], { profile, updateMs: 10, renewMs: 10, engine });
    expect(learnt.synapses.targets).toHaveLength(0);
  });

  it("learns the same bits on every engine", async () => {
    const model = build({ ...busy, size: 30 });
    const [reference, cpu] = await Promise.all(
      ["reference", "cpu"].map((name) => learnSpikeTiming(model, [pattern, pattern], { renewMs: 50, updateMs: 100, engine: name })),
    );
    expect(reference!.model).toEqual(cpu!.model);
  });

  it("of no pattern gives the liquid as it was, of one neuron one without synapses", async () => {
    const model = build(busy);
    expect((await learnSpikeTiming(model, [])).model).toBe(model);
    const one = build({ ...busy, size: 1 });
    expect((await learnSpikeTiming(one, [pattern], { engine })).model).toEqual(one);
  });

  it("refuses what it cannot take, and stops where it is told to", async () => {
    const model = build(busy);
    const narrow = poissonPattern({ seed: 1, neuronCount: 4 });
    await expect(learnSpikeTiming(model, [narrow])).rejects.toThrow("the number of neurons of the pattern is 4; it takes 5");
    await expect(learnSpikeTiming(model, [pattern], { renewMs: 0 })).rejects.toThrow("renewMs is 0; it takes a number of ms above 0");
    await expect(learnSpikeTiming(model, [pattern], { weightUnit: -1 })).rejects.toThrow("weightUnit is -1");
    await expect(learnSpikeTiming(model, [pattern], { profile: "bold" as "optical" })).rejects.toThrow('profile is "bold"');
    await expect(learnSpikeTiming(model, [pattern], { signal: AbortSignal.abort() })).rejects.toThrow("stopped after 0 of");
  });
});

describe("a liquid that has learnt", () => {
  it("comes back from a file with its weights and fires the same spikes", async () => {
    const { model } = await learnSpikeTiming(build(busy), [pattern, pattern], { profile: "aggressive", updateMs: 200, engine });
    await using liquid = await LiquidStateMachine.fromModel(model, { engine });
    const path = join(await mkdtemp(join(tmpdir(), "spillway-liquid-")), "learnt.safetensors");
    await liquid.run(pattern);
    await saveReservoir(path, liquid.computer);
    const { computer } = await loadReservoir(path);
    const opened = computer as ReservoirComputer<SpikingModel>;
    expect(opened.model).toEqual(model);
    expect(opened.state).toEqual(liquid.computer.state);
    const [here, there] = [await liquid.spikes(pattern), await reservoirSpikes(opened, pattern)];
    expect(here.spikeCount).toBeGreaterThan(100);
    expect([there.times, there.neurons]).toEqual([here.times, here.neurons]);
    await using unlearnt = await LiquidStateMachine.create(busy, { engine });
    expect((await unlearnt.spikes(pattern)).times).not.toEqual(here.times);
    await opened.dispose();
  });
});
