// Apache Arrow tables and rows that are objects, wherever a series is taken.
import { Bool, DateDay, Dictionary, Float64, Int32, Table, TimestampMillisecond, Utf8, vectorFromArray } from "apache-arrow";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ArgumentError } from "../../packages/core/src/errors.js";
import { encodeParquet, FormatError, readParquet, tableFrom } from "../../packages/io/src/index.js";
import { asMatrix, Matrix } from "../../packages/numerics/src/index.js";
import { AnomalyDetector, Forecaster } from "../../src/model/index.js";
import "../../src/index.js";
import { failure } from "./help.js";

const rows = Array.from({ length: 60 }, (_, t) => ({ load: Math.sin(t / 3), warmth: t % 11 === 4 ? null : Math.cos(t / 5) }));
const matrix = rows.map(({ load, warmth }) => [load, warmth ?? Number.NaN]);
const arrow = new Table({
  load: vectorFromArray(
    rows.map(({ load }) => load),
    new Float64(),
  ),
  warmth: vectorFromArray(
    rows.map(({ warmth }) => warmth),
    new Float64(),
  ),
});
const stamps = rows.map((_, t) => Date.UTC(2024, 0, 1, t));
const kinds = new Table({
  id: vectorFromArray([1, 2, 3], new Int32()),
  on: vectorFromArray([true, null, false], new Bool()),
  large: vectorFromArray([1n, 2n, 2n ** 53n]),
  at: vectorFromArray(stamps.slice(0, 3), new TimestampMillisecond("UTC")),
  clock: vectorFromArray(stamps.slice(0, 3), new TimestampMillisecond()),
  day: vectorFromArray([new Date(0), new Date(86_400_000), null], new DateDay()),
  site: vectorFromArray(["a", "b", null], new Dictionary(new Utf8(), new Int32())),
});

describe("a table where a series is taken", () => {
  it("is its columns in their order, null as NaN", () => {
    for (const table of [rows, arrow]) expect(asMatrix(table).toArrays()).toEqual(matrix);
    expect(
      Matrix.from([
        { x: 1n, y: true },
        { y: false, x: 2n },
      ]).toArrays(),
    ).toEqual([
      [1, 1],
      [2, 0],
    ]);
  });

  it("is every table of numbers that it was made from", () => {
    const names = fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 5 });
    const table = names.chain((own) => {
      const value = fc.oneof(fc.double(), fc.constant(null));
      return fc.tuple(fc.constant(own), fc.array(fc.array(value, { minLength: own.length, maxLength: own.length }), { minLength: 1 }));
    });
    fc.assert(
      fc.property(table, ([own, values]) => {
        const objects = values.map((row) => Object.fromEntries(own.map((name, c) => [name, row[c]!])));
        // Names that are numbers come first in an object.
        const order = Object.keys(objects[0]!);
        const expected = values.flatMap((row) => order.map((name) => row[own.indexOf(name)] ?? Number.NaN));
        expect([...asMatrix(objects).data]).toEqual(expected);
      }),
    );
  });

  it("trains and forecasts as the matrix does, and finds the same anomalies", async () => {
    const forecasts = [];
    for (const series of [matrix, rows, arrow]) {
      const options = { reservoir: { size: 20 }, washout: 5, missing: "mask" as const };
      await using forecaster = await Forecaster.create(options);
      await forecaster.fit(series);
      forecasts.push((await forecaster.forecast(5)).toArrays());
    }
    expect(forecasts[1]).toEqual(forecasts[0]);
    expect(forecasts[2]).toEqual(forecasts[0]);
    const found = [];
    for (const series of [matrix, rows, arrow]) {
      const detector = await AnomalyDetector.create({ columns: ["load", "warmth"], warmUp: 50 });
      found.push(detector.detect(series));
    }
    expect(found[1]).toEqual(found[0]);
    expect(found[2]).toEqual(found[0]);
  });

  it("names the row and the column of what is no number, is missing, or is too much", () => {
    const refused = (table: readonly object[]) => {
      try {
        asMatrix(table as never, "series");
      } catch (error) {
        expect(error).toBeInstanceOf(ArgumentError);
        return (error as Error).message;
      }
      return undefined;
    };
    expect(refused([{ x: 1 }, { x: "2" }])).toBe(
      'series: row 1, column "x" is "2"; it takes a number, or null if it is missing; choose the columns of numbers with tableFrom(table, { columns, text })',
    );
    expect(refused([{ x: 1 }, { y: 2 }])).toContain('series: row 1 has no "x", which row 0 has; every row takes the same columns');
    expect(refused([{ x: 1 }, { x: 1, y: 2 }])).toContain('series: row 1 has "y", which row 0 has not');
    expect(refused([{ x: 1 }, [2]])).toContain("row 1 is an array");
    expect(refused([{}])).toContain("row 0 has no column");
    expect(() => asMatrix(kinds, "series")).toThrow('series: column "at" holds time stamps; choose the columns of numbers');
  });
});

describe("tableFrom", () => {
  it("gives chosen columns as numbers and others as text, as files give them", async () => {
    const table = tableFrom(kinds, { columns: ["large", "on", 0], text: ["at", "clock", "day", "site"], missing: "nan" });
    expect(table.matrix.toArrays()).toEqual([
      [1, 1, 1],
      [2, Number.NaN, 2],
      [2 ** 53, 0, 3],
    ]);
    expect({ ...table.text }).toEqual({
      at: ["2024-01-01T00:00:00.000Z", "2024-01-01T01:00:00.000Z", "2024-01-01T02:00:00.000Z"],
      clock: ["2024-01-01T00:00:00.000", "2024-01-01T01:00:00.000", "2024-01-01T02:00:00.000"],
      day: ["1970-01-01", "1970-01-02", ""],
      site: ["a", "b", ""],
    });
    const objects = rows.map((row, t) => ({ at: new Date(stamps[t]!), ...row }));
    const own = tableFrom(objects, { columns: ["load", "warmth"], text: ["at"], missing: "hold" });
    const at = stamps.map((stamp) => new Date(stamp).toISOString());
    const file = await readParquet(await encodeParquet(matrix, { columns: ["load", "warmth"], text: { at } }), {
      text: ["at"],
      missing: "hold",
    });
    expect([own.matrix, own.text, own.missing, own.filled, own.lines]).toEqual([
      file.matrix,
      file.text,
      file.missing,
      file.filled,
      file.lines,
    ]);
  });

  it("refuses what is no table, columns that are not there, and missing values", async () => {
    for (const wrong of [[], [1], 7, null, new Map()])
      expect((await failure(() => tableFrom(wrong as never), ArgumentError)).message).toContain("a Table of apache-arrow");
    expect((await failure(() => tableFrom(rows, { columns: ["laod"] }), ArgumentError)).message).toContain("did you mean load?");
    expect((await failure(() => tableFrom(rows), FormatError)).message).toContain('row 5, column "warmth": the value is missing');
  });
});
