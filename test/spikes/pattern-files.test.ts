// Patterns in files: what is written reads back as it was, and files of others are read or refused
// in words.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { encodeNpz } from "../../packages/io/src/index.js";
import {
  decodePatternNpz,
  encodePatternNpz,
  encodeSpikeHdf5,
  patternFromCsv,
  patternFromJson,
  patternToCsv,
  patternToJson,
  readSpikePattern,
  SpikeEventFile,
  SpikePattern,
  writeSpikePattern,
} from "../../src/spikes/index.js";

const spike = fc.record({ neuron: fc.nat(9), timeMs: fc.double({ min: 0, max: 100, noNaN: true }) });
const loud = fc.record({
  neuron: fc.nat(9),
  timeMs: fc.double({ min: 0, max: 100, noNaN: true }),
  amplitude: fc.float({ noNaN: true, noDefaultInfinity: true }),
});
const anyPattern = fc
  .tuple(fc.oneof(fc.array(spike, { maxLength: 30 }), fc.array(loud, { maxLength: 30 })), fc.string())
  .map(([spikes, label]) =>
    SpikePattern.from(spikes, { durationMs: 100, neuronCount: 10, metadata: { label, note: [1, { deep: null }] } }),
  );

const formats: Record<string, (pattern: SpikePattern) => Promise<SpikePattern> | SpikePattern> = {
  JSON: (pattern) => patternFromJson(patternToJson(pattern)),
  CSV: (pattern) => patternFromCsv(patternToCsv(pattern)),
  NPZ: async (pattern) => decodePatternNpz(await encodePatternNpz(pattern)),
};

describe.each(Object.entries(formats))("%s", (_, roundTrip) => {
  it("gives any pattern back, bit for bit, with everything that is known of it", async () => {
    await fc.assert(
      fc.asyncProperty(anyPattern, async (pattern) => {
        const back = await roundTrip(pattern);
        // JSON has one zero.
        expect({ ...back, times: back.times.map((t) => t + 0), amplitudes: back.amplitudes?.map((a) => a + 0) }).toEqual({
          ...pattern,
          times: pattern.times.map((t) => t + 0),
          amplitudes: pattern.amplitudes?.map((a) => a + 0),
        });
      }),
      { numRuns: 60 },
    );
  });

  it("gives an empty pattern back", async () => {
    const empty = SpikePattern.from([], { durationMs: 50, neuronCount: 3 });
    expect(await roundTrip(empty)).toEqual(empty);
  });
});

describe("files of others", () => {
  it("as CSV need no frame: duration and neurons come from the spikes, or from the caller", async () => {
    const text = "neuron;time_ms\n4;20\n1;5\n";
    expect(await patternFromCsv(text)).toMatchObject({ durationMs: 20, neuronCount: 5, times: Float64Array.of(5, 20) });
    expect(await patternFromCsv(text, { durationMs: 100, neuronCount: 10 })).toMatchObject({ durationMs: 100, neuronCount: 10 });
    expect((await patternFromCsv("3.5,2\n1,0\n")).neurons).toEqual(Uint32Array.of(0, 2));
  });

  it.each([
    ["id,time_ms\n4,20\n1,5\n", {}],
    ["Time (ms),Unit\n20,4\n5,1\n", {}],
    ["time_s,neuron\n0.02,4\n0.005,1\n", {}],
    ["sender\ttime_us\n4\t20000\n1\t5000\n", {}],
    ["id,t\n4,0.02\n1,0.005\n", { timeUnit: "s" }],
    ["i,t\n4,20\n1,5\n", { timeUnit: "ms" }],
    ["0.02,4\n0.005,1\n", { timeUnit: "s" }],
  ] as const)("as CSV name their columns and units in many ways: %j", async (text, options) => {
    const { times, neurons } = await patternFromCsv(text, options);
    expect(times[0]).toBeCloseTo(5, 9);
    expect(times[1]).toBeCloseTo(20, 9);
    expect(neurons).toEqual(Uint32Array.of(1, 4));
  });

  it.each([
    ["id,t\n4,20\n", 'its column "t" says no unit; name it time_ms, time_s or time_us, or give timeUnit'],
    ["time_ms,neuron,amplitud\n1,2,3\n", 'it has a column "amplitud"; it takes time_ms (or time_s, time_us) and neuron'],
    ["time_ms,amplitude\n1,2\n", 'it has no column of the neuron, only "time_ms", "amplitude"'],
    ["time_ms,t,neuron\n1,2,3\n", 'its columns "time_ms" and "t" both hold the time'],
    ["", "it is empty; a pattern without spikes has at least a header"],
    ["\n\n# nothing\n", "it is empty"],
    ["time_ms,neuron\n", "it holds no spikes and does not say of how many ms and neurons: give durationMs and neuronCount"],
    ["id,x\n", 'it has a column "x"'],
  ])("as CSV are refused if a column, a unit or the whole pattern is not known: %j", async (text, reason) => {
    await expect(patternFromCsv(text, { source: "a.csv" })).rejects.toThrow(`a.csv: ${reason}`);
  });

  it("without spikes last as long as the caller says", async () => {
    expect(await patternFromCsv("time_ms,neuron\n", { durationMs: 50, neuronCount: 3 })).toMatchObject({ durationMs: 50, spikeCount: 0 });
    expect(() => patternFromJson('{"times":[],"neurons":[]}')).toThrow("it holds no spikes");
    expect(patternFromJson('{"times":[],"neurons":[]}', { durationMs: 1, neuronCount: 1 }).spikeCount).toBe(0);
  });

  it("as JSON hold numbers, not what would pass for them, and notes that are an object", () => {
    expect(() => patternFromJson('{"times":[null],"neurons":[0]}')).toThrow("the time of spike 0 is null");
    expect(() => patternFromJson('{"times":["1"],"neurons":[0],"durationMs":5}')).toThrow('the time of spike 0 is "1"');
    expect(() => patternFromJson('{"times":[1],"neurons":[0],"amplitudes":null}')).toThrow(
      "amplitudes is null; it takes a list of numbers",
    );
    expect(() => patternFromJson('{"times":[1],"neurons":[0],"metadata":[1]}')).toThrow(
      "its metadata is an array of 1; it takes an object",
    );
  });

  it("as NPZ may hold any type of number", async () => {
    const bytes = await encodeNpz({ times_ms: Float32Array.of(2, 1), neurons: BigInt64Array.of(7n, 3n) });
    expect(await decodePatternNpz(bytes)).toMatchObject({ neuronCount: 8, times: Float64Array.of(1, 2) });
  });

  it("that are no patterns are refused by name", async () => {
    expect(() => patternFromJson("{", { source: "a.json" })).toThrow("a.json: it is no JSON");
    expect(() => patternFromJson("[1]", { source: "a.json" })).toThrow("a.json: it is no spike pattern: it has no lists times and neurons");
    expect(() => patternFromJson('{"times":[1],"neurons":["x"]}')).toThrow("the neuron of spike 0 is");
    await expect(patternFromCsv("1\n2\n", { source: "a.csv" })).rejects.toThrow("a.csv: it has 1 columns and no header; it takes time_ms");
    await expect(patternFromCsv("time_ms,neuron\n-3,0\n")).rejects.toThrow("the time of spike 0 is -3");
    await expect(decodePatternNpz(await encodeNpz({ x: Float64Array.of(1) }))).rejects.toThrow("it has no arrays times_ms and neurons");
  });
});

describe("a file on disk", () => {
  it.each(["json", "csv", "npz"])("has the format of its ending: .%s", async (ending) => {
    const folder = mkdtempSync(join(tmpdir(), "patterns-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const pattern = SpikePattern.from([{ neuron: 1, timeMs: 0.1 }], { durationMs: 1, neuronCount: 2 });
    await writeSpikePattern(join(folder, `a.${ending}`), pattern);
    expect(await readSpikePattern(join(folder, `a.${ending}`))).toEqual(pattern);
  });

  it("of another ending is refused with those that are read", async () => {
    await expect(readSpikePattern("a.txt")).rejects.toThrow('the name of the file is "a.txt"; it takes the ending .json, .csv or .npz');
  });
});

describe("event lists in HDF5", () => {
  // Made with h5py 3.16 in the layout of the Spiking Heidelberg Digits: float16 seconds, uint16
  // units, one row a pattern.
  const fixture = readFileSync(new URL("./fixtures/event-lists.h5", import.meta.url));

  it.each([
    ["big-endian.h5", [0, 0, 0, 0, 0]],
    ["big-endian-units.h5", [0, 256, 512, 256, 0]],
  ])("has the numbers that h5py wrote, most significant byte first: %s", async (name, units) => {
    using file = await SpikeEventFile.open(new URL(`./fixtures/${name}`, import.meta.url).pathname);
    const read = [...file];
    expect(read.flatMap(({ neurons }) => [...neurons])).toEqual(units);
    const seconds = [0.01, 0.02, 0.03, 0.02, 0.0408];
    expect(read.flatMap(({ times }) => [...times])).toEqual(seconds.map((time) => Math.fround(time) * 1000));
  });

  it("that is compressed by another filter than gzip is refused by its name", async () => {
    const path = new URL("./fixtures/lzf.h5", import.meta.url).pathname;
    await expect(SpikeEventFile.open(path)).rejects.toThrow(
      "spikes/times is compressed by the filter lzf, which is not read; write it with gzip",
    );
  });

  it("of the Spiking Heidelberg Digits' layout are read, 16-bit times included", async () => {
    using file = await SpikeEventFile.decode(fixture, { durationMs: 1000, source: "digits.h5" });
    expect([file.count, file.neuronCount]).toEqual([4, 700]);
    expect(file.labels).toEqual(Uint32Array.of(0, 2, 1, 0));
    expect(file.classNames).toEqual(["zero", "one", "eleven"]);
    const first = file.pattern(0);
    expect(first.times).toEqual(Float64Array.of(0, 250, 500, 799.8046875));
    expect(first.neurons).toEqual(Uint32Array.of(3, 699, 0, 12));
    expect(first.metadata).toEqual({ source: "digits.h5, pattern 0", label: "zero", speaker: 1 });
    // The rows of the file are not in order of time; this one is 0.1 s, then 0.05 s, in 16 bits.
    expect(file.pattern(1).neurons).toEqual(Uint32Array.of(7, 5));
    expect(file.pattern(1).times[1]).toBe(0.0999755859375 * 1000);
    expect(file.pattern(2).spikeCount).toBe(0);
    expect([...file].map(({ metadata }) => metadata.label)).toEqual(["zero", "eleven", "one", "zero"]);
  });

  it("last up to their last spike where nothing else is said, and must fit where it is", async () => {
    using open = await SpikeEventFile.decode(fixture);
    expect(open.pattern(0).durationMs).toBe(799.8046875);
    using small = await SpikeEventFile.decode(fixture, { neuronCount: 100, source: "digits.h5" });
    expect(() => small.pattern(0)).toThrow("digits.h5: pattern 0: the neuron of spike 1 is 699; it takes a whole number from 0 to 99");
    expect(() => small.pattern(4)).toThrow("the index of a pattern is 4; it takes a whole number from 0 to 3");
    small.dispose();
    expect(() => small.pattern(0)).toThrow("closed");
  });

  it.each([
    ["float16", 0.5],
    ["float32", 1e-4],
  ] as const)("that are written read back, with times right to a %s", async (times, error) => {
    const patterns = ["a", "b", "a"].map((label, k) =>
      SpikePattern.from(
        Array.from({ length: 50 * k }, (_, i) => ({ neuron: i % 20, timeMs: i * 9.7 })),
        { durationMs: 1000, neuronCount: 20, metadata: { label } },
      ),
    );
    using file = await SpikeEventFile.decode(await encodeSpikeHdf5(patterns, { times }), { neuronCount: 20, durationMs: 1000 });
    expect(file.classNames).toEqual(["a", "b"]);
    for (const [i, pattern] of patterns.entries()) {
      const back = file.pattern(i);
      expect(back.metadata.label).toBe(pattern.metadata.label);
      expect(back.neurons).toEqual(pattern.neurons);
      for (const [k, time] of pattern.times.entries()) expect(Math.abs(back.times[k]! - time)).toBeLessThanOrEqual(error);
    }
  });

  it("keep amplitudes, and leave them out if no pattern has any", async () => {
    const frame = { durationMs: 100, neuronCount: 5 };
    const strong = SpikePattern.from(
      [
        { neuron: 1, timeMs: 30, amplitude: 0.5 },
        { neuron: 4, timeMs: 10, amplitude: -2 },
      ],
      frame,
    );
    const plain = SpikePattern.from([{ neuron: 2, timeMs: 20 }], frame);
    using mixed = await SpikeEventFile.decode(await encodeSpikeHdf5([plain, strong]), frame);
    expect([...mixed].map(({ amplitudes }) => amplitudes)).toEqual([Float32Array.of(1), Float32Array.of(-2, 0.5)]);
    using without = await SpikeEventFile.decode(await encodeSpikeHdf5([plain]), frame);
    expect(without.pattern(0).amplitudes).toBeUndefined();
  });

  it("are broken off by name after a time", async () => {
    const count = 1_000_000;
    const times = Float64Array.from({ length: count }, (_, i) => i / 1000);
    const long = await encodeSpikeHdf5([
      new SpikePattern({ times, neurons: new Uint32Array(count) }, { durationMs: 2000, neuronCount: 1 }),
    ]);
    await expect(SpikeEventFile.decode(long, { timeLimitMs: 1, source: "slow.h5" })).rejects.toThrow(
      "slow.h5: reading it takes more than 1 ms, so it was broken off: it is damaged, or give a larger timeLimitMs",
    );
    await expect(SpikeEventFile.decode(fixture, { timeLimitMs: 0 })).rejects.toThrow("timeLimitMs is 0");
  });

  it("need no labels, but all or none", async () => {
    const bare = SpikePattern.from([{ neuron: 1, timeMs: 3 }], { durationMs: 10, neuronCount: 2 });
    using file = await SpikeEventFile.decode(await encodeSpikeHdf5([bare]), { neuronCount: 2 });
    expect([file.labels, file.classNames, file.pattern(0).metadata.label]).toEqual([undefined, undefined, undefined]);
    const named = SpikePattern.from([], { durationMs: 10, neuronCount: 2, metadata: { label: "x" } });
    await expect(encodeSpikeHdf5([named, bare])).rejects.toThrow("the label of pattern 1 is missing");
  });

  it("are refused where the bytes are something else", async () => {
    await expect(SpikeEventFile.decode(new Uint8Array(100), { source: "x.h5" })).rejects.toThrow("x.h5: it is no HDF5 file");
  });
});
