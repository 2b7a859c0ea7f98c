import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import "../../src/index.js";
import { defaultSettings, type Lab, openLab, stateHash } from "../../src/lab/index.js";
import { coloursOf, openChromium, openPage, untilText } from "./chromium.js";

const hash = /^[0-9a-f]{64}$/;

describe("the lab in Chromium", () => {
  let browser: Browser;
  let lab: Lab;
  beforeAll(async () => {
    lab = await openLab({ page: fileURLToPath(new URL("../../dist/lab-page", import.meta.url)), engine: "cpu" });
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser.close();
    await lab.close();
  });

  it("gives the state hash that Node gives: the same bits in a browser", async () => {
    const { page, errors } = await openPage(browser, { width: 1400, height: 1000 });
    await page.goto(lab.url);
    expect(await untilText(page, "#hash", hash)).toBe(await stateHash(defaultSettings));
    expect(errors).toEqual([]);
    await page.close();
  });

  it("opens what a link holds, dense and noisy too, with the same bits", async () => {
    const settings = { ...defaultSettings, size: 40, connectionProbability: 0.9, noiseLevel: 0.05, signal: "lorenz", seed: 3 } as const;
    const { page, errors } = await openPage(browser, { width: 1000, height: 800 });
    await page.goto(`${lab.url}#size=40&connectionProbability=0.9&noiseLevel=0.05&signal=lorenz&seed=3`);
    expect(await untilText(page, "#hash", hash)).toBe(await stateHash(settings));
    expect(await page.inputValue('input[name="size"]')).toBe("40");
    expect(errors).toEqual([]);
    await page.close();
  });

  it.each([1400, 390])("draws every view at a width of %i", async (width) => {
    const { page, errors } = await openPage(browser, { width, height: 900 });
    await page.goto(lab.url);
    await untilText(page, "#capacity", /capacity \d/);
    await untilText(page, "#score", /follows/);
    await page.waitForTimeout(500);
    for (const view of ["heatmap", "raster", "trajectories", "spectrum", "memory", "forecast"]) {
      await page.locator(`#${view}`).scrollIntoViewIfNeeded();
      expect(await coloursOf(page, `#${view}`), view).toBeGreaterThan(view === "raster" ? 1 : 8);
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(errors).toEqual([]);
    await page.close();
  });

  it("follows a slider moved by the keyboard: new weights, new hash, new link, new YAML", async () => {
    const { page, errors } = await openPage(browser, { width: 1400, height: 1000 });
    await page.goto(`${lab.url}#size=50`);
    const before = await untilText(page, "#hash", hash);
    await page.focus('input[name="leakRate"]');
    await page.keyboard.press("ArrowRight");
    expect(await untilText(page, "#hash", hash, before)).toBe(await stateHash({ ...defaultSettings, size: 50, leakRate: 0.31 }));
    expect(page.url()).toContain("leakRate=0.31");
    expect(await page.textContent("#yaml")).toContain("leakRate: 0.31");
    expect(errors).toEqual([]);
    await page.close();
  });

  it("hands a large reservoir to the machine that serves the page", async () => {
    const { page, errors } = await openPage(browser, { width: 1400, height: 1000 });
    await page.goto(lab.url);
    await page.waitForSelector("#remote:not([hidden])");
    await page.fill("#remote-size", "400");
    await page.fill("#remote-steps", "2000");
    await page.click("#remote-run");
    expect(await untilText(page, "#remote-result", /steps a second/)).toContain(
      (await stateHash({ ...defaultSettings, size: 400 })).slice(0, 16),
    );
    expect(errors).toEqual([]);
    await page.close();
  });
});
