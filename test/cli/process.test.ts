import { existsSync } from "node:fs";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { casesOf, exhaustive } from "../exhaustive.js";
import { spillway as runHere } from "./in-process.js";
import { spillway as runCommand } from "./spillway.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-"));
});

const spillway = (args: readonly string[]) => runHere(args, { cwd: folder });
/** In a process of its own. */
const spillwayProcess = (args: readonly string[]) => runCommand(args, { cwd: folder });

const experiment = `name: small
data: { task: narma, length: 700 }
reservoir: { size: 30 }
task: predict
outputs: { report: false }
`;

describe("the command line", () => {
  it("prints its version without loading what runs reservoirs", async () => {
    const { version } = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
    expect(await spillwayProcess(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  it.each([[[]], [["run"]], [["demo"]], [["info"]], [["tasks"]], [["bench"]], [["schema"]]])(
    "explains %j with an example",
    async (command) => {
      const { code, stdout } = await spillway([...command, "--help"]);
      expect(code).toBe(0);
      expect(stdout).toMatch(/Examples?:\n {2}\$ spillway/);
    },
  );

  it("prints nothing of a file that a terminal would obey", async () => {
    const file = join(folder, "escapes.yaml");
    const source = '"\\e[2JSomebody\\x9b31m 2001"';
    await writeFile(file, `${experiment}published: [{ score: nrmse, value: 1, source: ${source} }]\n`);
    const { code, stdout } = await spillway(["run", file, "--out", join(folder, "escapes")]);
    expect(code).toBe(0);
    expect(stdout).toContain("\\u001b[2JSomebody\\u009b31m 2001");
    expect(/[\p{Cc}]/u.test(stdout.replaceAll("\n", ""))).toBe(false);
  });

  it("lists the tasks and their options", async () => {
    const { stdout } = await spillway(["tasks"]);
    expect(stdout).toMatch(/^mackeyGlass +series +Mackey-Glass 1977/m);
    expect((await spillway(["tasks", "lorenz"])).stdout).toMatch(/^sigma +10 +a finite number/m);
    const json = JSON.parse((await spillway(["tasks", "narma", "--json"])).stdout) as { name: string; options: { name: string }[] }[];
    expect(json[0]).toMatchObject({ name: "narma", kind: "driven" });
    expect(json[0]!.options.map(({ name }) => name)).toContain("order");
    expect(await spillway(["tasks", "lorentz"])).toMatchObject({
      code: 2,
      stderr:
        'spillway: task is "lorentz"; it takes one of mackeyGlass, narma, lorenz, rossler, lorenz96, henon, logistic, kuramotoSivashinsky, mso, multiscroll, doubleScroll, rabinovichFabrikant, memoryTask (did you mean lorenz?)\n',
    });
  });

  it("says which engines there are and why", async () => {
    expect((await spillway(["info"])).stdout).toMatch(/^ {2}cpu +available: WebAssembly SIMD/m);
    expect(JSON.parse((await spillway(["info", "--json"])).stdout)).toMatchObject({
      versions: { node: process.versions.node },
      engines: [
        { name: "cpu", status: { available: true } },
        { name: "cuda" },
        { name: "sim", status: { available: true } },
        { name: "reference" },
      ],
    });
  });

  it.runIf(exhaustive)("measures steps a second", async () => {
    const { stdout, code } = await spillwayProcess(["bench", "--json", "--quiet"]);
    expect(code).toBe(0);
    const { measurements } = JSON.parse(stdout) as {
      measurements: { size: number; kind: string; stepsPerSecond: number; fastest: number; microsecondsPerStep: number; slowest: number }[];
    };
    expect(measurements.map(({ size, kind }) => `${size} ${kind}`).slice(0, 6)).toEqual([
      "100 sparse",
      "300 sparse",
      "1000 sparse",
      "100 dense",
      "300 dense",
      "1000 dense",
    ]);
    for (const { fastest, microsecondsPerStep, slowest, stepsPerSecond } of measurements) {
      expect(fastest).toBeLessThanOrEqual(microsecondsPerStep);
      expect(microsecondsPerStep).toBeLessThanOrEqual(slowest);
      expect(stepsPerSecond * microsecondsPerStep).toBeCloseTo(1e6, 3);
    }
  });

  it("runs an experiment: progress on standard error, scores on standard output", async () => {
    await writeFile(join(folder, "small.yaml"), experiment);
    const { code, stdout, stderr } = await spillwayProcess(["run", "small.yaml"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^small: cpu engine/);
    expect(stderr).toMatch(/^small: 0%\n/);
    expect(existsSync(join(folder, "runs", "small", "result.json"))).toBe(true);
  });

  it("with --json and --quiet, prints JSON and nothing else", async () => {
    await writeFile(join(folder, "small.yaml"), experiment);
    const { stdout, stderr } = await spillway([
      "run",
      "small.yaml",
      "--json",
      "--quiet",
      "--engine",
      "reference",
      "--set",
      "reservoir.size=20",
      "--out",
      "other",
    ]);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject({
      engine: { name: "reference", reason: expect.stringContaining("asked for") },
      config: { reservoir: { size: 20 } },
    });
  });
});

describe("exit code 2", () => {
  beforeAll(async () => {
    await writeFile(join(folder, "small.yaml"), experiment);
    await writeFile(join(folder, "words.csv"), "a\n1\ntwo\n");
    await writeFile(join(folder, "file"), "");
  });

  it.each(
    casesOf(
      [
        ["an unknown command", ["rnu"], "unknown command 'rnu'"],
        ["no file", ["run"], "missing required argument 'file'"],
        ["an unknown option", ["run", "small.yaml", "--fast"], "unknown option '--fast'"],
        [
          "an unknown engine",
          ["run", "small.yaml", "--engine", "gpu"],
          'there is no engine of that name; it takes "auto", "cpu", "cuda", "cuda:1", "sim", "sim:1" or "reference" (did you mean "cpu"?)',
        ],
        ["no number of threads", ["run", "small.yaml", "--threads", "0"], "--threads is 0; it takes a whole number from 1 to 64"],
        ["a missing file", ["run", "smal.yaml"], "smal.yaml: no such file in"],
        [
          "an unknown field",
          ["run", "small.yaml", "--set", "reservoir.leakrate=1"],
          'small.yaml: with --set, unknown field "reservoir.leakrate": did you mean "leakRate"?',
        ],
        ["a text cell", ["run", "small.yaml", "--set", "data={file: words.csv}"], 'words.csv: row 3, column "a": "two" is not a number'],
        [
          "a washout as long as the training part",
          ["run", "small.yaml", "--set", "washout=560"],
          "washout is 560; it takes fewer than the 560 rows of the training part",
        ],
        ["another number of inputs", ["run", "small.yaml", "--set", "reservoir.inputSize=2"], "inputSize"],
        [
          "a folder that cannot be written",
          ["run", "small.yaml", "--out", "file"],
          "file: a file of that name is there already; a folder cannot replace it",
        ],
        [
          "a folder below a file",
          ["run", "small.yaml", "--out", "file/below"],
          "the folder cannot be made: a part of its path is a file, not a folder",
        ],
      ] as const,
      (_, k) => k % 4 === 0,
    ),
  )("for %s", async (_, args, sentence) => {
    const { code, stdout, stderr } = await spillway(args);
    expect(stderr).toContain(sentence);
    expect(stderr).toMatch(/^(small: \d+%\n)*spillway: /);
    expect(stderr).not.toMatch(/\n {4}at /);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});

describe("exit code 1", () => {
  it("for what failed: states that leave for infinity", async () => {
    await writeFile(join(folder, "small.yaml"), experiment);
    const { code, stderr } = await spillwayProcess([
      "run",
      "small.yaml",
      "--quiet",
      "--set",
      "reservoir.activation=identity",
      "--set",
      "reservoir.spectralRadius=9",
    ]);
    expect(stderr).toMatch(/^spillway: the state is not finite after step/);
    expect(code).toBe(1);
  });
});
