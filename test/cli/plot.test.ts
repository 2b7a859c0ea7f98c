// `spillway plot`: the files that it writes, and what it says.
import "../../src/index.js";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { formatForecasts } from "../../src/experiment/runs/forecasts-file.js";
import { casesOf } from "../exhaustive.js";
import { spillway } from "./in-process.js";

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "spillway-plot-"));
  const series = Matrix.from(Array.from({ length: 3 }, (_, t) => [t]));
  const baselines = [{ name: "<i>naive</i>", prediction: series }];
  const text = formatForecasts(
    [0, 3].map((row) => ({ start: row, row, target: series, prediction: series, baselines })),
    ["</script><b>"],
  );
  await writeFile(join(cwd, "forecasts.csv"), text);
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

describe("spillway plot", () => {
  it("writes an image a figure and one page, in which no name is markup", async () => {
    const ended = await spillway(["plot", "forecasts.csv", "--start", "3", "--theme", "dark", "--width-mm", "85"], { cwd });
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    const names = ["1-forecast-from-row-3.svg", "2-error-by-step-of-the-forecast.svg", "3-residuals-of-the-forecasts.svg", "figures.html"];
    expect((await readdir(join(cwd, "figures"))).sort()).toEqual(names);
    for (const name of names) {
      expect(ended.stdout).toContain(join("figures", name));
      const text = await readFile(join(cwd, "figures", name), "utf8");
      expect(text).not.toMatch(/<\/script><b>|<i>naive/);
      if (name.endsWith(".svg")) {
        expect(text).toContain('fill="#12181e"');
        expect(text).toContain('width="85mm" height="63.75mm"');
      }
    }
  });

  it("replaces a link of the name of a figure, and leaves what it names", async () => {
    await writeFile(join(cwd, "kept.txt"), "kept");
    await mkdir(join(cwd, "linked"));
    await symlink(join(cwd, "kept.txt"), join(cwd, "linked", "figures.html"));
    expect(await spillway(["plot", "forecasts.csv", "--format", "html", "--out", "linked"], { cwd })).toMatchObject({ code: 0 });
    expect(await readFile(join(cwd, "kept.txt"), "utf8")).toBe("kept");
    expect(await readFile(join(cwd, "linked", "figures.html"), "utf8")).toContain("<html");
  });

  it("writes through a link to a folder only if it is asked for by name", async () => {
    await mkdir(join(cwd, "elsewhere"));
    await symlink(join(cwd, "elsewhere"), join(cwd, "run-of-others"));
    await mkdir(join(cwd, "received"));
    await writeFile(join(cwd, "received", "forecasts.csv"), await readFile(join(cwd, "forecasts.csv")));
    await symlink(join(cwd, "elsewhere"), join(cwd, "received", "figures"));
    const { code, stderr } = await spillway(["plot", "received/forecasts.csv", "--format", "html"], { cwd });
    expect(stderr).toContain(`spillway: ${join("received", "figures")}: that is a link to another folder`);
    expect([code, await readdir(join(cwd, "elsewhere"))]).toEqual([2, []]);
    expect(await spillway(["plot", "forecasts.csv", "--format", "html", "--out", "run-of-others"], { cwd })).toMatchObject({ code: 0 });
    expect(await readdir(join(cwd, "elsewhere"))).toEqual(["figures.html"]);
  });

  it("writes what is asked for where it is asked for, and says it as JSON", async () => {
    const { stdout } = await spillway(["plot", "forecasts.csv", "--format", "html", "--out", "here", "--json"], { cwd });
    const { files, figures } = JSON.parse(stdout) as { files: string[]; figures: { title: string }[] };
    expect(files).toEqual([join("here", "figures.html")]);
    expect(figures).toHaveLength(3);
  });

  it.each(
    casesOf(
      [
        [["none"], "spillway: none: no run of this name, here or in runs, and no such file"],
        [
          ["forecasts.csv", "--start", "4"],
          'spillway: start is "4"; it takes a row, the time stamp of a first row, or last: forecasts.csv has "0", "3"',
        ],
        [
          ["forecasts.csv", "--width", "300", "--width-mm", "85"],
          "spillway: widthMm is 85; it takes no value beside width, which is 300: a length is in one unit",
        ],
      ] as const,
      (_, k) => k === 0,
    ),
  )("%j is refused in a sentence", async (args, sentence) => {
    const ended = await spillway(["plot", ...args], { cwd });
    expect(ended.code).toBe(2);
    expect(ended.stderr.trim()).toBe(sentence);
  });
});
