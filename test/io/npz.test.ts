import { join } from "node:path";
import fc from "fast-check";
import * as fflate from "fflate";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { decodeNpz, encodeNpz, FormatError, type NpyArray, readNpz, writeNpz } from "../../packages/io/src/index.js";
import { failure, fixture, temporaryFolder } from "./help.js";

const { push } = fflate.Inflate.prototype;
const arrays: Record<string, NpyArray> = {
  weights: { dtype: "float32", shape: [3, 4], data: Float32Array.from({ length: 12 }, (_, i) => i) },
  steps: { dtype: "int64", shape: [3], data: BigInt64Array.of(1n, 2n, 3n) },
};

describe("a .npz file", () => {
  it.each(["stored.npz", "deflated.npz"])("of NumPy is read: %s", async (name) => {
    expect(await decodeNpz(fixture(name))).toEqual(arrays);
  });

  it("gives only the arrays that are asked for", async () => {
    expect(Object.keys(await decodeNpz(fixture("stored.npz"), { names: ["steps"] }))).toEqual(["steps"]);
  });

  it("without an array that is asked for is an error with the nearest name", async () => {
    await expect(decodeNpz(fixture("stored.npz"), { names: ["weight"], source: "a.npz" })).rejects.toThrow(
      'a.npz: there is no array "weight" in it; did you mean weights?',
    );
  });

  it("that was written reads back, packed or not, and always has the same bytes", async () => {
    const name = fc
      .string({ minLength: 1, maxLength: 12, unit: "grapheme" })
      .filter((text) => !text.endsWith(".npy") && !text.includes("\0"));
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, fc.float64Array({ maxLength: 50 }), { maxKeys: 5 }), fc.boolean(), async (members, compress) => {
        const bytes = await encodeNpz(members, { compress });
        expect(await encodeNpz(members, { compress })).toEqual(bytes);
        const back = await decodeNpz(bytes);
        expect(new Set(Object.keys(back))).toEqual(new Set(Object.keys(members)));
        for (const key of Object.keys(members)) expect(back[key]!.data).toEqual(members[key]);
      }),
      { numRuns: 50 },
    );
  });

  it("does not depend on the day it was written", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date(2026, 0, 1) });
    onTestFinished(() => void vi.useRealTimers());
    const bytes = await encodeNpz(arrays);
    vi.setSystemTime(new Date(2031, 6, 7));
    expect(await encodeNpz(arrays)).toEqual(bytes);
  });

  it("is smaller where it is packed", async () => {
    const zeros = { a: new Float64Array(10_000) };
    expect((await encodeNpz(zeros)).length).toBeLessThan(1000);
    expect((await encodeNpz(zeros, { compress: false })).length).toBeGreaterThan(80_000);
  });

  it("that a zip program made of a folder gives its arrays", async () => {
    expect(await decodeNpz(fixture("folder-entry.npz"))).toEqual({
      "sub/x": { dtype: "float64", shape: [3], data: Float64Array.of(0, 1, 2) },
    });
    const texts = Uint8Array.from(fflate.zipSync({ "a.txt": Uint8Array.of(1) }));
    await expect(decodeNpz(texts)).rejects.toThrow('it holds no array: none of its members ends in .npy ("a.txt")');
  });

  it("goes through a file", async () => {
    const path = join(temporaryFolder(), "a.npz");
    await writeNpz(path, arrays);
    expect(await readNpz(path)).toEqual(arrays);
  });
});

describe("a .npz file that unpacks to much", () => {
  const zeros = { a: new Float64Array(20_000), b: new Float64Array(20_000) };

  it("is refused by the sizes it names, one array or all together, before any is unpacked", async () => {
    const bytes = await encodeNpz(zeros);
    await expect(decodeNpz(bytes, { maxEntryBytes: 1e5, source: "a.npz" })).rejects.toThrow(
      'a.npz: "a.npy" unpacks to 160128 bytes; maxEntryBytes is 100000',
    );
    await expect(decodeNpz(bytes, { maxTotalBytes: 2e5 })).rejects.toThrow("its arrays unpack to 320256 bytes; maxTotalBytes is 200000");
    expect(Object.keys(await decodeNpz(bytes, { maxTotalBytes: 2e5, names: ["a"] }))).toEqual(["a"]);
    await expect(decodeNpz(bytes, { maxTotalBytes: Number.NaN })).rejects.toThrow("maxTotalBytes is NaN; it takes a number of bytes");
  });

  it("takes at most 64 MiB or 100 times its own size unless more is allowed", async () => {
    const bytes = await encodeNpz({ a: new Uint8Array(2 ** 26) });
    expect(bytes.length).toBeLessThan(70_000);
    await expect(decodeNpz(bytes)).rejects.toThrow("unpacks to 67108992 bytes; maxEntryBytes is 67108864: raise it if the file is yours");
    expect((await decodeNpz(bytes, { maxEntryBytes: 2 ** 27, maxTotalBytes: 2 ** 27 }))["a"]!.data.length).toBe(2 ** 26);
    const halves = await encodeNpz({ a: new Uint8Array(2 ** 25), b: new Uint8Array(2 ** 25) });
    await expect(decodeNpz(halves)).rejects.toThrow("its arrays unpack to 67109120 bytes; maxTotalBytes is 67108864");
    // Random bytes do not pack: the file itself is as large.
    let state = 1;
    const noise = Uint8Array.from({ length: 2 ** 20 }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state >>> 24;
    });
    const large = await encodeNpz({ a: noise, b: new Uint8Array(2 ** 26) });
    expect((await decodeNpz(large))["b"]!.data.length).toBe(2 ** 26);
  });

  it("is unpacked no further than it says, if it lies about its size", async () => {
    const bytes = await encodeNpz({ a: new Uint8Array(2 ** 28) });
    const directoryEntry = bytes.length - 22 - (46 + "a.npy".length);
    new DataView(bytes.buffer, bytes.byteOffset).setUint32(directoryEntry + 24, 1000, true);
    const produced: number[] = [];
    const { Inflate } = fflate;
    const spy = vi.spyOn(Inflate.prototype, "push").mockImplementation(function (this: fflate.Inflate, ...parts) {
      const give = this.ondata;
      this.ondata = (piece, final) => {
        produced.push(piece.length);
        give(piece, final);
      };
      push.apply(this, parts);
      this.ondata = give;
    });
    onTestFinished(() => void spy.mockRestore());
    await expect(decodeNpz(bytes)).rejects.toThrow(
      '"a.npy" cannot be unpacked: it unpacks to more than the 1000 bytes that the directory says',
    );
    expect(produced.reduce((sum, length) => sum + length, 0)).toBeLessThan(2 ** 25);
  });

  it("has no limit for what is not packed", async () => {
    const bytes = await encodeNpz(zeros, { compress: false });
    expect(Object.keys(await decodeNpz(bytes, { maxEntryBytes: 0, maxTotalBytes: 0 }))).toEqual(["a", "b"]);
  });
});

describe("a broken .npz file", () => {
  it("that is truncated says that its directory is gone", async () => {
    const bytes = fixture("stored.npz");
    const error = await failure(() => decodeNpz(bytes.subarray(0, 300), { source: "a.npz" }), FormatError);
    expect(error.message).toBe("a.npz: it has no zip directory at its end: it is truncated (300 bytes), or no .npz file");
  });

  it("with a changed byte in an array fails its checksum", async () => {
    const bytes = fixture("stored.npz");
    bytes[200] = bytes[200]! ^ 1;
    await expect(decodeNpz(bytes)).rejects.toThrow("is corrupted: its checksum is not the one in the directory");
  });

  it("whose array is said to be larger than its packed bytes can be is refused before anything is allocated", async () => {
    const bytes = fixture("deflated.npz");
    const view = new DataView(bytes.buffer);
    const directory = view.getUint32(bytes.length - 22 + 16, true);
    view.setUint32(directory + 24, 0xfffffff0, true);
    await expect(decodeNpz(bytes)).rejects.toThrow('"weights.npy" is said to hold 4294967280 bytes and cannot in');
  });

  it("with two arrays of one name is refused", async () => {
    await expect(decodeNpz(await encodeNpz({ a: new Uint8Array(1), b: new Uint8Array(1) }).then(renamed))).rejects.toThrow(
      'it holds two arrays named "a"',
    );
    function renamed(bytes: Uint8Array): Uint8Array {
      const at = bytes.length - 22 - 5;
      expect(new TextDecoder().decode(bytes.subarray(at, at + 5))).toBe("b.npy");
      bytes[at] = "a".charCodeAt(0);
      return bytes;
    }
  });

  it("whose arrays overlap is refused", async () => {
    const bytes = fixture("stored.npz");
    const view = new DataView(bytes.buffer);
    const directory = view.getUint32(bytes.length - 22 + 16, true);
    const second = directory + 46 + "weights.npy".length;
    expect(view.getUint32(second, true)).toBe(0x02014b50);
    view.setUint32(second + 42, 0, true);
    await expect(decodeNpz(bytes)).rejects.toThrow(/"(weights|steps)\.npy" and "(weights|steps)\.npy" overlap/);
  });
});
