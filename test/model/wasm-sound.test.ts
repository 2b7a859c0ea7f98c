// Exported modules of live sound: words and frames of a stream of samples, with the package's bits.
import vm from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import "../../src/index.js";
import type { Matrix } from "../../packages/numerics/src/index.js";
import {
  AnomalyDetector,
  Classifier,
  type ClassifierOptions,
  Forecaster,
  type SoundOptions,
  toWasm,
  type WasmFiles,
} from "../../src/model/index.js";
import { cochleagram } from "../../src/spikes/index.js";
import { casesOf } from "../exhaustive.js";

const sampleRate = 8000;
const bank = { sampleRate, channels: 12 };

interface Found {
  readonly label?: string;
  readonly alarm?: string;
  readonly shares?: readonly number[];
  readonly score?: number;
  readonly first: number;
  readonly last: number;
}
interface SoundModel {
  process(samples: Float32Array): Found | undefined;
  classify(rows: number[][]): unknown;
}

/** A sine of `hz` for some ms, that rises and falls within 20 ms. */
const tone = (hz: number, ms: number, rate = sampleRate, amplitude = 0.3) =>
  Float32Array.from({ length: (rate * ms) / 1000 }, (_, n) => {
    const edge = Math.min(1, n / (0.02 * rate), (rate * ms) / 1000 / (0.02 * rate) - n / (0.02 * rate));
    return amplitude * edge * Math.sin((2 * Math.PI * hz * n) / rate);
  });
const silence = (ms: number, rate = sampleRate) => new Float32Array((rate * ms) / 1000);
const joined = (...parts: readonly Float32Array[]) => Float32Array.from(parts.flatMap((part) => Array.from(part)));

function foundIn(model: SoundModel, samples: Float32Array, block = 128): Found[] {
  const out: Found[] = [];
  for (let n = 0; n < samples.length; n += block) {
    const found = model.process(samples.subarray(n, n + block));
    if (found) out.push(found);
  }
  return out;
}

async function open({ module, host }: WasmFiles): Promise<SoundModel> {
  const { load } = await import(`data:text/javascript,${encodeURIComponent(host)}`);
  return load(module);
}

/** Low and high tones, some falling in pitch halfway. */
const words = Array.from({ length: 24 }, (_, b) => {
  const hz = b % 2 === 0 ? 400 + 10 * b : 1500 + 20 * b;
  return joined(tone(hz, 120 + 5 * (b % 5)), tone(b % 3 === 0 ? hz / 2 : hz, 100));
});
const column = (samples: Float32Array) => Array.from(samples, (value) => [value]);
const levels = (samples: Float32Array): Matrix => cochleagram(column(samples), bank);
const trained = (options: ClassifierOptions) =>
  Classifier.fit(
    words.map(levels),
    words.map((_, b) => (b % 2 === 0 ? "low" : "high")),
    { standardise: true, ...options },
  );
const exported = async (options: ClassifierOptions = { reservoir: { size: 20 } }, sound: Partial<SoundOptions> = {}) => {
  await using classifier = await trained(options);
  return open(await toWasm(classifier, { sound: { ...bank, inputRate: sampleRate, ...sound } }));
};

describe("a classifier of live sound", () => {
  it.each<ClassifierOptions>(
    casesOf(
      [
        { reservoir: { size: 20 } },
        { reservoir: { size: 20, precision: "float64" }, input: true, members: 3, vote: "majority" },
        { reservoir: { size: 24, arithmetic: "integer" }, layerNorm: true },
        { reservoir: { size: 24 }, representation: "last+mean", differences: false, washout: 3 },
      ],
      (_, k) => k === 0,
    ),
  )("says of a word, step by step, what the package says of its samples: %o", async (options) => {
    await using classifier = await trained(options);
    const model = await open(await toWasm(classifier, { sound: { ...bank, inputRate: sampleRate } }));
    for (const word of [words[3]!, words[10]!]) {
      // Filters rest at 0 before the word, and 6 s of silence bring them back.
      const stream = joined(silence(300), word, silence(6000));
      const [found, ...more] = foundIn(await open(await toWasm(classifier, { sound: { ...bank, inputRate: sampleRate } })), stream);
      expect(more).toEqual([]);
      const piece = stream.slice(found!.first, found!.last);
      expect(found!.shares).toEqual([...(await classifier.predictProba([levels(piece)])).data]);
      expect(found!.label).toBe((await classifier.predict([levels(piece)]))[0]);
      // What a call says of a whole sequence, in the same memory.
      expect(model.classify(Array.from({ length: 30 }, () => Array.from(levels(piece).row(4))))).toBeDefined();
      expect(foundIn(model, stream)[0]!.shares).toEqual(found!.shares);
    }
  });

  it("finds where words begin and end, whatever the size of a block", async () => {
    const stream = joined(silence(500), tone(600, 300), silence(250), tone(1600, 400), silence(120), tone(1600, 100), silence(400));
    for (const block of [128, 77, 1]) {
      const found = foundIn(await exported(), stream, block);
      // The pause of 120 ms is within a word. 40 ms of lead before and behind, frames of 5 ms.
      const expected = [
        [500 - 40, 800 + 40],
        [1050 - 40, 1670 + 40],
      ];
      expect(found.map(({ label }) => label)).toEqual(["low", "high"]);
      for (const [k, { first, last }] of found.entries()) {
        expect(Math.abs((1000 * first) / sampleRate - expected[k]![0]!)).toBeLessThanOrEqual(15);
        expect(Math.abs((1000 * last) / sampleRate - expected[k]![1]!)).toBeLessThanOrEqual(15);
      }
    }
  });

  it("says of a word that has ended the same whatever sound comes later, in blocks of any size", async () => {
    await using classifier = await trained({ reservoir: { size: 20 } });
    const files = await toWasm(classifier, { sound: { ...bank, inputRate: sampleRate } });
    const stream = joined(silence(300), words[3]!, silence(500), words[10]!, silence(500));
    /** What is found, and after how many samples it is said. */
    const foundBy = async (samples: Float32Array, blocks: readonly number[]) => {
      const model = await open(files);
      const out: { readonly found: Found; readonly at: number }[] = [];
      for (let n = 0, k = 0; n < samples.length; k++) {
        const next = Math.min(samples.length, n + blocks[k % blocks.length]!);
        const found = model.process(samples.subarray(n, next));
        n = next;
        if (found) out.push({ found, at: n });
      }
      return out;
    };
    const expected = await foundBy(stream, [1]);
    expect(expected).toHaveLength(2);
    const blocks = fc.array(fc.integer({ min: 1, max: 128 }), { minLength: 1, maxLength: 9 });
    await fc.assert(
      fc.asyncProperty(blocks, fc.integer({ min: 0, max: stream.length }), fc.integer({ min: 200, max: 3000 }), async (sizes, cut, hz) => {
        expect((await foundBy(stream, sizes)).map(({ found }) => found)).toEqual(expected.map(({ found }) => found));
        const changed = joined(stream.subarray(0, cut), tone(hz, 300), silence(200));
        const said = (await foundBy(changed, [1])).filter(({ at }) => at <= cut);
        expect(said).toEqual(expected.filter(({ at }) => at <= cut));
      }),
      { numRuns: 8 },
    );
  });

  it("takes neither a click nor a sound longer than a word", async () => {
    expect(foundIn(await exported(), joined(silence(300), tone(900, 40), silence(500)))).toEqual([]);
    const hum = tone(300, 9000, sampleRate, 0.01);
    const spoken = tone(1600, 300);
    const stream = joined(silence(300), hum);
    for (let n = 0; n < spoken.length; n++) stream[6 * sampleRate + n]! += spoken[n]!;
    const found = foundIn(await exported(), stream);
    expect(found.map(({ label }) => label)).toEqual(["high"]);
    expect(found[0]!.first / sampleRate).toBeGreaterThan(5.9);
    expect(found[0]!.last / sampleRate).toBeLessThan(6.4);
  });

  it.each(casesOf([48_000, 44_100, 16_000], (rate) => rate === 16_000))(
    "finds the same at %d Hz, and nothing above half its own rate",
    async (inputRate) => {
      const model = await exported(undefined, { inputRate });
      const stream = joined(
        silence(500, inputRate),
        tone(600, 300, inputRate),
        silence(500, inputRate),
        tone(1500, 300, inputRate),
        silence(500, inputRate),
      );
      const found = foundIn(model, stream);
      const same = foundIn(await exported(), joined(silence(500), tone(600, 300), silence(500), tone(1500, 300), silence(500)));
      expect(found.map(({ label }) => label)).toEqual(["low", "high"]);
      for (const [k, { shares, first }] of found.entries()) {
        for (const [c, share] of shares!.entries()) expect(share).toBeCloseTo(same[k]!.shares![c]!, 1);
        expect(Math.abs(first / inputRate - same[k]!.first / sampleRate)).toBeLessThanOrEqual(0.0051);
      }
      // 6 kHz would become 2 kHz.
      const above = joined(silence(300, inputRate), tone(6000, 300, inputRate), silence(500, inputRate));
      expect(foundIn(await exported(undefined, { inputRate, leastLoudness: 0.002 }), above)).toEqual([]);
    },
  );

  it("takes samples that are no finite numbers as silence", async () => {
    const stream = joined(silence(500), tone(600, 300), silence(500));
    const holed = joined(new Float32Array(128).fill(Number.NaN), new Float32Array(128).fill(Number.POSITIVE_INFINITY));
    const [found] = foundIn(await exported(), joined(holed, stream));
    expect(found!.shares).toEqual(foundIn(await exported(), joined(silence(32), stream))[0]!.shares);
  });

  it("is one file for an AudioWorklet, which has no more than ECMAScript and its processor", async () => {
    await using classifier = await trained({ reservoir: { size: 20 } });
    const files = await toWasm(classifier, { name: "tones", sound: bank });
    const messages: Found[] = [];
    const registered = new Map<string, new () => { process(inputs: Float32Array[][]): boolean }>();
    class AudioWorkletProcessor {
      port = { postMessage: (found: Found) => messages.push(found) };
    }
    // Of another realm: without TextDecoder, atob, fetch and performance.
    const scope = vm.createContext({ AudioWorkletProcessor, registerProcessor: registered.set.bind(registered) });
    vm.runInContext(files.worklet!.replace("export async", "async").replace("import.meta.url", '""'), scope);
    const processor = new (registered.get("tones")!)();
    const rate = 48_000;
    const stream = joined(silence(500, rate), tone(600, 300, rate), silence(400, rate), tone(1500, 300, rate), silence(400, rate));
    expect(processor.process([[]])).toBe(true);
    for (let n = 0; n + 128 <= stream.length; n += 128) expect(processor.process([[stream.subarray(n, n + 128)]])).toBe(true);
    expect(JSON.parse(JSON.stringify(messages))).toEqual(foundIn(await open(files), joined(new Float32Array(128), stream)));
    expect(messages.map(({ label }) => label)).toEqual(["low", "high"]);
  });

  it.each<[Partial<SoundOptions>, string]>([
    [{ inputRate: 4000 }, "sound.sampleRate is 8000; it takes a whole number of Hz, at most inputRate, 4000"],
    [{ frameMs: 5.0001 }, "sound.frameMs is 5.0001; it takes a whole number of samples at 8000 Hz"],
    [{ channels: 13 }, "sound.channels is 13; it takes 12, as many as a row of the model has values"],
    [{ leadMs: 201 }, "sound.leadMs is 201; it takes at most quietMs, 200"],
    [{ leastMs: 2001 }, "sound.leastMs is 2001; it takes at most mostMs, 2000"],
  ])("refuses %o", async (wrong, sentence) => {
    await expect(exported(undefined, wrong)).rejects.toThrow(sentence);
  });

  it("refuses a block that is too long, and a forecaster", async () => {
    const model = await exported();
    expect(() => model.process(new Float32Array(129))).toThrow("a block has 129 samples; it takes at most 128");
    await using forecaster = await Forecaster.fit(
      Array.from({ length: 200 }, (_, t) => Math.sin(t)),
      { reservoir: { size: 5 } },
    );
    await expect(toWasm(forecaster, { sound: bank })).rejects.toThrow("a forecaster takes no sound: it is for classifiers and detectors");
  });
});

describe("a detector of live sound", () => {
  const columns = Array.from({ length: bank.channels }, (_, c) => `band ${c}`);
  const options = { columns, warmUp: 100, alarmRate: 0.005, detect: "novelty", seed: 1 } as const;
  // A regular sound, and a whistle in it.
  const stream = joined(
    ...Array.from({ length: 30 }, (_, k) => joined(tone(300 + 20 * (k % 3), 90), silence(60))),
    tone(2500, 60),
    silence(300),
  );

  it("alarms where the package does with the levels of the same frames", async () => {
    const detector = await AnomalyDetector.create(options);
    const sound = { ...bank, inputRate: sampleRate, reference: 0.3 };
    const found = foundIn(await open(await toWasm(detector, { sound })), stream);
    const frames = cochleagram(column(stream), { ...bank, reference: 0.3 });
    const said = Array.from({ length: frames.rows }, (_, t) => ({ t, ...detector.update(frames.row(t)) })).filter(({ alarm }) => alarm);
    expect(said.length).toBeGreaterThan(0);
    const samples = 40;
    expect(found).toEqual(said.map(({ t, alarm, score }) => ({ alarm: alarm!.by, score, first: samples * t, last: samples * (t + 1) })));
  });

  it("refuses sound without a reference", async () => {
    await expect(toWasm(await AnomalyDetector.create(options), { sound: bank })).rejects.toThrow(
      "sound.reference is missing; it takes the envelope of level 1",
    );
  });
});
