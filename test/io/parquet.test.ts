// Parquet files: values that pyarrow wrote, what our writer writes, what is refused, and what of a
// file is read.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { type FileMetaData, parquetMetadata, parquetReadObjects } from "hyparquet";
import { ByteWriter } from "hyparquet-writer";
import { writeMetadata } from "hyparquet-writer/src/metadata.js";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ArgumentError } from "../../packages/core/src/errors.js";
import { encodeParquet, FileError, FormatError, parseCsv, readParquet, writeParquet } from "../../packages/io/src/index.js";
import { failure, fixture, temporaryFolder } from "./help.js";

const rows = Array.from({ length: 100 }, (_, i) => i);
const start = Date.UTC(2024, 0, 1);
const stamps = rows.map((i) => new Date(start + 3_600_000 * i).toISOString().slice(0, 19));
const expected = {
  whole: rows,
  half: rows.map((i) => (i % 7 === 3 || i === 11 ? Number.NaN : i / 2)),
  single: rows.map((i) => i / 4),
  small: rows.map((i) => i % 5),
  large: rows.map((i) => 2 ** 32 - 1 - i),
  truth: rows.map((i) => Number(i % 3 === 0)),
  money: rows.map((i) => i / 100),
  float16: rows.map((i) => i / 8),
};
const sites = rows.map((i) => (i === 5 ? "" : i % 2 === 0 ? "north" : "south"));
const texts = {
  hour: stamps.map((stamp) => `${stamp}Z`),
  wall: stamps,
  nano: stamps,
  day: rows.map((i) => new Date(start + 86_400_000 * i).toISOString().slice(0, 10)),
  site: sites,
};

describe("a file that pyarrow wrote", () => {
  it.each(["all-types", "version-2"])("%s has numbers of every type, and time stamps and texts beside them", async (name) => {
    const columns = Object.keys(expected);
    const table = await readParquet(fixture(`${name}.parquet`), { columns, text: Object.keys(texts), missing: "nan" });
    expect(table.columns).toEqual(columns);
    expect(table.header).toEqual([...columns, ...Object.keys(texts), "pair"]);
    for (const [c, values] of Object.values(expected).entries()) expect([...table.matrix.column(c)]).toEqual(values);
    expect({ ...table.text }).toEqual(texts);
    expect([table.missing, table.missingByColumn]).toEqual([15, [0, 15, 0, 0, 0, 0, 0, 0]]);
    expect(table.lines).toEqual(rows.map((i) => i + 1));
  });

  it.each(["none", "gzip", "zstd", "brotli", "lz4"])("is read if it is compressed with %s", async (codec) => {
    const table = await readParquet(fixture(`codec-${codec}.parquet`), { text: ["site"], missing: "nan" });
    expect([...table.matrix.data]).toEqual(expected.half);
    expect(table.text["site"]).toEqual(sites);
  });

  it("is read in the encodings of differences and of split streams, with required columns, and with times of 96 bits", async () => {
    const encoded = await readParquet(fixture("encodings.parquet"), { text: ["site"], missing: "nan" });
    expect([...encoded.matrix.column(0)]).toEqual(expected.whole);
    expect([...encoded.matrix.column(1)]).toEqual(expected.half);
    expect(encoded.text["site"]).toEqual(sites);
    expect([...(await readParquet(fixture("required.parquet"))).matrix.data]).toEqual(rows);
    expect((await readParquet(fixture("int96.parquet"), { columns: [], text: ["wall"] })).text["wall"]).toEqual(stamps);
  });

  it("has numbers as text where they are asked for as text", async () => {
    const { text } = await readParquet(fixture("all-types.parquet"), { columns: [], text: ["whole", "truth"] });
    expect([text["whole"]!.slice(0, 3), text["truth"]!.slice(0, 3)]).toEqual([
      ["0", "1", "2"],
      ["true", "false", "false"],
    ]);
  });

  it("treats missing values as CSV does", async () => {
    const csv = ["half", ...expected.half.map((value) => (Number.isNaN(value) ? "NA" : value))].join("\n");
    for (const missing of ["hold", "drop", "interpolate", "nan"] as const) {
      const table = await readParquet(fixture("all-types.parquet"), { columns: ["half"], missing });
      const same = await parseCsv(csv, { missing });
      expect([...table.matrix.data]).toEqual([...same.matrix.data]);
      // The first line of CSV is the header.
      expect(table.lines.map((line) => line + 1)).toEqual(same.lines);
      expect(table.filled).toEqual(same.filled);
    }
    const error = await failure(() => readParquet(fixture("all-types.parquet"), { columns: ["half"], source: "a.parquet" }), FormatError);
    expect(error.message).toBe('a.parquet: row 4, column "half": the value is missing; set `missing` to "interpolate", "hold" or "drop"');
  });
});

describe("the writer", () => {
  const cell = fc.oneof(fc.double(), fc.constant(Number.NaN), fc.constant(-0));
  const table = fc
    .integer({ min: 1, max: 5 })
    .chain((cols) => fc.array(fc.array(cell, { minLength: cols, maxLength: cols }), { minLength: 1 }));

  it("gives back every table, to the last bit", async () => {
    await fc.assert(
      fc.asyncProperty(table, fc.array(fc.string({ unit: "grapheme" })), async (values, words) => {
        const columns = values[0]!.map((_, c) => `column ${c}`);
        const site = values.map((_, r) => words[r % words.length] ?? "");
        const read = await readParquet(await encodeParquet(values, { columns, text: { site } }), { text: ["site"], missing: "nan" });
        expect(read.columns).toEqual(columns);
        expect([...read.matrix.data]).toEqual(values.flat());
        expect(read.text["site"]).toEqual(site);
      }),
    );
  });

  it("writes what hyparquet reads, null for a missing value, and names columns by their indices", async () => {
    const bytes = await encodeParquet([
      [1, Number.NaN],
      [2, 0.5],
    ]);
    expect(await parquetReadObjects({ file: bytes.slice().buffer })).toEqual([
      { 0: 1, 1: null },
      { 0: 2, 1: 0.5 },
    ]);
  });

  it("writes a file whole, and refuses names and texts that do not fit", async () => {
    const path = join(temporaryFolder(), "a.parquet");
    await writeParquet(path, [[1], [2]], { columns: ["x"] });
    expect([...(await readParquet(path)).matrix.data]).toEqual([1, 2]);
    await expect(encodeParquet([[1, 2]], { columns: ["x"] })).rejects.toThrow("columns holds 1 names; the matrix has 2 columns");
    await expect(encodeParquet([[1]], { text: { a: [] } })).rejects.toThrow('text column "a" holds 0 cells; the matrix has 1 rows');
    await expect(encodeParquet([[1]], { columns: ["a"], text: { a: ["b"] } })).rejects.toThrow(ArgumentError);
  });
});

describe("columns that are not asked for", () => {
  it("are not read: their pages may be anything", async () => {
    const whole = fixture("all-types.parquet");
    const spoilt = whole.slice();
    let [kept, wiped] = [0, 0];
    for (const { columns } of parquetMetadata(whole.slice().buffer).row_groups) {
      for (const { meta_data: meta } of columns) {
        const from = Number(meta!.dictionary_page_offset ?? meta!.data_page_offset);
        if (["half", "site"].includes(meta!.path_in_schema[0]!)) kept++;
        else {
          spoilt.fill(255, from, from + Number(meta!.total_compressed_size));
          wiped++;
        }
      }
    }
    expect([kept, wiped]).toEqual([6, 36]);
    const path = join(temporaryFolder(), "spoilt.parquet");
    writeFileSync(path, spoilt);
    const { matrix, text } = await readParquet(path, { columns: ["half"], text: ["site"], missing: "nan" });
    expect([[...matrix.data], text["site"]]).toEqual([expected.half, sites]);
    expect((await failure(() => readParquet(path, { columns: ["whole"] }), FormatError)).message).toContain('column "whole"');
  });
});

describe("what is refused", () => {
  const refused = async (bytes: Uint8Array, options: Parameters<typeof readParquet>[1] = {}) =>
    (await failure(() => readParquet(bytes, { source: "a.parquet", ...options }), FormatError)).message.replace("a.parquet: ", "");

  it("names every column that holds no numbers, and the options that read the table", async () => {
    const error = await failure(() => readParquet(fixture("all-types.parquet"), { source: "a.parquet" }), FormatError);
    expect(error.message).toContain('column "hour" holds time stamps, and no numbers; list it under `text`, or leave it out of `columns`');
    expect(error.message).toContain('column "pair" holds lists or structures, and no numbers; leave it out of `columns` and `text`');
    expect(error.settings).toEqual({ columns: Object.keys(expected), text: Object.keys(texts) });
    const again = await readParquet(fixture("all-types.parquet"), { ...error.settings, missing: "nan" });
    expect(again.matrix.cols).toBe(8);
  });

  it("names the column that is not there, with near names", async () => {
    const message = await refused(fixture("codec-none.parquet"), { columns: ["hlaf"] });
    expect(message).toBe('`columns` asks for "hlaf"; the columns are "half", "site"; did you mean half?');
  });

  it("says what a file is that is none, or has no row", async () => {
    expect(await refused(new TextEncoder().encode("x\n1\n2\n3\n4\n5\n6\n"))).toContain("does not end with PAR1");
    expect(await refused(new Uint8Array(0))).toContain("it is no Parquet file, or its end is missing");
    expect(await refused(fixture("empty.parquet"), { text: ["site"] })).toBe("there is no row in it; it takes at least one row of numbers");
    expect(await refused(fixture("finer.parquet"), { columns: [], text: ["time"] })).toBe(
      'row 1, column "time": the time stamp is finer than a millisecond, which is the shortest time here',
    );
    expect(await refused(fixture("delta-strings.parquet"), { columns: [], text: ["site"] })).toContain("the encoding DELTA_BYTE_ARRAY");
  });

  it("is a file that was cut anywhere, or has a byte changed, or is read: never another error", async () => {
    const whole = fixture("codec-gzip.parquet");
    const outcome = async (bytes: Uint8Array) => {
      try {
        await readParquet(bytes, { text: ["site"], missing: "nan" });
      } catch (error) {
        expect(error).toBeInstanceOf(FormatError);
      }
    };
    for (let length = 0; length < whole.length; length += 3) await outcome(whole.subarray(0, length));
    for (let at = 0; at < whole.length; at += 2) {
      const changed = whole.slice();
      changed[at]! ^= 255;
      await outcome(changed);
    }
  });

  it("is a footer that says what the file cannot have", async () => {
    const bytes = fixture("required.parquet");
    const damaged = (change: (metadata: FileMetaData) => void) => {
      const metadata = parquetMetadata(bytes.slice().buffer);
      change(metadata);
      const writer = new ByteWriter();
      writer.appendBytes(bytes.subarray(0, bytes.length - 8 - metadata.metadata_length));
      writeMetadata(writer, metadata as Parameters<typeof writeMetadata>[1]);
      writer.appendUint32(0x31524150);
      return refused(writer.getBytes(), { columns: ["x"] });
    };
    const each = (change: (group: FileMetaData["row_groups"][number]) => void) =>
      damaged(({ row_groups: groups }) => groups.forEach(change));
    const most = 2n ** 40n;
    expect(
      await damaged((metadata) => {
        metadata.num_rows = 3n * most;
        for (const group of metadata.row_groups) group.num_rows = group.columns[0]!.meta_data!.num_values = most;
      }),
    ).toMatch(/^it says that it has 3298534883328 rows, and 1 columns are read; a file of \d+ bytes takes at most \d+ values/);
    // Few enough for the length of the file, and more than its pages have.
    expect(
      await damaged((metadata) => {
        metadata.num_rows = 3_000_000n;
        for (const group of metadata.row_groups) group.num_rows = group.columns[0]!.meta_data!.num_values = 1_000_000n;
      }),
    ).toBe('column "x" ends 999960 rows early');
    expect(await damaged((metadata) => (metadata.num_rows = most))).toContain("its footer is damaged: it says that there are");
    expect(await each((group) => (group.columns[0]!.meta_data!.total_compressed_size = most))).toContain('column "x" lies at bytes');
    expect(await each((group) => (group.columns[0]!.meta_data!.dictionary_page_offset = most))).toContain("a dictionary that is not there");
    expect(await each((group) => (group.columns = []))).toContain("another number of columns");
    expect(
      await damaged(({ schema }) => {
        schema[0]!.num_children = 2;
        schema.push({ ...schema[1]!, name: "y" });
      }),
    ).toContain("another number of columns");
  });

  it("names the package that reads a codec, if it is not installed", async () => {
    vi.doMock("hyparquet-compressors", () => {
      throw new Error("not found");
    });
    const { readParquet: decode } = await import("../../packages/io/src/index.js");
    await expect(decode(fixture("codec-lz4.parquet"), { text: ["site"], missing: "nan" })).rejects.toThrow(
      'column "half" is compressed with LZ4_RAW, which takes the package hyparquet-compressors, which is not installed: npm install hyparquet-compressors',
    );
    const { matrix } = await decode(fixture("all-types.parquet"), { columns: ["whole"] });
    expect([...matrix.data]).toEqual(rows);
  });
  afterEach(() => vi.doUnmock("hyparquet-compressors"));

  it("is a folder, or a file that is not there", async () => {
    const folder = temporaryFolder();
    expect((await failure(() => readParquet(folder), FileError)).reason).toContain("that is a folder");
    expect((await failure(() => readParquet(join(folder, "none.parquet")), FileError)).problem).toBe("missing");
  });
});
