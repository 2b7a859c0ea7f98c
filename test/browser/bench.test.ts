// The page of `spillway bench --out`, and the figure of where a run's time went, in Chromium.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BenchResult } from "../../src/cli/commands/bench-report.js";
import { benchSection } from "../../src/cli/commands/bench-report.js";
import { timingFigure } from "../../src/experiment/report/timing-figure.js";
import { reportHtml } from "../../src/plot/index.js";
import { coloursOf, openChromium, openPage } from "./chromium.js";

const measurements = (["float32", "float64"] as const).flatMap((precision) =>
  (["sparse", "dense"] as const).flatMap((kind) =>
    [100, 300, 1000].map((size) => {
      const microsecondsPerStep = size * (kind === "dense" ? size / 2e4 : 0.02);
      const spread = { fastest: microsecondsPerStep * 0.9, slowest: microsecondsPerStep * 1.5 };
      return { size, kind, precision, stepsPerSecond: 1e6 / microsecondsPerStep, microsecondsPerStep, ...spread, repetitions: 7 };
    }),
  ),
);
const result: BenchResult = {
  versions: { spillway: "0.1.0" },
  machine: { system: "Linux", architecture: "x64", processor: "a processor", processors: 2, memoryBytes: 2 ** 34 },
  engines: ["cpu (it was asked for)"],
  threads: 1,
  measurements,
};

describe("the page of a bench in Chromium", () => {
  let browser: Browser;
  let folder: string;
  beforeAll(async () => {
    browser = await openChromium();
    folder = await mkdtemp(join(tmpdir(), "spillway-bench-"));
  });
  afterAll(async () => {
    await browser.close();
    await rm(folder, { recursive: true });
  });

  it.each([1400, 390])("shows engine, figures and all numbers without scrolling sideways, %i pixels wide", async (width) => {
    const section = benchSection(result);
    const figures = [...section.figures, timingFigure({ data: 1, train: 5, test: 2, total: 9 })!];
    const file = join(folder, "bench.html");
    await writeFile(file, await reportHtml({ title: "Spillway bench", sections: [{ ...section, figures }] }));
    const { page, errors } = await openPage(browser, { width, height: 1000 });
    await page.goto(pathToFileURL(file).href);
    await page.waitForFunction((count) => document.querySelectorAll(".plot .main-svg").length >= count, figures.length);
    for (const k of figures.keys()) expect(await coloursOf(page, `#figure-${k}`), figures[k]!.title).toBeGreaterThan(20);
    expect(await page.locator("#figure-0 .errorbar").count()).toBe(6);
    expect(await page.locator("#figure-2 .bars .point").count()).toBe(4);
    expect(await page.locator("table tbody tr").count()).toBe(12);
    expect(await page.locator(".facts").textContent()).toContain("cpu (it was asked for)");
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(errors).toEqual([]);
    await page.close();
  });
});
