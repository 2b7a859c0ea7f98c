// What a user hands to the readers and writers by mistake: a sentence that names it, before a file is touched.
import { describe, expect, it } from "vitest";
import {
  decodeNpy,
  decodeNpz,
  decodeSafetensors,
  decodeWav,
  encodeNpy,
  encodeNpz,
  parseCsv,
  parseUea,
  readBytes,
  readCsv,
  writeFileAtomic,
} from "../../src/io/index.js";

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
});
