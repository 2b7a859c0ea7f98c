import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import "../../src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { defaultSettings, type Lab, openLab, stateHash } from "../../src/lab/index.js";
import { measure } from "../../src/lab/measures.js";
import { defaultChoices } from "../../src/lab/own-data.js";
import { readOwnSeries } from "../../src/lab/own-series.js";
import { hasEffect, type NumericSetting, ranges, secondFromLink, settingsFromLink, topologyNames } from "../../src/lab/settings.js";
import { driveOf } from "../../src/lab/signal.js";
import { registerTopology, sparseFromRows } from "../../src/reservoir/index.js";
import { registerTask } from "../../src/tasks/index.js";
import { coloursOf, dropFile, openChromium, openPage, untilText } from "./chromium.js";

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

  it.each([1400, 390])("draws every view with its axes at a width of %i", async (width) => {
    const { page, errors } = await openPage(browser, { width, height: 844 });
    await page.addInitScript(recordTexts);
    await page.goto(lab.url);
    await untilText(page, "#capacity", /capacity \d/);
    await untilText(page, "#score", /follows/);
    for (const [view, [x, y, ...ticks]] of Object.entries(axes)) {
      await page.locator(`#${view}`).scrollIntoViewIfNeeded();
      await expect.poll(() => coloursOf(page, `#${view}`), { message: view, timeout: 10_000 }).toBeGreaterThan(8);
      const texts = await page.evaluate((id) => [...(globalThis as unknown as Recorded).texts.get(id)!], view);
      for (const text of [x, y, ...ticks]) expect(texts, view).toContain(text);
      expect(await page.getAttribute(`#${view}`, "aria-label")).toMatch(/\w{4}/);
    }
    expect(await page.getAttribute("#spectrum", "aria-label")).toBe("Eigenvalues of W: spectral radius 0.950");
    expect(await page.locator("#trajectories-legend li").allTextContents()).toEqual([
      "input",
      ...[0, 50, 100, 150, 200, 250].map((neuron) => `neuron ${neuron}`),
    ]);
    expect(await page.locator("#forecast-legend li").allTextContents()).toEqual(["series", "reservoir, going on by itself"]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(errors).toEqual([]);
    await page.close();
  });

  it.each(topologyNames().slice(1))("turns to the topology %s", async (topology) => {
    const { page, errors } = await openPage(browser, { width: 1000, height: 800 });
    await page.goto(`${lab.url}#size=20`);
    const before = await untilText(page, "#hash", hash);
    await page.selectOption('select[name="topology"]', topology);
    const shownHash = await untilText(page, "#hash", hash, before);
    await untilText(page, "#capacity", /capacity/);
    const settings = settingsFromLink(new URL(page.url()).hash);
    expect(settings).toEqual({ ...defaultSettings, size: 20, topology });
    expect(shownHash).toBe(await stateHash(settings));
    const shown = await page
      .locator('#controls input[type="range"]:visible')
      .evaluateAll((all) => all.map((one) => (one as HTMLInputElement).name));
    expect(shown).toEqual(Object.keys(ranges).filter((name) => hasEffect(name as NumericSetting, topology)));
    expect(errors).toEqual([]);
    await page.close();
  });

  it("on a phone shows the pictures first, and controls that cover none of them", async () => {
    const { page, errors } = await openPage(browser, { width: 390, height: 844 });
    await page.goto(`${lab.url}#size=50`);
    await untilText(page, "#capacity", /capacity/);
    const box = async (selector: string) => (await page.locator(selector).boundingBox())!;
    expect((await box("#heatmap")).y).toBeLessThan(200);
    expect(await page.isVisible("#controls")).toBe(false);
    await page.click("#drawer");
    expect(await page.getAttribute("#drawer", "aria-expanded")).toBe("true");
    const [pictures, panel] = [await box("main"), await box("#panel")];
    expect(pictures.y + pictures.height).toBeLessThanOrEqual(panel.y + 1);
    expect(panel.y + panel.height).toBeLessThanOrEqual(845);
    for (const view of Object.keys(axes)) {
      await page.locator(`figure:has(#${view})`).evaluate((one) => one.scrollIntoView());
      expect(await topmostIs(page, `#${view}`), view).toBe(true);
    }
    for (const name of ["seed", "leakRate"]) {
      await page.locator(`input[name="${name}"]`).scrollIntoViewIfNeeded();
      expect(await topmostIs(page, `input[name="${name}"]`), name).toBe(true);
    }
    await page.locator("#own summary").scrollIntoViewIfNeeded();
    expect(await topmostIs(page, "#own summary")).toBe(true);
    expect(errors).toEqual([]);
    await page.close();
  });

  it("on a phone shows picture and slider together while one drags, and draws what the slider says", async () => {
    const { page, errors } = await openPage(browser, { width: 390, height: 844 });
    await page.goto(`${lab.url}#size=50&signal=narma`);
    await untilText(page, "#capacity", /capacity/);
    await page.click("#drawer");
    for (const [view, name] of [
      ["forecast", "leakRate"],
      ["memory", "inputScaling"],
      ["spectrum", "spectralRadius"],
    ] as const) {
      const slider = page.locator(`input[name="${name}"]`);
      await page.locator(`figure:has(#${view})`).evaluate((one) => one.scrollIntoView());
      await slider.scrollIntoViewIfNeeded();
      const { x, y, width, height } = (await slider.boundingBox())!;
      const [before, words] = [await slider.inputValue(), await page.getAttribute(`#${view}`, "aria-label")];
      await page.mouse.move(x + width / 2, y + height / 2);
      await page.mouse.down();
      for (const at of [0.4, 0.3, 0.2]) {
        await page.mouse.move(x + at * width, y + height / 2, { steps: 3 });
        expect(await notWholeInView(page, [`#${view}`, `input[name="${name}"]`]), view).toEqual([]);
      }
      // The finger rests: the picture follows before it is lifted.
      await expect.poll(() => page.getAttribute(`#${view}`, "aria-label"), { timeout: 10_000 }).not.toBe(words);
      expect(await notWholeInView(page, [`#${view}`, `input[name="${name}"]`]), view).toEqual([]);
      await page.mouse.up();
      expect(await slider.inputValue()).not.toBe(before);
      await untilText(page, "#capacity", /capacity/);
    }
    expect(errors).toEqual([]);
    await page.close();
  });

  it.each([1280, 390])(
    "is walked by Tab in the order of the page, every control named, seen and marked, at a width of %i",
    async (width) => {
      const { page, errors } = await openPage(browser, { width, height: 844 });
      await page.goto(`${lab.url}#size=50`);
      await page.waitForSelector("#remote:not([hidden])");
      if (width < 760) await page.click("#drawer");
      await page.click("#own summary");
      await page.setInputFiles("#own-file", csv("wave.csv", wave));
      await untilText(page, "#own-summary", /wave/);
      await untilText(page, "#capacity", /capacity/);
      await page.evaluate(numberControls);
      const count = await page.locator("[data-tab]").count();
      expect(count).toBeGreaterThan(35);
      await page.focus("[data-tab]");
      for (const key of ["Tab", "Shift+Tab"]) await page.keyboard.press(key);
      for (let k = 0; k < count; k++) {
        if (k > 0) await page.keyboard.press("Tab");
        const reached = await page.evaluate(focused);
        expect(reached).toEqual({ what: reached.what, number: String(k), marked: true, visible: true });
      }
      for (const { role, name } of await accessibleNodes(page)) expect(name, role).toMatch(/\w{3}/);
      expect(errors).toEqual([]);
      await page.close();
    },
  );

  it("tells a screen reader the results once they are there, and each picture in words", async () => {
    const { page } = await openPage(browser, { width: 1280, height: 900 });
    await page.goto(`${lab.url}#size=50`);
    const told = await untilText(page, "#results", /capacity/);
    expect(told).toMatch(/^follows for \d+ of 400 steps; spectral radius 0\.950; capacity [\d.]+ steps$/);
    await page.focus('input[name="leakRate"]');
    await page.keyboard.press("End");
    expect(await untilText(page, "#results", /capacity/, told)).toMatch(/follows/);
    const live = await page
      .locator('[role="status"], [role="alert"], output')
      .evaluateAll((all) => all.filter((one) => one.ariaLive !== "off").map(({ id }) => id));
    expect(live.sort()).toEqual([
      "copied",
      "map-point",
      "map-problem",
      "own-problem",
      "own-summary",
      "remote-result",
      "results",
      "status",
      "status-second",
    ]);
    await page.close();
  });

  it("takes what the readout sees: other forecasts from the same states", async () => {
    const { page, errors } = await openPage(browser, { width: 1400, height: 1000 });
    await page.goto(`${lab.url}#size=50&signal=lorenz`);
    const states = await untilText(page, "#hash", hash);
    const scores = new Set([await untilText(page, "#score", /follows/)]);
    for (const transform of ["squareHalf", "squares"]) {
      await page.selectOption('select[name="transform"]', transform);
      scores.add(await untilText(page, "#score", /follows/, [...scores].at(-1)));
      expect(await page.textContent("#yaml")).toContain(`transform: ${transform}`);
    }
    await page.check('input[name="readInput"]');
    scores.add(await untilText(page, "#score", /follows/, [...scores].at(-1)));
    expect(await page.textContent("#yaml")).toContain("input: true");
    expect(page.url()).toContain("transform=squares&readInput=true");
    expect(scores.size).toBe(4);
    expect(await untilText(page, "#hash", hash)).toBe(states);
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

  it("takes the readout's lambda: another forecast from the same states", async () => {
    const { page, errors } = await openPage(browser, { width: 1400, height: 1000 });
    await page.goto(`${lab.url}#size=50&signal=narma`);
    const before = await untilText(page, "#score", /NRMSE/);
    const states = await untilText(page, "#hash", hash);
    await page.focus('input[name="lambdaExponent"]');
    await page.keyboard.press("End");
    expect(await untilText(page, "#score", /NRMSE/, before)).toMatch(/NRMSE/);
    expect(await untilText(page, "#hash", hash)).toBe(states);
    expect(await page.textContent("#yaml")).toContain("lambda: 100");
    expect(page.url()).toContain("lambdaExponent=2");
    expect(errors).toEqual([]);
    await page.close();
  });

  it("shows two settings side by side over the same data, and compares their errors", async () => {
    const { page, errors } = await openPage(browser, { width: 1400, height: 1000 });
    await page.goto(`${lab.url}#size=50&signal=lorenz`);
    await untilText(page, "#results", /capacity/);
    await page.click("#compare");
    const second = (name: string) => page.locator(`#controls-second [name="${name}"]`);
    await page.waitForSelector('#pictures[aria-busy="false"]');
    expect(await cells(page)).toHaveLength(6);
    for (const [words, a, b, difference] of await cells(page)) expect([b, difference!.replace(/[.0]/g, "")], words).toEqual([a, ""]);
    await second("size").fill("80");
    await second("leakRate").fill("0.6");
    await page.waitForSelector('#pictures[aria-busy="true"]');
    await page.waitForSelector('#pictures[aria-busy="false"]');
    const first = { ...defaultSettings, size: 50, signal: "lorenz" } as const;
    const other = { ...first, size: 80, leakRate: 0.6 };
    const [mine, its] = [await measure("forecast", { settings: first }), await measure("forecast", { settings: other })];
    if (mine.kind !== "forecast" || its.kind !== "forecast") throw new Error("no forecasts");
    const shown = await cells(page);
    expect(shown[0]).toEqual([
      "error of the forecast (NRMSE)",
      mine.score.toFixed(4),
      its.score.toFixed(4),
      expect.stringMatching(/^[+-]\d+\.\d{4}$/),
    ]);
    expect(Number(shown[0]![3])).toBeCloseTo(its.score - mine.score, 3);
    expect(shown[1]!.slice(1, 3)).toEqual([String(mine.follows), String(its.follows)]);
    expect(shown[4]).toEqual(["neurons", "50", "80", "+30"]);
    expect(await page.textContent("#results")).toMatch(/^A: follows.*\. B: follows/);
    for (const view of Object.keys(axes)) {
      const [a, b] = [(await page.locator(`#${view}`).boundingBox())!, (await page.locator(`#${view}-second`).boundingBox())!];
      expect([b.y, b.x > a.x + a.width], view).toEqual([a.y, true]);
    }
    // The same data for both.
    expect(await second("signal").count()).toBe(0);
    await page.selectOption('#controls select[name="signal"]', "mso");
    await expect.poll(() => secondFromLink(new URL(page.url()).hash)).toEqual({ ...other, signal: "mso" });
    const link = page.url();
    await page.click("#swap");
    await expect.poll(() => settingsFromLink(new URL(page.url()).hash)).toEqual({ ...other, signal: "mso" });
    await page.waitForSelector('#pictures[aria-busy="false"]');
    await page.click("#compare");
    expect(await page.locator("canvas").count()).toBe(6);
    expect(page.url()).not.toContain("against");
    // The link opens both again.
    await page.goto(link);
    await page.reload();
    await untilText(page, "#results", /^A: .* B: .*capacity/);
    expect((await cells(page))[4]).toEqual(["neurons", "50", "80", "+30"]);
    expect(await second("leakRate").inputValue()).toBe("0.6");
    expect(errors).toEqual([]);
    await page.close();
  });

  it("compares on a phone too, with nothing beyond its edge", async () => {
    const { page, errors } = await openPage(browser, { width: 390, height: 844 });
    await page.goto(`${lab.url}#size=50&against=size%3D80`);
    await untilText(page, "#results", /^A: .* B: .*capacity/);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    await page.click("#drawer");
    for (const form of ["#controls", "#controls-second"]) {
      const slider = page.locator(`${form} input[name="leakRate"]`);
      await slider.scrollIntoViewIfNeeded();
      const { x, width } = (await slider.boundingBox())!;
      expect([x >= 0, x + width <= 390, width > 120], form).toEqual([true, true, true]);
    }
    await page.locator("figure:has(#forecast-second)").evaluate((one) => one.scrollIntoView());
    expect(await notWholeInView(page, ["#forecast-second", '#controls-second input[name="leakRate"]'])).toEqual([]);
    expect(errors).toEqual([]);
    await page.close();
  });

  it("saves the experiment, and every picture as it stands", async () => {
    const { page, errors } = await openPage(browser, { width: 1400, height: 1000 });
    await page.goto(`${lab.url}#size=50`);
    await untilText(page, "#capacity", /capacity/);
    const saved = async (selector: string) => {
      const [file] = await Promise.all([page.waitForEvent("download"), page.click(selector)]);
      return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) };
    };
    const experiment = await saved("#save-yaml");
    expect(experiment).toEqual({ name: "lab.yaml", bytes: Buffer.from((await page.textContent("#yaml"))!) });
    for (const view of Object.keys(axes)) {
      const { name, bytes } = await saved(`figure:has(#${view}) .save`);
      expect(name).toBe(`spillway-${view}.png`);
      const size = await page.locator(`#${view}`).evaluate((one) => [(one as HTMLCanvasElement).width, (one as HTMLCanvasElement).height]);
      expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], view).toEqual(size);
    }
    expect(errors).toEqual([]);
    await page.close();
  });

  it.each(["light", "dark"] as const)("has text of at least 4.5 to 1 against what is behind it, %s", async (colorScheme) => {
    const { page } = await openPage(browser, { width: 1280, height: 900 });
    await page.emulateMedia({ colorScheme });
    await page.goto(`${lab.url}#size=50`);
    await page.waitForSelector("#remote:not([hidden])");
    await page.click("#own summary");
    await page.setInputFiles("#own-file", csv("wave.csv", wave));
    await untilText(page, "#own-summary", /wave/);
    const ratios = await page.evaluate(contrasts);
    expect(ratios.length).toBeGreaterThan(60);
    expect(ratios.filter(({ ratio }) => !(ratio >= 4.5))).toEqual([]);
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

  it("offers a topology and a signal of one's own, which the machine that serves the page runs", async () => {
    registerTopology({
      name: "ownChain",
      description: "Each neuron hears the one before.",
      options: {},
      expectedNonzeros: (_, { size }) => size,
      build: (_, { size }) => ({
        matrix: sparseFromRows(
          size,
          size,
          (row) => [(row + size - 1) % size],
          () => 1,
        ),
        radius: 1,
      }),
    });
    registerTask({
      kind: "series",
      name: "ownWave",
      description: "A sine.",
      options: {},
      generate: (length) =>
        new Matrix(
          length,
          1,
          Float64Array.from({ length }, (_, t) => Math.sin(t / 5)),
        ),
    });
    const { page, errors } = await openPage(browser, { width: 1400, height: 1000 });
    await page.goto(lab.url);
    await page.waitForSelector("#remote:not([hidden])");
    for (const [name, value] of [
      ["topology", "ownChain"],
      ["signal", "ownWave"],
    ] as const) {
      await page.selectOption(`select[name="${name}"]`, value);
      expect(await untilText(page, "#status", new RegExp(value))).toContain("run it there");
      await page.fill("#remote-size", "60");
      await page.fill("#remote-steps", "1000");
      await page.click("#remote-run");
      const settings = { ...defaultSettings, size: 60, [name]: value };
      expect(await untilText(page, "#remote-result", /steps a second/)).toContain((await stateHash(settings)).slice(0, 16));
      await page.getByRole("button", { name: "Defaults" }).click();
      await untilText(page, "#status", /connections/);
      await page.reload();
      await page.waitForSelector("#remote:not([hidden])");
    }
    // A choice while the weights of the one before are drawn does not mix the two. A page of its
    // own: nothing of an earlier load is on its way when the clock stops.
    const held = await openPage(browser, { width: 1400, height: 1000 });
    await held.page.clock.install({ time: 0 });
    let draw = () => {};
    const drawing = new Promise<void>((go) => (draw = go));
    await held.page.route("**/*.wasm", async (route) => {
      await drawing;
      await route.continue();
    });
    await held.page.goto(`${lab.url}#size=50`);
    await held.page.waitForSelector("#remote:not([hidden])");
    await held.page.clock.pauseAt(60_000);
    await held.page.selectOption('select[name="signal"]', "ownWave");
    draw();
    expect(await untilText(held.page, "#status", /50 neurons|ownWave/)).toContain("50 neurons");
    await held.page.clock.resume();
    expect(await untilText(held.page, "#status", /ownWave/)).toContain("run it there");
    expect(held.errors).toEqual([]);
    await held.page.close();
    await page.goto(`${lab.url}#signal=ownWave&size=40`);
    await page.reload();
    await untilText(page, "#status", /ownWave/);
    expect(await page.inputValue('select[name="signal"]')).toBe("ownWave");
    expect(await page.inputValue('input[name="size"]')).toBe("40");
    expect(errors).toEqual([]);
    await page.close();
  });

  it("is driven by a file of one's own, with nothing sent", async () => {
    const { page, errors } = await openPage(browser, { width: 1280, height: 900 });
    const sent: string[] = [];
    page.on("websocket", (socket) => socket.on("framesent", () => sent.push(socket.url())));
    await page.goto(`${lab.url}#size=50`);
    await page.waitForSelector("#remote:not([hidden])");
    const before = await untilText(page, "#hash", hash);
    page.on("request", (request) => request.method() !== "GET" && sent.push(request.url()));
    await page.click("#own summary");
    await page.setInputFiles("#own-file", csv("wave.csv", wave));
    expect(await untilText(page, "#own-summary", /wave/)).toBe("wave.csv: load, 900 rows, 720 of them train.");
    const series = await readOwnSeries(wave, "wave.csv", defaultChoices);
    const settings = { ...defaultSettings, size: 50 };
    const input = driveOf(settings, 0, series.drive).input;
    expect(await untilText(page, "#hash", hash, before)).toBe(await stateHash(settings, "cpu", input));
    await untilText(page, "#score", /follows for \d+ of 179 steps/);
    expect(await page.inputValue('select[name="signal"]')).toBe("own");
    expect(await page.textContent("#yaml")).toContain("file: wave.csv");
    expect(await page.isDisabled("#remote-run")).toBe(true);
    await page.selectOption("#own-target", { label: "oil" });
    await untilText(page, "#score", /prediction, NRMSE/);
    expect(await page.textContent("#own-summary")).toContain("oil from load");
    await page.selectOption('select[name="signal"]', "lorenz");
    await untilText(page, "#score", /follows for \d+ of 400/);
    expect(await page.isDisabled("#remote-run")).toBe(false);
    expect(sent).toEqual([]);
    expect(errors).toEqual([]);
    await page.close();
  });

  it("says what is wrong with a file, and puts nothing of it into the page but text", async () => {
    const { page, errors } = await openPage(browser, { width: 1280, height: 900 });
    await page.goto(`${lab.url}#size=50`);
    await untilText(page, "#hash", hash);
    await page.click("#own summary");
    const markup = "<img src=x onerror=document.title=1>";
    await page.setInputFiles("#own-file", csv(`${markup}.csv`, wave.replace("load", markup).replace(row(100), "2016-07-01,x,1")));
    expect(await untilText(page, "#own-problem", /row 102/)).toContain("is not a number");
    await dropFile(page, "gap.csv", wave.replace("load", markup).replace(/\n2016-07-02,[^,]*/, "\n2016-07-02,"));
    expect(await untilText(page, "#own-problem", /^gap\.csv/)).toContain("gap.csv: row 3");
    await page.selectOption("#own-missing", "interpolate");
    expect(await untilText(page, "#own-summary", /missing values/)).toContain(`gap.csv: ${markup}, 900 rows`);
    expect(await page.textContent("#own-problem")).toBe("");
    expect(await page.locator("img:not(#map)").count()).toBe(0);
    expect(await page.title()).toBe("Spillway lab");
    expect(errors).toEqual([]);
    await page.close();
  });
});

/** The table that compares two settings, row by row. */
const cells = (page: Page) =>
  page.locator("#comparison-rows tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent!)));

/** Dates, and two columns of numbers. */
const row = (t: number) => `2016-07-0${1 + (t % 9)},${Math.sin(t / 5).toFixed(9)},${Math.cos(t / 5).toFixed(9)}`;
const wave = `date,load,oil\n${Array.from({ length: 900 }, (_, t) => row(t)).join("\n")}\n`;

const csv = (name: string, text: string) => ({ name, mimeType: "text/csv", buffer: Buffer.from(text) });

/** Titles of the axes of every picture, and some of their ticks. */
const axes: Readonly<Record<string, readonly string[]>> = {
  heatmap: ["time from now (steps)", "neuron", "state", "-600", "0", "300", "-1.0", "1.0"],
  raster: ["time from now (steps)", "neuron", "-600", "300"],
  trajectories: ["time from now (steps)", "state", "input (standard deviations)", "0.5", "-400"],
  forecast: ["time after training (steps)", "value (standard deviations)", "100", "-1"],
  spectrum: ["real part", "imaginary part", "0", "0.5"],
  memory: ["delay (steps)", "r²", "0.5", "100"],
};

interface Recorded {
  texts: Map<string, Set<string>>;
}

/** Keeps what is written on each canvas. It runs in the page. */
function recordTexts(): void {
  const texts = new Map<string, Set<string>>();
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text: string, ...rest: [number, number, number?]) {
    texts.set(this.canvas.id, (texts.get(this.canvas.id) ?? new Set()).add(text));
    fillText.call(this, text, ...rest);
  };
  (globalThis as unknown as Recorded).texts = texts;
}

/** The contrast of every text on the page (WCAG 2.2, 1.4.3). It runs in the page. */
function contrasts(): { text: string; ratio: number }[] {
  const luminance = (colour: readonly number[]) => {
    const [r, g, b] = colour.map((value) => (value <= 10.31475 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  };
  const parsed = (colour: string) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const behind = (element: Element | null): number[] => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parsed(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour.slice(0, 3);
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll("body *")]
    .filter((one) => one.checkVisibility() && [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent!.trim() !== ""))
    .filter((one) => !(one as HTMLButtonElement).disabled)
    .map((one) => {
      const [a, b] = [luminance(parsed(getComputedStyle(one).color).slice(0, 3)), luminance(behind(one))];
      return { text: `${one.tagName} ${one.textContent!.trim().slice(0, 30)}`, ratio: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) };
    });
}

/** Whether nothing lies over the middle of an element. */
function topmostIs(page: Page, selector: string): Promise<boolean> {
  return page.locator(selector).evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return document.elementFromPoint(left + width / 2, top + height / 2) === element;
  });
}

/** What of these elements is not whole on the screen, or is covered. */
function notWholeInView(page: Page, selectors: readonly string[]): Promise<string[]> {
  return page.evaluate(
    (all) =>
      all.filter((selector) => {
        const element = document.querySelector(selector)!;
        const { left, top, right, bottom } = element.getBoundingClientRect();
        const corners = [left + 1, right - 1].flatMap((x) =>
          [top + 1, (top + bottom) / 2, bottom - 1].map((y) => document.elementFromPoint(x, y)),
        );
        return corners.some((one) => one !== element);
      }),
    selectors,
  );
}

/** Numbers what Tab should reach, in the order of the page. It runs in the page. */
function numberControls(): void {
  const all = [...document.querySelectorAll<HTMLInputElement>("a[href], button, input, select, summary")];
  const shown = all.filter((one) => !one.disabled && one.checkVisibility());
  for (const [k, one] of shown.entries()) one.dataset["tab"] = String(k);
}

/** Where the keyboard is, and whether one sees that. It runs in the page. */
function focused() {
  const element = document.activeElement as HTMLElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const { left, top, width, height } = element.getBoundingClientRect();
  const there = document.elementFromPoint(left + width / 2, top + height / 2);
  return {
    what: element.outerHTML.slice(0, 80),
    number: element.dataset["tab"],
    marked: outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2,
    visible: there === element || element.contains(there),
  };
}

/** Controls and pictures as Chromium tells a screen reader of them. */
async function accessibleNodes(page: Page): Promise<{ role: string; name: string }[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  const roles = new Set(["button", "checkbox", "combobox", "DisclosureTriangle", "image", "link", "progressbar", "slider", "spinbutton"]);
  const found = nodes
    .map(({ role, name }) => ({ role: String(role?.value), name: String(name?.value ?? "") }))
    .filter(({ role }) => roles.has(role));
  expect(new Set(found.map(({ role }) => role)).size).toBeGreaterThan(6);
  return found;
}
