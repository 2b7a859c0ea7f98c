import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { encodeNpy, encodeWav } from "../../packages/io/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { loadData } from "../../src/experiment/data/data.js";
import type { ExperimentData } from "../../src/experiment/data/experiment-data.js";
import { prepareSeries, startRows } from "../../src/experiment/data/prepare.js";
import { resolveRows } from "../../src/experiment/data/resolve-rows.js";
import { splitRows } from "../../src/experiment/data/split.js";
import { parseExperimentText } from "../../src/experiment/description/file.js";
import { resolveDataPath } from "../../src/experiment/description/paths.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-"));
  const files = {
    "series.csv": "day,a,b\nmon,1,10\ntue,2,20\nwed,3,30\nthu,4,40\n",
    "word.csv": "a,b\n1,2\n3,four\n",
    "gap.csv": "a\n1\n\n3\n",
    "other.csv": "a,b\n1,2\n3,4\n",
    "table.npy": encodeNpy(new Matrix(3, 2, Float64Array.of(1, 10, 2, 20, 3, 30))),
    "nan.npy": encodeNpy(new Matrix(2, 2, Float64Array.of(1, 2, 3, Number.NaN))),
    "cut.npy": encodeNpy(new Matrix(3, 2, new Float64Array(6))).subarray(0, 150),
    "sound.wav": encodeWav(new Matrix(4, 1, Float64Array.of(0, 0.5, -0.5, 0.25)), { sampleRate: 8000 }),
    "cases.ts": "@problemName tiny\n@univariate true\n@classLabel true a b\n@data\n1,2,3:a\n4,5,6:b\n",
    "unlabelled.ts": "@problemName tiny\n@univariate true\n@classLabel false\n@data\n1,2,3\n",
    "ragged.ts": "@problemName tiny\n@univariate false\n@dimensions 2\n@classLabel true a b\n@data\n1,2,3:4,5:a\n",
    "other.ts": "@problemName tiny\n@univariate true\n@classLabel true a c\n@data\n1,2,3:c\n",
  };
  await mkdir(join(folder, "folder.csv"));
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
});

/** The data of an experiment whose file stands in the folder. */
async function load(data: string, rest = "task: predict"): Promise<ExperimentData> {
  const path = join(folder, "x.yaml");
  return loadData(parseExperimentText(`name: x\nreservoir: { size: 10 }\ndata: ${data}\n${rest}\n`, path).experiment, path, 0);
}

describe("data from files", () => {
  it("a CSV gives one series of the columns that are asked for, and the dates beside it", async () => {
    const data = await load("{ file: series.csv, columns: [b], text: [day], rows: { from: 1 } }");
    expect(data).toMatchObject({ kind: "series", names: ["b"], times: ["tue", "wed", "thu"], summary: "3 rows of series.csv" });
    expect([...(data as { series: Matrix }).series.data]).toEqual([20, 30, 40]);
  });

  it("a folder is named as one, whatever it is called", async () => {
    for (const name of [".", "folder.csv"])
      await expect(load(`{ file: ${name} }`)).rejects.toThrow(/: that is a folder; give the name of a file in it$/);
  });

  it("a CSV with inputs and targets drives the reservoir with the one and asks for the other", async () => {
    const data = await load("{ file: series.csv, inputs: [a], targets: [b], text: [day] }");
    expect(data).toMatchObject({ kind: "driven", names: ["b"] });
    expect([...(data as { inputs: Matrix }).inputs.data]).toEqual([1, 2, 3, 4]);
    expect([...(data as { targets: Matrix }).targets.data]).toEqual([10, 20, 30, 40]);
  });

  it("an NPY has its columns by index", async () => {
    const data = await load("{ file: table.npy, columns: [1] }");
    expect([...(data as { series: Matrix }).series.data]).toEqual([10, 20, 30]);
    await expect(load("{ file: table.npy, columns: [2] }")).rejects.toThrow("there is no column 2; it takes an index from 0 to 1");
  });

  it("a WAV is a series of its channels", async () => {
    expect([...((await load("{ file: sound.wav }")) as { series: Matrix }).series.data]).toEqual([0, 0.5, -0.5, 0.25]);
  });

  it("a .ts file holds cases with classes", async () => {
    expect(await load("{ file: cases.ts }", "task: classify")).toMatchObject({
      kind: "cases",
      classes: ["a", "b"],
      train: { labels: ["a", "b"] },
      summary: "tiny: 2 cases, 2 classes, 1 channel",
    });
  });

  it.each<[string, string, string | RegExp]>([
    ["a missing file, with a near name", "{ file: seris.csv }", /no such file in .*; did you mean series\.csv\?/],
    ["a text cell, by row and column", "{ file: word.csv }", 'row 3, column "b": "four" is not a number'],
    ["a missing value, saying what can be done", "{ file: gap.csv }", /row 3.*set `missing` to/],
    ["NaN, by row and column", "{ file: nan.npy }", "nan.npy: the value is NaN at row 1, column 1; a series takes finite numbers"],
    ["a truncated NPY", "{ file: cut.npy }", "truncated"],
    ["a test file with other columns", "{ file: series.csv, text: [day], columns: [a], test: other.csv, header: true }", "`text` asks for"],
    ["rows that there are not", "{ file: table.npy, rows: { from: 2, to: 9 } }", "data.rows asks for rows 2 to 9; the file has 3"],
    ["a delimiter of NPY", '{ file: table.npy, delimiter: ";" }', 'data.delimiter is ";"; it takes nothing for npy; it is for csv'],
    ["missing values filled in NPY", "{ file: nan.npy, missing: drop }", 'data.missing is "drop"; it takes nothing for npy'],
    ["a name that does not say its format", "{ file: series.xyz }", "data.format is missing; it takes csv, parquet, npy, ts or wav"],
    [
      "inputs without targets",
      "{ file: other.csv, inputs: [a] }",
      "data.targets is missing; it takes inputs and targets together, or only columns",
    ],
    [
      "a file of cases for a series",
      "{ file: cases.ts }",
      'task.type is "predict"; it takes "classify" or "detect" for cases with classes',
    ],
    [
      "a variable that is not set",
      "{ file: $SPILLWAY_NO_SUCH_VARIABLE/x.csv }",
      "needs the environment variable SPILLWAY_NO_SUCH_VARIABLE, which is not set",
    ],
  ])("refuses %s", async (_, data, sentence) => {
    await expect(load(data)).rejects.toThrow(sentence);
  });

  it.each([
    ["a ragged .ts", "{ file: ragged.ts }", "case"],
    [
      "rows of cases",
      "{ file: cases.ts, rows: { to: 1 } }",
      'data.rows is {"to":1}; it takes nothing for ts; it is for csv, parquet, npy, wav',
    ],
    ["columns of cases", "{ file: cases.ts, columns: [0] }", "data.columns is an array of 1; it takes nothing for ts"],
    ["cases without classes", "{ file: unlabelled.ts }", "its cases have no classes"],
    ["a class that only the test file has", "{ file: cases.ts, test: other.ts }", 'the class "c" does not occur in'],
    [
      "a series for classify",
      "{ file: series.csv, text: [day] }",
      'task.type is "classify"; it takes "predict", "forecast" or "anomalies" for a series',
    ],
  ])("refuses %s", async (_, data, sentence) => {
    await expect(load(data, "task: classify")).rejects.toThrow(sentence);
  });
});

describe("generated data", () => {
  it("is as long as split and task need", async () => {
    const data = await load("{ task: henon }", "task: { type: predict, ahead: 3 }\nsplit: { train: 50, test: 20 }");
    expect((data as { series: Matrix }).series.rows).toBe(73);
    await expect(load("{ task: henon }")).rejects.toThrow(
      "data.length is missing; it takes a number of rows; or give split.train and split.test as rows",
    );
  });

  it("knows its step and its Lyapunov exponent", async () => {
    expect(await load("{ task: lorenz, length: 10, options: { dt: 0.02 } }")).toMatchObject({ dt: 0.02, lyapunovExponent: 0.9056 });
  });

  it("is another one for every seed where `redraw` asks for it, and only where something is drawn", async () => {
    const path = join(folder, "x.yaml");
    for (const data of ["task: narma", "task: mackeyGlass", "task: lorenz, options: { discard: 500 }"]) {
      const text = `name: x\nreservoir: { size: 9 }\ntask: predict\ndata: { ${data}, length: 50, redraw: true }`;
      const { experiment } = parseExperimentText(text, path);
      const drawn = await Promise.all(
        [0, 1, 0].map(async (seed) => {
          const loaded = (await loadData(experiment, path, seed)) as { series?: Matrix; inputs?: Matrix };
          return Array.from((loaded.series ?? loaded.inputs)!.data);
        }),
      );
      expect(drawn[0]).toEqual(drawn[2]);
      expect(drawn[0]).not.toEqual(drawn[1]);
    }
    await expect(load("{ task: mso, length: 50, redraw: true }")).rejects.toThrow(
      "data.redraw is true; it takes false for mso, which draws nothing",
    );
  });
});

describe("paths in an experiment file", () => {
  it("count from the folder of the file", () => {
    expect(resolveDataPath("a/b.csv", "/somewhere/x.yaml")).toBe("/somewhere/a/b.csv");
    expect(resolveDataPath("/a/b.csv", "/somewhere/x.yaml")).toBe("/a/b.csv");
  });

  it("may name environment variables, with a default", () => {
    expect(resolveDataPath(`${"$"}{DATA}/b.csv`, "/x.yaml", { DATA: "/data" })).toBe("/data/b.csv");
    expect(resolveDataPath("$DATA/b.csv", "/x.yaml", { DATA: "/data" })).toBe("/data/b.csv");
    expect(resolveDataPath(`${"$"}{DATA:-../d}/b.csv`, "/some/x.yaml", {})).toBe("/d/b.csv");
  });

  it("takes no variable from what every object has", () => {
    expect(() => resolveDataPath("$constructor/b.csv", "/x.yaml")).toThrow("needs the environment variable constructor, which is not set");
  });

  it("may name a file of an installed package", () => {
    expect(resolveDataPath("npm:vitest/package.json", "/x.yaml")).toMatch(/node_modules\/vitest\/package\.json$/);
    expect(() => resolveDataPath("npm:@no/such/x.csv", "/x.yaml")).toThrow("install it with npm install @no/such");
  });
});

describe("training and test part", () => {
  it.each([
    [{}, 100, { train: 80, test: 20 }],
    [{ train: 0.5 }, 100, { train: 50, test: 50 }],
    [{ train: 30, test: 0.1 }, 100, { train: 30, test: 10 }],
    [{ test: 25 }, 100, { train: 75, test: 25 }],
  ])("split %o of %d rows", (split, rows, parts) => {
    expect(splitRows(split, rows, false)).toEqual(parts);
  });

  it("a split of more rows than there are is refused", () => {
    expect(() => splitRows({ train: 90, test: 20 }, 100, false)).toThrow(
      "split asks for 90 training and 20 test rows; there are 100 rows to split",
    );
    expect(() => splitRows({ train: 100 }, 100, false)).toThrow("100 training and 0 test rows");
    expect(() => splitRows({ train: 101 }, 100, true)).toThrow("split.train asks for 101 rows; the training series has 100");
  });

  const prepared = (rest: string) => {
    const { experiment } = parseExperimentText(
      `name: x\nreservoir: { size: 9 }\ndata: { task: henon, length: 100 }\nwashout: 10\n${rest}`,
      "x.yaml",
    );
    const series = new Matrix(
      100,
      1,
      Float64Array.from({ length: 100 }, (_, t) => t),
    );
    const data = { kind: "series" as const, series, names: ["x"], summary: "" };
    return { experiment: resolveRows(experiment, data), parts: prepareSeries(experiment, data) };
  };

  it("forecasts start at equal distances over the test part, the first one at its start", () => {
    const { experiment, parts } = prepared("task: { type: forecast, horizon: 5, starts: 4, warmup: 20 }");
    // Rows 80 to 99 test; the last start leaves 5 rows: 80, 85, 90, 95.
    expect(startRows(experiment.task as never, parts)).toEqual([80, 85, 90, 95]);
  });

  it.each([
    [
      "a horizon longer than the test part",
      "task: { type: forecast, horizon: 21, warmup: 20 }",
      "the test part has 20 rows; a horizon of 21 takes more",
    ],
    [
      "more starts than fit",
      "task: { type: forecast, horizon: 5, starts: 17, warmup: 20 }",
      "the test part of 20 rows takes at most 16 with a horizon of 5",
    ],
    [
      "a stride that does not fit",
      "task: { type: forecast, horizon: 5, starts: 3, stride: 8, warmup: 20 }",
      "takes at most 2 with a horizon of 5",
    ],
    [
      "a warm-up longer than what comes before",
      "task: { type: forecast, horizon: 5, warmup: 81 }",
      "task.warmup is 81 and there are 80 rows before the test part",
    ],
  ])("refuses %s", (_, task, sentence) => {
    const { experiment, parts } = prepared(task);
    expect(() => startRows(experiment.task as never, parts)).toThrow(sentence);
  });

  it("refuses a washout as long as the training part", () => {
    expect(() => prepared("task: predict\nsplit: { train: 10 }")).toThrow(
      "washout is 10; it takes fewer than the 10 rows of the training part",
    );
  });

  it("refuses to look further ahead than a difference reaches back", () => {
    expect(() => prepared("task: { type: predict, ahead: 3 }\ntransforms: [{ difference: 2 }]")).toThrow(
      "task.ahead is 3; it takes at most 2",
    );
  });
});
