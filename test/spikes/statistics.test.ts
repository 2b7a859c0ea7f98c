// Snapshots of states and statistics of a running reservoir: every figure from what happened.
import { describe, expect, it } from "vitest";
import { ReservoirComputer } from "../../src/index.js";
import { poissonPattern, ReservoirStatistics, reservoirSnapshot, SpikePattern } from "../../src/spikes/index.js";

describe("a snapshot", () => {
  it("has the mean and the largest activation, and the share of neurons above 0.01", () => {
    expect(reservoirSnapshot(Float64Array.of(0.5, -0.5, 0.25, 0.01))).toMatchObject({
      averageActivation: 0.065,
      maxActivation: 0.5,
      snapshotActiveShare: 0.75,
      snapshotSimilarity: undefined,
    });
  });

  it("has the sample deviation of the neurons, at most 1", () => {
    expect(reservoirSnapshot(Float64Array.of(0, 1)).snapshotSpread).toBeCloseTo(Math.SQRT1_2, 12);
    expect(reservoirSnapshot(Float64Array.of(-5, 5)).snapshotSpread).toBe(1);
    expect(reservoirSnapshot(Float64Array.of(3)).snapshotSpread).toBe(0);
  });

  it("has the cosine with the state before, without its sign", () => {
    const similarity = (a: number[], b: number[]) =>
      reservoirSnapshot(Float64Array.from(a), { before: Float64Array.from(b) }).snapshotSimilarity;
    expect(similarity([1, 1], [-2, -2])).toBeCloseTo(1, 12);
    expect(similarity([1, 0], [1, 1])).toBeCloseTo(Math.SQRT1_2, 12);
    expect(similarity([1, 0], [0, 0])).toBe(0);
  });

  it("takes at least one neuron, and two states of one size", () => {
    expect(() => reservoirSnapshot(new Float64Array(0))).toThrow("the number of neurons is 0; it takes at least 1");
    expect(() => reservoirSnapshot(Float64Array.of(1), { before: Float64Array.of(1, 2) })).toThrow(
      "the size of the state before is 2; it takes 1",
    );
  });
});

describe("statistics", () => {
  it("are empty before anything happened", () => {
    expect(new ReservoirStatistics().report).toEqual({
      patternsProcessed: 0,
      totalSpikesProcessed: 0,
      stepsRun: 0,
      runningMs: 0,
      snapshots: 0,
      averageActivation: undefined,
      maxActivationSeen: undefined,
      lastSnapshot: undefined,
    });
  });

  it("count patterns and spikes, average activations with a weight of 0.1, and keep the largest", () => {
    const statistics = new ReservoirStatistics();
    const pattern = poissonPattern({ seed: 1 });
    statistics.observe(Float64Array.of(1, 0), { pattern });
    statistics.observe(Float64Array.of(0.2, 0), { pattern: SpikePattern.from([], { durationMs: 1, neuronCount: 1 }) });
    const { lastSnapshot, ...report } = statistics.report;
    expect(report).toMatchObject({
      patternsProcessed: 2,
      totalSpikesProcessed: pattern.spikeCount,
      snapshots: 2,
      maxActivationSeen: 1,
    });
    expect(report.averageActivation).toBeCloseTo(0.9 * 0.5 + 0.1 * 0.1, 12);
    expect(lastSnapshot).toMatchObject({ spikeCount: 0, snapshotSimilarity: 1 });
    statistics.reset();
    expect(statistics.report.snapshots).toBe(0);
  });

  it("of a run leave its states as they are, and take a snapshot every so many steps", async () => {
    const config = { size: 30, inputSize: 1, seed: 5 } as const;
    const inputs = Array.from({ length: 250 }, (_, t) => [Math.sin(t / 5)]);
    const plain = await ReservoirComputer.create(config, { engine: "reference" });
    const watched = await ReservoirComputer.create(config, { engine: "reference" });
    const statistics = new ReservoirStatistics();
    const steps: number[] = [];
    const states = await statistics.run(watched, inputs, { everySteps: 100, onSnapshot: (_, step) => steps.push(step) });
    expect(states).toEqual(await plain.run(inputs));
    expect(steps).toEqual([100, 200]);
    expect(statistics.report).toMatchObject({ stepsRun: 250, snapshots: 2 });
    expect(statistics.report.runningMs).toBeGreaterThan(0);
    expect(statistics.report.lastSnapshot).toEqual(reservoirSnapshot(states.row(199), { before: states.row(198) }));
    await expect(statistics.run(watched, inputs, { everySteps: 0 })).rejects.toThrow(
      "everySteps is 0; it takes a whole number of at least 1",
    );
  });
});
