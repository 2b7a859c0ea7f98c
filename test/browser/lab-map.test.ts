import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import "../../src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { qualityMapToJson } from "../../src/analysis/index.js";
import { openLab, settingsFromLink } from "../../src/lab/index.js";
import { dropFile, openChromium, openPage, untilText } from "./chromium.js";

const map = qualityMapToJson({
  reservoir: { size: 20, leakRate: 1, seed: 4 },
  x: { parameter: "spectralRadius", values: [0.5, 1, 1.5, 1.8] },
  y: { parameter: "inputScaling", values: [0.1, 1] },
  values: {
    lyapunovExponent: new Matrix(2, 4, Float64Array.of(-1, -0.5, 0.5, 1, -2, -1, -0.5, 0.5)),
    memoryCapacity: new Matrix(2, 4, Float64Array.of(3, 9, 1, 0, 2, 4, 5, 1)),
  },
  engine: { name: "cpu", reason: "asked for" },
  interrupted: false,
});

it("opens a map in the lab, and takes the point that is clicked", async () => {
  const lab = await openLab({ page: fileURLToPath(new URL("../../dist/lab-page", import.meta.url)), engine: "cpu" });
  const browser = await openChromium();
  try {
    const { page, errors } = await openPage(browser, { width: 1400, height: 1000 });
    await page.goto(lab.url);
    await untilText(page, "#hash", /^[0-9a-f]{64}$/);
    const choose = (name: string, text: string) =>
      page.setInputFiles("#map-file", { name, mimeType: "application/json", buffer: Buffer.from(text) });
    await choose("lab.yaml", "size: 5");
    expect(await untilText(page, "#map-problem", /./)).toBe("lab.yaml: the file is no JSON");
    await choose("analysis.json", JSON.stringify({ measures: {}, map }));
    await untilText(page, "#map-point", /4 x 2 points/);
    expect(await page.locator("#map-measure option").allTextContents()).toEqual(["Lyapunov exponent", "Memory capacity"]);
    await page.selectOption("#map-measure", "memoryCapacity");
    const picture = page.locator("#map");
    expect(await picture.getAttribute("alt")).toContain("largest 9 at spectralRadius 1, inputScaling 0.1. The line is where");
    expect(await picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(700);
    await picture.focus();
    for (const key of ["ArrowRight", "ArrowUp"]) await page.keyboard.press(key);
    expect(await page.textContent("#map-point")).toBe("spectralRadius 1, inputScaling 1: 4");
    await page.keyboard.press("Enter");
    expect(settingsFromLink(new URL(page.url()).hash)).toMatchObject({
      size: 20,
      seed: 4,
      leakRate: 1,
      spectralRadius: 1,
      inputScaling: 1,
    });
    const box = (await picture.boundingBox())!;
    await picture.click({ position: { x: 0.2 * box.width, y: 0.75 * box.height } });
    expect(await page.textContent("#map-point")).toBe("taken: spectralRadius 0.5, inputScaling 0.1: 3");
    expect(await page.inputValue('input[name="spectralRadius"]')).toBe("0.5");

    await dropFile(page, "dropped.json", JSON.stringify({ measures: {} }));
    expect(await untilText(page, "#map-problem", /./)).toMatch(/^dropped.json: values is missing; .* made without a map/);
    expect(await page.locator("#own").getAttribute("open")).toBeNull();
    await page.evaluate(() => scrollTo(0, 0));
    await dropFile(page, "MAP.JSON", JSON.stringify({ ...map, values: { lyapunovExponent: map.values.lyapunovExponent } }));
    await untilText(page, "#map-point", /^4 x 2 points$/);
    expect(await page.locator("#map-measure option").allTextContents()).toEqual(["Lyapunov exponent"]);
    expect(await page.textContent("#map-problem")).toBe("");
    expect(await page.locator("#map-section h2").evaluate((title) => title.getBoundingClientRect().top < innerHeight)).toBe(true);
    expect(errors).toEqual([]);
  } finally {
    await browser.close();
    await lab.close();
  }
});
