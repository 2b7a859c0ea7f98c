// What a user hands to the readers and writers by mistake: a sentence that names it, before a file
// is touched.
import { promises, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import {
  decodeNpy,
  decodeNpz,
  decodeSafetensors,
  decodeWav,
  encodeNpy,
  encodeNpz,
  encodeWav,
  formatCsv,
  NpyWriter,
  parseCsv,
  parseUea,
  readBytes,
  readCsv,
  writeCsv,
  writeFileAtomic,
} from "../../packages/io/src/index.js";
import { exhaustive } from "../exhaustive.js";
import { temporaryFolder } from "./help.js";

describe("readers and writers", () => {
  it.each([undefined, null, 3, {}])("take a text as a path and not %j", async (path) => {
    await expect(readBytes(path as never)).rejects.toThrow(/^path is .*; it takes a text$/);
    await expect(writeFileAtomic(path as never, new Uint8Array(3))).rejects.toThrow(/^path is .*; it takes a text$/);
  });

  // What `await file.arrayBuffer()` gives in a browser.
  it("take bytes and not the buffer that they are in", async () => {
    const buffer = new ArrayBuffer(300) as never;
    for (const decode of [decodeNpy, decodeNpz, decodeSafetensors, decodeWav]) {
      await expect((async () => decode(buffer))()).rejects.toThrow(
        "the bytes are an ArrayBuffer; they take a Uint8Array, such as new Uint8Array(buffer)",
      );
      await expect((async () => decode(undefined as never))()).rejects.toThrow("the bytes are missing");
    }
  });

  it("take arrays that say their shape, by name where there are several", async () => {
    expect(() => encodeNpy([1, 2] as never)).toThrow("the array is an array of 2; it takes a Matrix, a typed array, or { shape, data }");
    expect(() => encodeNpy(undefined as never)).toThrow("the array is missing");
    await expect(encodeNpz(undefined as never)).rejects.toThrow("arrays is missing; it takes an object of arrays by name");
  });

  it("take text as CSV and .ts, with options that there are", async () => {
    await expect(parseCsv(undefined as never)).rejects.toThrow("CSV text is missing; it takes a text");
    expect(() => parseUea(5 as never)).toThrow(".ts text is 5; it takes a text");
    await expect(parseCsv("1;2", { delimeter: ";" } as never)).rejects.toThrow('unknown field "delimeter": did you mean "delimiter"?');
    await expect(readCsv("none.csv", null as never)).rejects.toThrow("options is null; it takes an object of options");
    await expect(parseCsv("a,b\n1,2", { columns: "a" as never })).rejects.toThrow('columns is "a"; it takes a list');
    expect(() => parseUea("", { mising: "drop" } as never)).toThrow('did you mean "missing"?');
  });

  it("refuse options of writers that there are not", async () => {
    const [sound, arrays] = [[0.1, 0.2], { x: new Float32Array(2) }];
    for (const write of [
      () => formatCsv(sound, { colums: ["a"] } as never),
      () => encodeWav(sound, { sampleRate: 8000, colums: 1 } as never),
      () => encodeNpz(arrays, { colums: 1 } as never),
      () => NpyWriter.create("none.npy", { colums: 1 } as never),
    ])
      await expect((async () => write())()).rejects.toThrow('unknown field "colums"');
    await expect(decodeNpz(await encodeNpz(arrays), { name: ["x"] } as never)).rejects.toThrow('did you mean "names"?');
    expect(() => formatCsv(sound, { delimiter: "|" as never })).toThrow('delimiter is "|"; it takes ",", ";" or "\\t"');
    await expect(NpyWriter.create("none.npy", { dtype: "toString" as never })).rejects.toThrow('dtype is "toString"; it takes "float32"');
  });

  it("leave no file in the making where a cell turns out to be no text", async () => {
    const folder = temporaryFolder();
    const day: unknown[] = Array.from({ length: 20_000 }, (_, t) => `day ${t}`);
    day[19_999] = 5;
    await expect(writeCsv(join(folder, "a.csv"), new Float64Array(20_000), { text: { day: day as string[] } })).rejects.toThrow(
      "text.day[19999] is 5; it takes a text",
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it.runIf(exhaustive)("read no more than a gibibyte of what does not say how long it is", async () => {
    const file = { stat: async () => ({ isDirectory: () => false, isFile: () => false, size: 0 }), close: async () => undefined };
    const read = async (_: Uint8Array, __: number, length: number) => ({ bytesRead: length });
    const open = vi.spyOn(promises, "open").mockResolvedValue({ ...file, read } as never);
    try {
      await expect(readBytes("/dev/zero")).rejects.toThrow(
        "/dev/zero: the file cannot be read: more than 1073741824 bytes come from it, and it does not say how many; write them to a file first",
      );
    } finally {
      open.mockRestore();
    }
  });
});
