// Figures that are drawn again from the files of a run: the same as those of its report, and others
// by choice; what is no such file is refused.
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { type ExperimentResult, runExperiment, runFigures } from "../../src/experiment/index.js";
import { formatForecasts } from "../../src/experiment/runs/forecasts-file.js";
import { readForecasts } from "../../src/experiment/runs/read-forecasts.js";
import type { Figure } from "../../src/plot/index.js";
import "../../src/index.js";

let folder: string;
let runFolder: string;
let drawn: readonly Figure[];
let result: ExperimentResult;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-figures-"));
  const rows = Array.from({ length: 300 }, (_, t) => {
    const day = new Date(Date.UTC(2021, 0, 1 + t)).toISOString().slice(0, 10);
    const value = 10 + 3 * Math.sin((2 * Math.PI * t) / 7) + ((t * 7919) % 13) / 10;
    return `${day},${value.toFixed(3)},${(value * value).toFixed(3)}`;
  });
  await writeFile(join(folder, "days.csv"), `date,"load, <b>MW",heat\n${rows.join("\n")}\n`);
  const run = await runExperiment(
    {
      name: "days",
      data: { file: join(folder, "days.csv"), columns: [1, 2], time: "date" },
      reservoir: { size: 20 },
      readout: { type: "ridge", lambda: 0.1 },
      task: { type: "forecast", horizon: 5, starts: 6, warmup: 40 },
      washout: 30,
      split: { test: 60 },
    },
    { out: folder },
  );
  runFolder = run.folder;
  drawn = run.section.figures;
  result = run.result;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const namesOf = ({ data }: Figure) => data.map(({ name }) => name);
const titlesOf = (figures: readonly Figure[]) => figures.map(({ title }) => title);

describe("the figures of a run", () => {
  it("are drawn from its files as its report has them", async () => {
    const { figures, title } = await runFigures(runFolder);
    expect(title).toBe("days");
    expect(figures).toEqual(JSON.parse(JSON.stringify(drawn)));
    expect(result.files).toContain("history.csv");
  });

  it("have every baseline that the run kept", async () => {
    const { figures } = await runFigures(runFolder);
    const names = result.verdict!.baselines.map(({ name }) => name);
    expect(names.length).toBeGreaterThan(4);
    for (const k of [0, 1, 2]) expect(namesOf(figures[k]!)).toEqual(expect.arrayContaining(names));
  });

  it("are of any start, by its row, its first time stamp or last, joined to the rows before it", async () => {
    const { written } = await readForecasts(join(runFolder, "forecasts.csv"));
    const third = written[2]!;
    const [byRow, byTime] = [
      await runFigures(runFolder, { start: String(third.start) }),
      await runFigures(runFolder, { start: third.times![0]! }),
    ];
    expect(byRow.figures[0]).toEqual(byTime.figures[0]);
    expect(byRow.figures[0]!.title).toBe(`Forecast from ${third.times![0]}`);
    expect(byRow.figures[0]!.data.find(({ name }) => name === "target")!["x"]).toHaveLength(15 + 5);
    const last = await runFigures(runFolder, { start: "last" });
    expect(titlesOf(last.figures).filter((title) => title.startsWith("Forecast"))).toEqual([
      expect.stringMatching(/^Forecast beyond the end/),
    ]);
  });

  it("are of one column and of the last starts, if that is asked for", async () => {
    const { figures } = await runFigures(runFolder, { target: "heat", last: 2 });
    expect(figures[0]!.description).toContain("The target and the prediction of heat over 5 steps");
    expect(figures.find(({ title }) => title.startsWith("Residuals"))!.description).toContain("10 values of 2 forecasts");
  });

  it("are drawn from a forecasts.csv alone, with the history that its earlier targets are", async () => {
    const alone = join(folder, "alone");
    await mkdir(alone);
    await copyFile(join(runFolder, "forecasts.csv"), join(alone, "my.csv"));
    const { figures } = await runFigures(join(alone, "my.csv"));
    expect(titlesOf(figures).map((title) => title.split(/ \d|,/)[0])).toEqual([
      "Forecast from",
      "Forecast beyond the end",
      "Error by step of the forecast",
      "Residuals of the forecasts",
    ]);
    expect(namesOf(figures[0]!)).toContain("lower to upper");
  });

  it("are those of the report for other tasks, and of result.json without one", async () => {
    const values = (b: number) => Array.from({ length: 20 }, (_, t) => Math.sin(t / (b % 2 === 0 ? 2 : 4) + b).toFixed(3)).join(",");
    const cases = Array.from({ length: 20 }, (_, b) => `${values(b)}:${b % 2 === 0 ? "quick" : "slow"}`);
    const head = "@problemName waves\n@timeStamps false\n@univariate true\n@classLabel true quick slow\n@data\n";
    await writeFile(join(folder, "waves.ts"), `${head}${cases.join("\n")}\n`);
    const classified = (name: string, report: boolean) =>
      runExperiment(
        {
          name,
          data: { file: join(folder, "waves.ts") },
          reservoir: { size: 10 },
          task: "classify",
          split: { train: 0.5 },
          outputs: { report },
        },
        { out: folder },
      );
    const withReport = await classified("with-report", true);
    const shown = await runFigures(withReport.folder);
    expect(shown.figures).toEqual(JSON.parse(JSON.stringify(withReport.section.figures)));
    const { folder: without } = await classified("without", false);
    const { figures } = await runFigures(without);
    expect(figures[0]).toEqual((await runFigures(withReport.folder)).figures.find(({ title }) => title === figures[0]!.title));
    expect(titlesOf(figures)).toEqual(["Confusion matrix", "Reliability of the probabilities"]);
    await expect(runFigures(without, { last: 3 })).rejects.toThrow(/^last is for runs that keep forecasts; there is no forecasts.csv/);
  });
});

describe("what is no file of forecasts", () => {
  const head = "start,step,time,column,target,prediction,lower,upper,baseline";
  const refused = async (text: string, options = {}) => {
    const path = join(folder, "bad.csv");
    await writeFile(path, text);
    return runFigures(path, options).then(
      () => "drawn",
      (error: Error) => error.message.replace(path, "bad.csv"),
    );
  };

  it.each([
    ["", "bad.csv: there is nothing in it"],
    [`${head}\n`, "bad.csv: there is no forecast in it"],
    ["start,step,time,column,prediction\n", "bad.csv: it has no column target, lower, upper, baseline"],
    [`${head}\n5,1,5,y,1,2\n5,3,7,y,1,2`, "bad.csv: the forecast from 5 has 2 lines; 3 steps of 1 columns take one each"],
    [`${head}\n5,1,5,y,1,2\n5,1,5,y,1,2`, "bad.csv: the forecast from 5 has 2 lines"],
    [`${head}\n5,999999999,5,y,1,2`, "bad.csv: the forecast from 5 has 1 lines; 999999999 steps"],
    [`${head}\n5,1,5,y,1,\u001b[31mtwo`, 'bad.csv: line 2: "prediction" is "\\u001b[31mtwo"; it takes a number or nothing'],
    [`${head}\n-1,1,5,y,1,2`, 'bad.csv: line 2: start is "-1"; it takes a row or "last"'],
    [`${head}\n5,1e3,5,y,1,2`, 'bad.csv: line 2: step is "1e3"'],
    [`${head},lower 2,upper 2\n5,1,5,y,1,2`, 'bad.csv: the column "lower 2" names no share between 0 and 1'],
    [`${head},lower 0.5\n5,1,5,y,1,2`, 'bad.csv: there is a column "lower 0.5" and none "upper 0.5"'],
  ])("%j is refused in a sentence", async (text, sentence) => {
    expect(await refused(text)).toContain(sentence);
  });

  it("names what is there if a start, a column or a series is not", async () => {
    const text = formatForecasts([{ start: 7, row: 7, group: "a", target: Matrix.from([[1]]), prediction: Matrix.from([[1]]) }], ["y"]);
    expect(await refused(text, { start: "8" })).toContain(
      'start is "8"; it takes a row, the time stamp of a first row, or last: bad.csv has "7"',
    );
    expect(await refused(text, { target: "z" })).toContain('nothing is forecast that is called "z"; there are "y"');
    expect(await refused(text, { series: "b" })).toContain('series is "b"; it takes a name: bad.csv has "a"');
    expect(await refused(text, { series: "a", start: "7", target: "y" })).toBe("drawn");
  });

  it("is a folder without a run, and a report that is none", async () => {
    const empty = join(folder, "empty");
    await mkdir(empty);
    await expect(runFigures(empty)).rejects.toThrow(/no run or search is there/);
    await writeFile(join(empty, "report.html"), "<p>hello</p>");
    await expect(runFigures(empty)).rejects.toThrow(/it is no report of a run/);
    await writeFile(join(empty, "report.html"), '<script type="application/json" id="figures">[{"title": 1}]</script>');
    await expect(runFigures(empty)).rejects.toThrow(/its figures cannot be read/);
  });

  it("reads its lines in any order", async () => {
    const text = await readFile(join(runFolder, "forecasts.csv"), "utf8");
    const [first, ...lines] = text.trimEnd().split("\n");
    const path = join(folder, "turned.csv");
    await writeFile(path, [first, ...lines.reverse()].join("\n"));
    const turned = await readForecasts(path);
    const straight = await readForecasts(join(runFolder, "forecasts.csv"));
    expect(turned.names).toEqual(straight.names.toReversed());
    expect(turned.written.at(-1)!.times).toEqual(straight.written[0]!.times);
    expect(turned.written.at(-1)!.prediction.column(1)).toEqual(straight.written[0]!.prediction.column(0));
  });
});
