// The modules that a forecast passes from a file to its first number (docs/architecture.md, "How
// a forecast runs"), and how often they check its series and its readout options.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import "../../src/index.js";
import { runExperiment } from "../../src/experiment/index.js";
import { Forecaster, mackeyGlass } from "../../src/index.js";
import type { RidgeOptions } from "../../src/readout/index.js";

/** Lengths of the arrays of binary64 that were asked for values that are not finite. */
const scans: number[] = [];
vi.mock("../../packages/numerics/src/matrix.js", async (original) => {
  const real = await original<typeof import("../../packages/numerics/src/matrix.js")>();
  const firstNonFinite = (data: ArrayLike<number>) => {
    if (data instanceof Float64Array) scans.push(data.length);
    return real.firstNonFinite(data);
  };
  return { ...real, firstNonFinite };
});

/** The options of each trainer that was made. */
const made: (RidgeOptions | undefined)[] = [];
vi.mock("../../src/readout/ridge.js", async (original) => {
  const real = await original<typeof import("../../src/readout/ridge.js")>();
  const ridge = (options?: RidgeOptions) => {
    made.push(options);
    return real.ridge(options);
  };
  return { ...real, ridge };
});

const rows = 733;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-path-"));
  const series = mackeyGlass(rows);
  await writeFile(join(folder, "series.csv"), `x\n${Array.from(series.data).join("\n")}\n`);
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(() => {
  scans.length = 0;
});

async function forecast(reservoir = "{ size: 20 }", more = ""): Promise<void> {
  const path = join(folder, "forecast.yaml");
  const text = `name: path\ndata: { file: series.csv }\nreservoir: ${reservoir}\ntask: { type: forecast, horizon: 5, starts: 1 }\nsplit: { train: 617 }\noutputs: { report: false }\n${more}\n`;
  await writeFile(path, text);
  await runExperiment(path);
}

describe("the path of a forecast", () => {
  // No number of steps of 150 states has as many elements as the series has rows: how many steps are
  // scanned at once depends on the machine's load.
  it.each(["{ size: 150 }", "{ size: 150, precision: float64 }", "{ size: 150, feedback: {} }"])(
    "scans the series once, where it enters: %s",
    async (reservoir) => {
      await forecast(reservoir);
      expect(scans.filter((length) => length >= 617 && length <= rows)).toEqual([rows]);
    },
  );

  it("still asks a series that a program hands to a forecaster, and each rounding to float32", async () => {
    const series = mackeyGlass(rows);
    series.data[650] = Number.NaN;
    await expect(Forecaster.fit(series, { reservoir: { size: 5 } })).rejects.toThrow("series is NaN at row 650, column 0");
    series.data[650] = 1e300;
    const options = { reservoir: { size: 5 }, standardise: false };
    await expect(Forecaster.fit(series, options)).rejects.toThrow("beyond float32");
    await using forecaster = await Forecaster.fit(series.subarray(0, 600), options);
    series.data[100] = Number.NaN;
    await expect(forecaster.fit(series.subarray(0, 600))).rejects.toThrow("series is NaN at row 100");
  });

  it("makes the trainer of the readout once, when the file is checked", async () => {
    made.length = 0;
    await forecast(undefined, "seeds: 3\nreadout: { lambda: 0.01 }");
    expect(made).toEqual([{ lambda: 0.01 }]);
  });

  it("passes the modules that docs/architecture.md lists, at most nine, each handing on to the next", async () => {
    const text = await readFile("docs/architecture.md", "utf8");
    const list = text.slice(text.indexOf("## How a forecast runs")).split("\n## ")[0]!;
    const modules = Array.from(list.matchAll(/^\d+\. `([\w/-]+\.ts)`/gm), ([, module]) => module!);
    expect(modules[0]).toBe("experiment/runs/run.ts");
    expect(modules.length).toBeLessThanOrEqual(9);
    const names: Readonly<Record<string, RegExp>> = {
      "experiment/description/file.ts": /loadExperiment\(/,
      "experiment/data/data.ts": /loadData\(/,
      "experiment/tasks/run-task.ts": /runTask\(/,
      "experiment/tasks/forecast.ts": /runForecast\(/,
      "model/forecaster/forecaster.ts": /Forecaster\.fit\(/,
      "model/forecaster/reservoir-model.ts": /#model\.fit\(/,
      "model/forecaster/member.ts": /ForecasterMember\.fit\(/,
      "reservoir/computer.ts": /computer\.run\(/,
    };
    const sources = await Promise.all(modules.map((module) => readFile(join("src", module), "utf8")));
    for (const [k, module] of modules.entries())
      if (k > 0)
        expect(
          sources.slice(0, k).some((source) => names[module]?.test(source)),
          module,
        ).toBe(true);
  });
});
