// A spike pattern: what it takes, in which order it holds its spikes, and what it says of bad
// input.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ArgumentError, SpikePattern } from "../../src/spikes/index.js";

const options = { durationMs: 100, neuronCount: 4 };

describe("a spike pattern", () => {
  it("holds its spikes as columns, by time and then by neuron", () => {
    const pattern = SpikePattern.from(
      [
        { neuron: 3, timeMs: 20 },
        { neuron: 2, timeMs: 5 },
        { neuron: 1, timeMs: 20 },
      ],
      options,
    );
    expect(pattern.times).toEqual(Float64Array.of(5, 20, 20));
    expect(pattern.neurons).toEqual(Uint32Array.of(2, 1, 3));
    expect(pattern.amplitudes).toBeUndefined();
    expect([...pattern]).toEqual([
      { neuron: 2, timeMs: 5 },
      { neuron: 1, timeMs: 20 },
      { neuron: 3, timeMs: 20 },
    ]);
  });

  it("gives spikes without an amplitude 1 where others have one, in binary32", () => {
    const pattern = SpikePattern.from(
      [
        { neuron: 0, timeMs: 1, amplitude: 0.1 },
        { neuron: 1, timeMs: 2 },
      ],
      options,
    );
    expect(pattern.amplitudes).toEqual(Float32Array.of(0.1, 1));
    expect(pattern.spike(0)).toEqual({ neuron: 0, timeMs: 1, amplitude: Math.fround(0.1) });
  });

  it("takes over columns that are in order, without a copy", () => {
    const times = Float64Array.of(0, 100);
    expect(new SpikePattern({ times, neurons: [0, 0] }, options).times).toBe(times);
  });

  it("never holds the caller's arrays when it sorts", () => {
    const times = Float64Array.of(1, 2);
    expect(SpikePattern.from({ times, neurons: [0, 0] }, options).times).not.toBe(times);
  });

  it("says what is missing altogether", () => {
    const columns = { times: [1], neurons: [0] };
    const takes = "the pattern's second argument is missing; it takes { durationMs, neuronCount }, in ms and neurons";
    expect(() => SpikePattern.from(columns, undefined as never)).toThrow(takes);
    expect(() => new SpikePattern(columns, undefined as never)).toThrow(takes);
    expect(() => SpikePattern.from({ times: [1] } as never, options)).toThrow("neurons is missing; it takes the neuron of each spike");
    expect(() => SpikePattern.from(undefined as never, options)).toThrow(
      "the list of spikes is missing; it takes spikes { neuron, timeMs }",
    );
  });

  it("may be empty, and may last no time at all", () => {
    expect(SpikePattern.from([], options).spikeCount).toBe(0);
    expect(SpikePattern.from([{ neuron: 0, timeMs: 0 }], { durationMs: 0, neuronCount: 1 }).spikeCount).toBe(1);
  });

  it("sorts any spikes as a stable sort of them would", () => {
    const spike = fc.record({ neuron: fc.nat(3), timeMs: fc.nat(20), amplitude: fc.float({ noNaN: true, noDefaultInfinity: true }) });
    fc.assert(
      fc.property(fc.array(spike, { maxLength: 60 }), (spikes) => {
        const stable = [...spikes].sort((a, b) => a.timeMs - b.timeMs || a.neuron - b.neuron);
        expect([...SpikePattern.from(spikes, options)]).toEqual(stable);
      }),
    );
  });

  it.each([
    [
      "a time that is not a number",
      [{ neuron: 0, timeMs: Number.NaN }],
      "the time of spike 0 is NaN; it takes 0 to 100 ms, the duration of the pattern",
    ],
    ["a time before the beginning", [{ neuron: 0, timeMs: -1 }], "the time of spike 0 is -1; it takes 0 to 100 ms"],
    [
      "a time after the end",
      [
        { neuron: 0, timeMs: 5 },
        { neuron: 0, timeMs: 100.5 },
      ],
      "the time of spike 1 is 100.5; it takes 0 to 100 ms",
    ],
    ["a neuron that is not there", [{ neuron: 4, timeMs: 0 }], "the neuron of spike 0 is 4; it takes a whole number from 0 to 3"],
    ["half a neuron", [{ neuron: 0.5, timeMs: 0 }], "the neuron of spike 0 is 0.5; it takes a whole number from 0 to 3"],
    [
      "an infinite amplitude",
      [{ neuron: 0, timeMs: 0, amplitude: Infinity }],
      "the amplitude of spike 0 is Infinity; it takes a finite number",
    ],
  ])("refuses %s", (_, spikes, sentence) => {
    expect(() => SpikePattern.from(spikes, options)).toThrow(ArgumentError);
    expect(() => SpikePattern.from(spikes, options)).toThrow(sentence);
  });

  it.each([
    [{ durationMs: -1, neuronCount: 4 }, "durationMs is -1; it takes a finite number of at least 0 ms"],
    [{ durationMs: Number.NaN, neuronCount: 4 }, "durationMs is NaN"],
    [{ durationMs: 100, neuronCount: 0 }, "neuronCount is 0; it takes a whole number from 1 to 4294967295"],
    [{ durationMs: 100, neuronCount: 1.5 }, "neuronCount is 1.5"],
  ])("refuses %o", (bad, sentence) => {
    expect(() => SpikePattern.from([], bad)).toThrow(sentence);
  });

  it("refuses columns out of order, and says who sorts them", () => {
    expect(() => new SpikePattern({ times: [2, 1], neurons: [0, 3] }, options)).toThrow(
      "spike 1 is at 1 ms of neuron 3, after one at 2 ms of neuron 0; it takes spikes in order of time, then of neuron; SpikePattern.from sorts them",
    );
    expect(() => new SpikePattern({ times: [1, 1], neurons: [3, 0] }, options)).toThrow("spike 1 is at 1 ms of neuron 0");
  });

  it("refuses columns of different lengths, and an index that is not there", () => {
    expect(() => new SpikePattern({ times: [1, 2], neurons: [0] }, options)).toThrow(
      "the number of neurons is 1; it takes 2, as many as there are times",
    );
    expect(() => SpikePattern.from([], options).spike(0)).toThrow("the index of a spike is 0");
  });
});
