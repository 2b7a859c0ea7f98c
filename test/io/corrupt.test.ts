import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeText } from "../../packages/io/src/files.js";
import {
  decodeNpy,
  decodeNpz,
  decodeSafetensors,
  decodeWav,
  encodeNpz,
  encodeSafetensors,
  FormatError,
  formatCsv,
  parseCsv,
  parseUea,
} from "../../packages/io/src/index.js";
import { casesOf } from "../exhaustive.js";
import { fixture } from "./help.js";

const utf8 = new TextEncoder();
const series = Array.from({ length: 30 }, (_, t) => [t, t * t - 0.5, -t / 7]);

/**
 * Every format: a valid file, and its parser, which gives the number of bytes of memory that the
 * result takes.
 */
const formats: [name: string, valid: () => Promise<Uint8Array>, parse: (bytes: Uint8Array) => Promise<number>][] = [
  ["NPY", async () => fixture("little-f8.npy"), async (bytes) => decodeNpy(bytes).data.byteLength],
  ["Fortran-order NPY", async () => fixture("fortran-order.npy"), async (bytes) => decodeNpy(bytes).data.byteLength],
  ["float16 NPY", async () => fixture("big-f2.npy"), async (bytes) => decodeNpy(bytes).data.byteLength],
  ["stored NPZ", async () => fixture("stored.npz"), async (bytes) => npzBytes(bytes)],
  ["deflated NPZ", async () => fixture("deflated.npz"), async (bytes) => npzBytes(bytes)],
  [
    "own NPZ",
    () => encodeNpz({ a: Float64Array.from({ length: 200 }, (_, i) => i % 5), b: new Uint8Array(50) }),
    async (bytes) => npzBytes(bytes),
  ],
  ["PCM WAV", async () => fixture("pcm24.wav"), async (bytes) => decodeWav(bytes).matrix.data.byteLength],
  ["float WAV", async () => fixture("float64.wav"), async (bytes) => decodeWav(bytes).matrix.data.byteLength],
  [
    "safetensors",
    async () =>
      encodeSafetensors(
        { w: { dtype: "F32", shape: [2, 3], data: new Float32Array(6) }, m: { dtype: "BOOL", shape: [3], data: new Uint8Array(3) } },
        { config: '{"size":2}' },
      ),
    async (bytes) => Object.values(decodeSafetensors(bytes).tensors).reduce((sum, { data }) => sum + data.byteLength, 0),
  ],
  [
    "reference safetensors",
    async () => fixture("reference.safetensors"),
    async (bytes) => Object.values(decodeSafetensors(bytes).tensors).reduce((sum, { data }) => sum + data.byteLength, 0),
  ],
  [
    "CSV",
    async () =>
      utf8.encode(
        formatCsv(series, { columns: ["t", "x", "a;b"], text: { 'na"me': series.map((_, t) => (t % 3 ? "plain" : 'two\nlines, "q"')) } }),
      ),
    async (bytes) => (await parseCsv(decodeText(bytes, "a.csv", "CSV"), { text: [0], missing: "drop" })).matrix.data.byteLength,
  ],
  [
    ".ts",
    async () =>
      utf8.encode(
        "#toy\n@problemName Toy\n@missing true\n@univariate false\n@dimensions 2\n@equalLength false\n@classLabel true a b\n@data\n1,?,3.5:4,5,-6e-1:a\n7,8:9,10:b\n",
      ),
    async (bytes) =>
      parseUea(decodeText(bytes, "a.ts", ".ts"), { missing: "drop" }).sequences.reduce((sum, { data }) => sum + data.byteLength, 0),
  ],
];

async function npzBytes(bytes: Uint8Array): Promise<number> {
  return Object.values(await decodeNpz(bytes)).reduce((sum, { data }) => sum + data.byteLength, 0);
}

/**
 * A damage: cut at a share of the length, bytes replaced at such shares, and a piece taken out or
 * doubled.
 */
const damage = fc.record({
  keep: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 3 }),
  changes: fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.oneof(fc.nat(255), fc.constantFrom(0, 1, 127, 128, 255))), {
    maxLength: 6,
  }),
  piece: fc.option(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(40), fc.boolean())),
});

function damaged(bytes: Uint8Array, { keep, changes, piece }: typeof damage extends fc.Arbitrary<infer T> ? T : never): Uint8Array {
  let out = Array.from(bytes);
  for (const [share, value] of changes) out[Math.min(out.length - 1, Math.floor(share * out.length))] = value;
  if (piece) {
    const [share, length, double] = piece;
    const at = Math.floor(share * out.length);
    out.splice(at, double ? 0 : length, ...(double ? out.slice(at, at + length) : []));
  }
  if (keep !== null) out = out.slice(0, Math.floor(keep * out.length));
  return Uint8Array.from(out);
}

/**
 * Deflate packs at most 1032 to 1, and a byte of text or PCM becomes at most 8 bytes of binary64.
 */
const growth = 1032 * 8;

async function holdsTogether(parse: (bytes: Uint8Array) => Promise<number>, bytes: Uint8Array): Promise<void> {
  try {
    expect(await parse(bytes)).toBeLessThanOrEqual((bytes.length + 1) * growth);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    expect(error.reason.length).toBeGreaterThan(10);
    expect(error.message.length).toBeLessThan(1000);
  }
}

describe.each(formats)("a damaged %s file", (_, valid, parse) => {
  it("is read, or refused with a reason, whatever was changed, cut, lost or doubled", async () => {
    const bytes = await valid();
    await fc.assert(
      fc.asyncProperty(damage, (what) => holdsTogether(parse, damaged(bytes, what))),
      { numRuns: 400 },
    );
  });

  it("is refused or read at every length it can be cut to", async () => {
    const bytes = await valid();
    for (let length = 0; length < bytes.length; length++) await holdsTogether(parse, bytes.subarray(0, length));
  });

  it("is refused or read with every single byte flipped", async () => {
    const bytes = await valid();
    for (let i = 0; i < bytes.length; i++) {
      for (const mask of casesOf([0x01, 0x80, 0xff], (_, k) => k === i % 3)) {
        const copy = bytes.slice();
        copy[i] = copy[i]! ^ mask;
        await holdsTogether(parse, copy);
      }
    }
  });
});

describe.each(formats.filter(([name]) => !name.includes("CSV") && name !== ".ts"))("a truncated %s file", (_, valid, parse) => {
  it("is never taken for a whole one", async () => {
    const bytes = await valid();
    for (let length = 0; length < bytes.length; length++) await expect(parse(bytes.subarray(0, length))).rejects.toThrow(FormatError);
  });
});

describe.each(formats)("bytes that are no %s file", (_, __, parse) => {
  it("are refused with a reason", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), (bytes) => holdsTogether(parse, bytes)),
      { numRuns: 200 },
    );
  });
});
