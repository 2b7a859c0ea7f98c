// Scores by class of a run: in result.json, the report and the terminal.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { classLines } from "../../src/cli/present.js";
import { readRun, runExperiment } from "../../src/experiment/index.js";
import { classResult } from "../../src/experiment/tasks/classes.js";
import "../../src/index.js";

let folder: string;
const slow = "<b>slow</b>";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-classes-"));
  const values = (b: number) =>
    Array.from({ length: 30 }, (_, t) => (Math.sin(t / (b % 2 === 0 ? 2 : 4) + b) + ((t * 7919 + b * 104_729) % 17) / 12).toFixed(3)).join(
      ",",
    );
  const cases = Array.from({ length: 60 }, (_, b) => `${values(b)}:${b % 2 === 0 ? "quick" : slow}`);
  const head = `@problemName waves\n@timeStamps false\n@univariate true\n@classLabel true quick ${slow}\n@data\n`;
  await writeFile(join(folder, "waves.ts"), `${head}${cases.join("\n")}\n`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const described = (more: object = {}) => ({
  name: "waves",
  data: { file: join(folder, "waves.ts") },
  reservoir: { size: 10 },
  task: "classify" as const,
  split: { train: 0.5 },
  seeds: [0, 1],
  ...more,
});

describe("scores by class", () => {
  it("count the test cases of all seeds, and stand in result.json, in the report and in a table", async () => {
    const { folder: runFolder, section } = await runExperiment(described(), { out: folder });
    const { classes, scores } = await readRun(runFolder);
    expect(classes!.classes.map(({ label, support }) => [label, support])).toEqual([
      ["quick", 30],
      [slow, 30],
    ]);
    expect(classes!.accuracy).toBeCloseTo(scores[0]!.mean, 12);
    expect(classes!.confusion.counts.flat().reduce((sum, count) => sum + count)).toBe(60);
    expect(section.table!.caption).toMatch(/^Scores by class, 2 seeds together; expected calibration error 0?\.?\d+/);
    expect(section.table!.lines.map(([name]) => name)).toEqual(["quick", slow, "mean over classes", "weighted by cases"]);
    expect(section.figures.map(({ title }) => title)).toContain("Reliability of the probabilities");
    expect(classLines(classes!).split("\n")).toHaveLength(5);
    const page = await readFile(join(runFolder, "report.html"), "utf8");
    expect(page).toContain("&#60;b&#62;slow&#60;/b&#62;</th>");
    expect(page).not.toContain(slow);
  });

  it("have no reliability if members vote by majority, whose classes are not those of their shares", async () => {
    const task = { type: "classify" as const, members: 3 };
    const { result } = await runExperiment(described({ task, seeds: [0], outputs: { report: false } }));
    expect(result.classes!.reliability).toBeUndefined();
    expect(result.classes!.confusion.counts.flat().reduce((sum, count) => sum + count)).toBe(30);
  });

  it("add up by name if a seed has a class more than another", () => {
    const { confusion } = classResult([
      {
        labels: ["a", "b"],
        counts: [
          [1, 2],
          [3, 4],
        ],
      },
      {
        labels: ["b", "none"],
        counts: [
          [5, 6],
          [0, 0],
        ],
      },
    ])!;
    expect(confusion).toEqual({
      labels: ["a", "b", "none"],
      counts: [
        [1, 2, 0],
        [3, 9, 6],
        [0, 0, 0],
      ],
    });
    expect(classResult([])).toBeUndefined();
  });

  it("are only the means in a terminal if there are very many classes", () => {
    const labels = Array.from({ length: 50 }, (_, k) => `class ${k}`);
    const counts = labels.map((_, i) => labels.map((__, j) => (i === j ? 1 : 0)));
    expect(classLines(classResult([{ labels, counts }])!).split("\n")).toHaveLength(3);
  });
});
