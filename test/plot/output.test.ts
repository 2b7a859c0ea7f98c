import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import {
  type Figure,
  plotConfusion,
  plotError,
  plotForecast,
  plotPhaseSpace,
  plotSpectrum,
  plotSpikeRaster,
  plotStateHeatmap,
  show,
  toHtml,
  toImage,
  toSvg,
} from "../../src/plot/index.js";

const column = (values: readonly number[]) => values.map((value) => [value]);

/** Points of the first path in a text. */
function pathOf(svg: string, colour: string): [number, number][] {
  const path = new RegExp(`<path d="([^"]+)" fill="none" stroke="${colour}"`).exec(svg)![1]!;
  return path
    .split(/[ML]/)
    .slice(1)
    .map((point) => point.split(" ").map(Number) as [number, number]);
}

describe("toSvg", () => {
  it("draws a line to scale: time to the right, values upwards", () => {
    const points = pathOf(toSvg(plotForecast(column([0, 10, 5]), column([0, 0, 0]))), "#D55E00");
    expect(points).toHaveLength(3);
    const [a, b, c] = points as [[number, number], [number, number], [number, number]];
    expect(b[0] - a[0]).toBeCloseTo(c[0] - b[0], 1);
    expect(b[1]).toBeLessThan(a[1]);
    expect(c[1]).toBeCloseTo((a[1] + b[1]) / 2, 1);
  });

  it("puts two long names of axes in a view of three dimensions into two lines, within the picture", () => {
    const states = Array.from({ length: 30 }, (_, t) => [Math.sin(t), Math.cos(t), t]);
    const linesOf = (names: readonly string[], width: number) => {
      const svg = toSvg(plotPhaseSpace(states, { dimensions: 3, names }), { width });
      return names.map((name) => {
        const [, x, y, anchor] = new RegExp(`<text x="([\\d.]+)" y="([\\d.]+)"[^>]*text-anchor="(\\w+)"[^>]*>${name}<`).exec(svg) ?? [];
        return { x: Number(x), y: Number(y), anchor };
      });
    };
    const short = linesOf(["u", "v", "w"], 420);
    expect(short[0]!.y).toBeCloseTo(short[1]!.y, 1);
    const long = ["the first and longest component of all", "another long name of an axis", "w"];
    const [first, second] = linesOf(long, 420);
    expect(second!.y - first!.y).toBeGreaterThan(12);
    expect([first!.anchor, second!.anchor]).toEqual(["start", "end"]);
    // 12 pixels high, a letter is about 7 wide.
    expect(first!.x + 7 * long[0]!.length).toBeLessThan(420);
    expect(second!.x - 7 * long[1]!.length).toBeGreaterThan(0);
  });

  it("interrupts a line where a value is missing", () => {
    const svg = toSvg(plotForecast(column([1, Number.NaN, 2]), column([1, 1, 1])));
    expect(/<path d="M[^"L]+M[^"L]+" fill="none" stroke="#D55E00"/.test(svg)).toBe(true);
  });

  it("carries title and description, escaped, for readers who cannot see it", () => {
    const svg = toSvg(plotForecast([[1]], [[1]], { title: "a < b" }));
    expect(svg).toContain("<title>a &#60; b</title>");
    expect(svg).toContain("<desc>The target and the prediction of value over 1 steps.</desc>");
    expect(svg).toContain('role="img"');
  });

  it("clips curves to their panel without ids, which two figures on one page would share", () => {
    const svg = toSvg(plotForecast(column([0, 10, 5]), column([0, 0, 0])));
    expect(svg).not.toMatch(/ id="|url\(#/);
    expect(svg).toMatch(/<svg x="[\d.]+" y="[\d.]+" width="[\d.]+" height="[\d.]+" viewBox="[\d. ]+" overflow="hidden"><g><path/);
  });

  it("draws a heat map as one image with a pixel a cell, the first row at the bottom", () => {
    const figure = plotStateHeatmap(new Matrix(2, 2, Float64Array.of(1, -1, 0, 1)));
    const png = Buffer.from(/base64,([^"]+)"/.exec(toSvg(figure))![1]!, "base64");
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    const length = png.readUInt32BE(33);
    const raw = inflateSync(png.subarray(41, 41 + length));
    // Rows of a filter byte and two pixels; neuron 1 is on top: -1 (deep blue #00436B), then 1
    // (#8A3A00). 0 falls between two of 256 colours.
    expect([...raw]).toEqual([0, 0x00, 0x43, 0x6b, 255, 0x8a, 0x3a, 0x00, 255, 0, 0x8a, 0x3a, 0x00, 255, 0xf4, 0xf3, 0xf3, 255]);
  });

  it("puts ticks at powers of ten on a logarithmic axis", () => {
    const svg = toSvg(plotError([column([1e-6, 1e-3, 1])], [column([0, 0, 0])]));
    for (const label of ["1e-6", "1e-4", "0.01", "1"]) expect(svg).toContain(`>${label}</text>`);
  });

  it("draws values that differ in their last bits alone", () => {
    const values = column([1e20, 1e20 + 2 ** 14, 1e20 + 2 ** 15]);
    expect(toSvg(plotForecast(values, values))).toContain(">1e20</text>");
  });

  it("keeps the unit circle round", () => {
    const [, rx, ry] = /rx="([\d.]+)" ry="([\d.]+)"/.exec(toSvg(plotSpectrum({ re: [0.5], im: [0] })))!;
    expect(Number(rx)).toBeCloseTo(Number(ry), 0);
  });

  it("writes the counts of a confusion matrix with the first class on top", () => {
    const svg = toSvg(
      plotConfusion(
        [
          [3, 0],
          [1, 4],
        ],
        ["first", "second"],
      ),
    );
    const y = (label: string) => Number(new RegExp(`y="([\\d.]+)" text-anchor="end"[^>]*>${label}</text>`).exec(svg)![1]);
    expect(y("first")).toBeLessThan(y("second"));
    expect(svg).toContain(">4</text>");
  });

  it("draws spikes as marks and three dimensions from a fixed place", () => {
    const raster = toSvg(plotSpikeRaster({ times: [1, 2], neurons: [0, 1], durationMs: 3, neuronCount: 2 }));
    expect(/<path d="M[\d. ]+v6M[\d. ]+v6"/.test(raster)).toBe(true);
    const turned = toSvg(
      plotPhaseSpace(
        [
          [0, 0, 0],
          [1, 1, 1],
          [0, 1, 0],
        ],
        { dimensions: 3 },
      ),
    );
    expect(turned).toContain("column 2");
    expect(pathOf(turned, "#0072B2")).toHaveLength(3);
  });

  it("takes a dark theme and another size", () => {
    const svg = toSvg(plotForecast([[1]], [[1]]), { theme: "dark", width: 500, height: 300 });
    expect(svg).toContain('viewBox="0 0 500 300"');
    expect(svg).toContain('fill="#12181e"');
  });
});

describe("toHtml", () => {
  it("holds plotly itself, or shares a script that stands beside the page", async () => {
    const figure = plotForecast([[1]], [[1]], { title: "One" });
    const whole = await toHtml(figure);
    const shared = await toHtml([figure, figure], { title: "Two", plotly: "plotly.min.js" });
    expect(whole).toContain('<script type="text/plain" id="plotly">');
    expect(shared.length).toBeLessThan(4e4);
    expect(shared).toContain('<script src="plotly.min.js"></script>');
    expect(shared.match(/<figure>/g)).toHaveLength(2);
    expect(whole).toContain("<title>One</title>");
  });

  it("has the heading that is asked for, that of its figure, or none of several, and no box without facts", async () => {
    const figures = ["One", "Two"].map((title) => plotForecast([[1]], [[1]], { title }));
    const page = (given: readonly Figure[], options = {}) => toHtml(given, { plotly: "plotly.min.js", ...options });
    expect(await page(figures)).toContain("<h1>Figures</h1>");
    expect(await page(figures.slice(1))).toContain("<h1>Two</h1>");
    expect(await page(figures, { title: "Mine" })).toContain("<h1>Mine</h1>");
    expect(await page(figures)).not.toContain('class="facts"');
  });
});

describe("what draws", () => {
  it.each([
    ["toSvg", () => toSvg(Matrix.zeros(2, 1) as never)],
    ["toHtml", () => toHtml([plotForecast(column([0, 1]), column([0, 1])), Matrix.zeros(2, 1) as never])],
  ])("%s takes figures, and says what gives them", async (_, draw) => {
    await expect((async () => draw())()).rejects.toThrow(
      /^figure is .+; it takes what a function such as plotSeries or plotForecast gives$/,
    );
  });
});

describe("toImage", () => {
  const figure = plotForecast(column([1, 2]), column([1, 2]));

  it("gives an SVG without a browser, and says so", async () => {
    const { bytes, format, renderer } = await toImage(figure, { renderer: "static" });
    expect({ format, renderer }).toEqual({ format: "svg", renderer: "static" });
    expect(new TextDecoder().decode(bytes)).toBe(toSvg(figure));
  });

  it("refuses a PNG without a browser, and says what to ask for", async () => {
    await expect(toImage(figure, { format: "png", renderer: "static" })).rejects.toThrow(
      'a png image takes a Chromium and the renderer "static" draws SVG only; ask for { format: "svg", renderer: "static" }',
    );
    const before = { path: process.env["PATH"], given: process.env["SPILLWAY_CHROMIUM"] };
    process.env["PATH"] = "";
    process.env["SPILLWAY_CHROMIUM"] = "/nowhere/chromium";
    try {
      await expect(toImage(figure, { renderer: "chromium" })).rejects.toThrow(
        "no Chromium was found on the search path or by SPILLWAY_CHROMIUM",
      );
    } finally {
      process.env["PATH"] = before.path;
      if (before.given === undefined) delete process.env["SPILLWAY_CHROMIUM"];
      else process.env["SPILLWAY_CHROMIUM"] = before.given;
    }
  });

  it("says how a Chromium ended that says nothing itself", async () => {
    const given = process.env["SPILLWAY_CHROMIUM"];
    const silent = join(mkdtempSync(join(tmpdir(), "spillway-chromium-")), "chromium");
    writeFileSync(silent, "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    process.env["SPILLWAY_CHROMIUM"] = silent;
    try {
      await expect(toImage(figure, { renderer: "chromium" })).rejects.toThrow(`${silent} did not draw the figure: it ended with 1`);
    } finally {
      if (given === undefined) delete process.env["SPILLWAY_CHROMIUM"];
      else process.env["SPILLWAY_CHROMIUM"] = given;
    }
  });
});

it("a page that cannot be made leaves no folder behind", async () => {
  const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith("spillway-figure-"));
  const before = folders();
  await expect(show([], { open: false } as never)).rejects.toThrow('unknown field "open"');
  expect(folders()).toEqual(before);
});
