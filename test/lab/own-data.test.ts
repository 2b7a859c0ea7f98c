import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { parseExperimentText } from "../../src/experiment/description/file.js";
import "../../src/index.js";
import { defaultSettings } from "../../src/lab/index.js";
import { defaultChoices, experimentDataOf, mostRows } from "../../src/lab/own-data.js";
import { readOwnSeries } from "../../src/lab/own-series.js";
import { experimentOf } from "../../src/lab/settings.js";

const rows = Array.from({ length: 100 }, (_, t) => `2016-07-${1 + (t % 28)},${t},${100 - t}`);
const table = `date,load,oil\n${rows.join("\n")}\n`;
const read = (text: string, choices = {}) => readOwnSeries(text, "ett.csv", { ...defaultChoices, ...choices });

describe("a file of the user's own", () => {
  it("gives its first column of numbers as z-scores by the rows that train", async () => {
    const { columns, choices, drive, used } = await read(table);
    expect(columns.map(({ name, numeric }) => [name, numeric])).toEqual([
      ["date", false],
      ["load", true],
      ["oil", true],
    ]);
    expect({ input: choices.input, used, trainingRows: drive.trainingRows }).toEqual({ input: 1, used: 100, trainingRows: 80 });
    const training = drive.input.subarray(0, 80);
    expect(training.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 9);
    expect(training.reduce((sum, value) => sum + value * value, 0) / 80).toBeCloseTo(1, 9);
    expect(drive.target).toBeUndefined();
  });

  it("gives another column as the target, and values as they are if asked for", async () => {
    const { drive } = await read(table, { input: 2, target: 1, standardise: false, train: 0.5 });
    expect([...drive.input.subarray(0, 3)]).toEqual([100, 99, 98]);
    expect([...drive.target!.subarray(0, 3)]).toEqual([0, 1, 2]);
    expect(drive.trainingRows).toBe(50);
  });

  it("fills or drops what is missing as asked for", async () => {
    const gaps = table.replace(",5,", ",,");
    expect(await read(gaps, { missing: "interpolate", standardise: false })).toMatchObject({ missing: 1, used: 100 });
    expect(await read(gaps, { missing: "drop" })).toMatchObject({ missing: 1, used: 99 });
  });

  it("is used up to its first 20,000 rows", async () => {
    const { used, rows, drive } = await read(`x\n${Array.from({ length: 25_000 }, (_, t) => t % 7).join("\n")}\n`);
    expect({ used, rows, length: drive.input.length }).toEqual({ used: mostRows, rows: 25_000, length: mostRows });
  });

  it.each([
    ["an empty file", "", {}, "ett.csv: there is no row in it; it takes rows of numbers"],
    ["words alone", "a,b\nc,d\n", {}, "ett.csv has no column of numbers"],
    ["few rows", "x\n1\n2\n", {}, "ett.csv has 2 rows; the lab takes at least 20"],
    ["a gap", table.replace(",5,", ",,"), {}, 'ett.csv: row 7, column "load": the value is missing; set `missing` to'],
    ["a word among numbers", table.replace(",5,", ",five,"), { input: 1 }, 'ett.csv: row 7, column "load": "five" is not a number'],
    ["an infinite value", table.replace(",5,", ",inf,"), {}, "ett.csv: a value is Infinity; the lab takes finite numbers"],
    ["a first row of both", rows.join("\n"), {}, "ett.csv: row 1 holds both words and numbers"],
    ["a column that is not there", table, { input: 9 }, "ett.csv: `columns` asks for index 9; it takes 0 to 2"],
    [
      "too many columns",
      `${Array.from({ length: 1001 }, (_, c) => `c${c}`).join()}\n`,
      {},
      "ett.csv has 1001 columns; the lab takes up to 1000",
    ],
  ])("is refused with a sentence if it holds %s", async (_, text, choices, sentence) => {
    await expect(read(text, choices)).rejects.toThrow(sentence);
  });

  it("becomes the data of an experiment that spillway run takes", async () => {
    const series = await read(table, { input: 2, target: 1, missing: "drop", header: true });
    const text = stringify(experimentOf(defaultSettings, experimentDataOf(series)));
    expect(parse(text)).toMatchObject({
      data: { file: "ett.csv", format: "csv", inputs: ["oil"], targets: ["load"], header: true, missing: "drop" },
      split: { train: 0.8 },
      transforms: ["standardise"],
    });
    expect(() => parseExperimentText(text, "lab.yaml")).not.toThrow();
    const long = await read(`x,x\n${"1,2\n".repeat(mostRows + 1)}`, { standardise: false });
    expect(experimentDataOf(long)).toEqual({
      data: { file: "ett.csv", format: "csv", columns: [0], rows: { from: 0, to: mostRows }, missing: "error" },
      split: { train: 0.8 },
      transforms: [],
      task: { type: "forecast", horizon: 400, starts: 1, lags: 0 },
    });
    // 20 rows test.
    expect(experimentDataOf(await read(table)).task).toMatchObject({ type: "forecast", horizon: 20 });
  });

  it.each([
    [",", undefined, (value: number) => value.toFixed(1).replace(".", ",")],
    [",", ".", (value: number) => `1.${String(100 + Math.floor(value))},5`],
    [".", ",", (value: number) => `1,${String(100 + Math.floor(value))}.5`],
  ])("keeps columns whose decimal mark is %s and thousands are separated by %s", async (decimal, thousands, write) => {
    const rows = Array.from({ length: 40 }, (_, t) => `t${t};${write(t)};${write(t / 2)};${t}`);
    const series = await read(["name;a;b;c", ...rows].join("\n"), { standardise: false });
    expect(series.columns.map(({ name, numeric }) => [name, numeric])).toEqual([
      ["name", false],
      ["a", true],
      ["b", true],
      ["c", true],
    ]);
    expect([series.choices.decimal, series.choices.thousands]).toEqual([decimal, thousands]);
    const number = (text: string) => Number(text.replaceAll(thousands ?? "x", "").replace(decimal, "."));
    expect([...series.drive.input]).toEqual(Array.from({ length: 40 }, (_, t) => number(write(t))));
    expect(experimentDataOf(series).data).toMatchObject({
      columns: ["a"],
      ...(decimal === "," && { decimal }),
      ...(thousands && { thousands }),
    });
  });
});
