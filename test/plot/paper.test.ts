// Figures for papers: of a size in millimetres, with no font and no id, the same bytes on every
// machine.
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { plotForecast, plotStateHeatmap, toImage, toSvg } from "../../src/plot/index.js";
import { withDensity } from "../../src/plot/svg/heatmap.js";

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
    expect(toSvg(plotForecast([[1], [2], [3]], [[1], [2], [3]], { times }))).toContain(">11:00</text>");
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
    expect(new Set(hashes)).toEqual(new Set(["25d11f4ba6f95965996f8a3f64133380b6af1d32d80ad6ee1422a2f626f4bd62"]));
  });
});
