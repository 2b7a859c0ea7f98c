// Figures for papers: of a size in millimetres, with no font and no id, the same bytes on every
// machine.
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { plotForecast, plotPhaseSpace, plotStateHeatmap, toImage, toSvg } from "../../src/plot/index.js";
import { sequentialScale } from "../../src/plot/palette.js";
import { type ColourScale, colourAt, withDensity } from "../../src/plot/svg/heatmap.js";

const figure = plotForecast([[1], [2]], [[1], [2]]);
const headOf = (svg: string) => /^<svg [^>]*/.exec(svg)![0];

describe("a figure for a paper", () => {
  it("is as wide and high as asked for in millimetres, its units still pixels of 1/96 inch", () => {
    const head = headOf(toSvg(figure, { widthMm: 85, heightMm: 60 }));
    expect(head).toContain('width="85mm" height="60mm" viewBox="0 0 321.26 226.77"');
    expect(head).toContain('font-size="12"');
    expect(headOf(toSvg(figure, { widthMm: 80 }))).toContain('width="80mm" height="60mm"');
    expect(headOf(toSvg(figure, { widthMm: 80, height: 96 }))).toContain('width="80mm" height="96" viewBox="0 0 302.36 96"');
    expect(headOf(toSvg(figure, { width: 200, heightMm: 25.4 }))).toContain('width="200" height="25.4mm" viewBox="0 0 200 96"');
  });

  it("keeps a long title within its width", () => {
    const sizeOf = (title: string) =>
      Number(/y="22" font-size="([\d.]+)"/.exec(toSvg(plotForecast([[1]], [[1]], { title }), { widthMm: 85 }))![1]);
    expect(sizeOf("Short")).toBe(15);
    expect(sizeOf("A forecast of the load, the oil and the wind")).toBeLessThan(12);
  });

  it("takes a length in one unit and a PNG's pixels once", async () => {
    expect(() => toSvg(figure, { width: 300, widthMm: 85 })).toThrow(
      "widthMm is 85; it takes no value beside width, which is 300: a length is in one unit",
    );
    expect(() => toSvg(figure, { heightMm: 0 })).toThrow("heightMm is 0; it takes a number above 0");
    await expect(toImage(figure, { scale: 2, dpi: 300 })).rejects.toThrow("dpi is 300; it takes no value beside scale, which is 2");
  });

  it("holds no id, no font and no address, so that two stand on one page", () => {
    const two = toSvg(figure, { widthMm: 85 }) + toSvg(plotStateHeatmap([[1, -1]]));
    expect(two).not.toMatch(/ id=|url\(|@font-face|href="(?!data:)/);
  });

  it("has the colours of a trajectory that a page has", () => {
    const svg = toSvg(plotPhaseSpace(Array.from({ length: 50 }, (_, t) => [Math.sin(t / 5), Math.cos(t / 5)])));
    const fills = [...svg.matchAll(/<circle [^>]*fill="rgb\((\d+),(\d+),(\d+)\)"/g)].map(([, ...rgb]) => rgb.map(Number));
    expect([fills.length, new Set(fills.map(String)).size]).toEqual([50, 50]);
    // From a third of the scale on, which is 1.4 times as long as the trajectory.
    const scale = sequentialScale as ColourScale;
    expect([fills[0], fills[49]]).toEqual([colourAt(scale, 20 / 69), colourAt(scale, 1)]);
  });

  it.each(["x", "the potential of the first neuron in mV"])("holds the titles of three axes within it: %s", (name) => {
    const names = [name, `${name} `, ` ${name}`];
    for (const width of [320, 700]) {
      const svg = toSvg(
        plotPhaseSpace(
          Array.from({ length: 30 }, (_, t) => [t, t * t, t % 7]),
          { dimensions: 3, names },
        ),
        { width, height: 400 },
      );
      const titles = [...svg.matchAll(/<text x="([\d.-]+)" y="([\d.-]+)" text-anchor="(\w+)"[^>]*>([^<]*)</g)].filter(
        ([, , , , text]) => text!.trim() === name,
      );
      expect(titles).toHaveLength(3);
      for (const [, x, y, anchor] of titles) {
        const wide = 6 * name.length;
        const left = Number(x) - { start: 0, middle: wide / 2, end: wide }[anchor!]!;
        expect([left >= 0, left + wide <= width, Number(y) > 10, Number(y) < 400]).toEqual([true, true, true, true]);
      }
    }
  });

  it("writes all numbers of an axis alike", () => {
    const labels = (largest: number) => {
      const svg = toSvg(plotForecast([[0], [largest]], [[0], [largest]]));
      return [...svg.matchAll(/text-anchor="end"[^>]*>([^<]+)</g)].map(([, label]) => label).filter((label) => label !== "0");
    };
    expect(labels(120_000)).toEqual(["50000", "100000"]);
    expect(labels(2_400_000)).toEqual(["1e6", "2e6"]);
    expect(labels(2e-4)).toEqual(["5e-5", "1e-4", "1.5e-4", "2e-4"]);
  });

  it("says its pixels per inch as a PNG", () => {
    const svg = toSvg(plotStateHeatmap([[1, -1]]));
    const image = Buffer.from(/base64,([^"]+)"/.exec(svg)![1]!, "base64");
    const denser = Buffer.from(withDensity(image, 300));
    const at = denser.indexOf("pHYs");
    expect([denser.readUInt32BE(at + 4), denser.readUInt32BE(at + 8), denser[at + 12]]).toEqual([11811, 11811, 1]);
    expect(denser.subarray(at + 17).equals(image.subarray(33))).toBe(true);
  });

  it("draws the time of day that a date says, in every time zone", () => {
    const times = ["2018-03-01 00:00", "2018-03-01 06:00", "2018-03-01 12:00"];
    expect(toSvg(plotForecast([[1], [2], [3]], [[1], [2], [3]], { times }))).toContain(">10:00</text>");
  });

  it("is the same bytes in every time zone and language", () => {
    const program = `
      import { createHash } from "node:crypto";
      import { plotError, plotForecast, plotSpectrum, plotStateHeatmap, toSvg } from ${JSON.stringify(resolve("dist/api/plot.js"))};
      const rows = Array.from({ length: 200 }, (_, t) => [((t * 37) % 101) / 7, 1234.5 * t]);
      const times = rows.map((_, t) => "2018-03-" + String(1 + (t >> 4)).padStart(2, "0") + " 0" + (t % 10) + ":00");
      const figures = [plotForecast(rows, rows.map(([a, b]) => [a + 1, b]), { times }), plotError([rows], [rows.map(([a, b]) => [a + 0.5, b])]),
        plotSpectrum({ re: [0.5, -0.25], im: [0, 0.75] }), plotStateHeatmap(rows)];
      const all = figures.map((each) => toSvg(each, { widthMm: 85 })).join("");
      process.stdout.write(createHash("sha256").update(all).digest("hex"));`;
    const hashes = [
      { TZ: "America/New_York", LC_ALL: "de_DE.UTF-8", LANG: "de_DE.UTF-8" },
      { TZ: "Asia/Kolkata", LC_ALL: "C", LANG: "C" },
    ].map((env) =>
      execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8", env: { ...process.env, ...env } }),
    );
    expect(new Set(hashes)).toEqual(new Set(["7768a1c8843d152822682f69d7b0a993528d8fef266c3692f0929f6f2afb2cb9"]));
  });
});
