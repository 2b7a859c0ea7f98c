import { describe, expect, it } from "vitest";
import { memoryCapacity } from "../../src/analysis/index.js";
import "../../src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { plotComparison, plotMemoryCapacity, plotPhaseSpace, plotSpectrum, plotSpikeRaster } from "../../src/plot/index.js";
import { principalComponents } from "../../src/plot/phase-space.js";
import { decoded } from "./decoded.js";

describe("plotPhaseSpace", () => {
  it("draws columns against each other where they are named", () => {
    const figure = plotPhaseSpace(
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      { columns: [2, 0] },
    );
    expect(decoded(figure.data[0]!["x"])).toEqual([3, 6]);
    expect(decoded(figure.data[0]!["y"])).toEqual([1, 4]);
    expect(figure.layout["xaxis"]).toMatchObject({ title: { text: "column 2" } });
  });

  it("finds the direction that states move along, and says what share of the variance it holds", () => {
    // Points on a line through (3, 4, 0) / 5, with a tenth of it across.
    const states = Array.from({ length: 200 }, (_, t) => [3 * Math.sin(t), 4 * Math.sin(t), 0.5 * Math.cos(t)]);
    const { explained, coordinates } = principalComponents(Matrix.from(states), 2);
    expect(explained[0]).toBeCloseTo(25 / 25.25, 2);
    expect(coordinates.at(1, 0) - coordinates.at(0, 0)).toBeCloseTo(5 * Math.sin(1), 2);
    const figure = plotPhaseSpace(states);
    expect(figure.layout["xaxis"]).toMatchObject({ title: { text: "component 1 (99 %)" } });
  });

  it("puts a second trajectory into the same view", () => {
    const states = Array.from({ length: 50 }, (_, t) => [Math.sin(t), Math.cos(t), Math.sin(2 * t), 0]);
    const figure = plotPhaseSpace(states, { dimensions: 3, beside: states, besideName: "forecast" });
    expect(figure.data.map(({ type, name }) => [type, name])).toEqual([
      ["scatter3d", "trajectory"],
      ["scatter3d", "forecast"],
    ]);
    expect(decoded(figure.data[1]!["z"])).toEqual(decoded(figure.data[0]!["z"]));
  });

  it("refuses columns that there are not", () => {
    expect(() => plotPhaseSpace([[1, 2]], { columns: [0, 2] })).toThrow("columns holds 2; states has columns 0 to 1");
    expect(() => plotPhaseSpace([[1]])).toThrow("states has 1 columns; 2 dimensions take at least 2");
  });
});

describe("plotSpectrum", () => {
  it("draws eigenvalues and the unit circle on axes of one scale, and names the largest modulus", () => {
    const figure = plotSpectrum({ re: [0.6, 0], im: [0.8, -0.5] });
    expect(figure.layout["shapes"]).toMatchObject([{ type: "circle", x0: -1, x1: 1 }]);
    expect(figure.layout["yaxis"]).toMatchObject({ scaleanchor: "x" });
    expect(figure.description).toContain("2 of W, the largest of modulus 1");
  });
});

describe("plotSpikeRaster", () => {
  const spikes = { times: [1, 2.5, 9], neurons: [0, 3, 1], durationMs: 10, neuronCount: 4 };

  it("draws a mark a spike", () => {
    const figure = plotSpikeRaster(spikes);
    expect(decoded(figure.data[0]!["x"])).toEqual([1, 2.5, 9]);
    expect(decoded(figure.data[0]!["y"])).toEqual([0, 3, 1]);
    // 3 spikes of 4 neurons in 10 ms are 75 Hz a neuron.
    expect(figure.description).toBe("3 spikes of 4 neurons over 10 ms, 75.0 Hz a neuron, one mark each.");
  });

  it("draws rates in place of more spikes than can be told apart, and carries the spikes for a zoom", () => {
    const figure = plotSpikeRaster(spikes, { maxPoints: 2, bins: [2, 2] });
    expect(figure.data[0]!["type"]).toBe("heatmap");
    // Bins of 5 ms and 2 neurons: one spike of neuron 0 before 5 ms and one of neuron 1 after are
    // 1000 / (5 * 2) = 100 Hz each.
    expect(decoded(figure.data[0]!["z"])).toEqual([100, 100, 100, 0]);
    expect(figure.detail).toMatchObject({ maxPoints: 2 });
    expect(decoded(figure.detail!["x"])).toEqual([1, 2.5, 9]);
    expect(plotSpikeRaster(spikes, { maxPoints: 2, zoomToPoints: false }).detail).toBeUndefined();
  });

  it("refuses spikes outside the pattern", () => {
    expect(() => plotSpikeRaster({ ...spikes, times: [1, 2, 11] })).toThrow("spike 2 is at 11 ms; the pattern lasts from 0 to 10 ms");
    expect(() => plotSpikeRaster({ ...spikes, neurons: [0, 4, 1] })).toThrow("spike 1 is of neuron 4; there are neurons 0 to 3");
    expect(() => plotSpikeRaster({ ...spikes, times: [1] })).toThrow("1 spike times and 3 neurons");
  });
});

describe("plotMemoryCapacity", () => {
  it("draws the curve that memoryCapacity measures", async () => {
    const memory = await memoryCapacity({ size: 5, seed: 1 }, { maxDelay: 6, length: 300, heldOut: 200 });
    const figure = plotMemoryCapacity(memory);
    expect(decoded(figure.data[0]!["y"])).toEqual([...memory.curve]);
    expect(figure.data[0]!["name"]).toMatch(/^reservoir \(float32\): \d/);
    expect(plotMemoryCapacity({ a: memory, b: memory }).data).toHaveLength(2);
  });
});

describe("plotComparison", () => {
  const plan = { engine: "cpu", summary: "", bytes: 0, details: {} };
  const run = { engine: "cpu", reason: "", plan, arithmetic: "portable" as const, seconds: 1, stepsPerSecond: 1 };
  const none = { differing: 0, maxUlps: 0, maxAbsolute: 0, first: undefined, rate: undefined, every: 1 };

  it("says in words whether the bits are the same, or where they part", () => {
    const equal = { ...none, equal: true, compared: 4, histogram: [{ label: "0", from: 0, count: 4 }], divergence: new Float64Array(2) };
    const comparison = { size: 2, steps: 2, sequences: 1, precision: "float32", reference: run, equal: true };
    expect(plotComparison({ ...comparison, others: [{ ...run, engine: "cuda", difference: equal }] }).description).toBe(
      "2 steps of 2 neurons: cuda gives the bits of cpu in all of them.",
    );
    const apart = {
      ...equal,
      equal: false,
      differing: 1,
      maxUlps: 1,
      first: { step: 1, neuron: 0, values: [1, 2] as const, ulps: 1 },
      histogram: [
        { label: "0", from: 0, count: 3 },
        { label: "1", from: 1, count: 1 },
      ],
      divergence: Float64Array.of(0, 1e-7),
      rate: Math.log(2),
    };
    const figure = plotComparison({ ...comparison, equal: false, others: [{ ...run, engine: "cuda", difference: apart }] });
    expect(figure.description).toContain(
      "cuda first differs from cpu at step 1, neuron 0, and by 1 units in the last place at most, growing by a factor of 2 a step",
    );
    const forgotten = { ...apart, rate: -Math.log(2) };
    expect(plotComparison({ ...comparison, equal: false, others: [{ ...run, difference: forgotten }] }).description).toContain(
      "shrinking by a factor of 0.5 a step",
    );
    expect(figure.data[1]!["y"]).toEqual([3, 1]);
  });
});
