// Experiments whose task is to find anomalies: the detector's own incidents, scored by labels.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { AnomalyDetector } from "../../src/model/index.js";
import { runsInFolder } from "./run-text.js";

const runs = runsInFolder();
const { runText } = runs;

const stampOf = (t: number) => new Date(Date.UTC(2024, 0, 1) + 300_000 * t).toISOString().slice(0, 19).replace("T", " ");
// A spike at 420, and one at 700.
const load = Array.from({ length: 900 }, (_, t) => Math.sin(t / 8) + 0.1 * Math.cos(1.7 * t * t) + (t === 420 || t === 700 ? 4 : 0));
const csv = ["time,load", ...load.map((value, t) => `${stampOf(t)},${t === 800 ? "" : value}`)].join("\n");
const text = `name: small
data: { file: load.csv, time: time, missing: hold }
task: { type: anomalies, size: 5, alarmRate: 0.002, labels: [[410, 430], ["${stampOf(550)}", "${stampOf(560)}"]] }
seed: 3
`;

describe("the task anomalies", () => {
  it("gives the incidents of a detector, and scores them by labels", async () => {
    await writeFile(join(runs.out, "load.csv"), csv);
    const { result, folder: out } = await runText(text);
    const detector = await AnomalyDetector.create({ columns: ["load"], size: 5, seed: 3, alarmRate: 0.002 });
    const series = load.map((value, t) => (t === 800 ? Number.NaN : value));
    const { incidents } = detector.detect(series, { times: load.map((_, t) => stampOf(t)) });
    const starts = incidents.map(({ start }) => start);
    expect(starts).toContain(420);
    const wrong = starts.filter((start) => !(start >= 410 && start <= 430)).length;
    expect(result.scores.map(({ metric, value }) => [metric, value])).toEqual([
      ["accuracy", 1 / (2 + wrong)],
      ["errors", 1 + wrong],
      ["missed", 1],
    ]);
    expect(result.data["task"]).toContain(`${incidents.length} incidents, asked 1 in 500 rows`);
    expect(result.data["task"]).toContain(`1 of 2 labelled anomalies found, ${wrong} incident${wrong === 1 ? "" : "s"} outside`);
    const saved = await AnomalyDetector.load(join(out, "model.safetensors"));
    expect(saved.state).toEqual(detector.state);
    const lines = (await readFile(join(out, "incidents.csv"), "utf8")).trimEnd().split("\n");
    expect(lines[0]).toBe("start,end,oddest,by,score,pvalue,columns");
    expect(lines.slice(1).map((line) => line.split(",")[0])).toEqual(starts.map(stampOf));
    const report = await readFile(join(out, "report.html"), "utf8");
    expect(report).toContain("Grey on top: 2 labelled anomalies.");
    // The forecast's reservoir is the detector's own.
    expect(report).not.toContain("erdosRenyi");
    expect([result.config.reservoir, result.config.readout]).toEqual([undefined, undefined]);
  });

  it("takes labels from a file, as rows, stamps of a zone, pairs or points", async () => {
    const scoresOf = async (labels: string, file?: string, changes: (text: string) => string = (same) => same) => {
      await writeFile(join(runs.out, "load.csv"), csv);
      if (file !== undefined) await writeFile(join(runs.out, "known.csv"), file);
      const { result } = await runText(changes(text.replace(/labels: .*\]\]/, `labels: ${labels}`)));
      return result.scores.map(({ value }) => value);
    };
    const zoned = (t: number) => `${stampOf(t + 24).replace(" ", "T")}+02:00`;
    const expected = await scoresOf("[[410, 430], [550, 560]]");
    expect(expected.at(-1)).toBe(1);
    const file = "{ file: known.csv }";
    for (const [name, known] of [
      ["rows", "start,end\n410,430\n550,560\n"],
      ["stamps, columns in another order", `why,end,start\nspike,${stampOf(430)},${stampOf(410)}\nnone,${stampOf(560)},${stampOf(550)}\n`],
      ["a zone", `start,end\n${zoned(410)},${zoned(430)}\n${zoned(550)},${zoned(560)}\n`],
      ["between stamps", `start;end\n${stampOf(409.5)};${stampOf(430.5)}\n${stampOf(549.5)};${stampOf(560.5)}\n`],
    ])
      expect([name, await scoresOf(file, known)]).toEqual([name, expected]);
    expect(await scoresOf("{ file: known.csv, start: from, end: 2 }", "n,from,to\n1,410,430\n2,550,560\n")).toEqual(expected);
    // A point reaches over mergeRows: 320 to 420 holds the incident of row 420, 319 to 419 does not.
    expect((await scoresOf("[320]")).at(-1)).toBe(0);
    expect((await scoresOf("[319]")).at(-1)).toBe(1);
    expect(await scoresOf(file, `when\n${stampOf(320)}\n550\n`)).toEqual(await scoresOf(`["${stampOf(320)}", 550]`));
    const short = (whole: string) => whole.replace("alarmRate", "mergeRows: 5, alarmRate");
    expect((await scoresOf("[415]", undefined, short)).at(-1)).toBe(0);
    expect((await scoresOf("[414]", undefined, short)).at(-1)).toBe(1);
    // The list of incidents of a run is a file of labels.
    const { folder, result } = await runText(text.replace(/, labels: .*\]\]/, ""));
    expect(result.scores).toEqual([]);
    const again = await scoresOf(file, await readFile(join(folder, "incidents.csv"), "utf8"));
    expect(again).toEqual([1, 0, 0]);
  });

  it.each([
    ["start,end\n410,9000\n", /task.labels, .*known.csv, row 2 is 9000; it takes rows from 0 to 899, or time stamps/],
    ["start,end\n410,430\nnever,500\n", /known.csv, row 3 is "never"; it takes rows from 0 to 899, or time stamps/],
    ["start,end\n430,410\n", /known.csv, row 2 is .*; it takes a first row, and a last one that is not before it/],
    ["start,end\n", /known.csv/],
  ])("refuses a file of labels that is not of the series: %j", async (known, sentence) => {
    await writeFile(join(runs.out, "load.csv"), csv);
    await writeFile(join(runs.out, "known.csv"), known);
    await expect(runText(text.replace(/labels: .*\]\]/, "labels: { file: known.csv }"))).rejects.toThrow(sentence);
  });

  it("chooses nothing by labels, and runs without them", async () => {
    await writeFile(join(runs.out, "load.csv"), csv);
    const plain = await runText(text.replace(/, labels: .*\]\]/, ""));
    expect(plain.result.scores).toEqual([]);
    const bytes = async ({ folder: at }: { readonly folder: string }) => (await AnomalyDetector.load(join(at, "model.safetensors"))).state;
    expect(await bytes(plain)).toEqual(await bytes(await runText(text)));
  });

  it.each([
    [text.replace("[410, 430]", "[430, 410]"), /task.labels\[0\] is .*; it takes a first row, and a last one that is not before it/],
    [text.replace("[410, 430]", "[410, 9000]"), /task.labels\[0\] is 9000; it takes rows from 0 to 899, or time stamps of the series/],
    [text.replace("[410, 430]", "[410]"), /task.labels\[0\] is .*; it takes a pair of rows or time stamps/],
    [text.replace(/labels: .*\]\]/, "labels: { file: none.csv }"), /none.csv/],
    [text.replace(/labels: .*\]\]/, "labels: { fil: known.csv }"), /unknown field "task.labels.fil": did you mean "file"/],
    [text.replace("alarmRate: 0.002", "alarmRate: 2"), /task.alarmRate is 2; it takes a number above 0 and at most 0.1/],
    [`${text}baselines: [mean]\n`, /baselines is .*; it takes nothing for anomalies/],
    [`${text}reservoir: { size: 30 }\n`, /reservoir is .*; it takes nothing for anomalies; task.size says the neurons/],
    [`${text}readout: { type: ridge, lambda: 1 }\n`, /readout.lambda is 1; it takes nothing for anomalies/],
    [`${text}transforms: [standardise]\n`, /transforms is .*; it takes nothing for anomalies/],
    [`${text}metrics: [nrmse]\n`, /metrics is "nrmse"; it takes for anomalies accuracy, errors, missed/],
    [text.replace(/data: .*/, "data: { task: narma, length: 900 }"), /anomalies are of one series/],
  ])("refuses what it does not take: %#", async (wrong, sentence) => {
    await writeFile(join(runs.out, "load.csv"), csv);
    await expect(runText(wrong)).rejects.toThrow(sentence);
  });
});
