import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ArgumentError } from "../../packages/core/src/errors.js";
import { FileError, FormatError, formatCsv, parseCsv, readCsv, writeCsv } from "../../packages/io/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { failure, temporaryFolder } from "./help.js";

describe("the header of a CSV", () => {
  it("is found where the first row is words", async () => {
    const { columns, matrix } = await parseCsv("time,value\n0,1.5\n1,-2e-3\n");
    expect(columns).toEqual(["time", "value"]);
    expect(matrix.toArrays()).toEqual([
      [0, 1.5],
      [1, -0.002],
    ]);
  });

  it("is absent where the first row is numbers; columns are then named by index from 0", async () => {
    const { columns, matrix } = await parseCsv("1,2\n3,4");
    expect(columns).toEqual(["0", "1"]);
    expect(matrix.rows).toBe(2);
  });

  it("is asked for where the first row is both", async () => {
    const error = await failure(() => parseCsv("2020-01-01,1\n2020-01-02,2"), FormatError);
    expect(error.reason).toBe("row 1 holds both words and numbers; say header: true if it names the columns, header: false if it is data");
    const { matrix, text } = await parseCsv("2020-01-01,1\n2020-01-02,2", { header: false, text: [0] });
    expect(matrix.column(0)).toEqual(Float64Array.of(1, 2));
    expect(text["0"]).toEqual(["2020-01-01", "2020-01-02"]);
  });

  it("may be numbers where header: true says so", async () => {
    expect((await parseCsv("1990,1991\n3,4", { header: true })).columns).toEqual(["1990", "1991"]);
  });
});

describe("the delimiter of a CSV", () => {
  it.each([",", ";", "\t"])("%j is found", async (delimiter) => {
    const text = ["a|b|c", "1|2|3", "4|5|6"].join("\n").replaceAll("|", delimiter);
    expect((await parseCsv(text)).matrix.row(1)).toEqual(Float64Array.of(4, 5, 6));
  });

  it("is the semicolon where numbers have a decimal comma", async () => {
    const { matrix } = await parseCsv("a;b\n1,5;2,25\n3,0;4,5\n", { decimal: "," });
    expect(matrix.data).toEqual(Float64Array.of(1.5, 2.25, 3, 4.5));
  });

  it("does not take a point for a decimal comma", async () => {
    const error = await failure(() => parseCsv("a;b\n1.500;2\n", { decimal: "," }), FormatError);
    expect(error.reason).toContain('row 2, column "a": "1.500" is not a number');
  });

  it("is not looked for in quotes", async () => {
    const { matrix, text } = await parseCsv('"na;me",x\n"a;b",1\n"c;d",2\n', { text: ["na;me"] });
    expect(text["na;me"]).toEqual(["a;b", "c;d"]);
    expect(matrix.data).toEqual(Float64Array.of(1, 2));
  });

  it("may have blanks around it", async () => {
    const { matrix, text } = await parseCsv('d, x\nMon , 1\n" Tue" , "2"\n', { text: ["d"] });
    expect(text["d"]).toEqual(["Mon", " Tue"]);
    expect(matrix.data).toEqual(Float64Array.of(1, 2));
  });

  it("can be any other character that is named", async () => {
    expect((await parseCsv("1|2\n3|4", { delimiter: "|" })).matrix.cols).toBe(2);
  });

  it("may not be empty", async () => {
    await expect(parseCsv("1,2", { delimiter: "" })).rejects.toThrow(ArgumentError);
  });
});

describe("the columns of a CSV", () => {
  const table = "date,temperature,rain,station\n2020-01-01,4.5,0,A\n2020-01-02,5,1.25,B\n";

  it("are chosen by name and by index, in the order asked for", async () => {
    const { columns, matrix, text } = await parseCsv(table, { columns: ["rain", 1] });
    expect(columns).toEqual(["rain", "temperature"]);
    expect(matrix.row(1)).toEqual(Float64Array.of(1.25, 5));
    expect(text).toEqual({});
  });

  it("are all but the text columns where none is chosen", async () => {
    const { columns, text } = await parseCsv(table, { text: ["date", 3] });
    expect(columns).toEqual(["temperature", "rain"]);
    expect(text).toEqual({ date: ["2020-01-01", "2020-01-02"], station: ["A", "B"] });
  });

  it("are listed, with the nearest name, where one is not there", async () => {
    const error = await failure(() => parseCsv(table, { columns: ["Temprature"], source: "weather.csv" }), FormatError);
    expect(error.message).toBe(
      'weather.csv: `columns` asks for "Temprature"; the columns are "date", "temperature", "rain", "station"; did you mean temperature?',
    );
  });

  it("must have an index that is there", async () => {
    await expect(parseCsv(table, { columns: [4] })).rejects.toThrow("`columns` asks for index 4; it takes 0 to 3");
  });

  it("are asked for by index where a name stands twice", async () => {
    await expect(parseCsv("x,x\n1,2", { columns: ["x"] })).rejects.toThrow(
      '"x" and several columns have that name; give its index, from 0',
    );
    expect((await parseCsv("x,x\n1,2", { columns: [1] })).matrix.data).toEqual(Float64Array.of(2));
  });
});

describe("a cell that is no number", () => {
  it("is an error that names the file, the row as an editor counts it, and the column", async () => {
    const path = join(temporaryFolder(), "weather.csv");
    writeFileSync(path, "time,temperature\n0,1\n1,cold\n");
    const error = await failure(() => readCsv(path), FormatError);
    expect(error.message).toBe(
      `${path}: row 3, column "temperature": "cold" is not a number; list the column under \`text\`, or leave it out of \`columns\``,
    );
    expect(error).toMatchObject({ format: "CSV", path, location: { row: 3, column: "temperature" } });
  });

  it("is answered with the decimal mark, where a comma looks like one", async () => {
    await expect(parseCsv("a;b\n1,5;2\n", { delimiter: ";" })).rejects.toThrow(
      'row 2, column "a": "1,5" is not a number; set `decimal` to "," if a comma is the decimal mark',
    );
  });

  it.each([
    ["comment lines", "# about\na,b\n# more\n1,2\n3,x\n", 5],
    ["blank lines", "a,b\n\n1,2\n\n\n3,x\n", 6],
    ["a quoted cell of two lines", 'a,b,c\n1,2,"two\nlines"\n3,x,"y"\n', 4],
    ["a line break within its own row", 'a,b,c\n1,2,"one"\n3,x,"two\nlines"\n', 3],
    ["Windows line ends", 'a,b,c\r\n1,2,"two\r\nlines"\r\n\r\n3,x,"y"\r\n', 5],
    ["old Macintosh line ends", "a,b\r1,2\r3,x\r", 3],
    ["a byte order mark", "\uFEFFa,b\n1,x\n", 2],
  ])("is counted past %s", async (_, text, row) => {
    const error = await failure(() => parseCsv(text, { comment: "#", columns: ["a", "b"] }), FormatError);
    expect(error.location).toEqual({ row, column: "b" });
  });

  it.each(["1.2.3", "0x10", "1e", "--1", "1_000", "12 3", "1,5", "five", "e5", "."])("%s is none", async (cell) => {
    await expect(parseCsv(`a\tb\n${cell}\t1\n`)).rejects.toThrow("is not a number");
  });

  it.each([
    ["+1.5", 1.5],
    [".5", 0.5],
    ["5.", 5],
    ["1E+3", 1000],
    ["-0", -0],
    [" 7 ", 7],
    ["-inf", -Infinity],
    ["Infinity", Infinity],
  ])("%s is one", async (cell, value) => {
    expect((await parseCsv(`a,b\n${cell},1\n`)).matrix.at(0, 0)).toBe(value);
  });

  it("is refused in time that grows with its length alone", async () => {
    await expect(parseCsv(`a,b\n${"1".repeat(1_000_000)}x,1\n`)).rejects.toThrow("is not a number");
  });
});

describe("a comment", () => {
  it("begins a line, and not the middle of one", async () => {
    const { matrix, text } = await parseCsv("# source: x\nd,x\nno # 1,1\n#no 2,2\nno 3,3\n", { text: ["d"], comment: "#" });
    expect(text["d"]).toEqual(["no # 1", "no 3"]);
    expect(matrix.data).toEqual(Float64Array.of(1, 3));
  });
});

describe("a row of another width", () => {
  it("is an error that names it", async () => {
    const error = await failure(() => parseCsv("a,b\n1,2\n1,2,3\n"), FormatError);
    expect(error.reason).toBe("row 3 holds 3 cells and the first row 2; every row takes the same number (is the delimiter right?)");
  });
});

describe("a broken quote", () => {
  it("is an error that names the row", async () => {
    const error = await failure(() => parseCsv('a,b\n1,2\n"3,4\n'), FormatError);
    expect(error.reason).toContain("Quote Not Closed");
    expect(error.location).toEqual({ row: 3 });
  });
});

describe("an empty CSV", () => {
  it.each([
    ["", "there is no row in it"],
    ["\n\n", "there is no row in it"],
    ["a,b\n", "there is a header and no row after it"],
  ])("%j is an error", async (text, reason) => {
    await expect(parseCsv(text)).rejects.toThrow(reason);
  });
});

describe("a missing value", () => {
  const gaps = "t,x\n0,1\n1,NA\n2,\n3,7\n4,?\n5,9\n";

  it("is an error that names the cell and the policies, unless a policy is chosen", async () => {
    const error = await failure(() => parseCsv(gaps), FormatError);
    expect(error.reason).toBe('row 3, column "x": the value is missing; set `missing` to "interpolate", "hold" or "drop"');
  });

  it.each([
    ["interpolate", [1, 3, 5, 7, 8, 9]],
    ["hold", [1, 1, 1, 7, 7, 9]],
    ["drop", [1, 7, 9]],
    ["nan", [1, Number.NaN, Number.NaN, 7, Number.NaN, 9]],
  ] as const)("under %s", async (missing, expected) => {
    const table = await parseCsv(gaps, { missing });
    expect([...table.matrix.column(1)]).toEqual(expected);
    expect(table.missing).toBe(3);
  });

  it("is counted for each column", async () => {
    const { missing, missingByColumn } = await parseCsv("x,y\n1,NA\n2,\n3,4\nNA,5\n", { missing: "drop" });
    expect([missing, missingByColumn]).toEqual([3, [1, 2]]);
  });

  it.each(["error", "hold", "interpolate", "drop"] as const)(
    "in every row of a column is an error of its own, under %s",
    async (missing) => {
      const { reason } = await failure(() => parseCsv("x,y\n1,NA\n2,\n", { missing }), FormatError);
      expect(reason).toContain('column "y": all 2 values of this column are missing; leave the column out');
    },
  );

  it("takes the row's text with it when it is dropped", async () => {
    const { matrix, text } = await parseCsv("d,x\nMon,1\nTue,\nWed,3\n", { text: ["d"], missing: "drop" });
    expect(text["d"]).toEqual(["Mon", "Wed"]);
    expect(matrix.data).toEqual(Float64Array.of(1, 3));
  });

  it("has nothing to start from in the first row", async () => {
    await expect(parseCsv("x,y\n,1\n2,2\n", { missing: "hold" })).rejects.toThrow(
      'row 2, column "x": the value is missing and none before it',
    );
  });

  it("has nothing to be interpolated to in the last row", async () => {
    await expect(parseCsv("x,y\n1,1\n,2\n", { missing: "interpolate" })).rejects.toThrow(
      'row 3, column "x": the value is missing and "interpolate"',
    );
  });

  it("is what missingMarkers says, and nothing else then", async () => {
    expect((await parseCsv("x\n1\n-99.99\n3\n", { missing: "interpolate", missingMarkers: ["-99.99"] })).matrix.data).toEqual(
      Float64Array.of(1, 2, 3),
    );
    await expect(parseCsv("x\n1\nNA\n3\n", { missing: "interpolate", missingMarkers: ["-99.99"] })).rejects.toThrow('"NA" is not a number');
  });

  it("is a blank line in the middle of a file of one column, and none at its end", async () => {
    expect((await parseCsv("x\n1\n\n3\n4\n\n\n", { missing: "interpolate" })).matrix.data).toEqual(Float64Array.of(1, 2, 3, 4));
  });

  it("does not leave a table without rows", async () => {
    await expect(parseCsv("x,y\n,1\n2,\n", { missing: "drop" })).rejects.toThrow("every row has a missing value");
  });

  it("takes a policy that there is", async () => {
    await expect(parseCsv("x\n1\n", { missing: "zero" as never })).rejects.toThrow(
      'missing is "zero"; it takes "error", "interpolate", "hold", "drop" or "nan"',
    );
  });
});

describe("a CSV file", () => {
  it("that is not UTF-8 is an error, and is read where its encoding is named", async () => {
    const path = join(temporaryFolder(), "latin1.csv");
    writeFileSync(path, Buffer.from("t,\xB0C\n0,1\n", "latin1"));
    await expect(readCsv(path)).rejects.toThrow("the file is not utf-8 text; save it as UTF-8, or name its encoding");
    expect((await readCsv(path, { encoding: "windows-1252" })).columns).toEqual(["t", "\xB0C"]);
  });

  it("of UTF-16 with a byte order mark is read", async () => {
    const path = join(temporaryFolder(), "excel.csv");
    writeFileSync(path, Buffer.from("\uFEFFa\tb\r\n1\t2\r\n", "utf16le"));
    expect((await readCsv(path)).columns).toEqual(["a", "b"]);
  });

  it("that is not there is an error that names it", async () => {
    await expect(readCsv("/no/such/folder/x.csv")).rejects.toThrow(FileError);
  });
});

describe("a CSV that was written", () => {
  const number = fc.oneof(fc.double(), fc.constantFrom(-0, Infinity, -Infinity, Number.NaN, 5e-324, Number.MAX_VALUE, 0.1 + 0.2));
  const name = fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => text.trim() !== "" && !/[\r\0]/.test(text));
  const delimiter = fc.constantFrom(",", ";", "\t") as fc.Arbitrary<"," | ";" | "\t">;

  it("reads back as the same binary64 numbers, with and without a header", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 6 }),
        fc.array(number, { minLength: 1, maxLength: 40 }),
        delimiter,
        fc.boolean(),
        async (cols, values, delimiter, header) => {
          const rows = Math.ceil(values.length / cols);
          const matrix = new Matrix(
            rows,
            cols,
            Float64Array.from({ length: rows * cols }, (_, i) => values[i % values.length]!),
          );
          const columns = header ? Array.from({ length: cols }, (_, i) => `c${i}`) : undefined;
          const text = formatCsv(matrix, { columns, delimiter });
          const table = await parseCsv(text, { header, delimiter, missing: "nan" });
          expect(table.matrix).toEqual(matrix);
        },
      ),
    );
  });

  const isFormula = (text: string) =>
    /^[=@\t\r]/.test(text) || (/^[+-]/.test(text) && !Number.isFinite(Number(text)) && !/^[+-]inf/i.test(text));
  it("reads back with its names and texts, whatever characters they hold", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(name, { minLength: 2, maxLength: 5, selector: (text) => text.trim() }),
        name,
        delimiter,
        async (names, cell, delimiter) => {
          const [aside, ...columns] = names.map((text) => text.trim()) as [string, ...string[]];
          const matrix = Matrix.zeros(2, columns.length);
          const text = formatCsv(matrix, { columns, text: { [aside]: [cell, "plain"] }, delimiter });
          const table = await parseCsv(text, { header: true, delimiter, text: [0] });
          const inert = (text: string) => (isFormula(text) ? `'${text}` : text);
          expect(table.columns).toEqual(columns.map(inert));
          expect(Object.entries(table.text)).toEqual([[inert(aside), [inert(cell), "plain"]]]);
        },
      ),
    );
  });

  it.each(["=cmd|' /C calc'!A0", "@SUM(1)", "+1+2", "-2+3", "\t=1", "\r=1", "+cmd", "-a"])("is no formula of a spreadsheet: %j", (cell) => {
    const quotes = (text: string) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    expect(formatCsv([[1]], { columns: [cell], text: { t: [cell] } })).toBe(`t,${quotes(`'${cell}`)}\n${quotes(`'${cell}`)},1\n`);
  });

  it.each(["-1", "+1.5", "-.5e-3", "-inf", "a=b", "1-2", "2024-01-01"])("keeps what is no formula: %s", (cell) => {
    expect(formatCsv([[-1]], { columns: ["x"], text: { t: [cell] } })).toBe(`t,x\n${cell},-1\n`);
  });

  it("keeps the blanks of its texts", async () => {
    const text = formatCsv([[1]], { columns: ["x"], text: { d: [" a "] } });
    expect((await parseCsv(text, { text: ["d"] })).text["d"]).toEqual([" a "]);
  });

  it("is a file of the same text, in pieces where it is long", async () => {
    const path = join(temporaryFolder(), "long.csv");
    const matrix = new Matrix(
      20_000,
      2,
      Float64Array.from({ length: 40_000 }, (_, i) => i / 7),
    );
    await writeCsv(path, matrix, { columns: ["a", "b"] });
    const table = await readCsv(path);
    expect(table.matrix).toEqual(matrix);
    expect(table.columns).toEqual(["a", "b"]);
  });

  it("takes as many names as columns and as many texts as rows", () => {
    expect(() => formatCsv([[1, 2]], { columns: ["a"] })).toThrow("columns holds 1 names; the matrix has 2 columns");
    expect(() => formatCsv([[1, 2]], { text: { d: [] } })).toThrow('text column "d" holds 0 cells; the matrix has 1 rows');
  });
});
