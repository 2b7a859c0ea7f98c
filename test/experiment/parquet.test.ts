// Parquet wherever CSV is accepted: the same table in both gives the same series, the same error
// and the same forecasts, to the last bit.
import "../../src/index.js";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeCsv, writeParquet } from "../../packages/io/src/index.js";
import { detect } from "../../src/cli/commands/detect.js";
import { loadData } from "../../src/experiment/data/data.js";
import { readNewCases } from "../../src/experiment/data/new-cases.js";
import { parseExperiment, runExperiment } from "../../src/experiment/index.js";
import { forecastAhead } from "../../src/experiment/runs/ahead.js";
import { readSeriesFolder } from "../../src/pipeline/data-folders.js";

let folder: string;
const at = (name: string) => join(folder, name);

const rows = Array.from({ length: 400 }, (_, t) => t);
const isGone = (t: number) => t % 17 === 5;
const values = rows.map((t) => [isGone(t) ? Number.NaN : Math.sin(t / 9) + 0.1 * Math.cos(t * t), Math.cos(t / 5)]);
const stamp = (t: number) => `${new Date(Date.UTC(2024, 0, 1, t)).toISOString().slice(0, 19)}Z`;
const written = { columns: ["load", "warmth"], text: { time: rows.map((t) => stamp(t)), site: rows.map((t) => (t < 200 ? "a" : "b")) } };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-tables-"));
  for (const write of [writeCsv, writeParquet]) {
    const name = write === writeCsv ? "csv" : "parquet";
    await write(at(`table.${name}`), values, written);
    await write(
      at(`case_0_0.${name}`),
      values.map(([, warmth]) => [warmth!]),
      { columns: ["x"] },
    );
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const experiment = (file: string, data: object) =>
  parseExperiment({
    name: "tables",
    data: { file, ...data },
    transforms: ["standardise"],
    reservoir: { size: 20 },
    task: { type: "forecast", horizon: 5, starts: 2, warmup: 50, members: 1 },
    seed: 1,
  });

/** The same of both formats, which are named in the messages. */
async function both<Value>(use: (ending: string) => Promise<Value>): Promise<[Value, Value]> {
  return [await use("csv"), await use("parquet")];
}

describe("data.file: x.parquet", () => {
  it.each([
    { time: "time", columns: ["load"], known: ["warmth"], missing: "mask", text: ["site"] },
    { time: "time", group: "site", missing: "hold" },
    { columns: ["warmth"], text: ["site", "time"], rows: { from: 10, to: 300 } },
    { columns: [3], text: [0, 1] },
    { time: "time", timeZone: "Europe/Berlin", columns: ["load"], missing: "interpolate" },
  ])("is the series of the same CSV file: %j", async (data) => {
    const [csv, parquet] = await both(async (ending) => {
      const { summary, ...loaded } = await loadData(experiment(at(`table.${ending}`), data));
      return { ...loaded, summary: summary.replaceAll(ending, "") };
    });
    expect(parquet).toEqual(csv);
  });

  it("proposes options that read it, as for CSV", async () => {
    const [csv, parquet] = await both(async (ending) =>
      loadData(experiment(at(`table.${ending}`), {})).then(
        () => undefined,
        (error: Error & { settings?: object }) => error,
      ),
    );
    expect(parquet!.settings).toEqual({ time: "time", text: ["site"], missing: "mask" });
    expect(parquet!.settings).toEqual(csv!.settings);
    expect(parquet!.message).toContain('column "site" holds texts, and no numbers; list it under `text`');
    expect(parquet!.message).toContain("The table can be read with data: {");
  });

  it("is refused with options of CSV alone", async () => {
    await expect(loadData(experiment(at("table.parquet"), { decimal: "," }))).rejects.toThrow("nothing for parquet; it is for csv");
  });

  it("trains the model of the same CSV file, which then forecasts from either", async () => {
    const made = await both(async (ending) => {
      const data = { file: at(`table.${ending}`), time: "time", columns: ["load"], known: ["warmth"], missing: "hold" as const };
      const task = { type: "forecast" as const, horizon: 5, starts: 2, warmup: 50 };
      const outputs = { report: false };
      const { folder: run } = await runExperiment(
        { name: ending, data, reservoir: { size: 20 }, readout: { lambda: 1e-3 }, task, outputs },
        { out: folder },
      );
      return readFile(join(run, "forecasts.csv"), "utf8");
    });
    expect(made[1]).toBe(made[0]);
    await both(async (ending) => {
      const ahead = rows.map((t) => (t < 380 ? values[t]! : [Number.NaN, values[t]![1]!]));
      await (ending === "csv" ? writeCsv : writeParquet)(at(`new.${ending}`), ahead, written);
    });
    const [csv, parquet] = await both(async (ending) => {
      await forecastAhead(at("csv"), { data: at(`new.${ending}`), out: at(`ahead-${ending}.csv`), missing: "hold" });
      return readFile(at(`ahead-${ending}.csv`), "utf8");
    });
    expect(parquet.split("\n").length).toBeGreaterThan(20);
    expect(parquet).toBe(csv);
  });
});

describe("commands and folders", () => {
  it("detect: says the same of each row", async () => {
    const [csv, parquet] = await both(async (ending) => {
      await detect(
        at(`table.${ending}`),
        { time: "time", columns: ["load", "warmth"], out: at(`rows-${ending}.csv`) },
        new AbortController().signal,
      );
      return readFile(at(`rows-${ending}.csv`), "utf8");
    });
    expect(parquet.split("\n").length).toBe(402);
    expect(parquet).toBe(csv);
  });

  it("classify: is one case", async () => {
    const [csv, parquet] = await both(async (ending) => (await readNewCases(at(`case_0_0.${ending}`))).sequences);
    expect(parquet).toEqual(csv);
  });

  it("a folder of series: is a case of each file", async () => {
    const { sequences, sources } = await readSeriesFolder(folder, { names: "{label}_{group}_{index}" });
    expect(sources.map((path) => path.slice(folder.length + 1))).toEqual(["case_0_0.csv", "case_0_0.parquet"]);
    expect(sequences[1]).toEqual(sequences[0]);
  });
});
