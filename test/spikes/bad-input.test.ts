// What a user gets wrong of patterns, encoders and files: a sentence that names it, not spikes that
// mean something else.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SpillwayError } from "../../packages/core/src/errors.js";
import * as spikes from "../../src/spikes/index.js";

const pattern = new spikes.SpikePattern({ times: [1, 5], neurons: [0, 2] }, { durationMs: 10, neuronCount: 4 });
const vast = new spikes.SpikePattern({ times: [1], neurons: [3_999_999_999] }, { durationMs: 10, neuronCount: 4_000_000_000 });
const hour = new spikes.SpikePattern({ times: [1], neurons: [0] }, { durationMs: 3_600_000, neuronCount: 20 });
const json = spikes.patternToJson(pattern);
const raster = spikes.spikeRaster(pattern, { stepMs: 1 });
const sound = new Float64Array(100);
const refused: readonly (readonly [string, () => unknown, string])[] = [
  [
    "a rate encoded without options",
    () => spikes.rateEncode([0.5], undefined as never),
    "options is missing; it takes an object of options",
  ],
  ["a process of another name", () => spikes.rateEncode([0.5], { frameMs: 5, process: 1 as never }), "process is 1; it takes"],
  ["a seed that is none", () => spikes.rateEncode([0.5], { frameMs: 5, seed: {} as never }), "it takes text or a finite number"],
  ["a rate below 0 in a decoder", () => spikes.rateDecode(pattern, { frameMs: 5, minRateHz: -1 }), "minRateHz is -1; it takes"],
  ["a rate decoded of no pattern", () => spikes.rateDecode([1] as never, { frameMs: 5 }), "it takes a SpikePattern"],
  [
    "a spike whose time has another name",
    () => spikes.SpikePattern.from([{ neuron: 0, time: 1 } as never], { durationMs: 10, neuronCount: 4 }),
    'spike 0 is {"neuron":0,"time":1}; it takes { neuron, timeMs }, both numbers',
  ],
  [
    "bins of more neurons than fit into memory",
    () => spikes.binSpikes(vast, { binMs: 1 }),
    "a table of 10 bins x 4000000000 neurons is 447 GiB; it takes up to",
  ],
  ["rates of more neurons than fit into memory", () => spikes.neuronRates(vast), "a list of 4000000000 neurons is 44.7 GiB; it takes"],
  [
    "a pattern that is too long to look for types in",
    () => new spikes.PatternDetector().detect(hour),
    "the duration of the pattern is 3600000 ms; it takes up to 60000 ms: cut windows out by slicePattern, or raise maxDurationMs",
  ],
  [
    "a silent value that is a text",
    () => spikes.latencyDecode(pattern, { frameMs: 5, silent: "0" as never }),
    'silent is "0"; it takes a number',
  ],
  ["a phase that is a text", () => spikes.phaseEncode([0.5], { frameMs: 5, phaseRange: "1" as never }), 'phaseRange is "1"; it takes'],
  ["a start that is no list", () => spikes.deltaEncode([1], { stepMs: 1, threshold: 1, start: "1" as never }), 'start is "1"; it takes'],
  [
    "a level that no signal leaves",
    () => spikes.deltaEncode([1], { stepMs: 1, threshold: 1, start: [-Infinity] }),
    "the start level of channel 0 is -Infinity; it takes a finite number",
  ],
  [
    "a decoder without levels",
    () => spikes.deltaDecode(pattern, { stepMs: 1, threshold: 1 } as never),
    "start is missing; it takes a list of levels",
  ],
  ["centres without a sample rate", () => spikes.filterCentres({} as never), "sampleRate is missing; it takes a number of Hz above 0"],
  ["a highest centre that is a text", () => spikes.filterCentres({ sampleRate: 8000, highestHz: "900" as never }), 'highestHz is "900"'],
  ["no encoder", () => spikes.encodeSpikes([0.5], undefined as never), "the encoder's description is missing; it takes"],
  ["a minimum that is a text", () => spikes.scaleToUnit([1, 2], { minimum: "0" as never }), 'minimum is "0"; it takes a number, or a list'],
  ["too few maxima", () => spikes.scaleToUnit([[1, 2]], { maximum: [3] }), "the number of values of maximum is 1; it takes 2"],
  ["a maximum of nothing", () => spikes.scaleToUnit([[1]], { maximum: [null] as never }), "maximum[0] is null; it takes a number"],
  ["bins of no pattern", () => spikes.binSpikes([] as never, { bins: 2 }), "pattern is an array of 0; it takes a SpikePattern"],
  ["a profile without bins", () => spikes.timeProfile(pattern, undefined as never), "bins is missing; it takes a whole number"],
  ["a raster that is none", () => spikes.patternFromRaster([[1]] as never, { stepMs: 1 }), "it takes a Matrix, T x N"],
  ["one pattern to merge", () => spikes.mergePatterns(pattern as never), "it takes a list of SpikePatterns"],
  ["a list of others to join", () => spikes.concatenatePatterns([pattern, 1 as never]), "patterns[1] is 1; it takes a SpikePattern"],
  ["nothing to shift", () => spikes.shiftPattern(undefined as never, 1), "pattern is missing; it takes a SpikePattern"],
  ["jitter without a seed", () => spikes.jitterPattern(pattern, { standardDeviationMs: 1 } as never), "seed is missing; it takes text"],
  ["a chance that is a text", () => spikes.thinPattern(pattern, { dropProbability: "0.5" as never, seed: 1 }), 'dropProbability is "0.5"'],
  ["a window of texts", () => spikes.slicePattern(pattern, "1" as never, "5" as never), "the window is 1 to 5 ms; it takes two times"],
  ["a Poisson pattern without a seed", () => spikes.poissonPattern({} as never), "seed is missing; it takes text or a finite number"],
  ["a clock that is none", () => new spikes.CircuitBreaker({ now: 5 as never }), "now is 5; it takes a function"],
  ["JSON that is no text", () => spikes.patternFromJson(5 as never), "the text of a pattern is 5; it takes a text"],
  ["CSV that is no text", () => spikes.patternFromCsv(5 as never), "the text of a pattern is 5; it takes a text"],
  ["no pattern as JSON", () => spikes.patternToJson({} as never), "it takes a SpikePattern"],
  ["no pattern as CSV", () => spikes.patternToCsv(null as never), "pattern is null; it takes a SpikePattern"],
  ["no pattern as NPZ", () => spikes.encodePatternNpz(5 as never), "pattern is 5; it takes a SpikePattern"],
  ["one pattern as a list of events", () => spikes.encodeSpikeHdf5(pattern as never), "it takes a list of SpikePatterns"],
  ["names that are a text", () => spikes.encodeSpikeHdf5([pattern], { classNames: "ab" as never }), 'classNames is "ab"; it takes a list'],
  ["events that are no bytes", () => spikes.SpikeEventFile.decode(undefined as never), "bytes is missing; it takes a Uint8Array"],
  ["a rate of no pattern", () => spikes.spikeRate(undefined as never), "pattern is missing; it takes a SpikePattern"],
  ["trains of no pattern", () => spikes.spikeTrains({} as never), "it takes a SpikePattern"],
  ["intervals of no pattern", () => spikes.interspikeIntervals(null as never, 0), "pattern is null; it takes a SpikePattern"],
  [
    "a profile with a field that there is not",
    () => spikes.plasticityProfile({ learningrate: 1 } as never),
    'did you mean "learningRate"?',
  ],
  ["a profile that is none", () => spikes.plasticityProfile(null as never), "profile is null; it takes"],
  ["scores that are texts", () => spikes.receiverOperatingCurve(["1"] as never, [0]), 'score 0 of positives is "1"; it takes a number'],
  ["no scores", () => spikes.receiverOperatingCurve(undefined as never, [0]), "positives is missing; it takes a list of scores"],
  ["nothing to detect in", () => new spikes.PatternDetector().detect(undefined as never), "pattern is missing; it takes a SpikePattern"],
  [
    "a truth that is one type",
    () => new spikes.PatternDetector().detect(pattern, "burst" as never),
    'truth is "burst"; it takes a list of pattern types',
  ],
  [
    "a truth that is no type",
    () => new spikes.PatternDetector().detect(pattern, ["bursts" as never]),
    'truth[0] is "bursts"; it takes "synchronous"',
  ],
  ["no pattern as input", () => spikes.patternInputs({} as never, 1 as never), "pattern is 1; it takes a SpikePattern"],
  ["one pattern as several", () => spikes.processPatterns({} as never, pattern as never), "it takes a list of SpikePatterns"],
  [
    "one template's pattern",
    () => spikes.PatternTemplates.learn(pattern as never, { bins: 1, channels: 1 }),
    "it takes a list of SpikePatterns",
  ],
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-bad-input-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** What a call throws or rejects with. */
async function errorOf(call: () => unknown): Promise<Error> {
  try {
    await call();
  } catch (error) {
    return error as Error;
  }
  throw new Error("it was taken");
}

describe("spikes", () => {
  it.each<readonly [string, (options: never) => unknown]>([
    ["rateEncode", (options) => spikes.rateEncode([0.5], options)],
    ["rateDecode", (options) => spikes.rateDecode(pattern, options)],
    ["latencyEncode", (options) => spikes.latencyEncode([0.5], options)],
    ["latencyDecode", (options) => spikes.latencyDecode(pattern, options)],
    ["populationEncode", (options) => spikes.populationEncode([0.5], options)],
    ["populationDecode", (options) => spikes.populationDecode(pattern, options)],
    ["phaseEncode", (options) => spikes.phaseEncode([0.5], options)],
    ["deltaEncode", (options) => spikes.deltaEncode([0.5], options)],
    ["deltaDecode", (options) => spikes.deltaDecode(pattern, options)],
    ["cochleagram", (options) => spikes.cochleagram(sound, options)],
    ["cochleaEncode", (options) => spikes.cochleaEncode(sound, options)],
    ["filterCentres", (options) => spikes.filterCentres(options)],
    ["binSpikes", (options) => spikes.binSpikes(pattern, options)],
    ["spikeRaster", (options) => spikes.spikeRaster(pattern, options)],
    ["patternFromRaster", (options) => spikes.patternFromRaster(raster as never, options)],
    ["mergePatterns", (options) => spikes.mergePatterns([pattern], options)],
    ["concatenatePatterns", (options) => spikes.concatenatePatterns([pattern], options)],
    ["shiftPattern", (options) => spikes.shiftPattern(pattern, 1, options)],
    ["jitterPattern", (options) => spikes.jitterPattern(pattern, options)],
    ["thinPattern", (options) => spikes.thinPattern(pattern, options)],
    ["poissonPattern", (options) => spikes.poissonPattern(options)],
    ["a generator of one type", (options) => spikes.patternMeasures.burst.generate(options)],
    ["CircuitBreaker", (options) => new spikes.CircuitBreaker(options)],
    ["patternFromJson", (options) => spikes.patternFromJson(json, options)],
    ["patternFromCsv", (options) => spikes.patternFromCsv("1,0", options)],
    ["decodePatternNpz", async (options) => spikes.decodePatternNpz(await spikes.encodePatternNpz(pattern), options)],
    ["readSpikePattern", (options) => spikes.readSpikePattern(join(folder, "none.json"), options)],
    ["PatternTemplates", (options) => new spikes.PatternTemplates(["a"], [[1, 2]], options)],
    ["PatternTemplates.learn", (options) => spikes.PatternTemplates.learn([pattern], options)],
    ["PatternTemplates.decode", (options) => spikes.PatternTemplates.decode(new Uint8Array(8), options)],
    ["simulateNeuron", (options) => spikes.simulateNeuron("izhikevich" as never, [1], options)],
    ["oja", (options) => spikes.oja(raster, raster, options)],
    ["reservoirSnapshot", (options) => spikes.reservoirSnapshot(sound, options)],
    ["ReservoirStatistics.observe", (options) => new spikes.ReservoirStatistics().observe(sound, options)],
    ["ReservoirStatistics.run", (options) => new spikes.ReservoirStatistics().run({} as never, [[1]], options)],
    ["patternInputs", (options) => spikes.patternInputs({} as never, pattern, options)],
    ["reservoirSpikes", (options) => spikes.reservoirSpikes({ model: {} } as never, pattern, options)],
    ["SpikeEventFile.decode", (options) => spikes.SpikeEventFile.decode(new Uint8Array(8), options)],
    ["SpikeEventFile.open", (options) => spikes.SpikeEventFile.open(join(folder, "none.h5"), options)],
    ["encodeSpikeHdf5", (options) => spikes.encodeSpikeHdf5([pattern], options)],
    ["writeSpikeHdf5", (options) => spikes.writeSpikeHdf5(join(folder, "none.h5"), [pattern], options)],
  ])("%s refuses an option that there is not, and options that are none", async (_, call) => {
    expect((await errorOf(() => call({ zealous: 1 } as never))).message).toContain('unknown field "zealous"');
    expect((await errorOf(() => call(null as never))).message).toBe("options is null; it takes an object of options");
  });

  it.each(refused)("refuses %s", async (_, call, sentence) => {
    const error = await errorOf(call);
    expect(error.message).toContain(sentence);
    expect(error).toBeInstanceOf(SpillwayError);
  });

  it("scale by what there is to scale by", () => {
    expect(() => spikes.scaleToUnit([1, 2], { min: 0 } as never)).toThrow('unknown field "min"');
    expect(() => spikes.scaleToUnit([1, 2], null as never)).toThrow("options is null; it takes an object of options");
  });

  it("refuse an option of another encoder by the name of the encoder that is chosen", () => {
    expect(() => spikes.encodeSpikes([0.5], { encoder: "delta", stepMs: 1, threshold: 1, frameMs: 5 } as never)).toThrow(
      'unknown field "frameMs"; known fields are stepMs, threshold, start',
    );
  });

  it("decode with all that was given to the encoder", () => {
    const options = { frameMs: 20, process: "regular", neuronsPerChannel: 2, maxRateHz: 100, seed: 1 } as const;
    // 0.5 lies between 1 and 100 Hz at 50.5 Hz, which two neurons of 20 ms round to two spikes: 50
    // Hz.
    expect(spikes.rateDecode(spikes.rateEncode([0.5], options), options).data[0]).toBeCloseTo(49 / 99, 12);
  });
});
