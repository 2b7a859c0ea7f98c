import { readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeWav, encodeWav, FormatError, readWav, writeWav } from "../../packages/io/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { itWithData } from "../data.js";
import { casesOf } from "../exhaustive.js";
import { failure, fixture, temporaryFolder } from "./help.js";

/** A RIFF file of the chunks given; odd ones are padded. */
function riff(...chunks: [id: string, body: number[]][]): Uint8Array {
  const body = chunks.flatMap(([id, bytes]) => [...ascii(id), ...u32(bytes.length), ...bytes, ...(bytes.length & 1 ? [0] : [])]);
  return Uint8Array.from([...ascii("RIFF"), ...u32(body.length + 4), ...ascii("WAVE"), ...body]);
}
const ascii = (text: string): number[] => [...text].map((character) => character.charCodeAt(0));
const u16 = (value: number): number[] => [value & 255, value >> 8];
const u32 = (value: number): number[] => [...u16(value & 0xffff), ...u16(value >>> 16)];
const format = (code: number, channels: number, bits: number): number[] => [
  ...u16(code),
  ...u16(channels),
  ...u32(8000),
  ...u32((8000 * channels * bits) / 8),
  ...u16((channels * bits) / 8),
  ...u16(bits),
];
const extensible = (code: number, channels: number, bits: number): number[] => [
  ...format(0xfffe, channels, bits),
  ...u16(22),
  ...u16(bits),
  ...u32(0),
  ...u16(code),
  ...[0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71],
];

describe("a sound of another program", () => {
  // fixtures/make_fixtures.py: -1, -0.5, 0, 0.5 on the left, the largest PCM value on the right.
  it.each([8, 16, 24, 32])("in PCM of %i bits is scaled to [-1, 1)", (bits) => {
    const sound = decodeWav(fixture(`pcm${bits}.wav`));
    expect(sound).toMatchObject({ sampleRate: 8000, channels: 2, encoding: "pcm", bitsPerSample: bits });
    expect(sound.matrix.column(0)).toEqual(Float64Array.of(-1, -0.5, 0, 0.5));
    expect(sound.matrix.column(1)).toEqual(new Float64Array(4).fill(1 - 2 ** (1 - bits)));
  });

  it("in float is as it was stored", () => {
    const left = [-1, -0.5, 0, 0.5];
    const single = decodeWav(fixture("float32.wav"));
    expect(single).toMatchObject({ sampleRate: 44100, encoding: "float", bitsPerSample: 32 });
    expect(single.matrix.column(1)).toEqual(Float64Array.from(left, (value) => Math.fround(value / 3)));
    expect(decodeWav(fixture("float64.wav")).matrix.column(1)).toEqual(Float64Array.from(left, (value) => value / 3));
  });

  it.each([0, 0xffffffff])("has the samples to its end if their size was never filled in (%i)", (size) => {
    const samples = [100, -200, 300, -400];
    const body = samples.flatMap((value) => u16(value & 0xffff));
    const whole = riff(["fmt ", format(1, 1, 16)], ["data", body]);
    const unknown = whole.slice();
    new DataView(unknown.buffer).setUint32(whole.length - body.length - 4, size, true);
    expect(decodeWav(unknown)).toEqual(decodeWav(whole));
    // A byte of a frame that was not finished.
    expect(decodeWav(Uint8Array.from([...unknown, 1]))).toEqual(decodeWav(whole));
  });

  it("is empty if its samples are and another chunk follows, or nothing", () => {
    const empty = riff(["fmt ", format(1, 1, 16)], ["data", []], ["LIST", [1, 2, 3, 4]]);
    expect(decodeWav(empty).matrix.rows).toBe(0);
    expect(decodeWav(riff(["fmt ", format(1, 1, 16)], ["data", []])).matrix.rows).toBe(0);
  });

  itWithData("of the Free Spoken Digit Dataset: 8 kHz, one channel, and not silent, every one", "FreeSpokenDigits", async (folder) => {
    const names = readdirSync(join(folder, "fsdd")).filter((name) => name.endsWith(".wav"));
    expect(names.length).toBeGreaterThan(0);
    for (const name of casesOf(names, (_, k) => k % 20 === 0)) {
      const { sampleRate, channels, matrix } = await readWav(join(folder, "fsdd", name));
      expect([name, sampleRate, channels]).toEqual([name, 8000, 1]);
      expect(matrix.data.some((value) => value > 0.001)).toBe(true);
    }
  });
});

describe("the chunks of a sound", () => {
  it("may say WAVE_FORMAT_EXTENSIBLE", () => {
    expect(decodeWav(riff(["fmt ", extensible(1, 1, 16)], ["data", u16(0x4000)])).matrix.data).toEqual(Float64Array.of(0.5));
    const one = [...new Uint8Array(Float32Array.of(1).buffer)];
    expect(decodeWav(riff(["fmt ", extensible(3, 1, 32)], ["data", one])).matrix.data).toEqual(Float64Array.of(1));
  });

  it("may be others, of odd length, before and after the sound", () => {
    const bytes = riff(["LIST", [1, 2, 3]], ["fmt ", format(1, 1, 8)], ["fact", u32(3)], ["data", [128, 192, 0]], ["cue ", [9]]);
    expect(decodeWav(bytes).matrix.data).toEqual(Float64Array.of(0, 0.5, -1));
  });

  it("may end without the padding of an odd last chunk", () => {
    const bytes = riff(["fmt ", format(1, 1, 8)], ["data", [128, 192, 0]]);
    expect(decodeWav(bytes.subarray(0, bytes.length - 1)).matrix.rows).toBe(3);
  });

  it("may hold no frame", () => {
    expect(decodeWav(riff(["fmt ", format(1, 2, 16)], ["data", []])).matrix).toEqual(Matrix.zeros(0, 2));
  });
});

describe("a sound that is not read", () => {
  const good = riff(["fmt ", format(1, 1, 16)], ["data", [1, 2, 3, 4]]);
  const changed = (at: number, ...bytes: number[]): Uint8Array => {
    const copy = good.slice();
    copy.set(bytes, at);
    return copy;
  };

  it.each([
    ["no WAV", fixture("c-order.npy"), "it does not begin as a RIFF WAVE file does"],
    ["a few bytes", good.subarray(0, 7), "it is truncated: it holds 7 bytes and a WAV header takes at least 12"],
    ["truncated in its data", good.subarray(0, 46), 'it is truncated: its "data" chunk takes 4 bytes and the file holds 2 of them'],
    ["truncated in its format", good.subarray(0, 30), 'it is truncated: its "fmt" chunk takes 16 bytes and the file holds 10 of them'],
    ["without data", riff(["fmt ", format(1, 1, 16)]), 'it has no "data" chunk: it is truncated (36 bytes), or holds no sound'],
    ["without a format", riff(["LIST", [1, 2]]), 'it has no "fmt" chunk'],
    ["data before its format", riff(["data", [1, 2]], ["fmt ", format(1, 1, 16)]), 'its "data" chunk stands before its "fmt" chunk'],
    ["of half a frame", riff(["fmt ", format(1, 2, 16)], ["data", [1, 2]]), "no whole number of frames of 4"],
    ["compressed", riff(["fmt ", format(7, 1, 8)], ["data", [1]]), "its format code is 7 (mu-law); 1 (PCM) and 3 (float) are read"],
    ["of 12 bits", riff(["fmt ", format(1, 2, 12)], ["data", [1, 2, 3]]), "its PCM samples have 12 bits; 8, 16, 24, 32 are read"],
    ["of 16-bit float", riff(["fmt ", format(3, 1, 16)], ["data", [1, 2]]), "its float samples have 16 bits; 32, 64 are read"],
    ["of no channel", riff(["fmt ", format(1, 0, 16)], ["data", []]), "it has 0 channels; it takes at least 1"],
    ["of no rate", changed(24, 0, 0, 0, 0), "its sample rate is 0; it takes at least 1 Hz"],
    ["of odd frames", changed(32, 3, 0), "a frame is said to take 3 bytes; 1 channels of 16 bits take 2"],
    ["of a short format", riff(["fmt ", [1, 0]], ["data", []]), 'its "fmt" chunk holds 2 bytes; it takes at least 16'],
    ["of a short extension", riff(["fmt ", format(0xfffe, 1, 16)], ["data", []]), "it takes at least 40"],
    [
      "of another subformat",
      riff(["fmt ", extensible(1, 1, 16).with(39, 0)], ["data", []]),
      "its extensible subformat is neither PCM nor float",
    ],
    ["of 64-bit RIFF", changed(0, ...ascii("RF64")), "it is a RF64 file; plain RIFF is read"],
  ])("because it is %s says so", async (_, bytes, reason) => {
    const error = await failure(() => decodeWav(bytes, { source: "a.wav" }), FormatError);
    expect(error.message).toContain("a.wav: ");
    expect(error.message).toContain(reason);
  });
});

describe("a sound that was written", () => {
  const shape = fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 4 }));

  it("in PCM reads back within half a step, and PCM values exactly", () => {
    fc.assert(
      fc.property(shape, fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 1 }), ([rows, cols], values) => {
        const sound = new Matrix(
          rows,
          cols,
          Float64Array.from({ length: rows * cols }, (_, i) => values[i % values.length]!),
        );
        const back = decodeWav(encodeWav(sound, { sampleRate: 16000 }));
        expect([back.sampleRate, back.matrix.rows, back.channels]).toEqual([16000, rows, cols]);
        back.matrix.data.forEach((value, i) => {
          expect(Math.abs(value - Math.min(sound.data[i]!, 32767 / 32768))).toBeLessThanOrEqual(2 ** -16);
        });
        expect(decodeWav(encodeWav(back.matrix, { sampleRate: 16000 })).matrix).toEqual(back.matrix);
      }),
    );
  });

  it("in float reads back as the same binary32 numbers", () => {
    fc.assert(
      fc.property(shape, fc.array(fc.float({ noNaN: true }), { minLength: 1 }), ([rows, cols], values) => {
        const sound = new Matrix(
          rows,
          cols,
          Float64Array.from({ length: rows * cols }, (_, i) => values[i % values.length]!),
        );
        const back = decodeWav(encodeWav(sound, { sampleRate: 1, format: "float32" }));
        expect(back.encoding).toBe("float");
        expect(back.matrix).toEqual(sound);
      }),
    );
  });

  it("in PCM takes values from -1 to 1", () => {
    expect(() =>
      encodeWav(
        [
          [0, 0],
          [0, 1.5],
        ],
        { sampleRate: 8000 },
      ),
    ).toThrow('frame 1, channel 1 is 1.5; pcm16 takes values from -1 to 1: scale the sound, or write "float32"');
    expect(() => encodeWav([Number.NaN], { sampleRate: 8000 })).toThrow("frame 0, channel 0 is NaN");
  });

  it("takes a rate and a format that there are", () => {
    expect(() => encodeWav([0], { sampleRate: 0 })).toThrow("sampleRate is 0; it takes a whole number of Hz from 1 to 4294967295");
    expect(() => encodeWav([0], { sampleRate: 8000, format: "mp3" as never })).toThrow('format is "mp3"; it takes "pcm16" or "float32"');
    expect(() => encodeWav(Matrix.zeros(1, 0), { sampleRate: 8000 })).toThrow("the sound has 0 channels");
  });

  it("is a file of the same bytes", async () => {
    const path = join(temporaryFolder(), "a.wav");
    await writeWav(path, [0, 0.5, -1], { sampleRate: 8000 });
    expect((await readWav(path)).matrix.data).toEqual(Float64Array.of(0, 0.5, -1));
  });
});
