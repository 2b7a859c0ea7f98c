// What `spillway bench --out` writes: the numbers, and a page that shows them. No test asks how
// fast anything is.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bench } from "../../src/cli/commands/bench.js";
import type { GpuBenchResult } from "../../src/cli/commands/bench-gpus.js";
import { type BenchResult, benchSection, plotStepTimes } from "../../src/cli/commands/bench-report.js";
import { silent } from "../../src/cli/progress.js";
import { spillway } from "./spillway.js";

const measured = (size: number, kind: "sparse" | "dense", microsecondsPerStep: number) => ({
  size,
  kind,
  precision: "float32" as const,
  stepsPerSecond: 1e6 / microsecondsPerStep,
  microsecondsPerStep,
  fastest: microsecondsPerStep - 1,
  slowest: microsecondsPerStep + 2,
  repetitions: 7,
});
const numbers = ({ bdata }: { bdata: string }) => [...new Float64Array(Uint8Array.from(Buffer.from(bdata, "base64")).buffer)];

describe("the figure of a bench", () => {
  const figure = plotStepTimes([measured(100, "sparse", 2), measured(300, "sparse", 5), measured(100, "dense", 4)], "float32");

  it("has a line for each kind of weights, by size, with bars from the fastest to the slowest", () => {
    expect(figure.data.map(({ name }) => name)).toEqual(["sparse, p = 0.1", "dense"]);
    const [sparse] = figure.data as unknown as [Record<string, { bdata: string }> & { error_y: Record<string, { bdata: string }> }];
    expect(numbers(sparse["x"]!)).toEqual([100, 300]);
    expect(numbers(sparse["y"]!)).toEqual([2, 5]);
    expect(numbers(sparse.error_y["arrayminus"]!)).toEqual([1, 1]);
    expect(numbers(sparse.error_y["array"]!)).toEqual([2, 2]);
  });

  it("says the same in words", () => {
    expect(figure.description).toBe("sparse, p = 0.1: 2 µs at N = 100, 5 µs at N = 300; dense: 4 µs at N = 100.");
  });
});

describe("spillway bench --out", () => {
  it("says before it measures that its folder cannot be made", async () => {
    const file = fileURLToPath(import.meta.url);
    const progress = { ...silent, begin: () => expect.unreachable("it measures") };
    await expect(bench({ engine: "cpu", out: file }, progress)).rejects.toThrow(
      "a file of that name is there already; a folder cannot replace it",
    );
  });

  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "spillway-bench-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("writes the numbers and a page that names engine, reason and machine", async () => {
    const text = await bench({ engine: "cpu", out: folder }, silent);
    expect(text.split("\n").at(-1)).toBe(`report: ${join(folder, "bench.html")}`);
    expect((await readdir(folder)).sort()).toEqual(["bench.html", "bench.json"]);
    const result = JSON.parse(await readFile(join(folder, "bench.json"), "utf8")) as BenchResult;
    expect(result.measurements).toHaveLength(12);
    expect(result.engines).toEqual([expect.stringMatching(/^cpu \(.+\)$/)]);
    const section = benchSection(result);
    expect(section.facts.map(([label]) => label)).toEqual(["machine", "engine", "threads", "repetitions", "versions"]);
    expect(section.figures.map(({ title }) => title)).toEqual(["Time of a step, float32", "Time of a step, float64"]);
    const page = await readFile(join(folder, "bench.html"), "utf8");
    expect(page).toContain("<caption>All measurements</caption>");
    for (const [, value] of section.facts) expect(page).toContain(value.split(/[(&'"]/)[0]);
  });
});

describe("spillway bench --gpus", () => {
  const options = { cwd: tmpdir(), env: { SPILLWAY_SIM_DEVICES: "2" } };

  it("has one device beside several, for one reservoir and for an ensemble", async () => {
    const { code, stdout } = await spillway(["bench", "--gpus", "--engine", "sim:all", "--sizes", "16", "--json", "--quiet"], options);
    expect(code).toBe(0);
    const { devices, measurements } = JSON.parse(stdout) as GpuBenchResult;
    expect(devices).toEqual(["Spillway simulated device", "Spillway simulated device 1"]);
    expect(measurements.map(({ work, size, members, devices: count, plan }) => [work, size, members, count, plan])).toEqual([
      ["one reservoir", 16, 1, 1, expect.any(String)],
      ["one reservoir", 16, 1, 2, expect.any(String)],
      ["ensemble", 1, 64, 1, "together"],
      ["ensemble", 1, 64, 2, "distributed"],
    ]);
    for (const [k, { timesOneDevice, microsecondsPerStep }] of measurements.entries())
      expect(timesOneDevice).toBeCloseTo(measurements[k & ~1]!.microsecondsPerStep / microsecondsPerStep, 12);
  });

  it.each([
    [["--engine", "sim:0"], '--gpus compares several devices; "sim:0" names one, Spillway simulated device'],
    [["--engine", "cpu"], 'there is no device "cpu"'],
    [["--sizes", "16,many"], '--sizes[1] is "many"; it takes a whole number of at least 1'],
  ])("%j: %s", async (flags, sentence) => {
    const { code, stderr } = await spillway(["bench", "--gpus", ...flags], options);
    expect(code).not.toBe(0);
    expect(stderr).toContain(sentence);
  });
});
