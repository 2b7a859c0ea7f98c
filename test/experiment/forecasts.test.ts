// forecasts.csv of a run: every scored start, what lies beyond the end of the table, bands,
// baseline.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { readRun } from "../../src/experiment/index.js";
import { formatForecasts } from "../../src/experiment/runs/forecasts-file.js";
import { runExperiment } from "../../src/experiment/runs/run.js";
import "../../src/index.js";
import { exhaustive } from "../exhaustive.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-forecasts-"));
  const rows = Array.from({ length: 400 }, (_, t) => {
    const day = new Date(Date.UTC(2021, 0, 1 + t)).toISOString().slice(0, 10);
    return `${day},${(10 + 3 * Math.sin((2 * Math.PI * t) / 7) + ((t * 7919) % 13) / 10).toFixed(3)}`;
  });
  await writeFile(join(folder, "days.csv"), `date,"load, MW"\n${rows.join("\n")}\n`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const described = (more: object = {}) => ({
  name: "days",
  data: { file: join(folder, "days.csv"), columns: [1], time: "date" },
  reservoir: { size: 30 },
  readout: { type: "ridge" as const, lambda: 0.1 },
  task: { type: "forecast" as const, horizon: 5, starts: 8, warmup: 40 },
  washout: 30,
  split: { test: 60 },
  outputs: { report: false },
  ...more,
});
const lines = async (name: string, more: object = {}, engine = "cpu") => {
  const { folder: runFolder } = await runExperiment(described(more), { out: join(folder, name), engine });
  return { runFolder, text: await readFile(join(runFolder, "forecasts.csv"), "utf8") };
};
const cells = (line: string) => line.match(/("([^"]|"")*"|[^,]*)(,|$)/g)!.map((cell) => cell.replace(/,$/, ""));

describe("forecasts.csv", () => {
  it("has a line for each step of every start, then beyond the end with the next days and no target", async () => {
    const { runFolder, text } = await lines("all");
    const [head, ...rows] = text.trimEnd().split("\n");
    expect(head).toMatch(
      /^start,step,time,column,target,prediction,lower,upper,baseline,baseline ridge ARX\(8\),baseline ridge AR\(8\),baseline ETS \(7\),baseline seasonal naive \(7\),/,
    );
    expect(rows).toHaveLength(8 * 5 + 5);
    expect(cells(rows[0]!).slice(0, 4)).toEqual(["340", "1", "2021-12-07", '"load, MW"']);
    const last = rows.slice(-5).map(cells);
    expect(last.map(([start, step, time, , target]) => [start, step, time, target])).toEqual(
      ["05", "06", "07", "08", "09"].map((day, h) => ["last", String(h + 1), `2022-02-${day}`, ""]),
    );
    for (const [, , , , , prediction, lower, upper, baseline, best] of rows.map(cells)) {
      expect(best).toBe(baseline);
      expect(Number(lower)).toBeLessThan(Number(prediction));
      expect(Number(upper)).toBeGreaterThan(Number(prediction));
      expect(Number(baseline)).not.toBeNaN();
    }
    const result = await readRun(runFolder);
    expect(result.files).toContain("forecasts.csv");
    expect(result.bands!.sentence).toMatch(/^bands of 90 % from \d+ starts hold \d+(\.\d)? % of the test values$/);
  });

  it("is drawn with bands and baseline, errors by step, residuals and the calibration of the bands", async () => {
    const { section, result } = await runExperiment(described({ outputs: { report: true } }));
    expect(section.figures.map(({ title }) => title)).toEqual([
      "Forecast from 2021-12-07",
      "Forecast beyond the end, from 2022-02-05",
      "Error by step of the forecast",
      "Residuals of the forecasts",
      "Coverage of the bands on the test starts",
      "States around their means, driven by the data",
      "A few neurons, driven by the data",
      "Where the time went",
    ]);
    const [first, beyond, error, residuals, calibration] = section.figures;
    const names = ({ data }: (typeof section.figures)[number]) => data.map(({ name }) => name);
    const hidden = result.verdict!.baselines.map(({ name }) => name).filter((name) => name !== "ridge ARX(8)");
    for (const figure of [first!, beyond!]) {
      const shown = figure.data.filter(({ visible }) => visible !== "legendonly").map(({ name }) => name);
      expect(shown).toEqual(["90 %", "target", "ridge ARX(8)", "prediction"]);
      expect(new Set(names(figure))).toEqual(new Set([...shown, ...hidden]));
    }
    // 15 days before the five of the forecast; beyond the end the target ends with the table.
    expect(first!.data[1]!["x"]).toHaveLength(20);
    expect((beyond!.data[1]!["x"] as string[]).at(-1)).toBe("2022-02-04");
    expect(new Set(names(error!))).toEqual(new Set([...result.verdict!.baselines.map(({ name }) => name), "root mean square"]));
    expect(residuals!.data[0]!["x"]).toHaveLength(8 * 5);
    expect(calibration!.description).toContain(`90 %: ${Number((100 * result.bands!.covered).toFixed(1))} %`);
    expect(result.bands!.calibration.map(({ level }) => level)).toContain(0.5);
  });

  it.runIf(exhaustive)("has adaptive bands that follow a noise which grows, without a look at later rows", async () => {
    const noise = Array.from({ length: 600 }, (_, t) => (((t * 7919) % 1009) / 1009 - 0.5) * (t < 480 ? 1 : 4));
    const write = (name: string, values: readonly number[]) => writeFile(join(folder, name), `load\n${values.join("\n")}\n`);
    await write("grows.csv", noise);
    await write("later.csv", [...noise.slice(0, 560), ...noise.slice(560).map((value) => 9 * value + 5)]);
    const run = async (name: string, file: string, adaptive: boolean) => {
      const data = { file: join(folder, file), columns: [0] };
      const task = { ...described().task, starts: "auto" as const, adaptive };
      const { runFolder, text } = await lines(name, { data, split: { test: 120 }, task });
      const rows = text.trimEnd().split("\n").slice(1).map(cells);
      return { rows, bands: (await readRun(runFolder)).bands! };
    };
    const [split, adaptive, later] = [
      await run("split", "grows.csv", false),
      await run("adaptive", "grows.csv", true),
      await run("later", "later.csv", true),
    ];
    expect(split.bands.covered).toBeLessThan(0.5);
    expect(adaptive.bands.sentence).toMatch(/^adaptive bands of 90 % from \d+ starts hold/);
    expect(adaptive.bands.covered).toBeGreaterThan(split.bands.covered + 0.2);
    // Nothing is known before the first start, and after the last one every row is.
    expect(adaptive.rows.slice(0, 5)).toEqual(split.rows.slice(0, 5));
    expect(adaptive.rows.at(-1)).not.toEqual(split.rows.at(-1));
    const earlier = (rows: readonly string[][]) =>
      rows.filter(([start, step]) => Number(start) + Number(step) <= 560).map((row) => row.slice(0, 8));
    expect(earlier(later.rows).length).toBeGreaterThan(50);
    expect(earlier(later.rows)).toEqual(earlier(adaptive.rows));
  });

  it("has no adaptive bands of independent series or of a combination", async () => {
    const task = { ...described().task, adaptive: true, members: ["theta", "loop"] as const };
    const run = lines("never", { task, readout: undefined, washout: undefined });
    await expect(run).rejects.toThrow(/task.adaptive is true; it takes false with task.members/);
    const alone = { ...described().task, adaptive: true, independent: true };
    const drawn = lines("never", { data: { task: "mackeyGlass", length: 600 }, task: alone });
    await expect(drawn).rejects.toThrow(/task.adaptive is true; it takes false with task.independent/);
  });

  it("is the same bytes on the reference engine", async () => {
    expect((await lines("reference", {}, "reference")).text).toBe((await lines("cpu")).text);
  });

  it("says in the bands' place that there are too few starts for them", async () => {
    const { runFolder, text } = await lines("few", { task: { ...described().task, level: 0.99 } });
    expect((await readRun(runFolder)).bands!.sentence).toMatch(/^no bands: \d+ starts cannot give 99 %; 99 can$/);
    expect(cells(text.split("\n")[1]!).slice(6, 8)).toEqual(["", ""]);
  });

  it("counts rows if there are no time stamps, and quotes what a cell must", () => {
    const prediction = Matrix.from([[0.1], [Number.POSITIVE_INFINITY]]);
    expect(formatForecasts([{ start: "last", row: 7, prediction, group: 'a "b"' }], ["x,y"])).toBe(
      'group,start,step,time,column,target,prediction,lower,upper,baseline\n"a ""b""",last,1,7,"x,y",,0.1,,,\n"a ""b""",last,2,8,"x,y",,,,,\n',
    );
  });
});
