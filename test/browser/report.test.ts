import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { memoryCapacity, spectrum } from "../../src/analysis/index.js";
import "../../src/index.js";
import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import {
  plotConfusion,
  plotError,
  plotForecast,
  plotMemoryCapacity,
  plotPhaseSpace,
  plotSpectrum,
  plotSpikeRaster,
  plotStateHeatmap,
  plotTrajectories,
  reportHtml,
  toImage,
} from "../../src/plot/index.js";
import { ReservoirComputer } from "../../src/reservoir/index.js";
import { lorenz, mackeyGlass } from "../../src/tasks/index.js";
import { coloursOf, openChromium, openPage } from "./chromium.js";

/** 1,000,000 points of series, and as many spikes. */
const points = 1_000_000;

async function figures(rows: number) {
  const series = mackeyGlass(2000);
  await using computer = await ReservoirComputer.create({ size: 100, bias: 0.2, inputScaling: 0.5, seed: 1 });
  const states = await computer.run(series);
  const long = Matrix.zeros(rows, 1);
  const near = Matrix.zeros(rows, 1);
  const draws = new RandomStream(seedKeys("report").weights, 41);
  const times = new Float64Array(rows);
  const neurons = new Uint32Array(rows);
  for (let t = 0; t < rows; t++) {
    long.data[t] = Math.sin(t / 50) + 0.3 * Math.sin(t / 7919);
    near.data[t] = long.data[t]! + 0.05 * draws.uniform(0, t);
    times[t] = (t * 10_000) / rows;
    neurons[t] = Math.floor(1000 * draws.uniform(1, t));
  }
  return [
    plotForecast(near, long),
    plotError([near], [long]),
    plotSpikeRaster({ times, neurons, durationMs: 10_000, neuronCount: 1000 }),
    plotStateHeatmap(states),
    plotTrajectories(states),
    plotPhaseSpace(states),
    plotSpectrum({ ...(await spectrum({ size: 100, inputSize: 1, seed: 1 })) }),
    plotMemoryCapacity(await memoryCapacity({ size: 20, seed: 1 }, { maxDelay: 40, length: 500, heldOut: 300 })),
    plotConfusion(
      [
        [8, 1],
        [0, 9],
      ],
      ["a", "b"],
    ),
  ];
}

const section = (list: Awaited<ReturnType<typeof figures>>) => ({
  title: "a run",
  facts: [["engine", "cpu"]] as const,
  scores: [{ metric: "nrmse", value: 0.01, published: { value: 0.02, source: "someone" }, better: "lower" as const }],
  figures: list,
});

/** Waits until plotly has drawn so many panels. */
async function drawn(page: Page, count: number): Promise<void> {
  await page.waitForFunction((wanted) => document.querySelectorAll(".plot .main-svg").length >= wanted, count);
}

describe("a report in Chromium", () => {
  let browser: Browser;
  let folder: string;
  beforeAll(async () => {
    browser = await openChromium();
    folder = await mkdtemp(join(tmpdir(), "spillway-report-"));
  });
  afterAll(async () => {
    await browser.close();
    await rm(folder, { recursive: true });
  });
  const put = async (name: string, html: string) => {
    await writeFile(join(folder, name), html);
    return pathToFileURL(join(folder, name)).href;
  };

  it.each([
    [1400, "light"],
    [390, "dark"],
  ] as const)("draws every panel of a million points in at most 10 MB, %i pixels wide, %s", async (width, scheme) => {
    const list = await figures(points);
    const url = await put("large.html", await reportHtml({ title: "A large run", sections: [section(list)] }));
    expect((await stat(join(folder, "large.html"))).size).toBeLessThanOrEqual(10e6);
    const { page, errors } = await openPage(browser, { width, height: 1000 });
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto(url);
    await drawn(page, list.length);
    for (let k = 0; k < list.length; k++) {
      await page.locator(`#figure-${k}`).scrollIntoViewIfNeeded();
      expect(await coloursOf(page, `#figure-${k}`), list[k]!.title).toBeGreaterThan(20);
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(errors).toEqual([]);
    const images = process.env["SPILLWAY_SCREENSHOTS"];
    if (images) {
      await mkdir(images, { recursive: true });
      await page.screenshot({ path: join(images, `report-${width}.png`), fullPage: true });
    }
    await page.close();
  });

  it("zooms into an axis, hides a line by its legend, and shows single spikes when few are in view", async () => {
    const list = await figures(100_000);
    const url = await put("small.html", await reportHtml({ title: "A run", sections: [section(list)] }));
    const { page, errors } = await openPage(browser, { width: 1400, height: 1000 });
    await page.goto(url);
    await drawn(page, list.length);
    const range = () =>
      page.evaluate(
        () => (document.getElementById("figure-0") as never as { _fullLayout: { xaxis: { range: number[] } } })._fullLayout.xaxis.range,
      );
    const extent = ([from, to]: readonly number[]) => to! - from!;
    const before = await range();
    const box = (await page.locator("#figure-0 .nsewdrag").first().boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2, { steps: 5 });
    await page.mouse.up();
    await expect.poll(async () => extent(await range()), { timeout: 10_000 }).toBeLessThan(0.5 * extent(before));

    await page.locator("#figure-0 .legendtoggle").first().click();
    await page.waitForFunction(
      () => (document.getElementById("figure-0") as never as { data: { visible?: string }[] }).data[0]!.visible === "legendonly",
    );

    const traces = () =>
      page.evaluate(() =>
        (document.getElementById("figure-2") as never as { data: { type: string; x: number[] }[] }).data.map(({ type, x }) => [
          type,
          x?.length,
        ]),
      );
    expect(await traces()).toHaveLength(1);
    await page.evaluate(() =>
      (globalThis as never as { Plotly: { relayout(id: string, to: object): Promise<void> } }).Plotly.relayout("figure-2", {
        "xaxis.range": [0, 1000],
        "yaxis.range": [0, 500],
      }),
    );
    await page.waitForFunction(() => (document.getElementById("figure-2") as never as { data: unknown[] }).data.length === 2);
    const [, spikes] = await traces();
    expect(spikes![0]).toBe("scatter");
    // A tenth of the time and half of the neurons of 100,000 spikes: about 5000.
    expect(spikes![1] as number).toBeGreaterThan(4500);
    expect(spikes![1] as number).toBeLessThan(5500);
    expect(errors).toEqual([]);
    await page.close();
  });

  it.each([
    [390, 4],
    [1400, 7],
  ])("sets few stamps that are no ISO dates along an axis, at %d pixels", async (width, most) => {
    const times = Array.from(
      { length: 200 },
      (_, h) => `${String(1 + Math.floor(h / 24)).padStart(2, "0")}.05.2023 ${String(h % 24).padStart(2, "0")}:00`,
    );
    const line = Matrix.from(times.map((_, h) => [Math.sin(h / 4)]));
    const figure = plotForecast(line, line, { times });
    const url = await put("stamps.html", await reportHtml({ title: "Stamps", sections: [section([figure])] }));
    const { page, errors } = await openPage(browser, { width, height: 900 });
    await page.goto(url);
    await drawn(page, 1);
    const labels = await page.locator("#figure-0 .xtick text").allTextContents();
    expect(labels.length).toBeGreaterThan(1);
    expect(labels.length).toBeLessThanOrEqual(most);
    expect(labels.every((label) => times.includes(label))).toBe(true);
    expect(errors).toEqual([]);
    await page.close();
  });

  it("turns three dimensions in a view of its own", async () => {
    const figure = plotPhaseSpace(lorenz(3000), { dimensions: 3 });
    const url = await put("turn.html", await reportHtml({ title: "Lorenz", sections: [section([figure])] }));
    const { page, errors } = await openPage(browser, { width: 900, height: 800 });
    await page.goto(url);
    await page.waitForSelector("#figure-0 canvas");
    await expect.poll(() => coloursOf(page, "#figure-0"), { timeout: 30_000 }).toBeGreaterThan(20);
    expect(errors.filter((error) => !/GPU stall|GL Driver/.test(error))).toEqual([]);
    await page.close();
  });

  it("gives a PNG of the size that is asked for", async () => {
    const { bytes, renderer } = await toImage(plotForecast([[1], [2]], [[1], [2]]), { format: "png", width: 300, height: 200, scale: 2 });
    expect(renderer).toBe("chromium");
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    expect([view.getUint32(16), view.getUint32(20)]).toEqual([600, 400]);
  });
});
