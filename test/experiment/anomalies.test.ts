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
    expect(result.data["task"]).toContain(`1 of 2 labelled anomalies found, ${wrong} incidents outside`);
    const saved = await AnomalyDetector.load(join(out, "model.safetensors"));
    expect(saved.state).toEqual(detector.state);
    const lines = (await readFile(join(out, "incidents.csv"), "utf8")).trimEnd().split("\n");
    expect(lines[0]).toBe("start,end,oddest,by,score,pvalue,columns");
    expect(lines.slice(1).map((line) => line.split(",")[0])).toEqual(starts.map(stampOf));
    const report = await readFile(join(out, "report.html"), "utf8");
    expect(report).toContain("Grey strips on top are the 2 labelled anomalies.");
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
